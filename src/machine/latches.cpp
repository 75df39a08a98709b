// Layer 0: what the last tokens said, kept until it is said again, and the staging of spoken bytes.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::bus_word;
using circuit::rows;
using circuit::same_rows;
using circuit::slice;
using circuit::write_when;

void append_outputs(HeadSpec& head, const Signals& signals, int first_dim) {
  for (std::size_t i = 0; i < signals.size(); ++i)
    head.outputs.push_back({first_dim + static_cast<int>(i), signals[i]});
}

// Several latches in one head: word k of the head belongs to latch k and has value dimensions of its own, so
// that a multi-hot query reads them all at once. One token writes at most one of them.
class PackedLatches {
 public:
  PackedLatches(Circuit& c, std::string name, int layer, const Linear& read, const Linear& clear = 0)
      : c_(c), read_(read) {
    head_.name = std::move(name);
    head_.layer = layer;
    head_.write_enable = -1;
    head_.clear = clear;
  }

  Signals add(const std::string& name, const Linear& write, const Word& data) {
    Signals outputs = bus_word(c_, name, static_cast<int>(data.size()));
    head_.key.push_back({word_, write});
    head_.query.push_back({word_, read_});
    // The data of another latch may be on in the same token, so each row is gated by its own write.
    for (std::size_t i = 0; i < data.size(); ++i)
      head_.value.push_back({dim_ + static_cast<int>(i), both(data[i], write)});
    for (auto& row : same_rows(read_, static_cast<int>(data.size()), dim_)) head_.z.push_back(row);
    append_outputs(head_, outputs, dim_);
    head_.write_enable += 2 * write;
    dim_ += static_cast<int>(data.size());
    ++word_;
    return outputs;
  }

  void finish() { c_.head(std::move(head_)); }

 private:
  Circuit& c_;
  Linear read_;
  HeadSpec head_;
  int dim_ = 0, word_ = 0;
};

// A latch of a whole head.
Signals wide_latch(Circuit& c, const std::string& name, int layer, const Linear& write, const Word& data,
                   const Linear& read) {
  return circuit::latch(c, {.name = name, .layer = layer, .write = write, .data = data, .read = read});
}

void build_staging(Circuit& c, Wires& w, int layer) {
  const TokenInputs& t = w.token;
  w.staged = bus_word(c, "staged", row_bits);
  w.stored = bus_word(c, "stored", word_bits);
  // Head b keeps byte b of the four lanes; another one that of the new word of an atomic operation. What is
  // not spoken is 0: the heads are cleared where a row or a word begins.
  for (std::size_t byte = 0; byte < 4; ++byte) {
    const auto said = [&](std::size_t bit) { return Linear(t.said[8 * byte + bit]); };
    HeadSpec head{.name = fmt::format("staging.byte{}", byte), .layer = layer};
    head.write_enable = write_when(t.stage[byte] - Linear(t.renewed));
    head.clear = t.begins_row;
    head.key = rows(t.lane);
    head.key.push_back({lanes, t.of_all});
    head.query.push_back({lanes, t.row_end});
    HeadSpec renewed{.name = fmt::format("staging.new{}", byte), .layer = layer};
    renewed.write_enable = write_when(both(t.stage[byte], t.renewed));
    renewed.clear = t.last_value;
    renewed.key = {{0, t.renewed}};
    renewed.query = {{0, t.commit}};
    for (std::size_t bit = 0; bit < 8; ++bit) {
      const int dim = static_cast<int>(bit);
      renewed.value.push_back({dim, both(said(bit), t.renewed)});
      renewed.z.push_back({dim, t.commit});
      renewed.outputs.push_back({dim, w.stored[8 * byte + bit]});
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const Linear read = t.row_end + Linear(t.recall[lane]);
      head.query.push_back({static_cast<int>(lane), read});
      for (std::size_t bit = 0; bit < 8; ++bit) {
        const int dim = static_cast<int>(8 * lane + bit);
        head.value.push_back({dim, both(said(bit), t.lane[lane] + Linear(t.of_all))});
        head.z.push_back({dim, read});
        head.outputs.push_back({dim, w.staged[word_bits * lane + 8 * byte + bit]});
      }
    }
    c.head(std::move(head));
    c.head(std::move(renewed));
  }
}

// Who waits in the block, and who is released (docs/machine.md, Waiting). A token that writes two of these
// finds them in different heads.
void build_waiting_latches(Circuit& c, Wires& w, int layer) {
  const TokenInputs& t = w.token;
  const auto program_counter = [&](const Linear& holds) {
    Word word(t.number_bits);
    word.push_back(holds);
    return word;
  };
  const auto split = [](Signals& bits) {
    const Signal holds = bits.back();
    bits.pop_back();
    return holds;
  };
  const Signal yields = t.wait_for[static_cast<std::size_t>(isa::WaitKind::Yield)];
  const Signal waits = t.wait_for[static_cast<std::size_t>(isa::WaitKind::Barrier)];

  PackedLatches first(c, "meet", layer, t.use_pcs, t.run);
  w.meet = first.add("meet", t.meet + t.release + t.meet_none, program_counter(t.meet));
  w.meet_holds = split(w.meet);
  w.yield_waits = first.add("yield_waits", yields + t.release_yield, {yields}).front();
  w.named_waits = first.add("named_waits", t.named_barrier + t.release_barrier, {t.named_barrier}).front();
  first.finish();

  PackedLatches second(c, "released", layer, t.use_pcs, t.run);
  w.released = second.add("released", t.release + t.first_quad, program_counter(t.release));
  w.released_holds = split(w.released);
  const Signals kind =
      second.add("released_kind", t.release_barrier + t.release_yield, {t.release_barrier, t.release_yield});
  w.releases_barrier = kind[0];
  w.releases_yield = kind[1];
  second.finish();

  PackedLatches third(c, "waits", layer, t.use_pcs, t.run);
  w.warp_yields = third.add("warp_yields", yields + t.first_quad, {yields}).front();
  w.barrier_waits = third.add("barrier_waits", waits + t.release_barrier, {waits}).front();
  third.finish();
}

// Which lane is worked on. The last old byte of an executing lane of an atomic operation stays with its lane.
void build_turn(Circuit& c, Wires& w) {
  const TokenInputs& t = w.token;
  const Linear read_modify = w.control_bit(Control::ReadModify);
  w.turn = c.bus("turn");
  c.exclusive({w.turn, t.renewing});
  for (std::size_t l = 0; l < lanes; ++l)
    c.add(w.turn, 1, all({t.last_value, t.lane[l], w.executing[l], read_modify}));
  w.select = bus_word(c, "select", lanes);
  c.exclusive(w.select);
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(w.select[l], 1, t.select[l] - Linear(w.turn));
    c.add(w.select[l], 1, both(w.turn, t.lane[l]));
  }
  w.next_byte = bus_word(c, "next_byte", 4);
  c.exclusive(w.next_byte);
  for (std::size_t b = 0; b < 4; ++b) c.add(w.next_byte[b], 1, t.next_byte[b]);
  c.add(w.next_byte[0], 1, both(w.turn, t.row_end));  // the other lanes' last bytes set it
  w.recalled = bus_word(c, "recalled", word_bits);
  for (std::size_t l = 0; l < lanes; ++l)
    for (int i = 0; i < word_bits; ++i) {
      const Linear bit = w.staged[static_cast<std::size_t>(word_bits) * l + at(i)];
      const Linear recalls = t.recall[l] + (l == lanes - 1 ? Linear(t.row_end) : Linear(0));
      c.add(w.recalled[at(i)], 1, all({read_modify, recalls, bit}));
    }
}

}  // namespace

void build_latches(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("latch");
  const TokenInputs& t = w.token;
  const int layer = plan.latches;

  w.quad_low = wide_latch(c, "quad_low", layer, t.quad + t.system, t.number_low, t.use_state);
  w.pc_low = wide_latch(c, "pc_low", layer, t.pc, t.number_low, t.use_instruction);
  w.number_low = wide_latch(c, "number_low", layer, t.index, t.number_low, t.row_end);

  PackedLatches state(c, "state", layer, t.use_state);
  Word quad(t.number_bits.begin(), t.number_bits.begin() + 8);
  quad.push_back(t.system);
  Signals quad_state = state.add("quad", t.quad + t.system, quad);
  w.system = quad_state.back();
  quad_state.pop_back();
  w.quad_bits = quad_state;

  Word pc(t.number_bits);
  pc.push_back(t.firmware_pc);
  for (int i = 0; i < Parameters::instructions / 128; ++i)
    pc.push_back(t.number_high[static_cast<std::size_t>(i)]);
  const Signals pc_state = state.add("pc", t.pc, pc);
  w.pc_bits.assign(pc_state.begin(), pc_state.begin() + 11);
  w.firmware = pc_state[11];
  w.pc_high.assign(pc_state.begin() + 12, pc_state.end());
  c.exclusive(w.pc_high);

  w.number_high = state.add("number_high", t.index, t.number_high);
  c.exclusive(w.number_high);
  w.class_is = state.add("register_class", t.sets_register_class, t.register_class);
  c.exclusive(w.class_is);
  w.fault_code = state.add("fault_code", t.sets_fault, t.fault_code);
  state.finish();

  PackedLatches control(c, "control", layer, t.use_control);
  Word word(t.control);
  word.insert(word.end(), t.executing.begin(), t.executing.end());
  const Signals control_state = control.add("control", t.sets_control, word);
  w.control.assign(control_state.begin(), control_state.begin() + control_count);
  w.executing.assign(control_state.begin() + control_count, control_state.end());
  w.warp_bits = control.add("warp", t.quad, slice(t.number_bits, 3, 5));
  control.finish();

  build_waiting_latches(c, w, layer);
  build_staging(c, w, layer);
  build_turn(c, w);
}

}  // namespace qwengpu::machine

// Layer 0: what the last tokens said, kept until it is said again, and the staging of spoken bytes.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::bus_word;
using circuit::rows;
using circuit::same_rows;
using circuit::write_when;

void append_outputs(HeadSpec& head, const Signals& signals, int first_dim) {
  for (std::size_t i = 0; i < signals.size(); ++i)
    head.outputs.push_back({first_dim + static_cast<int>(i), signals[i]});
}

// Several latches in one head: word k of the head belongs to latch k and has value dimensions of its own, so that a multi-hot query
// reads them all at once. One token writes at most one of them.
class PackedLatches {
 public:
  PackedLatches(Circuit& c, std::string name, int layer, const Linear& read) : c_(c), read_(read) {
    head_.name = std::move(name);
    head_.layer = layer;
    head_.write_enable = -1;
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
  // Head b keeps byte b of the four lanes, one word a lane. A last byte also writes 0 to the heads of the higher bytes.
  for (int byte = 0; byte < 4; ++byte) {
    HeadSpec head{.name = fmt::format("staging.byte{}", byte), .layer = layer};
    head.write_enable = write_when(t.stage[static_cast<std::size_t>(byte)]);
    head.key = rows(t.lane);
    head.query = same_rows(t.row_end, lanes);
    for (int lane = 0; lane < lanes; ++lane)
      for (int bit = 0; bit < 8; ++bit) {
        const int dim = 8 * lane + bit;
        head.value.push_back({dim, all({t.value[static_cast<std::size_t>(bit)], t.lane[static_cast<std::size_t>(lane)],
                                        t.byte[static_cast<std::size_t>(byte)]})});
        head.z.push_back({dim, t.row_end});
        head.outputs.push_back({dim, w.staged[static_cast<std::size_t>(word_bits * lane + 8 * byte + bit)]});
      }
    c.head(std::move(head));
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
  for (int i = 0; i < Parameters::instructions / 128; ++i) pc.push_back(t.number_high[static_cast<std::size_t>(i)]);
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
  control.finish();

  build_staging(c, w, layer);
}

}  // namespace qwengpu::machine

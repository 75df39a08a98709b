// The operand bus: 128 columns on which the row of one pass arrives, from the register file, the firmware's registers, the constant
// bank, an immediate or a special register.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::bus_word;
using circuit::match;
using circuit::slice;
using circuit::write_when;

constexpr int key_bits = 7;    // of a head
constexpr int row_number_bits = 13;  // of 8192 rows: key, bank

// A register field that is read or written when `when` is 1.
struct FieldUse {
  isa::Field field;
  Linear when;  // includes 'not RZ'
};

// Row of the register file: register + (quad << bits of the class), for whichever use is on; all 0 otherwise.
Signals row_number(Circuit& c, const Wires& w, const std::string& name, const std::vector<FieldUse>& uses,
                   const Linear& any_use) {
  Signals row = bus_word(c, name, row_number_bits);
  for (int i = 0; i < row_number_bits; ++i) {
    const auto bit = static_cast<std::size_t>(i);
    if (i < key_bits)
      for (const FieldUse& use : uses) {
        Word factors = {use.when, w.field(use.field)[bit]};
        if (i >= 4) {  // part of the register number only in the larger classes
          Linear larger = 0;
          for (int k = i - 3; k < Parameters::register_classes; ++k) larger += w.class_is[static_cast<std::size_t>(k)];
          factors.push_back(larger);
        }
        c.add(row[bit], 1, all(factors));
      }
    for (int k = 0; k < Parameters::register_classes; ++k) {
      const int quad_bit = i - 4 - k;
      if (quad_bit < 0 || quad_bit > 7) continue;
      c.add(row[bit], 1,
            all({any_use, w.class_is[static_cast<std::size_t>(k)], w.quad_bits[static_cast<std::size_t>(quad_bit)]}));
    }
  }
  return row;
}

Linear not_rz(const Wires& w, isa::Field field) { return 1 - w.field(field).back(); }

// Reads of registers: <PC> a, <OP> b, <C> c, <KEEP> d.
std::vector<FieldUse> operand_uses(const Wires& w) {
  const TokenInputs& t = w.token;
  const Word source = w.field(isa::field::b_source);
  return {{isa::field::ra, both(t.pc, not_rz(w, isa::field::ra))},
          {isa::field::rb, all({t.reads_b, not_rz(w, isa::field::rb), 1 - source[0], 1 - source[1]})},
          {isa::field::rc, both(t.operand_c, not_rz(w, isa::field::rc))},
          {isa::field::rd, t.keep}};
}

struct DecodedRow {
  SplitOneHot key;
  Signals bank;  // [64] one-hot: a column a bank, so that only that bank's rows of z are touched
};

DecodedRow decode_row(Circuit& c, const std::string& name, const Signals& row, const Linear& enable) {
  DecodedRow decoded{split_decode(c, name + ".key", slice(row, 0, key_bits), 4, enable), {}};
  const Word bank = slice(row, key_bits, row_number_bits - key_bits);
  for (std::uint64_t i = 0; i < std::uint64_t{1} << bank.size(); ++i)
    decoded.bank.push_back(circuit::and_(c, fmt::format("{}.bank[{}]", name, i), {enable, match(bank, i)}));
  c.exclusive(decoded.bank);
  return decoded;
}

void build_register_file(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("registers");
  const TokenInputs& t = w.token;

  const auto enable = [&](const std::string& name, const std::vector<FieldUse>& uses) {
    const Signal any = c.bus(name);
    for (const FieldUse& use : uses) c.add(any, 1, both(use.when, w.user()));
    return any;
  };
  // Quad bits are 0 in S, where the bank is not enabled either.
  const Linear read_token = t.reads_register + t.reads_b;
  const std::vector<FieldUse> reads = operand_uses(w);
  const DecodedRow read = decode_row(c, "read", row_number(c, w, "read.row", reads, read_token), enable("reads", reads));

  const Linear written = both(t.row_end, w.control_bit(Control::ToRegister));
  const std::vector<FieldUse> writes = {{isa::field::rd, written}};
  const DecodedRow write = decode_row(c, "write", row_number(c, w, "write.row", writes, written), enable("writes", writes));

  std::size_t bank = 0;
  for (int layer : plan.registers)
    for (int h = 0; h < 16; ++h, ++bank) {
      HeadSpec head{.name = fmt::format("bank{}", bank), .layer = layer};
      head.key = write.key.rows();
      head.query = read.key.rows();
      head.value = circuit::rows(w.staged);
      head.write_enable = write_when(write.bank[bank]);
      head.z = circuit::same_rows(read.bank[bank], row_bits);
      head.clear = t.run;
      for (int i = 0; i < row_bits; ++i) head.outputs.push_back({i, w.operand[static_cast<std::size_t>(i)]});
      c.head(std::move(head));
    }
}

// One-hot halves of a 7-bit field, for whichever use is on. One MLP after the instruction is known.
SplitOneHot decode_uses(Circuit& c, const Wires& w, const std::string& name, const std::vector<FieldUse>& uses,
                        const Linear& enable) {
  SplitOneHot result{bus_word(c, name + ".high", 8), bus_word(c, name + ".low", 16)};
  c.exclusive(result.high);
  c.exclusive(result.low);
  for (const FieldUse& use : uses) {
    const Word number = w.field(use.field);
    for (std::size_t i = 0; i < 8; ++i)
      c.add(result.high[i], 1, all({use.when, enable, match(slice(number, 4, 3), i)}));
    for (std::size_t i = 0; i < 16; ++i)
      c.add(result.low[i], 1, all({use.when, enable, match(slice(number, 0, 4), i)}));
  }
  return result;
}

void build_firmware_registers(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("firmware_registers");
  const Linear written = both(w.token.row_end, w.control_bit(Control::ToRegister));
  HeadSpec head{.name = "rows", .layer = plan.state};
  head.clear = w.token.go;
  head.key = decode_uses(c, w, "write", {{isa::field::rd, written}}, w.system).rows();
  head.query = decode_uses(c, w, "read", operand_uses(w), w.system).rows();
  head.value = circuit::rows(w.staged);
  head.write_enable = write_when(both(written, w.system));
  head.z = circuit::same_rows(
      circuit::and_(c, "reads", {w.token.reads_register + w.token.reads_b, w.system}), row_bits);
  for (int i = 0; i < row_bits; ++i) head.outputs.push_back({i, w.operand[static_cast<std::size_t>(i)]});
  c.head(std::move(head));
}

// 128 lines of four words; a head holds one word of every line. Line = immediate bits 4..10, word = bits 2..3.
void build_constants(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("constants");
  const TokenInputs& t = w.token;
  const Word source = w.field(isa::field::b_source), address = w.field(isa::field::immediate);
  const Linear used = all({t.reads_b, 1 - source[0], source[1]});
  const SplitOneHot line = split_decode(c, "line", slice(address, 4, 7), 4, used);
  const Linear written = both(t.row_end, w.control_bit(Control::ToConstant));
  for (int word = 0; word < 4; ++word) {
    HeadSpec head{.name = fmt::format("word{}", word), .layer = plan.state};
    head.key = circuit::rows(w.number_low);
    head.query = line.rows();
    head.value = circuit::rows(slice(w.staged, word_bits * word, word_bits));
    head.write_enable = write_when(written);
    head.z = circuit::same_rows(circuit::and_(c, fmt::format("read{}", word),
                                              {used, match(slice(address, 2, 2), static_cast<std::uint64_t>(word))}),
                                word_bits);
    for (int i = 0; i < word_bits; ++i)
      for (int lane = 0; lane < lanes; ++lane)
        head.outputs.push_back({i, w.operand[static_cast<std::size_t>(word_bits * lane + i)]});
    c.head(std::move(head));
  }
}

void build_special_registers(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("special");
  const TokenInputs& t = w.token;
  const Word source = w.field(isa::field::b_source), number = slice(w.field(isa::field::immediate), 0, 3);
  const Linear used = all({t.reads_b, source[0], source[1]});
  const auto is = [&](isa::Special special) {
    const auto index = static_cast<std::size_t>(special);
    return circuit::and_(c, std::string(isa::special_table[index].spelling), {used, match(number, index)});
  };
  const auto operand = [&](int lane, int bit) { return w.operand[static_cast<std::size_t>(word_bits * lane + bit)]; };

  // x, y << 10, z << 20 of the quad's threads
  const Signals indices = bus_word(c, "thread_indices", row_bits);
  for (int h = 0; h < 2; ++h) {
    HeadSpec head{.name = fmt::format("thread_indices{}", h), .layer = plan.state};
    head.key = circuit::rows(w.number_low);
    head.query = circuit::rows(w.quad_low);
    head.value = circuit::rows(w.staged);
    head.write_enable = write_when(
        all({t.row_end, w.control_bit(Control::ToThreadIndex), w.number_high[static_cast<std::size_t>(h)]}));
    head.z = circuit::same_rows(
        circuit::and_(c, fmt::format("read{}", h), {used, w.in_half(h), w.user()}), row_bits);
    for (int i = 0; i < row_bits; ++i) head.outputs.push_back({i, indices[static_cast<std::size_t>(i)]});
    c.head(std::move(head));
  }

  const Signal x = is(isa::Special::TidX), y = is(isa::Special::TidY), z = is(isa::Special::TidZ);
  const Signal lane_id = is(isa::Special::LaneId), warp = is(isa::Special::WarpId);
  const Signal quad_lane = is(isa::Special::QuadLane), fault = is(isa::Special::Fault);
  const Signal thread = is(isa::Special::Thread);
  for (int lane = 0; lane < lanes; ++lane) {
    const auto index = [&](int bit) { return indices[static_cast<std::size_t>(word_bits * lane + bit)]; };
    for (int i = 0; i < 10; ++i) {
      c.add(operand(lane, i), 1, both(x, index(i)));
      c.add(operand(lane, i), 1, both(y, index(10 + i)));
      if (i < 6) c.add(operand(lane, i), 1, both(z, index(20 + i)));
      c.add(operand(lane, i), 1, both(fault, w.fault_code[static_cast<std::size_t>(i)]));
    }
    for (int i = 0; i < 2; ++i)
      if (lane >> i & 1) {
        c.add(operand(lane, i), 1, lane_id);
        c.add(operand(lane, i), 1, quad_lane);
        c.add(operand(lane, i), 1, thread);
      }
    for (int i = 0; i < 8; ++i) c.add(operand(lane, 2 + i), 1, both(thread, w.quad_bits[static_cast<std::size_t>(i)]));
    for (int i = 0; i < 3; ++i) c.add(operand(lane, 2 + i), 1, both(lane_id, w.quad_bits[static_cast<std::size_t>(i)]));
    for (int i = 0; i < 5; ++i) c.add(operand(lane, i), 1, both(warp, w.quad_bits[static_cast<std::size_t>(3 + i)]));
  }
}

void build_immediates(Circuit& c, Wires& w) {
  const auto scope = c.scope("immediate");
  const TokenInputs& t = w.token;
  const Word source = w.field(isa::field::b_source), immediate = w.field(isa::field::immediate);
  const Signal used = c.bus("used");
  c.add(used, 1, all({t.reads_b, source[0], 1 - source[1]}));
  c.add(used, 1, t.b_is_offset);
  for (int i = 0; i < word_bits; ++i)
    for (int lane = 0; lane < lanes; ++lane)
      c.add(w.operand[static_cast<std::size_t>(word_bits * lane + i)], 1, both(used, immediate[static_cast<std::size_t>(i)]));
}

}  // namespace

void build_registers(Circuit& c, Wires& w, const FloorPlan& plan) {
  w.operand = bus_word(c, "operand", row_bits);
  build_register_file(c, w, plan);
  build_firmware_registers(c, w, plan);
  build_constants(c, w, plan);
  build_special_registers(c, w, plan);
  build_immediates(c, w);
}

}  // namespace qwengpu::machine

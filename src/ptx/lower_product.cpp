// Arithmetic with carry (PTX ISA 9.7.2), and the instructions for 24 bits, bytes and sums of products (PTX
// ISA 9.7.1).
#include <fmt/format.h>

#include <array>

#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using syntax::Operand;

constexpr Type u32{'u', 32}, s32{'s', 32};

Value imm(std::uint32_t value) { return Value::imm(value); }

// ---- Carries ----

struct Sum {
  Value value;
  Predicate carry;
};

Sum add(ir::Emitter& e, Value a, Value b, Predicate in) {
  const Value sum = e.op_carry(Op::IaddX, a, b, in);
  // With a carry in, the sum wraps to b itself too.
  const Predicate wraps = e.compare(Op::SetpLtU, sum, b), same = e.compare(Op::SetpEq, sum, b);
  return {sum, e.combine(Op::PlopOr, wraps, e.combine(Op::PlopAnd, same, in))};
}

// The carry is a borrow.
Sum subtract(ir::Emitter& e, Value a, Value b, Predicate in) {
  const Predicate less = e.compare(Op::SetpLtU, a, b), same = e.compare(Op::SetpEq, a, b);
  return {e.op_carry(Op::IsubX, a, b, !in), e.combine(Op::PlopOr, less, e.combine(Op::PlopAnd, same, in))};
}

using Step = Sum (*)(ir::Emitter&, Value, Value, Predicate);

// d = a + b + carry in the type's width. With .cc the carry goes to the condition code.
void chain(Lowering& l, Type type, Pair a, Pair b, Step step, Predicate in, bool out) {
  const Sum lo = step(l.emit(), a.lo, b.lo, in);
  Sum last = lo;
  if (type.bits == 64) last = step(l.emit(), a.hi, b.hi, lo.carry);
  if (out) l.emit().predicate_to(l.carry(), last.carry);
  if (type.bits == 64)
    l.write_pair(l.operand(0), {lo.value, last.value});
  else
    l.write(l.operand(0), type, lo.value);
}

Pair read(Lowering& l, std::size_t number, Type type) {
  if (type.bits == 64) return l.read_pair(l.operand(number), type);
  l.check_width(l.operand(number), 32);
  return {l.read(l.operand(number), type), {}};
}

// ---- 24 bits ----

Value low_24(Lowering& l, std::size_t number, Type type) {
  const Value value = l.read(l.operand(number), type);
  return l.emit().op(type.is_signed() ? Op::BfeS : Op::BfeU, value, imm(24 << 8));
}

// mul24.lo is the low word of the product of 48 bits, mul24.hi what stands from bit 16 on.
template <bool sum>
void mul24(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const std::string form = m.take_any({"lo", "hi"});
  if (form.empty()) l.fail(".lo or .hi is missing");
  if (m.take("sat")) Lowering::reject(".sat not supported");
  const Type type = l.integer_type(m);
  if (type.bits != 32) l.fail("the type does not have 32 bits");
  const Value a = low_24(l, 1, type), b = low_24(l, 2, type);
  Value value = e.op(Op::Imul, a, b);
  if (form == "hi")
    value = e.op(Op::ShfR, value, imm(16), e.op(type.is_signed() ? Op::ImulHiS : Op::ImulHiU, a, b));
  if (sum) value = e.op(Op::Iadd, value, l.read(l.operand(3), type));
  l.write(l.operand(0), type, value);
}

// d = |a - b| + c
void sad(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const Type type = l.integer_type(m);
  if (type.bits == 64) {
    const Pair a = l.read_pair(l.operand(1), type), b = l.read_pair(l.operand(2), type);
    const Predicate less = ir::compare(e, ir::Relation::Less, a, b, type.is_signed());
    const Pair distance = ir::select(e, less, ir::subtract(e, b, a), ir::subtract(e, a, b));
    return l.write_pair(l.operand(0), ir::add(e, distance, l.read_pair(l.operand(3), type)));
  }
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
  const Op least = type.is_signed() ? Op::IminS : Op::IminU, most = type.is_signed() ? Op::ImaxS : Op::ImaxU;
  const Value distance = e.op(Op::Isub, e.op(most, a, b), e.op(least, a, b));
  l.write(l.operand(0), type, e.op(Op::Iadd, distance, l.read(l.operand(3), type)));
}

// ---- Sums of products ----

Value part(ir::Emitter& e, Value word, std::uint32_t position, std::uint32_t bits, Type type) {
  return e.op(type.is_signed() ? Op::BfeS : Op::BfeU, word, imm(position | bits << 8));
}

// dp4a.atype.btype d, a, b, c: c + the four products of the bytes. dp2a: the two halves of a with two bytes
// of b.
void dot(Lowering& l, std::uint32_t bits, std::uint32_t first, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const Type type_a = l.integer_type(m), type_b = l.integer_type(m);
  if (type_a.bits != 32 || type_b.bits != 32) l.fail("the types do not have 32 bits");
  const Value a = l.read(l.operand(1), u32), b = l.read(l.operand(2), u32);
  Value sum = l.read(l.operand(3), u32);
  for (std::uint32_t n = 0; n < 32 / bits; ++n)
    sum = e.op(Op::Imad, part(e, a, n * bits, bits, type_a), part(e, b, first + 8 * n, 8, type_b), sum);
  l.write(l.operand(0), s32, sum);
}

void dp4a(Lowering& l, const Instruction&, Modifiers& m) { dot(l, 8, 0, m); }

void dp2a(Lowering& l, const Instruction&, Modifiers& m) {
  const std::string half = m.take_any({"lo", "hi"});
  if (half.empty()) l.fail(".lo or .hi is missing");
  dot(l, 16, half == "hi" ? 16 : 0, m);
}

// ---- Bytes ----

// prmt d, a, b, c: each digit of the selector picks one of the eight bytes of {b, a}, or its sign. The modes
// make a selector of the low two bits of c.
void prmt(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const std::string mode = m.take_any({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  const Type type = l.integer_type(m);
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
  Value selector = l.read(l.operand(3), u32);
  if (!mode.empty()) {
    std::array<std::uint32_t, 4> selectors{};
    for (std::uint32_t n = 0; n < 4; ++n)
      for (std::uint32_t byte = 0; byte < 4; ++byte) {
        const std::uint32_t picked = mode == "f4e"   ? n + byte
                                     : mode == "b4e" ? (n - byte) & 7
                                     : mode == "rc8" ? n
                                     : mode == "ecl" ? std::max(n, byte)
                                     : mode == "ecr" ? std::min(n, byte)
                                                     : 2 * (n & 1) + (byte & 1);
        selectors[n] |= picked << (4 * byte);
      }
    const Value upper = e.op(Op::And, selector, imm(2)), lower = e.op(Op::And, selector, imm(1));
    const Value two = e.select(e.compare(Op::SetpNe, upper, imm(0)), imm(selectors[2] | selectors[3] << 16),
                               imm(selectors[0] | selectors[1] << 16));
    selector = e.op(Op::ShrU, two, e.op(Op::Shl, lower, imm(4)));
  }
  l.write(l.operand(0), type, e.op(Op::Prmt, a, selector, b));
}

}  // namespace

void with_carry(Lowering& l, const Instruction& i, Modifiers& m) {
  const bool out = m.take("cc");
  const Predicate in = i.opcode.ends_with('c') ? Predicate{l.carry(), false} : ir::never;
  const std::string form = i.opcode.starts_with("mad") ? m.take_any({"lo", "hi"}) : "";
  const Type type = l.integer_type(m);
  if (type.bits < 32) l.fail("the type has less than 32 bits");
  const Pair a = read(l, 1, type), b = read(l, 2, type);
  if (i.opcode.starts_with("sub")) return chain(l, type, a, b, subtract, in, out);
  if (i.opcode.starts_with("add")) return chain(l, type, a, b, add, in, out);
  if (form.empty()) l.fail(".lo or .hi is missing");
  ir::Emitter& e = l.emit();
  Pair product;
  if (type.bits == 64)
    product = form == "hi" ? ir::multiply_high(e, a, b, type.is_signed()) : ir::multiply_low(e, a, b);
  else
    product.lo = e.op(form == "lo" ? Op::Imul : type.is_signed() ? Op::ImulHiS : Op::ImulHiU, a.lo, b.lo);
  chain(l, type, product, read(l, 3, type), add, in, out);
}

const HandlerTable& product_handlers() {
  static const HandlerTable table = {
      {"addc", with_carry},    {"subc", with_carry},   {"madc", with_carry},
      {"mul24", mul24<false>}, {"mad24", mul24<true>}, {"sad", sad},
      {"dp4a", dp4a},          {"dp2a", dp2a},         {"prmt", prmt},
  };
  return table;
}

}  // namespace qwengpu::ptx

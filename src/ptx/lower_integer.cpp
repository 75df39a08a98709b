// Integer arithmetic, logic, shifts and bit operations (PTX ISA 9.7.1, 9.7.2, 9.7.8).
#include <fmt/format.h>

#include <algorithm>

#include "ptx/lower.h"
#include "ptx/routines.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using syntax::Operand;

constexpr Type u32{'u', 32};

Value imm(std::uint32_t value) { return Value::imm(value); }

bool is64(Type type) { return type.bits == 64; }

// Both operands of d, a, b in the type's width.
template <class Narrow, class Wide>
void binary(Lowering& l, Type type, Narrow narrow, Wide wide) {
  if (is64(type)) {
    const Pair a = l.read_pair(l.operand(1), type), b = l.read_pair(l.operand(2), type);
    l.write_pair(l.operand(0), wide(a, b));
  } else {
    for (std::size_t n = 0; n < 3; ++n) l.check_width(l.operand(n), type.bits);
    const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
    l.write(l.operand(0), type, narrow(a, b));
  }
}

template <class Narrow, class Wide>
void unary(Lowering& l, Type type, Narrow narrow, Wide wide) {
  if (is64(type)) {
    l.write_pair(l.operand(0), wide(l.read_pair(l.operand(1), type)));
  } else {
    for (std::size_t n = 0; n < 2; ++n) l.check_width(l.operand(n), type.bits);
    l.write(l.operand(0), type, narrow(l.read(l.operand(1), type)));
  }
}

void add(Lowering& l, const Instruction&, Modifiers& m) {
  binary(
      l, l.integer_type(m), [&](Value a, Value b) { return l.emit().op(Op::Iadd, a, b); },
      [&](Pair a, Pair b) { return ir::add(l.emit(), a, b); });
}

void sub(Lowering& l, const Instruction&, Modifiers& m) {
  binary(
      l, l.integer_type(m), [&](Value a, Value b) { return l.emit().op(Op::Isub, a, b); },
      [&](Pair a, Pair b) { return ir::subtract(l.emit(), a, b); });
}

// The product in the form that the modifiers ask for. Narrow products of 16 bits fit 32.
Pair product(Lowering& l, const std::string& form, Type type) {
  ir::Emitter& e = l.emit();
  if (is64(type)) {
    if (form == "wide") l.fail("the product has 128 bits");
    const Pair a = l.read_pair(l.operand(1), type), b = l.read_pair(l.operand(2), type);
    return form == "hi" ? ir::multiply_high(e, a, b, type.is_signed()) : ir::multiply_low(e, a, b);
  }
  l.check_width(l.operand(1), type.bits);
  l.check_width(l.operand(2), type.bits);
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
  if (type.bits == 32) {
    if (form == "wide") return ir::multiply_wide(e, a, b, type.is_signed());
    if (form == "hi") return {e.op(type.is_signed() ? Op::ImulHiS : Op::ImulHiU, a, b), {}};
    return {e.op(Op::Imul, a, b), {}};
  }
  const Value all = e.op(Op::Imul, a, b);
  return {form == "hi" ? e.op(Op::ShrU, all, imm(16)) : all, {}};
}

Type product_type(const std::string& form, Type type) {
  return form == "wide" ? Type{type.kind, 2 * type.bits} : type;
}

std::string take_form(Lowering& l, Modifiers& m) {
  const std::string form = m.take_any({"lo", "hi", "wide"});
  if (form.empty()) l.fail(".lo, .hi or .wide is missing");
  return form;
}

void mul(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const std::string form = take_form(l, m);
  const Pair value = product(l, form, type);
  const Type result = product_type(form, type);
  if (is64(result))
    l.write_pair(l.operand(0), value);
  else
    l.write(l.operand(0), result, value.lo);
}

void mad(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const std::string form = take_form(l, m);
  const Type result = product_type(form, type);
  const Pair value = product(l, form, type);
  if (is64(result))
    l.write_pair(l.operand(0), ir::add(l.emit(), value, l.read_pair(l.operand(3), result)));
  else
    l.write(l.operand(0), result, l.emit().op(Op::Iadd, value.lo, l.read(l.operand(3), result)));
}

template <bool Max>
void min_max(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const Op op = type.is_signed() ? (Max ? Op::ImaxS : Op::IminS) : (Max ? Op::ImaxU : Op::IminU);
  binary(
      l, type, [&](Value a, Value b) { return l.emit().op(op, a, b); },
      [&](Pair a, Pair b) {
        const auto relation = Max ? ir::Relation::Greater : ir::Relation::Less;
        return ir::select(l.emit(), ir::compare(l.emit(), relation, a, b, type.is_signed()), a, b);
      });
}

// neg and abs of 64-bit floating-point values (and of 32-bit ones in lower_float.cpp) only touch the sign bit
// (PTX ISA 9.7.3).
template <bool Absolute>
void sign_bit(Lowering& l, Type type) {
  const Op op = Absolute ? Op::And : Op::Xor;
  const Value mask = imm(Absolute ? 0x7fffffff : 0x80000000);
  unary(
      l, type, [&](Value a) { return l.emit().op(op, a, mask); },
      [&](Pair a) {
        return Pair{a.lo, l.emit().op(op, a.hi, mask)};
      });
}

void neg(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.type(m);
  if (type.kind == 'f' && type.bits >= 32) return sign_bit<false>(l, type);
  if (type.kind == 'f') Lowering::reject(fmt::format("floating point of type .f{} not supported", type.bits));
  unary(
      l, type, [&](Value a) { return l.emit().op(Op::Isub, imm(0), a); },
      [&](Pair a) { return ir::negate(l.emit(), a); });
}

void abs(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.type(m);
  if (type.kind == 'f' && type.bits >= 32) return sign_bit<true>(l, type);
  if (type.kind == 'f') Lowering::reject(fmt::format("floating point of type .f{} not supported", type.bits));
  unary(
      l, type, [&](Value a) { return l.emit().op(Op::ImaxS, a, l.emit().op(Op::Isub, imm(0), a)); },
      [&](Pair a) { return ir::absolute(l.emit(), a); });
}

template <Op op>
void logic(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (type.kind == 'p') {
    constexpr Op predicate_op = op == Op::And ? Op::PlopAnd : op == Op::Or ? Op::PlopOr : Op::PlopXor;
    const Predicate a = l.read_predicate(l.operand(1)), b = l.read_predicate(l.operand(2));
    return l.write_predicate(l.operand(0), l.emit().combine(predicate_op, a, b));
  }
  binary(
      l, type, [&](Value a, Value b) { return l.emit().op(op, a, b); },
      [&](Pair a, Pair b) { return ir::logic(l.emit(), op, a, b); });
}

void not_(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (type.kind == 'p') return l.write_predicate(l.operand(0), !l.read_predicate(l.operand(1)));
  const Value ones = imm(0xffffffff);
  unary(
      l, type, [&](Value a) { return l.emit().op(Op::Xor, a, ones); },
      [&](Pair a) {
        return ir::logic(l.emit(), Op::Xor, a, {ones, ones});
      });
}

void cnot(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const auto choose = [&](Predicate zero) { return l.emit().select(!zero, imm(0), imm(1)); };
  unary(
      l, type, [&](Value a) { return choose(l.emit().compare(Op::SetpEq, a, imm(0))); },
      [&](Pair a) {
        return ir::zero_extended(
            choose(ir::compare(l.emit(), ir::Relation::Equal, a, ir::pair_of(0), false)));
      });
}

// The amount is a 32-bit value whatever the type. Amounts above the width give 0, or the sign.
void shl(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const Value amount = l.read(l.operand(2), u32);
  if (is64(type))
    l.write_pair(l.operand(0), ir::shift_left(l.emit(), l.read_pair(l.operand(1), type), amount));
  else
    l.write(l.operand(0), type, l.emit().op(Op::Shl, l.read(l.operand(1), type), amount));
}

void shr(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const Value amount = l.read(l.operand(2), u32);
  if (is64(type))
    l.write_pair(l.operand(0),
                 ir::shift_right(l.emit(), l.read_pair(l.operand(1), type), amount, type.is_signed()));
  else
    l.write(l.operand(0), type,
            l.emit().op(type.is_signed() ? Op::ShrS : Op::ShrU, l.read(l.operand(1), type), amount));
}

// Amounts count modulo 32, or up to 32 (PTX ISA 9.7.8, shf). At 32 one of the words is the result.
template <bool Left>
void shf(Lowering& l, const Instruction&, Modifiers& m) {
  const bool wrap = m.take("wrap");
  if (!wrap && !m.take("clamp")) l.fail(".wrap or .clamp is missing");
  const Type type = l.integer_type(m);
  const Value lo = l.read(l.operand(1), type), hi = l.read(l.operand(2), type);
  const Value amount = l.read(l.operand(3), u32), all = Left ? lo : hi;
  if (!wrap && amount.is_immediate() && amount.number > 31) return l.write(l.operand(0), type, all);
  Value result = l.emit().op(Left ? Op::ShfL : Op::ShfR, lo, amount, hi);
  if (!wrap && !amount.is_immediate())
    result = l.emit().select(l.emit().compare(Op::SetpGtU, amount, imm(31)), all, result);
  l.write(l.operand(0), type, result);
}

void shf_any(Lowering& l, const Instruction& i, Modifiers& m) {
  if (m.take("l")) return shf<true>(l, i, m);
  if (m.take("r")) return shf<false>(l, i, m);
  l.fail(".l or .r is missing");
}

void divide(Lowering& l, Type type, bool remainder) {
  if (is64(type)) {
    const ir::WideQuotient result = ir::divide(l.emit(), l.read_pair(l.operand(1), type),
                                               l.read_pair(l.operand(2), type), type.is_signed());
    return l.write_pair(l.operand(0), remainder ? result.remainder : result.quotient);
  }
  for (std::size_t n = 0; n < 3; ++n) l.check_width(l.operand(n), type.bits);
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
  const ir::Quotient result = ir::divide(l.emit(), a, b, type.is_signed());
  l.write(l.operand(0), type, remainder ? result.remainder : result.quotient);
}

void div(Lowering& l, const Instruction&, Modifiers& m) { divide(l, l.integer_type(m), false); }
void rem(Lowering& l, const Instruction&, Modifiers& m) { divide(l, l.integer_type(m), true); }

std::uint32_t constant_operand(Lowering& l, std::size_t number) {
  const Operand& operand = l.operand(number);
  if (operand.kind != Operand::Kind::Integer)
    Lowering::reject("with operands that are not constants not supported");
  return static_cast<std::uint32_t>(operand.value);
}

// Position and length, of which the low bytes count, as the machine's operand: position | length << 8.
Value field(Lowering& l, std::size_t position, std::size_t length) {
  const Value at = l.read(l.operand(position), u32), bits = l.read(l.operand(length), u32);
  if (at.is_immediate() && bits.is_immediate()) return imm((at.number & 255) | (bits.number & 255) << 8);
  return l.emit().op(Op::Bfi, bits, imm(8 | 8 << 8), at);
}

// What lies above the value is filled with 0 or the sign.
void bfe(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (!is64(type))
    return l.write(
        l.operand(0), type,
        l.emit().op(type.is_signed() ? Op::BfeS : Op::BfeU, l.read(l.operand(1), type), field(l, 2, 3)));
  const std::uint32_t position = constant_operand(l, 2) & 255, length = constant_operand(l, 3) & 255;
  const std::uint32_t top = std::min(position + length, 64u);
  // Up, so that the field's last bit is the highest, and down again.
  const std::uint32_t up = 64 - top, down = up + position;
  Pair a = length == 0 ? ir::pair_of(0) : l.read_pair(l.operand(1), type);
  a = ir::shift_left(l.emit(), a, imm(up));
  l.write_pair(l.operand(0), ir::shift_right(l.emit(), a, imm(std::min(down, type.is_signed() ? 63u : 64u)),
                                             type.is_signed()));
}

// bfi f, a, b, position, length: the low bits of a into b.
void bfi(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (!is64(type)) {
    const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
    return l.write(l.operand(0), type, l.emit().op(Op::Bfi, a, field(l, 3, 4), b));
  }
  const std::uint32_t position = constant_operand(l, 3) & 255, length = constant_operand(l, 4) & 255;
  const std::uint64_t low = length > 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
  const std::uint64_t mask = position > 63 ? 0 : low << position;
  const Pair a = ir::shift_left(l.emit(), l.read_pair(l.operand(1), type), imm(position));
  const Pair inside = ir::logic(l.emit(), Op::And, a, ir::pair_of(mask));
  const Pair rest = ir::logic(l.emit(), Op::And, l.read_pair(l.operand(2), type), ir::pair_of(~mask));
  l.write_pair(l.operand(0), ir::logic(l.emit(), Op::Or, inside, rest));
}

Value count(Lowering& l, Op op, Value value) { return l.emit().op(op, {}, value); }

void popc(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (is64(type)) {
    const Pair a = l.read_pair(l.operand(1), type);
    l.write(l.operand(0), u32, l.emit().op(Op::Iadd, count(l, Op::Popc, a.lo), count(l, Op::Popc, a.hi)));
  } else {
    l.write(l.operand(0), u32, count(l, Op::Popc, l.read(l.operand(1), type)));
  }
}

void clz(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (!is64(type)) return l.write(l.operand(0), u32, count(l, Op::Clz, l.read(l.operand(1), type)));
  const Pair a = l.read_pair(l.operand(1), type);
  const Value low = l.emit().op(Op::Iadd, count(l, Op::Clz, a.lo), imm(32));
  l.write(l.operand(0), u32,
          l.emit().select(l.emit().compare(Op::SetpEq, a.hi, imm(0)), low, count(l, Op::Clz, a.hi)));
}

// The position of the highest one (signed: of the highest bit that differs from the sign), or ~0. With
// .shiftamt: the shift that brings it to the top.
void bfind(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const bool shift_amount = m.take("shiftamt");
  const auto highest = [&](Value value, bool is_signed) {
    return count(l, is_signed ? Op::BfindS : Op::BfindU, value);
  };
  Value position;
  if (is64(type)) {
    Pair a = l.read_pair(l.operand(1), type);
    if (type.is_signed()) {
      const Value sign = l.emit().op(Op::ShrS, a.hi, imm(31));
      a = ir::logic(l.emit(), Op::Xor, a, {sign, sign});
    }
    const Value high = l.emit().op(Op::Iadd, highest(a.hi, false), imm(32));
    position = l.emit().select(l.emit().compare(Op::SetpEq, a.hi, imm(0)), highest(a.lo, false), high);
  } else {
    position = highest(l.read(l.operand(1), type), type.is_signed());
  }
  if (shift_amount) {
    const Value top = imm(is64(type) ? 63 : 31);
    position = l.emit().select(l.emit().compare(Op::SetpLtS, position, imm(0)), position,
                               l.emit().op(Op::Isub, top, position));
  }
  l.write(l.operand(0), u32, position);
}

void brev(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  unary(
      l, type, [&](Value a) { return count(l, Op::Brev, a); },
      [&](Pair a) {
        return Pair{count(l, Op::Brev, a.hi), count(l, Op::Brev, a.lo)};
      });
}

void lop3(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  ir::Form form;
  form.table = constant_operand(l, 4) & 255;
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type), c = l.read(l.operand(3), type);
  l.write(l.operand(0), type, l.emit().op(Op::Lop3, a, b, c, form));
}

// add.cc, sub.cc and mad.cc are in lower_product.cpp.
template <Handler plain>
void without_carry(Lowering& l, const Instruction& i, Modifiers& m) {
  if (std::find(i.modifiers.begin(), i.modifiers.end(), "cc") != i.modifiers.end())
    return with_carry(l, i, m);
  plain(l, i, m);
}

}  // namespace

const HandlerTable& integer_handlers() {
  static const HandlerTable table = {
      {"add", without_carry<add>},
      {"sub", without_carry<sub>},
      {"mul", mul},
      {"mad", without_carry<mad>},
      {"min", min_max<false>},
      {"max", min_max<true>},
      {"neg", neg},
      {"abs", abs},
      {"and", logic<Op::And>},
      {"or", logic<Op::Or>},
      {"xor", logic<Op::Xor>},
      {"not", not_},
      {"cnot", cnot},
      {"shl", shl},
      {"shr", shr},
      {"shf", shf_any},
      {"div", div},
      {"rem", rem},
      {"bfe", bfe},
      {"bfi", bfi},
      {"popc", popc},
      {"clz", clz},
      {"bfind", bfind},
      {"brev", brev},
      {"lop3", lop3},
  };
  return table;
}

}  // namespace qwengpu::ptx

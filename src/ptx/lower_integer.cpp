// Integer arithmetic, logic, shifts and bit operations (PTX ISA 9.7.1, 9.7.2, 9.7.8).
#include <fmt/format.h>

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

// neg and abs of floating-point values only touch the sign bit (PTX ISA 9.7.3).
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
  if (type.kind == 'f') Lowering::reject("floating-point arithmetic not supported");
  unary(
      l, type, [&](Value a) { return l.emit().op(Op::Isub, imm(0), a); },
      [&](Pair a) { return ir::negate(l.emit(), a); });
}

void abs(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.type(m);
  if (type.kind == 'f' && type.bits >= 32) return sign_bit<true>(l, type);
  if (type.kind == 'f') Lowering::reject("floating-point arithmetic not supported");
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

template <bool Left>
void shf(Lowering& l, const Instruction&, Modifiers& m) {
  const bool wrap = m.take("wrap");
  if (!wrap && !m.take("clamp")) l.fail(".wrap or .clamp is missing");
  const Type type = l.integer_type(m);
  const Value lo = l.read(l.operand(1), type), hi = l.read(l.operand(2), type);
  const Value amount =
      l.emit().op(wrap ? Op::And : Op::IminU, l.read(l.operand(3), u32), imm(wrap ? 31 : 32));
  l.write(l.operand(0), type,
          Left ? ir::funnel_left(l.emit(), lo, hi, amount) : ir::funnel_right(l.emit(), lo, hi, amount));
}

void shf_any(Lowering& l, const Instruction& i, Modifiers& m) {
  if (m.take("l")) return shf<true>(l, i, m);
  if (m.take("r")) return shf<false>(l, i, m);
  l.fail(".l or .r is missing");
}

void divide(Lowering& l, Type type, bool remainder) {
  if (is64(type)) Lowering::reject("64-bit division not supported");
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

// Position and length are taken from the low byte; what lies above the value is filled with 0 or the sign.
void bfe(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const std::uint32_t width = static_cast<std::uint32_t>(type.bits);
  const std::uint32_t position = constant_operand(l, 2) & 255, length = constant_operand(l, 3) & 255;
  const std::uint32_t top = std::min(position + length, width);
  // Up, so that the field's last bit is the highest, and down again.
  const std::uint32_t up = width - top, down = up + position;
  if (is64(type)) {
    Pair a = length == 0 ? ir::pair_of(0) : l.read_pair(l.operand(1), type);
    a = ir::shift_left(l.emit(), a, imm(up));
    l.write_pair(l.operand(0), ir::shift_right(l.emit(), a, imm(std::min(down, type.is_signed() ? 63u : 64u)),
                                               type.is_signed()));
    return;
  }
  Value a = l.read(l.operand(1), type);
  if (length == 0) {
    a = imm(0);
  } else if (type.is_signed()) {
    a = l.emit().op(Op::ShrS, l.emit().op(Op::Shl, a, imm(up)), imm(down));
  } else {
    a = l.emit().op(Op::ShrU, a, imm(position));
    if (length < 32) a = l.emit().op(Op::And, a, imm((1u << length) - 1));
  }
  l.write(l.operand(0), type, a);
}

// bfi f, a, b, position, length: the low bits of a into b.
void bfi(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const std::uint32_t position = constant_operand(l, 3) & 255, length = constant_operand(l, 4) & 255;
  const std::uint64_t low = length > 63 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
  const std::uint64_t mask = position > 63 ? 0 : low << position;
  if (is64(type)) {
    const Pair a = ir::shift_left(l.emit(), l.read_pair(l.operand(1), type), imm(position));
    const Pair field = ir::logic(l.emit(), Op::And, a, ir::pair_of(mask));
    const Pair rest = ir::logic(l.emit(), Op::And, l.read_pair(l.operand(2), type), ir::pair_of(~mask));
    return l.write_pair(l.operand(0), ir::logic(l.emit(), Op::Or, field, rest));
  }
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type);
  const Value narrow = imm(static_cast<std::uint32_t>(mask)), others = imm(static_cast<std::uint32_t>(~mask));
  const Value field = l.emit().op(Op::And, l.emit().op(Op::Shl, a, imm(position)), narrow);
  l.write(l.operand(0), type, l.emit().op(Op::Or, field, l.emit().op(Op::And, b, others)));
}

void popc(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (is64(type)) {
    const Pair a = l.read_pair(l.operand(1), type);
    const Value lo = ir::population_count(l.emit(), a.lo), hi = ir::population_count(l.emit(), a.hi);
    l.write(l.operand(0), u32, l.emit().op(Op::Iadd, lo, hi));
  } else {
    l.write(l.operand(0), u32, ir::population_count(l.emit(), l.read(l.operand(1), type)));
  }
}

Value leading_zeros(Lowering& l, Pair a) {
  const Value hi = ir::leading_zeros(l.emit(), a.hi), lo = ir::leading_zeros(l.emit(), a.lo);
  const Predicate empty = l.emit().compare(Op::SetpEq, a.hi, imm(0));
  return l.emit().select(empty, l.emit().op(Op::Iadd, lo, imm(32)), hi);
}

void clz(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  l.write(l.operand(0), u32,
          is64(type) ? leading_zeros(l, l.read_pair(l.operand(1), type))
                     : ir::leading_zeros(l.emit(), l.read(l.operand(1), type)));
}

// The position of the highest one (signed: of the highest bit that differs from the sign), or ~0. With
// .shiftamt: the shift that brings it to the top.
void bfind(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  if (is64(type)) Lowering::reject("64-bit forms not supported");
  const bool shift_amount = m.take("shiftamt");
  Value a = l.read(l.operand(1), type);
  if (type.is_signed()) a = l.emit().op(Op::Xor, a, l.emit().op(Op::ShrS, a, imm(31)));
  const Value zeros = ir::leading_zeros(l.emit(), a);
  if (shift_amount)
    l.write(l.operand(0), u32,
            l.emit().select(l.emit().compare(Op::SetpEq, a, imm(0)), imm(0xffffffff), zeros));
  else
    l.write(l.operand(0), u32, l.emit().op(Op::Isub, imm(31), zeros));
}

void brev(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  unary(
      l, type, [&](Value a) { return ir::reversed_bits(l.emit(), a); },
      [&](Pair a) {
        return Pair{ir::reversed_bits(l.emit(), a.hi), ir::reversed_bits(l.emit(), a.lo)};
      });
}

void lop3(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const unsigned table = constant_operand(l, 4) & 255;
  const Value a = l.read(l.operand(1), type), b = l.read(l.operand(2), type), c = l.read(l.operand(3), type);
  l.write(l.operand(0), type, ir::logic3(l.emit(), a, b, c, table));
}

// prmt d, a, b, selector: each nibble of a constant selector picks one of the eight bytes of {b, a}.
void prmt(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.integer_type(m);
  const std::uint32_t selector = constant_operand(l, 3);
  const Value sources[2] = {l.read(l.operand(1), type), l.read(l.operand(2), type)};
  Value result = imm(0);
  for (std::uint32_t n = 0; n < 4; ++n) {
    const std::uint32_t pick = (selector >> (4 * n)) & 15;
    if (pick & 8) Lowering::reject("replicated signs not supported");
    Value byte = l.emit().op(Op::ShrU, sources[pick / 4], imm(8 * (pick & 3)));
    byte = l.emit().op(Op::And, byte, imm(255));
    result = l.emit().op(Op::Or, result, l.emit().op(Op::Shl, byte, imm(8 * n)));
  }
  l.write(l.operand(0), type, result);
}

}  // namespace

const HandlerTable& integer_handlers() {
  static const HandlerTable table = {
      {"add", add},
      {"sub", sub},
      {"mul", mul},
      {"mad", mad},
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
      {"prmt", prmt},
  };
  return table;
}

}  // namespace qwengpu::ptx

#include "ptx/wide.h"

namespace qwengpu::ptx::ir {

using isa::Op;

namespace {
const Value zero = Value::imm(0);
}  // namespace

Pair sign_extended(Emitter& e, Value value) { return {value, e.op(Op::ShrS, value, Value::imm(31))}; }

Pair add(Emitter& e, Pair a, Pair b) {
  const Value lo = e.op(Op::Iadd, a.lo, b.lo);
  return {lo, e.op_carry(Op::IaddX, a.hi, b.hi, e.compare(Op::SetpLtU, lo, b.lo))};
}

Pair subtract(Emitter& e, Pair a, Pair b) {
  const Predicate enough = e.compare(Op::SetpGeU, a.lo, b.lo);
  return {e.op(Op::Isub, a.lo, b.lo), e.op_carry(Op::IsubX, a.hi, b.hi, enough)};
}

Pair negate(Emitter& e, Pair a) { return subtract(e, {zero, zero}, a); }

Pair absolute(Emitter& e, Pair a) { return select(e, e.compare(Op::SetpLtS, a.hi, zero), negate(e, a), a); }

Pair logic(Emitter& e, Op op, Pair a, Pair b) { return {e.op(op, a.lo, b.lo), e.op(op, a.hi, b.hi)}; }

Pair select(Emitter& e, Predicate condition, Pair a, Pair b) {
  return {e.select(condition, a.lo, b.lo), e.select(condition, a.hi, b.hi)};
}

Pair multiply_wide(Emitter& e, Value a, Value b, bool is_signed) {
  return {e.op(Op::Imul, a, b), e.op(is_signed ? Op::ImulHiS : Op::ImulHiU, a, b)};
}

Pair multiply_low(Emitter& e, Pair a, Pair b) {
  const Value cross = e.op(Op::Imad, a.lo, b.hi, e.op(Op::ImulHiU, a.lo, b.lo));
  return {e.op(Op::Imul, a.lo, b.lo), e.op(Op::Imad, a.hi, b.lo, cross)};
}

// Four partial products; no sum in between overflows 64 bits.
Pair multiply_high(Emitter& e, Pair a, Pair b, bool is_signed) {
  const Value low = e.op(Op::ImulHiU, a.lo, b.lo);
  const Pair first = add(e, multiply_wide(e, a.hi, b.lo, false), zero_extended(low));
  const Pair second = add(e, multiply_wide(e, a.lo, b.hi, false), zero_extended(first.lo));
  Pair high = add(e, multiply_wide(e, a.hi, b.hi, false), zero_extended(first.hi));
  high = add(e, high, zero_extended(second.hi));
  if (!is_signed) return high;
  const Value sign_a = e.op(Op::ShrS, a.hi, Value::imm(31)), sign_b = e.op(Op::ShrS, b.hi, Value::imm(31));
  high = subtract(e, high, logic(e, Op::And, b, {sign_a, sign_a}));
  return subtract(e, high, logic(e, Op::And, a, {sign_b, sign_b}));
}

Pair shift_left(Emitter& e, Pair a, Value amount) {
  if (amount.is_immediate()) {
    const std::uint32_t n = amount.number;
    if (n == 0) return a;
    if (n >= 64) return {zero, zero};
    if (n >= 32) return {zero, e.op(Op::Shl, a.lo, Value::imm(n - 32))};
    return {e.op(Op::Shl, a.lo, amount), e.op(Op::ShfL, a.lo, amount, a.hi)};
  }
  // A 32-bit shift by 32 or more is 0, and so is one by a negative amount: at most two of the three parts are
  // not.
  const Value below = e.op(Op::Isub, Value::imm(32), amount),
              above = e.op(Op::Iadd, amount, Value::imm(-32u));
  const Value crossing = e.op(Op::Or, e.op(Op::ShrU, a.lo, below), e.op(Op::Shl, a.lo, above));
  return {e.op(Op::Shl, a.lo, amount), e.op(Op::Or, e.op(Op::Shl, a.hi, amount), crossing)};
}

Pair shift_right(Emitter& e, Pair a, Value amount, bool is_signed) {
  const Op op = is_signed ? Op::ShrS : Op::ShrU;
  if (amount.is_immediate()) {
    const std::uint32_t n = amount.number;
    if (n == 0) return a;
    const Value fill = is_signed ? e.op(Op::ShrS, a.hi, Value::imm(31)) : zero;
    if (n >= 64) return {fill, fill};
    if (n >= 32) return {e.op(op, a.hi, Value::imm(n - 32)), fill};
    return {e.op(Op::ShfR, a.lo, amount, a.hi), e.op(op, a.hi, amount)};
  }
  const Value below = e.op(Op::Isub, Value::imm(32), amount),
              above = e.op(Op::Iadd, amount, Value::imm(-32u));
  const Value near = e.op(Op::Or, e.op(Op::ShrU, a.lo, amount), e.op(Op::Shl, a.hi, below));
  const Value far = e.op(op, a.hi, above);
  const Value lo = e.select(e.compare(Op::SetpLtU, amount, Value::imm(32)), near, far);
  return {lo, e.op(op, a.hi, amount)};
}

Op compare_op(Relation relation, bool is_signed) {
  switch (relation) {
    case Relation::Equal:
      return Op::SetpEq;
    case Relation::NotEqual:
      return Op::SetpNe;
    case Relation::Less:
      return is_signed ? Op::SetpLtS : Op::SetpLtU;
    case Relation::LessEqual:
      return is_signed ? Op::SetpLeS : Op::SetpLeU;
    case Relation::Greater:
      return is_signed ? Op::SetpGtS : Op::SetpGtU;
    case Relation::GreaterEqual:
      return is_signed ? Op::SetpGeS : Op::SetpGeU;
  }
  return Op::Illegal;
}

Predicate compare(Emitter& e, Relation relation, Pair a, Pair b, bool is_signed) {
  if (relation == Relation::Equal || relation == Relation::NotEqual) {
    const Predicate same =
        e.combine(Op::PlopAnd, e.compare(Op::SetpEq, a.lo, b.lo), e.compare(Op::SetpEq, a.hi, b.hi));
    return relation == Relation::Equal ? same : !same;
  }
  const bool less = relation == Relation::Less || relation == Relation::LessEqual;
  const Predicate decided =
      e.compare(compare_op(less ? Relation::Less : Relation::Greater, is_signed), a.hi, b.hi);
  const Predicate tie = e.compare(Op::SetpEq, a.hi, b.hi),
                  low = e.compare(compare_op(relation, false), a.lo, b.lo);
  return e.combine(Op::PlopOr, decided, e.combine(Op::PlopAnd, tie, low));
}

}  // namespace qwengpu::ptx::ir

#include "ptx/routines.h"

#include <bit>

namespace qwengpu::ptx::ir {

using isa::Op;

namespace {

Value imm(std::uint32_t value) { return Value::imm(value); }
const Value ones = Value::imm(0xffffffff);

Value negated(Emitter& e, Value value) { return e.op(Op::Isub, imm(0), value); }

// A power of two divides by a shift.
bool divides_by_shift(Value divisor) { return divisor.is_immediate() && std::has_single_bit(divisor.number); }

// Shift and subtract, over the bits of the quotient only: most quotients in index arithmetic have few.
//   s = d - 1;  h = n >> 1;  t = d;  if (s < h) do t <<= 1; while (t <= h);      now t <= n < 2 t, unless n <
//   d r = n;  q = 0;  do { q <<= 1; if (r >= t) { r -= t; ++q; }  t >>= 1; } while (t > s);
// d = 0 makes s the largest number, so that neither loop goes on.
Quotient divide_unsigned(Emitter& e, Value n, Value d) {
  if (divides_by_shift(d))
    return {e.op(Op::ShrU, n, imm(static_cast<std::uint32_t>(std::countr_zero(d.number)))),
            e.op(Op::And, n, imm(d.number - 1))};
  const Value stop = e.op(Op::Iadd, d, ones), half = e.op(Op::ShrU, n, imm(1));
  const Value t = e.fresh(d), r = e.fresh(n), q = e.fresh(imm(0));
  const int up = e.new_block(), down = e.new_block(), done = e.new_block();
  e.branch(e.compare(Op::SetpLtU, stop, half), up, down);
  e.start(up);
  e.op_to(t.index(), Op::Shl, t, imm(1));
  e.branch(e.compare(Op::SetpLeU, t, half), up, down);
  e.start(down);
  e.op_to(q.index(), Op::Shl, q, imm(1));
  const Predicate fits = e.compare(Op::SetpGeU, r, t);
  e.op_to(r.index(), Op::Isub, r, t, fits);
  e.op_to(q.index(), Op::Iadd, q, imm(1), fits);
  e.op_to(t.index(), Op::ShrU, t, imm(1));
  e.branch(e.compare(Op::SetpGtU, t, stop), down, done);
  e.start(done);
  e.move_to(q.index(), ones, e.compare(Op::SetpEq, d, imm(0)));
  return {q, r};
}

}  // namespace

// The quotient is rounded towards zero and the remainder has the sign of the dividend.
Quotient divide(Emitter& e, Value dividend, Value divisor, bool is_signed) {
  if (!is_signed) return divide_unsigned(e, dividend, divisor);
  const auto absolute = [&](Value value) {
    if (value.is_immediate())
      return imm(static_cast<std::int32_t>(value.number) < 0 ? 0 - value.number : value.number);
    return e.op(Op::ImaxS, value, negated(e, value));
  };
  const Quotient result = divide_unsigned(e, absolute(dividend), absolute(divisor));
  const Value q = e.fresh(result.quotient), r = e.fresh(result.remainder);
  const Predicate opposite = e.compare(Op::SetpLtS, e.op(Op::Xor, dividend, divisor), imm(0));
  const Predicate negative = e.compare(Op::SetpLtS, dividend, imm(0));
  e.op_to(q.index(), Op::Isub, imm(0), q, opposite);
  e.op_to(r.index(), Op::Isub, imm(0), r, negative);
  return {q, r};
}

namespace {

Pair fresh(Emitter& e, Pair value) { return {e.fresh(value.lo), e.fresh(value.hi)}; }

void move_to(Emitter& e, Pair d, Pair value, Predicate guard = always) {
  e.move_to(d.lo.index(), value.lo, guard);
  e.move_to(d.hi.index(), value.hi, guard);
}

// divide_unsigned() with pairs.
WideQuotient divide_unsigned(Emitter& e, Pair n, Pair d) {
  if (d.hi.is(0) && divides_by_shift(d.lo)) {
    const Value shift = imm(static_cast<std::uint32_t>(std::countr_zero(d.lo.number)));
    return {shift_right(e, n, shift, false), {e.op(Op::And, n.lo, imm(d.lo.number - 1)), imm(0)}};
  }
  const Value one = imm(1);
  const Pair stop = subtract(e, d, pair_of(1)), half = shift_right(e, n, one, false);
  const Pair t = fresh(e, d), r = fresh(e, n), q = fresh(e, pair_of(0));
  const int up = e.new_block(), down = e.new_block(), done = e.new_block();
  e.branch(compare(e, Relation::Less, stop, half, false), up, down);
  e.start(up);
  move_to(e, t, shift_left(e, t, one));
  e.branch(compare(e, Relation::LessEqual, t, half, false), up, down);
  e.start(down);
  move_to(e, q, shift_left(e, q, one));
  const Predicate fits = compare(e, Relation::GreaterEqual, r, t, false);
  move_to(e, r, subtract(e, r, t), fits);
  e.op_to(q.lo.index(), Op::Or, q.lo, one, fits);
  move_to(e, t, shift_right(e, t, one, false));
  e.branch(compare(e, Relation::Greater, t, stop, false), down, done);
  e.start(done);
  move_to(e, q, pair_of(~std::uint64_t{0}), compare(e, Relation::Equal, d, pair_of(0), false));
  return {q, r};
}

}  // namespace

WideQuotient divide(Emitter& e, Pair dividend, Pair divisor, bool is_signed) {
  if (!is_signed) return divide_unsigned(e, dividend, divisor);
  const WideQuotient result = divide_unsigned(e, absolute(e, dividend), absolute(e, divisor));
  const Predicate opposite = e.compare(Op::SetpLtS, e.op(Op::Xor, dividend.hi, divisor.hi), imm(0));
  const Predicate negative = e.compare(Op::SetpLtS, dividend.hi, imm(0));
  return {select(e, opposite, negate(e, result.quotient), result.quotient),
          select(e, negative, negate(e, result.remainder), result.remainder)};
}

}  // namespace qwengpu::ptx::ir

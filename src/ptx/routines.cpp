#include "ptx/routines.h"

#include <array>
#include <bit>

namespace qwengpu::ptx::ir {

using isa::Op;

namespace {

Value imm(std::uint32_t value) { return Value::imm(value); }
const Value ones = Value::imm(0xffffffff);

Value negated(Emitter& e, Value value) { return e.op(Op::Isub, imm(0), value); }
Value inverted(Emitter& e, Value value) { return e.op(Op::Xor, value, ones); }

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

// Sums of neighbouring fields, doubling their width; the multiplication adds the four bytes up in the
// highest.
Value population_count(Emitter& e, Value x) {
  x = e.op(Op::Isub, x, e.op(Op::And, e.op(Op::ShrU, x, imm(1)), imm(0x55555555)));
  const Value odd = e.op(Op::And, e.op(Op::ShrU, x, imm(2)), imm(0x33333333));
  x = e.op(Op::Iadd, e.op(Op::And, x, imm(0x33333333)), odd);
  x = e.op(Op::And, e.op(Op::Iadd, x, e.op(Op::ShrU, x, imm(4))), imm(0x0f0f0f0f));
  return e.op(Op::ShrU, e.op(Op::Imul, x, imm(0x01010101)), imm(24));
}

Value leading_zeros(Emitter& e, Value value) {
  const Value x = e.fresh(value), n = e.fresh(imm(0));
  for (const std::uint32_t width : {16u, 8u, 4u, 2u, 1u}) {
    const Predicate empty = e.compare(Op::SetpLtU, x, imm(1u << (32 - width)));
    e.op_to(n.index(), Op::Iadd, n, imm(width), empty);
    e.op_to(x.index(), Op::Shl, x, imm(width), empty);
  }
  // 31 zeros are counted for 0 as well.
  e.op_to(n.index(), Op::Iadd, n, imm(1), e.compare(Op::SetpEq, value, imm(0)));
  return n;
}

Value reversed_bits(Emitter& e, Value x) {
  constexpr std::array<std::uint32_t, 4> masks = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff};
  for (std::uint32_t step = 0; step < masks.size(); ++step) {
    const Value shift = imm(1u << step), mask = imm(masks[step]);
    const Value up = e.op(Op::Shl, e.op(Op::And, x, mask), shift);
    x = e.op(Op::Or, e.op(Op::And, e.op(Op::ShrU, x, shift), mask), up);
  }
  return e.op(Op::Or, e.op(Op::ShrU, x, imm(16)), e.op(Op::Shl, x, imm(16)));
}

Value funnel_left(Emitter& e, Value lo, Value hi, Value amount) {
  const Value rest = amount.is_immediate() ? imm(32 - amount.number) : e.op(Op::Isub, imm(32), amount);
  return e.op(Op::Or, e.op(Op::Shl, hi, amount), e.op(Op::ShrU, lo, rest));
}

Value funnel_right(Emitter& e, Value lo, Value hi, Value amount) {
  const Value rest = amount.is_immediate() ? imm(32 - amount.number) : e.op(Op::Isub, imm(32), amount);
  return e.op(Op::Or, e.op(Op::ShrU, lo, amount), e.op(Op::Shl, hi, rest));
}

namespace {

// A function of two bits: table bit 2 a + b.
Value logic2(Emitter& e, Value a, Value b, unsigned table) {
  switch (table) {
    case 0:
      return imm(0);
    case 2:
      return e.op(Op::Xor, e.op(Op::And, a, b), b);  // ~a & b
    case 4:
      return e.op(Op::Xor, e.op(Op::And, a, b), a);  // a & ~b
    case 6:
      return e.op(Op::Xor, a, b);
    case 8:
      return e.op(Op::And, a, b);
    case 10:
      return b;
    case 12:
      return a;
    case 14:
      return e.op(Op::Or, a, b);
    default:
      return inverted(e, logic2(e, a, b, ~table & 15));
  }
}

}  // namespace

// f = f0 ^ (c & (f0 ^ f1)), where f0 and f1 are f with c = 0 and c = 1.
Value logic3(Emitter& e, Value a, Value b, Value c, unsigned table) {
  unsigned f0 = 0, f1 = 0;
  for (unsigned ab = 0; ab < 4; ++ab) {
    f0 |= ((table >> (2 * ab)) & 1) << ab;
    f1 |= ((table >> (2 * ab + 1)) & 1) << ab;
  }
  const Value base = logic2(e, a, b, f0), change = logic2(e, a, b, f0 ^ f1);
  return e.op(Op::Xor, e.op(Op::And, c, change), base);
}

}  // namespace qwengpu::ptx::ir

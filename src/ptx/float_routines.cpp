#include "ptx/float_routines.h"

#include <bit>
#include <cmath>

namespace qwengpu::ptx::ir {

using isa::Op;

namespace {

constexpr std::uint32_t sign_bit = 0x80000000, exponent_bits = 0x7f800000;

Value imm(std::uint32_t value) { return Value::imm(value); }
Value number(float value) { return imm(std::bit_cast<std::uint32_t>(value)); }
Value power_of_two(int exponent) { return imm(static_cast<std::uint32_t>(127 + exponent) << 23); }
const Value infinity = imm(exponent_bits), one = number(1), half = number(0.5f);

Value sum(Emitter& e, Source a, Source b) { return e.op(Op::Fadd, a, b, {}, {}); }
Value product(Emitter& e, Source a, Source b) { return e.op(Op::Fmul, a, b, {}, {}); }
Value fused(Emitter& e, Source a, Source b, Source c) { return e.op(Op::Ffma, a, b, c, {}); }
Predicate compared(Emitter& e, Op op, Source a, Source b) { return e.compare(op, a, b, {}); }
// p = p && a ? b
void also(Emitter& e, Predicate p, Op op, Source a, Source b) { e.compare_to(p.index, op, a, b, p); }
// p = p || a ? b
void or_else(Emitter& e, Predicate p, Op op, Source a, Source b) { e.compare_to(p.index, op, a, b, !p); }
void product_to(Emitter& e, Value d, Source a, Source b, Predicate guard = always) {
  e.op_to(d.index(), Op::Fmul, a, b, {}, {}, guard);
}

// A subnormal number becomes a zero of its sign.
Value flushed(Emitter& e, Value x) { return e.op(Op::Fadd, x, number(-0.0f), {}, {.flush = true}); }

// The blocks of: if (!usual) { rare } after. Code goes on in `rare`.
struct Rare {
  Rare(Emitter& emitter, Predicate usual) : e(emitter), block(e.new_block()), after(e.new_block()) {
    e.branch(usual, after, block);
    e.start(block);
  }
  void done() {
    e.jump(after);
    e.start(after);
  }
  Emitter& e;
  int block, after;
};

// ---- Quotients ----

// 1 / x: the bits of a number are its logarithm, nearly, so that a difference gives it within 5 %; with the
// error e = 1 - x y, y (1 + e + e^2 + e^3) is within 6.5e-6 (without the cube 1.3e-4).
struct Reciprocal {
  Value rough, error;  // rough (1 + error) is within an ulp
};
constexpr std::uint32_t reciprocal_magic = 0x7ef30c00;

// A constant that needs no scaling has a constant reciprocal.
bool easy_constant(Value x) {
  if (!x.is_immediate()) return false;
  const float magnitude = std::fabs(std::bit_cast<float>(x.number));
  return magnitude >= 0x1p-40f && magnitude <= 0x1p60f;
}

Reciprocal reciprocal(Emitter& e, Value x, bool cubic) {
  if (easy_constant(x)) {
    const float value = std::bit_cast<float>(x.number), rough = 1 / value;
    return {number(rough), number(std::fma(-value, rough, 1.0f))};
  }
  const Value seed = e.op(Op::Isub, imm(reciprocal_magic), x);
  const Value error = fused(e, -Source(x), seed, one);
  Value series = fused(e, error, error, error);
  if (cubic) series = fused(e, series, error, error);
  const Value rough = fused(e, seed, series, seed);
  return {rough, fused(e, -Source(x), rough, one)};
}

Value near_inverse(Emitter& e, Value x) {
  const Reciprocal r = reciprocal(e, x, false);
  return fused(e, r.rough, r.error, r.rough);
}

// The first quotient is corrected to within 1 ulp; its remainder is exact then, and is divided again to round
// right: the quotient is at least 1 / (2 B) ulp away from the middle between two numbers, B the 24-bit
// mantissa of b, and the rounding of the remainder's correction moves it by half of that (compare Markstein,
// IA-64 and Elementary Functions, 2000, chapter 8). Not so for the largest B, where reciprocal_magic is
// chosen to round right; all the hardest quotients have been tried. Needs 1 / b and a / b normal, and the
// last bit of the remainder.
struct Division {
  Value inverse, quotient;  // the first roughly
};
Division division(Emitter& e, Value a, Value b) {
  const Reciprocal r = reciprocal(e, b, true);
  const Value q0 = a == one ? r.rough : product(e, a, r.rough);
  const Value q1 = fused(e, q0, r.error, q0);
  const Value remainder = fused(e, -Source(b), q1, a);
  return {r.rough, fused(e, fused(e, remainder, r.error, remainder), r.rough, q1)};
}

// z = 1 / b for a zero or an infinity b, else b: a * z is a / b when one of them is special.
Value special_quotient(Emitter& e, Value a, Value b) {
  if (easy_constant(b)) return product(e, a, b);
  const Value z = e.fresh(b);
  const Predicate inverse = compared(e, Op::FsetpEq, b, imm(0));
  or_else(e, inverse, Op::FsetpEq, magnitude(b), infinity);
  e.op_to(z.index(), Op::Xor, z, imm(exponent_bits), inverse);
  return a == one ? sum(e, z, number(-0.0f)) : product(e, a, z);
}

// Brings |x| into [2^-49, 2^60] and multiplies the square root of the quotient's scale accordingly.
Value scaled(Emitter& e, Value x, Value scale, bool dividend) {
  if (easy_constant(x)) return imm(x.number & ~sign_bit);
  const Value y = e.fresh(e.op(Op::And, x, imm(~sign_bit)));
  const std::uint32_t step = 50u << 23;
  const Predicate low = compared(e, Op::FsetpLt, y, power_of_two(-40)),
                  high = compared(e, Op::FsetpGt, y, power_of_two(60));
  product_to(e, y, y, power_of_two(100), low);
  e.op_to(scale.index(), Op::Iadd, scale, imm(dividend ? 0 - step : step), low);
  product_to(e, y, y, power_of_two(-100), high);
  e.op_to(scale.index(), Op::Iadd, scale, imm(dividend ? step : 0 - step), high);
  return y;
}

// a / b of finite numbers that are not zero, with scaled operands. The quotient is rounded once where it is
// normal. A subnormal one has been rounded twice and may be next to the right one: so its remainder says,
// exactly.
void scaled_quotient(Emitter& e, Value a, Value b, bool flush, Value result) {
  const Value scale = e.fresh(one);
  const Value x = scaled(e, a, scale, true), y = scaled(e, b, scale, false);
  const Division d = division(e, x, y);
  const Value t = e.fresh(product(e, product(e, d.quotient, scale), scale));
  Rare rare(e, compared(e, Op::FsetpGt, t, power_of_two(-126)));
  const Value back = e.op(Op::Isub, imm(0x7f000000), scale);  // 1 / scale
  const Value coarse = product(e, product(e, t, back), back);
  const Value remainder = fused(e, -Source(y), coarse, x);
  const Value step = product(e, back, power_of_two(-75));  // half of the last place, as a square
  const Value most = product(e, product(e, y, step), step);
  e.op_to(t.index(), Op::Iadd, t, imm(1), compared(e, Op::FsetpGt, remainder, most));
  e.op_to(t.index(), Op::Iadd, t, imm(0xffffffff), compared(e, Op::FsetpLt, remainder, -Source(most)));
  rare.done();
  if (flush) e.op_to(t.index(), Op::Fadd, t, number(-0.0f), {}, {.flush = true});
  const Value sign = a == one ? b : e.op(Op::Xor, a, b);
  e.op_to(result.index(), Op::Lop3, sign, imm(sign_bit), t, {.table = 0xea});  // (sign & bit) | t
}

}  // namespace

Value divide_exactly(Emitter& e, Value a, Value b, bool flush) {
  const Division d = division(e, a, b);
  const Value result = e.fresh(d.quotient);
  // Only |b| from 2^-50 to 2^125 and |a / b| from 2^-50 to 2^126: then |a| >= 2^-100. Less to ask of 1 / b.
  const bool inverse = a == one;
  Predicate usual = always;
  const auto require = [&](Op op, Source x, Value bound) {
    if (usual.fixed())
      usual = compared(e, op, x, bound);
    else
      also(e, usual, op, x, bound);
  };
  if (!easy_constant(b)) {
    require(Op::FsetpLe, magnitude(d.inverse), power_of_two(inverse ? 126 : 50));
    require(Op::FsetpGe, magnitude(d.inverse), power_of_two(inverse ? -126 : -125));
  }
  if (!inverse) {
    require(Op::FsetpLe, magnitude(result), power_of_two(126));
    require(Op::FsetpGe, magnitude(result), power_of_two(-50));
  }
  if (usual.fixed()) return result;
  Rare rare(e, usual);
  if (flush && !inverse) a = flushed(e, a);
  if (flush && !easy_constant(b)) b = flushed(e, b);
  Predicate finite = always;
  for (const Value x : {a, b}) {
    if (easy_constant(x)) continue;
    if (finite.fixed())
      finite = compared(e, Op::FsetpLt, magnitude(x), infinity);
    else
      also(e, finite, Op::FsetpLt, magnitude(x), infinity);
    also(e, finite, Op::FsetpNe, x, imm(0));
  }
  const int special = e.new_block(), scale = e.new_block();
  e.branch(finite, scale, special);
  e.start(special);
  e.move_to(result.index(), special_quotient(e, a, b));
  e.jump(rare.after);
  e.start(scale);
  scaled_quotient(e, a, b, flush, result);
  rare.done();
  return result;
}

Value reciprocal_nearly(Emitter& e, Value x, bool flush) {
  const Value y = e.fresh(near_inverse(e, x));
  const Predicate usual = compared(e, Op::FsetpLe, magnitude(y), power_of_two(126));
  also(e, usual, Op::FsetpGe, magnitude(y), power_of_two(-125));
  Rare rare(e, usual);
  if (flush) x = flushed(e, x);
  const Predicate small = compared(e, Op::FsetpLt, magnitude(x), one);
  const Value scale = e.select(small, power_of_two(64), power_of_two(-64));
  product_to(e, y, near_inverse(e, product(e, x, scale)), scale);
  if (flush) e.op_to(y.index(), Op::Fadd, y, number(-0.0f), {}, {.flush = true});
  const Predicate inverse = compared(e, Op::FsetpEq, x, imm(0));
  or_else(e, inverse, Op::FsetpEq, magnitude(x), infinity);
  e.op_to(y.index(), Op::Xor, x, imm(exponent_bits), inverse);
  rare.done();
  return y;
}

// As a * (1 / b). Where 1 / b is not normal both are scaled: the quotient may be.
Value divide_nearly(Emitter& e, Value a, Value b, bool flush) {
  const Value y = near_inverse(e, b);
  const Form form{.flush = flush};
  const Value result = e.fresh(e.op(Op::Fmul, a, y, {}, form));
  const Predicate usual = compared(e, Op::FsetpLe, magnitude(y), power_of_two(126));
  also(e, usual, Op::FsetpGe, magnitude(y), power_of_two(-125));
  Rare rare(e, usual);
  if (flush) b = flushed(e, b);
  const Predicate inverse = compared(e, Op::FsetpEq, b, imm(0));
  or_else(e, inverse, Op::FsetpEq, magnitude(b), infinity);
  const int special = e.new_block(), scale = e.new_block();
  e.branch(inverse, special, scale);
  e.start(special);
  e.op_to(result.index(), Op::Fmul, a, e.op(Op::Xor, b, imm(exponent_bits)), {}, form);
  e.jump(rare.after);
  e.start(scale);
  const Predicate small = compared(e, Op::FsetpLt, magnitude(b), one);
  const Value factor = e.select(small, power_of_two(64), power_of_two(-64));
  const Value inner = product(e, a, near_inverse(e, product(e, b, factor)));
  e.op_to(result.index(), Op::Fmul, inner, factor, {}, form);
  rare.done();
  return result;
}

// ---- Roots ----

namespace {

// g = sqrt(x) and h = 1 / (2 sqrt(x)) within 1e-4: half of the bits' difference to a constant is the square
// root of the reciprocal within 3.5 %; with u = 0.5 - g h, both are multiplied by 1 + u + 1.5 u^2
// (Goldschmidt).
struct Root {
  Value g, h;
};
Root rough_root(Emitter& e, Value x) {
  const Value y = e.op(Op::Isub, imm(0x5f3759df), e.op(Op::ShrU, x, imm(1)));
  const Value g = product(e, x, y), h = product(e, y, half);
  const Value u = fused(e, -Source(g), h, half);
  const Value series = fused(e, product(e, u, number(1.5f)), u, u);
  return {fused(e, g, series, g), fused(e, h, series, h)};
}

// The residual x - g g is exact at the end (Markstein, chapter 9); all mantissas have been tried.
Value exact_root(Emitter& e, Value x) {
  const Root root = rough_root(e, x);
  const Value h = fused(e, root.h, fused(e, -Source(root.g), root.h, half), root.h);
  Value g = root.g;
  for (int step = 0; step < 2; ++step) g = fused(e, fused(e, -Source(g), g, x), h, g);
  return g;
}

Value near_root(Emitter& e, Value x) {
  const Root root = rough_root(e, x);
  return fused(e, fused(e, -Source(root.g), root.g, x), root.h, root.g);
}

Value near_inverse_root(Emitter& e, Value x) {
  const Value y0 = e.op(Op::Isub, imm(0x5f3759df), e.op(Op::ShrU, x, imm(1)));
  const Value hx = product(e, x, half);
  Value u = fused(e, -Source(product(e, hx, y0)), y0, half);
  const Value y1 = fused(e, y0, fused(e, product(e, u, number(1.5f)), u, u), y0);
  u = fused(e, -Source(product(e, hx, y1)), y1, half);
  return fused(e, y1, u, y1);
}

// Of numbers from 2^-100 on; below, the root of 2^100 x is taken and multiplied by `back`. Zeros and infinity
// are their own roots, or exchanged; the root of a negative number is a NaN.
template <class Root>
Value any_root(Emitter& e, Value x, bool flush, Root root, Value back, bool inverse) {
  const Value result = e.fresh(root(e, x));
  const Predicate usual = compared(e, Op::FsetpGe, x, power_of_two(-100));
  also(e, usual, Op::FsetpLt, x, infinity);
  Rare rare(e, usual);
  if (flush) x = flushed(e, x);
  const Predicate positive = compared(e, Op::FsetpGt, x, imm(0));
  also(e, positive, Op::FsetpLt, x, infinity);
  const int special = e.new_block(), scale = e.new_block();
  e.branch(positive, scale, special);
  e.start(special);
  e.op_to(result.index(), Op::Xor, x, imm(inverse ? exponent_bits : 0));
  const Predicate wrong = compared(e, Op::FsetpLtu, x, imm(0));
  e.move_to(result.index(), imm(0x7fffffff), wrong);
  e.jump(rare.after);
  e.start(scale);
  product_to(e, result, root(e, product(e, x, power_of_two(100))), back);
  rare.done();
  return result;
}

}  // namespace

Value square_root_exactly(Emitter& e, Value x, bool flush) {
  return any_root(e, x, flush, exact_root, power_of_two(-50), false);
}
Value square_root_nearly(Emitter& e, Value x, bool flush) {
  return any_root(e, x, flush, near_root, power_of_two(-50), false);
}
Value reciprocal_square_root_nearly(Emitter& e, Value x, bool flush) {
  return any_root(e, x, flush, near_inverse_root, power_of_two(50), true);
}

// ---- Exponential and logarithm ----

// 2^x = 2^n p(f), n the nearest integer and f = x - n; polynomials here and below are minimax ones. Beyond
// 2^+-126 the scale is multiplied on in two halves.
Value exponential_nearly(Emitter& e, Value x, bool flush) {
  const Value n = e.op(Op::Frnd, {}, x, {}, {});
  const Value f = sum(e, x, -Source(n));
  const Value i = e.op(Op::F2iS, {}, x, {}, {});
  const Value f2 = product(e, f, f);
  const Value p01 = fused(e, f, number(0.693147203f), one);
  const Value p23 = fused(e, f, number(0.0555033247f), number(0.240226479f));
  const Value p45 = fused(e, f, number(0.00133988744f), number(0.00961843736f));
  const Value p = fused(e, fused(e, fused(e, f2, number(0.000153533621f), p45), f2, p23), f2, p01);
  const Value result = e.fresh(e.op(Op::Imad, i, imm(1u << 23), p));
  Rare rare(e, compared(e, Op::FsetpLt, magnitude(x), number(126)));
  const Value q = e.fresh(p);  // NaN for an infinity
  e.move_to(q.index(), one, compared(e, Op::FsetpEq, magnitude(x), infinity));
  const Value j = e.op(Op::ImaxS, e.op(Op::IminS, i, imm(250)), imm(-250u));
  const Value first = e.op(Op::ShrS, j, imm(1)), second = e.op(Op::Isub, j, first);
  const Value a = e.op(Op::Imad, first, imm(1u << 23), q), b = e.op(Op::Imad, second, imm(1u << 23), one);
  e.op_to(result.index(), Op::Fmul, a, b, {}, {.flush = flush});
  rare.done();
  return result;
}

// x = 2^n m with m from sqrt(1/2) to sqrt(2): n + (m - 1) p(m - 1).
Value logarithm_nearly(Emitter& e, Value x, bool flush) {
  const Value result = Value::reg(e.function().new_register());
  const Value m = Value::reg(e.function().new_register()), n = Value::reg(e.function().new_register());
  const auto split = [&](Value positive) {
    const Value i = e.op(Op::ShrS, e.op(Op::Iadd, positive, imm(0 - 0x3f3504f3u)), imm(23));
    e.op_to(m.index(), Op::Imad, i, imm(0 - (1u << 23)), positive, {});
    e.op_to(n.index(), Op::I2fS, {}, i, {}, {});
  };
  const int usual = e.new_block(), rare = e.new_block(), special = e.new_block(), small = e.new_block(),
            evaluate = e.new_block(), after = e.new_block();
  const Predicate normal = compared(e, Op::FsetpGe, x, power_of_two(-126));
  also(e, normal, Op::FsetpLt, x, infinity);
  e.branch(normal, usual, rare);
  e.start(rare);
  const Value y = flush ? flushed(e, x) : x;
  const Predicate subnormal = compared(e, Op::FsetpGt, y, imm(0));
  also(e, subnormal, Op::FsetpLt, y, infinity);
  e.branch(subnormal, small, special);
  e.start(special);
  // -infinity for +-0, infinity, NaN for NaN and negative numbers.
  e.op_to(result.index(), Op::Fadd, y, number(-0.0f), {}, {});
  e.move_to(result.index(), imm(exponent_bits | sign_bit), compared(e, Op::FsetpEq, y, imm(0)));
  e.move_to(result.index(), imm(0x7fffffff), compared(e, Op::FsetpLt, y, imm(0)));
  e.jump(after);
  e.start(small);
  split(product(e, y, power_of_two(24)));
  e.op_to(n.index(), Op::Fadd, n, number(-24), {}, {});
  e.jump(evaluate);
  e.start(usual);
  split(x);
  e.jump(evaluate);
  e.start(evaluate);
  const Value z = sum(e, m, number(-1));
  const Value z2 = product(e, z, z);
  const Value p01 = fused(e, z, number(-0.721352788f), number(1.44269496f));
  const Value p23 = fused(e, z, number(-0.36023964f), number(0.480923242f));
  const Value p45 = fused(e, z, number(-0.248876866f), number(0.2870987f));
  const Value p67 = fused(e, z, number(-0.145811685f), number(0.234042371f));
  const Value p = fused(e, fused(e, fused(e, p67, z2, p45), z2, p23), z2, p01);
  e.op_to(result.index(), Op::Ffma, p, z, n, {});
  e.jump(after);
  e.start(after);
  return result;
}

// ---- Trigonometric and hyperbolic functions ----

// x = n pi + f: sin x = (-1)^n sin f, f up to pi / 2; cos x = sin(x + pi / 2), n half an integer less.
Value sine_nearly(Emitter& e, Value x, bool cosine, bool flush) {
  if (flush && !cosine) x = flushed(e, x);
  const Value inverse_pi = number(0.318309886f);
  const Value turns = cosine ? fused(e, x, inverse_pi, half) : product(e, x, inverse_pi);
  Value n = e.op(Op::Frnd, {}, turns, {}, {});
  const Value i = e.op(Op::F2iS, {}, turns, {}, {});
  if (cosine) n = sum(e, n, number(-0.5f));
  const Value high = fused(e, n, number(-3.14159274f), x);
  const Value f = fused(e, n, number(8.74227766e-8f), high);
  const Value f2 = product(e, f, f);
  Value p = fused(e, f2, number(2.60578063e-06f), number(-0.000198096029f));
  p = fused(e, p, f2, number(0.00833306625f));
  p = fused(e, p, f2, number(-0.166666596f));
  p = fused(e, product(e, f, f2), p, f);
  const Value result = e.fresh(e.op(Op::Imad, i, imm(sign_bit), p));
  if (!cosine) e.move_to(result.index(), x, compared(e, Op::FsetpEq, x, imm(0)));  // -0
  return result;
}

// A quotient of polynomials up to where the result is 1 within the error.
Value hyperbolic_tangent_nearly(Emitter& e, Value x) {
  const Value x2 = product(e, x, x);
  const Value top = fused(e, fused(e, x2, number(0.000726134446f), number(0.104167188f)), x2, one);
  const Value bottom = fused(e, fused(e, x2, number(0.0133607518f), number(0.437369275f)), x2, one);
  const Value inverse = reciprocal(e, bottom, false).rough;
  const Value result = e.fresh(product(e, product(e, x, top), inverse));
  e.op_to(result.index(), Op::Lop3, x, imm(sign_bit), one, {.table = 0xea},
          compared(e, Op::FsetpGt, magnitude(x), number(4.5f)));
  return result;
}

}  // namespace qwengpu::ptx::ir

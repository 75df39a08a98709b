#include "emulator/float.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace qwengpu::emulator {
namespace {

using isa::Mode;
using isa::Rounding;

constexpr std::uint32_t sign_bit = 0x80000000, infinity = 0x7f800000, largest = 0x7f7fffff, one = 0x3f800000,
                        nan = 0x7fffffff;  // the NaN that every NaN result is
constexpr int fraction_bits = 23, significand_bits = 24;
constexpr int least_exponent = -149;  // of the last place of a subnormal number

bool negative(std::uint32_t x) { return (x & sign_bit) != 0; }
std::uint32_t magnitude(std::uint32_t x) { return x & ~sign_bit; }
bool is_nan(std::uint32_t x) { return magnitude(x) > infinity; }
bool is_infinite(std::uint32_t x) { return magnitude(x) == infinity; }
bool is_zero(std::uint32_t x) { return magnitude(x) == 0; }

// PTX ISA, .ftz: a subnormal number becomes a zero of its sign.
std::uint32_t flushed(std::uint32_t x, bool flush) { return flush && (x & infinity) == 0 ? x & sign_bit : x; }

// PTX ISA, .sat: the result is clamped to [0, 1], NaN to +0.
std::uint32_t finished(std::uint32_t x, const FloatModifiers& modifiers) {
  x = flushed(x, modifiers.flush);
  if (!modifiers.saturate) return x;
  return is_nan(x) || negative(x) ? 0 : std::min(x, one);
}

using Wide = unsigned __int128;  // a product of two significands beside an addend of any exponent

int width(Wide x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  const int zeros = high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
  return 128 - zeros;
}

// significand * 2^exponent with a sign, which zero has too.
struct Number {
  bool negative;
  Wide significand;
  int exponent;
};

Number unpack(std::uint32_t x) {
  const int field = static_cast<int>(magnitude(x) >> fraction_bits);
  const std::uint32_t leading = 1u << fraction_bits, fraction = x & (leading - 1);
  return field == 0 ? Number{negative(x), fraction, least_exponent}
                    : Number{negative(x), fraction | leading, least_exponent + field - 1};
}

// The significand without its last `places`.
Wide rounded(const Number& x, int places, Rounding rounding) {
  if (places <= 0) return x.significand << -places;
  // Significands have less than 126 bits: beyond that all of it is a remainder below one half.
  places = std::min(places, 127);
  const Wide whole = x.significand >> places;
  const Wide rest = x.significand - (whole << places), half = Wide{1} << (places - 1);
  bool away = false;
  switch (rounding) {
    case Rounding::NearestEven:
      away = rest > half || (rest == half && (whole & 1) != 0);
      break;
    case Rounding::TowardZero:
      break;
    case Rounding::Down:
      away = rest != 0 && x.negative;
      break;
    case Rounding::Up:
      away = rest != 0 && !x.negative;
      break;
  }
  return away ? whole + 1 : whole;
}

std::uint32_t pack(const Number& x, Rounding rounding) {
  const std::uint32_t sign = x.negative ? sign_bit : 0;
  const int last_place = std::max(x.exponent + width(x.significand) - significand_bits, least_exponent);
  // The leading bit of a significand adds one to the exponent field, as does one that rounding carries into.
  const std::int64_t bits = (std::int64_t{last_place - least_exponent} << fraction_bits) +
                            static_cast<std::int64_t>(rounded(x, last_place - x.exponent, rounding));
  if (x.significand == 0) return sign;
  if (bits < infinity) return sign | static_cast<std::uint32_t>(bits);
  // IEEE 754-2019, 7.4: overflow.
  const bool to_infinity =
      rounding == Rounding::NearestEven || rounding == (x.negative ? Rounding::Down : Rounding::Up);
  return sign | (to_infinity ? infinity : largest);
}

Number sum(Number x, Number y, Rounding rounding) {
  if (x.exponent < y.exponent) std::swap(x, y);
  // When y is far below the last place of the result, only its being there and its sign matter.
  constexpr int far = 70;
  if (x.exponent - y.exponent > far) {
    if (x.significand == 0 && y.significand != 0) return y;
    y.significand = y.significand != 0;
    y.exponent = x.exponent - far;
  }
  x.significand <<= x.exponent - y.exponent;
  x.exponent = y.exponent;
  if (x.negative == y.negative) return {x.negative, x.significand + y.significand, x.exponent};
  // IEEE 754-2019, 6.3: an exact difference of zero is +0, or -0 when rounding down.
  if (x.significand == y.significand) return {rounding == Rounding::Down, 0, x.exponent};
  if (x.significand < y.significand) std::swap(x, y);
  return {x.negative, x.significand - y.significand, x.exponent};
}

std::uint32_t multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c, Rounding rounding) {
  const std::uint32_t product_sign = (a ^ b) & sign_bit;
  const bool infinite = is_infinite(a) || is_infinite(b);
  if (is_nan(a) || is_nan(b) || is_nan(c)) return nan;
  if (infinite && (is_zero(a) || is_zero(b))) return nan;
  if (infinite) return is_infinite(c) && (c & sign_bit) != product_sign ? nan : product_sign | infinity;
  if (is_infinite(c)) return c;
  const Number x = unpack(a), y = unpack(b);
  const Number product{product_sign != 0, x.significand * y.significand, x.exponent + y.exponent};
  return pack(sum(product, unpack(c), rounding), rounding);
}

// Increases with the value; -0 lies below +0.
std::uint32_t rank(std::uint32_t x) { return negative(x) ? ~x : x | sign_bit; }

}  // namespace

std::uint32_t with_sign(std::uint32_t x, bool absolute, bool negate) {
  if (absolute) x &= ~sign_bit;
  return negate ? x ^ sign_bit : x;
}

std::uint32_t float_arithmetic(Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                               const FloatModifiers& modifiers) {
  a = flushed(a, modifiers.flush);
  b = flushed(b, modifiers.flush);
  std::uint32_t result = 0;
  switch (mode) {
    case Mode::Sum:
      result = multiply_add(a, one, b, modifiers.rounding);
      break;
    case Mode::Product:
      result = multiply_add(a, b, (a ^ b) & sign_bit, modifiers.rounding);  // plus a zero of its own sign
      break;
    case Mode::MultiplyAdd:
      result = multiply_add(a, b, flushed(c, modifiers.flush), modifiers.rounding);
      break;
    default:
      throw std::logic_error("not an operation of floating point");
  }
  return finished(result, modifiers);
}

// PTX ISA, min and max: of a NaN and a number the number is the result, and -0 < +0.
std::uint32_t float_min_max(Mode mode, std::uint32_t a, std::uint32_t b, bool flush) {
  a = flushed(a, flush);
  b = flushed(b, flush);
  if (is_nan(a) && is_nan(b)) return nan;
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return (rank(a) < rank(b)) == (mode == Mode::Minimum) ? a : b;
}

// PTX ISA, setp: -0 equals +0; a NaN is unordered with everything.
bool float_compare(Mode mode, std::uint32_t a, std::uint32_t b, bool flush) {
  a = flushed(a, flush);
  b = flushed(b, flush);
  const bool unordered = is_nan(a) || is_nan(b);
  const bool equal = !unordered && (a == b || (is_zero(a) && is_zero(b)));
  const bool less = !unordered && !equal && rank(a) < rank(b);
  const bool greater = !unordered && !equal && !less;
  switch (mode) {
    case Mode::Equal:
      return equal;
    case Mode::NotEqual:
      return less || greater;
    case Mode::Less:
      return less;
    case Mode::LessEqual:
      return less || equal;
    case Mode::Greater:
      return greater;
    case Mode::GreaterEqual:
      return greater || equal;
    case Mode::EqualOrUnordered:
      return equal || unordered;
    case Mode::NotEqualOrUnordered:
      return !equal;
    case Mode::LessOrUnordered:
      return less || unordered;
    case Mode::LessEqualOrUnordered:
      return !greater;
    case Mode::GreaterOrUnordered:
      return greater || unordered;
    case Mode::GreaterEqualOrUnordered:
      return !less;
    case Mode::Ordered:
      return !unordered;
    case Mode::Unordered:
      return unordered;
    default:
      throw std::logic_error("not a comparison of floating point");
  }
}

std::uint32_t convert_to_float(Mode mode, std::uint32_t x, Rounding rounding) {
  const bool minus = mode == Mode::Signed && negative(x);
  return pack({minus, minus ? 0u - x : x, 0}, rounding);
}

// PTX ISA, cvt: clamped to the range of the integer; NaN is 0.
std::uint32_t convert_to_integer(Mode mode, std::uint32_t x, const FloatModifiers& modifiers) {
  if (is_nan(x)) return 0;
  Number number = unpack(flushed(x, modifiers.flush));
  number.exponent = std::min(number.exponent, 32);  // out of range, as everything above
  const Wide integer = rounded(number, -number.exponent, modifiers.rounding);
  const auto clamped = [&](std::uint32_t most) {
    return integer < most ? static_cast<std::uint32_t>(integer) : most;
  };
  if (mode == Mode::Signed) return number.negative ? 0u - clamped(0x80000000) : clamped(0x7fffffff);
  return number.negative ? 0 : clamped(0xffffffff);
}

// PTX ISA, cvt.rni.f32.f32 and its like.
std::uint32_t round_to_integral(std::uint32_t x, const FloatModifiers& modifiers) {
  x = flushed(x, modifiers.flush);
  const Number number = unpack(x);
  if (is_nan(x))
    x = nan;
  else if (number.exponent < 0)
    x = pack({number.negative, rounded(number, -number.exponent, modifiers.rounding), 0}, modifiers.rounding);
  return finished(x, modifiers);
}

}  // namespace qwengpu::emulator

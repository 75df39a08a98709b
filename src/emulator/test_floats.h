// For the tests: what the CPU makes of the instructions of floating point, and operands for them.
#pragma once

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "isa/encoding.h"

namespace qwengpu::emulator {

class HostFloat {
 public:
  explicit HostFloat(const isa::Instruction& i) : i_(i) {}

  // The register that the instruction writes.
  std::uint32_t word(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    using isa::Op;
    const float x = operand(a, i_.absolute_a, i_.negate_a), y = operand(b, i_.absolute_b, i_.negate_b),
                z = operand(c, false, i_.negate_c);
    switch (i_.op) {
      case Op::Fadd:
        return result(rounded([&] { return volatile_float(x) + y; }));
      case Op::Fmul:
        return result(rounded([&] { return volatile_float(x) * y; }));
      case Op::Ffma:
        return result(rounded([&] { return std::fma(volatile_float(x), y, z); }));
      case Op::Fmin:
        return result(std::isnan(x) || lies_below(y, x) ? y : x);
      case Op::Fmax:
        return result(std::isnan(x) || lies_below(x, y) ? y : x);
      case Op::I2fS:
        return result(
            rounded([&] { return static_cast<float>(volatile_int(static_cast<std::int32_t>(b))); }));
      case Op::I2fU:
        return result(rounded([&] { return static_cast<float>(volatile_int(b)); }));
      case Op::F2iS:
        return static_cast<std::uint32_t>(static_cast<std::int64_t>(integer(y, -0x1p31, 0x1p31 - 1)));
      case Op::F2iU:
        return static_cast<std::uint32_t>(integer(y, 0, 0x1p32 - 1));
      case Op::Frnd:
        return result(rounded([&] { return std::nearbyint(volatile_float(y)); }));
      default:
        throw std::logic_error("not an operation of floating point");
    }
  }

  // The predicate that FSETP writes.
  bool truth(std::uint32_t a, std::uint32_t b) const {
    using isa::Op;
    const float x = operand(a, i_.absolute_a, i_.negate_a), y = operand(b, i_.absolute_b, i_.negate_b);
    const bool nan = std::isnan(x) || std::isnan(y);
    switch (i_.op) {
      case Op::FsetpEq:
        return x == y;
      case Op::FsetpNe:
        return x < y || x > y;
      case Op::FsetpLt:
        return x < y;
      case Op::FsetpLe:
        return x <= y;
      case Op::FsetpGt:
        return x > y;
      case Op::FsetpGe:
        return x >= y;
      case Op::FsetpEqu:
        return nan || x == y;
      case Op::FsetpNeu:
        return x != y;
      case Op::FsetpLtu:
        return nan || x < y;
      case Op::FsetpLeu:
        return nan || x <= y;
      case Op::FsetpGtu:
        return nan || x > y;
      case Op::FsetpGeu:
        return nan || x >= y;
      case Op::FsetpNum:
        return !nan;
      case Op::FsetpNan:
        return nan;
      default:
        throw std::logic_error("not a comparison of floating point");
    }
  }

 private:
  static std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  static float number(std::uint32_t x) { return std::bit_cast<float>(x); }
  static bool lies_below(float x, float y) { return x < y || (x == y && std::signbit(x) > std::signbit(y)); }
  // The compiler may not know a value that comes out of here, so it cannot compute with it beforehand.
  static float volatile_float(float x) {
    const volatile float hidden = x;
    return hidden;
  }
  static std::int64_t volatile_int(std::int64_t x) {
    const volatile std::int64_t hidden = x;
    return hidden;
  }

  // Computes in the rounding mode of the instruction. What comes out is stored before the mode is left.
  template <typename Compute>
  std::invoke_result_t<Compute> rounded(Compute compute) const {
    constexpr std::array modes{FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes.at(static_cast<std::size_t>(i_.rounding)));
    const volatile auto value = compute();
    std::fesetround(FE_TONEAREST);
    return value;
  }

  float flushed(float x) const { return i_.flush && std::fpclassify(x) == FP_SUBNORMAL ? x * 0 : x; }

  float operand(std::uint32_t word, bool absolute, bool negate) const {
    // By bits: the CPU may make another NaN of a NaN.
    if (absolute) word &= 0x7fffffff;
    if (negate) word ^= 0x80000000;
    return flushed(number(word));
  }

  std::uint32_t result(float x) const {
    x = flushed(x);
    if (i_.saturate) x = x > 1 ? 1.0f : x > 0 ? x : 0.0f;  // a NaN is not above 0
    return std::isnan(x) ? 0x7fffffff : bits(x);
  }

  double integer(float x, double least, double most) const {
    if (std::isnan(x)) return 0;
    const double value = rounded([&] { return std::nearbyint(double{volatile_float(x)}); });
    return value < least ? least : value > most ? most : value;
  }

  isa::Instruction i_;
};

// Zeros, the ends of every range, halves, integers at the ends of theirs, and both signs of all.
inline std::vector<std::uint32_t> float_corners() {
  std::vector<std::uint32_t> corners;
  for (const std::uint32_t x :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x00400000u, 0x007fffffu,  // subnormal
        0x00800000u, 0x00800001u, 0x00ffffffu, 0x01000000u,               // from the least normal number on
        0x20000000u, 0x33800000u, 0x3effffffu, 0x3f000000u, 0x3f7fffffu, 0x3f800000u,
        0x3f800001u, 0x3fc00000u, 0x40200000u,               // 3/2, 5/2
        0x4afffffdu, 0x4b000001u, 0x4b800000u,               // around 2^23 and 2^24
        0x4effffffu, 0x4f000000u, 0x4f7fffffu, 0x4f800000u,  // around 2^31 and 2^32
        0x5f000000u, 0x7e800000u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u}) {
    corners.push_back(x);
    corners.push_back(x | 0x80000000u);
  }
  return corners;
}

// Random operands, among them such as meet: cancellation, ties, addends far away, results at the ends of the
// exponents.
class RandomFloats {
 public:
  explicit RandomFloats(std::uint64_t seed) : engine_(seed) {}

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }

  std::uint32_t any() {
    const auto word = static_cast<std::uint32_t>(engine_());
    const std::uint32_t sign = word & 0x80000000, fraction = word & 0x7fffff;
    const std::uint32_t few = fraction & fraction << below(24);  // the upper bits alone
    switch (below(8)) {
      case 0:
        return sign | fraction >> below(24);
      case 1:
        return sign | below(256) << 23 | few;
      case 2:
        return sign | (120 + below(14)) << 23 | few;
      case 3:
        return sign | (127 + below(34)) << 23 | fraction;
      case 4:
        return sign | below(255) << 23 | (below(2) != 0 ? 0 : 0x7fffff);
      case 5:
        return corners_[below(static_cast<std::uint32_t>(corners_.size()))];
      default:
        return word;
    }
  }

  std::array<std::uint32_t, 3> operands() {
    std::array<std::uint32_t, 3> o{any(), any(), any()};
    const auto near = [&](float x) {
      std::uint32_t word = std::bit_cast<std::uint32_t>(x) ^ below(4) << 31;
      if (below(2) != 0) word += below(9) - 4;
      if (below(3) == 0) word += (below(101) - 50) << 23;
      return word;
    };
    const auto number = [](std::uint32_t x) { return std::bit_cast<float>(x); };
    switch (below(4)) {
      case 0:
        o[1] = near(number(o[0]));
        break;
      case 1:
        o[2] = near(number(o[0]) * number(o[1]));
        break;
      case 2: {  // a product near the ends of the exponents
        const std::uint32_t target = below(2) != 0 ? 127 - 30 + below(40) : 127 + 250 + below(10);
        o[1] = (o[1] & 0x807fffff) | ((target - (o[0] >> 23 & 255)) & 255) << 23;
        break;
      }
      default:
        break;
    }
    return o;
  }

 private:
  std::mt19937_64 engine_;
  std::vector<std::uint32_t> corners_ = float_corners();
};

}  // namespace qwengpu::emulator

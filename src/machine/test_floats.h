// Operands for tests of the floating-point unit, and the CPU's answers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace qwengpu::machine {

enum class FloatOperation { Add, Multiply, MultiplyAdd };
enum class Rounding { NearestEven, TowardZero, Down, Up };
inline constexpr std::array float_operations{FloatOperation::Add, FloatOperation::Multiply,
                                             FloatOperation::MultiplyAdd};
inline constexpr std::array roundings{Rounding::NearestEven, Rounding::TowardZero, Rounding::Down,
                                      Rounding::Up};

struct FloatCase {
  std::uint32_t a = 0, b = 0, c = 0;
  FloatOperation operation = FloatOperation::MultiplyAdd;
  Rounding rounding = Rounding::NearestEven;
  bool flush = false, saturate = false;
  unsigned negate = 0, absolute = 0;  // bit 0: a, 1: b, 2: c
};

inline std::string describe(const FloatCase& k) {
  constexpr const char* operations[] = {"add", "mul", "fma"};
  constexpr const char* suffixes[] = {"rn", "rz", "rm", "rp"};
  return fmt::format("{}.{}{}{} a = {:#010x}, b = {:#010x}, c = {:#010x}, negate {:03b}, absolute {:03b}",
                     operations[static_cast<int>(k.operation)], suffixes[static_cast<int>(k.rounding)],
                     k.flush ? ".ftz" : "", k.saturate ? ".sat" : "", k.a, k.b, k.c, k.negate, k.absolute);
}

// The PTX ISA's fma, add and mul on the CPU. Everything that depends on the rounding mode is volatile: the
// compiler may neither compute it in advance nor move it across fesetround.
inline std::uint32_t float_expected(const FloatCase& k) {
  constexpr std::uint32_t sign_bit = 0x80000000, exponent_mask = 0x7f800000, canonical_nan = 0x7fffffff,
                          one = 0x3f800000;
  const auto flushed = [&](std::uint32_t x) {
    return k.flush && (x & exponent_mask) == 0 ? x & sign_bit : x;
  };
  const auto operand = [&](std::uint32_t x, unsigned index) {
    if (k.absolute >> index & 1) x &= ~sign_bit;
    if (k.negate >> index & 1) x ^= sign_bit;
    return std::bit_cast<float>(flushed(x));
  };
  constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(modes[static_cast<int>(k.rounding)]);
  const volatile float a = operand(k.a, 0), b = operand(k.b, 1), c = operand(k.c, 2);
  volatile float result = 0;
  switch (k.operation) {
    case FloatOperation::Add:
      result = a + b;
      break;
    case FloatOperation::Multiply:
      result = a * b;
      break;
    case FloatOperation::MultiplyAdd:
      result = std::fma(a, b, c);
      break;
  }
  std::fesetround(FE_TONEAREST);
  const float x = result;
  if (std::isnan(x)) return k.saturate ? 0 : canonical_nan;
  const std::uint32_t bits = flushed(std::bit_cast<std::uint32_t>(x));
  if (!k.saturate) return bits;
  return (bits & sign_bit) != 0 ? 0 : std::min(bits, one);
}

// Zeros, the ends of every range, ones and halves, and both signs of all.
inline std::vector<std::uint32_t> float_corners() {
  std::vector<std::uint32_t> corners;
  for (const std::uint32_t x :
       {0x00000000u, 0x00000001u, 0x00000002u, 0x00000003u, 0x00400000u, 0x007fffffu,  // subnormal
        0x00800000u, 0x00800001u, 0x00ffffffu, 0x01000000u,                            // around 2^-126
        0x1f800000u, 0x20000000u, 0x33800000u, 0x34000000u,  // 2^-64, 2^-63, 2^-24, 2^-23
        0x3effffffu, 0x3f000000u, 0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x40000000u,  // around 1/2 and 1
        0x4b7fffffu, 0x4b800000u, 0x5f800000u,                                         // 2^24, 2^64
        0x7e800000u, 0x7f000000u, 0x7f7ffffeu, 0x7f7fffffu,                            // the largest
        0x7f800000u, 0x7f800001u, 0x7fc00000u}) {                                      // infinity, NaNs
    corners.push_back(x);
    corners.push_back(x | 0x80000000u);
  }
  return corners;
}

class FloatCases {
 public:
  explicit FloatCases(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t n) { return engine_() % n; }

  std::uint32_t any_float() {
    const auto bits = static_cast<std::uint32_t>(engine_());
    const std::uint32_t sign = bits & 0x80000000u, fraction = bits & 0x7fffffu;
    const auto with_exponent = [&](std::uint64_t e) { return sign | static_cast<std::uint32_t>(e) << 23; };
    switch (below(16)) {
      case 0:
        return sign | fraction >> below(24);  // subnormal
      case 1:
        return with_exponent(below(255));  // power of two
      case 2:
        return with_exponent(below(255)) | (0x7fffffu << below(24) & 0x7fffffu);  // ones, then zeros
      case 3:
        return with_exponent(below(255)) | 0x7fffffu >> below(24);  // zeros, then ones
      case 4:
        return with_exponent(110 + below(34)) | fraction;
      case 5:
        return with_exponent(120 + below(14)) | (fraction & 0x7fffffu << below(24));
      case 6:
        return with_exponent(below(30)) | fraction;
      case 7:
        return with_exponent(225 + below(30)) | fraction;
      case 8:
        return corners_[below(corners_.size())];
      default:
        return bits;
    }
  }

  // Operands that meet: cancellation, ties, addends at every distance, results near both ends of the
  // exponents.
  FloatCase operands(FloatOperation operation) {
    FloatCase k;
    k.operation = operation;
    k.a = any_float(), k.b = any_float(), k.c = any_float();
    const auto near = [&](std::uint32_t x) {
      x ^= 0x80000000u * static_cast<std::uint32_t>(below(4) != 0);
      switch (below(5)) {
        case 0:
          return x;
        case 1:
          return x + static_cast<std::uint32_t>(below(5)) - 2;
        case 2:
          return moved(x, static_cast<int>(below(165)) - 82);
        case 3:
          return moved((x & 0xff800000u) | static_cast<std::uint32_t>(below(0x800000)),
                       static_cast<int>(below(9)) - 4);
        default:
          return moved(x & 0xff800000u, static_cast<int>(below(61)) - 30);
      }
    };
    if (operation == FloatOperation::Add) {
      if (below(2) == 0) k.b = near(k.a);
      return k;
    }
    if (below(4) == 0) {  // the product near the least normal, far below it, or near the largest
      const int target = below(2) == 0 ? static_cast<int>(below(64)) - 40 : 238 + static_cast<int>(below(24));
      const int a = static_cast<int>(k.a >> 23 & 255);
      k.b = (k.b & 0x807fffffu) | static_cast<std::uint32_t>(std::clamp(target + 127 - a, 0, 254)) << 23;
    }
    if (operation == FloatOperation::MultiplyAdd && below(2) == 0)
      k.c = near(std::bit_cast<std::uint32_t>(std::bit_cast<float>(k.a) * std::bit_cast<float>(k.b)));
    return k;
  }

  // ... in any mode, now and then with every option.
  FloatCase any() {
    FloatCase k = operands(float_operations[below(3)]);
    k.rounding = roundings[below(4)];
    k.flush = below(4) == 0;
    k.saturate = below(4) == 0;
    if (below(4) == 0)
      k.negate = static_cast<unsigned>(below(8)), k.absolute = static_cast<unsigned>(below(8));
    return k;
  }

 private:
  static std::uint32_t moved(std::uint32_t x, int by) {
    const int exponent = std::clamp(static_cast<int>(x >> 23 & 255) + by, 0, 254);
    return (x & 0x807fffffu) | static_cast<std::uint32_t>(exponent) << 23;
  }

  std::mt19937_64 engine_;
  std::vector<std::uint32_t> corners_ = float_corners();
};

}  // namespace qwengpu::machine

// The 16-bit floating-point formats of checkpoint files. bf16 is the upper half of an fp32 number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace qwengpu::qwen {

inline float from_bf16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

// Rounds to nearest, ties to even; NaN stays NaN.
inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  const std::uint32_t round = 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>((bits + round) >> 16);
}

// True when a bf16 number has exactly this value.
inline bool exactly_representable(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0xffffu) == 0 || std::isnan(value);
}

// IEEE binary16, subnormals included; every value is exact in fp32.
inline float from_fp16(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  float magnitude;
  if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else if (exponent == 31) {
    magnitude = fraction == 0 ? HUGE_VALF : std::nanf("");
  } else {
    magnitude = std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace qwengpu::qwen

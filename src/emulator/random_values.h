// Random numbers as random kernels need them: the same for a seed everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace qwengpu::emulator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  // 0 .. count - 1. Not std::uniform_int_distribution: a seed means the same everywhere.
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

  // Small numbers, edges and random words, integers and binary32.
  std::uint32_t value() {
    static const std::vector<std::uint32_t> edges = {
        0,      1,       31,         32,         33,         0xff,       0x100,
        0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
    switch (below(6)) {
      case 0:
        return of(edges);
      case 1:
        return word();
      case 2:
      case 3:
        return float_value();
      case 4:
        return 0u - static_cast<std::uint32_t>(below(40));
      default:
        return static_cast<std::uint32_t>(below(70));
    }
  }

  // Corners of binary32, few bits, and numbers whose sums and products meet.
  std::uint32_t float_value() {
    static const std::vector<std::uint32_t> corners = {
        0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x33800000, 0x3effffff, 0x3f000000,
        0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x4affffff, 0x4b000001,
        0x4f000000, 0x4f7fffff, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
    const std::uint32_t sign = chance(50) ? 0x80000000 : 0, fraction = word() & 0x7fffff;
    const auto exponent = [&](int low, int high) {
      return static_cast<std::uint32_t>(between(low, high)) << 23;
    };
    switch (below(5)) {
      case 0:
        return sign | of(corners);
      case 1:
        return sign | exponent(0, 255) | (fraction & fraction << below(23));
      case 2:
        return sign | exponent(127, 150) | (fraction & 0x700000);  // half integers among them
      default:
        return sign | exponent(117, 160) | fraction;
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace qwengpu::emulator

// For the tests: the bit instructions, bit by bit as the pseudocode of the PTX ISA has them.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <stdexcept>

#include "isa/encoding.h"

namespace qwengpu::emulator {

inline std::uint32_t bits_one_by_one(const isa::Instruction& i, std::uint32_t a, std::uint32_t b,
                                     std::uint32_t c) {
  using isa::Op;
  using Bits = std::bitset<32>;
  const Bits x(a), y(b), z(c);
  const std::size_t position = b & 255, length = b >> 8 & 255, amount = b & 31;
  Bits d;
  const auto highest = [](const Bits& bits, bool other_than) {
    for (std::size_t n = 32; n-- > 0;)
      if (bits[n] != other_than) return static_cast<std::uint32_t>(n);
    return 0xffffffffu;
  };
  const auto pair = [&](std::size_t n) { return n < 32 ? x[n] : z[n - 32]; };  // c:a
  switch (i.op) {
    case Op::Popc:
      return static_cast<std::uint32_t>(y.count());
    case Op::Clz:
      return 31 - highest(y, false);
    case Op::BfindU:
      return highest(y, false);
    case Op::BfindS:
      return highest(y, y[31]);
    case Op::Brev:
      for (std::size_t n = 0; n < 32; ++n) d[n] = y[31 - n];
      break;
    case Op::BfeU:
    case Op::BfeS: {
      const bool fill = i.op == Op::BfeS && length > 0 && x[std::min<std::size_t>(position + length - 1, 31)];
      for (std::size_t n = 0; n < 32; ++n) d[n] = n < length && position + n <= 31 ? x[position + n] : fill;
      break;
    }
    case Op::Bfi:
      d = z;
      for (std::size_t n = 0; n < length && position + n <= 31; ++n) d[position + n] = x[n];
      break;
    case Op::Prmt:
      for (std::size_t n = 0; n < 32; ++n) {
        const std::size_t digit = b >> (4 * (n / 8)) & 15;
        d[n] = pair(8 * (digit & 7) + (digit > 7 ? 7 : n % 8));
      }
      break;
    case Op::Lop3:
      for (std::size_t n = 0; n < 32; ++n) d[n] = Bits(i.table)[4 * x[n] + 2 * y[n] + z[n]];
      break;
    case Op::ShfL:
      for (std::size_t n = 0; n < 32; ++n) d[n] = pair(32 + n - amount);
      break;
    case Op::ShfR:
      for (std::size_t n = 0; n < 32; ++n) d[n] = pair(n + amount);
      break;
    default:
      throw std::logic_error("not a bit instruction");
  }
  return static_cast<std::uint32_t>(d.to_ulong());
}

}  // namespace qwengpu::emulator

#include "ptx/arithmetic.h"

#include <algorithm>
#include <bit>

namespace qwengpu::ptx::ir {

using isa::Mode;
using isa::Op;
using isa::Unit;

namespace {

std::int32_t s(std::uint32_t x) { return static_cast<std::int32_t>(x); }

std::uint32_t shift(Mode mode, std::uint32_t a, std::uint32_t b) {
  if (mode == Mode::RightSigned) return static_cast<std::uint32_t>(s(a) >> std::min(b, 31u));
  if (b > 31) return 0;
  return mode == Mode::Left ? a << b : a >> b;
}

std::uint32_t multiply(Mode mode, std::uint32_t a, std::uint32_t b) {
  if (mode == Mode::Low) return a * b;
  if (mode == Mode::HighUnsigned) return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
  return static_cast<std::uint32_t>((std::int64_t{s(a)} * s(b)) >> 32);
}

std::uint32_t min_max(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
    case Mode::MinSigned:
      return s(a) < s(b) ? a : b;
    case Mode::MaxSigned:
      return s(a) < s(b) ? b : a;
    case Mode::MinUnsigned:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

std::uint32_t logic(Mode mode, std::uint32_t a, std::uint32_t b) {
  return mode == Mode::And ? a & b : mode == Mode::Or ? a | b : a ^ b;
}

std::uint32_t bit_count(Mode mode, std::uint32_t b) {
  if (mode == Mode::Population) return static_cast<std::uint32_t>(std::popcount(b));
  if (mode == Mode::LeadingZeros) return static_cast<std::uint32_t>(std::countl_zero(b));
  if (mode == Mode::HighestSigned && s(b) < 0) b = ~b;
  return 31u - static_cast<std::uint32_t>(std::countl_zero(b));
}

std::uint32_t reversed(std::uint32_t b) {
  std::uint32_t result = 0;
  for (unsigned k = 0; k < 32; ++k) result |= ((b >> k) & 1) << (31 - k);
  return result;
}

// PTX ISA 9.7.1, bfe and bfi: a field may reach over the end of the word.
std::uint32_t bit_field(Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t position = b & 255, length = (b >> 8) & 255;
  std::uint32_t result = mode == Mode::Insert ? c : 0;
  if (mode == Mode::Insert) {
    for (std::uint32_t k = 0; k < length && position + k < 32; ++k) {
      const std::uint32_t bit = 1u << (position + k);
      result = (result & ~bit) | (k < 32 && ((a >> k) & 1) != 0 ? bit : 0);
    }
    return result;
  }
  const std::uint32_t top = std::min(position + length - 1, 31u);
  const bool fill = mode == Mode::Signed && length != 0 && ((a >> top) & 1) != 0;
  for (std::uint32_t k = 0; k < 32; ++k) {
    const bool bit = k < length && position + k < 32 ? ((a >> (position + k)) & 1) != 0 : fill;
    result |= std::uint32_t{bit} << k;
  }
  return result;
}

std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{c} << 32 | a;
  std::uint32_t result = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const unsigned pick = (b >> (4 * n)) & 15;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (pick & 7))) & 255;
    if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;  // its sign, replicated
    result |= byte << (8 * n);
  }
  return result;
}

std::uint32_t looked_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (unsigned index = 0; index < 8; ++index)
    if ((table >> index) & 1)
      result |= ((index & 4) != 0 ? a : ~a) & ((index & 2) != 0 ? b : ~b) & ((index & 1) != 0 ? c : ~c);
  return result;
}

std::uint32_t funnel(Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t both = std::uint64_t{c} << 32 | a;
  return static_cast<std::uint32_t>(mode == Mode::Left ? (both << (b & 31)) >> 32 : both >> (b & 31));
}

}  // namespace

std::optional<std::uint32_t> compute(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     unsigned table) {
  const isa::OpInfo& info = isa::info(op);
  switch (info.unit) {
    case Unit::Move:
      return b;
    case Unit::Add:
      return a + b;
    case Unit::Subtract:
      return a - b;
    case Unit::Multiply:
      return multiply(info.mode, a, b);
    case Unit::MultiplyAdd:
      return a * b + c;
    case Unit::MinMax:
      return min_max(info.mode, a, b);
    case Unit::Shift:
      return shift(info.mode, a, b);
    case Unit::Logic:
      return logic(info.mode, a, b);
    case Unit::BitCount:
      return bit_count(info.mode, b);
    case Unit::BitReverse:
      return reversed(b);
    case Unit::BitField:
      return bit_field(info.mode, a, b, c);
    case Unit::Permute:
      return permuted(a, b, c);
    case Unit::LookUp:
      return looked_up(a, b, c, table);
    case Unit::FunnelShift:
      return funnel(info.mode, a, b, c);
    default:
      return std::nullopt;
  }
}

bool compare(Op op, std::uint32_t a, std::uint32_t b) {
  switch (isa::info(op).mode) {
    case Mode::Equal:
      return a == b;
    case Mode::NotEqual:
      return a != b;
    case Mode::LessSigned:
      return s(a) < s(b);
    case Mode::LessEqualSigned:
      return s(a) <= s(b);
    case Mode::GreaterSigned:
      return s(a) > s(b);
    case Mode::GreaterEqualSigned:
      return s(a) >= s(b);
    case Mode::LessUnsigned:
      return a < b;
    case Mode::LessEqualUnsigned:
      return a <= b;
    case Mode::GreaterUnsigned:
      return a > b;
    default:
      return a >= b;
  }
}

Op swapped(Op op) {
  switch (op) {
    case Op::SetpLtS:
      return Op::SetpGtS;
    case Op::SetpLeS:
      return Op::SetpGeS;
    case Op::SetpGtS:
      return Op::SetpLtS;
    case Op::SetpGeS:
      return Op::SetpLeS;
    case Op::SetpLtU:
      return Op::SetpGtU;
    case Op::SetpLeU:
      return Op::SetpGeU;
    case Op::SetpGtU:
      return Op::SetpLtU;
    case Op::SetpGeU:
      return Op::SetpLeU;
    case Op::FsetpLt:
      return Op::FsetpGt;
    case Op::FsetpLe:
      return Op::FsetpGe;
    case Op::FsetpGt:
      return Op::FsetpLt;
    case Op::FsetpGe:
      return Op::FsetpLe;
    case Op::FsetpLtu:
      return Op::FsetpGtu;
    case Op::FsetpLeu:
      return Op::FsetpGeu;
    case Op::FsetpGtu:
      return Op::FsetpLtu;
    case Op::FsetpGeu:
      return Op::FsetpLeu;
    default:
      return op;
  }
}

bool commutes(Op op) {
  switch (isa::info(op).unit) {
    case Unit::Add:
    case Unit::Multiply:
    case Unit::MultiplyAdd:
    case Unit::MinMax:
    case Unit::Logic:
    case Unit::FloatArithmetic:
    case Unit::FloatMinMax:
      return true;
    default:
      return false;
  }
}

}  // namespace qwengpu::ptx::ir

#include "isa/arithmetic.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace qwengpu::isa {
namespace {

std::int32_t as_signed(std::uint32_t value) { return static_cast<std::int32_t>(value); }
std::uint32_t as_unsigned(std::int32_t value) { return static_cast<std::uint32_t>(value); }

// PTX ISA, mul: .lo and .hi are the halves of the 64-bit product.
std::uint32_t multiply(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
    case Mode::HighSigned:
      return static_cast<std::uint32_t>((std::int64_t{as_signed(a)} * std::int64_t{as_signed(b)}) >> 32);
    case Mode::HighUnsigned:
      return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
    default:
      return a * b;
  }
}

std::uint32_t min_max(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
    case Mode::MinSigned:
      return as_unsigned(std::min(as_signed(a), as_signed(b)));
    case Mode::MaxSigned:
      return as_unsigned(std::max(as_signed(a), as_signed(b)));
    case Mode::MinUnsigned:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

// PTX ISA, shl and shr: amounts above 31 are clamped to 32; shr.s32 fills with the sign.
std::uint32_t shift(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
    case Mode::Left:
      return b < 32 ? a << b : 0;
    case Mode::RightUnsigned:
      return b < 32 ? a >> b : 0;
    default:
      return as_unsigned(as_signed(a) >> std::min(b, 31u));
  }
}

std::uint32_t logic(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
    case Mode::And:
      return a & b;
    case Mode::Or:
      return a | b;
    default:
      return a ^ b;
  }
}

// PTX ISA, popc, clz and bfind: the highest bit of a signed integer is the highest one that is not its sign.
std::uint32_t bit_count(Mode mode, std::uint32_t x) {
  switch (mode) {
    case Mode::Population:
      return as_unsigned(std::popcount(x));
    case Mode::LeadingZeros:
      return as_unsigned(std::countl_zero(x));
    case Mode::HighestSigned:
      return as_unsigned(std::bit_width(as_signed(x) < 0 ? ~x : x) - 1);
    default:
      return as_unsigned(std::bit_width(x) - 1);
  }
}

std::uint32_t reversed(std::uint32_t x) {
  std::uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (x >> bit & 1) << (31 - bit);
  return result;
}

// The lowest COUNT bits are ones.
std::uint32_t ones(std::uint32_t count) { return count < 32 ? (1u << count) - 1 : 0xffffffff; }

// PTX ISA, bfe and bfi: position and length have 8 bits each.
std::uint32_t bit_field(Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t position = b & 255, length = b >> 8 & 255;
  if (mode == Mode::Insert) {
    const std::uint32_t mask = position < 32 ? ones(length) << position : 0;
    return (c & ~mask) | (position < 32 ? a << position & mask : 0);
  }
  std::uint32_t result = (position < 32 ? a >> position : 0) & ones(length);
  // Above the field stands its sign: its highest bit, or a's where the field reaches beyond a.
  if (mode == Mode::Signed && length > 0 && (a >> std::min(position + length - 1, 31u) & 1) != 0)
    result |= ~ones(std::min(length, position < 32 ? 32 - position : 0));
  return result;
}

// PTX ISA, prmt: a digit of the selector names a byte; with its bit 3 set, the byte's sign, eight times.
std::uint32_t permute(std::uint32_t a, std::uint32_t selector, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{c} << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t digit = selector >> (4 * i) & 15;
    std::uint32_t byte = bytes >> (8 * (digit & 7)) & 255;
    if (digit > 7) byte = byte >> 7 != 0 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// PTX ISA, lop3: the bits of a, b and c are the number, of three digits, of a bit of the table.
std::uint32_t look_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (int entry = 0; entry < 8; ++entry)
    if ((table >> entry & 1) != 0)
      result |= (entry & 4 ? a : ~a) & (entry & 2 ? b : ~b) & (entry & 1 ? c : ~c);
  return result;
}

// PTX ISA, shf.wrap.
std::uint32_t funnel_shift(Mode mode, std::uint32_t low, std::uint32_t high, std::uint32_t amount) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  amount &= 31;
  return static_cast<std::uint32_t>(mode == Mode::Left ? both << amount >> 32 : both >> amount);
}

}  // namespace

std::optional<std::uint32_t> compute(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  const Mode mode = info(op).mode;
  if (mode == Mode::Carry) return std::nullopt;  // reads a predicate
  switch (info(op).unit) {
    case Unit::Move:
      return b;
    case Unit::Add:
      return a + b;
    case Unit::Subtract:
      return a - b;
    case Unit::Multiply:
      return multiply(mode, a, b);
    case Unit::MultiplyAdd:
      return a * b + c;
    case Unit::MinMax:
      return min_max(mode, a, b);
    case Unit::Shift:
      return shift(mode, a, b);
    case Unit::Logic:
      return logic(mode, a, b);
    case Unit::BitCount:
      return bit_count(mode, b);
    case Unit::BitReverse:
      return reversed(b);
    case Unit::BitField:
      return bit_field(mode, a, b, c);
    case Unit::Permute:
      return permute(a, b, c);
    case Unit::LookUp:
      return look_up(a, b, c, table);
    case Unit::FunnelShift:
      return funnel_shift(mode, a, c, b);
    default:
      return std::nullopt;
  }
}

bool compare(Op op, std::uint32_t a, std::uint32_t b) {
  switch (info(op).mode) {
    case Mode::Equal:
      return a == b;
    case Mode::NotEqual:
      return a != b;
    case Mode::LessSigned:
      return as_signed(a) < as_signed(b);
    case Mode::LessEqualSigned:
      return as_signed(a) <= as_signed(b);
    case Mode::GreaterSigned:
      return as_signed(a) > as_signed(b);
    case Mode::GreaterEqualSigned:
      return as_signed(a) >= as_signed(b);
    case Mode::LessUnsigned:
      return a < b;
    case Mode::LessEqualUnsigned:
      return a <= b;
    case Mode::GreaterUnsigned:
      return a > b;
    case Mode::GreaterEqualUnsigned:
      return a >= b;
    default:
      throw std::logic_error("not a comparison");
  }
}

}  // namespace qwengpu::isa

#include "emulator/arithmetic.h"

#include <algorithm>
#include <stdexcept>

namespace qwengpu::emulator {
namespace {

using isa::Mode;
using isa::Unit;

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

}  // namespace

std::uint32_t calculate(Unit unit, Mode mode, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        bool selected) {
  switch (unit) {
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
    case Unit::Select:
      return selected ? a : b;
    default:
      throw std::logic_error("not an arithmetic unit");
  }
}

bool compare(Mode mode, std::uint32_t a, std::uint32_t b) {
  switch (mode) {
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

}  // namespace qwengpu::emulator

#include "ptx/arithmetic.h"

#include <algorithm>

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

}  // namespace

std::optional<std::uint32_t> compute(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
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
      return true;
    default:
      return false;
  }
}

}  // namespace qwengpu::ptx::ir

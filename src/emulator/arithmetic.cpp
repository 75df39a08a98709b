#include "emulator/arithmetic.h"

#include <stdexcept>

#include "emulator/float.h"
#include "isa/arithmetic.h"

namespace qwengpu::emulator {
namespace {

using isa::Mode;
using isa::Unit;

FloatModifiers modifiers(const isa::Instruction& i) { return {i.rounding, i.flush, i.saturate}; }

}  // namespace

std::uint32_t calculate(const isa::Instruction& i, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                        bool selected) {
  const isa::OpInfo& op = isa::info(i.op);
  const Mode mode = op.mode;
  const auto signed_a = [&] { return with_sign(a, i.absolute_a, i.negate_a); };
  const auto signed_b = [&] { return with_sign(b, i.absolute_b, i.negate_b); };
  switch (op.unit) {
    case Unit::Select:
      return selected ? a : b;
    case Unit::Add:
      return a + b + (selected && mode == Mode::Carry ? 1 : 0);
    case Unit::Subtract:
      return a - b - (!selected && mode == Mode::Carry ? 1 : 0);
    case Unit::FloatArithmetic:
      return float_arithmetic(mode, signed_a(), signed_b(), with_sign(c, false, i.negate_c), modifiers(i));
    case Unit::FloatMinMax:
      return float_min_max(mode, signed_a(), signed_b(), i.flush);
    case Unit::ConvertToFloat:
      return convert_to_float(mode, b, i.rounding);
    case Unit::ConvertToInteger:
      return convert_to_integer(mode, b, modifiers(i));
    case Unit::RoundToIntegral:
      return round_to_integral(b, modifiers(i));
    default:
      if (const auto value = isa::compute(i.op, a, b, c, static_cast<unsigned>(i.table))) return *value;
      throw std::logic_error("not an arithmetic unit");
  }
}

std::uint32_t update(const isa::Instruction& i, std::uint32_t address, std::uint32_t old, std::uint32_t b,
                     std::uint32_t c) {
  const auto as_signed = [](std::uint32_t word) { return static_cast<std::int32_t>(word); };
  const auto insert = [&](std::uint32_t mask, std::uint32_t shift) {
    return (old & ~(mask << shift)) | (b & mask) << shift;
  };
  switch (isa::info(i.op).mode) {
    case Mode::Sum:
      return old + b;
    case Mode::FloatSum:
      return float_arithmetic(Mode::Sum, old, b, 0, modifiers(i));
    case Mode::MinSigned:
      return as_signed(old) < as_signed(b) ? old : b;
    case Mode::MaxSigned:
      return as_signed(old) > as_signed(b) ? old : b;
    case Mode::MinUnsigned:
      return old < b ? old : b;
    case Mode::MaxUnsigned:
      return old > b ? old : b;
    case Mode::And:
      return old & b;
    case Mode::Or:
      return old | b;
    case Mode::Xor:
      return old ^ b;
    case Mode::Increment:
      return old >= b ? 0 : old + 1;
    case Mode::Decrement:
      return old == 0 || old > b ? b : old - 1;
    case Mode::Exchange:
      return b;
    case Mode::CompareAndSwap:
      return old == b ? c : old;
    case Mode::StoreByte:
      return insert(0xff, 8 * (address & 3));
    case Mode::StoreHalf:
      return insert(0xffff, 8 * (address & 2));
    default:
      throw std::logic_error("not an atomic operation");
  }
}

bool compare(const isa::Instruction& i, std::uint32_t a, std::uint32_t b) {
  const isa::OpInfo& op = isa::info(i.op);
  if (op.unit == Unit::FloatCompare)
    return float_compare(op.mode, with_sign(a, i.absolute_a, i.negate_a),
                         with_sign(b, i.absolute_b, i.negate_b), i.flush);
  return isa::compare(i.op, a, b);
}

}  // namespace qwengpu::emulator

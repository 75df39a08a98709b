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

bool compare(const isa::Instruction& i, std::uint32_t a, std::uint32_t b) {
  const isa::OpInfo& op = isa::info(i.op);
  if (op.unit == Unit::FloatCompare)
    return float_compare(op.mode, with_sign(a, i.absolute_a, i.negate_a),
                         with_sign(b, i.absolute_b, i.negate_b), i.flush);
  return isa::compare(i.op, a, b);
}

}  // namespace qwengpu::emulator

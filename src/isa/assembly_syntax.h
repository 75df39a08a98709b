// What the assembler and the printer of assembly text share.
#pragma once

#include <string_view>

#include "isa/encoding.h"

namespace qwengpu::isa {

// Is the B operand a binary32?
inline bool b_is_float(const OpInfo& op) {
  return op.has('N') || op.unit == Unit::ConvertToInteger || op.unit == Unit::RoundToIntegral;
}

// The letters of a table entry that are operands of the text, not properties of the op.
inline bool is_text_operand(char kind) { return kind != 'F' && kind != 'N'; }

struct RoundingName {
  Rounding rounding;
  std::string_view name;
};
inline constexpr RoundingName rounding_names[] = {
    {Rounding::TowardZero, "RZ"}, {Rounding::Down, "RM"}, {Rounding::Up, "RP"}};

}  // namespace qwengpu::isa

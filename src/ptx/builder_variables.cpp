// Declarations of variables and their initialisers.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "ptx/builder.h"

namespace qwengpu::ptx {

using syntax::Initial;

namespace {
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;
}

void Builder::space(std::string_view text) {
  variable_ = {};
  variable_.space = text;
  variable_.where = where;
}

void Builder::variable_name(std::string_view text) {
  variable_.name = text;
  variable_.array = false;
  variable_.elements = 1;
  variable_.bounds.clear();
  variable_.initial.clear();
  initial_element_ = initial_mask_ = 0;
  initial_depth_ = 0;
}

void Builder::bound(std::string_view text) {
  variable_.bounds.push_back(number(text));
  bound_given_ = true;
}

void Builder::bound_end() {
  variable_.array = true;
  if (!std::exchange(bound_given_, false)) variable_.bounds.push_back(0);
  if (variable_.bounds.size() > ParseLimits::operands) fail("too many dimensions");
}

void Builder::commit_variable() {
  syntax::Variable& v = variable_;
  v.external = external_;
  if (v.vector > 1) v.bounds.push_back(static_cast<std::uint64_t>(v.vector));
  for (std::size_t n = 0; n < v.bounds.size(); ++n) {
    std::uint64_t bound = v.bounds[n];
    if (bound == 0 && n == 0 && !v.initial.empty()) {
      // As many as the initialiser has.
      std::uint64_t inner = 1;
      for (std::size_t k = 1; k < v.bounds.size(); ++k) inner *= v.bounds[k];
      bound = inner == 0 ? 0 : v.initial.back().element / inner + 1;
    }
    if (bound != 0 && v.elements > most_elements / bound) fail("array is too large");
    v.elements *= bound;
  }
  if (!v.initial.empty() && v.initial.back().element >= v.elements)
    fail(fmt::format("{} has more initial values than elements", v.name));
  (in_body_ ? function_.variables : module_.variables).push_back(v);
}

void Builder::variable_end() { commit_variable(); }
// The declarations of one statement share everything in front of the name.
void Builder::more_variable() { commit_variable(); }
void Builder::parameter_end() {
  for (const std::uint64_t bound : variable_.bounds) {
    if (bound != 0 && variable_.elements > most_elements / bound) fail("array is too large");
    variable_.elements *= bound;
  }
  function_.parameters.push_back(variable_);
}

void Builder::initial_open() {
  const std::size_t dimensions = variable_.bounds.size() + (variable_.vector > 1 ? 1 : 0);
  if (initial_depth_ >= std::max<std::size_t>(dimensions, 1)) fail("too many braces in the initialiser");
  ++initial_depth_;
}

// What an inner list leaves out is 0.
void Builder::initial_close() {
  --initial_depth_;
  if (initial_depth_ == 0) return;
  std::uint64_t inner = variable_.vector > 1 ? static_cast<std::uint64_t>(variable_.vector) : 1;
  for (std::size_t n = initial_depth_; n < variable_.bounds.size(); ++n) {
    const std::uint64_t bound = variable_.bounds[n];
    if (bound == 0 || inner > most_elements / bound) fail("array is too large");
    inner *= bound;
  }
  initial_element_ = (initial_element_ + inner - 1) / inner * inner;
}

void Builder::initial(Initial value) {
  if (++initial_values_ > ParseLimits::initial_values) fail("too many initial values");
  value.element = initial_element_++;
  variable_.initial.push_back(std::move(value));
}

void Builder::initial_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::uint64_t value = number(text.substr(negative ? text.find_first_of("0123456789") : 0));
  Initial element;
  element.value = negative ? 0 - value : value;
  initial(std::move(element));
}

void Builder::initial_float(std::string_view text, int bits) {
  Initial element;
  element.kind = Initial::Kind::Float;
  element.bits = bits;
  std::from_chars(text.data() + 2, text.data() + text.size(), element.value, 16);
  initial(std::move(element));
}

void Builder::initial_real(std::string_view text) {
  Initial element;
  element.kind = Initial::Kind::Float;
  element.value = std::bit_cast<std::uint64_t>(std::strtod(std::string(text).c_str(), nullptr));
  initial(std::move(element));
}

void Builder::initial_name(std::string_view text) {
  Initial element;
  element.kind = Initial::Kind::Address;
  element.name = text;
  element.mask = std::exchange(initial_mask_, 0);
  initial(std::move(element));
}

void Builder::initial_addend(std::string_view text) {
  const std::uint64_t value = number(text);
  variable_.initial.back().value = offset_negative_ ? 0 - value : value;
}

}  // namespace qwengpu::ptx

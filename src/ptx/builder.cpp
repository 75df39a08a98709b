#include "ptx/builder.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace qwengpu::ptx {

using syntax::Operand;

void Builder::fail(const std::string& what) const {
  Location location = where;
  location.file = path_;
  throw SyntaxError(location, what);
}

// PTX ISA 4.5.1, integer constants: decimal, 0x, 0b or a leading 0, with an optional U. Constants are 64 bits
// wide.
std::uint64_t Builder::number(std::string_view text) const {
  int base = 10;
  std::string_view digits = text;
  if (digits.ends_with('U')) digits.remove_suffix(1);
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
    base = 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size())
    fail(fmt::format("{} is not a 64-bit integer constant", text));
  return value;
}

int Builder::small_number(std::string_view text) const {
  const std::uint64_t value = number(text);
  if (value > std::numeric_limits<int>::max()) fail(fmt::format("{} is too large", text));
  return static_cast<int>(value);
}

void Builder::address_size(std::string_view text) {
  module_.address_size = small_number(text);
  if (module_.address_size != 32 && module_.address_size != 64) fail(".address_size is 32 or 64");
}

void Builder::file_name(std::string_view text) { module_.files[file_] = text.substr(1, text.size() - 2); }

// Line 0 is the compiler's "no line of its own": the last known line goes on.
void Builder::loc_line(std::string_view text) {
  const int line = small_number(text);
  if (line == 0) return;
  loc_file_ = pending_loc_file_;
  loc_line_ = line;
}

void Builder::function_begin(bool entry) {
  function_ = {};
  function_.entry = entry;
  external_ = false;
  function_.where = where;
}

void Builder::function_name(std::string_view text) { function_.name = text; }

void Builder::body_open() {
  const auto [before, fresh] = functions_.emplace(function_.name, where);
  if (!fresh)
    fail(fmt::format("{} is defined twice (first in line {})", function_.name, before->second.line));
  in_body_ = true;
  function_.defined = true;
  function_.scopes.push_back({});
  open_.push_back({0, {}, {}, {}});
  loc_file_ = loc_line_ = 0;
}

void Builder::body_close() {
  in_body_ = false;
  open_.clear();
  module_.functions.push_back(std::move(function_));
  function_ = {};
}

void Builder::no_body() { module_.functions.push_back(std::move(function_)); }

void Builder::scope_open() {
  if (open_.size() >= ParseLimits::scopes_deep) fail("scopes are nested too deeply");
  const int number_of_scope = static_cast<int>(function_.scopes.size());
  function_.scopes.push_back({open_.back().number});
  open_.push_back({number_of_scope, {}, {}, {}});
}

void Builder::scope_close() { open_.pop_back(); }

void Builder::register_name(std::string_view text) {
  register_name_ = text;
  register_range_ = false;
}
void Builder::register_count(std::string_view text) {
  register_count_ = number(text);
  register_range_ = true;
}

void Builder::register_end() {
  OpenScope& scope = open_.back();
  const bool fresh =
      register_range_
          ? scope.ranges.emplace(register_name_, std::pair(register_type_, register_count_)).second
          : scope.registers.emplace(register_name_, register_type_).second;
  if (!fresh) fail(fmt::format("register {} is declared twice", register_name_));
}

// A register is numbered when it is first used: a range may be declared far larger than what is used of it.
int Builder::find_register(const std::string& register_name) {
  std::size_t prefix = register_name.size();
  while (prefix > 0 && register_name[prefix - 1] >= '0' && register_name[prefix - 1] <= '9') --prefix;
  for (auto scope = open_.rbegin(); scope != open_.rend(); ++scope) {
    if (const auto used = scope->used.find(register_name); used != scope->used.end()) return used->second;
    const std::string* type = nullptr;
    if (const auto found = scope->registers.find(register_name); found != scope->registers.end()) {
      type = &found->second;
    } else if (prefix < register_name.size() && register_name.size() - prefix <= 9) {
      const auto range = scope->ranges.find(register_name.substr(0, prefix));
      std::uint64_t index = 0;
      std::from_chars(register_name.data() + prefix, register_name.data() + register_name.size(), index);
      if (range != scope->ranges.end() && index < range->second.second) type = &range->second.first;
    }
    if (type == nullptr) continue;
    const int index = static_cast<int>(function_.registers.size());
    function_.registers.push_back({register_name, *type});
    scope->used.emplace(register_name, index);
    return index;
  }
  return -1;
}

void Builder::label_name(std::string_view text) {
  label_ = text;
  label_where_ = where;
}

void Builder::label_end() {
  where = label_where_;
  if (!function_.labels.emplace(std::pair(open_.back().number, label_), function_.body.size()).second)
    fail(fmt::format("label {} is declared twice", label_));
}

void Builder::guard_name(std::string_view text) {
  const int predicate = find_register(std::string(text));
  if (predicate < 0) fail(fmt::format("register {} is not declared", text));
  guard_ = syntax::Guard{predicate, guard_negated_};
  guard_negated_ = false;
}

void Builder::opcode(std::string_view text) {
  instruction_ = {};
  instruction_.opcode = text;
  instruction_.where = where;
  instruction_.guard = std::exchange(guard_, std::nullopt);
  operands_.assign(1, {});
  negated_ = false;
}

void Builder::modifier(std::string_view text) {
  if (instruction_.modifiers.size() >= ParseLimits::operands) fail("too many modifiers");
  instruction_.modifiers.emplace_back(text);
}

void Builder::instruction_end() {
  if (function_.body.size() >= ParseLimits::instructions) fail("too many instructions");
  instruction_.operands = std::move(operands_.front());
  instruction_.scope = open_.back().number;
  instruction_.loc_file = loc_file_;
  instruction_.loc_line = loc_line_;
  function_.body.push_back(std::move(instruction_));
  instruction_ = {};
}

void Builder::push(Operand operand) {
  if (operands_.back().size() >= ParseLimits::operands) fail("too many operands");
  operands_.back().push_back(std::move(operand));
}

void Builder::integer(std::string_view text) {
  Operand operand;
  operand.kind = Operand::Kind::Integer;
  const bool negative = text.starts_with('-');
  operand.value = number(text.substr(negative ? text.find_first_of("0123456789") : 0));
  if (negative) operand.value = 0 - operand.value;
  push(std::move(operand));
}

void Builder::float_bits(std::string_view text, int bits) {
  Operand operand;
  operand.kind = Operand::Kind::Float;
  operand.bits = bits;
  std::from_chars(text.data() + 2, text.data() + text.size(), operand.value, 16);
  push(std::move(operand));
}

// PTX ISA 4.5.2: floating-point constants in decimal are 64 bits wide.
void Builder::real(std::string_view text) {
  Operand operand;
  operand.kind = Operand::Kind::Float;
  operand.bits = 64;
  operand.value = std::bit_cast<std::uint64_t>(std::strtod(std::string(text).c_str(), nullptr));
  push(std::move(operand));
}

Operand Builder::resolve(std::string_view text) {
  Operand operand;
  operand.name = text;
  operand.index = find_register(operand.name);
  operand.kind = operand.index >= 0 ? Operand::Kind::Register : Operand::Kind::Symbol;
  // Names with a % are registers: declared ones, or special ones (PTX ISA, chapter 10), of which the lowering
  // knows the list.
  return operand;
}

void Builder::name(std::string_view text) { push(resolve(text)); }

void Builder::name_offset(std::string_view text) {
  const std::uint64_t value = number(text);
  operands_.back().back().value = offset_negative_ ? 0 - value : value;
}

void Builder::sink() { push({}); }

void Builder::list_open() {
  if (operands_.size() > 2) fail("operands are nested too deeply");
  operands_.emplace_back();
}

void Builder::list_close(Operand::Kind kind) {
  Operand operand;
  operand.kind = kind;
  operand.elements = std::move(operands_.back());
  operands_.pop_back();
  push(std::move(operand));
}

void Builder::address_base(std::string_view text) {
  address_ = {};
  address_.kind = Operand::Kind::Address;
  if (text[0] >= '0' && text[0] <= '9') {
    Operand base;
    base.kind = Operand::Kind::Integer;
    base.value = number(text);
    address_.elements.push_back(std::move(base));
  } else {
    address_.elements.push_back(resolve(text));
  }
}

void Builder::offset_number(std::string_view text) {
  address_.value = number(text);
  if (offset_negative_) address_.value = 0 - address_.value;
}

void Builder::address_close() { push(std::move(address_)); }

void Builder::second() {
  std::vector<Operand>& list = operands_.back();
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.elements = {list[list.size() - 2], list[list.size() - 1]};
  list.resize(list.size() - 2);
  list.push_back(std::move(pair));
}

void Builder::operand_end() {
  if (negated_ && operands_.size() == 1) operands_.back().back().negated = true;
  negated_ = false;
}

}  // namespace qwengpu::ptx

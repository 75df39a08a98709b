#include "ptx/parse.h"

#include <fmt/format.h>

#include "ptx/builder.h"
#include "ptx/grammar.h"

namespace qwengpu::ptx {
namespace {

namespace g = grammar;
namespace p = tao::pegtl;
using Kind = syntax::Operand::Kind;

template <class Rule>
struct Action : p::nothing<Rule> {};

// An action that gives the builder the matched text.
template <auto Member>
struct WithText {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    const auto position = in.position();
    builder.where = {"", static_cast<int>(position.line), static_cast<int>(position.column)};
    (builder.*Member)(in.string_view());
  }
};
// An action that needs no text.
template <auto Function>
struct Call {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    const auto position = in.position();
    builder.where = {"", static_cast<int>(position.line), static_cast<int>(position.column)};
    std::invoke(Function, builder);
  }
};

#define TEXT(rule, member) \
  template <>              \
  struct Action<g::rule> : WithText<&Builder::member> {};
#define CALL(rule, function) \
  template <>                \
  struct Action<g::rule> : Call<function> {};

TEXT(version_number, version)
TEXT(target_name, target)
TEXT(address_size_number, address_size)
TEXT(file_number, file_number)
TEXT(file_name, file_name)
TEXT(loc_file, loc_file)
TEXT(loc_line, loc_line)
TEXT(space_name, space)
TEXT(alignment_number, alignment)
CALL(pointer, &Builder::pointer)
TEXT(variable_type, variable_type)
TEXT(variable_name, variable_name)
TEXT(vector_width_number, vector_width)
CALL(bound, &Builder::bound_end)
TEXT(bound_number, bound)
CALL(initial_open, &Builder::initial_open)
CALL(initial_close, &Builder::initial_close)
TEXT(initial_integer, initial_integer)
TEXT(initial_real, initial_real)
TEXT(initial_name, initial_name)
TEXT(initial_sign, initial_sign)
TEXT(initial_addend, initial_addend)
TEXT(initial_mask, initial_mask)
CALL(extern_directive, &Builder::external)
CALL(module_variable, &Builder::module_variable_end)
CALL(variable_first, &Builder::variable_end)
CALL(more_variable, &Builder::more_variable)
CALL(parameter, &Builder::parameter_end)
CALL(register_space, [](Builder& b) { b.space("reg"); })
CALL(entry_directive, [](Builder& b) { b.function_begin(true); })
CALL(func_directive, [](Builder& b) { b.function_begin(false); })
TEXT(function_name, function_name)
CALL(return_parameters, &Builder::return_parameters)
CALL(body_open, &Builder::body_open)
CALL(body_close, &Builder::body_close)
CALL(no_body, &Builder::no_body)
CALL(scope_open, &Builder::scope_open)
CALL(scope_close, &Builder::scope_close)
TEXT(register_type, register_type)
TEXT(register_name, register_name)
TEXT(register_count, register_count)
CALL(register_item, &Builder::register_end)
TEXT(label_name, label_name)
CALL(label, &Builder::label_end)
CALL(guard_not, &Builder::guard_not)
TEXT(guard_name, guard_name)
TEXT(opcode, opcode)
TEXT(modifier, modifier)
CALL(instruction_end, &Builder::instruction_end)
TEXT(integer_operand, integer)
CALL(sink, &Builder::sink)
TEXT(real_operand, real)
TEXT(name_operand, name)
TEXT(name_offset_number, name_offset)
CALL(vector_open, &Builder::list_open)
CALL(list_open, &Builder::list_open)
CALL(vector_close, [](Builder& b) { b.list_close(Kind::Vector); })
CALL(list_close, [](Builder& b) { b.list_close(Kind::List); })
TEXT(address_base, address_base)
TEXT(offset_sign, offset_sign)
CALL(offset_minus, &Builder::offset_minus)
TEXT(offset_number, offset_number)
CALL(address_close, &Builder::address_close)
CALL(negation, &Builder::negation)
CALL(second, &Builder::second)
CALL(operand, &Builder::operand_end)

#undef TEXT
#undef CALL

template <>
struct Action<g::bits32_operand> {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    builder.float_bits(in.string_view(), 32);
  }
};
template <>
struct Action<g::bits64_operand> {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    builder.float_bits(in.string_view(), 64);
  }
};

template <>
struct Action<g::initial_bits32> {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    builder.initial_float(in.string_view(), 32);
  }
};
template <>
struct Action<g::initial_bits64> {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    builder.initial_float(in.string_view(), 64);
  }
};

// What was expected where the text went wrong.
template <class Rule>
constexpr const char* expected = "the rest of a declaration";
template <>
constexpr const char* expected<g::end_of_text> = "a directive";
template <>
constexpr const char* expected<g::instruction_end> = "an operand or ';'";
template <>
constexpr const char* expected<g::scope_close> = "a statement or '}'";
template <>
constexpr const char* expected<g::body_close> = "a statement or '}'";
template <>
constexpr const char* expected<g::address_close> = "']'";
template <>
constexpr const char* expected<g::vector_close> = "'}' of a vector";
template <>
constexpr const char* expected<g::list_close> = "')'";
template <>
constexpr const char* expected<g::modifier> = "the rest of an opcode";
template <>
constexpr const char* expected<g::function_end> = "'{' or ';'";
template <>
constexpr const char* expected<g::variable_declarator> = "a type and a name";
template <>
constexpr const char* expected<g::initial_item> = "an initial value";
template <>
constexpr const char* expected<g::initial_close> = "'}' of an initialiser";
template <>
constexpr const char* expected<g::sign<';'>> = "';'";
template <>
constexpr const char* expected<g::sign<')'>> = "')'";
template <>
constexpr const char* expected<g::sign<']'>> = "']'";
template <>
constexpr const char* expected<g::sign<'>'>> = "'>'";
template <>
constexpr const char* expected<g::module> = "the directive .version";

template <class Rule>
struct Control : p::normal<Rule> {
  template <class Input, class... States>
  [[noreturn]] static void raise(const Input& in, States&&...) {
    throw p::parse_error(expected<Rule>, in);
  }
};

std::string excerpt(std::string_view text, std::size_t offset) {
  std::string_view rest = text.substr(std::min(offset, text.size()));
  if (rest.empty()) return "the end of the text";
  rest = rest.substr(0, std::min<std::size_t>(rest.find('\n'), 30));
  std::string shown;
  for (const char c : rest) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + "'";
}

}  // namespace

syntax::Module parse(std::string_view text, const std::string& path) {
  p::memory_input<> in(text.data(), text.size(), path);
  Builder builder(path);
  try {
    p::parse<p::must<g::module>, Action, Control>(in, builder);
  } catch (const p::parse_error& error) {
    const p::position& at = error.positions().front();
    throw SyntaxError({path, static_cast<int>(at.line), static_cast<int>(at.column)},
                      fmt::format("expected {} before {}", error.message(), excerpt(text, at.byte)));
  }
  return builder.finish();
}

}  // namespace qwengpu::ptx

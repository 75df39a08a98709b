// Builds the module while the grammar matches. Every function belongs to one rule of grammar.h.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/syntax.h"

namespace qwengpu::ptx {

// Bounds that no sensible text reaches; they keep hostile text from exhausting memory.
struct ParseLimits {
  static constexpr std::size_t scopes_deep = 64;
  static constexpr std::size_t instructions = 200'000;
  static constexpr std::size_t operands = 64;             // of an instruction, at each level
  static constexpr std::size_t initial_values = 1 << 20;  // of all variables
};

class Builder {
 public:
  explicit Builder(std::string path) : path_(std::move(path)) {}
  syntax::Module finish() { return std::move(module_); }

  // Where the rule that is being applied begins; set before each call.
  Location where;

  void version(std::string_view text) { module_.version = text; }
  void target(std::string_view text) { module_.target = text; }
  void address_size(std::string_view text);

  void file_number(std::string_view text) { file_ = small_number(text); }
  void file_name(std::string_view text);
  void loc_file(std::string_view text) { pending_loc_file_ = small_number(text); }
  void loc_line(std::string_view text);

  // Variables and parameters.
  void space(std::string_view text);
  void alignment(std::string_view text) { variable_.alignment = small_number(text); }
  void pointer() { variable_.pointer = true; }
  void variable_type(std::string_view text) { variable_.type = text; }
  void variable_name(std::string_view text);
  void external() { external_ = true; }
  void vector_width(std::string_view text) { variable_.vector = small_number(text); }
  void bound(std::string_view text);
  void bound_end();
  void variable_end();
  void parameter_end();
  void more_variable();
  void module_variable_end() { external_ = false; }

  // Initialisers.
  void initial_open();
  void initial_close();
  void initial_integer(std::string_view text);
  void initial_float(std::string_view text, int bits);
  void initial_real(std::string_view text);
  void initial_name(std::string_view text);
  void initial_sign(std::string_view text) { offset_negative_ = text == "-"; }
  void initial_addend(std::string_view text);
  void initial_mask(std::string_view text) { initial_mask_ = number(text); }

  // Functions.
  void function_begin(bool entry);
  void function_name(std::string_view text);
  void return_parameters() { function_.parameters.clear(); }
  void body_open();
  void body_close();
  void no_body();
  void scope_open();
  void scope_close();

  // Statements.
  void register_type(std::string_view text) { register_type_ = text; }
  void register_name(std::string_view text);
  void register_count(std::string_view text);
  void register_end();
  void label_name(std::string_view text);
  void label_end();
  void guard_not() { guard_negated_ = true; }
  void guard_name(std::string_view text);
  void opcode(std::string_view text);
  void modifier(std::string_view text);
  void instruction_end();

  // Operands.
  void integer(std::string_view text);
  void float_bits(std::string_view text, int bits);
  void real(std::string_view text);
  void name(std::string_view text);
  void name_offset(std::string_view text);
  void sink();
  void list_open();
  void list_close(syntax::Operand::Kind kind);
  void address_base(std::string_view text);
  void offset_sign(std::string_view text) { offset_negative_ = text == "-"; }
  void offset_minus() { offset_negative_ = !offset_negative_; }
  void offset_number(std::string_view text);
  void address_close();
  void negation() { negated_ = true; }
  void second();
  void operand_end();

  [[noreturn]] void fail(const std::string& what) const;

 private:
  using Names = std::unordered_map<std::string, std::string>;  // register or range prefix -> type

  struct OpenScope {
    int number;
    Names registers;
    std::unordered_map<std::string, std::pair<std::string, std::uint64_t>> ranges;  // prefix -> type, count
    std::unordered_map<std::string, int> used;  // name -> number of the register
  };

  int small_number(std::string_view text) const;
  std::uint64_t number(std::string_view text) const;
  syntax::Operand resolve(std::string_view text);
  int find_register(const std::string& register_name);
  void push(syntax::Operand operand);
  void commit_variable();
  void initial(syntax::Initial value);

  std::string path_;
  syntax::Module module_;
  syntax::Function function_;
  bool in_body_ = false;
  std::vector<OpenScope> open_;
  std::unordered_map<std::string, Location> functions_;

  int file_ = 0, pending_loc_file_ = 0, loc_file_ = 0, loc_line_ = 0;
  syntax::Variable variable_;
  bool bound_given_ = false, external_ = false;
  std::uint64_t initial_element_ = 0, initial_mask_ = 0;
  std::size_t initial_depth_ = 0, initial_values_ = 0;
  std::string register_type_, register_name_, label_;
  std::uint64_t register_count_ = 0;
  bool register_range_ = false;
  bool guard_negated_ = false, negated_ = false, offset_negative_ = false;
  Location label_where_;
  syntax::Instruction instruction_;
  std::optional<syntax::Guard> guard_;
  Location guard_where_;
  syntax::Operand address_;
  std::vector<std::vector<syntax::Operand>> operands_{{}};
};

}  // namespace qwengpu::ptx

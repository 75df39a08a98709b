// PTX instructions to the intermediate representation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/kernel.h"
#include "ptx/diagnostics.h"
#include "ptx/emitter.h"
#include "ptx/syntax.h"
#include "ptx/wide.h"

namespace qwengpu::ptx {

struct Lowered {
  ir::Function function;
  std::vector<isa::KernelParameter> parameters;
  int parameter_bytes = 0;
};

// `path` names the PTX in messages. Throws SyntaxError, Unsupported, TooLarge.
Lowered lower(const syntax::Module& module, const syntax::Function& kernel, const std::string& path);

// ---- For the tables of handlers (lower_*.cpp) ----

// Thrown by a handler: the machine does not have it.
struct Reject {
  std::string reason;
};

// An instruction type (PTX ISA 5.2.1): .u32, .b64, .f32, .pred.
struct Type {
  char kind = 'b';  // u, s, b, f; p: predicate
  int bits = 32;
  bool is_signed() const { return kind == 's'; }
};
std::optional<Type> parse_type(std::string_view text);

// The modifiers of an instruction; each is taken by the handler that understands it, and what is left over is
// not supported.
class Modifiers {
 public:
  explicit Modifiers(const std::vector<std::string>& names) : names_(names) {}
  bool take(std::string_view name);
  // The first that is a type; nothing when there is none.
  std::optional<Type> take_type();
  // The first of these that is there; empty when none is.
  std::string take_any(std::initializer_list<std::string_view> names);
  const std::vector<std::string>& rest() const { return names_; }

 private:
  std::vector<std::string> names_;
};

class Lowering {
 public:
  using Operand = syntax::Operand;
  using Instruction = syntax::Instruction;

  Lowering(const syntax::Module& module, const syntax::Function& kernel, const std::string& path);
  Lowered run();

  ir::Emitter& emit() { return emit_; }
  [[noreturn]] void fail(const std::string& what) const;  // SyntaxError at the instruction
  [[noreturn]] static void reject(const std::string& reason) { throw Reject{reason}; }

  // The operand with this number; a syntax error when there is none.
  const Operand& operand(std::size_t number) const;
  Type type(Modifiers& modifiers) const;          // any
  Type integer_type(Modifiers& modifiers) const;  // an integer or bit type; floating point is rejected

  // A value of up to 32 bits: extended to 32 bits by the type's sign. 16-bit registers hold zeros above.
  ir::Value read(const Operand& operand, Type type);
  // The same where the register may be wider than the type (PTX ISA 9.4.1): its low word.
  ir::Value read_low(const Operand& operand, Type type);
  ir::Pair read_pair(const Operand& operand, Type type);
  ir::Predicate read_predicate(const Operand& operand) const;
  void write(const Operand& operand, Type type, ir::Value value);  // cuts to 16 bits where the type has 16
  void write_pair(const Operand& operand, ir::Pair value);
  void write_predicate(const Operand& operand, ir::Predicate value);
  ir::Value extend(ir::Value value, Type type);  // from the low bits of the type
  void check_width(const Operand& operand, int bits, bool wider_allowed = false) const;
  int register_bits(const Operand& operand) const;

  // The address operand: a base and a constant offset. Variables are rejected by their space.
  struct Address {
    ir::Value base;
    std::uint32_t offset = 0;
  };
  Address address(const Operand& operand);
  [[noreturn]] void reject_variable(const std::string& name) const;
  const isa::KernelParameter* find_parameter(const std::string& name) const;
  bool is_local_parameter(const std::string& name) const;  // a .param variable of a call sequence
  int block_of_label(const Operand& operand);
  const Instruction& current() const { return *current_; }
  std::optional<ir::Predicate> guard() const;
  // A new block that follows whatever ended.
  void start_unreachable() { emit_.start(emit_.new_block()); }

 private:
  struct Slot {
    int lo = ir::none, hi = ir::none;  // or a predicate in lo
  };
  void lay_out_parameters();
  Slot& slot(int reg);
  bool is_predicate(int reg) const;
  std::optional<ir::Value> special_register(const std::string& name) const;
  void lower_instruction(const Instruction& instruction);
  void report(const Instruction& instruction, const std::string& reason);
  int line_of(const Instruction& instruction);
  std::string text_of(const Instruction& instruction) const;

  const syntax::Module& module_;
  const syntax::Function& kernel_;
  std::string path_;
  Lowered result_;
  ir::Emitter emit_;
  const Instruction* current_ = nullptr;
  std::vector<Slot> slots_;
  std::map<std::size_t, int> label_blocks_;  // by the instruction that a label stands before
  std::vector<Diagnostic> diagnostics_;
};

using Handler = void (*)(Lowering&, const syntax::Instruction&, Modifiers&);
using HandlerTable = std::unordered_map<std::string_view, Handler>;
const HandlerTable& integer_handlers();  // arithmetic, logic, shifts, bit operations
const HandlerTable& move_handlers();     // moves, conversions, selections, compares
const HandlerTable& float_handlers();    // for instructions that name the type .f32
const HandlerTable& memory_handlers();
const HandlerTable& control_handlers();

}  // namespace qwengpu::ptx

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
#include "ptx/variables.h"
#include "ptx/wide.h"

namespace qwengpu::ptx {

struct Lowered {
  ir::Function function;
  std::vector<isa::KernelParameter> parameters;
  int parameter_bytes = 0;
  int shared_bytes = 0, local_bytes = 0;
  std::vector<std::uint8_t> variables;
  std::uint32_t named_barriers = 0;
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

  // The machine's address of an address operand in this space.
  ir::Emitter::Place address(const Operand& operand, std::string_view space);
  const Variables& variables() const { return variables_; }
  std::uint32_t named_barriers() const { return result_.named_barriers; }  // their table, or 0
  std::uint32_t barrier_count(std::uint32_t number) const { return barrier_counts_.at(number); }
  ir::Emitter::Place warp_scratch(ir::Value thread);  // a word of this thread's local memory
  const Variables::Place& variable(const std::string& name) const;
  ir::Value variable_address(const Variables::Place& place);
  ir::Value local_memory(ir::Value thread);  // the address of a thread's part
  ir::Value block_threads();                 // threads of a block
  const isa::KernelParameter* find_parameter(const std::string& name) const;
  bool is_local_parameter(const std::string& name) const;  // a .param variable of a call sequence
  int block_of_label(const Operand& operand);
  const Instruction& current() const { return *current_; }
  std::optional<ir::Predicate> guard() const;
  // The condition code register CC.CF: the carry, or borrow, of the last instruction with .cc.
  int carry();
  // A new block that follows whatever ended.
  void start_unreachable() { emit_.start(emit_.new_block()); }

 private:
  struct Slot {
    int lo = ir::none, hi = ir::none;  // or a predicate in lo
  };
  void lay_out_parameters();
  void reserve_memory();
  void copy_parameters();
  Slot& slot(int reg);
  bool is_predicate(int reg) const;
  std::optional<ir::Value> special_register(const std::string& name);
  void lower_instruction(const Instruction& instruction);
  void report(const Instruction& instruction, const std::string& reason);
  int line_of(const Instruction& instruction);
  std::string text_of(const Instruction& instruction) const;

  const syntax::Module& module_;
  const syntax::Function& kernel_;
  std::string path_;
  Variables variables_;
  // Parameters whose address is taken, in a thread's part of local memory.
  std::map<std::string, std::uint32_t> parameter_copies_;
  std::map<std::uint32_t, std::uint32_t> barrier_counts_;  // words in memory, by the number of the barrier
  std::uint32_t warp_scratch_ = 0;
  int carry_ = ir::none;
  Lowered result_;
  ir::Emitter emit_;
  const Instruction* current_ = nullptr;
  std::vector<Slot> slots_;
  std::map<std::size_t, int> label_blocks_;  // by the instruction that a label stands before
  std::vector<Diagnostic> diagnostics_;
};

// %lanemask_eq, _lt, _le, _gt or _ge.
ir::Value lane_mask(ir::Emitter& emitter, const std::string& name);

// What an instruction needs in memory for barriers.
struct BarrierUse {
  bool named = false;                   // the table of named barriers
  std::optional<std::uint32_t> counts;  // a count for the barrier of this number
};
BarrierUse barrier_use(const syntax::Instruction& instruction);

using Handler = void (*)(Lowering&, const syntax::Instruction&, Modifiers&);
using HandlerTable = std::unordered_map<std::string_view, Handler>;
// add, sub and mad with .cc, and addc, subc, madc.
void with_carry(Lowering& l, const syntax::Instruction& instruction, Modifiers& modifiers);
const HandlerTable& integer_handlers();  // arithmetic, logic, shifts, bit operations
const HandlerTable& move_handlers();     // moves, conversions, selections, compares
const HandlerTable& float_handlers();    // for instructions that name the type .f32
const HandlerTable& memory_handlers();
const HandlerTable& atomic_handlers();
const HandlerTable& barrier_handlers();
const HandlerTable& warp_handlers();     // shfl, vote, match, ...
const HandlerTable& product_handlers();  // carries, 24-bit products, sums of products, bytes
const HandlerTable& control_handlers();

}  // namespace qwengpu::ptx

// The intermediate representation: machine instructions over any number of registers and predicates, in basic
// blocks.
//
// It is not SSA, but most registers are written once ("single"), as they are in PTX; the passes use what that
// gives and leave the others (loop variables, mostly) to the register allocator. Operands A and C may be
// constants here; legalise() puts them into registers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isa/encoding.h"
#include "isa/instructions.h"

namespace qwengpu::ptx::ir {

constexpr int none = -1;

struct Value {
  enum class Kind { None, Register, Immediate, Constant, Special };
  Kind kind = Kind::None;
  std::uint32_t number =
      0;  // register, the value, address in the constant bank, number of the special register

  static Value reg(int index) { return {Kind::Register, static_cast<std::uint32_t>(index)}; }
  static Value imm(std::uint32_t value) { return {Kind::Immediate, value}; }
  static Value constant(std::uint32_t address) { return {Kind::Constant, address}; }
  static Value special(isa::Special special) { return {Kind::Special, static_cast<std::uint32_t>(special)}; }

  bool is_register() const { return kind == Kind::Register; }
  bool is_immediate() const { return kind == Kind::Immediate; }
  bool is(std::uint32_t value) const { return kind == Kind::Immediate && number == value; }
  // The same at every place of the kernel (for a thread).
  bool is_fixed() const { return kind >= Kind::Immediate; }
  int index() const { return static_cast<int>(number); }
  auto operator<=>(const Value&) const = default;
};

// A predicate as it is read. index none: always true (always false when negated).
struct Predicate {
  int index = none;
  bool negated = false;
  bool fixed() const { return index == none; }
  Predicate operator!() const { return {index, !negated}; }
  auto operator<=>(const Predicate&) const = default;
};
constexpr Predicate always{none, false}, never{none, true};

// What the operation does besides its name: the modifiers of floating point, the table of LOP3.
struct Form {
  isa::Rounding rounding = isa::Rounding::NearestEven;
  bool flush = false, saturate = false;
  bool negate_a = false, negate_b = false, negate_c = false;  // after the absolute value
  bool absolute_a = false, absolute_b = false;
  unsigned table = 0;
  auto operator<=>(const Form&) const = default;
};

struct Instruction {
  isa::Op op = isa::Op::Mov;
  Predicate guard;
  int d = none;
  Value a, b, c;
  int pd = none;
  Predicate pa, pb;
  Form form;
  std::uint32_t offset = 0;  // of a memory operand
  bool is_volatile = false;  // a load that is made whether its value is read or not
  int line = 0;              // number in Function::lines

  const isa::OpInfo& info() const { return isa::info(op); }
  bool guarded() const { return guard != always; }
  bool is_exit() const { return op == isa::Op::Exit; }
  bool is_load() const { return info().unit == isa::Unit::Load; }
  bool is_atomic() const { return info().unit == isa::Unit::Atomic; }
  // It does something besides writing its register: it stays, and where it is.
  bool has_effect() const {
    return info().unit == isa::Unit::Store || is_atomic() || is_exit() || info().waits() || is_volatile;
  }
  // Its result depends on what others did: the same operands do not make the same value.
  bool reads_state() const {
    return is_load() || is_atomic() || info().unit == isa::Unit::GetWord || info().unit == isa::Unit::GetVote;
  }
  bool is_move() const { return op == isa::Op::Mov && !guarded(); }
  bool is_predicate_move() const { return op == isa::Op::PlopAnd && !guarded() && pb == always; }
  void exchange_operands() {
    std::swap(a, b);
    std::swap(form.negate_a, form.negate_b);
    std::swap(form.absolute_a, form.absolute_b);
  }
};

// What a block ends with.
struct End {
  enum class Kind { Exit, Jump, Branch };
  Kind kind = Kind::Exit;
  Predicate condition;  // Branch
  int taken = none;     // Branch: where the condition holds
  int next = none;      // Jump, Branch
  int line = 0;
};

struct Block {
  std::vector<Instruction> code;
  End end;
  bool removed = false;
  std::vector<int> successors() const;
};

struct Line {
  int file = 0, line = 0;
  bool operator==(const Line&) const = default;
};

struct Function {
  std::vector<Block> blocks;  // 0 is the entry
  int registers = 0, predicates = 0;
  std::vector<Line> lines{{}};
  std::vector<int> layout;  // order of the blocks in the code, made by order_blocks()

  int new_register() { return registers++; }
  int new_predicate() { return predicates++; }
};

// Calls visit(Value&) for every value that the instruction reads.
template <class Instruction_, class Visit>
void for_each_value(Instruction_& i, Visit visit) {
  if (i.info().reads_a()) visit(i.a);
  if (i.info().reads_b()) visit(i.b);
  if (i.info().reads_c()) visit(i.c);
}
// Calls visit(Predicate&) for every predicate that it reads.
template <class Instruction_, class Visit>
void for_each_predicate(Instruction_& i, Visit visit) {
  visit(i.guard);
  if (i.info().has('q')) visit(i.pa);
  if (i.info().has('r')) visit(i.pb);
}

}  // namespace qwengpu::ptx::ir

// Appends instructions to a function under construction. Every result is a new register, so that most
// registers are written once.
#pragma once

#include "ptx/ir.h"

namespace qwengpu::ptx::ir {

// An operand of a floating-point operation: the absolute value is taken first.
struct Source {
  Source() = default;
  Source(Value v) : value(v) {}  // NOLINT: a value is one
  Value value;
  bool negated = false, absolute = false;
};
inline Source operator-(Source source) {
  source.negated = !source.negated;
  return source;
}
inline Source magnitude(Value value) {
  Source source(value);
  source.absolute = true;
  return source;
}

class Emitter {
 public:
  explicit Emitter(Function& function) : function_(function) { start(new_block()); }

  Function& function() { return function_; }
  int line = 0;  // of what is emitted from now on

  Value op(isa::Op op, Value a, Value b, Value c = {});
  Value op(isa::Op op, Source a, Source b, Source c, const Form& form);
  // The same into a register that exists, for the lanes of the guard.
  void op_to(int d, isa::Op op, Value a, Value b, Predicate guard = always);
  void op_to(int d, isa::Op op, Source a, Source b, Source c, const Form& form, Predicate guard = always);
  void move_to(int d, Value value, Predicate guard = always) {
    op_to(d, isa::Op::Mov, Value{}, value, guard);
  }
  Value fresh(Value value);  // a new register that holds the value and may be written again

  Predicate compare(isa::Op op, Value a, Value b);
  Predicate compare(isa::Op op, Source a, Source b, const Form& form);
  // Into a predicate that exists, for the lanes of the guard: p = p && a ? b with the guard p.
  void compare_to(int p, isa::Op op, Source a, Source b, Predicate guard, const Form& form = {});
  Predicate combine(isa::Op op, Predicate a, Predicate b);
  void predicate_to(int p, Predicate value);
  Value select(Predicate condition, Value a, Value b);

  // IADD.X and ISUB.X.
  Value op_carry(isa::Op op, Value a, Value b, Predicate carry);

  // Memory at base + offset.
  struct Place {
    Value base;
    std::uint32_t offset = 0;
    Place operator+(std::uint32_t bytes) const { return {base, offset + bytes}; }
  };
  Value load(isa::Op op, Place place, bool is_volatile = false);
  void load_to(int d, isa::Op op, Place place, Predicate guard);               // volatile
  void store(isa::Op op, Place place, Value value, Predicate guard = always);  // RED too
  Value atomic(isa::Op op, Place place, Value b, Value c = {}, const Form& form = {});

  // Waiting, and what the lanes of a warp show one another.
  void wait(isa::Op op);  // BAR, WARPSYNC, ...
  void put(Value word);
  void put(Predicate vote);
  Value get_word(Value thread);
  Value get_votes();

  int new_block();
  void start(int block) { block_ = block; }
  int block() const { return block_; }
  void end(const End& end);
  void jump(int next) { end({End::Kind::Jump, {}, none, next, line}); }
  void branch(Predicate condition, int taken, int next) {
    end({End::Kind::Branch, condition, taken, next, line});
  }
  void exit() { end({End::Kind::Exit, {}, none, none, line}); }

 private:
  void append(Instruction instruction);

  Function& function_;
  int block_ = 0;
  int appended_ = 0;
};

}  // namespace qwengpu::ptx::ir

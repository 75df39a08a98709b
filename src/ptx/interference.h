// Liveness, interference and colouring, for registers and for predicates alike.
#pragma once

#include <vector>

#include "ptx/ir.h"

namespace qwengpu::ptx::ir {

// What the allocator needs to know of an instruction.
struct RegisterOperands {
  template <class I, class Visit>
  static void uses(I& i, Visit visit) {
    for_each_value(i, [&](auto& value) {
      if (value.is_register()) visit(value.index());
    });
  }
  template <class Visit>
  static void end_uses(const End&, Visit) {}
  static int definition(const Instruction& i) { return i.d; }
  static int move_source(const Instruction& i) {
    return i.is_move() && i.b.is_register() ? i.b.index() : none;
  }
  static int count(const Function& function) { return function.registers; }
};

struct PredicateOperands {
  template <class I, class Visit>
  static void uses(I& i, Visit visit) {
    for_each_predicate(i, [&](auto& predicate) {
      if (!predicate.fixed()) visit(predicate.index);
    });
  }
  template <class Visit>
  static void end_uses(const End& end, Visit visit) {
    if (end.kind == End::Kind::Branch && !end.condition.fixed()) visit(end.condition.index);
  }
  static int definition(const Instruction& i) { return i.pd; }
  static int move_source(const Instruction& i) {
    return i.is_predicate_move() && !i.pa.negated ? i.pa.index : none;
  }
  static int count(const Function& function) { return function.predicates; }
};

struct Colouring {
  std::vector<int> colour;  // of each register or predicate; none for one that does not occur
  std::vector<int> degree;
  int colours = 0;
};

// Gives every register or predicate a colour, with copies sharing one where they can.
template <class Operands>
Colouring colour(const Function& function);

extern template Colouring colour<RegisterOperands>(const Function&);
extern template Colouring colour<PredicateOperands>(const Function&);

}  // namespace qwengpu::ptx::ir

#include <map>
#include <utility>

#include "ptx/arithmetic.h"
#include "ptx/flow.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;
using isa::Unit;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Zero is register RZ.
bool needs_register(const Value& value) { return value.is_fixed() && !value.is(0); }

// Brings a register into operand A where exchanging the operands does it.
void order(Instruction& i) {
  if (!i.info().reads_a() || !needs_register(i.a) || !i.info().reads_b()) return;
  if (!i.b.is_register()) {
    // One of two constants has to be loaded: the immediate stays where it is.
    if (!i.a.is_immediate() || i.b.is_immediate()) return;
  }
  if (commutes(i.op)) {
    i.exchange_operands();
  } else if (i.info().unit == Unit::Compare || i.info().unit == Unit::FloatCompare) {
    i.exchange_operands();
    i.op = swapped(i.op);
  }
}

template <class Visit>
void for_each_register_operand(Instruction& i, Visit visit) {
  if (i.info().reads_a()) visit(i.a);
  if (i.info().has('m') && i.info().reads_b()) visit(i.b);
}

// One register for each constant, loaded where all its uses can see it, outside of loops.
class Constants {
 public:
  explicit Constants(Function& function) : function_(function), flow_(function) {}

  void run() {
    for (const int b : flow_.reverse_post_order())
      for (Instruction& i : block(b).code) {
        order(i);
        for_each_register_operand(i, [&](Value& value) {
          if (needs_register(value)) want(value, b);
        });
        // In a loop an IMAD with the constant in a register is one instruction instead of two.
        if (i.info().reads_c() && needs_register(i.c) && (i.op != Op::Imad || flow_.depth(b) > 0))
          want(i.c, b);
      }
    split_sums();
    for (auto& [value, where] : places_) {
      where.reg = function_.new_register();
      while (flow_.depth(where.block) > 0)
        where.block = flow_.immediate_dominator(flow_.loops(where.block).back());
    }
    for (const int b : flow_.reverse_post_order())
      for (Instruction& i : block(b).code) {
        for_each_register_operand(i, [&](Value& value) { replace(value); });
        if (i.info().reads_c()) replace(i.c);
        // A variable that starts with the same constant can often be the same register.
        if (i.is_move() && needs_register(i.b) && places_.count(i.b) != 0 &&
            flow_.dominates(places_.at(i.b).block, b))
          replace(i.b);
      }
    for (const auto& [value, where] : places_) load(value, where);
  }

 private:
  struct Place {
    int block = none;
    int reg = none;
  };

  Block& block(int b) { return function_.blocks[at(b)]; }

  void want(const Value& value, int b) {
    Place& place = places_[value];
    place.block = place.block == none ? b : flow_.common_dominator(place.block, b);
  }

  // a * b + constant: a product and a sum, unless the constant is in a register anyway.
  void split_sums() {
    for (const int b : flow_.reverse_post_order()) {
      std::vector<Instruction> code;
      for (Instruction& i : block(b).code) {
        if (i.op == Op::Imad && needs_register(i.c)) {
          if (places_.count(i.c) != 0) {
            want(i.c, b);
          } else {
            Instruction product = i;
            product.op = Op::Imul;
            product.guard = always;
            product.d = function_.new_register();
            product.c = {};
            code.push_back(product);
            i.op = Op::Iadd;
            i.a = Value::reg(product.d);
            i.b = std::exchange(i.c, {});
          }
        }
        code.push_back(i);
      }
      block(b).code = std::move(code);
    }
  }

  void replace(Value& value) {
    if (needs_register(value)) value = Value::reg(places_.at(value).reg);
  }

  void load(const Value& value, const Place& place) {
    Instruction load;
    load.op = Op::Mov;
    load.d = place.reg;
    load.b = value;
    std::vector<Instruction>& code = block(place.block).code;
    auto where = code.begin();
    const auto reads = [&](Instruction& i) {
      bool found = false;
      for_each_value(i, [&](const Value& read) { found |= read == Value::reg(place.reg); });
      return found;
    };
    while (where != code.end() && !reads(*where)) ++where;
    load.line = where != code.end() ? where->line : block(place.block).end.line;
    code.insert(where, load);
  }

  Function& function_;
  Flow flow_;
  std::map<Value, Place> places_;
};

}  // namespace

void legalise(Function& function) { Constants(function).run(); }

}  // namespace qwengpu::ptx::ir

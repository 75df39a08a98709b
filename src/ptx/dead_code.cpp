#include <algorithm>

#include "ptx/arithmetic.h"
#include "ptx/flow.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {

// Starts from what has an effect and marks what it depends on, so that values which only feed one another in
// a loop go too.
bool eliminate_dead_code(Function& function) {
  std::vector<std::vector<const Instruction*>> writers(static_cast<std::size_t>(function.registers)),
      predicate_writers(static_cast<std::size_t>(function.predicates));
  std::vector<char> live(writers.size()), live_predicate(predicate_writers.size());
  std::vector<const Instruction*> work;

  const auto need_predicate = [&](const Predicate& predicate) {
    if (predicate.fixed() || live_predicate[static_cast<std::size_t>(predicate.index)]) return;
    live_predicate[static_cast<std::size_t>(predicate.index)] = 1;
    const auto& list = predicate_writers[static_cast<std::size_t>(predicate.index)];
    work.insert(work.end(), list.begin(), list.end());
  };
  const auto need = [&](const Value& value) {
    if (!value.is_register() || live[value.number]) return;
    live[value.number] = 1;
    work.insert(work.end(), writers[value.number].begin(), writers[value.number].end());
  };

  for (const Block& block : function.blocks)
    for (const Instruction& i : block.code) {
      if (i.d != none) writers[static_cast<std::size_t>(i.d)].push_back(&i);
      if (i.pd != none) predicate_writers[static_cast<std::size_t>(i.pd)].push_back(&i);
      if (i.has_effect() && i.guard != never) work.push_back(&i);
    }
  for (const Block& block : function.blocks)
    if (block.end.kind == End::Kind::Branch) need_predicate(block.end.condition);
  while (!work.empty()) {
    const Instruction& i = *work.back();
    work.pop_back();
    for_each_value(i, need);
    for_each_predicate(i, need_predicate);
  }

  bool changed = false;
  // Atomic operations whose old word nobody reads.
  for (Block& block : function.blocks)
    for (Instruction& i : block.code) {
      if (!i.is_atomic() || i.d == none || live[static_cast<std::size_t>(i.d)]) continue;
      const isa::Op op = without_result(i.op);
      if (op == i.op) continue;
      i.op = op;
      i.d = none;
      changed = true;
    }
  for (Block& block : function.blocks)
    changed |= std::erase_if(block.code, [&](const Instruction& i) {
                 if (i.guard == never) return true;
                 if (i.has_effect()) return false;
                 if (i.op == isa::Op::Mov && i.b == Value::reg(i.d)) return true;
                 return !(i.d != none && live[static_cast<std::size_t>(i.d)]) &&
                        !(i.pd != none && live_predicate[static_cast<std::size_t>(i.pd)]);
               }) > 0;
  return changed;
}

}  // namespace qwengpu::ptx::ir

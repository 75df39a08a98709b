#include <map>
#include <tuple>
#include <unordered_map>

#include "ptx/facts.h"
#include "ptx/fold.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// What registers that are written several times hold, from a move on to the next write; over the end of a
// block where the next one has no other predecessor.
class LocalCopies {
 public:
  const Value* find(int reg) const {
    const auto found = copies_.find(reg);
    return found == copies_.end() ? nullptr : &found->second;
  }
  bool holds(int reg, const Value& value) const {
    const Value* copy = find(reg);
    return copy != nullptr && *copy == value;
  }
  void after(const Instruction& i) {
    if (i.d == none || (i.is_move() && i.b == Value::reg(i.d))) return;
    copies_.erase(i.d);
    std::erase_if(copies_, [&](const auto& entry) { return entry.second == Value::reg(i.d); });
    if (i.is_move() && i.b != Value::reg(i.d) && copies_.size() < most) copies_[i.d] = i.b;
  }

 private:
  static constexpr std::size_t most = 64;  // keeps long blocks from taking quadratic time
  std::unordered_map<int, Value> copies_;
};

class Simplifier {
 public:
  explicit Simplifier(Function& function)
      : function_(function), flow_(function), definitions_(function), facts_(function, flow_, definitions_) {}

  bool run() {
    std::vector<LocalCopies> after(function_.blocks.size());
    for (const int b : flow_.reverse_post_order()) {
      Block& block = function_.blocks[at(b)];
      LocalCopies& copies = after[at(b)];
      const auto& predecessors = flow_.predecessors(b);
      if (b != 0 && predecessors.size() == 1) copies = after[at(predecessors.front())];
      for (int p = 0; p < static_cast<int>(block.code.size()); ++p) {
        Instruction& i = block.code[at(p)];
        const Site here{b, p};
        for_each_value(i, [&](Value& value) { changed_ |= propagate(value, here, copies); });
        for_each_predicate(i, [&](Predicate& predicate) { changed_ |= propagate(predicate, here); });
        for (int steps = 0; steps < 16 && fold(i, here, facts_); ++steps) changed_ = true;
        if (i.is_move() && copies.holds(i.d, i.b) && i.b != Value::reg(i.d)) {
          i.b = Value::reg(i.d);  // it has that value already
          changed_ = true;
        }
        copies.after(i);
      }
      if (block.end.kind == End::Kind::Branch)
        changed_ |= propagate(block.end.condition, {b, static_cast<int>(block.code.size())});
    }
    return changed_;
  }

 private:
  bool propagate(Value& value, Site here, const LocalCopies& copies) {
    bool changed = false;
    while (value.is_register()) {
      if (const Value* copy = copies.find(value.index())) {
        value = *copy;
        changed = true;
        continue;
      }
      const Instruction* source = facts_.source(value);
      if (source == nullptr || !source->is_move() || source->b == value) break;
      if (!facts_.available(source->b, facts_.site(value), here)) break;
      value = source->b;
      changed = true;
    }
    return changed;
  }

  bool propagate(Predicate& predicate, Site here) {
    bool changed = false;
    while (const Instruction* source = facts_.source(predicate)) {
      if (!source->is_predicate_move() || source->pa.index == predicate.index) break;
      if (!facts_.available(source->pa, definitions_.predicates[at(predicate.index)].site, here)) break;
      predicate = predicate.negated ? !source->pa : source->pa;
      changed = true;
    }
    return changed;
  }

  Function& function_;
  Flow flow_;
  Definitions definitions_;
  Facts facts_;
  bool changed_ = false;
};

// t = ...; d = t: the result goes to d at once, when nothing in between reads or writes d and nothing else
// reads t.
bool write_targets_directly(Function& function) {
  const Definitions definitions(function);
  bool changed = false;
  for (Block& block : function.blocks) {
    for (std::size_t q = 0; q < block.code.size(); ++q) {
      Instruction& move = block.code[q];
      if (!move.is_move() || !move.b.is_register() || move.b == Value::reg(move.d)) continue;
      const Value temporary = move.b;
      if (definitions.registers[temporary.number].count != 1 || definitions.uses[temporary.number] != 1)
        continue;
      for (std::size_t p = q; p-- > 0;) {
        Instruction& maker = block.code[p];
        if (maker.d == temporary.index()) {
          maker.d = move.d;
          move.b = Value::reg(move.d);  // dead now
          changed = true;
          break;
        }
        bool touches = maker.d == move.d;
        for_each_value(maker, [&](const Value& value) { touches |= value == Value::reg(move.d); });
        if (touches) break;
      }
    }
  }
  return changed;
}

}  // namespace

bool simplify(Function& function) {
  const bool changed = Simplifier(function).run();
  return write_targets_directly(function) || changed;
}

bool share_common_values(Function& function) {
  const Flow flow(function);
  const Definitions definitions(function);
  using Key = std::tuple<isa::Op, Value, Value, Value, Predicate, Predicate, Form>;
  std::map<Key, std::vector<Site>> known;
  const auto stable = [&](const Value& value) {
    return !value.is_register() || definitions.registers[value.number].count == 1;
  };
  const auto stable_predicate = [&](const Predicate& predicate) {
    return predicate.fixed() || definitions.predicates[at(predicate.index)].count == 1;
  };
  bool changed = false;
  for (const int b : flow.reverse_post_order()) {
    Block& block = function.blocks[at(b)];
    for (int p = 0; p < static_cast<int>(block.code.size()); ++p) {
      Instruction& i = block.code[at(p)];
      if (i.guarded() || i.has_effect() || i.reads_state() || i.is_move() || i.is_predicate_move()) continue;
      bool usable = i.d != none ? stable(Value::reg(i.d)) : stable_predicate({i.pd, false});
      for_each_value(i, [&](const Value& value) { usable &= stable(value); });
      for_each_predicate(i, [&](const Predicate& predicate) { usable &= stable_predicate(predicate); });
      if (!usable) continue;
      std::vector<Site>& sites = known[Key{i.op, i.a, i.b, i.c, i.pa, i.pb, i.form}];
      const Instruction* same = nullptr;
      for (const Site& site : sites)
        if (flow.dominates(site, {b, p})) same = &function.blocks[at(site.block)].code[at(site.position)];
      if (same == nullptr) {
        if (sites.size() < 16) sites.push_back({b, p});
        continue;
      }
      Instruction copy;
      copy.line = i.line;
      if (i.d != none) {
        copy.d = i.d;
        copy.b = Value::reg(same->d);
      } else {
        copy.op = isa::Op::PlopAnd;
        copy.pd = i.pd;
        copy.pa = {same->pd, false};
        copy.pb = always;
      }
      i = copy;
      changed = true;
    }
  }
  return changed;
}

void optimise(Function& function) {
  clean_control_flow(function);
  // Every round removes or shortens something; the bound only guards against rules that undo each other.
  for (int round = 0; round < 30; ++round) {
    bool changed = simplify(function);
    changed |= share_common_values(function);
    changed |= eliminate_dead_code(function);
    changed |= clean_control_flow(function);
    if (!changed) break;
  }
  if (combine(function)) eliminate_dead_code(function);
}

}  // namespace qwengpu::ptx::ir

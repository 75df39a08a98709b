#include "ptx/flow.h"

#include <algorithm>

namespace qwengpu::ptx::ir {

std::vector<int> Block::successors() const {
  switch (end.kind) {
    case End::Kind::Exit:
      return {};
    case End::Kind::Jump:
      return {end.next};
    case End::Kind::Branch:
      return {end.next, end.taken};
  }
  return {};
}

Flow::Flow(const Function& function) {
  predecessors_.resize(function.blocks.size());
  loops_.resize(function.blocks.size());
  find_order(function);
  for (const int block : order_)
    for (const int successor : function.blocks[at(block)].successors())
      predecessors_[at(successor)].push_back(block);
  find_dominators();
  number_dominator_tree();
  find_loops();
}

void Flow::find_order(const Function& function) {
  rank_.assign(function.blocks.size(), -1);
  std::vector<char> seen(function.blocks.size());
  struct Visit {
    int block;
    std::vector<int> successors;
  };
  std::vector<Visit> stack;  // an explicit one: a kernel may be one long chain of blocks
  const auto enter = [&](int block) {
    seen[at(block)] = 1;
    stack.push_back({block, function.blocks[at(block)].successors()});
  };
  enter(0);
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.successors.empty()) {
      order_.push_back(top.block);
      stack.pop_back();
      continue;
    }
    const int next = top.successors.back();
    top.successors.pop_back();
    if (!seen[at(next)]) enter(next);
  }
  std::reverse(order_.begin(), order_.end());
  for (std::size_t i = 0; i < order_.size(); ++i) rank_[at(order_[i])] = static_cast<int>(i);
}

// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm".
void Flow::find_dominators() {
  dominator_.assign(predecessors_.size(), none);
  dominator_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const int block : order_) {
      if (block == 0) continue;
      int best = none;
      for (const int predecessor : predecessors_[at(block)])
        if (dominator_[at(predecessor)] != none)
          best = best == none ? predecessor : common_dominator(best, predecessor);
      if (dominator_[at(block)] != best) {
        dominator_[at(block)] = best;
        changed = true;
      }
    }
  }
}

int Flow::common_dominator(int a, int b) const {
  while (a != b) {
    while (rank_[at(a)] > rank_[at(b)]) a = dominator_[at(a)];
    while (rank_[at(b)] > rank_[at(a)]) b = dominator_[at(b)];
  }
  return a;
}

bool Flow::dominates(int a, int b) const {
  if (!reachable(a) || !reachable(b)) return false;
  return enter_[at(a)] <= enter_[at(b)] && leave_[at(b)] <= leave_[at(a)];
}

void Flow::number_dominator_tree() {
  std::vector<std::vector<int>> children(dominator_.size());
  for (const int block : order_)
    if (block != 0) children[at(dominator_[at(block)])].push_back(block);
  enter_.assign(dominator_.size(), 0);
  leave_.assign(dominator_.size(), 0);
  int time = 0;
  std::vector<int> stack{0};
  while (!stack.empty()) {
    const int block = stack.back();
    if (enter_[at(block)] == 0) {
      enter_[at(block)] = ++time;
      stack.insert(stack.end(), children[at(block)].begin(), children[at(block)].end());
    } else {
      stack.pop_back();
      if (leave_[at(block)] == 0) leave_[at(block)] = ++time;
    }
  }
}

bool Flow::dominates(Site a, Site b) const {
  return a.block == b.block ? a.position < b.position : dominates(a.block, b.block);
}

// Natural loops: everything that reaches the back edge without passing the header. Inner headers have a
// higher rank.
void Flow::find_loops() {
  for (auto header = order_.rbegin(); header != order_.rend(); ++header) {
    std::vector<int> work;
    std::vector<char> member(predecessors_.size());
    for (const int predecessor : predecessors_[at(*header)])
      if (dominates(*header, predecessor)) work.push_back(predecessor);
    if (work.empty()) continue;
    member[at(*header)] = 1;
    while (!work.empty()) {
      const int block = work.back();
      work.pop_back();
      if (member[at(block)]) continue;
      member[at(block)] = 1;
      for (const int predecessor : predecessors_[at(block)]) work.push_back(predecessor);
    }
    for (const int block : order_)
      if (member[at(block)]) loops_[at(block)].push_back(*header);
  }
}

Definitions::Definitions(const Function& function)
    : registers(static_cast<std::size_t>(function.registers)),
      predicates(static_cast<std::size_t>(function.predicates)),
      uses(static_cast<std::size_t>(function.registers)) {
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    if (block.removed) continue;
    for (std::size_t p = 0; p < block.code.size(); ++p) {
      const Instruction& i = block.code[p];
      const int count = i.guarded() ? 2 : 1;
      const Site site{static_cast<int>(b), static_cast<int>(p)};
      if (i.d != none) {
        registers[static_cast<std::size_t>(i.d)].count += count;
        registers[static_cast<std::size_t>(i.d)].site = site;
      }
      if (i.pd != none) {
        predicates[static_cast<std::size_t>(i.pd)].count += count;
        predicates[static_cast<std::size_t>(i.pd)].site = site;
      }
      for_each_value(i, [&](const Value& value) {
        if (value.is_register()) ++uses[value.number];
      });
    }
  }
}

namespace {
const Instruction* find(const Function& function, const Definitions::Entry& entry) {
  if (entry.count != 1) return nullptr;
  return &function.blocks[static_cast<std::size_t>(entry.site.block)]
              .code[static_cast<std::size_t>(entry.site.position)];
}
}  // namespace

const Instruction* Definitions::single(const Function& function, int reg) const {
  return find(function, registers[static_cast<std::size_t>(reg)]);
}
const Instruction* Definitions::single_predicate(const Function& function, int predicate) const {
  return find(function, predicates[static_cast<std::size_t>(predicate)]);
}

}  // namespace qwengpu::ptx::ir

// What the control flow of a function says: order, dominators, loops; and where registers are written.
#pragma once

#include <vector>

#include "ptx/ir.h"

namespace qwengpu::ptx::ir {

struct Site {
  int block = none;
  int position = 0;
};

class Flow {
 public:
  explicit Flow(const Function& function);
  const std::vector<int>& reverse_post_order() const { return order_; }
  const std::vector<int>& predecessors(int block) const { return predecessors_[at(block)]; }
  bool reachable(int block) const { return rank_[at(block)] >= 0; }
  int immediate_dominator(int block) const { return dominator_[at(block)]; }
  bool dominates(int a, int b) const;
  bool dominates(Site a, Site b) const;  // strictly, within a block
  int common_dominator(int a, int b) const;
  // Loops that contain the block; the innermost one's header first. Empty outside of loops.
  const std::vector<int>& loops(int block) const { return loops_[at(block)]; }
  int depth(int block) const { return static_cast<int>(loops(block).size()); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void find_order(const Function& function);
  void find_dominators();
  void number_dominator_tree();
  void find_loops();

  std::vector<int> order_, rank_, dominator_;
  std::vector<int> enter_, leave_;  // of the dominator tree: a dominates b when b's interval lies in a's
  std::vector<std::vector<int>> predecessors_, loops_;
};

// Where registers and predicates are written. A guarded write keeps the old value for some lanes, so it makes
// a register "not single".
struct Definitions {
  struct Entry {
    int count = 0;
    Site site;
  };
  explicit Definitions(const Function& function);
  const Instruction* single(const Function& function, int reg) const;
  const Instruction* single_predicate(const Function& function, int predicate) const;

  std::vector<Entry> registers, predicates;
  std::vector<int> uses;  // of registers
};

}  // namespace qwengpu::ptx::ir

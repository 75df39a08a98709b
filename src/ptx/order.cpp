#include <algorithm>

#include "ptx/flow.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Order {
 public:
  explicit Order(Function& function) : function_(function), flow_(function) {}

  void run() {
    const auto& order = flow_.reverse_post_order();
    waiting_.assign(function_.blocks.size(), 0);
    placed_.assign(function_.blocks.size(), 0);
    unplaced_in_loop_.assign(function_.blocks.size(), 0);
    for (const int b : order) {
      for (const int header : flow_.loops(b)) ++unplaced_in_loop_[at(header)];
      for (const int predecessor : flow_.predecessors(b))
        if (!flow_.dominates(b, predecessor)) ++waiting_[at(b)];
    }
    ready_.push_back(0);
    int last = none;
    while (function_.layout.size() < order.size()) {
      last = choose(last);
      place(last);
    }
  }

 private:
  // The innermost loop that is not finished must be finished first.
  int open_loop(int last) const {
    if (last == none) return none;
    for (const int header : flow_.loops(last))
      if (unplaced_in_loop_[at(header)] > 0) return header;
    return none;
  }
  bool inside(int block, int header) const {
    const auto& loops = flow_.loops(block);
    return header == none || std::find(loops.begin(), loops.end(), header) != loops.end();
  }

  // A block whose forward predecessors all stand already; of those the one that became ready last, so that
  // both ways of a branch come before what follows them, and the way that falls through comes first.
  int choose(int last) const {
    const int header = open_loop(last);
    for (auto block = ready_.rbegin(); block != ready_.rend(); ++block)
      if (inside(*block, header)) return *block;
    // Only in irreducible control flow: any block of the loop that is missing.
    for (const int block : flow_.reverse_post_order())
      if (!placed_[at(block)] && inside(block, header)) return block;
    return none;
  }

  void place(int block) {
    function_.layout.push_back(block);
    placed_[at(block)] = 1;
    std::erase(ready_, block);
    for (const int header : flow_.loops(block)) --unplaced_in_loop_[at(header)];
    std::vector<int> successors = function_.blocks[at(block)].successors();
    // `next` last, so that it is chosen first. successors() gives it first.
    std::reverse(successors.begin(), successors.end());
    for (const int successor : successors) {
      if (placed_[at(successor)] || flow_.dominates(successor, block)) continue;
      if (--waiting_[at(successor)] <= 0 &&
          std::find(ready_.begin(), ready_.end(), successor) == ready_.end())
        ready_.push_back(successor);
    }
  }

  Function& function_;
  Flow flow_;
  std::vector<int> waiting_, unplaced_in_loop_, ready_;
  std::vector<char> placed_;
};

}  // namespace

void order_blocks(Function& function) {
  function.layout.clear();
  Order(function).run();
}

}  // namespace qwengpu::ptx::ir

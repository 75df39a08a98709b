// What has to be added for threads that wait for one another.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ptx/flow.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;
using isa::Unit;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Goes back from what decides whether the loop ends, through the loop, to what other threads write.
class WaitingLoop {
 public:
  WaitingLoop(const Function& function, const Flow& flow, int header)
      : function_(function), header_(header), member_(function.blocks.size()) {
    for (const int b : flow.reverse_post_order()) {
      const auto& loops = flow.loops(b);
      if (std::find(loops.begin(), loops.end(), header) == loops.end()) continue;
      member_[at(b)] = 1;
      blocks_.push_back(b);
    }
    for (const int b : blocks_)
      for (const Instruction& i : block(b).code) {
        if (i.d != none) writers_[i.d].push_back({b, &i});
        if (i.pd != none) predicate_writers_[i.pd].push_back({b, &i});
        if (i.info().unit == Unit::Put) puts_.push_back({b, &i});
        silent_ &= !i.has_effect() || i.is_load() || i.is_exit();
      }
  }

  bool waits_for_others() {
    for (const int b : blocks_) {
      const Block& here = block(b);
      for (const int successor : here.successors())
        if (!member_[at(successor)]) need_branch(b);
      for (const Instruction& i : here.code)
        if (i.is_exit()) {
          need(i.guard);
          need_reaching(b);
        }
    }
    while (!work_.empty() && !found_) {
      const Writer writer = work_.back();
      work_.pop_back();
      visit(writer);
    }
    return found_;
  }

 private:
  struct Writer {
    int block;
    const Instruction* instruction;
  };

  const Block& block(int b) const { return function_.blocks[at(b)]; }

  void visit(const Writer& writer) {
    const Instruction& i = *writer.instruction;
    found_ |= i.is_atomic() || i.is_volatile || (i.is_load() && silent_ && !is_written(i.a));
    for_each_value(i, [&](const Value& value) { need(value); });
    for_each_predicate(i, [&](const Predicate& predicate) { need(predicate); });
    need_reaching(writer.block);
    // What a lane reads, another one showed.
    if (i.info().unit == Unit::GetWord || i.info().unit == Unit::GetVote) add(puts_);
  }

  bool is_written(const Value& value) const {
    return value.is_register() && writers_.count(value.index()) != 0;
  }

  void add(std::vector<Writer>& writers) {
    work_.insert(work_.end(), writers.begin(), writers.end());
    writers.clear();
  }
  void need(const Value& value) {
    if (!value.is_register()) return;
    if (const auto found = writers_.find(value.index()); found != writers_.end()) add(found->second);
  }
  void need(const Predicate& predicate) {
    if (predicate.fixed()) return;
    if (const auto found = predicate_writers_.find(predicate.index); found != predicate_writers_.end())
      add(found->second);
  }

  void need_branch(int b) {
    if (block(b).end.kind == End::Kind::Branch) need(block(b).end.condition);
    need_reaching(b);
  }

  // The branches of the loop that decide whether a round comes to this block.
  void need_reaching(int target) {
    if (!reached_.insert(target).second) return;
    // Backwards from the block: what can lead to it. A branch there decides if it can also lead past it.
    std::vector<char> leads(function_.blocks.size()), past(function_.blocks.size());
    leads[at(target)] = 1;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = blocks_.rbegin(); b != blocks_.rend(); ++b) {
        if (*b == target) continue;
        const auto before = std::pair(leads[at(*b)], past[at(*b)]);
        for (const int successor : block(*b).successors()) {
          if (!member_[at(successor)] || successor == header_) {
            past[at(*b)] = 1;
          } else {
            leads[at(*b)] |= leads[at(successor)];
            past[at(*b)] |= static_cast<char>(successor != target && past[at(successor)]);
          }
        }
        changed |= before != std::pair(leads[at(*b)], past[at(*b)]);
      }
    }
    for (const int b : blocks_)
      if (leads[at(b)] && past[at(b)] && block(b).end.kind == End::Kind::Branch) need(block(b).end.condition);
  }

  const Function& function_;
  int header_;
  std::vector<char> member_;
  std::vector<int> blocks_;
  std::map<int, std::vector<Writer>> writers_,
      predicate_writers_;  // of registers; emptied when they are needed
  std::set<int> reached_;
  std::vector<Writer> puts_, work_;
  bool silent_ = true;  // nothing in the loop has an effect
  bool found_ = false;
};

Instruction plain(Op op, int line) {
  Instruction i;
  i.op = op;
  i.line = line;
  return i;
}

// The edges from a loop's end back to its header.
std::vector<std::pair<int, int>> back_edges(const Flow& flow, int header) {
  std::vector<std::pair<int, int>> edges;  // from, to
  for (const int from : flow.predecessors(header))
    if (flow.dominates(header, from) &&
        std::find(edges.begin(), edges.end(), std::pair(from, header)) == edges.end())
      edges.emplace_back(from, header);
  return edges;
}

void execute_on(Function& function, const std::vector<std::pair<int, int>>& edges, Op op) {
  for (const auto& [from, header] : edges) {
    const int line = function.blocks[at(from)].end.line;
    if (function.blocks[at(from)].end.kind == End::Kind::Jump) {
      function.blocks[at(from)].code.push_back(plain(op, line));
      continue;
    }
    Block between;
    between.code.push_back(plain(op, line));
    between.end = {End::Kind::Jump, {}, none, header, line};
    const int added = static_cast<int>(function.blocks.size());
    function.blocks.push_back(between);
    End& end = function.blocks[at(from)].end;
    if (end.taken == header) end.taken = added;
    if (end.next == header) end.next = added;
  }
}

// Calls visit(header) for every loop.
template <class Visit>
void for_each_loop(const Flow& flow, Visit visit) {
  for (const int header : flow.reverse_post_order()) {
    const auto& loops = flow.loops(header);
    if (!loops.empty() && loops.front() == header) visit(header);
  }
}

bool waits_for_warp(const Instruction& i) {
  return i.info().waits() && isa::wait_kind(i.info()) == isa::WaitKind::Warp;
}

}  // namespace

void yield_in_waiting_loops(Function& function) {
  const Flow flow(function);
  std::vector<std::pair<int, int>> edges;
  for_each_loop(flow, [&](int header) {
    if (!WaitingLoop(function, flow, header).waits_for_others()) return;
    const auto more = back_edges(flow, header);
    edges.insert(edges.end(), more.begin(), more.end());
  });
  execute_on(function, edges, Op::Yield);
}

void meet_before_next_round(Function& function) {
  const Flow flow(function);
  std::vector<std::pair<int, int>> edges;
  for_each_loop(flow, [&](int header) {
    const auto ends = back_edges(flow, header);
    // Does a lane come to every wait in every round?
    const auto some_pass_by = [&](int b, const Instruction& i) {
      return i.guarded() || std::any_of(ends.begin(), ends.end(),
                                        [&](const auto& end) { return !flow.dominates(b, end.first); });
    };
    for (const int b : flow.reverse_post_order()) {
      const auto& loops = flow.loops(b);
      if (std::find(loops.begin(), loops.end(), header) == loops.end()) continue;
      for (const Instruction& i : function.blocks[at(b)].code)
        if (waits_for_warp(i) && some_pass_by(b, i)) {
          edges.insert(edges.end(), ends.begin(), ends.end());
          return;
        }
    }
  });
  execute_on(function, edges, Op::Warpsync);
}

void take_votes_back(Function& function) {
  std::vector<char> voted(function.blocks.size());
  std::vector<int> work;
  for (std::size_t b = 0; b < function.blocks.size(); ++b)
    for (const Instruction& i : function.blocks[b].code)
      if (i.op == Op::VotePut && !voted[b]) {
        voted[b] = 1;
        work.push_back(static_cast<int>(b));
      }
  while (!work.empty()) {
    Block& block = function.blocks[at(work.back())];
    work.pop_back();
    for (const int successor : block.successors())
      if (!voted[at(successor)]) {
        voted[at(successor)] = 1;
        work.push_back(successor);
      }
    if (block.end.kind != End::Kind::Exit) continue;
    // SHFL.PUT shows a word and no vote.
    Instruction put = plain(Op::ShflPut, block.end.line);
    put.b = Value::imm(0);
    block.code.push_back(put);
  }
}

}  // namespace qwengpu::ptx::ir

#include <algorithm>

#include "ptx/flow.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool is_exit(const Block& block) { return block.code.empty() && block.end.kind == End::Kind::Exit; }

// Where a jump to the block really goes: through empty blocks that only jump on. An empty endless loop stays
// as it is.
int final_target(const Function& function, int start) {
  int block = start;
  for (std::size_t steps = 0; steps <= function.blocks.size(); ++steps) {
    const Block& b = function.blocks[at(block)];
    if (!b.code.empty() || b.end.kind != End::Kind::Jump) return block;
    block = b.end.next;
  }
  return start;
}

bool simplify_end(Function& function, Block& block) {
  bool changed = false;
  End& end = block.end;
  const auto follow = [&](int& target) {
    const int further = final_target(function, target);
    changed |= further != target;
    target = further;
  };
  if (end.kind != End::Kind::Exit) follow(end.next);
  if (end.kind == End::Kind::Branch) follow(end.taken);
  if (end.kind == End::Kind::Branch && end.condition.fixed()) {
    end = {End::Kind::Jump, {}, none, end.condition.negated ? end.next : end.taken, end.line};
    changed = true;
  }
  if (end.kind == End::Kind::Branch && end.taken == end.next) {
    end.kind = End::Kind::Jump;
    changed = true;
  }
  if (end.kind == End::Kind::Branch) {
    // One way ends at once: a guarded EXIT, and the other way goes on.
    for (const bool on_taken : {true, false}) {
      if (!is_exit(function.blocks[at(on_taken ? end.taken : end.next)])) continue;
      Instruction exit;
      exit.op = isa::Op::Exit;
      exit.guard = on_taken ? end.condition : !end.condition;
      exit.line = end.line;
      block.code.push_back(exit);
      end = {End::Kind::Jump, {}, none, on_taken ? end.next : end.taken, end.line};
      changed = true;
      break;
    }
  }
  if (end.kind == End::Kind::Jump && is_exit(function.blocks[at(end.next)])) {
    end = {End::Kind::Exit, {}, none, none, function.blocks[at(end.next)].end.line};
    changed = true;
  }
  return changed;
}

// if (p) x; with one instruction x: the guard costs no more than the branch, and x is not jumped over by all.
bool predicate_block(Function& function, const Flow& flow, Block& block) {
  End& end = block.end;
  if (end.kind != End::Kind::Branch) return false;
  for (const bool on_taken : {true, false}) {
    const int inside = on_taken ? end.taken : end.next, after = on_taken ? end.next : end.taken;
    const Block& body = function.blocks[at(inside)];
    if (body.end.kind != End::Kind::Jump || body.end.next != after || body.code.size() != 1) continue;
    if (flow.predecessors(inside).size() != 1 || body.code[0].guarded()) continue;
    Instruction instruction = body.code[0];
    instruction.guard = on_taken ? end.condition : !end.condition;
    block.code.push_back(instruction);
    end = {End::Kind::Jump, {}, none, after, end.line};
    return true;
  }
  return false;
}

}  // namespace

bool clean_control_flow(Function& function) {
  bool changed = false;
  for (bool again = true; again;) {
    again = false;
    for (Block& block : function.blocks)
      if (!block.removed) again |= simplify_end(function, block);
    const Flow flow(function);
    for (std::size_t b = 0; b < function.blocks.size(); ++b) {
      Block& block = function.blocks[b];
      if (!flow.reachable(static_cast<int>(b))) {
        block.code.clear();
        block.end = {};
        block.removed = true;
      }
    }
    for (const int b : flow.reverse_post_order())
      again |= predicate_block(function, flow, function.blocks[at(b)]);
    if (!again) {
      // Chains: backwards, so that a long one is joined piece by piece in one go.
      const auto& order = flow.reverse_post_order();
      for (auto b = order.rbegin(); b != order.rend(); ++b) {
        Block& block = function.blocks[at(*b)];
        const int next = block.end.next;
        if (block.end.kind != End::Kind::Jump || next == *b || next == 0 ||
            flow.predecessors(next).size() != 1)
          continue;
        Block& tail = function.blocks[at(next)];
        block.code.insert(block.code.end(), tail.code.begin(), tail.code.end());
        block.end = tail.end;
        tail.code.clear();
        tail.end = {};
        tail.removed = true;
        again = true;
      }
    }
    changed |= again;
  }
  return changed;
}

}  // namespace qwengpu::ptx::ir

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isa/parameters.h"
#include "ptx/diagnostics.h"
#include "ptx/flow.h"
#include "ptx/interference.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;
using isa::Parameters;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Instruction reload(int predicate, int reg, int line) {
  Instruction i;
  i.op = Op::SetpNe;
  i.pd = predicate;
  i.a = Value::reg(reg);
  i.b = Value::imm(0);
  i.line = line;
  return i;
}

Instruction save(int predicate, int reg, int line) {
  Instruction i;
  i.op = Op::Sel;
  i.d = reg;
  i.pa = {predicate, true};
  i.a = Value::imm(0);
  i.b = Value::imm(1);
  i.line = line;
  return i;
}

// Keeps a predicate in a register, as 0 or 1, and brings it into one of its own wherever it is read.
void spill(Function& function, int victim, std::set<int>& temporaries) {
  const int reg = function.new_register();
  for (Block& block : function.blocks) {
    std::vector<Instruction> code;
    for (Instruction i : block.code) {
      const bool writes = i.pd == victim;
      bool reads = writes && i.guarded();
      for_each_predicate(i, [&](const Predicate& p) { reads |= p.index == victim; });
      if (reads || writes) {
        const int temporary = function.new_predicate();
        temporaries.insert(temporary);
        if (reads) code.push_back(reload(temporary, reg, i.line));
        for_each_predicate(i, [&](Predicate& p) {
          if (p.index == victim) p.index = temporary;
        });
        if (writes) i.pd = temporary;
        code.push_back(i);
        if (writes) code.push_back(save(temporary, reg, i.line));
      } else {
        code.push_back(i);
      }
    }
    if (block.end.kind == End::Kind::Branch && block.end.condition.index == victim) {
      const int temporary = function.new_predicate();
      temporaries.insert(temporary);
      code.push_back(reload(temporary, reg, block.end.line));
      block.end.condition.index = temporary;
    }
    block.code = std::move(code);
  }
}

// The one that is in the way of most others and is used least.
int choose_victim(const Function& function, const Colouring& colouring, const std::set<int>& temporaries) {
  const Flow flow(function);
  std::vector<double> cost(at(function.predicates));
  for (const int b : flow.reverse_post_order()) {
    double weight = 1;
    for (int depth = 0; depth < std::min(flow.depth(b), 6); ++depth) weight *= 8;
    const Block& block = function.blocks[at(b)];
    for (const Instruction& i : block.code) {
      PredicateOperands::uses(i, [&](int p) { cost[at(p)] += weight; });
      if (i.pd != none) cost[at(i.pd)] += weight;
    }
    PredicateOperands::end_uses(block.end, [&](int p) { cost[at(p)] += weight; });
  }
  int best = none;
  for (int p = 0; p < static_cast<int>(colouring.colour.size()); ++p) {
    if (colouring.colour[at(p)] == none || temporaries.count(p) != 0) continue;
    const auto gain = [&](int q) { return colouring.degree[at(q)] / cost[at(q)]; };
    if (best == none || gain(p) > gain(best)) best = p;
  }
  return best;
}

Colouring allocate_predicates(Function& function, const std::string& kernel) {
  std::set<int> temporaries;
  for (;;) {
    Colouring colouring = colour<PredicateOperands>(function);
    if (colouring.colours <= Parameters::predicates) return colouring;
    const int victim = choose_victim(function, colouring, temporaries);
    if (victim == none)
      throw TooLarge(
          fmt::format("kernel {} needs more than {} predicates at once", kernel, Parameters::predicates));
    spill(function, victim, temporaries);
  }
}

}  // namespace

Allocation allocate(Function& function, const std::string& kernel) {
  std::size_t instructions = 0;
  for (const Block& block : function.blocks) instructions += block.code.size();
  // Copies may still fall away, but not most of a kernel.
  if (instructions > 4 * static_cast<std::size_t>(Parameters::instructions))
    throw TooLarge(fmt::format("kernel {} has more than {} instructions", kernel, Parameters::instructions));

  const Colouring predicates = allocate_predicates(function, kernel);
  const Colouring registers = colour<RegisterOperands>(function);
  if (registers.colours > Parameters::max_registers)
    throw TooLarge(fmt::format("kernel {} needs {} registers; a thread has {}", kernel, registers.colours,
                               Parameters::max_registers));
  for (Block& block : function.blocks) {
    for (Instruction& i : block.code) {
      for_each_value(i, [&](Value& value) {
        if (value.is_register()) value = Value::reg(registers.colour[value.number]);
      });
      for_each_predicate(i, [&](Predicate& p) {
        if (!p.fixed()) p.index = predicates.colour[at(p.index)];
      });
      if (i.d != none) i.d = registers.colour[at(i.d)];
      if (i.pd != none) i.pd = predicates.colour[at(i.pd)];
    }
    if (block.end.kind == End::Kind::Branch && !block.end.condition.fixed())
      block.end.condition.index = predicates.colour[at(block.end.condition.index)];
  }
  function.registers = registers.colours;
  function.predicates = predicates.colours;
  return {registers.colours, predicates.colours};
}

}  // namespace qwengpu::ptx::ir

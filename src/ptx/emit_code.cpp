#include <fmt/format.h>

#include <utility>

#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

isa::PredicateOperand machine_predicate(const Predicate& predicate) {
  return {predicate.fixed() ? isa::pt : predicate.index, predicate.negated};
}

int machine_register(const Value& value) { return value.is_register() ? value.index() : isa::rz; }

isa::Instruction machine_instruction(const Instruction& i) {
  isa::Instruction result;
  const isa::OpInfo& info = i.info();
  result.op = i.op;
  result.guard = machine_predicate(i.guard);
  if (info.writes_register()) result.rd = i.d;
  if (info.writes_predicate()) result.pd = i.pd;
  if (info.has('q')) result.pa = machine_predicate(i.pa);
  if (info.has('r')) result.pb = machine_predicate(i.pb);
  if (info.reads_a()) result.ra = machine_register(i.a);
  if (info.reads_c()) result.rc = machine_register(i.c);
  result.rounding = i.form.rounding;
  result.flush = i.form.flush;
  result.saturate = i.form.saturate;
  result.negate_a = i.form.negate_a;
  result.negate_b = i.form.negate_b;
  result.negate_c = i.form.negate_c;
  result.absolute_a = i.form.absolute_a;
  result.absolute_b = i.form.absolute_b;
  result.table = static_cast<int>(i.form.table);
  if (info.has('m')) {
    result.immediate = i.offset;
    if (info.reads_b()) result.rb = machine_register(i.b);
  } else if (info.reads_b()) {
    switch (i.b.kind) {
      case Value::Kind::None:
      case Value::Kind::Register:
        result.rb = machine_register(i.b);
        break;
      case Value::Kind::Immediate:
        result.b_source = isa::BSource::Immediate;
        break;
      case Value::Kind::Constant:
        result.b_source = isa::BSource::Constant;
        break;
      case Value::Kind::Special:
        result.b_source = isa::BSource::Special;
        break;
    }
    if (!i.b.is_register()) result.immediate = i.b.number;
  }
  return result;
}

// A copy of a register to itself is left where the allocator gave both ends one register.
bool is_idle(const Instruction& i) {
  if (i.op == Op::Mov && i.b == Value::reg(i.d)) return true;
  return i.op == Op::PlopAnd && i.pb == always && i.pa == Predicate{i.pd, false};
}

isa::Instruction branch(Predicate condition, int block) {
  isa::Instruction result;
  result.op = Op::Bra;
  result.guard = machine_predicate(condition);
  result.target = block;  // becomes the instruction number when all blocks are placed
  return result;
}

}  // namespace

Code emit_code(const Function& function) {
  Code code;
  std::vector<int> first(function.blocks.size());
  const auto append = [&](const isa::Instruction& instruction, int line) {
    code.instructions.push_back(instruction);
    code.lines.push_back(function.lines[at(line)]);
  };
  for (std::size_t n = 0; n < function.layout.size(); ++n) {
    const Block& block = function.blocks[at(function.layout[n])];
    const int following = n + 1 < function.layout.size() ? function.layout[n + 1] : none;
    first[at(function.layout[n])] = static_cast<int>(code.instructions.size());
    for (const Instruction& i : block.code)
      if (!is_idle(i)) append(machine_instruction(i), i.line);
    const End& end = block.end;
    const auto last_of_block = [&]() -> isa::Instruction* {
      const bool empty = static_cast<int>(code.instructions.size()) == first[at(function.layout[n])];
      return empty ? nullptr : &code.instructions.back();
    };
    switch (end.kind) {
      case End::Kind::Exit: {
        isa::Instruction exit;
        exit.op = Op::Exit;
        append(exit, end.line);
        break;
      }
      case End::Kind::Jump:
        if (end.next == following) break;
        // @P EXIT; BRA t; is better the other way round: only one of the two is executed by lanes that go on.
        if (isa::Instruction* last = last_of_block();
            last != nullptr && last->op == Op::Exit && last->guard.index != isa::pt) {
          isa::Instruction exit = std::exchange(*last, branch(always, end.next));
          last->guard = {exit.guard.index, !exit.guard.negated};
          exit.guard = {};
          append(exit, end.line);
        } else {
          append(branch(always, end.next), end.line);
        }
        break;
      case End::Kind::Branch:
        if (end.taken == following) {
          append(branch(!end.condition, end.next), end.line);
        } else {
          append(branch(end.condition, end.taken), end.line);
          if (end.next != following) append(branch(always, end.next), end.line);
        }
        break;
    }
  }
  for (isa::Instruction& i : code.instructions)
    if (i.op == Op::Bra) i.target = first[at(i.target)];
  return code;
}

namespace {

std::string text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::Register:
      return fmt::format("v{}", value.number);
    case Value::Kind::Immediate:
      return fmt::format("{:#x}", value.number);
    case Value::Kind::Constant:
      return fmt::format("c[{:#x}]", value.number);
    case Value::Kind::Special:
      return std::string(isa::special_table[value.number].spelling);
    default:
      return "-";
  }
}

std::string text(const Predicate& p) {
  return (p.negated ? "!" : "") + (p.fixed() ? std::string("true") : fmt::format("p{}", p.index));
}

}  // namespace

std::string to_text(const Function& function) {
  std::string result;
  for (std::size_t b = 0; b < function.blocks.size(); ++b) {
    const Block& block = function.blocks[b];
    if (block.removed) continue;
    result += fmt::format("block {}\n", b);
    for (const Instruction& i : block.code) {
      result += "  ";
      if (i.guarded()) result += "@" + text(i.guard) + " ";
      result += i.info().mnemonic;
      if (i.d != none) result += fmt::format(" v{}", i.d);
      if (i.pd != none) result += fmt::format(" p{}", i.pd);
      if (i.info().has('q')) result += " " + text(i.pa);
      if (i.info().has('r')) result += " " + text(i.pb);
      for_each_value(i, [&](const Value& value) { result += " " + text(value); });
      if (i.info().has('m')) result += fmt::format(" +{:#x}", i.offset);
      result += "\n";
    }
    switch (block.end.kind) {
      case End::Kind::Exit:
        result += "  exit\n";
        break;
      case End::Kind::Jump:
        result += fmt::format("  jump {}\n", block.end.next);
        break;
      case End::Kind::Branch:
        result +=
            fmt::format("  if {} {} else {}\n", text(block.end.condition), block.end.taken, block.end.next);
        break;
    }
  }
  return result;
}

}  // namespace qwengpu::ptx::ir

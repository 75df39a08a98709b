// Barriers of the block (PTX ISA 9.7.13.1 to 9.7.13.4).
#include <fmt/format.h>

#include "isa/request.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Predicate;
using ir::Value;
using isa::Op;
using Place = ir::Emitter::Place;
using syntax::Instruction;
using syntax::Operand;

constexpr Type u32{'u', 32};

// The forms are  bar.sync a{, b};  bar.arrive a, b;  bar.red.popc.u32 d, a{, b}, {!}c;  bar.red.op.pred p,
// a{, b}, {!}c.
struct Form {
  std::string action;
  std::size_t first = 0;  // operand a
  bool counted = false;
};

Form form_of(const Instruction& i) {
  Form form;
  form.action = "sync";
  for (const std::string& modifier : i.modifiers)
    if (modifier == "arrive" || modifier == "red" || modifier == "warp") form.action = modifier;
  form.first = form.action == "red" ? 1 : 0;
  form.counted = i.operands.size() > form.first + (form.action == "red" ? 2u : 1u);
  return form;
}

// The line of a barrier in the table.
Place line_of(Lowering& l, const Operand& number) {
  const std::uint32_t bytes = 16;
  const Value id = l.read(number, u32);
  if (!id.is_immediate()) return {l.emit().op(Op::Shl, id, Value::imm(4)), l.named_barriers()};
  if (id.number >= isa::request::barriers)
    l.fail(fmt::format("barrier {}; there are {}", id.number, isa::request::barriers));
  return {Value::imm(0), l.named_barriers() + bytes * id.number};
}

Value expected(Lowering& l, const Form& form) {
  return form.counted ? l.read(l.operand(form.first + 1), u32) : l.block_threads();
}

void arrive(Lowering& l, Place line, Value threads) {
  l.emit().store(Op::St, line + isa::request::barrier_expected, threads);
  l.emit().store(Op::RedAdd, line + isa::request::barrier_arrived, Value::imm(1));
}

void synchronise(Lowering& l, const Form& form) {
  ir::Emitter& e = l.emit();
  if (l.named_barriers() == 0) return e.wait(Op::Bar);
  // Nothing passes the barrier before this thread waits.
  const Place line = line_of(l, l.operand(form.first)), passed = line + isa::request::barrier_passed;
  const Value before = e.load(Op::Ld, passed);
  arrive(l, line, expected(l, form));
  const int waiting = e.new_block(), done = e.new_block();
  e.jump(waiting);
  e.start(waiting);
  e.wait(Op::BarNamed);
  e.branch(e.compare(Op::SetpEq, e.load(Op::Ld, passed), before), waiting, done);
  e.start(done);
}

// The threads count in memory, between two barriers. Then each takes away what it added.
void reduce(Lowering& l, const Form& form, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const std::string op = m.take_any({"popc", "and", "or"});
  if (op.empty()) l.fail("no operation");
  l.type(m);
  const Operand& id = l.operand(form.first);
  if (id.kind != Operand::Kind::Integer)
    Lowering::reject("with a barrier that is not a constant not supported");
  const Predicate c = l.read_predicate(l.operand(form.first + (form.counted ? 2 : 1)));
  const Value own = e.select(op == "and" ? !c : c, Value::imm(1), Value::imm(0));
  const Place count{Value::imm(0), l.barrier_count(static_cast<std::uint32_t>(id.value))};
  e.store(Op::RedAdd, count, own);
  synchronise(l, form);
  const Value sum = e.load(Op::Ld, count);
  synchronise(l, form);
  e.store(Op::RedAdd, count, e.op(Op::Isub, Value::imm(0), own));
  if (op == "popc") return l.write(l.operand(0), u32, sum);
  const Predicate some = e.compare(Op::SetpNe, sum, Value::imm(0));
  l.write_predicate(l.operand(0), op == "and" ? !some : some);
}

void bar(Lowering& l, const Instruction& i, Modifiers& m) {
  m.take("cta");
  m.take("aligned");
  const Form form = form_of(i);
  if (!m.take(form.action)) l.fail(".sync, .arrive or .red is missing");
  if (form.action == "warp") {
    m.take("sync");
    return l.emit().wait(Op::Warpsync);
  }
  if (form.action == "red") return reduce(l, form, m);
  if (form.action == "sync") return synchronise(l, form);
  if (!form.counted) l.fail("the number of threads is missing");
  arrive(l, line_of(l, l.operand(0)), expected(l, form));
}

// barrier.cluster.arrive and .wait: a cluster of one block.
void barrier(Lowering& l, const Instruction& i, Modifiers& m) {
  if (m.take("cluster")) Lowering::reject("clusters not supported");
  bar(l, i, m);
}

// Time is what other threads get.
void nanosleep(Lowering& l, const Instruction&, Modifiers& m) {
  l.type(m);
  l.emit().wait(Op::Yield);
}

}  // namespace

BarrierUse barrier_use(const Instruction& i) {
  BarrierUse use;
  if ((i.opcode != "bar" && i.opcode != "barrier")) return use;
  const Form form = form_of(i);
  if (form.action == "warp" || i.operands.size() <= form.first) return use;
  const Operand& number = i.operands[form.first];
  const bool plain = number.kind == Operand::Kind::Integer && number.value == 0 && !form.counted;
  use.named = !plain || form.action == "arrive";
  if (form.action == "red" && number.kind == Operand::Kind::Integer)
    use.counts = static_cast<std::uint32_t>(number.value);
  return use;
}

const HandlerTable& barrier_handlers() {
  static const HandlerTable table = {{"bar", bar}, {"barrier", barrier}, {"nanosleep", nanosleep}};
  return table;
}

}  // namespace qwengpu::ptx

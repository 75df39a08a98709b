#include "ptx/emitter.h"

#include "isa/parameters.h"
#include "ptx/diagnostics.h"

namespace qwengpu::ptx::ir {

using isa::Op;

namespace {
// Far above what fits the instruction memory, even when most of it turns out to be dead; it bounds the time
// of the passes.
constexpr int most_instructions = 16 * isa::Parameters::instructions;
}  // namespace

void Emitter::append(Instruction instruction) {
  if (++appended_ > most_instructions)
    throw TooLarge("the kernel does not fit the instruction memory by far");
  instruction.line = line;
  function_.blocks[static_cast<std::size_t>(block_)].code.push_back(instruction);
}

Value Emitter::op(Op op, Value a, Value b, Value c) {
  Instruction i;
  i.op = op;
  i.d = function_.new_register();
  i.a = a;
  i.b = b;
  i.c = c;
  append(i);
  return Value::reg(i.d);
}

namespace {
Instruction with_sources(Op op, const Source& a, const Source& b, const Source& c, const Form& form) {
  Instruction i;
  i.op = op;
  i.a = a.value;
  i.b = b.value;
  i.c = c.value;
  i.form = form;
  i.form.negate_a = a.negated;
  i.form.negate_b = b.negated;
  i.form.negate_c = c.negated;
  i.form.absolute_a = a.absolute;
  i.form.absolute_b = b.absolute;
  return i;
}
}  // namespace

Value Emitter::op(Op op, Source a, Source b, Source c, const Form& form) {
  const int d = function_.new_register();
  op_to(d, op, a, b, c, form);
  return Value::reg(d);
}

void Emitter::op_to(int d, Op op, Source a, Source b, Source c, const Form& form, Predicate guard) {
  Instruction i = with_sources(op, a, b, c, form);
  i.d = d;
  i.guard = guard;
  append(i);
}

Predicate Emitter::compare(Op op, Source a, Source b, const Form& form) {
  const int p = function_.new_predicate();
  compare_to(p, op, a, b, always, form);
  return {p, false};
}

void Emitter::compare_to(int p, Op op, Source a, Source b, Predicate guard, const Form& form) {
  Instruction i = with_sources(op, a, b, {}, form);
  i.pd = p;
  i.guard = guard;
  append(i);
}

void Emitter::op_to(int d, Op op, Value a, Value b, Predicate guard) {
  Instruction i;
  i.op = op;
  i.guard = guard;
  i.d = d;
  i.a = a;
  i.b = b;
  append(i);
}

Value Emitter::fresh(Value value) {
  const int d = function_.new_register();
  move_to(d, value);
  return Value::reg(d);
}

Predicate Emitter::compare(Op op, Value a, Value b) {
  Instruction i;
  i.op = op;
  i.pd = function_.new_predicate();
  i.a = a;
  i.b = b;
  append(i);
  return {i.pd, false};
}

Predicate Emitter::combine(Op op, Predicate a, Predicate b) {
  Instruction i;
  i.op = op;
  i.pd = function_.new_predicate();
  i.pa = a;
  i.pb = b;
  append(i);
  return {i.pd, false};
}

void Emitter::predicate_to(int p, Predicate value) {
  Instruction i;
  i.op = Op::PlopAnd;
  i.pd = p;
  i.pa = value;
  i.pb = always;
  append(i);
}

Value Emitter::select(Predicate condition, Value a, Value b) {
  Instruction i;
  i.op = Op::Sel;
  i.d = function_.new_register();
  i.pa = condition;
  i.a = a;
  i.b = b;
  append(i);
  return Value::reg(i.d);
}

Value Emitter::op_carry(Op op, Value a, Value b, Predicate carry) {
  Instruction i;
  i.op = op;
  i.d = function_.new_register();
  i.a = a;
  i.b = b;
  i.pa = carry;
  append(i);
  return Value::reg(i.d);
}

void Emitter::load_to(int d, Op op, Place place, Predicate guard) {
  Instruction i;
  i.op = op;
  i.guard = guard;
  i.d = d;
  i.a = place.base;
  i.offset = place.offset;
  i.is_volatile = true;
  append(i);
}

Value Emitter::load(Op op, Place place, bool is_volatile) {
  Instruction i;
  i.op = op;
  i.d = function_.new_register();
  i.a = place.base;
  i.offset = place.offset;
  i.is_volatile = is_volatile;
  append(i);
  return Value::reg(i.d);
}

void Emitter::store(Op op, Place place, Value value, Predicate guard) {
  Instruction i;
  i.op = op;
  i.guard = guard;
  i.a = place.base;
  i.b = value;
  i.offset = place.offset;
  append(i);
}

Value Emitter::atomic(Op op, Place place, Value b, Value c, const Form& form) {
  Instruction i;
  i.op = op;
  i.d = function_.new_register();
  i.a = place.base;
  i.b = b;
  i.c = c;
  i.offset = place.offset;
  i.form = form;
  append(i);
  return Value::reg(i.d);
}

void Emitter::wait(Op op) {
  Instruction i;
  i.op = op;
  append(i);
}

void Emitter::put(Value word) {
  Instruction i;
  i.op = Op::ShflPut;
  i.b = word;
  append(i);
}

void Emitter::put(Predicate vote) {
  Instruction i;
  i.op = Op::VotePut;
  i.pa = vote;
  append(i);
}

Value Emitter::get_word(Value thread) { return op(Op::ShflGet, thread, Value{}); }

Value Emitter::get_votes() { return op(Op::VoteGet, Value{}, Value{}); }

int Emitter::new_block() {
  if (function_.blocks.size() > most_instructions)
    throw TooLarge("the kernel does not fit the instruction memory by far");
  function_.blocks.emplace_back();
  return static_cast<int>(function_.blocks.size()) - 1;
}

void Emitter::end(const End& end) { function_.blocks[static_cast<std::size_t>(block_)].end = end; }

}  // namespace qwengpu::ptx::ir

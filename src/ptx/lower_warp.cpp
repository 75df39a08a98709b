// Operations of the 32 threads of a warp (PTX ISA 9.7.9.6 and 9.7.13). Each shows a word or a predicate,
// waits until all lanes that come have shown theirs, reads, and waits again, so that nobody shows the next
// one before all have read.
#include <fmt/format.h>

#include "isa/parameters.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using syntax::Operand;

constexpr Type u32{'u', 32};
constexpr std::uint32_t all_lanes = 0xffffffff;

Value imm(std::uint32_t value) { return Value::imm(value); }
Value own_lane() { return Value::special(isa::Special::LaneId); }
Value own_thread() { return Value::special(isa::Special::Thread); }
Value own_bit(ir::Emitter& e) { return e.op(Op::Shl, imm(1), e.fresh(own_lane())); }

// The bits of the lanes that are here and whose predicate holds.
Value votes(ir::Emitter& e, Predicate p) {
  e.put(p);
  const Value bits = e.get_votes();
  e.wait(Op::Warpsync);
  return bits;
}

Value lowest(ir::Emitter& e, Value bits) { return e.op(Op::Clz, {}, e.op(Op::Brev, {}, bits)); }

// The thread of a lane of this warp.
Value thread_of(ir::Emitter& e, Value lane) {
  const Value first = e.op(Op::And, e.fresh(own_thread()), imm(0 - isa::Parameters::warp_lanes));
  return e.op(Op::Or, first, lane);
}

// The operand that names the participants; forms without .sync mean the whole warp.
Value member_mask(Lowering& l, bool sync, std::size_t number) {
  return sync ? l.read(l.operand(number), u32) : imm(all_lanes);
}

// shfl.sync.mode.b32 d{|p}, a, b, c, mask. c holds the highest lane of a segment and, from bit 8 on, which
// bits of the lane name the segment. Lanes whose source is beyond its segment get their own word.
void shfl(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  m.take("sync");  // which lanes take part follows from which come here
  const std::string mode = m.take_any({"up", "down", "bfly", "idx"});
  if (mode.empty()) l.fail(".up, .down, .bfly or .idx is missing");
  const Type type = l.type(m);
  if (type.bits != 32) l.fail("the type is not .b32");
  const Operand& target = l.operand(0);
  const bool two = target.kind == Operand::Kind::Pair;
  const Value a = l.read(l.operand(1), type), c = l.read(l.operand(3), u32);
  const Value b = e.op(Op::And, l.read(l.operand(2), u32), imm(31));
  const Value segment = e.op(Op::And, e.op(Op::ShrU, c, imm(8)), imm(31)), clamp = e.op(Op::And, c, imm(31));
  const Value lane = e.fresh(own_lane()), thread = e.fresh(own_thread());
  const Value first = e.op(Op::And, lane, segment), outside = e.op(Op::Xor, segment, imm(31));
  const Value last = e.op(Op::Or, first, e.op(Op::And, clamp, outside));

  Value source;
  Predicate inside;
  if (mode == "up") {
    inside = e.compare(Op::SetpGeS, lane, e.op(Op::Iadd, last, b));
    source = e.op(Op::Isub, thread, e.select(!inside, imm(0), b));
  } else if (mode == "down") {
    inside = e.compare(Op::SetpLeS, lane, e.op(Op::Isub, last, b));
    source = e.op(Op::Iadd, thread, e.select(!inside, imm(0), b));
  } else if (mode == "bfly") {
    inside = e.compare(Op::SetpLeS, e.op(Op::Xor, lane, b), last);
    source = e.op(Op::Xor, thread, e.select(!inside, imm(0), b));
  } else {
    const Value from = e.op(Op::Or, first, e.op(Op::And, b, outside));
    inside = e.compare(Op::SetpLeS, from, last);
    source = thread_of(e, e.select(inside, from, lane));
  }
  e.put(a);
  const Value word = e.get_word(source);
  e.wait(Op::Warpsync);
  l.write(two ? target.elements[0] : target, type, word);
  if (two) l.write_predicate(target.elements[1], inside);
}

// vote.sync.mode.pred p, {!}a, mask; vote.sync.ballot.b32 d, {!}a, mask.
void vote(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const bool sync = m.take("sync");
  const std::string mode = m.take_any({"all", "any", "uni", "ballot"});
  if (mode.empty()) l.fail(".all, .any, .uni or .ballot is missing");
  const Type type = l.type(m);
  if (type.kind != (mode == "ballot" ? 'b' : 'p')) l.fail("the type does not fit the mode");
  const Predicate a = l.read_predicate(l.operand(1));
  const Value mask = member_mask(l, sync, 2);
  const auto members = [&](Predicate p) { return e.op(Op::And, votes(e, p), mask); };
  // Lanes that have ended count for nothing: .all asks whether there is one against it.
  const auto all = [&] { return e.compare(Op::SetpEq, members(!a), imm(0)); };
  if (mode == "ballot") return l.write(l.operand(0), type, members(a));
  if (mode == "all") return l.write_predicate(l.operand(0), all());
  const Predicate any = e.compare(Op::SetpNe, members(a), imm(0));
  l.write_predicate(l.operand(0), mode == "any" ? any : e.combine(Op::PlopOr, !any, all()));
}

// The lanes that wait here together. Lanes that wait elsewhere may have shown a predicate too, and do not
// change it: what is shown here first and not any more afterwards is of the lanes here.
void activemask(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  const Type type = l.type(m);
  const Value before = votes(e, ir::always), after = votes(e, ir::never);
  l.write(l.operand(0), type, e.op(Op::And, before, e.op(Op::Xor, after, imm(all_lanes))));
}

// The lanes among `members` that show the same word as this one.
Value matching(ir::Emitter& e, Value word, Value members) {
  const Value result = e.fresh(imm(0)), rest = e.fresh(members);
  const int next = e.new_block(), done = e.new_block();
  e.put(word);
  e.jump(next);
  e.start(next);
  const Value lane = lowest(e, rest), below = e.op(Op::Iadd, rest, imm(all_lanes));
  const Predicate same = e.compare(Op::SetpEq, e.get_word(thread_of(e, lane)), word);
  const Value bit = e.op(Op::And, rest, e.op(Op::Xor, below, imm(all_lanes)));
  e.op_to(result.index(), Op::Or, result, bit, same);
  e.op_to(rest.index(), Op::And, rest, below);
  e.branch(e.compare(Op::SetpNe, rest, imm(0)), next, done);
  e.start(done);
  e.wait(Op::Warpsync);
  return result;
}

// Whether all of them show the same word.
Predicate all_match(ir::Emitter& e, Value word, Value members) {
  e.put(word);
  const Value first = e.get_word(thread_of(e, lowest(e, members)));
  e.wait(Op::Warpsync);
  const Value others = votes(e, e.compare(Op::SetpNe, first, word));
  return e.compare(Op::SetpEq, e.op(Op::And, others, members), imm(0));
}

// match.any.sync.type d, a, mask; match.all.sync.type d{|p}, a, mask.
void match(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  m.take("sync");
  const std::string mode = m.take_any({"any", "all"});
  if (mode.empty()) l.fail(".any or .all is missing");
  const Type type = l.type(m);
  const Operand& target = l.operand(0);
  const bool two = target.kind == Operand::Kind::Pair;
  const Pair a = type.bits == 64 ? l.read_pair(l.operand(1), type) : Pair{l.read(l.operand(1), type), {}};
  const Value members = e.op(Op::And, votes(e, ir::always), l.read(l.operand(2), u32));
  if (mode == "any") {
    Value result = matching(e, a.lo, members);
    if (type.bits == 64) result = matching(e, a.hi, result);
    return l.write(target, u32, result);
  }
  Predicate same = all_match(e, a.lo, members);
  if (type.bits == 64) same = e.combine(Op::PlopAnd, same, all_match(e, a.hi, members));
  l.write(two ? target.elements[0] : target, u32, e.select(!same, imm(0), members));
  if (two) l.write_predicate(target.elements[1], same);
}

struct Reduction {
  Op op;
  std::uint32_t start;
};

Reduction take_reduction(Lowering& l, Modifiers& m, Type& type) {
  const std::string name = m.take_any({"add", "min", "max", "and", "or", "xor"});
  type = l.integer_type(m);
  if (name == "add") return {Op::RedAdd, 0};
  if (name == "min")
    return type.is_signed() ? Reduction{Op::RedMinS, 0x7fffffff} : Reduction{Op::RedMinU, all_lanes};
  if (name == "max") return type.is_signed() ? Reduction{Op::RedMaxS, 0x80000000} : Reduction{Op::RedMaxU, 0};
  if (name == "and") return {Op::RedAnd, all_lanes};
  if (name == "or") return {Op::RedOr, 0};
  if (name == "xor") return {Op::RedXor, 0};
  l.fail("no operation");
}

// redux.sync.op.type d, a, mask, in a word that belongs to the first lane of the mask.
void redux(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  m.take("sync");
  Type type;
  const Reduction reduction = take_reduction(l, m, type);
  const Value a = l.read(l.operand(1), type), mask = l.read(l.operand(2), u32);
  const ir::Emitter::Place place = l.warp_scratch(thread_of(e, lowest(e, mask)));
  e.store(Op::St, place, imm(reduction.start));
  e.wait(Op::Warpsync);
  e.store(reduction.op, place, a);
  e.wait(Op::Warpsync);
  const Value result = e.load(Op::Ld, place);
  e.wait(Op::Warpsync);
  l.write(l.operand(0), type, result);
}

// elect.sync d|p, mask: the lowest lane that is here, and whether it is this one.
void elect(Lowering& l, const Instruction&, Modifiers& m) {
  ir::Emitter& e = l.emit();
  m.take("sync");
  const Operand& target = l.operand(0);
  if (target.kind != Operand::Kind::Pair) l.fail("there are not two destinations");
  const Value members = e.op(Op::And, votes(e, ir::always), l.read(l.operand(1), u32));
  const Value leader = lowest(e, members);
  l.write(target.elements[0], u32, leader);
  l.write_predicate(target.elements[1], e.compare(Op::SetpEq, leader, own_lane()));
}

}  // namespace

ir::Value lane_mask(ir::Emitter& e, const std::string& name) {
  const Value bit = own_bit(e), below = e.op(Op::Iadd, bit, imm(all_lanes));
  const auto inverse = [&](Value value) { return e.op(Op::Xor, value, imm(all_lanes)); };
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return below;
  if (name == "%lanemask_ge") return inverse(below);
  const Value up_to = e.op(Op::Or, bit, below);
  return name == "%lanemask_le" ? up_to : inverse(up_to);
}

const HandlerTable& warp_handlers() {
  static const HandlerTable table = {{"shfl", shfl},   {"vote", vote},   {"activemask", activemask},
                                     {"match", match}, {"redux", redux}, {"elect", elect}};
  return table;
}

}  // namespace qwengpu::ptx

// Atomic operations (PTX ISA 9.7.13). A thread's instructions up to the next one that waits, or goes back,
// are not interrupted by other quads, and the lanes of a quad come one after another within each ATOM.
#include <fmt/format.h>

#include "isa/parameters.h"
#include "ptx/lower.h"
#include "ptx/memory_access.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using Place = ir::Emitter::Place;
using syntax::Instruction;
using syntax::Operand;

Op word_op(Lowering& l, const std::string& name, Type type) {
  if (name == "add") return Op::AtomAdd;
  if (name == "min") return type.is_signed() ? Op::AtomMinS : Op::AtomMinU;
  if (name == "max") return type.is_signed() ? Op::AtomMaxS : Op::AtomMaxU;
  if (name == "and") return Op::AtomAnd;
  if (name == "or") return Op::AtomOr;
  if (name == "xor") return Op::AtomXor;
  if (name == "exch") return Op::AtomExch;
  if (name == "inc") return Op::AtomInc;
  if (name == "dec") return Op::AtomDec;
  l.fail("no operation");
}

// The lanes of the quad in turn: each loads the double word, and stores what `change(old, store)` makes of
// it, where the predicate that it returns holds. The rounds are the same for all lanes that are here, so that
// one lane loads and stores undisturbed.
template <class Change>
Pair one_lane_after_another(ir::Emitter& e, Place place, Change change) {
  const Value old_lo = e.fresh(Value::imm(0)), old_hi = e.fresh(Value::imm(0)), turn = e.fresh(Value::imm(0));
  const int round = e.new_block(), done = e.new_block();
  e.jump(round);
  e.start(round);
  const Predicate mine = e.compare(Op::SetpEq, turn, Value::special(isa::Special::QuadLane));
  e.load_to(old_lo.index(), Op::Ld64, place, mine);
  e.load_to(old_hi.index(), Op::Ld, place + 4, mine);
  const auto [value, changes] = change(Pair{old_lo, old_hi});
  const Predicate stores = e.combine(Op::PlopAnd, mine, changes);
  e.store(Op::St64, place, value.lo, stores);
  e.store(Op::St, place + 4, value.hi, stores);
  e.op_to(turn.index(), Op::Iadd, turn, Value::imm(1));
  e.branch(e.compare(Op::SetpLtU, turn, Value::imm(isa::Parameters::lanes)), round, done);
  e.start(done);
  return {old_lo, old_hi};
}

struct Change {
  Pair value;
  Predicate where;
};

Pair atomic_pair(Lowering& l, const std::string& name, Place place, Type type, Pair b, Pair c) {
  ir::Emitter& e = l.emit();
  if (name == "cas")
    return one_lane_after_another(e, place, [&](Pair old) {
      return Change{c, ir::compare(e, ir::Relation::Equal, old, b, false)};
    });
  if (name == "min" || name == "max") {
    const auto relation = name == "min" ? ir::Relation::Less : ir::Relation::Greater;
    return one_lane_after_another(e, place, [&](Pair old) {
      return Change{b, ir::compare(e, relation, b, old, type.is_signed())};
    });
  }
  if (name == "inc" || name == "dec") Lowering::reject(fmt::format("64-bit .{} not supported", name));
  const Op op = word_op(l, name, type);
  // Its address has to be a multiple of 8.
  e.load(Op::Ld64, place, true);
  const Value lo = e.atomic(op, place, b.lo);
  // Each lane carries what its own sum of the low words does.
  Value high = b.hi;
  if (name == "add") {
    const Predicate carry = e.compare(Op::SetpLtU, e.op(Op::Iadd, lo, b.lo), b.lo);
    high = e.op_carry(Op::IaddX, b.hi, Value::imm(0), carry);
  }
  return {lo, e.atomic(op, place + 4, high)};
}

// atom.op.type d, [a], b; atom.cas.type d, [a], b, c. red is the same without d.
template <bool returns>
void atomic(Lowering& l, const Instruction&, Modifiers& m) {
  const Access access = take_access(m);
  if (access.space == "local" || access.space == "param" || access.space == "const")
    l.fail(fmt::format("there are no atomic operations in .{} memory", access.space));
  const std::string name = m.take_any({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (name.empty()) l.fail("no operation");
  m.take("noftz");
  if (const std::string packed = m.take_any({"f16", "f16x2", "bf16", "bf16x2"}); !packed.empty())
    Lowering::reject(fmt::format("atomic operations of type .{} not supported", packed));
  if (!m.take_any({"v2", "v4", "v8"}).empty()) Lowering::reject("atomic operations on vectors not supported");
  const Type type = l.type(m);
  if (type.bits < 32) Lowering::reject(fmt::format("{}-bit atomic operations not supported", type.bits));
  if (type.kind == 'f' && (type.bits != 32 || name != "add"))
    Lowering::reject(fmt::format("atomic operations of type .f{} not supported", type.bits));
  const std::size_t first = returns ? 1 : 0;
  const Place place = l.address(l.operand(first), access.space);
  const bool swaps = name == "cas";
  if (type.bits == 64) {
    const Pair b = l.read_pair(l.operand(first + 1), type),
               c = swaps ? l.read_pair(l.operand(first + 2), type) : Pair{};
    const Pair old = atomic_pair(l, name, place, type, b, c);
    if (returns) l.write_pair(l.operand(0), old);
    return;
  }
  for (std::size_t n = 0; n < l.current().operands.size(); ++n)
    if (n != first) l.check_width(l.operand(n), 32);
  const Value b = l.read(l.operand(first + 1), type);
  Value old;
  if (type.kind == 'f') {
    ir::Form form;
    form.flush = access.space != "shared";  // of global memory's subnormal sums only
    old = l.emit().atomic(Op::AtomFAdd, place, b, {}, form);
  } else if (swaps) {
    old = l.emit().atomic(Op::AtomCas, place, b, l.read(l.operand(first + 2), type));
  } else {
    old = l.emit().atomic(word_op(l, name, type), place, b);
  }
  if (returns) l.write(l.operand(0), type, old);
}

}  // namespace

const HandlerTable& atomic_handlers() {
  static const HandlerTable table = {{"atom", atomic<true>}, {"red", atomic<false>}};
  return table;
}

}  // namespace qwengpu::ptx

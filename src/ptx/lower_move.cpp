// Moves, conversions, selections and compares (PTX ISA 9.7.6, 9.7.7, 9.7.9).
#include <fmt/format.h>

#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using syntax::Operand;

// mov.b64 d, {lo, hi}; mov.b64 {lo, hi}, a; the same with .b32, and with four parts.
void move_vector(Lowering& l, const Operand& target, const Operand& source, Type type) {
  ir::Emitter& e = l.emit();
  const bool unpacks = target.kind == Operand::Kind::Vector;
  const std::vector<Operand>& parts = unpacks ? target.elements : source.elements;
  const int count = static_cast<int>(parts.size());
  if ((count != 2 && count != 4) || (type.bits != 32 && type.bits != 64) || type.bits / count < 8)
    Lowering::reject("vectors of this length not supported");
  const Type part{'b', type.bits / count};
  const auto field = [&](int n) {
    return Value::imm(static_cast<std::uint32_t>(n * part.bits % 32 | part.bits << 8));
  };
  if (unpacks) {
    const Pair whole = type.bits == 64 ? l.read_pair(source, type) : Pair{l.read(source, type), {}};
    // A target may be the source's own half: all parts are kept before any is written.
    std::vector<Value> values;
    for (int n = 0; n < count; ++n) {
      const Value word = n * part.bits < 32 ? whole.lo : whole.hi;
      values.push_back(part.bits == 32 ? e.op(Op::Mov, {}, word) : e.op(Op::BfeU, word, field(n)));
    }
    for (std::size_t n = 0; n < parts.size(); ++n) l.write(parts[n], part, values[n]);
    return;
  }
  Value words[2];
  for (int n = 0; n < count; ++n) {
    const Value value = l.read(parts[static_cast<std::size_t>(n)], part);
    Value& word = words[n * part.bits / 32];
    word = n * part.bits % 32 == 0 ? value : e.op(Op::Bfi, value, field(n), word);
  }
  if (type.bits == 64)
    l.write_pair(target, {words[0], words[1]});
  else
    l.write(target, type, words[0]);
}

void mov(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.type(m);
  const Operand &target = l.operand(0), &source = l.operand(1);
  if (type.kind == 'p') return l.write_predicate(target, l.read_predicate(source));
  if (target.kind == Operand::Kind::Vector || source.kind == Operand::Kind::Vector)
    return move_vector(l, target, source, type);
  if (type.bits == 64) return l.write_pair(target, l.read_pair(source, type));
  l.check_width(source, type.bits);
  l.write(target, type, l.read(source, {'b', type.bits}));
}

// Integers only: widening by the source type's sign, narrowing by cutting.
void cvt(Lowering& l, const Instruction& i, Modifiers& m) {
  for (const std::string& name : i.modifiers)
    if (name.starts_with("f") || name == "bf16" || name == "tf32")
      Lowering::reject(fmt::format("floating point of type .{} not supported", name));
  const Type to = l.type(m), from = l.type(m);
  const Operand &target = l.operand(0), &source = l.operand(1);
  Pair value;
  if (from.bits == 64) {
    value = l.read_pair(source, from);
  } else {
    Value low = l.read_low(source, {'b', 32});
    if (source.kind == Operand::Kind::Register && l.register_bits(source) < from.bits)
      l.fail("the source is too narrow");
    if (from.bits < 32) low = l.extend(low, from);
    value = from.is_signed() ? ir::sign_extended(l.emit(), low) : ir::zero_extended(low);
  }
  if (to.bits < 32 && to.bits <= from.bits) {
    value.lo = l.extend(value.lo, to);
    value = to.is_signed() ? ir::sign_extended(l.emit(), value.lo) : ir::zero_extended(value.lo);
  } else if (to.bits == 32 && from.bits == 64) {
    value = to.is_signed() ? ir::sign_extended(l.emit(), value.lo) : ir::zero_extended(value.lo);
  }
  if (target.kind == Operand::Kind::Register && l.register_bits(target) == 64)
    l.write_pair(target, value);
  else
    l.write(target, {'b', 32}, value.lo);
}

void selp(Lowering& l, const Instruction&, Modifiers& m) {
  const Type type = l.type(m);
  const Predicate condition = l.read_predicate(l.operand(3));
  if (type.bits == 64) {
    const Pair a = l.read_pair(l.operand(1), type), b = l.read_pair(l.operand(2), type);
    l.write_pair(l.operand(0), ir::select(l.emit(), condition, a, b));
  } else {
    const Type plain{'b', type.bits};
    l.write(l.operand(0), type,
            l.emit().select(condition, l.read(l.operand(1), plain), l.read(l.operand(2), plain)));
  }
}

// slct.type.s32 d, a, b, c: a where c is not negative.
void slct(Lowering& l, const Instruction&, Modifiers& m) {
  m.take("ftz");
  const Type type = l.type(m), by = l.type(m);
  if (by.bits != 32 || by.kind == 'u' || by.kind == 'b') l.fail("the last type is not .s32 or .f32");
  const Operand& c = l.operand(3);
  l.check_width(c, 32);
  const Value value = l.read(c, by);
  const Predicate chosen =
      by.kind == 'f' ? l.emit().compare(Op::FsetpGe, ir::Source(value), ir::Source(Value::imm(0)), {})
                     : l.emit().compare(Op::SetpGeS, value, Value::imm(0));
  if (type.bits == 64)
    return l.write_pair(l.operand(0), ir::select(l.emit(), chosen, l.read_pair(l.operand(1), type),
                                                 l.read_pair(l.operand(2), type)));
  const Type plain{type.kind == 'f' ? 'f' : 'b', type.bits};
  l.write(l.operand(0), type,
          l.emit().select(chosen, l.read(l.operand(1), plain), l.read(l.operand(2), plain)));
}

struct Comparison {
  ir::Relation relation;
  bool is_unsigned = false;  // lo, ls, hi, hs
};

Comparison take_comparison(Lowering& l, Modifiers& m) {
  using enum ir::Relation;
  static const std::unordered_map<std::string_view, Comparison> table = {
      {"eq", {Equal}},         {"ne", {NotEqual}},          {"lt", {Less}},       {"le", {LessEqual}},
      {"gt", {Greater}},       {"ge", {GreaterEqual}},      {"lo", {Less, true}}, {"ls", {LessEqual, true}},
      {"hi", {Greater, true}}, {"hs", {GreaterEqual, true}}};
  for (const auto& [name, comparison] : table)
    if (m.take(name)) return comparison;
  l.fail("no comparison operator");
}

Predicate compared(Lowering& l, Comparison comparison, Type type, std::size_t first) {
  const bool is_signed = type.is_signed() && !comparison.is_unsigned;
  if (type.bits == 64)
    return ir::compare(l.emit(), comparison.relation, l.read_pair(l.operand(first), type),
                       l.read_pair(l.operand(first + 1), type), is_signed);
  l.check_width(l.operand(first), type.bits);
  l.check_width(l.operand(first + 1), type.bits);
  return l.emit().compare(ir::compare_op(comparison.relation, is_signed), l.read(l.operand(first), type),
                          l.read(l.operand(first + 1), type));
}

bool compares_floats(const Instruction& i) {
  for (const std::string& name : i.modifiers)
    if (name == "f16" || name == "f16x2" || name == "bf16" || name == "f32" || name == "f64") return true;
  return false;
}

void setp(Lowering& l, const Instruction& i, Modifiers& m) {
  if (compares_floats(i)) Lowering::reject("floating-point compares of this type not supported");
  const Comparison comparison = take_comparison(l, m);
  const std::string combination = m.take_any({"and", "or", "xor"});
  const Type type = l.integer_type(m);
  const Predicate result = compared(l, comparison, type, 1);
  const Operand& target = l.operand(0);
  const bool two = target.kind == Operand::Kind::Pair;
  Predicate first = result, second = !result;
  if (!combination.empty()) {
    const Predicate c = l.read_predicate(l.operand(3));
    const Op op = combination == "and" ? Op::PlopAnd : combination == "or" ? Op::PlopOr : Op::PlopXor;
    first = l.emit().combine(op, result, c);
    if (two) second = l.emit().combine(op, !result, c);
  }
  l.write_predicate(two ? target.elements[0] : target, first);
  if (two) l.write_predicate(target.elements[1], second);
}

// set.eq.u32.s32 d, a, b: all ones or zeros.
void set(Lowering& l, const Instruction& i, Modifiers& m) {
  if (compares_floats(i)) Lowering::reject("floating-point compares of this type not supported");
  const Comparison comparison = take_comparison(l, m);
  const std::string combination = m.take_any({"and", "or", "xor"});
  const Type to = l.integer_type(m), type = l.integer_type(m);
  Predicate result = compared(l, comparison, type, 1);
  if (!combination.empty()) {
    const Op op = combination == "and" ? Op::PlopAnd : combination == "or" ? Op::PlopOr : Op::PlopXor;
    result = l.emit().combine(op, result, l.read_predicate(l.operand(3)));
  }
  l.write(l.operand(0), to, l.emit().select(!result, Value::imm(0), Value::imm(0xffffffff)));
}

}  // namespace

const HandlerTable& move_handlers() {
  static const HandlerTable table = {{"mov", mov},   {"cvt", cvt},   {"selp", selp},
                                     {"slct", slct}, {"setp", setp}, {"set", set}};
  return table;
}

}  // namespace qwengpu::ptx

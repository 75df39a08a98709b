// Arithmetic, compares and conversions of .f32 (PTX ISA 9.7.3, 9.7.6, 9.7.9).
#include <fmt/format.h>

#include <type_traits>

#include "ptx/float_routines.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Form;
using ir::Pair;
using ir::Predicate;
using ir::Source;
using ir::Value;
using isa::Op;
using isa::Rounding;
using syntax::Instruction;
using syntax::Operand;

constexpr Type f32{'f', 32}, b32{'b', 32};
constexpr std::uint32_t sign_bit = 0x80000000;

Value imm(std::uint32_t value) { return Value::imm(value); }
const Value infinity = Value::imm(0x7f800000), minus_zero = Value::imm(sign_bit);

void take_f32(Lowering& l, Modifiers& m) {
  const Type type = l.type(m);
  if (type.kind != 'f' || type.bits != 32) l.fail("types that do not go together");
}

Value source(Lowering& l, std::size_t number) {
  l.check_width(l.operand(number), 32);
  return l.read(l.operand(number), f32);
}

void result(Lowering& l, Value value) {
  l.check_width(l.operand(0), 32);
  l.write(l.operand(0), b32, value);
}

Rounding rounding_of(const std::string& name) {
  if (name.starts_with("rz")) return Rounding::TowardZero;
  if (name.starts_with("rm")) return Rounding::Down;
  return name.starts_with("rp") ? Rounding::Up : Rounding::NearestEven;
}

Form take_form(Modifiers& m) {
  Form form;
  form.rounding = rounding_of(m.take_any({"rn", "rz", "rm", "rp"}));
  form.flush = m.take("ftz");
  form.saturate = m.take("sat");
  return form;
}

// x + -0 is x: with its modifiers taken off, as a number of the machine (one NaN).
Value passed(Lowering& l, Value x, const Form& form) {
  return l.emit().op(Op::Fadd, x, minus_zero, {}, form);
}

template <Op op, bool Negated = false>
void binary(Lowering& l, const Instruction&, Modifiers& m) {
  const Form form = take_form(m);
  take_f32(l, m);
  const Value a = source(l, 1), b = source(l, 2);
  result(l, l.emit().op(op, a, Negated ? -Source(b) : Source(b), {}, form));
}

void fma(Lowering& l, const Instruction&, Modifiers& m) {
  const Form form = take_form(m);
  take_f32(l, m);
  const Value a = source(l, 1), b = source(l, 2), c = source(l, 3);
  result(l, l.emit().op(Op::Ffma, a, b, c, form));
}

// Without .ftz they touch the sign bit only.
template <bool Absolute>
void sign_change(Lowering& l, const Instruction&, Modifiers& m) {
  const bool flush = m.take("ftz");
  take_f32(l, m);
  Value x = source(l, 1);
  if (flush) {
    Form form;
    form.flush = true;
    x = passed(l, x, form);
  }
  result(l, Absolute ? l.emit().op(Op::And, x, imm(~sign_bit)) : l.emit().op(Op::Xor, x, imm(sign_bit)));
}

template <Op op>
void min_max(Lowering& l, const Instruction&, Modifiers& m) {
  Form form;
  form.flush = m.take("ftz");
  const bool nan = m.take("NaN");
  take_f32(l, m);
  const Value a = source(l, 1), b = source(l, 2);
  Value value = l.emit().op(op, a, b, {}, form);
  if (nan) value = l.emit().select(l.emit().compare(Op::FsetpNan, a, b, {}), imm(0x7fffffff), value);
  result(l, value);
}

// ---- Division, roots, functions ----

// Only rounding to nearest has a routine.
void require_nearest(const std::string& rounding) {
  if (rounding != "rn") Lowering::reject(fmt::format(".{} not supported", rounding));
}

void div(Lowering& l, const Instruction&, Modifiers& m) {
  const std::string kind = m.take_any({"approx", "full", "rn", "rz", "rm", "rp"});
  const bool flush = m.take("ftz");
  take_f32(l, m);
  const Value a = source(l, 1), b = source(l, 2);
  if (kind == "approx" || kind == "full") return result(l, ir::divide_nearly(l.emit(), a, b, flush));
  if (kind.empty()) l.fail(".approx, .full or a rounding is missing");
  require_nearest(kind);
  result(l, ir::divide_exactly(l.emit(), a, b, flush));
}

Value exact_reciprocal(ir::Emitter& e, Value x, bool flush) {
  return ir::divide_exactly(e, Value::imm(0x3f800000), x, flush);
}

// Functions of one operand that have a rounded and an approximate form.
using Function = Value (*)(ir::Emitter&, Value, bool flush);
template <auto Exact, Function Near>
void function(Lowering& l, const Instruction&, Modifiers& m) {
  const std::string kind = m.take_any({"approx", "rn", "rz", "rm", "rp"});
  const bool flush = m.take("ftz");
  take_f32(l, m);
  const Value x = source(l, 1);
  if (kind == "approx") return result(l, Near(l.emit(), x, flush));
  if (kind.empty()) l.fail(".approx or a rounding is missing");
  if constexpr (!std::is_null_pointer_v<decltype(Exact)>) {
    require_nearest(kind);
    result(l, Exact(l.emit(), x, flush));
  } else {
    l.fail("this function is approximate only");
  }
}

Value sine(ir::Emitter& e, Value x, bool flush) { return ir::sine_nearly(e, x, false, flush); }
Value cosine(ir::Emitter& e, Value x, bool flush) { return ir::sine_nearly(e, x, true, flush); }
Value tanh(ir::Emitter& e, Value x, bool) { return ir::hyperbolic_tangent_nearly(e, x); }

// ---- Compares ----

Op take_comparison(Lowering& l, Modifiers& m) {
  static const std::unordered_map<std::string_view, Op> table = {
      {"eq", Op::FsetpEq},   {"ne", Op::FsetpNe},   {"lt", Op::FsetpLt},   {"le", Op::FsetpLe},
      {"gt", Op::FsetpGt},   {"ge", Op::FsetpGe},   {"equ", Op::FsetpEqu}, {"neu", Op::FsetpNeu},
      {"ltu", Op::FsetpLtu}, {"leu", Op::FsetpLeu}, {"gtu", Op::FsetpGtu}, {"geu", Op::FsetpGeu},
      {"num", Op::FsetpNum}, {"nan", Op::FsetpNan}};
  for (const auto& [name, op] : table)
    if (m.take(name)) return op;
  l.fail("no comparison operator");
}

struct Results {
  Predicate first, second;  // with the comparison, and with its opposite
};
Results compared(Lowering& l, Modifiers& m, Type type) {
  const Op op = take_comparison(l, m);
  const std::string combination = m.take_any({"and", "or", "xor"});
  Form form;
  form.flush = m.take("ftz");
  if (type.kind != 'f' || type.bits != 32) l.fail("types that do not go together");
  const Predicate holds = l.emit().compare(op, source(l, 1), source(l, 2), form);
  if (combination.empty()) return {holds, !holds};
  const Predicate c = l.read_predicate(l.operand(3));
  const Op combined = combination == "and" ? Op::PlopAnd : combination == "or" ? Op::PlopOr : Op::PlopXor;
  return {l.emit().combine(combined, holds, c), l.emit().combine(combined, !holds, c)};
}

void setp(Lowering& l, const Instruction&, Modifiers& m) {
  const Results results = compared(l, m, l.type(m));
  const Operand& target = l.operand(0);
  const bool two = target.kind == Operand::Kind::Pair;
  l.write_predicate(two ? target.elements[0] : target, results.first);
  if (two) l.write_predicate(target.elements[1], results.second);
}

// set.eq.u32.f32 d, a, b: all ones or zeros; 1.0 or 0 with .f32 as its first type.
void set(Lowering& l, const Instruction&, Modifiers& m) {
  const Type to = l.type(m);
  if (to.bits != 32) Lowering::reject("results of this width not supported");
  const Type from = l.type(m);
  if (from.kind != 'f') Lowering::reject("integer compares with a result of type .f32 not supported");
  const Value yes = imm(to.kind == 'f' ? 0x3f800000 : 0xffffffff);
  result(l, l.emit().select(compared(l, m, from).first, yes, imm(0)));
}

// PTX ISA 9.7.3, testp.
void testp(Lowering& l, const Instruction&, Modifiers& m) {
  const std::string what = m.take_any({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  take_f32(l, m);
  const Value x = source(l, 1);
  const auto test = [&](Op op, Value bound) { return l.emit().compare(op, ir::magnitude(x), bound, {}); };
  const auto both = [&](Predicate a, Predicate b) { return l.emit().combine(Op::PlopAnd, a, b); };
  const Value smallest = imm(0x00800000);  // normal number
  Predicate holds;
  if (what == "finite")
    holds = test(Op::FsetpLt, infinity);
  else if (what == "infinite")
    holds = test(Op::FsetpEq, infinity);
  else if (what == "number")
    holds = test(Op::FsetpNum, infinity);
  else if (what == "notanumber")
    holds = test(Op::FsetpNan, infinity);
  else if (what == "normal")
    holds = both(test(Op::FsetpGe, smallest), test(Op::FsetpLt, infinity));
  else if (what == "subnormal")
    holds = both(test(Op::FsetpGt, imm(0)), test(Op::FsetpLt, smallest));
  else
    l.fail("the property is missing");
  l.write_predicate(l.operand(0), holds);
}

// copysign d, a, b: b with the sign of a.
void copysign(Lowering& l, const Instruction&, Modifiers& m) {
  take_f32(l, m);
  const Value a = source(l, 1), b = source(l, 2);
  Form form;
  form.table = 0xe2;  // (a & sign) | (b & ~sign)
  result(l, l.emit().op(Op::Lop3, a, imm(sign_bit), b, form));
}

// ---- Conversions ----

// The 32 highest bits of a 64-bit number from its first significant one on, the last of them also set when a
// bit below is: that rounds as the whole number does. The factor puts the magnitude back.
Value from_long(ir::Emitter& e, Pair a, bool is_signed, Rounding rounding) {
  const Value sign = is_signed ? e.op(Op::ShrS, a.hi, imm(31)) : imm(0);
  const Value hi = e.op(Op::Xor, a.hi, sign), lo = e.op(Op::Xor, a.lo, sign);
  // Zeros above, one less for a sign.
  const Value far = e.op(Op::Iadd, e.op(Op::Clz, {}, lo), imm(32));
  Value shift = e.select(e.compare(Op::SetpEq, hi, imm(0)), far, e.op(Op::Clz, {}, hi));
  if (is_signed) shift = e.op(Op::Isub, shift, imm(1));
  const Pair up = ir::shift_left(e, a, shift);
  const Value rest = e.select(e.compare(Op::SetpNe, up.lo, imm(0)), imm(1), imm(0));
  Form form;
  form.rounding = rounding;
  const Value top = e.op(is_signed ? Op::I2fS : Op::I2fU, Value{}, e.op(Op::Or, up.hi, rest), {}, form);
  const Value factor = e.op(Op::Shl, e.op(Op::Isub, imm(127 + 32), shift), imm(23));
  return e.op(Op::Fmul, top, factor, {}, {});
}

// The high word of the magnitude is that divided by 2^32, and what is left, exactly, the low word. Numbers
// out of range become the nearest one.
Pair to_long(ir::Emitter& e, Value x, bool is_signed, const Form& form) {
  const Value whole = e.op(Op::Frnd, Value{}, x, {}, form);
  const Form down{.rounding = Rounding::TowardZero};
  const auto size = [&] { return is_signed ? ir::magnitude(whole) : Source(whole); };
  const Value hi =
      e.op(Op::F2iU, Value{}, e.op(Op::Fmul, size(), imm(0x2f800000), {}, {}), {}, down);  // 2^-32
  const Value high = e.op(Op::I2fU, Value{}, hi, {}, down);
  const Value minus = e.op(Op::Fmul, high, imm(0xcf800000), {}, {});  // -2^32
  const Value lo = e.op(Op::F2iU, Value{}, e.op(Op::Fadd, size(), minus, {}, {}), {}, {});
  const Predicate above = e.compare(Op::FsetpGe, whole, imm(is_signed ? 0x5f000000 : 0x5f800000), {});
  const Value ones = imm(0xffffffff);
  if (!is_signed) return {e.select(above, ones, lo), hi};
  const Predicate negative = e.compare(Op::FsetpLt, whole, imm(0), {});
  const Predicate below = e.compare(Op::FsetpLe, whole, imm(0xdf000000), {});
  const Pair number = ir::select(e, negative, ir::negate(e, {lo, hi}), {lo, hi});
  const Pair low = ir::select(e, below, {imm(0), imm(0x80000000)}, number);
  return ir::select(e, above, {ones, imm(0x7fffffff)}, low);
}

// A float becomes the nearest number of the integer's range (PTX ISA 9.7.9, cvt).
Value to_integer(ir::Emitter& e, Value x, Type to, const Form& form) {
  Value value = e.op(to.is_signed() ? Op::F2iS : Op::F2iU, Value{}, x, {}, form);
  if (to.bits == 32) return value;
  const std::uint32_t most = (1u << (to.is_signed() ? to.bits - 1 : to.bits)) - 1;
  if (!to.is_signed()) return e.op(Op::IminU, value, imm(most));
  return e.op(Op::ImaxS, e.op(Op::IminS, value, imm(most)), imm(~most));
}

void cvt(Lowering& l, const Instruction& i, Modifiers& m) {
  for (const std::string& name : i.modifiers)
    if (name == "f16" || name == "bf16" || name == "f64" || name == "tf32" || name.find("x2") != name.npos)
      Lowering::reject(fmt::format("floating point of type .{} not supported", name));
  const std::string integral = m.take_any({"rni", "rzi", "rmi", "rpi"});
  Form form = take_form(m);
  if (!integral.empty()) form.rounding = rounding_of(integral);
  const Type to = l.type(m), from = l.type(m);
  const Operand &target = l.operand(0), &operand = l.operand(1);
  ir::Emitter& e = l.emit();
  if (to.kind == 'f' && from.kind == 'f') {
    const Value x = source(l, 1);
    return result(l, integral.empty() ? passed(l, x, form) : e.op(Op::Frnd, Value{}, x, {}, form));
  }
  if (to.kind == 'f') {
    Form rounded;
    rounded.rounding = form.rounding;
    Value value;
    if (from.bits == 64) {
      value = from_long(e, l.read_pair(operand, from), from.is_signed(), form.rounding);
    } else {
      const Value whole = l.extend(l.read_low(operand, b32), from);
      value = e.op(from.is_signed() ? Op::I2fS : Op::I2fU, Value{}, whole, {}, rounded);
    }
    if (form.saturate) value = passed(l, value, {.saturate = true});
    return result(l, value);
  }
  form.saturate = false;  // is what these conversions do anyway
  const Value x = source(l, 1);
  if (to.bits == 64) return l.write_pair(target, to_long(e, x, to.is_signed(), form));
  const Value value = to_integer(e, x, to, form);
  if (target.kind == Operand::Kind::Register && l.register_bits(target) == 64)
    l.write_pair(target, to.is_signed() ? ir::sign_extended(e, value) : ir::zero_extended(value));
  else
    l.write(target, b32, value);
}

}  // namespace

const HandlerTable& float_handlers() {
  static const HandlerTable table = {
      {"add", binary<Op::Fadd>},
      {"sub", binary<Op::Fadd, true>},
      {"mul", binary<Op::Fmul>},
      {"fma", fma},
      {"mad", fma},
      {"neg", sign_change<false>},
      {"abs", sign_change<true>},
      {"min", min_max<Op::Fmin>},
      {"max", min_max<Op::Fmax>},
      {"div", div},
      {"rcp", function<exact_reciprocal, ir::reciprocal_nearly>},
      {"sqrt", function<ir::square_root_exactly, ir::square_root_nearly>},
      {"rsqrt", function<nullptr, ir::reciprocal_square_root_nearly>},
      {"ex2", function<nullptr, ir::exponential_nearly>},
      {"lg2", function<nullptr, ir::logarithm_nearly>},
      {"sin", function<nullptr, sine>},
      {"cos", function<nullptr, cosine>},
      {"tanh", function<nullptr, tanh>},
      {"setp", setp},
      {"set", set},
      {"testp", testp},
      {"copysign", copysign},
      {"cvt", cvt},
  };
  return table;
}

}  // namespace qwengpu::ptx

// The front of the multiply-add and the order of its stages.
#include "machine/float.h"

#include <fmt/format.h>

#include "machine/float_stages.h"

namespace qwengpu::machine {

using namespace float_stages;
using circuit::bus_word;
using circuit::slice;

namespace float_stages {

void add_if_possible(Circuit& c, Signal bus, double coef, const Linear& gate, const Linear& up) {
  c.add(bus, 0, 0);
  if (c.range(gate).hi > 0) c.add(bus, coef, gate, up);
}

void add_function(Circuit& c, Signal bus, const Linear& x, int most, const std::function<int(int)>& f,
                  const Linear& when) {
  c.add(bus, 0, 0);
  for (int t = 0, slope = 0; t < most; ++t) {
    const int next = f(t + 1) - f(t);
    if (next != slope) c.add(bus, next - slope, x - t, when);
    slope = next;
  }
}

void add_threshold(Circuit& c, Signal bus, const Linear& x, int t, const Word& conditions, int most) {
  Linear gate = x - (t - 1);
  for (const Linear& condition : conditions) gate += most * (condition - 1);
  add_if_possible(c, bus, 1, gate);
  add_if_possible(c, bus, -1, gate - 1);
}

namespace {

// A register and what happens to it.
struct Source {
  const Word& word;
  Linear negate, absolute;
};

UnpackedFloat make_unpacked(Circuit& c) {
  UnpackedFloat x;
  x.fraction = bus_word(c, "fraction", fraction_bits);
  x.exponent = bus_word(c, "exponent", exponent_bits);
  x.normal = c.bus("normal");
  x.flushed = c.bus("flushed");
  x.sign = c.bus("sign");
  return x;
}

// x := the source where `when` is 1.
void unpack(Circuit& c, const UnpackedFloat& x, const Source& source, const Linear& when,
            const Linear& flush) {
  const Word exponent = slice(source.word, fraction_bits, exponent_bits);
  const Linear ones = sum(exponent);
  for (int i = 0; i < fraction_bits; ++i)
    add_if_possible(c, x.fraction[at(i)], 1, both(when, source.word[at(i)]));
  for (int i = 0; i < exponent_bits; ++i)
    add_if_possible(c, x.exponent[at(i)], 1, both(when, exponent[at(i)]));
  add_threshold(c, x.normal, ones, 1, {when}, exponent_bits);
  add_if_possible(c, x.flushed, 1, both(when, flush) - ones);

  const Linear& sign = source.word[word_bits - 1];
  add_if_possible(c, x.sign, 1, both(when, sign) - source.absolute - source.negate);
  add_if_possible(c, x.sign, 1, both(when, source.negate) - sign);
  add_if_possible(c, x.sign, 1, all({when, source.negate, source.absolute, sign}));
}

void set_to_one(Circuit& c, const UnpackedFloat& x, const Linear& when) {
  for (int i = 0; i < exponent_bits - 1; ++i) add_if_possible(c, x.exponent[at(i)], 1, when);
  add_if_possible(c, x.normal, 1, when);
}

}  // namespace

// IEEE 754-2019, 6.1 to 6.3 and 7.2: what infinities, NaNs and zeros of the operands decide.
Classes classify(Circuit& c, const FloatInputs& in, const Linear& on) {
  const auto scope = c.scope("classes");
  Classes k;
  k.product_sign = circuit::xor_(c, "product_sign", in.a.sign, in.b.sign);
  k.subtract = c.bus("subtract");
  const Linear minuses = Linear(in.a.sign) + in.b.sign + in.c.sign - 4 * in.no_addend;
  add_function(c, k.subtract, minuses, 3, [](int n) { return n & 1; });

  struct Kind {
    Signal special, infinite;
  };
  const auto kind = [&](const std::string& name, const UnpackedFloat& x) {
    const Linear all_ones = sum(x.exponent) - (exponent_bits - 1);
    Kind result{c.bus(name + "_special"), c.bus(name + "_infinite")};
    c.add(result.special, 1, all_ones);
    c.add(result.infinite, 1, all_ones - sum(x.fraction));
    return result;
  };
  const Kind a = kind("a", in.a), b = kind("b", in.b), addend = kind("c", in.c);
  const auto is_zero = [&](const std::string& name, const UnpackedFloat& x) {
    const Signal zero = c.bus(name);
    c.add(zero, 1, on - sum(x.significand()) - x.flushed);
    c.add(zero, 1, x.flushed);
    return zero;
  };
  k.a_is_zero = is_zero("a_is_zero", in.a);
  k.b_is_zero = is_zero("b_is_zero", in.b);

  k.special = c.bus("special");
  add_threshold(c, k.special, Linear(a.special) + b.special + addend.special, 1, {}, 0);

  // Reasons for NaN: NaN operands, infinity times zero, infinity minus infinity (which counts twice when both
  // factors are infinite).
  const Signal reasons = c.bus("nan_reasons", {0, 3});
  for (const Kind& x : {a, b, addend}) c.add(reasons, 1, x.special - Linear(x.infinite));
  c.add(reasons, 1, both(a.infinite, k.b_is_zero));
  c.add(reasons, 1, both(b.infinite, k.a_is_zero));
  c.add(reasons, 1, Linear(a.infinite) + b.infinite + 2 * (Linear(addend.infinite) + k.subtract) - 4);
  k.nan = circuit::threshold(c, "nan", reasons, 1);
  k.infinite = c.bus("infinite");
  c.add(k.infinite, 1, k.special - Linear(reasons));

  k.special_sign = c.bus("special_sign");
  c.add(k.special_sign, 1, both(addend.infinite, in.c.sign));
  c.add(k.special_sign, 1, both(a.infinite, k.product_sign) - addend.infinite);
  c.add(k.special_sign, 1, both(b.infinite, k.product_sign) - addend.infinite - a.infinite);
  return k;
}

}  // namespace float_stages

Word UnpackedFloat::significand() const {
  Word bits(fraction);
  bits.push_back(normal);
  return bits;
}

FloatInputs float_front(Circuit& c, const FloatOperands& registers, const FloatOp& op,
                        const FloatMode& mode) {
  const auto scope = c.scope("float_front");
  const auto operand = [&c](const std::string& name) {
    const auto inner = c.scope(name);
    return make_unpacked(c);
  };
  FloatInputs in{operand("a"), operand("b"), operand("c"), op.multiply};
  const Source a{registers.a, op.negate_a, op.absolute_a}, b{registers.b, op.negate_b, op.absolute_b},
      addend{registers.c, op.negate_c, op.absolute_c};
  const Linear& on = mode.multiply_add;
  unpack(c, in.a, a, on, mode.flush);
  unpack(c, in.b, b, on - op.add, mode.flush);
  set_to_one(c, in.b, both(on, op.add));
  unpack(c, in.c, b, both(on, op.add), mode.flush);
  unpack(c, in.c, addend, on - op.add - op.multiply, mode.flush);
  return in;
}

void build_float(Circuit& c, const FloatInputs& in, const FloatMode& mode, const Signals& result) {
  const auto scope = c.scope("float");
  const Linear& on = mode.multiply_add;
  const Classes classes = classify(c, in, on);
  const Window window = align(c, in, classes, on);
  const Magnitude magnitude = add_window(c, window, classes);
  const Normalised value = normalise(c, magnitude, window, on);
  round_and_pack(c, classes, window, magnitude, value, mode, result);
}

void build_float(Circuit& c, const FloatOperands& in, const FloatMode& mode, const Signals& result) {
  build_float(c, float_front(c, in, {}, mode), mode, result);
}

}  // namespace qwengpu::machine

// Every gate against its definition, on every input, in the interpreter. The model itself is compared with
// the interpreter in testing/.
#include "circuit/gates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "circuit/evaluate.h"

namespace qwengpu::circuit {
namespace {

// All 2^n assignments of the inputs as lanes of one step.
struct Table {
  explicit Table(Circuit& circuit, const Signals& inputs)
      : lanes(1 << inputs.size()), evaluator(circuit, lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      for (std::size_t i = 0; i < inputs.size(); ++i)
        evaluator.set(inputs[i], lane, static_cast<float>(lane >> i & 1));
    }
    evaluator.step();
  }
  int get(Signal s, int lane) const { return static_cast<int>(evaluator.get(s, lane)); }
  int lanes;
  Evaluator evaluator;
};

TEST(Gates, SiluOfGain128IsExactlyReluOnIntegers) {
  for (int n = -40000; n <= 40000; ++n) {
    const float y = 128.0f * static_cast<float>(n);
    const float silu = y / (1.0f + std::exp(-y));
    ASSERT_EQ(silu, n > 0 ? y : 0.0f) << n;
  }
}

TEST(Gates, BitFunctionsOfAnyFanIn) {
  for (int n = 1; n <= 9; ++n) {
    Circuit c({});
    const Signals in = input_word(c, "in", n);
    const Signal all = and_(c, "and", in), none = nor_(c, "nor", in), any = or_(c, "or", in),
                 odd = parity(c, "odd", in);
    const Signal is_five = equal_const(c, "five", in, 5);
    const Table t(c, in);
    for (int x = 0; x < t.lanes; ++x) {
      ASSERT_EQ(t.get(all, x), x == t.lanes - 1);
      ASSERT_EQ(t.get(none, x), x == 0);
      ASSERT_EQ(t.get(any, x), x != 0);
      ASSERT_EQ(t.get(odd, x), std::popcount(static_cast<unsigned>(x)) % 2);
      ASSERT_EQ(t.get(is_five, x), n >= 3 && x == 5);
    }
  }
}

TEST(Gates, ArgumentsMayBeFormsOfSeveralSignals) {
  Circuit c({});
  const Signals in = input_word(c, "in", 4);
  c.exclusive({in[0], in[1]});
  const Signal y = and_(c, "y", {in[0] + in[1], 1 - in[2], in[3]});
  const Signal z = xor_(c, "z", in[0] + in[1], 1 - in[2]);
  Evaluator e(c);
  for (int x = 0; x < 16; ++x) {
    if ((x & 3) == 3) continue;
    for (std::size_t i = 0; i < 4; ++i) e.set(in[i], 0, static_cast<float>(x >> i & 1));
    e.step();
    const bool one_of = (x & 3) != 0;
    const bool inverted = (x & 4) == 0;
    EXPECT_EQ(e.get(y), one_of && inverted && (x & 8) != 0);
    EXPECT_EQ(e.get(z), one_of != inverted);
  }
}

TEST(Gates, DecodeIsAOneHotOfTheNumber) {
  Circuit c({});
  const Signals in = input_word(c, "in", 6);
  const Signals lines = decode(c, "line", in);
  const Table t(c, in);
  ASSERT_EQ(lines.size(), 64u);
  for (int x = 0; x < 64; ++x) {
    for (int i = 0; i < 64; ++i) ASSERT_EQ(t.get(lines[static_cast<std::size_t>(i)], x), i == x);
  }
}

TEST(Gates, IntegerFunctionsOfASignedForm) {
  Circuit c({});
  const Signals in = input_word(c, "in", 6);
  const Linear x = number(slice(in, 0, 5)) - 16 * Linear(in[5]);  // -16 .. 31
  const Signal positive = relu(c, "relu", x);
  std::vector<Signal> thresholds, equals;
  for (int v = -18; v <= 33; ++v) {
    thresholds.push_back(threshold(c, fmt::format("t{}", v), x, v));
    equals.push_back(equal(c, fmt::format("e{}", v), x, v));
  }
  const auto f = [](int s) { return (s * s * 7 + s * 3) % 11 - 5; };
  const Signal any = pwl(c, "any", x, -16, 31, f);
  const Signal gated = pwl(c, "gated", x, -16, 31, f, in[0]);
  const Signal same = copy(c, "copy", x);
  const Signal square = product(c, "square", x, x);
  EXPECT_EQ(c.range(positive), (Range{0, 31}));
  EXPECT_EQ(c.range(same), (Range{-16, 31}));
  const Table t(c, in);
  for (int lane = 0; lane < t.lanes; ++lane) {
    const int v = (lane & 31) - 16 * (lane >> 5);
    ASSERT_EQ(t.get(positive, lane), std::max(v, 0));
    for (int i = 0; i < 52; ++i) {
      ASSERT_EQ(t.get(thresholds[static_cast<std::size_t>(i)], lane), v >= i - 18);
      ASSERT_EQ(t.get(equals[static_cast<std::size_t>(i)], lane), v == i - 18);
    }
    ASSERT_EQ(t.get(any, lane), f(v));
    ASSERT_EQ(t.get(gated, lane), (lane & 1) != 0 ? f(v) : 0);
    ASSERT_EQ(t.get(same, lane), v);
    ASSERT_EQ(t.get(square, lane), v * v);
  }
}

TEST(Gates, TheDigitsOfACountShareTheirNeurons) {
  Circuit c({});
  const Signals in = input_word(c, "in", 10);
  const Signals digits = pwl_bits(c, "digit", sum(in), 10);
  EXPECT_EQ(c.neurons().size(), 10u);
  const Table t(c, in);
  for (int x = 0; x < t.lanes; ++x) {
    int count = 0;
    for (std::size_t k = 0; k < digits.size(); ++k) count += t.get(digits[k], x) << k;
    ASSERT_EQ(count, std::popcount(static_cast<unsigned>(x)));
  }
}

TEST(Gates, RoutingPassesValuesAndWords) {
  Circuit c({});
  const Signals in = input_word(c, "in", 9);
  const Linear condition = in[0];
  const Word a = slice(in, 1, 4), b = slice(in, 5, 4);
  const Signal gated = gate(c, "gate", condition, number(a) - number(b));
  const Signals word = mux(c, "mux", condition, a, b);
  const Signals picked =
      select(c, "select",
             std::vector<WordChoice>{{and_(c, "both", {in[0], in[1]}), a},
                                     {and_(c, "neither", {1 - in[0], 1 - in[1]}), constant_word(9, 4)}});
  const Table t(c, in);
  for (int x = 0; x < t.lanes; ++x) {
    const int va = x >> 1 & 15, vb = x >> 5 & 15;
    ASSERT_EQ(t.get(gated, x), (x & 1) != 0 ? va - vb : 0);
    int m = 0, p = 0;
    for (std::size_t i = 0; i < 4; ++i) m += t.get(word[i], x) << i, p += t.get(picked[i], x) << i;
    ASSERT_EQ(m, (x & 1) != 0 ? va : vb);
    ASSERT_EQ(p, (x & 3) == 3 ? va : (x & 3) == 0 ? 9 : 0);
  }
}

}  // namespace
}  // namespace qwengpu::circuit

// The compiled model against the interpreter: same inputs, every compiled signal equal, bit for bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "circuit/gates.h"
#include "circuit/testing/harness.h"

namespace qwengpu::circuit {
namespace {

void build_gates(Circuit& c) {
  const Signals in = input_word(c, "in", 8);
  const Linear x = number(slice(in, 0, 5)) - 16 * Linear(in[5]);
  keep(c, {and_(c, "and", in), nor_(c, "nor", in), or_(c, "or", in), parity(c, "parity", in),
           xor_(c, "xor", in[0], 1 - in[1]), relu(c, "relu", x), threshold(c, "threshold", x, 3),
           equal(c, "equal", x, -2),
           product(c, "product", number(slice(in, 0, 3)) - 4 * in[3], in[4] - 3 * in[5]), copy(c, "copy", x),
           pwl(
               c, "pwl", x, -16, 31, [](int s) { return s * s % 13 - 6; }, in[7])});
  keep(c, decode(c, "decode", slice(in, 2, 6)));
  keep(c, pwl_bits(c, "bits", sum(in), 8));
  keep(c, mux(c, "mux", in[0], slice(in, 1, 3), slice(in, 4, 3)));
}

TEST(Model, EveryGateOnEveryInput) {
  Circuit c(small_geometry(4));
  build_gates(c);
  int next = 0;
  compare_with_evaluator(c, 256, 1, [&](std::mt19937_64&, const auto& set) {
    for (SignalId s = 0; s < 8; ++s) set(Signal{s}, next >> s & 1);
    ++next;
  });
}

TEST(Model, BothEnginesAgree) {
  Circuit c(small_geometry(4));
  build_gates(c);
  compare_with_evaluator(c, 64, 2, {}, EngineKind::reference);
}

TEST(Model, ConstantsOfUpTo16BitsAreSplitOverTwoColumns) {
  Circuit c(small_geometry(4));
  const Signals in = input_word(c, "in", 12);
  Signals outs;
  for (const int t : {257, 1001, 3071, 4095}) {
    outs.push_back(threshold(c, fmt::format("t{}", t), number(in), t));
  }
  keep(c, outs);
  compare_with_evaluator(c, 500, 3);
}

// A long pipeline of random gates in a model with few columns: they must be freed, zeroed and reused many
// times.
void build_random(Circuit& c, std::mt19937_64& random, int stages, int width) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Signals live = input_word(c, "in", width);
  Signals made;
  for (int stage = 0; stage < stages; ++stage) {
    Signals next;
    for (int i = 0; i < width; ++i) {
      const auto any = [&]() -> Linear {
        const Signal s = live[static_cast<std::size_t>(pick(width))];
        const Range r = c.range(s);
        if (r == bit && pick(2) == 0) return 1 - s;
        return s;
      };
      const auto any_bit = [&]() -> Linear {
        for (;;) {
          const Linear f = any();
          if (c.range(f) == bit) return f;
        }
      };
      const std::string name = fmt::format("s{}[{}]", stage, i);
      switch (pick(7)) {
        case 0:
          next.push_back(and_(c, name, {any_bit(), any_bit(), any_bit()}));
          break;
        case 1:
          next.push_back(xor_(c, name, any_bit(), any_bit()));
          break;
        case 2:
          next.push_back(copy(c, name, any_bit() - any_bit()));
          break;  // needs two clearing neurons
        case 3: {
          const Linear f = any_bit() + any_bit() + any_bit();
          next.push_back(pwl(c, name, f, 0, 3, [](int s) { return (s * 5) % 4; }));
          break;
        }
        case 4:
          next.push_back(threshold(c, name, any() + any() + any(), 1));
          break;
        case 5: {
          const auto later = c.not_before(pick(stage + 2));
          next.push_back(or_(c, name, {any_bit(), any_bit()}));
          break;
        }
        default:
          next.push_back(mux(c, name, any_bit(), any_bit(), any_bit()));
          break;
      }
    }
    // some signals live on for a few stages
    for (int i = 0; i < width; ++i) {
      if (pick(4) != 0) live[static_cast<std::size_t>(i)] = next[static_cast<std::size_t>(i)];
    }
    if (c.range(live[0]) != bit) live[0] = threshold(c, fmt::format("b{}", stage), live[0], 1);
  }
  keep(c, live);
}

TEST(Model, RandomCircuitsReuseColumnsAndStayExact) {
  for (std::uint64_t seed = 100; seed < 112; ++seed) {
    std::mt19937_64 random(seed);
    Circuit c(small_geometry(28, 64, 96));
    build_random(c, random, 18, 12);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    compare_with_evaluator(c, 60, seed);
    const Report report = compile(c, {{"step"}, -1, -1}).report;
    int clears = 0;
    for (const LayerReport& l : report.layers) clears += l.clears;
    EXPECT_GT(clears, 20);
    EXPECT_LE(report.peak_columns, 62);
  }
}

TEST(Model, ThePlacementSaysHowLongASignalStaysIntact) {
  std::mt19937_64 random(113);
  Circuit c(small_geometry(28, 64, 96));
  build_random(c, random, 18, 12);
  Harness h(c);
  std::vector<std::vector<float>> residuals;
  h.engine().on_sublayer([&](int, std::span<const float> r) { residuals.emplace_back(r.begin(), r.end()); });
  for (int v = 0; v < 20; ++v) {
    residuals.clear();
    for (SignalId s = 0; s < 12; ++s) h.set(Signal{s}, static_cast<double>(random() & 1));
    h.step();
    for (const auto& [name, place] : h.compiled().placement.signals) {
      if (place.column < 0) continue;
      const auto at = [&](int sublayer) {
        return residuals.at(static_cast<std::size_t>(sublayer + 1))
            .at(static_cast<std::size_t>(place.column));
      };
      for (int t = place.ready; t <= place.intact_until; ++t) ASSERT_EQ(at(t), at(place.ready)) << name;
    }
  }
}

TEST(Model, TheSameWithoutSinking) {
  std::mt19937_64 random(7);
  Circuit c(small_geometry(28, 128, 96));
  build_random(c, random, 18, 12);
  Harness early(c, {{"step"}, -1, -1}, EngineKind::sparse, {.sink = false});
  Harness late(c);
  EXPECT_LE(late.compiled().report.peak_columns, early.compiled().report.peak_columns);
  for (int v = 0; v < 50; ++v) {
    for (SignalId s = 0; s < 12; ++s) {
      const auto x = static_cast<double>(random() & 1);
      early.set(Signal{s}, x);
      late.set(Signal{s}, x);
    }
    early.step();
    late.step();
    for (SignalId s = 0; s < c.signals().size(); ++s) {
      if (early.compiled().placement.signals.at(c.signals()[s].name).column < 0) continue;
      ASSERT_EQ(early.get(Signal{s}), late.get(Signal{s})) << c.signals()[s].name;
    }
  }
}

TEST(Model, AFullMlpSpillsIntoTheNextOne) {
  Circuit c(small_geometry(8, 1024, 100));
  const Signals in = input_word(c, "in", 8);
  keep(c, decode(c, "line", in));  // 256 neurons, 100 a layer
  const Report report = compile(c, {{"step"}, -1, -1}).report;
  EXPECT_EQ(report.layers[0].gates + report.layers[1].gates + report.layers[2].gates +
                report.layers[3].gates + report.layers[4].gates + report.layers[5].gates +
                report.layers[6].gates + report.layers[7].gates,
            256);
  for (const LayerReport& l : report.layers) EXPECT_LE(l.neurons(), 100);
  compare_with_evaluator(c, 100, 5);
}

TEST(Model, TokensGoInAndOut) {
  Circuit c(small_geometry(4));
  const Signal a = c.input("a"), n = c.input("n", {0, 7});
  for (int token = 0; token < 8; ++token) {
    c.embed(token, n, token);
    c.embed(token, a, token % 2);
  }
  // the answer to token t is t + 1, or t - 1 when t is odd
  const Linear answer = n + 1 - 2 * a;
  for (int token = 0; token < 8; ++token)
    c.unembed(token, 4 * equal(c, fmt::format("is{}", token), answer, token));
  TokenTable tokens;
  for (int token = 0; token < 8; ++token) tokens.spellings.push_back(fmt::format("<{}>", token));
  Harness h(c, tokens);
  Evaluator e(c);
  for (int token = 0; token < 8; ++token) {
    h.step_token(token);
    e.set_token(token);
    e.step();
    EXPECT_EQ(h.argmax(), token + 1 - 2 * (token % 2));
    EXPECT_EQ(e.argmax_token(), h.argmax());
    EXPECT_EQ(h.engine().logits()[static_cast<std::size_t>(h.argmax())], 4.0f);
  }
}

}  // namespace
}  // namespace qwengpu::circuit

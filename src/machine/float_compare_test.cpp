// The order of floats, min and max on the circuit's evaluator (real fp32 SiLU) against the CPU's arithmetic.
#include "machine/float_compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "circuit/compile.h"
#include "circuit/evaluate.h"

namespace qwengpu::machine {
namespace {

constexpr int vectors = 256;

// Zeros, subnormals, the smallest normals, numbers that differ in one bit, the largest, infinities, NaNs.
const std::vector<std::uint32_t>& corners() {
  static const std::vector<std::uint32_t> all = [] {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t magnitude :
         {0u,          1u,          2u,          0x400000u,   0x7fffffu,   0x800000u,   0x800001u,
          0x1000000u,  0x3f7fffffu, 0x3f800000u, 0x3f800001u, 0x3f800010u, 0x3f810000u, 0x40000000u,
          0x4b7fffffu, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7f900000u, 0x7fc00000u, 0x7fffffffu})
      for (const std::uint32_t negative : {0u, 0x80000000u}) out.push_back(negative | magnitude);
    return out;
  }();
  return all;
}

struct Case {
  std::uint32_t a, b;
};
std::vector<Case> corner_cases() {
  std::vector<Case> all;
  for (const std::uint32_t a : corners())
    for (const std::uint32_t b : corners()) all.push_back({a, b});
  return all;
}
// Bits at random; operands that share their upper bits; subnormals; against a corner.
std::vector<Case> random_cases(std::uint32_t seed, int count) {
  std::mt19937 engine(seed);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  std::vector<Case> all;
  for (int v = 0; v < count; ++v) {
    Case k{random(), random()};
    if (v % 4 == 1) k.b = k.a ^ (1u << random() % 32);
    if (v % 4 == 2) k.a &= 0x80ffffff, k.b &= 0x80ffffff;
    if (v % 4 == 3) (v % 8 == 3 ? k.a : k.b) = corners()[random() % corners().size()];
    all.push_back(k);
  }
  return all;
}
std::uint32_t flushed(std::uint32_t x, bool flush) {
  return flush && (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}

void set_word(circuit::Evaluator& evaluator, const Signals& word, int v, std::uint32_t x) {
  for (std::size_t i = 0; i < word.size(); ++i) evaluator.set(word[i], v, static_cast<float>(x >> i & 1));
}

// No neuron contributes anything on the first vectors.
void expect_silent(const Circuit& c, const circuit::Evaluator& evaluator) {
  for (const auto& neuron : c.neurons())
    for (int v = 0; v < 16; ++v)
      ASSERT_TRUE(evaluator.get(neuron.gate, v) <= 0 || evaluator.get(neuron.up, v) == 0)
          << "a neuron of " << c.signals()[neuron.outputs.front().signal].name;
}

// As in the machine: four lanes at once.
struct OrderUnit {
  Circuit c{qwen::Geometry{}};
  Signal flush = c.input("flush"), on = c.input("on");
  std::array<Signals, lanes> a, b;
  std::array<FloatOrder, lanes> order;

  OrderUnit() {
    for (std::size_t l = 0; l < lanes; ++l) {
      a[l] = circuit::input_word(c, fmt::format("a{}", l), word_bits);
      b[l] = circuit::input_word(c, fmt::format("b{}", l), word_bits);
      order[l] = float_order(c, fmt::format("lane{}", l), a[l], b[l], flush, on);
      for (const Linear& form : {order[l].less, order[l].equal, order[l].unordered})
        for (const auto& term : form.terms()) c.keep(Signal{term.signal});
    }
  }

  void check(const std::vector<Case>& cases, bool ftz) {
    circuit::Evaluator evaluator(c, vectors);
    constexpr std::size_t batch = vectors * lanes;
    for (std::size_t first = 0; first < cases.size(); first += batch) {
      const auto at = [&](std::size_t v, std::size_t l) {
        return cases[(first + v * lanes + l) % cases.size()];
      };
      for (std::size_t v = 0; v < vectors; ++v) {
        evaluator.set(flush, static_cast<int>(v), ftz);
        evaluator.set(on, static_cast<int>(v), 1);
        for (std::size_t l = 0; l < lanes; ++l) {
          set_word(evaluator, a[l], static_cast<int>(v), at(v, l).a);
          set_word(evaluator, b[l], static_cast<int>(v), at(v, l).b);
        }
      }
      evaluator.step();
      for (std::size_t v = 0; v < vectors; ++v)
        for (std::size_t l = 0; l < lanes; ++l) {
          const Case k = at(v, l);
          const auto x = std::bit_cast<float>(flushed(k.a, ftz)), y = std::bit_cast<float>(flushed(k.b, ftz));
          const auto value = [&](const Linear& form) { return evaluator.get(form, static_cast<int>(v)); };
          ASSERT_TRUE(value(order[l].less) == (x < y) && value(order[l].equal) == (x == y) &&
                      value(order[l].unordered) == (std::isnan(x) || std::isnan(y)))
              << fmt::format("a = {:#010x}, b = {:#010x}, flush {}: less {}, equal {}, unordered {}", k.a,
                             k.b, ftz, value(order[l].less), value(order[l].equal),
                             value(order[l].unordered));
        }
    }
  }
};

TEST(FloatOrder, IsExactOnCornerCases) {
  OrderUnit u;
  for (const bool flush : {false, true}) u.check(corner_cases(), flush);
}

TEST(FloatOrder, IsExactOnRandomOperands) {
  const std::uint32_t seed = 91;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  OrderUnit u;
  for (const bool flush : {false, true}) u.check(random_cases(seed + flush, 100'000), flush);
}

TEST(FloatOrder, IsSilentWhenOffAndFitsTheModel) {
  OrderUnit u;
  circuit::Evaluator evaluator(u.c, vectors);
  const auto cases = random_cases(5, vectors);
  for (int v = 0; v < vectors; ++v)
    for (std::size_t l = 0; l < lanes; ++l) {
      set_word(evaluator, u.a[l], v, cases[static_cast<std::size_t>(v)].a);
      set_word(evaluator, u.b[l], v, cases[static_cast<std::size_t>(v)].b);
      evaluator.set(u.flush, v, static_cast<float>(v % 2));
    }
  evaluator.step();
  expect_silent(u.c, evaluator);
  const auto report = circuit::compile(u.c, {{"step"}, -1, -1}).report;
  SCOPED_TRACE(circuit::to_text(report));
  EXPECT_LE(report.depth, 2);
  EXPECT_LE(report.neurons, 300);
  EXPECT_TRUE(report.certificate.bf16.empty());
}

struct MinMaxUnit {
  Circuit c{qwen::Geometry{}};
  Signals a = circuit::input_word(c, "a", word_bits), b = circuit::input_word(c, "b", word_bits),
          control = circuit::input_word(c, "control", 4), result = circuit::bus_word(c, "result", word_bits);

  MinMaxUnit() {
    build_float_min_max(
        c, a, b,
        {.minimum = control[0], .maximum = control[1], .propagate_nan = control[2], .flush = control[3]},
        result);
    circuit::keep(c, result);
  }
};

std::uint32_t expected(Case k, bool maximum, bool propagate, bool flush) {
  k = {flushed(k.a, flush), flushed(k.b, flush)};
  const auto x = std::bit_cast<float>(k.a), y = std::bit_cast<float>(k.b);
  if (std::isnan(x) || std::isnan(y)) {
    if (propagate || (std::isnan(x) && std::isnan(y))) return 0x7fffffff;
    return std::isnan(x) ? k.b : k.a;
  }
  const bool a_is_less = x != y ? x < y : std::signbit(x) && !std::signbit(y);
  return a_is_less != maximum ? k.a : k.b;
}

void check_min_max(const std::vector<Case>& cases) {
  MinMaxUnit u;
  circuit::Evaluator evaluator(u.c, vectors);
  for (int control = 0; control < 8; ++control) {
    const bool maximum = control & 1, propagate = control & 2, flush = control & 4;
    for (std::size_t first = 0; first < cases.size(); first += vectors) {
      const auto at = [&](int v) { return cases[(first + static_cast<std::size_t>(v)) % cases.size()]; };
      for (int v = 0; v < vectors; ++v) {
        set_word(evaluator, u.a, v, at(v).a);
        set_word(evaluator, u.b, v, at(v).b);
        set_word(evaluator, u.control, v,
                 static_cast<std::uint32_t>(maximum ? 2 : 1) | propagate << 2 | flush << 3);
      }
      evaluator.step();
      for (int v = 0; v < vectors; ++v) {
        std::uint32_t result = 0;
        for (std::size_t i = 0; i < word_bits; ++i) {
          const float bit = evaluator.get(u.result[i], v);
          ASSERT_TRUE(bit == 0 || bit == 1) << "result bit " << i << " is " << bit;
          result |= static_cast<std::uint32_t>(bit) << i;
        }
        ASSERT_EQ(result, expected(at(v), maximum, propagate, flush))
            << fmt::format("a = {:#010x}, b = {:#010x}, maximum {}, NaN {}, flush {}", at(v).a, at(v).b,
                           maximum, propagate, flush);
      }
    }
  }
}

TEST(FloatMinMax, IsExactOnCornerCases) { check_min_max(corner_cases()); }

TEST(FloatMinMax, IsExactOnRandomOperands) {
  const std::uint32_t seed = 92;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  check_min_max(random_cases(seed, 30'000));
}

TEST(FloatMinMax, IsSilentWhenOffAndFitsTheModel) {
  MinMaxUnit u;
  circuit::Evaluator evaluator(u.c, vectors);
  const auto cases = random_cases(5, vectors);
  for (int v = 0; v < vectors; ++v) {
    set_word(evaluator, u.a, v, cases[static_cast<std::size_t>(v)].a);
    set_word(evaluator, u.b, v, cases[static_cast<std::size_t>(v)].b);
    set_word(evaluator, u.control, v, static_cast<std::uint32_t>(v) << 2);
  }
  evaluator.step();
  expect_silent(u.c, evaluator);
  const auto report = circuit::compile(u.c, {{"step"}, -1, -1}).report;
  SCOPED_TRACE(circuit::to_text(report));
  EXPECT_LE(report.depth, 3);
  EXPECT_LE(report.neurons, 200);
  EXPECT_TRUE(report.certificate.bf16.empty());
}

}  // namespace
}  // namespace qwengpu::machine

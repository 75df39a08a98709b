// The multiply-add alone, on the circuit's evaluator, against the CPU's arithmetic.
#include "machine/float.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "circuit/evaluate.h"
#include "machine/test_floats.h"

namespace qwengpu::machine {
namespace {

// Registers and every option as inputs. With `plain`, the unit without its front's options: a * b + c.
class FloatUnit {
 public:
  static constexpr int vectors = 256;

  explicit FloatUnit(bool plain = false) : circuit_(qwen::Geometry{}) {
    Circuit& c = circuit_;
    a_ = circuit::input_word(c, "a", word_bits);
    b_ = circuit::input_word(c, "b", word_bits);
    c_ = circuit::input_word(c, "c", word_bits);
    options_ = circuit::input_word(c, "option", option_count);
    const auto option = [this](int i) { return options_[static_cast<std::size_t>(i)]; };
    const FloatMode mode{option(on),           option(rounding), option(rounding + 1), option(rounding + 2),
                         option(rounding + 3), option(flush),    option(saturate)};
    const FloatOp op{option(add),        option(multiply), option(negate),       option(negate + 1),
                     option(negate + 2), option(absolute), option(absolute + 1), option(absolute + 2)};
    result_ = circuit::bus_word(c, "result", word_bits);
    const FloatOperands registers{a_, b_, c_};
    if (plain) {
      build_float(c, registers, mode, result_);
    } else {
      build_float(c, float_front(c, registers, op, mode), mode, result_);
    }
    evaluator_ = std::make_unique<circuit::Evaluator>(c, vectors);
  }

  // With the unit off, the same inputs: every signal must be 0.
  void run_switched_off(const std::vector<FloatCase>& cases) {
    set(cases, false);
    evaluator_->step();
    for (circuit::SignalId s = 0; s < circuit_.signals().size(); ++s) {
      if (circuit_.signals()[s].is_input) continue;
      for (const float x : evaluator_->values(Signal{s})) ASSERT_EQ(x, 0) << circuit_.signals()[s].name;
    }
    for (const auto& neuron : circuit_.neurons())
      for (std::size_t v = 0; v < cases.size(); ++v)
        ASSERT_LE(evaluator_->get(neuron.gate, static_cast<int>(v)), 0)
            << "a neuron of " << circuit_.signals()[neuron.outputs.front().signal].name << " fires";
  }

  // Fails the test at the first case that differs.
  void check(const std::vector<FloatCase>& cases) {
    set(cases, true);
    evaluator_->step();
    for (std::size_t v = 0; v < cases.size(); ++v) {
      std::uint32_t result = 0;
      for (std::size_t i = 0; i < word_bits; ++i) {
        const float bit = evaluator_->get(result_[i], static_cast<int>(v));
        ASSERT_TRUE(bit == 0 || bit == 1)
            << "result bit " << i << " is " << bit << ": " << describe(cases[v]);
        if (bit == 1) result |= 1u << i;
      }
      const std::uint32_t expected = float_expected(cases[v]);
      ASSERT_EQ(result, expected) << fmt::format("{}: {:#010x} instead of {:#010x}", describe(cases[v]),
                                                 result, expected);
    }
  }

 private:
  // The rounding modes, and bits of a, b, c for negation and absolute value, stand in a row.
  enum Option {
    on,
    add,
    multiply,
    flush,
    saturate,
    rounding,
    negate = rounding + 4,
    absolute = negate + 3,
    option_count = absolute + 3
  };

  void set(const std::vector<FloatCase>& cases, bool switched_on) {
    evaluator_->set_all_inputs_zero();
    for (std::size_t v = 0; v < cases.size(); ++v) {
      const FloatCase& k = cases[v];
      const int lane = static_cast<int>(v);
      const auto set_option = [&](int i, bool value) {
        evaluator_->set(options_[static_cast<std::size_t>(i)], lane, value ? 1 : 0);
      };
      for (std::size_t i = 0; i < word_bits; ++i) {
        evaluator_->set(a_[i], lane, static_cast<float>(k.a >> i & 1));
        evaluator_->set(b_[i], lane, static_cast<float>(k.b >> i & 1));
        evaluator_->set(c_[i], lane, static_cast<float>(k.c >> i & 1));
      }
      set_option(on, switched_on);
      set_option(add, k.operation == FloatOperation::Add);
      set_option(multiply, k.operation == FloatOperation::Multiply);
      set_option(flush, k.flush);
      set_option(saturate, k.saturate);
      set_option(rounding + static_cast<int>(k.rounding), true);
      for (int i = 0; i < 3; ++i) {
        set_option(negate + i, k.negate >> i & 1);
        set_option(absolute + i, k.absolute >> i & 1);
      }
    }
  }

  Circuit circuit_;
  Signals a_, b_, c_, options_, result_;
  std::unique_ptr<circuit::Evaluator> evaluator_;
};

// Collects cases and checks them when there are enough for a batch.
class Batches {
 public:
  explicit Batches(FloatUnit& unit) : unit_(unit) {}
  ~Batches() { flush(); }
  void add(const FloatCase& k) {
    batch_.push_back(k);
    if (batch_.size() == FloatUnit::vectors) flush();
  }
  void flush() {
    try {
      if (!batch_.empty() && !testing::Test::HasFatalFailure()) unit_.check(batch_);
    } catch (const circuit::Error& error) {  // destructors may not throw
      ADD_FAILURE() << error.what();
    }
    batch_.clear();
  }

 private:
  FloatUnit& unit_;
  std::vector<FloatCase> batch_;
};

FloatUnit& float_unit() {
  static FloatUnit instance;
  return instance;
}

// Every pair of corners under every operation of two operands and every option.
void check_pairs(FloatUnit& unit, bool saturate) {
  Batches batches(unit);
  const std::vector<std::uint32_t> corners = float_corners();
  for (const FloatOperation operation : {FloatOperation::Add, FloatOperation::Multiply})
    for (const Rounding rounding : roundings)
      for (const bool flush : {false, true})
        for (const std::uint32_t a : corners)
          for (const std::uint32_t b : corners)
            batches.add({a, b, 0xdeadbeef, operation, rounding, flush, saturate});
}

TEST(Float, SumsAndProductsOfCorners) { check_pairs(float_unit(), false); }
TEST(Float, SaturatedSumsAndProductsOfCorners) { check_pairs(float_unit(), true); }

// Every triple once, under options drawn for each.
TEST(Float, MultiplyAddOfCorners) {
  Batches batches(float_unit());
  FloatCases random(1);
  const std::vector<std::uint32_t> corners = float_corners();
  for (const std::uint32_t a : corners)
    for (const std::uint32_t b : corners)
      for (const std::uint32_t c : corners) {
        if (random.below(4) != 0) continue;
        batches.add({a, b, c, FloatOperation::MultiplyAdd, roundings[random.below(4)], random.below(4) == 0,
                     random.below(8) == 0});
      }
}

// An addend at every distance from the product, on both sides, with significands that round, tie, borrow and
// cancel.
TEST(Float, AddendsAtEveryDistance) {
  Batches batches(float_unit());
  constexpr std::uint32_t fractions[] = {0, 1, 0x7fffff, 0x400000, 0x3fffff};
  FloatCases random(2);
  for (int distance = -90; distance <= 90; ++distance)
    for (const std::uint32_t fraction_a : {0u, 0x7fffffu, 0x000801u})
      for (const std::uint32_t fraction_b : {0u, 0x7fffffu, 0x001001u})
        for (const std::uint32_t fraction_c : fractions)
          for (const std::uint32_t sign : {0u, 0x80000000u}) {
            const auto exponent = [](int e) { return static_cast<std::uint32_t>(e) << 23; };
            batches.add({exponent(127 + 3) | fraction_a, exponent(127 - 3) | fraction_b,
                         exponent(127 + distance) | fraction_c | sign, FloatOperation::MultiplyAdd,
                         roundings[random.below(4)]});
          }
}

// The same where the product has leading zeros: a subnormal factor.
TEST(Float, AddendsToProductsOfSubnormals) {
  Batches batches(float_unit());
  FloatCases random(8);
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t a : {0x1u, 0x3u, 0x400001u, 0x7fffffu})
      for (const std::uint32_t b : {0x7f000000u, 0x7f7fffffu, 0x73000001u})
        for (const std::uint32_t fraction : {0u, 1u, 0x7fffffu})
          for (const std::uint32_t sign : {0u, 0x80000000u})
            batches.add({a, b, exponent << 23 | fraction | sign, FloatOperation::MultiplyAdd,
                         roundings[random.below(4)]});
}

TEST(Float, RandomOperandsInEveryMode) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Batches batches(float_unit());
  FloatCases random(seed);
  for (int i = 0; i < 60'000; ++i) batches.add(random.any());
}

TEST(Float, WithoutAFront) {
  FloatUnit plain(true);
  Batches batches(plain);
  FloatCases random(4);
  for (int i = 0; i < 20'000; ++i) {
    FloatCase k = random.operands(FloatOperation::MultiplyAdd);
    k.rounding = roundings[random.below(4)];
    k.flush = random.below(4) == 0;
    k.saturate = random.below(8) == 0;
    batches.add(k);
  }
}

// What is not asked for is not built.
TEST(Float, WithOneRoundingModeOnly) {
  Circuit c{qwen::Geometry{}};
  const Signals a = circuit::input_word(c, "a", word_bits), b = circuit::input_word(c, "b", word_bits),
                addend = circuit::input_word(c, "c", word_bits),
                result = circuit::bus_word(c, "result", word_bits);
  const Signal on = c.input("on");
  build_float(c, {a, b, addend}, {.multiply_add = on, .nearest_even = on}, result);
  circuit::Evaluator evaluator(c);
  FloatCases random(7);
  evaluator.set(on, 0, 1);
  for (int i = 0; i < 200; ++i) {
    const FloatCase k = random.operands(FloatOperation::MultiplyAdd);
    for (std::size_t bit = 0; bit < word_bits; ++bit) {
      evaluator.set(a[bit], 0, static_cast<float>(k.a >> bit & 1));
      evaluator.set(b[bit], 0, static_cast<float>(k.b >> bit & 1));
      evaluator.set(addend[bit], 0, static_cast<float>(k.c >> bit & 1));
    }
    evaluator.step();
    EXPECT_EQ(evaluator.get(circuit::number(result)), float_expected(k)) << describe(k);
  }
}

TEST(Float, IsSilentWhileItIsOff) {
  FloatCases random(5);
  std::vector<FloatCase> cases;
  while (cases.size() < FloatUnit::vectors) cases.push_back(random.any());
  float_unit().run_switched_off(cases);
}

// Minutes: a million vectors for each operation and rounding mode, or QWENGPU_FLOAT_VECTORS; a quarter of
// them with .ftz or .sat.
TEST(Float, DISABLED_AMillionOperandsOfEveryOperationAndMode) {
  const char* wanted = std::getenv("QWENGPU_FLOAT_VECTORS");
  const long count = wanted != nullptr ? std::atol(wanted) : 1'000'000;
  FloatCases random(6);
  for (const FloatOperation operation : float_operations)
    for (const Rounding rounding : roundings) {
      Batches batches(float_unit());
      for (long i = 0; i < count && !HasFatalFailure(); ++i) {
        FloatCase k = random.operands(operation);
        k.rounding = rounding;
        k.flush = random.below(8) == 0;
        k.saturate = random.below(8) == 0;
        batches.add(k);
      }
    }
}

// Minutes: every triple of corners in every mode.
TEST(Float, DISABLED_MultiplyAddOfCornersInEveryMode) {
  const std::vector<std::uint32_t> corners = float_corners();
  for (const Rounding rounding : roundings)
    for (const bool flush : {false, true})
      for (const bool saturate : {false, true}) {
        Batches batches(float_unit());
        for (const std::uint32_t a : corners)
          for (const std::uint32_t b : corners)
            for (const std::uint32_t c : corners)
              batches.add({a, b, c, FloatOperation::MultiplyAdd, rounding, flush, saturate});
      }
}

}  // namespace
}  // namespace qwengpu::machine

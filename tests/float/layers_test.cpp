// The floating-point unit in the weights of real layers: what it costs, what the compiler proves of it, and a
// few thousand forward passes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "circuit/testing/harness.h"
#include "machine/float.h"
#include "machine/test_floats.h"

namespace qwengpu::machine {
namespace {

// Every option an input of the model, the result kept.
struct Unit {
  Circuit circuit;
  Signals a, b, c, result;
  Signal add, multiply, flush, saturate, on;
  Signals rounding, negate, absolute;

  Unit() : circuit(geometry()) {
    Circuit& k = circuit;
    a = circuit::input_word(k, "a", word_bits);
    b = circuit::input_word(k, "b", word_bits);
    c = circuit::input_word(k, "c", word_bits);
    on = k.input("on");
    add = k.input("add");
    multiply = k.input("multiply");
    flush = k.input("flush");
    saturate = k.input("saturate");
    rounding = circuit::input_word(k, "rounding", 4);
    negate = circuit::input_word(k, "negate", 3);
    absolute = circuit::input_word(k, "absolute", 3);
    result = circuit::bus_word(k, "result", word_bits);
    const FloatMode mode{on, rounding[0], rounding[1], rounding[2], rounding[3], flush, saturate};
    const FloatOp op{add, multiply, negate[0], negate[1], negate[2], absolute[0], absolute[1], absolute[2]};
    build_float(k, float_front(k, {a, b, c}, op, mode), mode, result);
    circuit::keep(k, result);
  }

  static qwen::Geometry geometry() {
    qwen::Geometry g;  // the machine's widths, with as many layers as the unit needs
    g.layers = 16;
    return g;
  }
};

TEST(FloatLayers, FitAndAreExact) {
  const Unit unit;
  const circuit::Report report = circuit::compile(unit.circuit, {{"step"}, -1, -1}).report;
  SCOPED_TRACE(to_text(report));
  if (std::getenv("QWENGPU_REPORT") != nullptr) fmt::print("{}", to_text(report));
  EXPECT_LE(report.depth, 15);
  EXPECT_LT(report.neurons, 7000);
  EXPECT_LT(report.peak_columns, 1200);
  EXPECT_TRUE(report.certificate.bf16.empty());
  for (const circuit::LayerReport& layer : report.layers) EXPECT_LE(layer.neurons(), 2048);
}

TEST(FloatLayers, ComputeWhatTheCpuComputes) {
  const Unit unit;
  circuit::Harness model(unit.circuit);
  FloatCases random(1);
  model.set(unit.on, 1);
  for (int i = 0; i < 4000; ++i) {
    const FloatCase k = random.any();
    model.set_number(unit.a, k.a);
    model.set_number(unit.b, k.b);
    model.set_number(unit.c, k.c);
    model.set(unit.add, k.operation == FloatOperation::Add);
    model.set(unit.multiply, k.operation == FloatOperation::Multiply);
    model.set(unit.flush, k.flush);
    model.set(unit.saturate, k.saturate);
    model.set_number(unit.rounding, 1u << static_cast<int>(k.rounding));
    model.set_number(unit.negate, k.negate);
    model.set_number(unit.absolute, k.absolute);
    model.step();
    const std::uint64_t expected = float_expected(k);
    ASSERT_EQ(model.get_number(unit.result), expected)
        << fmt::format("{}: expected {:#010x}", describe(k), expected);
  }
}

// Every signal on the way, not only the result.
TEST(FloatLayers, HoldTheEvaluatorsSignals) {
  const Unit unit;
  FloatCases random(2);
  circuit::compare_with_evaluator(unit.circuit, 300, 7, [&](std::mt19937_64&, const auto& set) {
    const FloatCase k = random.any();
    const auto set_word = [&](const Signals& word, std::uint32_t value) {
      for (std::size_t i = 0; i < word.size(); ++i) set(word[i], value >> i & 1);
    };
    set_word(unit.a, k.a);
    set_word(unit.b, k.b);
    set_word(unit.c, k.c);
    set(unit.on, random.below(8) != 0);
    set(unit.add, k.operation == FloatOperation::Add);
    set(unit.multiply, k.operation == FloatOperation::Multiply);
    set(unit.flush, k.flush);
    set(unit.saturate, k.saturate);
    set_word(unit.rounding, 1u << static_cast<int>(k.rounding));
    set_word(unit.negate, k.negate);
    set_word(unit.absolute, k.absolute);
  });
}

}  // namespace
}  // namespace qwengpu::machine

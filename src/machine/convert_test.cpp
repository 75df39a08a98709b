// The conversions on the circuit's evaluator (real fp32 SiLU) against the CPU's arithmetic.
#include "machine/convert.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "circuit/compile.h"
#include "circuit/evaluate.h"

namespace qwengpu::machine {
namespace {

enum class Kind { IntToFloat, FloatToInt, FloatToIntegral };
enum class Rounding { NearestEven, TowardZero, Down, Up };

struct Conversion {
  Kind kind;
  bool is_signed;
  Rounding rounding;
  bool flush;
};
std::string name_of(const Conversion& k) {
  constexpr const char* kinds[] = {"IntToFloat", "FloatToInt", "FloatToIntegral"};
  constexpr const char* roundings[] = {"NearestEven", "TowardZero", "Down", "Up"};
  return fmt::format("{}_{}_{}{}", kinds[static_cast<int>(k.kind)], k.is_signed ? "Signed" : "Unsigned",
                     roundings[static_cast<int>(k.rounding)], k.flush ? "_Flush" : "");
}

double rounded(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::NearestEven:
      return std::nearbyint(x);  // the default rounding of the CPU
    case Rounding::TowardZero:
      return std::trunc(x);
    case Rounding::Down:
      return std::floor(x);
    case Rounding::Up:
      return std::ceil(x);
  }
  return 0;
}

std::uint32_t int_to_float(double x, Rounding rounding) {
  auto f = static_cast<float>(x);  // to nearest even; a neighbour where that is on the wrong side
  const float infinity = std::numeric_limits<float>::infinity();
  const bool down = rounding == Rounding::Down || (rounding == Rounding::TowardZero && x > 0),
             up = rounding == Rounding::Up || (rounding == Rounding::TowardZero && x < 0);
  if (down && f > x) f = std::nextafter(f, -infinity);
  if (up && f < x) f = std::nextafter(f, infinity);
  return std::bit_cast<std::uint32_t>(f);
}

std::uint32_t expected(const Conversion& k, std::uint32_t in) {
  if (k.kind == Kind::IntToFloat)
    return int_to_float(k.is_signed ? double{static_cast<double>(static_cast<std::int32_t>(in))}
                                    : double{static_cast<double>(in)},
                        k.rounding);
  if (k.flush && (in & 0x7f800000) == 0) in &= 0x80000000;
  const float f = std::bit_cast<float>(in);
  if (std::isnan(f)) return k.kind == Kind::FloatToInt ? 0 : 0x7fffffff;
  const double x = rounded(f, k.rounding);
  if (k.kind == Kind::FloatToIntegral) return std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (k.is_signed) {
    if (x >= 0x1p31) return 0x7fffffff;
    if (x < -0x1p31) return 0x80000000;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x));
  }
  if (x >= 0x1p32) return 0xffffffff;
  return x <= 0 ? 0 : static_cast<std::uint32_t>(x);
}

class Unit {
 public:
  static constexpr int vectors = 256;

  explicit Unit(const Circuit& circuit, Signals in, Signals control, Signals result)
      : in_(std::move(in)),
        control_(std::move(control)),
        result_(std::move(result)),
        evaluator_(circuit, vectors) {}

  // Fails the test when a bit is not exactly 0 or 1.
  std::vector<std::uint32_t> run(const std::vector<bool>& control, const std::vector<std::uint32_t>& cases) {
    for (std::size_t k = 0; k < control_.size(); ++k)
      for (int v = 0; v < vectors; ++v) evaluator_.set(control_[k], v, control[k]);
    for (std::size_t v = 0; v < cases.size(); ++v)
      for (std::size_t i = 0; i < word_bits; ++i)
        evaluator_.set(in_[i], static_cast<int>(v), static_cast<float>(cases[v] >> i & 1));
    evaluator_.step();
    std::vector<std::uint32_t> results(cases.size());
    for (std::size_t i = 0; i < word_bits; ++i) {
      const auto bits = evaluator_.values(result_[i]);
      for (std::size_t v = 0; v < cases.size(); ++v) {
        EXPECT_TRUE(bits[v] == 0 || bits[v] == 1) << "result bit " << i << " is " << bits[v];
        if (bits[v] == 1) results[v] |= 1u << i;
      }
    }
    return results;
  }
  const circuit::Evaluator& evaluator() const { return evaluator_; }

 private:
  Signals in_, control_, result_;
  circuit::Evaluator evaluator_;
};

// The unit with its operand and its mode as inputs.
struct ConvertUnit {
  Circuit c{qwen::Geometry{}};
  Signals in = circuit::input_word(c, "in", word_bits), control = circuit::input_word(c, "control", 9),
          result = circuit::bus_word(c, "result", word_bits);
  std::unique_ptr<Unit> unit;

  ConvertUnit() {
    build_convert(c, in,
                  {.int_to_float = control[0],
                   .float_to_int = control[1],
                   .float_to_integral = control[2],
                   .is_signed = control[3],
                   .nearest_even = control[4],
                   .toward_zero = control[5],
                   .down = control[6],
                   .up = control[7],
                   .flush = control[8]},
                  result);
    circuit::keep(c, result);
    unit = std::make_unique<Unit>(c, in, control, result);
  }
};

class Convert : public testing::TestWithParam<Conversion> {
 protected:
  void SetUp() override {
    const Conversion& k = GetParam();
    control_.assign(9, false);
    control_[static_cast<std::size_t>(k.kind)] = true;
    control_[3] = k.is_signed;
    control_[4 + static_cast<std::size_t>(k.rounding)] = true;
    control_[8] = k.flush;
  }
  void TearDown() override { finish(); }
  static Unit& unit() {
    static ConvertUnit instance;
    return *instance.unit;
  }
  void check(std::uint32_t in) {
    cases_.push_back(in);
    if (cases_.size() == Unit::vectors) finish();
  }
  void finish() {
    const auto cases = std::exchange(cases_, {});
    const auto results = unit().run(control_, cases);
    for (std::size_t v = 0; v < cases.size(); ++v)
      ASSERT_EQ(results[v], expected(GetParam(), cases[v])) << fmt::format("in = {:#010x}", cases[v]);
  }

 private:
  std::vector<bool> control_;
  std::vector<std::uint32_t> cases_;
};

// Every exponent, or place of the leading one, with the remainders around a tie at every place below it.
TEST_P(Convert, IsExactOnCornerCases) {
  const bool from_int = GetParam().kind == Kind::IntToFloat;
  const auto check_around = [this](std::uint32_t x) {
    for (std::uint32_t delta = 0; delta < 3; ++delta) check(x + delta - 1);
  };
  if (from_int) {
    for (int i = 0; i < word_bits; ++i)
      for (int j = 0; j <= i; ++j) {
        check_around((1u << i) + (1u << j));
        check_around((1u << i) + (3u << j));
        check_around(0u - (1u << i) - (1u << j));
      }
    return;
  }
  const std::uint32_t signs[] = {0, 0x80000000};
  for (const std::uint32_t negative : signs)
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
      const std::uint32_t x = negative | exponent << 23;
      for (const std::uint32_t mantissa :
           {0u, 1u, 2u, 0x2aaaaau, 0x3fffffu, 0x400000u, 0x400001u, 0x555555u, 0x7ffffeu, 0x7fffffu})
        check(x | mantissa);
      if (exponent < 125 || exponent > 160) continue;
      for (int j = 0; j < 23; ++j) {
        check_around(x | 1u << j);
        if (j < 22) check_around(x | 3u << j);
        check_around(x | (0x7fffffu & ~(1u << j)));
      }
    }
}

TEST_P(Convert, IsExactOnRandomOperands) {
  const std::uint32_t seed = 20210;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 engine(seed);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  const bool from_int = GetParam().kind == Kind::IntToFloat;
  for (int v = 0; v < 60 * Unit::vectors; ++v) {
    std::uint32_t x = random();
    if (from_int) {
      const auto shift = random() % 32;
      x = v % 2 ? x >> shift : static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> shift);
    } else if (v % 4 != 0) {  // exponents where the binary point is in or near the mantissa
      x = (x & 0x807fffff) | (120 + random() % 44) << 23;
      if (v % 4 == 1) x &= ~0u << random() % 24;
    }
    check(x);
  }
}

std::vector<Conversion> every_conversion() {
  std::vector<Conversion> all;
  for (const Kind kind : {Kind::IntToFloat, Kind::FloatToInt, Kind::FloatToIntegral})
    for (const bool is_signed : {false, true})
      for (const Rounding rounding :
           {Rounding::NearestEven, Rounding::TowardZero, Rounding::Down, Rounding::Up})
        for (const bool flush : {false, true}) {
          if ((flush && kind == Kind::IntToFloat) || (is_signed && kind == Kind::FloatToIntegral)) continue;
          all.push_back({kind, is_signed, rounding, flush});
        }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Every, Convert, testing::ValuesIn(every_conversion()),
                         [](const auto& k) { return name_of(k.param); });

TEST(ConvertUnit, IsSilentWhenOff) {
  ConvertUnit u;
  const std::uint32_t seed = 7;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 engine(seed);
  std::vector<std::uint32_t> cases(Unit::vectors);
  for (auto& x : cases) x = static_cast<std::uint32_t>(engine());
  // Whatever the operand and the modifiers.
  for (unsigned modifiers = 0; modifiers < 64; ++modifiers) {
    std::vector<bool> control(9);
    for (std::size_t k = 0; k < 6; ++k) control[3 + k] = (modifiers >> k & 1) != 0;
    u.unit->run(control, cases);
    for (const auto& neuron : u.c.neurons())
      for (int v = 0; v < 8; ++v)
        ASSERT_TRUE(u.unit->evaluator().get(neuron.gate, v) <= 0 ||
                    u.unit->evaluator().get(neuron.up, v) == 0)
            << "a neuron of " << u.c.signals()[neuron.outputs.front().signal].name;
  }
}

TEST(ConvertUnit, FitsTheModel) {
  ConvertUnit u;
  const auto report = circuit::compile(u.c, {{"step"}, -1, -1}).report;
  SCOPED_TRACE(circuit::to_text(report));
  EXPECT_LE(report.depth, 6);
  EXPECT_LE(report.neurons, 1500);
  EXPECT_TRUE(report.certificate.bf16.empty());
}

}  // namespace
}  // namespace qwengpu::machine

// The sequences of float_routines.h against the CPU, on the model of test_model.h.
#include "ptx/float_routines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <optional>
#include <random>

#include "test_model.h"

namespace qwengpu::ptx::ir {
namespace {

using Bits = std::uint32_t;
using Unary = Value (*)(Emitter&, Value, bool);

float number(Bits bits) { return std::bit_cast<float>(bits); }
Bits bits(float x) { return x != x ? 0x7fffffff : std::bit_cast<Bits>(x); }

class Routine {
 public:
  explicit Routine(const std::function<Value(Emitter&, Value, Value)>& emit) {
    Emitter e(function_);
    a_ = Value::reg(function_.new_register());
    b_ = Value::reg(function_.new_register());
    result_ = emit(e, a_, b_);
    e.exit();
    model_.emplace(function_);
  }
  explicit Routine(Unary emit, bool flush = false)
      : Routine([=](Emitter& e, Value a, Value) { return emit(e, a, flush); }) {}
  Routine(const Routine&) = delete;
  float operator()(float a, float b = 0) {
    model_->reg(a_) = std::bit_cast<Bits>(a);
    model_->reg(b_) = std::bit_cast<Bits>(b);
    model_->executed = 0;
    model_->run();
    return number(model_->reg(result_));
  }
  // Instructions for these operands, and all there are.
  void record(const std::string& name, float a, float b = 0) {
    (*this)(a, b);
    std::size_t all = 0;
    for (const Block& block : function_.blocks) all += block.code.size();
    testing::Test::RecordProperty(name, fmt::format("{} of {}", model_->executed, all));
  }

 private:
  Function function_;
  Value a_, b_, result_;
  std::optional<Model> model_;
};

const std::vector<float> edges = {0.0f,
                                  -0.0f,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  0.5f,
                                  1.5f,
                                  10,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  0x1p-126f,
                                  -0x1p-126f,
                                  0x1p-149f,
                                  0x3p-149f,
                                  -0x1p-149f,
                                  0x1.fffffcp-127f,
                                  0x1p-127f,
                                  0x1.fffffep127f,
                                  -0x1.fffffep127f,
                                  0x1p127f,
                                  0x1p126f,
                                  0x1.8p126f,
                                  0x1.000002p126f,
                                  0x1p125f,
                                  0x1.fffffep125f,
                                  0x1p-125f,
                                  0x1p-100f,
                                  0x1p-50f,
                                  0x1p50f,
                                  0x1p60f,
                                  0x1p-40f,
                                  0x1p24f,
                                  0x1.fffffep0f,
                                  0x1.fffffep-1f,
                                  0x1.000002p0f,
                                  0x1.fffffcp0f,
                                  100,
                                  88.5f,
                                  -104,
                                  126,
                                  -126,
                                  128,
                                  -149,
                                  -150,
                                  127.9f};

// QWENGPU_TEST_FLOATS: how many times as thorough.
unsigned rounds(unsigned usual) {
  const char* variable = std::getenv("QWENGPU_TEST_FLOATS");
  return variable != nullptr ? usual * static_cast<unsigned>(std::atoi(variable)) : usual;
}
unsigned stride(unsigned usual) { return std::max(usual / std::max(rounds(1), 1u), 1u); }

// Any bits; near exponents; subnormal results; short and long mantissas.
std::pair<float, float> pair(std::mt19937& random) {
  const auto any = [&] { return static_cast<Bits>(random()); };
  Bits a = any(), b = any();
  const auto with_exponent = [](Bits x, Bits exponent) { return (x & 0x807fffff) | (exponent & 255) << 23; };
  switch (any() % 8) {
    case 0:
    case 1:
    case 2:
      a = with_exponent(a, 117 + any() % 20);
      b = with_exponent(b, 117 + any() % 20);
      break;
    case 3: {  // results from half of the smallest subnormal to twice the smallest normal number
      const Bits exponent = any() % 100;
      a = with_exponent(a, 1 + exponent);
      b = with_exponent(b, exponent + 127 + any() % 26);
      break;
    }
    case 4:
      a &= ~0u << any() % 23;
      b &= ~0u << any() % 23;
      break;
    case 5:
      a = (a & 0xff800000) | (0x7fffff - any() % 8);
      b = (b & 0xff800000) | (any() % 2 ? any() % 8 : 0x7fffff - any() % 8);
      break;
    default:
      break;
  }
  return {number(a), number(b)};
}

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

void check_quotient(Routine& divide, float a, float b) {
  ASSERT_EQ(bits(divide(a, b)), bits(a / b))
      << fmt::format("{:a} / {:a} = {:a}, not {:a}", a, b, a / b, divide(a, b));
}

TEST(FloatRoutines, DivisionIsExact) {
  Routine divide([](Emitter& e, Value a, Value b) { return divide_exactly(e, a, b, false); });
  for (const float a : edges)
    for (const float b : edges) check_quotient(divide, a, b);
  std::mt19937 random(1);
  for (unsigned n = rounds(1'000'000); n-- > 0 && !HasFatalFailure();) {
    const auto [a, b] = pair(random);
    check_quotient(divide, a, b);
  }
  divide.record("instructions", 7, 3);
}

// The quotients nearest to the middle between two numbers: a 2^24 or a 2^25 = m b +- 1, m odd.
TEST(FloatRoutines, DivisionOfHardNumbers) {
  Routine divide([](Emitter& e, Value a, Value b) { return divide_exactly(e, a, b, false); });
  std::mt19937 random(2);
  int checked = 0;
  for (unsigned n = rounds(300'000); n-- > 0 && !HasFatalFailure();) {
    const std::uint64_t b = n % 16 == 0 ? 0xffffff - 2 * (n / 16 % 1000) : 0x800001 | (random() & 0x7fffff);
    std::uint64_t inverse = 1;
    for (int step = 0; step < 6; ++step) inverse *= 2 - b * inverse;
    for (const unsigned power : {24u, 25u})
      for (const std::uint64_t rest : {std::uint64_t{1}, ~std::uint64_t{0}}) {
        const std::uint64_t mask = (std::uint64_t{1} << power) - 1, m = (0 - inverse * rest) & mask;
        for (const std::uint64_t top : {m, m + mask + 1}) {
          const std::uint64_t a = (top * b + rest) >> power;
          if (a < 0x800000 || a > 0xffffff || top >> 24 != 1) continue;
          ++checked;
          check_quotient(divide, static_cast<float>(a), static_cast<float>(b));
          check_quotient(divide, static_cast<float>(a) * 0x1p-130f, static_cast<float>(b));
        }
      }
  }
  EXPECT_GT(checked, 1000);
}

TEST(FloatRoutines, DivisionByConstants) {
  std::mt19937 random(8);
  std::vector<float> divisors = {3,     -7, 10,      0.1f, 255, 0x1.fffffep0f, 0x1.fffffep30f, 0x1.000002p-3f,
                                 1e30f, 0,  INFINITY};
  for (int n = 0; n < 50; ++n) divisors.push_back(number(0x3f800000 + (random() & 0x7fffff)));
  for (const float b : divisors) {
    Routine divide(
        [&](Emitter& e, Value a, Value) { return divide_exactly(e, a, Value::imm(bits(b)), false); });
    for (const float a : edges) check_quotient(divide, a, b);
    for (unsigned n = rounds(10'000); n-- > 0 && !HasFatalFailure();)
      check_quotient(divide, pair(random).first, b);
    if (b == 3) divide.record("instructions", 7, 3);
  }
}

TEST(FloatRoutines, DivisionWithFlush) {
  Routine divide([](Emitter& e, Value a, Value b) { return divide_exactly(e, a, b, true); });
  std::mt19937 random(3);
  const auto check = [&](float a, float b) {
    const float q = flushed(flushed(a) / flushed(b));
    ASSERT_EQ(bits(divide(a, b)), bits(q)) << fmt::format("{:a} / {:a}", a, b);
  };
  for (const float a : edges)
    for (const float b : edges) check(a, b);
  for (unsigned n = rounds(100'000); n-- > 0 && !HasFatalFailure();) {
    const auto [a, b] = pair(random);
    check(a, b);
  }
}

// Every step-th mantissa of [1, 4), and some of every exponent.
template <class Check>
void for_many(unsigned step, Check check) {
  for (const float x : edges) check(x);
  for (Bits mantissa = 0; mantissa < 1u << 24; mantissa += step) check(number(0x3f800000 + mantissa));
  std::mt19937 random(4);
  for (Bits exponent = 0; exponent < 256; ++exponent)
    for (unsigned n = 0; n < 64; ++n) check(number(exponent << 23 | (random() & 0x807fffff)));
}

TEST(FloatRoutines, ReciprocalIsExact) {
  Routine routine(
      [](Emitter& e, Value x, Value) { return divide_exactly(e, Value::imm(0x3f800000), x, false); });
  for_many(stride(7), [&](float x) { ASSERT_EQ(bits(routine(x)), bits(1 / x)) << fmt::format("{:a}", x); });
  routine.record("instructions", 3);
}

TEST(FloatRoutines, SquareRootIsExact) {
  Routine routine(square_root_exactly);
  for_many(stride(7),
           [&](float x) { ASSERT_EQ(bits(routine(x)), bits(std::sqrt(x))) << fmt::format("{:a}", x); });
  routine.record("instructions", 3);
}

struct Worst {
  double error = 0;
  float x = 0, y = 0;
  void note(double e, float at, float other = 0) {
    if (e > error) error = e, x = at, y = other;
  }
  std::string text() const { return fmt::format("{} at {:a}, {:a}", error, x, y); }
};
double relative(float got, double right) { return std::fabs((got - right) / right); }
double ulps(float got, double right) {
  const float size = std::max(std::fabs(static_cast<float>(right)), 0x1p-126f);
  return std::fabs(got - right) / std::ldexp(1.0, std::ilogb(size) - 23);
}
std::string power(double error) { return fmt::format("2^{:.2f}", std::log2(error)); }

void expect_same(Routine& routine, const std::vector<std::pair<float, float>>& values) {
  for (const auto& [x, y] : values)
    EXPECT_EQ(bits(routine(x)), bits(y)) << fmt::format("{:a} gives {:a}, not {:a}", x, routine(x), y);
}

TEST(FloatRoutines, NearReciprocal) {
  Routine routine(reciprocal_nearly), flush(reciprocal_nearly, true);
  Worst worst;
  for_many(stride(7), [&](float x) {
    if (x == 0 || !std::isfinite(x) || std::fabs(1 / x) == INFINITY) return;
    worst.note(ulps(routine(x), 1.0 / x), x);
  });
  EXPECT_LE(worst.error, 1) << worst.text();
  expect_same(routine, {{0.0f, INFINITY}, {-0.0f, -INFINITY}, {INFINITY, 0}, {-INFINITY, -0.0f}, {NAN, NAN}});
  expect_same(flush, {{0x1p-130f, INFINITY}, {-0x1p-149f, -INFINITY}, {4, 0.25f}, {0x1.8p126f, 0}});
  RecordProperty("ulp", fmt::format("{:.3f}", worst.error));
  routine.record("instructions", 3);
}

TEST(FloatRoutines, NearDivision) {
  Routine routine([](Emitter& e, Value a, Value b) { return divide_nearly(e, a, b, false); });
  Worst worst;
  std::mt19937 random(5);
  const auto check = [&](float a, float b) {
    const float q = a / b;
    if (!std::isfinite(q) || a == 0 || std::isinf(b)) {
      if (std::fabs(a) < 0x1p100f && std::fabs(b) > 0x1p-20f) {
        ASSERT_EQ(bits(routine(a, b)), bits(q)) << fmt::format("{:a} / {:a}", a, b);
      }
      return;
    }
    worst.note(ulps(routine(a, b), static_cast<double>(a) / b), a, b);
  };
  for (const float a : edges)
    for (const float b : edges) check(a, b);
  for (unsigned n = rounds(1'000'000); n-- > 0 && !HasFatalFailure();) {
    const auto [a, b] = pair(random);
    check(a, b);
  }
  EXPECT_LE(worst.error, 2) << worst.text();
  RecordProperty("ulp", fmt::format("{:.3f}", worst.error));
  routine.record("instructions", 7, 3);
}

TEST(FloatRoutines, NearRoots) {
  Routine root(square_root_nearly), inverse(reciprocal_square_root_nearly);
  Worst of_root, of_inverse;
  for_many(stride(7), [&](float x) {
    if (!(x > 0) || !std::isfinite(x)) return;
    of_root.note(relative(root(x), std::sqrt(static_cast<double>(x))), x);
    of_inverse.note(relative(inverse(x), 1 / std::sqrt(static_cast<double>(x))), x);
  });
  EXPECT_LE(of_root.error, 0x1p-23) << of_root.text();
  EXPECT_LE(of_inverse.error, std::pow(2, -22.9)) << of_inverse.text();
  expect_same(
      root, {{0, 0}, {-0.0f, -0.0f}, {INFINITY, INFINITY}, {-1, NAN}, {-INFINITY, NAN}, {NAN, NAN}, {4, 2}});
  expect_same(inverse,
              {{0, INFINITY}, {-0.0f, -INFINITY}, {INFINITY, 0}, {-1, NAN}, {-INFINITY, NAN}, {NAN, NAN}});
  RecordProperty("relative", power(of_root.error) + " " + power(of_inverse.error));
  root.record("root", 3);
  inverse.record("inverse", 3);
}

TEST(FloatRoutines, Exponential) {
  Routine routine(exponential_nearly), flush(exponential_nearly, true);
  Worst worst;
  const auto check = [&](float x) {
    if (!(std::fabs(x) < 160)) return;
    const double right = std::exp2(static_cast<double>(x));
    if (right >= 0x1.ffffffp127) {
      EXPECT_EQ(routine(x), INFINITY) << x;
      return;
    }
    worst.note(ulps(routine(x), right), x);
  };
  for_many(stride(31), check);
  std::mt19937 random(6);
  for (unsigned n = rounds(300'000); n-- > 0;)
    check(std::ldexp(static_cast<float>(static_cast<int>(random())), -23));
  EXPECT_LE(worst.error, 2) << worst.text();
  expect_same(routine, {{0, 1},
                        {-0.0f, 1},
                        {INFINITY, INFINITY},
                        {-INFINITY, 0},
                        {NAN, NAN},
                        {10, 1024},
                        {-140, 0x1p-140f},
                        {1e30f, INFINITY},
                        {-1e30f, 0},
                        {127, 0x1p127f},
                        {-126, 0x1p-126f}});
  expect_same(flush, {{-127, 0}, {-126, 0x1p-126f}, {1, 2}});
  RecordProperty("ulp", fmt::format("{:.3f}", worst.error));
  routine.record("instructions", 3);
}

TEST(FloatRoutines, Logarithm) {
  Routine routine(logarithm_nearly), flush(logarithm_nearly, true);
  Worst near, far, relatively;
  const auto check = [&](float x) {
    if (!(x > 0) || !std::isfinite(x)) return;
    const double right = std::log2(static_cast<double>(x));
    const float got = routine(x);
    if (right == 0) {
      EXPECT_EQ(got, 0);
      return;
    }
    relatively.note(relative(got, right), x);
    if (x > 0.5f && x < 2)
      near.note(std::fabs(got - right), x);
    else
      far.note(relative(got, right), x);
  };
  for_many(stride(15), check);
  for (Bits mantissa = 0; mantissa < 1u << 23; mantissa += stride(15)) check(number(0x3f000000 + mantissa));
  EXPECT_LE(near.error, 0x1p-22) << near.text();
  EXPECT_LE(far.error, 0x1p-22) << far.text();
  EXPECT_LE(relatively.error, 0x1p-21) << relatively.text();
  expect_same(routine, {{0, -INFINITY},
                        {-0.0f, -INFINITY},
                        {INFINITY, INFINITY},
                        {-1, NAN},
                        {NAN, NAN},
                        {8, 3},
                        {0x1p-149f, -149},
                        {0x1p-126f, -126},
                        {-INFINITY, NAN}});
  expect_same(flush, {{0x1p-140f, -INFINITY}, {-0x1p-140f, -INFINITY}, {0x1p-126f, -126}, {8, 3}});
  RecordProperty("absolute", power(near.error));
  RecordProperty("relative", power(far.error) + " " + power(relatively.error));
  routine.record("instructions", 3);
}

TEST(FloatRoutines, SineAndCosine) {
  for (const bool cosine : {false, true}) {
    Routine routine([=](Emitter& e, Value x, Value) { return sine_nearly(e, x, cosine, false); });
    Worst near, far;
    std::mt19937 random(7);
    for (unsigned n = rounds(600'000); n-- > 0;) {
      const double span = n % 2 == 0 ? 2 * M_PI : 100 * M_PI;
      const float x = static_cast<float>(span * (static_cast<double>(random()) * 0x1p-31 - 1));
      const double right = cosine ? std::cos(static_cast<double>(x)) : std::sin(static_cast<double>(x));
      (n % 2 == 0 ? near : far).note(std::fabs(routine(x) - right), x);
    }
    EXPECT_LE(near.error, std::pow(2, -20.5)) << near.text();
    EXPECT_LE(far.error, std::pow(2, -14.7)) << far.text();
    expect_same(routine, {{INFINITY, NAN}, {-INFINITY, NAN}, {NAN, NAN}});
    if (!cosine) expect_same(routine, {{0, 0}, {-0.0f, -0.0f}});
    const std::string name = cosine ? "cos" : "sin";
    RecordProperty(name + "_absolute", power(near.error) + " " + power(far.error));
    routine.record(name, 3);
  }
}

TEST(FloatRoutines, HyperbolicTangent) {
  Routine routine([](Emitter& e, Value x, Value) { return hyperbolic_tangent_nearly(e, x); });
  Worst worst;
  for_many(stride(15), [&](float x) {
    if (std::isfinite(x) && x != 0) worst.note(relative(routine(x), std::tanh(static_cast<double>(x))), x);
  });
  EXPECT_LE(worst.error, 0x1p-11) << worst.text();
  expect_same(routine, {{0, 0}, {-0.0f, -0.0f}, {INFINITY, 1}, {-INFINITY, -1}, {NAN, NAN}});
  RecordProperty("relative", power(worst.error));
  routine.record("instructions", 3);
}

}  // namespace
}  // namespace qwengpu::ptx::ir

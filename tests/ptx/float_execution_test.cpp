// Kernels with float against the CPU: bit for bit where every operation is rounded, else within the error
// that the header states.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "execution.h"
#include "float_kernels.h"

namespace qwengpu {
namespace {

struct Named {
  const char* name;
  Body body;
  bool exact;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }
const std::vector<Named> kernels = {
#define X(name) {#name, body::name, true},
    FLOAT_KERNELS(X)
#undef X
#define X(name) {#name, body::name, false},
        NEAR_KERNELS(X)
#undef X
};

// As it stands in the kernels, for doubles.
struct Function {
  const char* name;
  double (*value)(double x, double y);
  double ulp, lowest, highest;
};
void PrintTo(const Function& function, std::ostream* out) { *out << function.name; }
const std::vector<Function> functions = {
#define X(name, of_floats, of_doubles, ulp, lowest, highest)                                              \
  {#name, []([[maybe_unused]] double x, [[maybe_unused]] double y) -> double { return of_doubles; }, ulp, \
   lowest, highest},
    FLOAT_FUNCTIONS(X)
#undef X
};

const ptx::Module& module(const std::string& compiler) {
  return module_of(FLOAT_KERNELS_FILE, compiler, {"-ffp-contract=off"}, {"-fmad=false"});
}

// Numbers near 1, of any size, whole ones, and the edges.
Words numbers(std::size_t count, unsigned seed) {
  static constexpr float edges[] = {
      0.0f,      -0.0f,       1,         -1,       0.5f,      2.5f,          INFINITY, -INFINITY,      NAN,
      0x1p-149f, 0x1.4p-127f, 0x1p-126f, 0x1p127f, 0x1p-100f, 0x1.fffffep0f, -3.5f,    0x1.fffffep127f};
  std::mt19937 generator(seed);
  const auto random = [&] { return static_cast<unsigned>(generator()); };
  Words words(count);
  for (unsigned& word : words) {
    const unsigned kind = random() % 8;
    if (kind == 0)
      word = std::bit_cast<unsigned>(edges[random() % std::size(edges)]);
    else if (kind < 3)
      word = random();
    else if (kind < 4)
      word = std::bit_cast<unsigned>(0.5f * static_cast<float>(static_cast<int>(random() % 2000) - 1000));
    else
      word = (random() & 0x807fffff) | (117 + random() % 20) << 23;
  }
  return words;
}

class FloatExecution : public testing::TestWithParam<Named> {
 protected:
  void check(const std::string& compiler) {
    isa::Kernel kernel;
    try {
      kernel = module(compiler).compile(GetParam().name);
    } catch (const ptx::Unsupported& unsupported) {
      // nvcc's own sinf and cosf have a table and doubles for large arguments.
      if (compiler.empty() || GetParam().exact) throw;
      GTEST_SKIP() << unsupported.what();
    }
    run_shapes(kernel, GetParam().body, numbers, [&](const Words& got, const Words& right) {
      if (GetParam().exact) {
        ASSERT_EQ(got, right) << ptx::listing(kernel);
        return;
      }
      for (std::size_t n = 0; n < got.size(); ++n) {
        const float x = std::bit_cast<float>(got[n]), y = std::bit_cast<float>(right[n]);
        if (got[n] != right[n]) {
          ASSERT_NEAR(x, y, 1e-5f * (std::fabs(y) + 1)) << n;
        }
      }
    });
  }
};

TEST_P(FloatExecution, ComputesWhatTheCpuDoes) { check(""); }

TEST_P(FloatExecution, ComputesWhatTheCpuDoesWithNvcc) {
  try {
    module("nvcc");
  } catch (const ptx::CompileError&) {
    GTEST_SKIP() << "nvcc is not installed";
  }
  check("nvcc");
}

INSTANTIATE_TEST_SUITE_P(Kernels, FloatExecution, testing::ValuesIn(kernels),
                         [](const auto& each) { return std::string(each.param.name); });

// Quotients, reciprocals and roots of many numbers.
TEST(FloatDivision, IsExact) {
  for (const auto& [name, body] :
       {std::pair<const char*, Body>{"quotients", body::quotients}, {"roots", body::roots}}) {
    const isa::Kernel kernel = module("").compile(name);
    const Shape s{{8, 1, 1}, {256, 1, 1}, 4096, 2048, 0};
    const Words a = numbers(s.words, 11), b = numbers(s.words, 12), c(s.words);
    EXPECT_EQ(on_emulator(kernel, s, a, b, c).second, on_cpu(body, s, a, b, c)) << name;
  }
}

// What C++ leaves open: conversions out of range, and NaNs (PTX ISA 9.7.9, cvt).
TEST(FloatConversions, OutOfRange) {
  const isa::Kernel kernel = ptx::Module(R"(.version 6.3
.target sm_70
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u32 n, .param .u32 m)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>, %a, %c; .reg .f32 %x; .reg .b16 %h;
	ld.param.u64 %a, [pa];
	ld.param.u64 %c, [pc];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %a, %r1, 4, %a;
	mad.wide.u32 %c, %r1, 32, %c;
	ld.global.f32 %x, [%a];
	cvt.rzi.s64.f32 %d1, %x;
	cvt.rzi.u64.f32 %d2, %x;
	cvt.rzi.s32.f32 %r2, %x;
	cvt.rpi.u32.f32 %r3, %x;
	cvt.rni.s16.f32 %h, %x;
	cvt.s32.s16 %r4, %h;
	cvt.rmi.u8.f32 %r5, %x;
	st.global.u64 [%c], %d1;
	st.global.u64 [%c+8], %d2;
	st.global.v4.u32 [%c+16], {%r2, %r3, %r4, %r5};
	ret;
})",
                                         "t.ptx")
                                 .compile("k");
  const std::vector<float> x = {-35.5f, -0x1p33f, 0x1p63f, -0x1p63f, 1e30f, -1e30f, INFINITY, -INFINITY,
                                NAN,    0x1p64f,  5e9f,    -70000,   70000, 0.5f,   255.9f,   -0.0f};
  Words a;
  for (const float value : x) a.push_back(std::bit_cast<unsigned>(value));
  a.resize(128);
  const Shape s{{1, 1, 1}, {16, 1, 1}, 128, 0, 0};
  const Words got = on_emulator(kernel, s, a, a, Words(128)).second;
  const auto clamped = [](double value, double low, double high) {
    return std::isnan(value) ? 0 : std::clamp(value, low, high);
  };
  for (std::size_t n = 0; n < x.size(); ++n) {
    const auto word = [&](std::size_t k) { return got[8 * n + k]; };
    const float whole = std::trunc(x[n]);
    const auto s64 = std::isnan(whole)  ? 0
                     : whole >= 0x1p63f ? std::int64_t{0x7fffffffffffffff}
                     : whole < -0x1p63f ? -std::int64_t{0x7fffffffffffffff} - 1
                                        : static_cast<std::int64_t>(whole);
    const auto u64 = !(whole > 0)       ? 0
                     : whole >= 0x1p64f ? ~std::uint64_t{0}
                                        : static_cast<std::uint64_t>(whole);
    EXPECT_EQ(std::uint64_t{word(1)} << 32 | word(0), static_cast<std::uint64_t>(s64)) << x[n];
    EXPECT_EQ(std::uint64_t{word(3)} << 32 | word(2), u64) << x[n];
    EXPECT_EQ(static_cast<int>(word(4)), static_cast<int>(clamped(whole, -0x1p31, 0x1p31 - 1))) << x[n];
    EXPECT_EQ(word(5), static_cast<unsigned>(clamped(std::ceil(x[n]), 0, 0x1p32 - 1))) << x[n];
    EXPECT_EQ(static_cast<int>(word(6)), static_cast<int>(clamped(std::rint(x[n]), -32768, 32767))) << x[n];
    EXPECT_EQ(word(7), static_cast<unsigned>(clamped(std::floor(x[n]), 0, 255))) << x[n];
  }
}

// The functions of the header.
class FloatFunction : public testing::TestWithParam<Function> {};

TEST_P(FloatFunction, IsWithinItsError) {
  const Function& f = GetParam();
  const isa::Kernel kernel = module("").compile(f.name);
  constexpr std::size_t count = 4096;
  const Shape s{{count / 256, 1, 1}, {256, 1, 1}, count, count, 0};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> inside(f.lowest, f.highest), near(-2, 2);
  Words a(count), b(count);
  for (std::size_t n = 0; n < count; ++n) {
    // Half of the arguments are within 2 of 0, or of 1 where negative ones are left out.
    double x = n % 2 == 0      ? inside(random)
               : f.lowest >= 0 ? f.lowest + std::exp2(near(random))
                               : near(random);
    if (n % 64 == 0) x = f.lowest;
    if (n % 64 == 1) x = f.highest;
    a[n] = std::bit_cast<unsigned>(static_cast<float>(x));
    b[n] = std::bit_cast<unsigned>(static_cast<float>(8 * near(random)));
  }
  const Words got = on_emulator(kernel, s, a, b, Words(count)).second;
  double worst = 0;
  float worst_x = 0, worst_y = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const float x = std::bit_cast<float>(a[n]), y = std::bit_cast<float>(b[n]),
                result = std::bit_cast<float>(got[n]);
    const double right = f.value(x, y);
    const float nearest = static_cast<float>(right);
    if (!std::isfinite(nearest) || !std::isfinite(result)) {
      if (std::isfinite(nearest) && std::fabs(right) > 0x1.fffff0p127) continue;
      EXPECT_TRUE(result == nearest || (std::isnan(result) && std::isnan(nearest)))
          << x << " " << y << " " << result;
      continue;
    }
    const float size = std::max(std::fabs(nearest), 0x1p-126f);
    const double error = std::fabs(result - right) / std::ldexp(1.0, std::ilogb(size) - 23);
    if (error > worst) worst = error, worst_x = x, worst_y = y;
  }
  EXPECT_LE(worst, f.ulp) << "at " << worst_x << ", " << worst_y;
  RecordProperty("ulp", std::to_string(worst));
  RecordProperty("instructions", static_cast<int>(kernel.code.size()));
}

INSTANTIATE_TEST_SUITE_P(Header, FloatFunction, testing::ValuesIn(functions),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace qwengpu

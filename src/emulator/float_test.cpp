#include "emulator/float.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>

#include "emulator/arithmetic.h"
#include "emulator/test_floats.h"
#include "isa/assembly.h"

namespace qwengpu::emulator {
namespace {

using isa::Instruction;
using isa::Op;
using isa::OpInfo;
using isa::Unit;

std::vector<OpInfo> float_ops() {
  std::vector<OpInfo> ops;
  for (const OpInfo& op : isa::op_table)
    if (op.has('F') && op.unit < isa::Unit::Load) ops.push_back(op);
  return ops;
}

// OP with every combination of the modifiers it may have.
std::vector<Instruction> forms(const OpInfo& op) {
  std::vector<Instruction> result;
  const isa::Modifiers allowed = isa::modifiers_of(op);
  for (int rounding = 0; rounding < (allowed.rounding ? 4 : 1); ++rounding)
    for (int flush = 0; flush <= allowed.flush; ++flush)
      for (int saturate = 0; saturate <= allowed.saturate; ++saturate) {
        Instruction i;
        i.op = op.op;
        i.rounding = static_cast<isa::Rounding>(rounding);
        i.flush = flush != 0, i.saturate = saturate != 0;
        result.push_back(i);
      }
  return result;
}

std::string difference(const Instruction& i, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const bool truth = isa::info(i.op).unit == Unit::FloatCompare;
  const std::uint32_t got = truth ? compare(i, a, b) : calculate(i, a, b, c);
  const std::uint32_t expected = truth ? HostFloat(i).truth(a, b) : HostFloat(i).word(a, b, c);
  if (got == expected) return "";
  return fmt::format("{} with a = {:#010x}, b = {:#010x}, c = {:#010x}: {:#010x}, but {:#010x} on the CPU",
                     isa::disassemble(i), a, b, c, got, expected);
}

TEST(FloatTest, EveryFormOfEveryOpIsTheCpusOnCorners) {
  const std::vector<std::uint32_t> corners = float_corners();
  for (const OpInfo& op : float_ops())
    for (const Instruction& i : forms(op)) {
      const std::vector<std::uint32_t> one = {0xdeadbeef};
      for (std::uint32_t a : op.has('a') ? corners : one)
        for (std::uint32_t b : corners)
          for (std::uint32_t c : op.has('c') ? corners : one) ASSERT_EQ(difference(i, a, b, c), "");
    }
}

TEST(FloatTest, EveryFormOfEveryOpIsTheCpusOnRandomOperands) {
  constexpr std::uint64_t seed = 20250314;
  SCOPED_TRACE(seed);
  RandomFloats random(seed);
  for (const OpInfo& op : float_ops())
    for (Instruction i : forms(op))
      for (int n = op.unit == Unit::FloatArithmetic ? 60'000 : 10'000; n > 0; --n) {
        if (op.has('N')) {
          i.negate_a = random.below(4) == 0, i.absolute_a = random.below(4) == 0;
          i.negate_b = random.below(4) == 0, i.absolute_b = random.below(4) == 0;
          i.negate_c = op.has('c') && random.below(4) == 0;
        }
        const auto [a, b, c] = random.operands();
        ASSERT_EQ(difference(i, a, b, c), "");
      }
}

TEST(FloatTest, ConversionsOfIntegersAndNumbersAroundThem) {
  for (const Op op : {Op::I2fS, Op::I2fU, Op::F2iS, Op::F2iU, Op::Frnd})
    for (const Instruction& i : forms(isa::info(op))) {
      // Around every power of two, where a binary32 has all, half or a quarter of the integers.
      for (int shift = 0; shift < 32; ++shift)
        for (std::uint32_t distance = 0; distance < 64; ++distance)
          for (std::uint32_t step : {1u, 64u, 128u}) {
            const std::uint32_t x = (1u << shift) + step * distance - 32 * step;
            ASSERT_EQ(difference(i, 0, x, 0), "");
            ASSERT_EQ(difference(i, 0, 0u - x, 0), "");
          }
      // Quarters.
      for (int quarters = -200; quarters <= 200; ++quarters)
        ASSERT_EQ(difference(i, 0, std::bit_cast<std::uint32_t>(static_cast<float>(quarters) / 4), 0), "");
    }
}

std::uint32_t value(std::string_view text, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  return calculate(isa::assemble(text).at(0), a, b, c);
}

TEST(FloatTest, NamedCases) {
  const auto f = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  constexpr std::uint32_t nan = 0x7fffffff, infinity = 0x7f800000, sign = 0x80000000;
  constexpr std::uint32_t least_normal = 0x00800000, largest = 0x7f7fffff;
  EXPECT_EQ(value("FADD R1, R2, R3", f(1), f(2)), f(3));
  EXPECT_EQ(value("FADD R1, R2, -R3", f(1), f(1)), 0u);
  EXPECT_EQ(value("FADD.RM R1, R2, -R3", f(1), f(1)), sign);
  EXPECT_EQ(value("FADD R1, R2, R3", sign, sign), sign);
  EXPECT_EQ(value("FADD.RM R1, R2, R3", 0, 0), 0u);
  EXPECT_EQ(value("FADD R1, R2, R3", infinity, infinity | sign), nan);
  EXPECT_EQ(value("FMUL R1, R2, R3", infinity, 0), nan);
  EXPECT_EQ(value("FMUL R1, R2, R3", 0xff812345, f(1)), nan);
  EXPECT_EQ(value("FMUL.SAT R1, R2, R3", 0xff812345, f(1)), 0u);
  EXPECT_EQ(value("FMUL.RZ R1, R2, R3", largest, f(2)), largest);
  EXPECT_EQ(value("FMUL.RM R1, R2, R3", largest, f(-2)), infinity | sign);
  EXPECT_EQ(value("FMUL.SAT R1, R2, R3", 0, f(-2)), 0u);  // not -0
  EXPECT_EQ(value("FMUL.FTZ R1, R2, R3", least_normal, f(-0.5f)), sign);
  // A result that rounding makes normal is not flushed.
  EXPECT_EQ(value("FMUL.FTZ R1, R2, R3", least_normal + 1, f(1 - 0x1p-23f)), least_normal);
  EXPECT_EQ(value("FFMA R1, R2, R3, R4", f(1 + 0x1p-23f), f(1 + 0x1p-23f), f(-1 - 0x1p-22f)), f(0x1p-46f));
  EXPECT_EQ(value("FFMA R1, R2, R3, R4", infinity, f(1), infinity | sign), nan);
  EXPECT_EQ(value("FMIN R1, R2, R3", 0, sign), sign);
  EXPECT_EQ(value("FMAX R1, R2, R3", sign, 0), 0u);
  EXPECT_EQ(value("FMAX R1, R2, R3", 0xffffffff, f(-3)), f(-3));
  EXPECT_EQ(value("FMIN R1, R2, R3", 0xff812345, 0x7f812345), nan);
  EXPECT_EQ(value("FMIN.FTZ R1, -|R2|, R3", 1, 0), sign);
  EXPECT_EQ(value("I2F.S32 R1, R2", 0, 0xffffffff), f(-1));
  EXPECT_EQ(value("I2F.U32 R1, R2", 0, 0xffffffff), f(0x1p32f));
  EXPECT_EQ(value("I2F.U32.RZ R1, R2", 0, 0xffffffff), f(0x1p32f - 256));
  EXPECT_EQ(value("F2I.S32 R1, R2", 0, f(2.5f)), 2u);
  EXPECT_EQ(value("F2I.S32 R1, R2", 0, f(3.5f)), 4u);
  EXPECT_EQ(value("F2I.S32.RM R1, R2", 0, f(-2.5f)), 0u - 3);
  EXPECT_EQ(value("F2I.S32 R1, R2", 0, f(1e10f)), 0x7fffffffu);
  EXPECT_EQ(value("F2I.S32 R1, R2", 0, infinity | sign), sign);
  EXPECT_EQ(value("F2I.U32 R1, R2", 0, f(-1)), 0u);
  EXPECT_EQ(value("F2I.U32 R1, R2", 0, nan), 0u);
  EXPECT_EQ(value("F2I.U32.RP R1, R2", 0, 1), 1u);
  EXPECT_EQ(value("F2I.U32.RP.FTZ R1, R2", 0, 1), 0u);
  EXPECT_EQ(value("FRND R1, R2", 0, f(-0.5f)), sign);
  EXPECT_EQ(value("FRND.RP R1, R2", 0, f(0.25f)), f(1));
  EXPECT_EQ(value("FRND R1, R2", 0, 0xff812345), nan);
  EXPECT_EQ(value("FRND R1, R2", 0, infinity), infinity);
}

}  // namespace
}  // namespace qwengpu::emulator

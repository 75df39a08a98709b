#include "emulator/arithmetic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <vector>

#include "emulator/test_transcript.h"
#include "isa/assembly.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;

const std::vector<std::uint32_t> edges = {0,          1,          2,          15,         31,
                                          32,         33,         63,         0xff,       0x100,
                                          0xffff,     0x10000,    0x7ffffffe, 0x7fffffff, 0x80000000,
                                          0x80000001, 0xfffffffe, 0xffffffff, 0xffffffe0, 0xdeadbeef};

std::int32_t s(std::uint32_t x) { return static_cast<std::int32_t>(x); }
std::uint32_t u(std::int64_t x) { return static_cast<std::uint32_t>(x); }

// d = f(a, b), by the host compiler's operators.
const std::map<Op, std::function<std::uint32_t(std::uint32_t, std::uint32_t)>> functions = {
    {Op::Mov, [](auto, auto b) { return b; }},
    {Op::Iadd, [](auto a, auto b) { return a + b; }},
    {Op::Isub, [](auto a, auto b) { return a - b; }},
    {Op::Imul, [](auto a, auto b) { return a * b; }},
    {Op::ImulHiS, [](auto a, auto b) { return u((std::int64_t{s(a)} * s(b)) >> 32); }},
    {Op::ImulHiU, [](auto a, auto b) { return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32); }},
    {Op::Imad, [](auto a, auto b) { return a * b + a; }},  // c = a in this test
    {Op::IminS, [](auto a, auto b) { return s(a) < s(b) ? a : b; }},
    {Op::ImaxS, [](auto a, auto b) { return s(a) > s(b) ? a : b; }},
    {Op::IminU, [](auto a, auto b) { return a < b ? a : b; }},
    {Op::ImaxU, [](auto a, auto b) { return a > b ? a : b; }},
    {Op::Shl, [](auto a, auto b) { return b >= 32 ? 0 : a << b; }},
    {Op::ShrU, [](auto a, auto b) { return b >= 32 ? 0 : a >> b; }},
    {Op::ShrS, [](auto a, auto b) { return u(s(a) >> (b >= 32 ? 31 : b)); }},
    {Op::And, [](auto a, auto b) { return a & b; }},
    {Op::Or, [](auto a, auto b) { return a | b; }},
    {Op::Xor, [](auto a, auto b) { return a ^ b; }},
    {Op::Sel, [](auto a, auto b) { return a < b ? a : b; }},  // predicate: a < b
    {Op::SetpEq, [](auto a, auto b) { return a == b; }},
    {Op::SetpNe, [](auto a, auto b) { return a != b; }},
    {Op::SetpLtS, [](auto a, auto b) { return s(a) < s(b); }},
    {Op::SetpLeS, [](auto a, auto b) { return s(a) <= s(b); }},
    {Op::SetpGtS, [](auto a, auto b) { return s(a) > s(b); }},
    {Op::SetpGeS, [](auto a, auto b) { return s(a) >= s(b); }},
    {Op::SetpLtU, [](auto a, auto b) { return a < b; }},
    {Op::SetpLeU, [](auto a, auto b) { return a <= b; }},
    {Op::SetpGtU, [](auto a, auto b) { return a > b; }},
    {Op::SetpGeU, [](auto a, auto b) { return a >= b; }},
    {Op::PlopAnd, [](auto a, auto b) { return a & b & 1; }},
    {Op::PlopOr, [](auto a, auto b) { return (a | b) & 1; }},
    {Op::PlopXor, [](auto a, auto b) { return (a ^ b) & 1; }},
};

// out[i] = op(a[i], b[i]) as a kernel.
std::vector<std::uint32_t> run_on_the_machine(const isa::OpInfo& op, const std::vector<std::uint32_t>& a,
                                              const std::vector<std::uint32_t>& b) {
  std::string statement;
  if (op.unit == isa::Unit::Compare)
    statement = fmt::format("{} P2, R1, R2\n SEL R3, P2, R4, RZ", op.mnemonic);
  else if (op.unit == isa::Unit::Predicate)
    statement = fmt::format("{} P2, P0, !P1\n SEL R3, P2, R4, RZ", op.mnemonic);
  else if (op.unit == isa::Unit::Select)
    statement = "ISETP.LT.U32 P2, R1, R2\n SEL R3, P2, R1, R2";
  else if (op.has('c'))
    statement = fmt::format("{} R3, R1, R2, R1", op.mnemonic);
  else if (op.has('a'))
    statement = fmt::format("{} R3, R1, R2", op.mnemonic);
  else
    statement = fmt::format("{} R3, R2", op.mnemonic);
  Case launch;
  launch.kernel.code = isa::assemble(fmt::format(R"(
        MOV  R4, 1
        MOV  R0, SR_TID.X
        SHL  R0, R0, 2
        IADD R1, R0, c[0x40]
        LDG  R1, [R1]
        IADD R2, R0, c[0x44]
        LDG  R2, [R2]
        AND  R5, R1, 1
        ISETP.NE P0, R5, 0
        AND  R5, R2, 1
        ISETP.EQ P1, R5, 0
        {}
        IADD R0, R0, c[0x48]
        STG  [R0], R3
        EXIT
  )",
                                                 statement));
  const auto bytes = static_cast<std::uint32_t>(4 * a.size());
  launch.block[0] = static_cast<std::uint32_t>(a.size());
  launch.buffers = {{bytes, true, false, a}, {bytes, true, false, b}, {bytes, false, true, {}}};
  launch.arguments = {{0, true}, {1, true}, {2, true}};
  return results_of(instructions_of(transcript_of(launch)));
}

TEST(ArithmeticTest, EveryOpOnTheMachineIsTheHostsOnEdgesAndRandomWords) {
  constexpr std::uint64_t seed = 20240611;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> a, b;
  for (std::uint32_t x : edges)
    for (std::uint32_t y : edges) {
      a.push_back(x);
      b.push_back(y);
    }
  while (a.size() < 1000) {
    a.push_back(static_cast<std::uint32_t>(random()));
    b.push_back(static_cast<std::uint32_t>(random()) >> (random() % 32));
  }
  for (const isa::OpInfo& op : isa::op_table) {
    if (op.privileged() || (!op.writes_register() && !op.writes_predicate()) || op.op == Op::Ldg) continue;
    ASSERT_TRUE(functions.contains(op.op)) << op.mnemonic;
    const std::vector<std::uint32_t> results = run_on_the_machine(op, a, b);
    ASSERT_EQ(results.size(), a.size()) << op.mnemonic;
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(results[i], functions.at(op.op)(a[i], b[i])) << op.mnemonic << " " << a[i] << ", " << b[i];
  }
}

TEST(ArithmeticTest, NamedCases) {
  using isa::Mode;
  using isa::Unit;
  constexpr std::uint32_t int_min = 0x80000000;
  EXPECT_EQ(calculate(Unit::Shift, Mode::Left, 1, 32, 0, false), 0u);
  EXPECT_EQ(calculate(Unit::Shift, Mode::RightUnsigned, int_min, 0xffffffff, 0, false), 0u);
  EXPECT_EQ(calculate(Unit::Shift, Mode::RightSigned, int_min, 32, 0, false), 0xffffffffu);
  EXPECT_EQ(calculate(Unit::Shift, Mode::RightSigned, 0x7fffffff, 400, 0, false), 0u);
  EXPECT_EQ(calculate(Unit::Multiply, Mode::HighSigned, int_min, int_min, 0, false), 0x40000000u);
  EXPECT_EQ(calculate(Unit::Multiply, Mode::HighSigned, 0xffffffff, 1, 0, false), 0xffffffffu);
  EXPECT_EQ(calculate(Unit::Multiply, Mode::HighUnsigned, 0xffffffff, 0xffffffff, 0, false), 0xfffffffeu);
  EXPECT_EQ(calculate(Unit::MinMax, Mode::MinSigned, int_min, 0, 0, false), int_min);
  EXPECT_EQ(calculate(Unit::MinMax, Mode::MinUnsigned, int_min, 0, 0, false), 0u);
  EXPECT_EQ(calculate(Unit::MultiplyAdd, Mode::Low, 0x10000, 0x10000, 7, false), 7u);
  EXPECT_TRUE(compare(Mode::LessSigned, int_min, 0));
  EXPECT_FALSE(compare(Mode::LessUnsigned, int_min, 0));
}

}  // namespace
}  // namespace qwengpu::emulator

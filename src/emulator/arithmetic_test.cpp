#include "emulator/arithmetic.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <vector>

#include "emulator/test_bits.h"
#include "emulator/test_floats.h"
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
    {Op::Sel, [](auto a, auto b) { return a < b ? a : b; }},              // predicate: a < b
    {Op::IaddX, [](auto a, auto b) { return a + b + (a < b ? 1 : 0); }},  // predicate: a < b
    {Op::IsubX, [](auto a, auto b) { return a - b - (a < b ? 0 : 1); }},
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

// An operation on a, b and c = a, as the table has it or with what every LOP3 needs, its table.
isa::Instruction plain(const isa::OpInfo& op) {
  isa::Instruction i;
  i.op = op.op;
  if (op.has('l')) i.table = 0x96;
  return i;
}

std::uint32_t expected(const isa::OpInfo& op, std::uint32_t a, std::uint32_t b) {
  if (const auto function = functions.find(op.op); function != functions.end()) return function->second(a, b);
  if (op.unit == isa::Unit::FloatCompare) return HostFloat(plain(op)).truth(a, b);
  return op.has('F') ? HostFloat(plain(op)).word(a, b, a) : bits_one_by_one(plain(op), a, b, a);
}

// out[i] = op(a[i], b[i]) as a kernel.
std::vector<std::uint32_t> run_on_the_machine(const isa::OpInfo& op, const std::vector<std::uint32_t>& a,
                                              const std::vector<std::uint32_t>& b) {
  std::string statement;
  if (op.unit == isa::Unit::Compare || op.unit == isa::Unit::FloatCompare)
    statement = fmt::format("{} P2, R1, R2\n SEL R3, P2, R4, RZ", op.mnemonic);
  else if (op.unit == isa::Unit::Predicate)
    statement = fmt::format("{} P2, P0, !P1\n SEL R3, P2, R4, RZ", op.mnemonic);
  else if (op.unit == isa::Unit::Select)
    statement = "ISETP.LT.U32 P2, R1, R2\n SEL R3, P2, R1, R2";
  else if (op.mode == isa::Mode::Carry)
    statement = fmt::format("ISETP.LT.U32 P2, R1, R2\n {} R3, R1, R2, P2", op.mnemonic);
  else if (op.has('l'))
    statement = fmt::format("{} R3, R1, R2, R1, 0x96", op.mnemonic);
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
        LD  R1, [R1]
        IADD R2, R0, c[0x44]
        LD  R2, [R2]
        AND  R5, R1, 1
        ISETP.NE P0, R5, 0
        AND  R5, R2, 1
        ISETP.EQ P1, R5, 0
        {}
        IADD R0, R0, c[0x48]
        ST  [R0], R3
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
  for (std::uint32_t x : float_corners()) {
    a.push_back(x);
    b.push_back(edges[a.size() % edges.size()]);
    a.push_back(0x3fc00000);
    b.push_back(x);
  }
  RandomFloats floats(seed);
  while (a.size() < 800) {
    const auto operands = floats.operands();
    a.push_back(operands[0]);
    b.push_back(operands[1]);
  }
  while (a.size() < 1000) {
    a.push_back(static_cast<std::uint32_t>(random()));
    b.push_back(static_cast<std::uint32_t>(random()) >> (random() % 32));
  }
  for (const isa::OpInfo& op : isa::op_table) {
    if (op.unit >= isa::Unit::Load || (!op.writes_register() && !op.writes_predicate())) continue;
    const std::vector<std::uint32_t> results = run_on_the_machine(op, a, b);
    ASSERT_EQ(results.size(), a.size()) << op.mnemonic;
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(results[i], expected(op, a[i], b[i])) << op.mnemonic << " " << a[i] << ", " << b[i];
  }
}

TEST(ArithmeticTest, BitInstructionsAreThoseOfThePtxIsaBitByBit) {
  constexpr std::uint64_t seed = 20250315;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  const auto number = [&] {
    switch (random() % 3) {
      case 0:
        return edges[random() % edges.size()];
      case 1:
        return word() >> random() % 32;
      default:
        return word();
    }
  };
  for (const isa::OpInfo& op : isa::op_table) {
    if (op.unit < isa::Unit::BitCount || op.unit > isa::Unit::FunnelShift) continue;
    for (int n = 0; n < 50'000; ++n) {
      isa::Instruction i = plain(op);
      if (op.has('l')) i.table = n % 256;
      const std::uint32_t a = number(), c = number();
      // Positions and lengths around the ends of the word, with bits above them that do not count.
      std::uint32_t b = number();
      if (op.unit == isa::Unit::BitField && n % 4 != 0)
        b = (b & 0xffff0000) | static_cast<std::uint32_t>(random() % 36 | random() % 36 << 8);
      ASSERT_EQ(calculate(i, a, b, c), bits_one_by_one(i, a, b, c))
          << isa::disassemble(i) << fmt::format(" with a = {:#x}, b = {:#x}, c = {:#x}", a, b, c);
    }
  }
}

// d, or the predicate, of an instruction that is written out.
std::uint32_t value(std::string_view text, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
  const isa::Instruction i = isa::assemble(text).at(0);
  return isa::info(i.op).writes_predicate() ? compare(i, a, b) : calculate(i, a, b, c);
}

TEST(ArithmeticTest, NamedCases) {
  constexpr std::uint32_t int_min = 0x80000000;
  EXPECT_EQ(value("SHL R1, R2, R3", 1, 32), 0u);
  EXPECT_EQ(value("SHR.U32 R1, R2, R3", int_min, 0xffffffff), 0u);
  EXPECT_EQ(value("SHR.S32 R1, R2, R3", int_min, 32), 0xffffffffu);
  EXPECT_EQ(value("SHR.S32 R1, R2, R3", 0x7fffffff, 400), 0u);
  EXPECT_EQ(value("IMUL.HI.S32 R1, R2, R3", int_min, int_min), 0x40000000u);
  EXPECT_EQ(value("IMUL.HI.S32 R1, R2, R3", 0xffffffff, 1), 0xffffffffu);
  EXPECT_EQ(value("IMUL.HI.U32 R1, R2, R3", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(value("IMIN.S32 R1, R2, R3", int_min, 0), int_min);
  EXPECT_EQ(value("IMIN.U32 R1, R2, R3", int_min, 0), 0u);
  EXPECT_EQ(value("IMAD R1, R2, R3, R4", 0x10000, 0x10000, 7), 7u);
  EXPECT_EQ(value("ISETP.LT.S32 P0, R2, R3", int_min, 0), 1u);
  EXPECT_EQ(value("ISETP.LT.U32 P0, R2, R3", int_min, 0), 0u);
  EXPECT_EQ(value("CLZ R1, R2", 0, 0), 32u);
  EXPECT_EQ(value("BFIND.S32 R1, R2", 0, 0xffffffff), 0xffffffffu);
  EXPECT_EQ(value("BFIND.S32 R1, R2", 0, 0xfffffffe), 0u);
  EXPECT_EQ(value("BFE.S32 R1, R2, R3", 0xf0, 0x404), 0xffffffffu);
  EXPECT_EQ(value("BFE.U32 R1, R2, R3", 0x12345678, 0x808), 0x56u);
  EXPECT_EQ(value("BFE.S32 R1, R2, R3", int_min, 0x140), 0xffffffffu);  // a's sign, from position 64 too
  EXPECT_EQ(value("BFI R1, R2, R3, R4", 0xab, 0x808, 0x11223344), 0x1122ab44u);
  EXPECT_EQ(value("PRMT R1, R2, R3, R4", 0x33221100, 0x7531, 0x77665544), 0x77553311u);
  EXPECT_EQ(value("PRMT R1, R2, R3, R4", 0x00008000, 0x9988, 0), 0xffff0000u);
  EXPECT_EQ(value("LOP3 R1, R2, R3, R4, 0xf0", 5, 6, 7), 5u);  // PTX ISA, lop3: the tables of a, b and c
  EXPECT_EQ(value("LOP3 R1, R2, R3, R4, 0xcc", 5, 6, 7), 6u);
  EXPECT_EQ(value("LOP3 R1, R2, R3, R4, 0xaa", 5, 6, 7), 7u);
  EXPECT_EQ(value("SHF.L R1, R2, R3, R4", 0x89abcdef, 8, 0x01234567), 0x23456789u);
  EXPECT_EQ(value("SHF.R R1, R2, R3, R4", 0x89abcdef, 40, 0x01234567), 0x6789abcdu);
  EXPECT_EQ(value("SHF.L R1, R2, R3, R4", 1, 32, 2), 2u);
}

}  // namespace
}  // namespace qwengpu::emulator

// Bit manipulation on the circuit's evaluator (real fp32 SiLU) against the CPU's arithmetic.
#include "machine/bits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "circuit/compile.h"
#include "circuit/evaluate.h"

namespace qwengpu::machine {
namespace {

constexpr int vectors = 256;
using Operands = std::array<std::uint32_t, 3>;  // a, b, d

std::int32_t as_signed(std::uint32_t x) { return static_cast<std::int32_t>(x); }
std::uint32_t as_unsigned(std::int64_t x) { return static_cast<std::uint32_t>(x); }

// The operations as the PTX ISA writes them.
std::uint32_t reverse(std::uint32_t a) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i) out |= (a >> i & 1) << (31 - i);
  return out;
}
std::uint32_t find(std::uint32_t a, bool is_signed, bool shift_amount) {
  if (is_signed && as_signed(a) < 0) a = ~a;
  for (int i = 31; i >= 0; --i)
    if ((a >> i & 1) != 0) return static_cast<std::uint32_t>(shift_amount ? 31 - i : i);
  return 0xffffffff;
}
std::uint32_t logic3(const Operands& x, unsigned table) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i)
    out |= (table >> (4 * (x[0] >> i & 1) + 2 * (x[1] >> i & 1) + (x[2] >> i & 1)) & 1) << i;
  return out;
}
std::uint32_t permute(const Operands& x) {
  const std::uint64_t bytes = std::uint64_t{x[1]} << 32 | x[0];
  std::uint32_t out = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t choice = x[2] >> 4 * i & 15;
    std::uint32_t byte = bytes >> 8 * (choice & 7) & 0xff;
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    out |= byte << 8 * i;
  }
  return out;
}
std::uint32_t funnel(std::uint32_t low, std::uint32_t high, std::uint32_t amount, bool left, bool wrap) {
  const std::uint32_t n = wrap ? amount & 31 : std::min(amount, 32u);
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<std::uint32_t>(left ? both << n >> 32 : both >> n);
}
std::uint32_t extract(const Operands& x, bool is_signed) {
  const auto [a, b, d] = x;
  const unsigned position = b & 0xff, length = d & 0xff;
  const unsigned last = std::min(position + length - 1, 31u);
  const std::uint32_t sign = is_signed && length != 0 ? a >> last & 1 : 0;
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 32; ++i)
    out |= (i < length && position + i <= 31 ? a >> (position + i) & 1 : sign) << i;
  return out;
}
std::uint32_t insert(const Operands& x) {
  const auto [a, b, d] = x;
  const unsigned position = b & 0xff, length = b >> 8 & 0xff;
  std::uint32_t out = d;
  for (unsigned i = 0; i < length && position + i <= 31; ++i)
    out = (out & ~(1u << (position + i))) | (a >> i & 1) << (position + i);
  return out;
}
std::uint32_t difference(const Operands& x, bool is_signed) {
  const std::int64_t a = is_signed ? as_signed(x[0]) : std::int64_t{x[0]},
                     b = is_signed ? as_signed(x[1]) : std::int64_t{x[1]};
  return as_unsigned(a < b ? b - a : a - b);
}

using Build = void (*)(Circuit& c, const Word& a, const Word& b, const Word& d, const Signals& control,
                       const Signals& result);
struct UnitInfo {
  const char* name;
  int controls;
  int modifiers;  // the last controls, which may be on when the unit is off
  Build build;
  int depth, neurons;  // at most
};

const UnitInfo population_count{"population_count",
                                1,
                                0,
                                [](Circuit& c, const Word& a, const Word&, const Word&, const Signals& k,
                                   const Signals& r) { build_population_count(c, a, k[0], r); },
                                1,
                                100};
const UnitInfo bit_reverse{"bit_reverse",
                           1,
                           0,
                           [](Circuit& c, const Word& a, const Word&, const Word&, const Signals& k,
                              const Signals& r) { build_bit_reverse(c, a, k[0], r); },
                           1,
                           32};
const UnitInfo find_unit{
    "find",
    4,
    1,
    [](Circuit& c, const Word& a, const Word&, const Word&, const Signals& k, const Signals& r) {
      build_find(c, a, {.leading_zeros = k[0], .position = k[1], .shift_amount = k[2], .is_signed = k[3]}, r);
    },
    2,
    100};
const UnitInfo logic3_unit{
    "logic3",
    9,
    8,
    [](Circuit& c, const Word& a, const Word& b, const Word& d, const Signals& k, const Signals& r) {
      build_logic3(c, a, b, d, Signals{k.begin() + 1, k.end()}, k[0], r);
    },
    1,
    256};
const UnitInfo permute_unit{"permute",
                            1,
                            0,
                            [](Circuit& c, const Word& a, const Word& b, const Word& d, const Signals& k,
                               const Signals& r) { build_permute(c, a, b, d, k[0], r); },
                            2,
                            600};
const UnitInfo shift_unit{
    "shift_unit",
    9,
    1,
    [](Circuit& c, const Word& a, const Word& b, const Word& d, const Signals& k, const Signals& r) {
      build_shift_unit(c, a, b, d,
                       {.left = k[0],
                        .right = k[1],
                        .funnel_left = k[2],
                        .funnel_right = k[3],
                        .funnel_left_wrap = k[4],
                        .funnel_right_wrap = k[5],
                        .extract = k[6],
                        .insert = k[7],
                        .is_signed = k[8]},
                       r);
    },
    5,
    1000};
const UnitInfo absolute_difference{
    "absolute_difference",
    2,
    1,
    [](Circuit& c, const Word& a, const Word& b, const Word&, const Signals& k, const Signals& r) {
      build_absolute_difference(c, a, b, k[1], k[0], r);
    },
    3,
    500};
const UnitInfo scaled_addend{
    "scaled_addend",
    4,
    3,
    [](Circuit& c, const Word& a, const Word&, const Word&, const Signals& k, const Signals& r) {
      build_scaled_addend(c, a, Signals{k.begin() + 1, k.end()}, k[0], r);
    },
    1,
    228};
const UnitInfo* const units[] = {&population_count, &bit_reverse, &find_unit,           &logic3_unit,
                                 &permute_unit,     &shift_unit,  &absolute_difference, &scaled_addend};

struct Op {
  const char* name;
  const UnitInfo* unit;
  unsigned control;
  std::function<std::uint32_t(const Operands&)> expected;
};
const std::vector<Op>& ops() {
  constexpr unsigned shift_signed = 1u << 8;
  static const std::vector<Op> all = {
      {"popc", &population_count, 1, [](const Operands& x) { return as_unsigned(std::popcount(x[0])); }},
      {"brev", &bit_reverse, 1, [](const Operands& x) { return reverse(x[0]); }},
      {"clz", &find_unit, 1, [](const Operands& x) { return as_unsigned(std::countl_zero(x[0])); }},
      {"bfind_u32", &find_unit, 2, [](const Operands& x) { return find(x[0], false, false); }},
      {"bfind_s32", &find_unit, 2 | 8, [](const Operands& x) { return find(x[0], true, false); }},
      {"bfind_shiftamt_u32", &find_unit, 4, [](const Operands& x) { return find(x[0], false, true); }},
      {"bfind_shiftamt_s32", &find_unit, 4 | 8, [](const Operands& x) { return find(x[0], true, true); }},
      {"lop3_and", &logic3_unit, 1 | 0x80 << 1, [](const Operands& x) { return x[0] & x[1] & x[2]; }},
      {"lop3_or", &logic3_unit, 1 | 0xfe << 1, [](const Operands& x) { return x[0] | x[1] | x[2]; }},
      {"lop3_xor", &logic3_unit, 1 | 0x96 << 1, [](const Operands& x) { return x[0] ^ x[1] ^ x[2]; }},
      {"lop3_choose", &logic3_unit, 1 | 0xca << 1,
       [](const Operands& x) { return (x[0] & x[1]) | (~x[0] & x[2]); }},
      {"prmt", &permute_unit, 1, permute},
      {"shl", &shift_unit, 1, [](const Operands& x) { return x[1] > 31 ? 0 : x[0] << x[1]; }},
      {"shr_u32", &shift_unit, 2, [](const Operands& x) { return x[1] > 31 ? 0 : x[0] >> x[1]; }},
      {"shr_s32", &shift_unit, 2 | shift_signed,
       [](const Operands& x) { return as_unsigned(as_signed(x[0]) >> std::min(x[1], 31u)); }},
      {"shf_l_clamp", &shift_unit, 4,
       [](const Operands& x) { return funnel(x[0], x[2], x[1], true, false); }},
      {"shf_r_clamp", &shift_unit, 8,
       [](const Operands& x) { return funnel(x[0], x[2], x[1], false, false); }},
      {"shf_l_wrap", &shift_unit, 16, [](const Operands& x) { return funnel(x[0], x[2], x[1], true, true); }},
      {"shf_r_wrap", &shift_unit, 32,
       [](const Operands& x) { return funnel(x[0], x[2], x[1], false, true); }},
      {"bfe_u32", &shift_unit, 64, [](const Operands& x) { return extract(x, false); }},
      {"bfe_s32", &shift_unit, 64 | shift_signed, [](const Operands& x) { return extract(x, true); }},
      {"bfi", &shift_unit, 128, insert},
      {"absdiff_u32", &absolute_difference, 1, [](const Operands& x) { return difference(x, false); }},
      {"absdiff_s32", &absolute_difference, 1 | 2, [](const Operands& x) { return difference(x, true); }},
      {"scaled_by_1", &scaled_addend, 1, [](const Operands& x) { return x[0]; }},
      {"scaled_by_4", &scaled_addend, 1 | 2 << 1, [](const Operands& x) { return x[0] << 2; }},
      {"scaled_by_128", &scaled_addend, 1 | 7 << 1, [](const Operands& x) { return x[0] << 7; }},
  };
  return all;
}

// A unit with its operands and controls as inputs.
class Bench {
 public:
  explicit Bench(const UnitInfo& info) {
    for (const char* name : {"a", "b", "d"}) operands_.push_back(circuit::input_word(c, name, word_bits));
    control_ = circuit::input_word(c, "control", info.controls);
    result_ = circuit::bus_word(c, "result", word_bits);
    info.build(c, operands_[0], operands_[1], operands_[2], control_, result_);
    for (const Signal bit : result_) c.add(bit, 0, 0);  // units may leave upper bits alone
    circuit::keep(c, result_);
    evaluator_ = std::make_unique<circuit::Evaluator>(c, vectors);
  }

  // Fails the test when a bit is not exactly 0 or 1.
  std::vector<std::uint32_t> run(unsigned control, const std::vector<Operands>& cases) {
    for (int v = 0; v < static_cast<int>(cases.size()); ++v) {
      for (std::size_t k = 0; k < control_.size(); ++k)
        evaluator_->set(control_[k], v, static_cast<float>(control >> k & 1));
      for (std::size_t o = 0; o < operands_.size(); ++o)
        for (std::size_t i = 0; i < word_bits; ++i)
          evaluator_->set(operands_[o][i], v,
                          static_cast<float>(cases[static_cast<std::size_t>(v)][o] >> i & 1));
    }
    evaluator_->step();
    std::vector<std::uint32_t> results(cases.size());
    for (std::size_t i = 0; i < word_bits; ++i) {
      const auto bits = evaluator_->values(result_[i]);
      for (std::size_t v = 0; v < cases.size(); ++v) {
        EXPECT_TRUE(bits[v] == 0 || bits[v] == 1) << "result bit " << i << " is " << bits[v];
        if (bits[v] == 1) results[v] |= 1u << i;
      }
    }
    return results;
  }
  const circuit::Evaluator& evaluator() const { return *evaluator_; }

  Circuit c{qwen::Geometry{}};

 private:
  std::vector<Signals> operands_;
  Signals control_, result_;
  std::unique_ptr<circuit::Evaluator> evaluator_;
};

Bench& bench(const UnitInfo& info) {
  static std::map<const UnitInfo*, std::unique_ptr<Bench>> made;
  auto& made_before = made[&info];
  if (!made_before) made_before = std::make_unique<Bench>(info);
  return *made_before;
}

class BitOp : public testing::TestWithParam<std::size_t> {
 protected:
  void check(const Operands& x) {
    cases_.push_back(x);
    if (cases_.size() == vectors) finish();
  }
  void finish() {
    const auto cases = std::exchange(cases_, {});
    const Op& op = ops()[GetParam()];
    const auto results = bench(*op.unit).run(op.control, cases);
    for (std::size_t v = 0; v < cases.size(); ++v)
      ASSERT_EQ(results[v], op.expected(cases[v]))
          << fmt::format("a = {:#x}, b = {:#x}, d = {:#x}", cases[v][0], cases[v][1], cases[v][2]);
  }
  void TearDown() override { finish(); }

 private:
  std::vector<Operands> cases_;
};

TEST_P(BitOp, IsExactOnCornerCases) {
  const std::uint32_t corners[] = {0,          1,          2,          7,          8,         31,
                                   32,         33,         0x7f,       0xff,       0x100,     0x120,
                                   0x800,      0x1f03,     0x2000,     0x7654,     0xfedc,    0x7fffffff,
                                   0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555};
  for (const std::uint32_t a : corners)
    for (const std::uint32_t b : corners)
      for (const std::uint32_t d : corners) check({a, b, d});
}

// Every single bit and its complement; every pair of a position and a length, in the two packings; every
// choice of a permutation.
TEST_P(BitOp, IsExactOnEveryPlace) {
  const std::uint32_t patterns[] = {0xa5c3f00f, 0x7b3d2e91};
  for (std::uint32_t i = 0; i < 40; ++i)
    for (std::uint32_t j = 0; j < 40; ++j) {
      const std::uint32_t one = i < 32 ? 1u << i : 0, other = j < 32 ? 1u << j : 0;
      check({one, other, one ^ other});
      check({~one, one | other, other});
      check({patterns[i % 2], i, j});
      check({patterns[j % 2], i | j << 8, patterns[i % 2]});
      check({patterns[0], patterns[1], i | j << 4 | (i ^ j) << 10});
    }
}

TEST_P(BitOp, IsExactOnRandomOperands) {
  const std::uint32_t seed = 4711;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 engine(seed);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (int v = 0; v < 40 * vectors; ++v) {
    Operands x{random() >> random() % 32, random() >> random() % 32, random()};
    if (v % 4 == 1) x[1] = random() % 40, x[2] = random() % 40;  // amounts, positions and lengths
    if (v % 4 == 2) x[1] = random() % 36 | (random() % 36) << 8 | random() << 16;  // the packing of bfi
    if (v % 4 == 3) x[1] = x[0] + random() % 3 - 1;                                // nearly equal
    check(x);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, BitOp, testing::Range(std::size_t{0}, ops().size()),
                         [](const auto& op) { return std::string(ops()[op.param].name); });

TEST(Logic3, IsExactForEveryTable) {
  Bench& unit = bench(logic3_unit);
  // All eight combinations, in two orders.
  const std::vector<Operands> cases = {{0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa},
                                       {0x0000ffff, 0x00ff00ff, 0x0f0f0f0f}};
  for (unsigned table = 0; table < 256; ++table) {
    const auto results = unit.run(1 | table << 1, cases);
    for (std::size_t v = 0; v < cases.size(); ++v)
      ASSERT_EQ(results[v], logic3(cases[v], table)) << fmt::format("table {:#x}", table);
  }
}

class BitUnit : public testing::TestWithParam<const UnitInfo*> {};

TEST_P(BitUnit, IsSilentWhenOff) {
  const UnitInfo& info = *GetParam();
  Bench& unit = bench(info);
  const std::uint32_t seed = 3;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 engine(seed);
  std::vector<Operands> cases(vectors);
  for (auto& x : cases)
    for (auto& operand : x) operand = static_cast<std::uint32_t>(engine());
  cases[0] = {};
  cases[1] = {0xffffffff, 0xffffffff, 0xffffffff};
  for (unsigned modifiers = 0; modifiers < 1u << info.modifiers; ++modifiers) {
    unit.run(modifiers << (info.controls - info.modifiers), cases);
    for (const auto& neuron : unit.c.neurons())
      for (int v = 0; v < 8; ++v)
        ASSERT_TRUE(unit.evaluator().get(neuron.gate, v) <= 0 || unit.evaluator().get(neuron.up, v) == 0)
            << "a neuron of " << unit.c.signals()[neuron.outputs.front().signal].name;
  }
}

TEST_P(BitUnit, FitsTheModel) {
  const UnitInfo& info = *GetParam();
  const auto report = circuit::compile(bench(info).c, {{"step"}, -1, -1}).report;
  SCOPED_TRACE(circuit::to_text(report));
  EXPECT_LE(report.depth, info.depth);
  EXPECT_LE(report.neurons, info.neurons);
  EXPECT_TRUE(report.certificate.bf16.empty());
}

INSTANTIATE_TEST_SUITE_P(Every, BitUnit, testing::ValuesIn(units),
                         [](const auto& unit) { return std::string(unit.param->name); });

}  // namespace
}  // namespace qwengpu::machine

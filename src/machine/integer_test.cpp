// The data path alone, on the circuit's evaluator (real fp32 SiLU), against the CPU's arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "circuit/evaluate.h"
#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using isa::Op;

// Operands and control bits as inputs, the integer data path as outputs.
class DataPath {
 public:
  static constexpr int vectors = 256;

  DataPath() : circuit_(qwen::Geometry{}) {
    Circuit& c = circuit_;
    wires_.a = circuit::input_word(c, "a", word_bits);
    wires_.b = circuit::input_word(c, "b", word_bits);
    wires_.c = circuit::input_word(c, "c", word_bits);
    wires_.chosen = c.input("chosen");
    wires_.lane_executes = c.input("lane_executes");
    controls_ = circuit::input_word(c, "controls", control_count);
    wires_.control = circuit::bus_word(c, "control", control_count);
    for (std::size_t i = 0; i < controls_.size(); ++i) c.add(wires_.control[i], 1, controls_[i]);
    wires_.table = circuit::input_word(c, "table", 8);
    wires_.instruction = circuit::input_word(c, "instruction", row_bits);
    wires_.token.store = c.input("store");
    wires_.token.copy = c.input("copy");
    wires_.token.commit = c.input("commit");
    wires_.token.renewing = c.input("renewing");
    wires_.turn = c.input("turn");
    c.exclusive({wires_.token.renewing, wires_.turn});
    wires_.offset = circuit::input_word(c, "offset", word_bits);
    wires_.address_low = circuit::input_word(c, "address_low", 2);
    wires_.result = circuit::bus_word(c, "result", word_bits);
    build_integer(c, wires_);
    build_bit_units(c, wires_);  // shifts
    evaluator_ = std::make_unique<circuit::Evaluator>(c, vectors);
  }

  struct Case {
    std::uint32_t a, b, c;
    bool chosen;
    std::uint32_t address = 0;  // of an atomic operation, its low bits in the register and in the offset
  };

  // The result for each case; fails the test when a bit is not exactly 0 or 1.
  std::vector<std::uint32_t> run(Op op, const std::vector<Case>& cases) {
    evaluator_->set_all_inputs_zero();
    for (std::size_t v = 0; v < cases.size(); ++v) {
      const int lane = static_cast<int>(v);
      for (Control control : control_word(isa::info(op), 15))
        evaluator_->set(controls_[static_cast<std::size_t>(control)], lane, 1);
      evaluator_->set(wires_.lane_executes, lane, 1);
      evaluator_->set(wires_.chosen, lane, isa::info(op).has('q') && cases[v].chosen);
      if (isa::info(op).unit == isa::Unit::Atomic) {
        evaluator_->set(wires_.turn, lane, 1);
        for (std::size_t i = 0; i < 2; ++i) {
          evaluator_->set(wires_.address_low[i], lane, static_cast<float>(cases[v].address >> i & 1));
          evaluator_->set(wires_.offset[i], lane, static_cast<float>(cases[v].address >> (2 + i) & 1));
        }
      }
      for (std::size_t i = 0; i < word_bits; ++i) {
        evaluator_->set(wires_.a[i], lane, static_cast<float>(cases[v].a >> i & 1));
        evaluator_->set(wires_.b[i], lane, static_cast<float>(cases[v].b >> i & 1));
        // As in the machine, operand c is only there for ops that read it.
        if (isa::info(op).reads_c())
          evaluator_->set(wires_.c[i], lane, static_cast<float>(cases[v].c >> i & 1));
      }
    }
    evaluator_->step();
    std::vector<std::uint32_t> results(cases.size());
    for (std::size_t v = 0; v < cases.size(); ++v)
      for (std::size_t i = 0; i < word_bits; ++i) {
        const float bit = evaluator_->get(wires_.result[i], static_cast<int>(v));
        EXPECT_TRUE(bit == 0 || bit == 1) << "result bit " << i << " is " << bit;
        if (bit == 1) results[v] |= 1u << i;
      }
    return results;
  }

 private:
  Circuit circuit_;
  Wires wires_;
  Signals controls_;
  std::unique_ptr<circuit::Evaluator> evaluator_;
};

std::uint32_t expected(Op op, const DataPath::Case& k) {
  const auto [a, b, c, chosen, place] = k;
  const std::uint32_t shift = 8 * ((place + (place >> 2)) & 3);  // of the byte in its word
  const auto sa = static_cast<std::int32_t>(a), sb = static_cast<std::int32_t>(b);
  switch (op) {
    case Op::Mov:
      return b;
    case Op::Iadd:
      return a + b;
    case Op::Isub:
      return a - b;
    case Op::Imul:
      return a * b;
    case Op::ImulHiU:
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    case Op::ImulHiS:
      return static_cast<std::uint32_t>(std::int64_t{sa} * sb >> 32);
    case Op::Imad:
      return a * b + c;
    case Op::IminS:
      return static_cast<std::uint32_t>(std::min(sa, sb));
    case Op::ImaxS:
      return static_cast<std::uint32_t>(std::max(sa, sb));
    case Op::IminU:
      return std::min(a, b);
    case Op::ImaxU:
      return std::max(a, b);
    case Op::Shl:
      return b > 31 ? 0 : a << b;
    case Op::ShrU:
      return b > 31 ? 0 : a >> b;
    case Op::ShrS:
      return static_cast<std::uint32_t>(sa >> std::min(b, 31u));
    case Op::And:
      return a & b;
    case Op::Or:
      return a | b;
    case Op::Xor:
      return a ^ b;
    case Op::Sel:
      return chosen ? a : b;
    case Op::IaddX:
      return a + b + (chosen ? 1 : 0);
    case Op::IsubX:
      return a - b - (chosen ? 0 : 1);
    case Op::AtomAdd:
      return a + b;
    case Op::AtomMinS:
      return static_cast<std::uint32_t>(std::min(sa, sb));
    case Op::AtomMaxS:
      return static_cast<std::uint32_t>(std::max(sa, sb));
    case Op::AtomMinU:
      return std::min(a, b);
    case Op::AtomMaxU:
      return std::max(a, b);
    case Op::AtomAnd:
      return a & b;
    case Op::AtomOr:
      return a | b;
    case Op::AtomXor:
      return a ^ b;
    case Op::AtomExch:
      return b;
    case Op::AtomCas:
      return a == b ? c : a;
    case Op::AtomInc:
      return a >= b ? 0 : a + 1;
    case Op::AtomDec:
      return a == 0 || a > b ? b : a - 1;
    case Op::St8:
      return (a & ~(0xffu << shift)) | (b & 0xff) << shift;
    case Op::St16:
      return (a & ~(0xffffu << (shift & 16))) | (b & 0xffff) << (shift & 16);
    default:
      ADD_FAILURE() << "not a data path op";
      return 0;
  }
}

constexpr Op data_path_ops[] = {
    Op::Mov,      Op::Iadd,     Op::Isub,     Op::Imul,     Op::ImulHiS, Op::ImulHiU, Op::Imad,
    Op::IminS,    Op::ImaxS,    Op::IminU,    Op::ImaxU,    Op::Shl,     Op::ShrU,    Op::ShrS,
    Op::And,      Op::Or,       Op::Xor,      Op::Sel,      Op::IaddX,   Op::IsubX,   Op::AtomAdd,
    Op::AtomMinS, Op::AtomMaxS, Op::AtomMinU, Op::AtomMaxU, Op::AtomAnd, Op::AtomOr,  Op::AtomXor,
    Op::AtomExch, Op::AtomCas,  Op::AtomInc,  Op::AtomDec,  Op::St8,     Op::St16};

class IntegerOp : public testing::TestWithParam<Op> {
 protected:
  static DataPath& data_path() {
    static DataPath instance;
    return instance;
  }
  void check(const std::vector<DataPath::Case>& cases) {
    const auto results = data_path().run(GetParam(), cases);
    for (std::size_t v = 0; v < cases.size(); ++v) {
      const auto& k = cases[v];
      ASSERT_EQ(results[v], expected(GetParam(), k))
          << fmt::format("a = {:#x}, b = {:#x}, c = {:#x}, chosen = {}", k.a, k.b, k.c, k.chosen);
    }
  }
};

TEST_P(IntegerOp, IsExactOnCornerCases) {
  const std::uint32_t corners[] = {0,          1,          2,          3,          31,         32,
                                   33,         0x7f,       0xff,       0x100,      0xffff,     0x10000,
                                   0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0x55555555};
  std::vector<DataPath::Case> cases;
  const auto flush = [&] {
    check(cases);
    cases.clear();
  };
  for (std::uint32_t a : corners)
    for (std::uint32_t b : corners) {
      cases.push_back({a, b, a ^ ~b, (a & 1) != 0, static_cast<std::uint32_t>(cases.size() % 16)});
      if (cases.size() == DataPath::vectors) flush();
    }
  flush();
}

TEST_P(IntegerOp, IsExactOnRandomOperands) {
  const std::uint32_t seed = 12345;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 engine(seed);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  for (int round = 0; round < 20; ++round) {
    std::vector<DataPath::Case> cases;
    for (int v = 0; v < DataPath::vectors; ++v) {
      // Every other shift amount small, operands of every size.
      const std::uint32_t a = random() >> random() % 32,
                          b = v % 2 ? random() >> random() % 32 : random() % 40;
      if (v % 8 == 7)
        cases.push_back({a, a, random(), true, random() % 16});  // equal, for CAS
      else
        cases.push_back({a, b, random(), random() % 2 != 0, random() % 16});
    }
    check(cases);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, IntegerOp, testing::ValuesIn(data_path_ops), [](const auto& op) {
  std::string name(isa::info(op.param).mnemonic);
  for (char& ch : name)
    if (ch == '.') ch = '_';
  return name;
});

}  // namespace
}  // namespace qwengpu::machine

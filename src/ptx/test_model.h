// The intermediate representation executed with the CPU's arithmetic, for tests: what a sequence computes,
// without the emulator.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "ptx/arithmetic.h"
#include "ptx/ir.h"

namespace qwengpu::ptx::ir {

class Model {
 public:
  explicit Model(const Function& function)
      : function_(function),
        registers_(static_cast<std::size_t>(function.registers)),
        predicates_(static_cast<std::size_t>(function.predicates)) {}

  std::uint32_t& reg(const Value& value) { return registers_[value.number]; }

  // Executes from block 0 to an exit.
  void run() {
    for (int b = 0, steps = 0;; ++steps) {
      if (steps > 10'000) throw std::runtime_error("endless");
      const Block& block = function_.blocks[static_cast<std::size_t>(b)];
      for (const Instruction& i : block.code)
        if (holds(i.guard)) execute(i);
      if (block.end.kind == End::Kind::Exit) return;
      b = block.end.kind == End::Kind::Branch && holds(block.end.condition) ? block.end.taken
                                                                            : block.end.next;
    }
  }
  int executed = 0;  // instructions

 private:
  bool holds(const Predicate& p) const {
    return p.fixed() ? !p.negated : (predicates_[static_cast<std::size_t>(p.index)] != 0) != p.negated;
  }
  std::uint32_t bits(const Value& value) const {
    return value.is_register() ? registers_[value.number] : value.number;
  }
  static float number(std::uint32_t x, bool negate, bool absolute, bool flush) {
    if (absolute) x &= 0x7fffffff;
    if (negate) x ^= 0x80000000;
    if (flush && (x & 0x7f800000) == 0) x &= 0x80000000;
    return std::bit_cast<float>(x);
  }
  static std::uint32_t result(float x, const Form& form) {
    if (form.rounding != isa::Rounding::NearestEven) throw std::runtime_error("rounding");
    if (form.saturate) x = x > 0 ? std::fmin(x, 1.0f) : 0.0f;
    if (x != x) return 0x7fffffff;
    const std::uint32_t r = std::bit_cast<std::uint32_t>(x);
    return form.flush && (r & 0x7f800000) == 0 ? r & 0x80000000 : r;
  }
  static bool compares(isa::Op op, float a, float b) {
    using isa::Op;
    switch (op) {
      case Op::FsetpEq:
        return a == b;
      case Op::FsetpNe:
        return a < b || a > b;
      case Op::FsetpLt:
        return a < b;
      case Op::FsetpLe:
        return a <= b;
      case Op::FsetpGt:
        return a > b;
      case Op::FsetpGe:
        return a >= b;
      case Op::FsetpLtu:
        return !(a >= b);
      default:
        throw std::runtime_error("compare");
    }
  }

  void execute(const Instruction& i) {
    using isa::Unit;
    ++executed;
    const std::uint32_t a = bits(i.a), b = bits(i.b), c = bits(i.c);
    const Form& f = i.form;
    const auto fa = [&] { return number(a, f.negate_a, f.absolute_a, f.flush); };
    const auto fb = [&] { return number(b, f.negate_b, f.absolute_b, f.flush); };
    const auto fc = [&] { return number(c, f.negate_c, false, f.flush); };
    const auto set = [&](std::uint32_t value) { registers_[static_cast<std::size_t>(i.d)] = value; };
    switch (i.info().unit) {
      case Unit::FloatArithmetic:
        if (i.op == isa::Op::Ffma) return set(result(std::fma(fa(), fb(), fc()), f));
        return set(result(i.op == isa::Op::Fadd ? fa() + fb() : fa() * fb(), f));
      case Unit::RoundToIntegral:
        return set(result(std::nearbyint(fb()), f));
      case Unit::ConvertToInteger: {
        const float x = std::nearbyint(fb());
        return set(x != x         ? 0
                   : x >= 0x1p31f ? 0x7fffffff
                   : x < -0x1p31f ? 0x80000000
                                  : static_cast<std::uint32_t>(static_cast<std::int32_t>(x)));
      }
      case Unit::ConvertToFloat:
        return set(std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(b))));
      case Unit::FloatCompare:
        predicates_[static_cast<std::size_t>(i.pd)] = compares(i.op, fa(), fb());
        return;
      case Unit::Compare:
        predicates_[static_cast<std::size_t>(i.pd)] = isa::compare(i.op, a, b);
        return;
      case Unit::Select:
        return set(holds(i.pa) ? a : b);
      default:
        if (const auto value = compute(i.op, a, b, c, f.table)) return set(*value);
        throw std::runtime_error("instruction");
    }
  }

  const Function& function_;
  std::vector<std::uint32_t> registers_;
  std::vector<char> predicates_;
};

}  // namespace qwengpu::ptx::ir

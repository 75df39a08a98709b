#include "ptx/fold.h"

#include <bit>
#include <optional>
#include <utility>

#include "ptx/arithmetic.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;
using isa::Unit;

constexpr std::uint32_t sign = 0x80000000;

class Folder {
 public:
  Folder(Instruction& instruction, Site here, const Facts& facts)
      : i_(instruction), here_(here), facts_(facts) {}

  bool run() {
    switch (i_.info().unit) {
      case Unit::Compare:
        return order_compare() || compare();
      case Unit::FloatCompare:
        return float_operands() || order_compare();
      case Unit::Predicate:
        return predicate();
      case Unit::Select:
        return select();
      case Unit::Load:
      case Unit::Store:
      case Unit::Atomic:
        return memory();
      default:
        break;
    }
    if (i_.d == none || i_.op == Op::Mov) return false;
    if (float_operands() || order_operands() || constant() || no_ones()) return true;
    if (i_.info().mode == isa::Mode::Carry) return carry();
    switch (i_.info().unit) {
      case Unit::Add:
        return add();
      case Unit::Subtract:
        return subtract();
      case Unit::Multiply:
        return multiply();
      case Unit::MultiplyAdd:
        return multiply_add();
      case Unit::MinMax:
        return i_.a == i_.b && move(i_.a);
      case Unit::Shift:
        return shift();
      case Unit::Logic:
        return logic();
      default:
        return false;
    }
  }

 private:
  // ---- New forms ----

  bool move(Value value) {
    i_.op = Op::Mov;
    i_.form = {};
    i_.a = i_.c = {};
    i_.b = value;
    return true;
  }
  bool become(Op op, Value a, Value b) {
    i_.op = op;
    i_.a = a;
    i_.b = b;
    i_.c = {};
    i_.form = {};
    return true;
  }
  bool decide(Predicate value) {
    if (i_.op == Op::PlopAnd && i_.pa == value && i_.pb == always) return false;
    i_.op = Op::PlopAnd;
    i_.a = i_.b = {};
    i_.form = {};
    i_.pa = value;
    i_.pb = always;
    return true;
  }

  // ---- What is known ----

  // The instruction that made the value, when it is of this kind and its operand A can be read here instead.
  const Instruction* made_by(Value value, Op op) const {
    const Instruction* source = facts_.source(value);
    if (source == nullptr || source->op != op || !facts_.available(source->a, facts_.site(value), here_))
      return nullptr;
    return source;
  }
  const Instruction* made_with_immediate(Value value, Op op) const {
    const Instruction* source = made_by(value, op);
    return source != nullptr && source->b.is_immediate() ? source : nullptr;
  }
  // value = 0 - x
  std::optional<Value> negated(Value value) const {
    const Instruction* source = facts_.source(value);
    if (source == nullptr || source->op != Op::Isub || !source->a.is(0) || !source->b.is_register() ||
        !facts_.available(source->b, facts_.site(value), here_))
      return std::nullopt;
    return source->b;
  }
  std::uint32_t ones(Value value) const { return facts_.possible_ones(value); }

  static int rank(const Value& value) { return value.is_register() ? 0 : value.is_immediate() ? 2 : 1; }

  // ---- Rules ----

  // Operand B is where constants can stand.
  bool order_operands() {
    if (!commutes(i_.op) || rank(i_.a) <= rank(i_.b)) return false;
    i_.exchange_operands();
    return true;
  }
  bool order_compare() {
    if (rank(i_.a) <= rank(i_.b)) return false;
    i_.exchange_operands();
    i_.op = swapped(i_.op);
    return true;
  }

  bool constant() {
    if (i_.info().unit >= Unit::BitCount && i_.info().unit <= Unit::FunnelShift) {
      bool known = true;
      for_each_value(i_, [&](const Value& value) { known &= value.is_immediate(); });
      if (!known) return false;  // a register among them, operand c too
      const auto value = compute(i_.op, i_.a.number, i_.b.number, i_.c.number, i_.form.table);
      return value && move(Value::imm(*value));
    }
    if (!i_.a.is_immediate() || !i_.b.is_immediate()) return false;
    if (i_.op == Op::Imad) {
      if (i_.c.is_immediate())
        return move(Value::imm(*ir::compute(i_.op, i_.a.number, i_.b.number, i_.c.number)));
      return become(Op::Iadd, i_.c, Value::imm(i_.a.number * i_.b.number));
    }
    const auto value = compute(i_.op, i_.a.number, i_.b.number, 0);
    return value && move(Value::imm(*value));
  }

  // Signs that are changed for floating point only are part of the operand.
  bool float_operands() {
    if (!i_.info().has('N')) return false;
    Form& form = i_.form;
    return float_operand(i_.a, form.negate_a, &form.absolute_a) ||
           float_operand(i_.b, form.negate_b, &form.absolute_b) ||
           (i_.info().reads_c() && float_operand(i_.c, form.negate_c, nullptr));
  }
  bool float_operand(Value& value, bool& negate, bool* absolute) {
    if (value.is_immediate()) {
      const std::uint32_t magnitude = absolute != nullptr && *absolute ? value.number & ~sign : value.number;
      const Value simple = Value::imm(negate ? magnitude ^ sign : magnitude);
      if (simple == value && !negate && (absolute == nullptr || !*absolute)) return false;
      value = simple;
      negate = false;
      if (absolute != nullptr) *absolute = false;
      return true;
    }
    if (const Instruction* inner = made_with_immediate(value, Op::Xor); inner && inner->b.number == sign) {
      if (absolute == nullptr || !*absolute) negate = !negate;
      value = inner->a;
      return true;
    }
    if (absolute == nullptr) return false;
    if (const Instruction* inner = made_with_immediate(value, Op::And); inner && inner->b.number == ~sign) {
      *absolute = true;
      value = inner->a;
      return true;
    }
    return false;
  }

  bool no_ones() {
    const Value result = Value::reg(i_.d);
    return facts_.source(result) == &i_ && ones(result) == 0 && move(Value::imm(0));
  }

  bool add() {
    if (i_.b.is(0)) return move(i_.a);
    if (i_.b.is_immediate())
      if (const Instruction* inner = made_with_immediate(i_.a, Op::Iadd))
        return become(Op::Iadd, inner->a, Value::imm(inner->b.number + i_.b.number));
    if (const auto b = negated(i_.b)) return become(Op::Isub, i_.a, *b);
    if (const auto a = negated(i_.a)) return become(Op::Isub, i_.b, *a);
    return false;
  }

  bool subtract() {
    if (i_.b.is_immediate()) return become(Op::Iadd, i_.a, Value::imm(0 - i_.b.number));
    if (i_.a == i_.b) return move(Value::imm(0));
    if (const auto b = negated(i_.b)) return i_.a.is(0) ? move(*b) : become(Op::Iadd, i_.a, *b);
    return false;
  }

  // a + b + q and a - b - 1 + q with a known q.
  bool carry() {
    if (!i_.pa.fixed()) return false;
    const bool sum = i_.op == Op::IaddX, in = i_.pa == always;
    if (in == sum && !i_.b.is_immediate()) return false;  // a + b + 1 of two registers stays as it is
    i_.pa = {};
    const std::uint32_t one = in == sum ? 1 : 0;
    if (one == 0) return become(sum ? Op::Iadd : Op::Isub, i_.a, i_.b);
    return become(sum ? Op::Iadd : Op::Isub, i_.a, Value::imm(i_.b.number + 1));
  }

  bool multiply() {
    if (i_.op == Op::Imul) {
      if (i_.b.is(1)) return move(i_.a);
      if (i_.b.is_immediate() && std::has_single_bit(i_.b.number))
        return become(Op::Shl, i_.a, Value::imm(static_cast<std::uint32_t>(std::countr_zero(i_.b.number))));
      return false;
    }
    const std::uint64_t a = ones(i_.a), b = ones(i_.b);
    if (i_.op == Op::ImulHiS) return ((a | b) & sign) == 0 && become(Op::ImulHiU, i_.a, i_.b);
    if ((a * b) >> 32 == 0) return move(Value::imm(0));
    if (i_.b.is_immediate() && std::has_single_bit(i_.b.number))
      return become(Op::ShrU, i_.a,
                    Value::imm(32 - static_cast<std::uint32_t>(std::countr_zero(i_.b.number))));
    return false;
  }

  bool multiply_add() {
    if (i_.c.is(0)) return become(Op::Imul, i_.a, i_.b);
    if (i_.b.is(0)) return move(i_.c);
    if (i_.b.is(1)) return become(Op::Iadd, i_.a, i_.c);
    return false;
  }

  bool shift() {
    if (!i_.b.is_immediate()) return i_.a.is(0) && move(i_.a);
    const std::uint32_t n = i_.b.number;
    if (n == 0) return move(i_.a);
    if (i_.op == Op::ShrS) {
      if ((ones(i_.a) & sign) == 0) return become(Op::ShrU, i_.a, i_.b);
      // Back from a shift that lost nothing but zeros.
      if (const Instruction* up = made_with_immediate(i_.a, Op::Shl); up && up->b.number == n && n < 32)
        return ones(up->a) >> (31 - n) == 0 && move(up->a);
      return false;
    }
    if (n > 31) return move(Value::imm(0));
    if (const Instruction* inner = made_with_immediate(i_.a, i_.op); inner && inner->b.number < 32)
      return become(i_.op, inner->a, Value::imm(inner->b.number + n));
    const Op opposite = i_.op == Op::Shl ? Op::ShrU : Op::Shl;
    if (const Instruction* inner = made_with_immediate(i_.a, opposite); inner && inner->b.number == n)
      return become(Op::And, inner->a, Value::imm(i_.op == Op::Shl ? 0xffffffff << n : 0xffffffff >> n));
    return false;
  }

  bool logic() {
    if (i_.a == i_.b) return move(i_.op == Op::Xor ? Value::imm(0) : i_.a);
    if (!i_.b.is_immediate()) return false;
    const std::uint32_t b = i_.b.number;
    if (i_.op == Op::And && (ones(i_.a) & ~b) == 0) return move(i_.a);
    if (i_.op != Op::And && b == 0) return move(i_.a);
    if (i_.op == Op::Or && b == 0xffffffff) return move(i_.b);
    if (const Instruction* inner = made_with_immediate(i_.a, i_.op))
      return become(i_.op, inner->a, Value::imm(*compute(i_.op, inner->b.number, b, 0)));
    if (const Instruction* choice = made_by_constants(i_.a)) {
      const Predicate condition = choice->pa;
      const Value yes = Value::imm(*compute(i_.op, choice->a.number, b, 0)),
                  no = Value::imm(*compute(i_.op, choice->b.number, b, 0));
      become(Op::Sel, yes, no);
      i_.pa = condition;
      return true;
    }
    return false;
  }

  // value = q ? constant : constant
  const Instruction* made_by_constants(Value value) const {
    const Instruction* source = facts_.source(value);
    if (source == nullptr || source->op != Op::Sel || !source->a.is_immediate() ||
        !source->b.is_immediate() || !facts_.available(source->pa, facts_.site(value), here_))
      return nullptr;
    return source;
  }

  bool select() {
    if (i_.pa.fixed()) return move(i_.pa.negated ? i_.b : i_.a);
    if (i_.a == i_.b) return move(i_.a);
    const bool exchange = i_.b.is(0) ? !i_.a.is(0) : !i_.a.is(0) && i_.a.is_fixed() && i_.b.is_register();
    if (!exchange) return false;
    std::swap(i_.a, i_.b);
    i_.pa = !i_.pa;
    return true;
  }

  bool compare() {
    if (i_.a.is_immediate() && i_.b.is_immediate())
      return decide(isa::compare(i_.op, i_.a.number, i_.b.number) ? always : never);
    if (i_.a == i_.b) return decide(isa::compare(i_.op, 0, 0) ? always : never);
    if (!i_.b.is_immediate()) return false;
    const std::uint32_t b = i_.b.number;
    if (const Instruction* choice = made_by_constants(i_.a)) {
      const bool yes = isa::compare(i_.op, choice->a.number, b),
                 no = isa::compare(i_.op, choice->b.number, b);
      return decide(yes == no ? (yes ? always : never) : yes ? choice->pa : !choice->pa);
    }
    return by_range(b);
  }

  bool by_range(std::uint32_t b) {
    using isa::Mode;
    const std::uint32_t most = ones(i_.a);
    const auto known = [&](bool value) { return decide(value ? always : never); };
    const bool positive = ((most | b) & sign) == 0;
    switch (i_.info().mode) {
      case Mode::Equal:
        return (b & ~most) != 0 && known(false);
      case Mode::NotEqual:
        return (b & ~most) != 0 && known(true);
      case Mode::LessUnsigned:
        return b == 0 ? known(false) : most < b && known(true);
      case Mode::GreaterEqualUnsigned:
        return b == 0 ? known(true) : most < b && known(false);
      case Mode::GreaterUnsigned:
        return most <= b && known(false);
      case Mode::LessEqualUnsigned:
        return most <= b && known(true);
      case Mode::LessSigned:
        return positive && (b == 0 ? known(false) : most < b && known(true));
      case Mode::GreaterEqualSigned:
        return positive && (b == 0 ? known(true) : most < b && known(false));
      case Mode::GreaterSigned:
        return positive && most <= b && known(false);
      case Mode::LessEqualSigned:
        return positive && most <= b && known(true);
      default:
        return false;
    }
  }

  bool predicate() {
    if (i_.pa.fixed() && !i_.pb.fixed()) {
      std::swap(i_.pa, i_.pb);
      return true;
    }
    if (i_.is_predicate_move()) return false;
    const Predicate a = i_.pa, b = i_.pb;
    const bool same = a.index == b.index, equal = a == b;
    switch (i_.op) {
      case Op::PlopAnd:
        if (b == always || (same && equal)) return decide(a);
        return (b == never || same) && decide(never);
      case Op::PlopOr:
        if (b == never || (same && equal)) return decide(a);
        return (b == always || same) && decide(always);
      case Op::PlopXor:
        if (b.fixed()) return decide(b == always ? !a : a);
        return same && decide(equal ? never : always);
      default:
        return false;
    }
  }

  bool memory() {
    if (const Instruction* inner = made_with_immediate(i_.a, Op::Iadd)) {
      i_.offset += inner->b.number;
      i_.a = inner->a;
      return true;
    }
    if (i_.a.is_immediate() && i_.a.number != 0) {
      i_.offset += i_.a.number;
      i_.a = Value::imm(0);
      return true;
    }
    return false;
  }

  Instruction& i_;
  Site here_;
  const Facts& facts_;
};

}  // namespace

bool fold(Instruction& instruction, Site here, const Facts& facts) {
  return Folder(instruction, here, facts).run();
}

}  // namespace qwengpu::ptx::ir

#include "isa/encoding.h"

#include <fmt/format.h>

#include <stdexcept>

namespace qwengpu::isa {
namespace {

void put(Row& word, Field where, std::uint32_t value, const char* name) {
  if (where.bits < 32 && value >> where.bits != 0)
    throw std::invalid_argument(fmt::format("instruction field {} does not hold {}", name, value));
  word[static_cast<std::size_t>(where.first / 32)] |= value << (where.first % 32);
}

std::uint32_t get(const Row& word, Field where) {
  const std::uint32_t shifted = word[static_cast<std::size_t>(where.first / 32)] >> (where.first % 32);
  return where.bits == 32 ? shifted : shifted & ((1u << where.bits) - 1);
}

}  // namespace

Row encode(const Instruction& i) {
  Row word{};
  if (i.op == Op::Illegal) return word;
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  put(word, field::op, static_cast<std::uint32_t>(i.op), "op");
  put(word, field::guard, number(i.guard.index), "guard");
  put(word, field::guard_negated, i.guard.negated, "guard_negated");
  for (const auto& [where, reg, name] : {std::tuple{field::rd, i.rd, "rd"}, {field::ra, i.ra, "ra"},
                                         {field::rb, i.rb, "rb"}, {field::rc, i.rc, "rc"}}) {
    if (reg < 0 || reg > rz) throw std::invalid_argument(fmt::format("register {} = R{} does not exist", name, reg));
    put(word, where, number(reg), name);
  }
  if (i.pd < 0 || i.pd >= 7) throw std::invalid_argument(fmt::format("predicate P{} cannot be written", i.pd));
  put(word, field::pd, number(i.pd), "pd");
  put(word, field::pa, number(i.pa.index), "pa");
  put(word, field::pa_negated, i.pa.negated, "pa_negated");
  put(word, field::pb, number(i.pb.index), "pb");
  put(word, field::pb_negated, i.pb.negated, "pb_negated");
  put(word, field::b_source, static_cast<std::uint32_t>(i.b_source), "b_source");
  put(word, field::immediate, i.immediate, "immediate");
  put(word, field::target, number(i.target), "target");
  const Modifiers allowed = modifiers_of(info(i.op));
  if ((i.rounding != Rounding::NearestEven && !allowed.rounding) || (i.flush && !allowed.flush) ||
      (i.saturate && !allowed.saturate))
    throw std::invalid_argument(fmt::format("{} does not take this rounding, flush or saturation", info(i.op).mnemonic));
  put(word, field::rounding, static_cast<std::uint32_t>(i.rounding), "rounding");
  put(word, field::flush, i.flush, "flush");
  put(word, field::saturate, i.saturate, "saturate");
  put(word, field::negate_a, i.negate_a, "negate_a");
  put(word, field::negate_b, i.negate_b, "negate_b");
  put(word, field::negate_c, i.negate_c, "negate_c");
  put(word, field::absolute_a, i.absolute_a, "absolute_a");
  put(word, field::absolute_b, i.absolute_b, "absolute_b");
  put(word, field::table, number(i.table), "table");
  return word;
}

Instruction decode(const Row& word) {
  Instruction i;
  if (word == Row{}) return i;
  const std::uint32_t op = get(word, field::op);
  if (op >= static_cast<std::uint32_t>(op_count))
    throw std::invalid_argument(fmt::format("opcode {} does not exist", op));
  i.op = static_cast<Op>(op);
  i.guard = {static_cast<int>(get(word, field::guard)), get(word, field::guard_negated) != 0};
  i.rd = static_cast<int>(get(word, field::rd));
  i.ra = static_cast<int>(get(word, field::ra));
  i.rb = static_cast<int>(get(word, field::rb));
  i.rc = static_cast<int>(get(word, field::rc));
  i.pd = static_cast<int>(get(word, field::pd));
  i.pa = {static_cast<int>(get(word, field::pa)), get(word, field::pa_negated) != 0};
  i.pb = {static_cast<int>(get(word, field::pb)), get(word, field::pb_negated) != 0};
  i.b_source = static_cast<BSource>(get(word, field::b_source));
  i.immediate = get(word, field::immediate);
  i.target = static_cast<int>(get(word, field::target));
  i.rounding = static_cast<Rounding>(get(word, field::rounding));
  i.flush = get(word, field::flush) != 0;
  i.saturate = get(word, field::saturate) != 0;
  i.negate_a = get(word, field::negate_a) != 0;
  i.negate_b = get(word, field::negate_b) != 0;
  i.negate_c = get(word, field::negate_c) != 0;
  i.absolute_a = get(word, field::absolute_a) != 0;
  i.absolute_b = get(word, field::absolute_b) != 0;
  i.table = static_cast<int>(get(word, field::table));
  if (encode(i) != word) throw std::invalid_argument("instruction word has bits outside its fields");
  return i;
}

}  // namespace qwengpu::isa

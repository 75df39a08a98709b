// Operand latches A, B, C and D: the row on the operand bus, kept for all lanes. What is read from them later is one lane, which costs
// nothing (the lane gates the value dimensions through z), or all lanes where a decision needs them.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::bus_word;
using circuit::write_when;

HeadSpec operand_head(const Wires& w, const std::string& name, const FloorPlan& plan, const Linear& write) {
  HeadSpec head{.name = name, .layer = plan.operands};
  head.key = {{0, write}};
  head.query = {{0, 1}};
  head.value = circuit::rows(w.operand);
  head.write_enable = write_when(write);
  return head;
}

// The selected lane's word, gated lane by lane.
Signals selected(Circuit& c, const Wires& w, const std::string& name, const FloorPlan& plan, const Linear& write,
                 const std::array<Linear, lanes>& read) {
  const Signals out = bus_word(c, name, word_bits);
  HeadSpec head = operand_head(w, name, plan, write);
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < word_bits; ++i) {
      head.z.push_back({word_bits * lane + i, read[static_cast<std::size_t>(lane)]});
      head.outputs.push_back({word_bits * lane + i, out[static_cast<std::size_t>(i)]});
    }
  c.head(std::move(head));
  return out;
}

std::array<Word, lanes> every_lane(Circuit& c, const Wires& w, const std::string& name, const FloorPlan& plan,
                                   const Linear& write, const Linear& read) {
  const Signals out = bus_word(c, name, row_bits);
  HeadSpec head = operand_head(w, name, plan, write);
  head.z = circuit::same_rows(read, row_bits);
  for (int i = 0; i < row_bits; ++i) head.outputs.push_back({i, out[static_cast<std::size_t>(i)]});
  c.head(std::move(head));
  std::array<Word, lanes> words;
  for (int lane = 0; lane < lanes; ++lane)
    words[static_cast<std::size_t>(lane)] = circuit::slice(out, word_bits * lane, word_bits);
  return words;
}

}  // namespace

void build_operands(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("operands");
  const TokenInputs& t = w.token;

  // The lane must execute for A, B and C, and sit out for D (the old value).
  const auto lane_reads = [&](Control use) {
    std::array<Linear, lanes> read;
    for (std::size_t l = 0; l < lanes; ++l)
      read[l] = circuit::and_(c, fmt::format("{}[{}]", control_name(use), l),
                              {t.select[l], w.executing[l], w.control_bit(use)});
    return read;
  };
  std::array<Linear, lanes> idle;
  for (std::size_t l = 0; l < lanes; ++l)
    idle[l] = circuit::and_(c, fmt::format("idle[{}]", l),
                            {t.select[l], 1 - Linear(w.executing[l]), w.control_bit(Control::Keep)});

  w.result = bus_word(c, "result", word_bits);
  w.a = selected(c, w, "a", plan, t.pc, lane_reads(Control::UseA));
  w.b = selected(c, w, "b", plan, t.op, lane_reads(Control::UseB));
  w.c = selected(c, w, "c", plan, t.operand_c, lane_reads(Control::UseC));
  w.old = selected(c, w, "d", plan, t.keep, idle);
  w.a_lanes = every_lane(c, w, "a_lanes", plan, t.pc, t.compare + t.check);
  w.b_lanes = every_lane(c, w, "b_lanes", plan, t.op, t.compare);

  w.lane_executes = c.bus("lane_executes");
  for (std::size_t l = 0; l < lanes; ++l) c.add(w.lane_executes, 1, both(t.select[l], w.executing[l]));

  // SEL: the predicate is latched at the op token, as a mask.
  w.chosen = c.bus("chosen");
  HeadSpec choice{.name = "choice", .layer = plan.operands};
  choice.key = {{0, t.select_op}};
  choice.query = {{0, 1}};
  choice.value = circuit::rows(w.source_q);
  choice.write_enable = write_when(t.select_op);
  for (int lane = 0; lane < lanes; ++lane) {
    choice.z.push_back({lane, both(t.select[static_cast<std::size_t>(lane)], w.control_bit(Control::Select))});
    choice.outputs.push_back({lane, w.chosen});
  }
  c.head(std::move(choice));

  // The modifiers of the instruction, latched at the op token; the rounding as a one-hot.
  const isa::Field flags[] = {isa::field::flush,    isa::field::saturate,   isa::field::negate_a,  isa::field::negate_b,
                              isa::field::negate_c, isa::field::absolute_a, isa::field::absolute_b};
  Word modifiers;
  for (std::uint64_t rounding = 0; rounding < 4; ++rounding)
    modifiers.push_back(circuit::match(w.field(isa::field::rounding), rounding));
  for (const isa::Field flag : flags) modifiers.push_back(w.field(flag).front());
  for (const Linear& bit : w.field(isa::field::table)) modifiers.push_back(bit);
  const Signals latched =
      circuit::latch(c, {.name = "modifiers", .layer = plan.operands, .write = t.op, .data = modifiers,
                         .read = circuit::and_(c, "modified", {t.use_control, w.control_bit(Control::Modified)})});
  w.rounding.assign(latched.begin(), latched.begin() + 4);
  c.exclusive(w.rounding);
  Signal* const flag_wires[] = {&w.flush,    &w.saturate,   &w.negate_a,  &w.negate_b,
                                &w.negate_c, &w.absolute_a, &w.absolute_b};
  for (std::size_t i = 0; i < std::size(flags); ++i) *flag_wires[i] = latched[4 + i];
  w.table.assign(latched.begin() + 11, latched.end());

  // Lane 0 of the operand of RUN and LIMIT.
  w.last_thread = circuit::latch(c, {.name = "last_thread", .layer = plan.operands, .write = t.run,
                                     .data = circuit::slice(w.operand, 0, 10), .read = t.use_pcs});
  w.limit = circuit::latch(c, {.name = "limit", .layer = plan.operands, .write = t.limit,
                               .data = circuit::slice(w.operand, 8, 10), .read = t.check});
}

}  // namespace qwengpu::machine

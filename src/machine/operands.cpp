// Operand latches A, B, C and D: the row on the operand bus, kept for all lanes. What is read from them later
// is one lane, which costs nothing (the lane gates the value dimensions through z), or all lanes where a
// decision needs them.
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
Signals selected(Circuit& c, const Wires& w, const std::string& name, const FloorPlan& plan,
                 const Linear& write, const std::array<Linear, lanes>& read) {
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
                              {w.select[l], w.executing[l], w.control_bit(use)});
    return read;
  };
  // A is the address in an atomic operation until the word is there; then it is the word.
  std::array<Linear, lanes> a_reads;
  for (std::size_t l = 0; l < lanes; ++l)
    a_reads[l] = circuit::and_(c, fmt::format("UseA[{}]", l),
                               {w.select[l], w.executing[l], w.control_bit(Control::UseA), 1 - w.renews()});
  std::array<Linear, lanes> idle;
  for (std::size_t l = 0; l < lanes; ++l)
    idle[l] = circuit::and_(c, fmt::format("idle[{}]", l),
                            {w.select[l], 1 - Linear(w.executing[l]), w.control_bit(Control::Keep)});

  w.result = bus_word(c, "result", word_bits);
  w.a = selected(c, w, "a", plan, t.pc, a_reads);
  for (int i = 0; i < word_bits; ++i) c.add(w.a[at(i)], 1, both(w.renews(), w.recalled[at(i)]));
  w.b = selected(c, w, "b", plan, t.op, lane_reads(Control::UseB));
  w.c = selected(c, w, "c", plan, t.operand_c, lane_reads(Control::UseC));
  w.old = selected(c, w, "d", plan, t.keep, idle);
  w.a_lanes = every_lane(c, w, "a_lanes", plan, t.pc, t.compare + t.check);
  w.b_lanes = every_lane(c, w, "b_lanes", plan, t.op, t.compare + t.puts);

  w.lane_executes = c.bus("lane_executes");
  for (std::size_t l = 0; l < lanes; ++l) c.add(w.lane_executes, 1, both(w.select[l], w.executing[l]));

  // What one op token each keeps, in one head: the predicate of SEL and of carries, as a mask; lane 0 of the
  // operand of RUN and of the limits.
  HeadSpec kept{.name = "kept", .layer = plan.operands};
  kept.write_enable = -1;
  const auto keep = [&](const Linear& write, const Word& data, const std::vector<Linear>& read,
                        const Signals& outputs) {
    const int word = static_cast<int>(kept.key.size()), dim = static_cast<int>(kept.value.size());
    kept.key.push_back({word, write});
    kept.query.push_back({word, 1});
    kept.write_enable += 2 * write;
    for (std::size_t i = 0; i < data.size(); ++i) {
      kept.value.push_back({dim + static_cast<int>(i), both(write, data[i])});
      kept.z.push_back({dim + static_cast<int>(i), read[i]});
      kept.outputs.push_back({dim + static_cast<int>(i), outputs[i % outputs.size()]});
    }
  };
  const auto keep_word = [&](const std::string& name, const Linear& write, int first, const Linear& read) {
    const Signals outputs = bus_word(c, name, 10);
    keep(write, circuit::slice(w.operand, first, 10), std::vector<Linear>(10, read), outputs);
    return outputs;
  };
  w.chosen = c.bus("chosen");
  std::vector<Linear> chooses;
  for (std::size_t l = 0; l < lanes; ++l)
    chooses.push_back(both(w.select[l], w.control_bit(Control::Chosen)));
  keep(t.sets_choice, w.source_q, chooses, {w.chosen});
  w.last_thread = keep_word("last_thread", t.run, 0, t.use_pcs);
  w.limit = keep_word("limit", t.limit, 8, t.check);
  w.shared_limit = keep_word("shared_limit", t.shared_limit, 8, t.check);
  c.head(std::move(kept));

  // ST.8 and ST.16 need the low bits of the address when A is the word.
  w.address_low = bus_word(c, "address_low", 2);
  HeadSpec low{.name = "address_low", .layer = plan.operands};
  low.key = {{0, t.pc}};
  low.query = {{0, 1}};
  low.write_enable = write_when(t.pc);
  for (int lane = 0; lane < lanes; ++lane)
    for (int i = 0; i < 2; ++i) {
      low.value.push_back({2 * lane + i, w.operand[at(word_bits * lane + i)]});
      low.z.push_back({2 * lane + i, both(w.select[at(lane)], w.control_bit(Control::Merge))});
      low.outputs.push_back({2 * lane + i, w.address_low[at(i)]});
    }
  c.head(std::move(low));

  w.offset = circuit::latch(
      c, {.name = "offset",
          .layer = plan.operands,
          .write = t.sets_offset,
          .data = w.field(isa::field::immediate),
          .read = circuit::and_(c, "offset_used", {t.use_control, w.control_bit(Control::AddImmediate)})});

  // The modifiers of the instruction, latched at the op token; the rounding as a one-hot.
  const isa::Field flags[] = {isa::field::flush,     isa::field::saturate, isa::field::negate_a,
                              isa::field::negate_b,  isa::field::negate_c, isa::field::absolute_a,
                              isa::field::absolute_b};
  Word modifiers;
  for (std::uint64_t rounding = 0; rounding < 4; ++rounding)
    modifiers.push_back(circuit::match(w.field(isa::field::rounding), rounding));
  for (const isa::Field flag : flags) modifiers.push_back(w.field(flag).front());
  for (const Linear& bit : w.field(isa::field::table)) modifiers.push_back(bit);
  const Signals latched = circuit::latch(
      c, {.name = "modifiers",
          .layer = plan.operands,
          .write = t.op,
          .data = modifiers,
          .read = circuit::and_(c, "modified", {t.use_control, w.control_bit(Control::Modified)})});
  w.rounding.assign(latched.begin(), latched.begin() + 4);
  c.exclusive(w.rounding);
  Signal* const flag_wires[] = {&w.flush,    &w.saturate,   &w.negate_a,  &w.negate_b,
                                &w.negate_c, &w.absolute_a, &w.absolute_b};
  for (std::size_t i = 0; i < std::size(flags); ++i) *flag_wires[i] = latched[4 + i];
  w.table.assign(latched.begin() + 11, latched.end());
}

}  // namespace qwengpu::machine

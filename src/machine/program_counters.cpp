// Program counters: a head for each lane and half of the quads (its write enable is the lane's mask), one for the firmware.
// A word is the pc and 'dead'; the empty word is 'alive at 0', so clearing the heads starts a block.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

constexpr int pc_width = 11;

// pc + 1 of the latched pc
Signals increment(Circuit& c, const Wires& w) {
  Signals next = circuit::bus_word(c, "next", pc_width);
  Word below;
  for (int i = 0; i < pc_width; ++i) {
    const Linear bit = w.pc_bits[static_cast<std::size_t>(i)];
    // bit xor 'all lower bits are 1'
    if (i == 0) {
      c.add(next[0], 1, all({w.token.op, 1 - bit}));
    } else {
      const Signal carry = circuit::and_(c, fmt::format("carry[{}]", i), below);
      c.add(next[static_cast<std::size_t>(i)], 1, bit - carry);
      c.add(next[static_cast<std::size_t>(i)], 1, all({w.token.op, 1 - bit, carry}));
    }
    below.push_back(bit);
  }
  return next;
}

}  // namespace

void build_program_counters(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("pc");
  const TokenInputs& t = w.token;
  const Signals next = increment(c, w);
  const Word target = w.field(isa::field::target);

  const auto choose = [&](const std::string& name, const Linear& taken) {
    const Signals value = circuit::bus_word(c, name, pc_width);
    for (std::size_t i = 0; i < value.size(); ++i) {
      c.add(value[i], 1, both(taken, target[i]));
      c.add(value[i], 1, next[i] - taken);
    }
    return value;
  };
  Signals read;  // of each half of the quads
  for (int h = 0; h < 2; ++h) read.push_back(circuit::and_(c, circuit::indexed("read", h), {t.use_pcs, w.in_half(h), w.user()}));

  for (int lane = 0; lane < lanes; ++lane) w.lane_pc[static_cast<std::size_t>(lane)] =
      circuit::bus_word(c, fmt::format("lane{}", lane), pc_width);
  w.dead = circuit::bus_word(c, "dead", lanes);

  for (int lane = 0; lane < lanes; ++lane) {
    const auto l = static_cast<std::size_t>(lane);
    const Signal taken = circuit::and_(c, fmt::format("taken{}", lane), {t.branch, t.executing[l]});
    const Signals value = choose(fmt::format("new{}", lane), taken);
    for (int h = 0; h < 2; ++h) {
      HeadSpec head{.name = fmt::format("lane{}.{}", lane, h), .layer = plan.state};
      head.key = head.query = circuit::rows(w.quad_low);
      head.value = circuit::rows(value);
      head.value.push_back({pc_width, both(t.exit, t.executing[l])});
      head.write_enable = circuit::write_when(all({t.at[l], w.in_half(h), w.user()}));
      head.z = circuit::same_rows(read[h], pc_width + 1);
      head.clear = t.run;
      for (int i = 0; i < pc_width; ++i) head.outputs.push_back({i, w.lane_pc[l][static_cast<std::size_t>(i)]});
      head.outputs.push_back({pc_width, w.dead[l]});
      c.head(std::move(head));
    }
  }

  // The firmware has one pc for its four lanes, and a branch is taken when any of them executes it.
  HeadSpec head{.name = "firmware", .layer = plan.state};
  head.clear = t.go;
  head.key = {{0, t.op}};
  head.query = {{0, t.use_pcs}};
  head.value = circuit::rows(choose("firmware_new", t.branch));
  head.write_enable = circuit::write_when(both(t.op, w.system));
  head.z = circuit::same_rows(both(t.use_pcs, w.system), pc_width);
  for (int i = 0; i < pc_width; ++i)
    for (const Signals& pc : w.lane_pc) head.outputs.push_back({i, pc[static_cast<std::size_t>(i)]});
  c.head(std::move(head));
}

}  // namespace qwengpu::machine

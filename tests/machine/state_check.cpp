#include "state_check.h"

#include <fmt/format.h>

#include "machine/cells.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

using isa::Parameters;

isa::Row row(const machine::Cell& cell) {
  const auto read = [](int layer, int head) { return model().gdn_state(layer, head); };
  return machine::read_row(compiled_machine().placement, read, cell);
}

}  // namespace

std::string state_difference(const emulator::State& s, const StateExtent& extent) {
  std::string difference;
  const auto expect = [&](const isa::Row& got, const isa::Row& expected, const auto&... what) {
    if (difference.empty() && got != expected)
      difference = fmt::format("{}: the model has {:x} {:x} {:x} {:x}, the emulator {:x} {:x} {:x} {:x}",
                               fmt::format(what...), got[0], got[1], got[2], got[3], expected[0], expected[1],
                               expected[2], expected[3]);
  };
  const auto word = [](auto value) { return isa::Row{static_cast<std::uint32_t>(value)}; };
  for (int quad = 0; quad < extent.quads && difference.empty(); ++quad) {
    const auto q = static_cast<std::size_t>(quad);
    const emulator::QuadState& state = s.quads[q];
    for (int r = 0; r < extent.registers; ++r) {
      const int number = quad * isa::registers_of_class(s.register_class) + r;
      expect(row(machine::register_row(number)), s.registers[static_cast<std::size_t>(number)],
             fmt::runtime("quad {} R{}"), quad, r);
    }
    for (int p = 0; p < Parameters::predicates; ++p)
      expect(row(machine::predicate(quad, p)), word(state.predicates[static_cast<std::size_t>(p)]),
             fmt::runtime("quad {} P{}"), quad, p);
    for (std::size_t k = 0; k < state.waits.size(); ++k)
      expect(row(machine::waiting_lanes(quad, static_cast<isa::WaitKind>(k))), word(state.waits[k]),
             fmt::runtime("quad {} waits {}"), quad, isa::wait_letters[k]);
    for (int lane = 0; lane < Parameters::lanes; ++lane) {
      const auto l = static_cast<std::size_t>(lane);
      const int thread = Parameters::lanes * quad + lane;
      expect(row(machine::program_counter(quad, lane)), word(state.pc[l] | (state.dead[l] ? 0x800 : 0)),
             fmt::runtime("quad {} lane {} pc"), quad, lane);
      expect(row(machine::shown_word(thread)), word(s.put[static_cast<std::size_t>(thread)]),
             fmt::runtime("word of thread {}"), thread);
      expect(row(machine::shown_vote(thread)), word(s.votes[static_cast<std::size_t>(thread)] ? 1 : 0),
             fmt::runtime("vote of thread {}"), thread);
    }
    expect(row(machine::thread_indices(quad)), s.thread_indices[q], fmt::runtime("thread indices of quad {}"),
           quad);
  }
  for (int line = 0; line < extent.constant_lines; ++line)
    for (int i = 0; i < 4; ++i)
      expect(row(machine::constant_word(16 * line + 4 * i)),
             word(s.constants[static_cast<std::size_t>(line)][static_cast<std::size_t>(i)]),
             fmt::runtime("constant {:#x}"), 16 * line + 4 * i);
  for (int i = 0; i < extent.global_words; ++i)
    expect(row(machine::global_word(static_cast<std::uint32_t>(4 * i))),
           word(s.global[static_cast<std::size_t>(i)]), fmt::runtime("global {:#x}"), 4 * i);
  for (int i = 0; i < extent.shared_words; ++i)
    expect(row(machine::shared_word(static_cast<std::uint32_t>(4 * i))),
           word(s.shared[static_cast<std::size_t>(i)]), fmt::runtime("shared {:#x}"), 4 * i);
  return difference;
}

}  // namespace qwengpu

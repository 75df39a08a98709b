// The recurrent state itself: registers, predicates, program counters and memory, read out of the GDN heads while a kernel runs, are the
// emulator's.
#include <gtest/gtest.h>

#include "isa/tokens.h"
#include "machine/cells.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

class State : public testing::Test {
 protected:
  static std::span<const float> read(int layer, int head) { return model().gdn_state(layer, head); }
  static isa::Row row(const machine::Cell& cell) { return machine::read_row(compiled_machine().placement, read, cell); }
  static std::uint32_t word(const machine::Cell& cell) { return row(cell)[0]; }

  // Everything the emulator knows about the quads and the memory in use.
  static void check(const emulator::State& s, int quads, int registers, int words) {
    for (int quad = 0; quad < quads; ++quad) {
      const auto q = static_cast<std::size_t>(quad);
      for (int r = 0; r < registers; ++r) {
        const int number = quad * isa::registers_of_class(s.register_class) + r;
        ASSERT_EQ(row(machine::register_row(number)), s.registers[static_cast<std::size_t>(number)]) << "quad " << quad << " R" << r;
      }
      for (int p = 0; p < isa::Parameters::predicates; ++p)
        ASSERT_EQ(word(machine::predicate(quad, p)), static_cast<std::uint32_t>(s.quads[q].predicates[static_cast<std::size_t>(p)]));
      for (int lane = 0; lane < 4; ++lane) {
        const auto l = static_cast<std::size_t>(lane);
        const std::uint32_t expected = static_cast<std::uint32_t>(s.quads[q].pc[l]) | (s.quads[q].dead[l] ? 0x800u : 0u);
        ASSERT_EQ(word(machine::program_counter(quad, lane)), expected) << "quad " << quad << " lane " << lane;
      }
      ASSERT_EQ(row(machine::thread_indices(quad)), s.thread_indices[q]);
    }
    for (int line = 0; line < 8; ++line)
      for (int i = 0; i < 4; ++i)
        ASSERT_EQ(word(machine::constant_word(16 * line + 4 * i)), s.constants[static_cast<std::size_t>(line)][static_cast<std::size_t>(i)]);
    for (int i = 0; i < words; ++i)
      ASSERT_EQ(word(machine::global_word(static_cast<std::uint32_t>(4 * i))), s.global[static_cast<std::size_t>(i)]) << "word " << i;
  }
};

TEST_F(State, IsTheEmulatorsAfterEveryBlock) {
  const Launch launch{.assembly = R"(
        MOV R0, SR_TID.X
        AND R3, R0, 3
        ISETP.EQ P0, R3, 1
        SHL R1, R0, 2
        IADD R1, R1, c[0x40]
        LD R2, [R1]
 loop:  IMAD R2, R2, 5, R0
   @P0  IADD R2, R2, 100
        ISETP.GT.S32 P1, R3, 0
        IADD R3, R3, -1
   @P1  BRA loop
        ST [R1], R2
        EXIT
)",
                      .grid = {2, 1, 1},
                      .block = {10, 1, 1},
                      .buffers = {in_buffer({7, 6, 5, 4, 3, 2, 1, 0, 9, 8})},
                      .arguments = {buffer_argument(0)},
                      .registers = 32};
  int checks = 0;
  const Agreement result = compare(emulator::prompt_of(make_case(launch)), 100'000, [&](const emulator::Emulator& e, int token) {
    // At the start of a step both sides have finished the one before.
    const isa::TokenKind kind = isa::token_of(token).kind;
    if (kind != isa::TokenKind::End && kind != isa::TokenKind::System) return;
    check(e.state(), 3, 8, 96);
    ++checks;
  });
  EXPECT_TRUE(result.same) << result.difference;
  EXPECT_EQ(checks, 4);  // <Q S> at the start and after each of the two blocks, <END>
}

}  // namespace
}  // namespace qwengpu

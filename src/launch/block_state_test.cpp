#include "launch/block_state.h"

#include <gtest/gtest.h>

#include "launch/testing.h"
#include "launch/text.h"

namespace qwengpu::launch {
namespace {

const std::string start = "<Q S><FW 0><RUN 1111 1111><Q 0>";

BlockState after(const std::string& text, const isa::Kernel& kernel) {
  BlockState state(kernel);
  for (const Step& step : parse_steps(isa::tokenize(text))) state.push(step);
  return state;
}

TEST(AddressText, TellsSharedMemory) {
  EXPECT_EQ(address_text(0x100), "0x100");
  EXPECT_EQ(address_text(0x1000040), "shared[0x40]");
  EXPECT_EQ(address_text(0x100c000), "shared[0xc000]");
  EXPECT_EQ(address_text(0x2000000), "0x2000000");
  EXPECT_EQ(address_text(0xffffffff), "0xffffffff");
}

TEST(BlockState, KnowsTheRegistersThatTheModelSpoke) {
  const isa::Kernel kernel = testing::kernel_of("MOV R1, SR_THREAD\n ST [R1+8], R2\n EXIT");
  const std::string text =
      start + "<PC 0><MOV 1111 0111><KEEP><0.0 00;><1.0 04;><2.0 08;><3.0 0c;><PC 1><ST 1111 1111>";
  const BlockState state = after(text, kernel);
  Step store;
  store.op = isa::Op::St;
  store.pc = 1;
  EXPECT_EQ(state.register_word(store, 1, 2), 8u);
  EXPECT_EQ(state.address(store, 3), 20u);
  store.quad = 5;
  EXPECT_EQ(state.address(store, 3), 8u);  // registers start at 0
  store.pc = 2;
  EXPECT_EQ(state.instruction(store), nullptr);
  // Another block starts with other registers.
  store = {};
  store.op = isa::Op::St;
  store.pc = 1;
  EXPECT_EQ(
      after(start + "<PC 0><MOV 1111 1111><0.0 01;><1.0 04;><2.0 08;><3.0 0c;><PC 2><EXIT 1111 1111>" + start,
            kernel)
          .address(store, 3),
      8u);
}

// Quads 0 and 2 of one warp wait at the same place, quad 1 at two, and quad 8 is of another warp.
TEST(BlockState, KnowsWhoWaitsWhere) {
  isa::Kernel kernel = testing::kernel_of("BAR.NAMED\n BAR\n EXIT");
  kernel.lines = {{"k.cu", 4}, {"k.cu", 5}, {"k.cu", 6}};
  const std::string named = "<PC 0><BAR.NAMED 1111 1111><WAIT B 1111>", end = "<PC 2><EXIT 1111 1111>";
  std::string text = start + named +
                     "<Q 1><PC 0><BAR.NAMED 1100 1100><WAIT B 1100><PC 1><BAR 0010 0010><WAIT B 1110>"
                     "<PC 2><EXIT 0001 0001><Q 2>" +
                     named;
  for (int quad = 3; quad < 8; ++quad) text += "<Q " + std::to_string(quad) + ">" + end;
  text += "<Q 8>" + named + "<STUCK>";
  const BlockState state = after(text, kernel);
  using Waiting = BlockState::Waiting;
  constexpr isa::WaitKind barrier = isa::WaitKind::Barrier;
  EXPECT_EQ(state.waiting(), (std::vector<Waiting>{{0, {0, 2}, 0, 0b1111, barrier},
                                                   {0, {1}, 0, 0b0011, barrier},
                                                   {0, {1}, 1, 0b0100, barrier},
                                                   {1, {8}, 0, 0b1111, barrier}}));
  EXPECT_EQ(state.ended_threads(), 21);
  EXPECT_EQ(state.waiting_text(),
            "  warp 0 quads 0,2: pc 0 [1111] BAR.NAMED, k.cu:4\n"
            "  warp 0 quad 1: pc 0 [1100] BAR.NAMED, k.cu:4\n"
            "  warp 0 quad 1: pc 1 [0010] BAR, k.cu:5\n"
            "  warp 1 quad 8: pc 0 [1111] BAR.NAMED, k.cu:4\n"
            "  21 threads have ended");

  text +=
      "<Q S><FW 1><RESUME 1111 1111><RELEASE B><Q 0><WAIT B 0000><PC 2><EXIT 1111 1111><Q 1><WAIT B 0000>";
  EXPECT_EQ(after(text, kernel).waiting_text(),
            "  warp 0 quad 2: pc 0 [1111] BAR.NAMED, k.cu:4\n"
            "  warp 1 quad 8: pc 0 [1111] BAR.NAMED, k.cu:4\n"
            "  25 threads have ended");
}

TEST(BlockState, ReleasesOnlyWhatIsReleased) {
  const isa::Kernel kernel = testing::kernel_of("WARPSYNC\n WARPSYNC\n EXIT");
  const BlockState state =
      after(start +
                "<PC 0><WARPSYNC 1111 1100><WAIT W 1100><PC 1><WARPSYNC 0011 0011><WAIT W 1111>"
                "<MEET 1><Q 0><RELEASE 1><WAIT W 0011>",
            kernel);
  ASSERT_EQ(state.waiting().size(), 1u);
  EXPECT_EQ(state.waiting()[0], (BlockState::Waiting{0, {0}, 1, 0b1100, isa::WaitKind::Warp}));
}

}  // namespace
}  // namespace qwengpu::launch

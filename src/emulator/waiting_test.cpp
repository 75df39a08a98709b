// Barriers, meetings of a warp, turns.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/emulator.h"
#include "emulator/grammar.h"
#include "emulator/test_kernels.h"
#include "emulator/test_transcript.h"
#include "isa/assembly.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;

std::vector<std::uint32_t> words_after(const Case& launch) {
  return results_of(instructions_of(transcript_of(launch)));
}

// Of the kernel's part, the quads, waits, meetings and releases.
std::string waits_text(const Case& launch) {
  std::string text;
  bool system = true;
  for (int id : transcript_of(launch)) {
    const isa::TokenKind kind = isa::token_of(id).kind;
    if (kind == isa::TokenKind::System) system = true;
    if (kind == isa::TokenKind::Quad) system = false;
    if (!system && (kind == isa::TokenKind::Quad || kind >= isa::TokenKind::Wait)) text += isa::spelling(id);
  }
  return text;
}

// A buffer of N words, 0 at first, copied out. The first one is at address 256.
Case launch_of(std::string_view text, std::uint32_t threads, std::uint32_t words = 64) {
  Case launch = small_launch(text, threads);
  launch.buffers[0] = {4 * words, false, true, {}};
  return launch;
}

TEST(WaitingTest, ABarrierWaitsForTheLanesThatLive) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
   @!P0 BAR
    @P0 EXIT
        MOV R1, 1
        EXIT
  )",
                                     6)),
            "<Q 0>\n<PC 0><ISETP.EQ 1111 1111><P0 1000>\n<PC 1><BAR 1111 0111><WAIT B 0111>\n"
            "<PC 2><EXIT 1000 1000>\n"
            "<Q 1>\n<PC 0><ISETP.EQ 1100 1100><P0 1000>\n<PC 1><BAR 1100 0100><WAIT B 0100>\n"
            "<PC 2><EXIT 1000 1000>\n"
            "<RELEASE B><Q 0><WAIT B 0000>\n<PC 2><EXIT 0111 0000>\n"
            "<PC 3><MOV 0111 0111><KEEP><0.0 00;><1.0 01;><2.0 01;><3.0 01;>\n<PC 4><EXIT 0111 0111>\n"
            "<Q 1><WAIT B 0000>\n<PC 2><EXIT 0100 0000>\n"
            "<PC 3><MOV 0100 0100><KEEP><0.0 00;><1.0 01;><2.0 00;><3.0 00;>\n<PC 4><EXIT 0100 0100>");
}

TEST(WaitingTest, LanesMayWaitForABarrierAtDifferentPlaces) {
  EXPECT_EQ(waits_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
    @P0 BAR
   @!P0 BAR
        BAR
        EXIT
  )")),
            "<Q 0><WAIT B 1000><WAIT B 1111><RELEASE B><Q 0><WAIT B 0000>"
            "<WAIT B 1111><RELEASE B><Q 0><WAIT B 0000>");
}

TEST(WaitingTest, NobodyWaitsWhenNoLaneExecutes) {
  EXPECT_EQ(kernel_text(small_launch("@!PT BAR\n@!PT YIELD\n@!PT SHFL.PUT R0\nEXIT", 2)),
            "<Q 0>\n<PC 0><BAR 1100 0000>\n<PC 1><YIELD 1100 0000>\n<PC 2><SHFL.PUT 1100 0000>\n"
            "<PC 3><EXIT 1100 1100>");
}

TEST(WaitingTest, SharedMemoryIsExchangedAcrossABarrier) {
  for (std::uint32_t threads : {5u, 32u, 100u, 512u}) {
    Case launch = launch_of(R"(
        MOV R0, SR_THREAD
        SHL R1, R0, 2
        IMUL R2, R0, R0
        ST [R1+0x1000000], R2
        BAR
        MOV R3, c[0x0]
        IADD R3, R3, -1
        ISUB R3, R3, R0
        SHL R3, R3, 2
        LD R3, [R3+0x1000000]
        IADD R1, R1, c[0x40]
        ST [R1], R3
        EXIT
    )",
                            threads, threads);
    launch.kernel.shared_bytes = static_cast<int>(4 * threads);
    launch.grid[0] = 2;
    const auto words = words_after(launch);
    for (std::uint32_t t = 0; t < threads; ++t)
      ASSERT_EQ(words.at(t), (threads - 1 - t) * (threads - 1 - t)) << threads << " " << t;
  }
}

TEST(WaitingTest, TheQuadsOfAWarpMeet) {
  // Two quads: the first time round every lane comes, the second time all go on.
  EXPECT_EQ(kernel_text(small_launch("WARPSYNC\nEXIT", 6)),
            "<Q 0>\n<PC 0><WARPSYNC 1111 1111><WAIT W 1111>\n<MEET 1><Q 1>\n"
            "<PC 0><WARPSYNC 1100 1100><WAIT W 1100>\n"
            "<Q 0><RELEASE 1><WAIT W 0000>\n<PC 1><EXIT 1111 1111>\n"
            "<Q 1><WAIT W 0000>\n<PC 1><EXIT 1100 1100>");
}

TEST(WaitingTest, EachWarpMeetsForItself) {
  // 38 threads: a full warp of quads 0 to 7, and quads 8 and 9, the last of two lanes.
  std::string expected;
  for (int quad = 0; quad < 8; ++quad)
    expected += fmt::format("<Q {}><WAIT W 1111>{}", quad, quad == 0 ? "<MEET 1>" : "");
  for (int quad = 0; quad < 8; ++quad)
    expected += fmt::format("<Q {}>{}<WAIT W 0000>", quad, quad == 0 ? "<RELEASE 1>" : "");
  expected += "<Q 8><WAIT W 1111><MEET 1><Q 9><WAIT W 1100><Q 8><RELEASE 1><WAIT W 0000><Q 9><WAIT W 0000>";
  EXPECT_EQ(waits_text(small_launch("WARPSYNC\nEXIT", 38)), expected);
}

TEST(WaitingTest, TheLowestPlaceIsReleasedFirst) {
  // Lane 0 waits at 3, lanes 1 to 3 at 5; then all at 6.
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
   @!P0 BRA others
        WARPSYNC
        BRA join
    others:
        WARPSYNC
    join:
        WARPSYNC
        EXIT
  )")),
            "<Q 0>\n<PC 0><ISETP.EQ 1111 1111><P0 1000>\n<PC 1><BRA 1111 0111>\n"
            "<PC 2><WARPSYNC 1000 1000><WAIT W 1000>\n<PC 4><WARPSYNC 0111 0111><WAIT W 1111>\n"
            "<MEET 3><Q 0><RELEASE 3><WAIT W 0111>\n<PC 3><BRA 1000 1000>\n"
            "<PC 5><WARPSYNC 1000 1000><WAIT W 1111>\n"
            "<MEET 5><Q 0><RELEASE 5><WAIT W 1000>\n<PC 5><WARPSYNC 0111 0111><WAIT W 1111>\n"
            "<MEET 6><Q 0><RELEASE 6><WAIT W 0000>\n<PC 6><EXIT 1111 1111>");
}

TEST(WaitingTest, ALowerPlaceOfALaterQuadIsSaidAfterAHigherOne) {
  // Quad 0 waits at 4, quad 1 at 3.
  EXPECT_EQ(waits_text(small_launch(R"(
        MOV R0, SR_THREAD
        ISETP.GE.U32 P0, R0, 4
    @P0 WARPSYNC
   @!P0 WARPSYNC
        EXIT
  )",
                                    8)),
            "<Q 0><WAIT W 1111><MEET 4><Q 1><WAIT W 1111><MEET 3>"
            "<Q 0><RELEASE 3><MEET 4><Q 1><WAIT W 0000><Q 0><RELEASE 4><WAIT W 0000><Q 1>");
}

TEST(WaitingTest, LanesThatComeRoundALoopMeetBeforeThoseFurtherOn) {
  // Lane 0 waits at 5 in its first time round; the others come to 3 again, and go on without it, unless the
  // loop ends with WARPSYNC.
  const auto text = [](std::string_view end) {
    return waits_text(small_launch(fmt::format(R"(
        MOV R1, 2
        ISETP.EQ P0, RZ, SR_QUADLANE
    top:
        WARPSYNC
    @P0 BRA some
        BRA next
    some:
        WARPSYNC
    next:
        {}
        IADD R1, R1, -1
        ISETP.NE P1, R1, 0
    @P1 BRA top
        EXIT
  )",
                                               end),
                                   2));
  };
  EXPECT_EQ(text(""),
            "<Q 0><WAIT W 1100><MEET 3><Q 0><RELEASE 3><WAIT W 0000><WAIT W 1000><WAIT W 1100>"
            "<MEET 3><Q 0><RELEASE 3><WAIT W 1000><MEET 6><Q 0><RELEASE 6><WAIT W 0000><WAIT W 1000>"
            "<MEET 3><Q 0><RELEASE 3><WAIT W 0000><WAIT W 1000><MEET 6><Q 0><RELEASE 6><WAIT W 0000>");
  EXPECT_EQ(
      text("WARPSYNC"),
      "<Q 0><WAIT W 1100><MEET 3><Q 0><RELEASE 3><WAIT W 0000><WAIT W 1000><WAIT W 1100>"
      "<MEET 6><Q 0><RELEASE 6><WAIT W 0100><WAIT W 1100><MEET 7><Q 0><RELEASE 7><WAIT W 0000><WAIT W 1100>"
      "<MEET 3><Q 0><RELEASE 3><WAIT W 0000><WAIT W 1000><WAIT W 1100>"
      "<MEET 6><Q 0><RELEASE 6><WAIT W 0100><WAIT W 1100><MEET 7><Q 0><RELEASE 7><WAIT W 0000>");
}

TEST(WaitingTest, AWarpMeetsThoughSomeOfItWaitForTheBarrier) {
  EXPECT_EQ(waits_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
    @P0 WARPSYNC
        BAR
        EXIT
  )")),
            "<Q 0><WAIT W 1000><WAIT B 0111><MEET 2><Q 0><RELEASE 2><WAIT W 0000><WAIT B 1111>"
            "<RELEASE B><Q 0><WAIT B 0000>");
}

TEST(WaitingTest, ThreadsReadWhatOthersOfTheWarpPut) {
  // 70 threads: two full warps and six threads.
  const std::string kernel = R"(
        MOV R0, SR_THREAD
        IMAD R1, R0, 3, RZ
        {}
        SHFL.PUT R1
        XOR R2, R0, 5
        SHFL.GET R3, R2
        WARPSYNC
        SHL R4, R0, 2
        IADD R4, R4, c[0x40]
        ST [R4], R3
        EXIT
  )";
  const auto expected = [](std::uint32_t t) { return (t ^ 5) < 70 ? (t ^ 5) * 3 : 0; };
  for (const char* before :
       {"", "YIELD", "BAR", "AND R5, R0, 3\nISETP.EQ P0, R5, 1\n@P0 YIELD\n@!P0 WARPSYNC"}) {
    const auto words = words_after(launch_of(fmt::format(fmt::runtime(kernel), before), 70, 70));
    for (std::uint32_t t = 0; t < 70; ++t) EXPECT_EQ(words.at(t), expected(t)) << t << " " << before;
  }
}

TEST(WaitingTest, AVoteHasABitALaneOfTheWarp) {
  const auto words = words_after(launch_of(R"(
        MOV R0, SR_THREAD
        AND R1, R0, 3
        ISETP.EQ P0, R1, 0
        ISETP.EQ P1, R0, 33
    @P1 EXIT
        VOTE.PUT !P0
        VOTE.GET R2
        WARPSYNC
        SHL R4, R0, 2
        IADD R4, R4, c[0x40]
        ST [R4], R2
        EXIT
  )",
                                           39));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(words.at(t), 0xeeeeeeeeu);
  for (std::uint32_t t = 32; t < 39; ++t) EXPECT_EQ(words.at(t), t == 33 ? 0 : 0x6cu);
}

TEST(WaitingTest, APutWordTakesThePlaceOfAVoteAndAVoteThatOfAWord) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
        SHFL.PUT 7
    @P0 VOTE.PUT PT
        SHFL.GET R1, RZ
        VOTE.GET R2
        SHFL.PUT 1023
        VOTE.GET R2
        SHFL.GET R1, R1
        EXIT
  )",
                                     2)),
            "<Q 0>\n<PC 0><ISETP.EQ 1100 1100><P0 1000>\n<PC 1><SHFL.PUT 1100 1100><WAIT W 1100>\n"
            "<MEET 2><Q 0><RELEASE 2><WAIT W 0000>\n<PC 2><VOTE.PUT 1100 1000><WAIT W 1000>\n"
            "<PC 3><SHFL.GET 0100 0100><KEEP><0.0 00;><1.0 00;><2.0 00;><3.0 00;>\n"
            "<PC 4><VOTE.GET 0100 0100><KEEP><0.0 00;><1.0 01;><2.0 00;><3.0 00;>\n"
            "<PC 5><SHFL.PUT 0100 0100><WAIT W 1100>\n"
            "<MEET 3><Q 0><RELEASE 3><WAIT W 0100>\n"
            "<PC 3><SHFL.GET 1000 1000><KEEP><0.0 00;><1.0 00;><2.0 00;><3.0 00;>\n"
            "<PC 4><VOTE.GET 1000 1000><KEEP><0.0 01;><1.0 01;><2.0 00;><3.0 00;>\n"
            "<PC 5><SHFL.PUT 1000 1000><WAIT W 1100>\n"
            "<MEET 6><Q 0><RELEASE 6><WAIT W 0000>\n"
            "<PC 6><VOTE.GET 1100 1100><KEEP><0.0 00;><1.0 00;><2.0 00;><3.0 00;>\n"
            "<PC 7><SHFL.GET 1100 1100><KEEP><0.0 ff><0.1 03;><1.0 ff><1.1 03;><2.0 00;><3.0 00;>\n"
            "<PC 8><EXIT 1100 1100>");
}

TEST(WaitingTest, AnyThreadOfTheBlockCanBeReadModulo1024) {
  const auto words = words_after(launch_of(R"(
        MOV R0, SR_THREAD
        IADD R1, R0, 100
        SHFL.PUT R1
        BAR
        IADD R2, R0, 1057
        SHFL.GET R3, R2
        SHL R4, R0, 2
        IADD R4, R4, c[0x40]
        ST [R4], R3
        EXIT
  )",
                                           40));
  for (std::uint32_t t = 0; t < 40; ++t) EXPECT_EQ(words.at(t), t + 33 < 40 ? 133 + t : 0) << t;
}

TEST(WaitingTest, AYieldGivesEveryOtherQuadItsTurn) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
    @P0 YIELD
        EXIT
  )",
                                     5)),
            "<Q 0>\n<PC 0><ISETP.EQ 1111 1111><P0 1000>\n<PC 1><YIELD 1111 1000><WAIT Y 1000>\n"
            "<PC 2><EXIT 0111 0111>\n"
            "<Q 1>\n<PC 0><ISETP.EQ 1000 1000><P0 1000>\n<PC 1><YIELD 1000 1000><WAIT Y 1000>\n"
            "<RELEASE Y><Q 0><WAIT Y 0000>\n<PC 2><EXIT 1000 1000>\n"
            "<Q 1><WAIT Y 0000>\n<PC 2><EXIT 1000 1000>");
}

TEST(WaitingTest, AWarpWaitsForItsLanesThatYield) {
  // Quad 0 yields twice before it comes to the place where quad 1 waits. The barrier comes after both.
  EXPECT_EQ(waits_text(small_launch(R"(
        MOV R0, SR_THREAD
        ISETP.LT.U32 P0, R0, 4
    @P0 YIELD
    @P0 YIELD
        WARPSYNC
        BAR
        EXIT
  )",
                                    8)),
            "<Q 0><WAIT Y 1111><Q 1><WAIT W 1111><MEET 5><MEET -><RELEASE Y>"
            "<Q 0><WAIT Y 0000><WAIT Y 1111><Q 1><MEET 5><MEET -><RELEASE Y>"
            "<Q 0><WAIT Y 0000><WAIT W 1111><MEET 5><Q 1><Q 0><RELEASE 5><WAIT W 0000><WAIT B 1111>"
            "<Q 1><WAIT W 0000><WAIT B 1111><RELEASE B><Q 0><WAIT B 0000><Q 1><WAIT B 0000>");
}

TEST(WaitingTest, AnotherWarpDoesNotHoldUpAMeeting) {
  // Quad 8 yields; quads 0 to 7 meet in the first round.
  const std::string text = waits_text(small_launch(R"(
        MOV R0, SR_THREAD
        ISETP.GE.U32 P0, R0, 32
    @P0 YIELD
        WARPSYNC
        EXIT
  )",
                                                   33));
  EXPECT_LT(text.find("<RELEASE 4>"), text.find("<Q 8>"));
  EXPECT_TRUE(
      text.ends_with("<Q 8><WAIT Y 1000><RELEASE Y><Q 0><Q 1><Q 2><Q 3><Q 4><Q 5><Q 6><Q 7>"
                     "<Q 8><WAIT Y 0000><WAIT W 1000><MEET 4><Q 8><RELEASE 4><WAIT W 0000>"))
      << text;
}

// Every thread takes a lock, adds 1 to a counter that is not atomic, and frees the lock; DURING stands
// between load and store, AFTER follows.
Case lock_kernel(std::string_view during, std::string_view after, std::uint32_t threads) {
  return launch_of(fmt::format(R"(
        MOV R0, SR_THREAD
        MOV R2, 1
        MOV R4, c[0x40]
    top:
        ATOM.CAS R1, [R4], RZ, R2
        ISETP.NE P0, R1, 0
    @P0 YIELD
    @P0 BRA top
        LD R3, [R4+0x4]
        {}
        IADD R3, R3, 1
        ST [R4+0x4], R3
        ATOM.EXCH R1, [R4], RZ
        {}
        EXIT
  )",
                               during, after),
                   threads, 140);
}

TEST(WaitingTest, ASpinLockLetsOneLaneInAfterTheOther) {
  for (const std::uint32_t threads : {1u, 3u, 4u, 7u, 32u, 70u})
    for (const char* during : {"", "YIELD", "YIELD\nYIELD"})
      EXPECT_EQ(words_after(lock_kernel(during, "", threads)).at(1), threads) << during;
}

TEST(WaitingTest, AWarpMeetsAfterAllItsLanesHadTheLock) {
  // R5 is the counter of the warp: behind WARPSYNC all its threads have counted.
  constexpr std::uint32_t threads = 70;
  const auto words = words_after(lock_kernel("YIELD", R"(
        SHR.U32 R5, R0, 5
        SHL R5, R5, 2
        IADD R5, R5, R4
        RED.ADD [R5+0x10], R2
        WARPSYNC
        LD R6, [R5+0x10]
        SHL R7, R0, 2
        IADD R7, R7, R4
        ST [R7+0x40], R6
  )",
                                             threads));
  EXPECT_EQ(words.at(1), threads);
  for (std::uint32_t t = 0; t < threads; ++t) EXPECT_EQ(words.at(16 + t), t < 64 ? 32 : 6) << t;
}

TEST(WaitingTest, AThreadWaitsForTheFlagOfALaterWarp) {
  const auto words = words_after(launch_of(R"(
        MOV R4, c[0x40]
        MOV R0, SR_THREAD
        MOV R1, 77
        ISETP.EQ P1, R0, 69
    @P1 YIELD
    @P1 ST [R4], R1
    spin:
        LD R2, [R4]
        ISETP.EQ P0, R2, 0
    @P0 YIELD
    @P0 BRA spin
        SHL R0, R0, 2
        IADD R4, R4, R0
        ST [R4+0x10], R2
        EXIT
  )",
                                           70, 80));
  for (std::uint32_t t = 0; t < 70; ++t) EXPECT_EQ(words.at(4 + t), 77u) << t;
}

// Waits for named barrier R10 with R11 threads; R12 to R14 and P6 are scratch. The table is at 256.
constexpr std::string_view named_barrier = R"(
        SHL R12, R10, 4
        IADD R12, R12, 256
        MOV R13, 1
        LD R14, [R12+0x8]
        ST [R12+0x4], R11
        RED.ADD [R12], R13
    wait_{0}:
        BAR.NAMED
        LD R13, [R12+0x8]
        ISETP.EQ P6, R13, R14
    @P6 BRA wait_{0}
)";

TEST(WaitingTest, ProducersAndConsumersWaitAtNamedBarriers) {
  // Warp 0 makes the numbers 1 to 3 and warp 1 takes them, by barriers 1 (there is a number) and 2 (it was
  // taken), of 64 threads. Warp 2 counts for itself at barrier 5, of 20 threads, and has an odd end.
  Case launch = launch_of(fmt::format(R"(
        counter = R5
        MOV R0, SR_THREAD
        MOV counter, 3
        MOV R11, 64
        SHR.U32 R1, R0, 5
        ISETP.EQ P0, R1, 0
        ISETP.EQ P1, R1, 1
        SHL R2, R0, 2
        IADD R2, R2, c[0x44]
    @P0 BRA producer
    @P1 BRA consumer
        MOV R10, 5
        MOV R11, 20
        {2}
        ST [R2], R11
        EXIT
    producer:
        IADD R6, R6, 1
        AND R7, R2, 0x7f
        ST [R7+0x1000000], R6
        MOV R10, 1
        {0}
        MOV R10, 2
        {1}
        IADD counter, counter, -1
        ISETP.NE P2, counter, 0
    @P2 BRA producer
        ST [R2], R6
        EXIT
    consumer:
        MOV R10, 1
        {3}
        AND R7, R2, 0x7f
        LD R8, [R7+0x1000000]
        IMAD R6, R6, 10, R8
        MOV R10, 2
        {4}
        IADD counter, counter, -1
        ISETP.NE P2, counter, 0
    @P2 BRA consumer
        ST [R2], R6
        EXIT
  )",
                                      fmt::format(named_barrier, "full"), fmt::format(named_barrier, "empty"),
                                      fmt::format(named_barrier, "odd"), fmt::format(named_barrier, "filled"),
                                      fmt::format(named_barrier, "emptied")),
                          84);
  launch.kernel.shared_bytes = 128;
  launch.kernel.named_barriers = 256;
  launch.buffers.push_back({4 * 84, false, true, {}});
  launch.arguments.push_back({1, true});
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(status_of(instructions), 0);
  const auto words = results_of(instructions);
  for (std::uint32_t t = 0; t < 84; ++t) EXPECT_EQ(words.at(64 + t), t < 32 ? 3 : t < 64 ? 123 : 20) << t;
  // The table: nobody has arrived and not been counted.
  for (std::size_t barrier = 0; barrier < 16; ++barrier) {
    EXPECT_EQ(words.at(4 * barrier), 0u);
    EXPECT_EQ(words.at(4 * barrier + 2), barrier == 1 || barrier == 2 ? 3u : barrier == 5 ? 1u : 0u);
  }
}

TEST(WaitingTest, ABarrierAfterNamedOnesIsRepeatedWhenThoseWerePassed) {
  // Warp 0 counts twice at barrier 4, and stores; warp 1 waits at BAR meanwhile, and loads. BAR alone would
  // let it go too early.
  for (const bool repeats : {true, false}) {
    Case launch = launch_of(fmt::format(R"(
        MOV R0, SR_THREAD
        MOV R9, 9
        ISETP.GE.U32 P0, R0, 32
    @P0 BRA both
        MOV R10, 4
        MOV R11, 32
        {0}
        {1}
        ST [RZ+0x200], R9
    both:
        LD R1, [RZ+0x1fc]
        BAR
        LD R2, [RZ+0x1fc]
        ISETP.NE P1, R1, R2
    {2} BRA both
        LD R3, [RZ+0x200]
        SHL R0, R0, 2
        IADD R0, R0, c[0x44]
        ST [R0], R3
        EXIT
  )",
                                        fmt::format(named_barrier, "once"),
                                        fmt::format(named_barrier, "twice"), repeats ? "@P1" : "@!PT"),
                            64);
    launch.kernel.named_barriers = 256;
    launch.buffers.push_back({4 * 64, false, true, {}});
    launch.arguments.push_back({1, true});
    const auto words = words_after(launch);
    EXPECT_EQ(words.at(63), 2u) << "times the block went on, in the last word of the table";
    for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(words.at(64 + t), t < 32 || repeats ? 9u : 0u) << t;
  }
}

TEST(WaitingTest, NamedBarriersThatNobodyComesToEndTheLaunch) {
  const std::string kernel =
      fmt::format("MOV R10, 3\nMOV R11, 8\n{}\nEXIT", fmt::format(named_barrier, "here"));
  for (const auto& [threads, table, status] : std::vector<std::tuple<std::uint32_t, std::uint32_t, int>>{
           {8, 256, 0}, {16, 256, 0}, {7, 256, 702}, {8, 0, 702}}) {
    Case launch = launch_of(kernel, threads);
    launch.grid[0] = 2;
    launch.kernel.named_barriers = table;
    const auto instructions = instructions_of(transcript_of(launch));
    EXPECT_EQ(status_of(instructions), status) << threads << " " << table;
    EXPECT_EQ(rows_of(instructions, Op::CopyBack).size(), status == 0 ? 1u : 0u);
    EXPECT_EQ(rows_of(instructions, Op::Free).size(), 1u);
  }
}

TEST(WaitingTest, ABlockThatIsStuckSaysSo) {
  EXPECT_EQ(
      kernel_text(small_launch("BAR.NAMED\nEXIT", 5)),
      "<Q 0>\n<PC 0><BAR.NAMED 1111 1111><WAIT B 1111>\n<Q 1>\n<PC 0><BAR.NAMED 1000 1000><WAIT B 1000>\n"
      "<STUCK>");
}

TEST(WaitingTest, AFaultEndsABlockWhoseQuadsWait) {
  // Quad 0 waits for a barrier, quad 1 for its warp, quad 2 for its turn; quad 3 faults.
  Case launch = small_launch(R"(
        MOV R0, SR_THREAD
        SHR.U32 R0, R0, 2
        ISETP.EQ P0, R0, 0
        ISETP.EQ P1, R0, 1
        ISETP.EQ P2, R0, 2
        ISETP.EQ P3, R0, 3
    @P0 BAR
    @P1 WARPSYNC
    @P2 YIELD
    @P3 LD R1, [RZ]
        EXIT
  )",
                             16);
  launch.grid[0] = 2;
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(status_of(instructions), 700);
  EXPECT_EQ(waits_text(launch), "<Q 0><WAIT B 1111><Q 1><WAIT W 1111><MEET 8><Q 2><WAIT Y 1111><Q 3>");
}

TEST(WaitingTest, BlocksStartWithNobodyReleased) {
  Case launch = small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
    @P0 YIELD
        SHFL.PUT 5
        BAR
        WARPSYNC
    @P0 BAR
        EXIT
  )",
                             40);
  const std::string once = kernel_text(launch);
  for (const Op last : {Op::Bar, Op::Yield}) {
    launch.kernel.code[5].op = last;
    launch.grid = {1, 1, 1};
    const std::string block = kernel_text(launch);
    launch.grid = {2, 1, 2};
    EXPECT_EQ(kernel_text(launch), block + "\n" + block + "\n" + block + "\n" + block);
  }
}

TEST(WaitingTest, AnotherTokenAboutWhoWaitsIsRefused) {
  const std::vector<int> tokens = transcript_of(small_launch(R"(
        ISETP.EQ P0, RZ, SR_QUADLANE
    @P0 YIELD
        WARPSYNC
        BAR
        BAR.NAMED
        EXIT
  )",
                                                             36));
  const auto is_about_waiting = [](int id) {
    const isa::TokenKind kind = isa::token_of(id).kind;
    return kind == isa::TokenKind::Quad || kind == isa::TokenKind::System || kind > isa::TokenKind::Wait;
  };
  std::vector<int> choices;
  for (int id : tokens)
    if (is_about_waiting(id) && std::find(choices.begin(), choices.end(), id) == choices.end())
      choices.push_back(id);
  EXPECT_GT(choices.size(), 12u);
  int meetings = 0;
  Grammar grammar;
  for (int id : tokens) {
    if (is_about_waiting(id)) {
      ++meetings;
      int accepted = 0;
      for (int choice : choices) {
        Grammar other = grammar;
        try {
          other.accept(choice);
          ++accepted;
        } catch (const std::runtime_error&) {
        }
      }
      // Where a quad has instructions left or not, and which place is the lowest, only values say.
      EXPECT_GE(accepted, 1) << isa::spelling(id);
      EXPECT_LE(accepted, 3) << isa::spelling(id);
    }
    grammar.accept(id);
  }
  EXPECT_GT(meetings, 40);
  EXPECT_TRUE(grammar.ended());
}

}  // namespace
}  // namespace qwengpu::emulator

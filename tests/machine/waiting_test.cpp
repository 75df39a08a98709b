// Lanes that wait: barriers, warps, turns. The model writes what the emulator writes.
#include <gtest/gtest.h>

#include "model_under_test.h"

namespace qwengpu {
namespace {

Launch threads(int count, const std::string& text, int blocks = 1) {
  return {.assembly = "MOV R0, SR_THREAD\nMOV R1, c[0x40]\nIMAD R2, R0, 4, R1\n" + text,
          .grid = {static_cast<std::uint32_t>(blocks), 1, 1},
          .block = {static_cast<std::uint32_t>(count), 1, 1},
          .buffers = {out_buffer(count)},
          .arguments = {buffer_argument(0)},
          .shared_bytes = 4 * count};
}

TEST(Waiting, ABarrierIsPassedWhenAllLanesAreThere) {
  for (int count : {1, 3, 4, 9, 32, 45, 70}) {
    SCOPED_TRACE(count);
    const Agreement result = run(threads(count, R"(
        SHL R3, R0, 2
        IADD R4, R3, 0x1000000
        ST [R4], R0
        BAR
        MOV R5, c[0x0]
        ISUB R5, R5, R0
        SHL R5, R5, 2
        LD R6, [R5+0xfffffc]
        BAR
        ST [R2], R6
        EXIT
)",
                                         2));
    EXPECT_TRUE(says(result, "<RELEASE B>"));
  }
}

TEST(Waiting, BarriersInBranchesAndLoopsAndAfterExits) {
  run(threads(11, R"(
        ISETP.EQ P0, R0, 5
   @P0  EXIT
        AND R3, R0, 1
        ISETP.EQ P1, R3, 0
   @P1  BRA even
        BAR
        IADD R4, R0, 100
        BAR
        BRA join
 even:  BAR
        IADD R4, R0, 200
        BAR
 join:  ISETP.GT.U32 P2, R3, 0
        IADD R3, R3, -1
        BAR
   @P2  BRA join
        ST [R2], R4
        EXIT
)"));
}

TEST(Waiting, AWarpExchangesWords) {
  for (int count : {4, 13, 32, 64, 77}) {
    SCOPED_TRACE(count);
    const Agreement result = run(threads(count, R"(
        IMUL R3, R0, 0x1010101
        MOV R5, 3
 again: SHFL.PUT R3
        XOR R4, R0, R5
        SHFL.GET R4, R4
        WARPSYNC
        IADD R3, R3, R4
        IADD R5, R5, 9
        ISETP.LT.U32 P0, R5, 32
   @P0  BRA again
        ST [R2], R3
        EXIT
)"));
    EXPECT_TRUE(says(result, "<Q 0>"));
  }
}

TEST(Waiting, VotesOfAWarp) {
  run(threads(75, R"(
        IMUL R3, R0, 0x9e3779b1
        ISETP.LT.S32 P0, R3, 0
        VOTE.PUT P0
        VOTE.GET R4
        WARPSYNC
        AND R5, R0, 3
        ISETP.NE P1, R5, 2
   @P1  VOTE.PUT !P0
   @P1  VOTE.GET R6
   @!P1 VOTE.GET R7
        SHFL.PUT c[0x40]
        VOTE.GET R8
        MOV R9, 1000
        SHFL.GET R9, R9
        ST [R2], R4
        EXIT
)"));
}

TEST(Waiting, PartsOfAWarpMeetAtTheirOwnPlaces) {
  const Agreement result = run(threads(40, R"(
        AND R3, R0, 7
        ISETP.LT.U32 P0, R3, 3
        ISETP.GT.U32 P1, R0, 20
   @P0  BRA low
        SHFL.PUT R0
        MOV R4, 7
        SHFL.GET R4, R4
   @P1  BRA join
        WARPSYNC
        SHFL.PUT R4
        BRA join
 low:   VOTE.PUT P1
        VOTE.GET R4
        SHFL.PUT R3
        WARPSYNC
 join:  WARPSYNC
        ST [R2], R4
        EXIT
)"));
  EXPECT_TRUE(says(result, "<MEET 8>"));
}

TEST(Waiting, SpinLocksAndFlagsMakeProgress) {
  const Agreement result = run(threads(70, R"(
        ISETP.EQ P0, R0, 69
   @P0  BRA set
 wait:  LD R3, [RZ+0x1000000]
        ISETP.NE P1, R3, 0
   @P1  BRA lock
        YIELD
        BRA wait
 set:   MOV R4, 1
        ST [RZ+0x1000000], R4
 lock:  MOV R5, 1
        ATOM.CAS R6, [RZ+0x1000004], RZ, R5
        ISETP.EQ P2, R6, 0
   @P2  BRA mine
        YIELD
        BRA lock
 mine:  LD R7, [RZ+0x1000008]
        IADD R7, R7, R0
        ST [RZ+0x1000008], R7
        ATOM.EXCH R8, [RZ+0x1000004], RZ
        WARPSYNC
        ST [R2], R7
        EXIT
)"));
  EXPECT_TRUE(says(result, "<RELEASE Y>"));
  EXPECT_TRUE(says(result, "<MEET ->"));
}

TEST(Waiting, NamedBarriersWithoutATableAreADeadlock) {
  const Agreement result = run(threads(9, "ISETP.EQ P0, R0, 1\n@P0 BAR.NAMED\nBAR\nEXIT", 2));
  EXPECT_TRUE(says(result, "<STUCK>"));
  EXPECT_TRUE(says(result, "<3.0 be>"));  // 702, cudaErrorLaunchTimeout
}

TEST(Waiting, AFaultWhileOthersWaitLeavesNothingBehind) {
  run(threads(40, "ISETP.EQ P0, R0, 33\n@P0 LD R3, [RZ]\nWARPSYNC\nBAR\nEXIT", 3));
}

TEST(Waiting, ManyQuads) {
  run(threads(1024, "SHFL.PUT R0\nSHFL.GET R3, R0\nBAR\nVOTE.PUT PT\nVOTE.GET R4\nBAR\nEXIT"));
}

}  // namespace
}  // namespace qwengpu

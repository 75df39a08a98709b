// Launches written by hand: the model writes what the emulator writes.
#include <gtest/gtest.h>

#include <numeric>

#include "isa/tokens.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

std::vector<std::uint32_t> numbers(int count, std::uint32_t first = 1, std::uint32_t step = 1) {
  std::vector<std::uint32_t> values;
  for (int i = 0; i < count; ++i) values.push_back(first + static_cast<std::uint32_t>(i) * step);
  return values;
}

constexpr const char* increment = R"(
        MOV R0, SR_TID.X
        MOV R1, c[0x20]
        IMAD R0, R1, c[0x0], R0
        ISETP.GE.U32 P0, R0, c[0x44]
   @P0  EXIT
        SHL R0, R0, 2
        IADD R0, R0, c[0x40]
        LD R1, [R0]
        IADD R1, R1, 1
        ST [R0], R1
        EXIT
)";

Launch increment_launch(int n, std::uint32_t block, std::uint32_t grid) {
  return {.assembly = increment,
          .grid = {grid, 1, 1},
          .block = {block, 1, 1},
          .buffers = {in_buffer(numbers(n))},
          .arguments = {buffer_argument(0), word_argument(static_cast<std::uint32_t>(n))}};
}

TEST(Launch, OneThread) { EXPECT_TRUE(says(run(increment_launch(1, 1, 1)), "<END>")); }

TEST(Launch, SeveralBlocksWithAPartialQuad) { EXPECT_TRUE(says(run(increment_launch(23, 6, 4)), "<Q 1>")); }

TEST(Launch, ABlockOf1024Threads) { EXPECT_TRUE(says(run(increment_launch(1024, 1024, 1)), "<Q 255>")); }

TEST(Launch, BlockAndGridInThreeDimensions) {
  const Launch launch{.assembly = R"(
        MOV R0, SR_TID.Z
        MOV R1, SR_TID.Y
        IMAD R0, R0, c[0x4], R1
        MOV R1, SR_TID.X
        IMAD R0, R0, c[0x0], R1
        MOV R1, c[0x28]
        IMUL R1, R1, c[0x14]
        IADD R1, R1, c[0x24]
        IMUL R1, R1, c[0x10]
        IADD R1, R1, c[0x20]
        IMUL R1, R1, 30
        IADD R0, R0, R1
        SHL R1, R0, 2
        IADD R1, R1, c[0x40]
        ST [R1], R0
        EXIT
)",
                      .grid = {2, 2, 2},
                      .block = {3, 5, 2},
                      .buffers = {out_buffer(240)},
                      .arguments = {buffer_argument(0)}};
  EXPECT_TRUE(says(run(launch), "<CB 2>"));
}

TEST(Launch, DivergentLoopsReconverge) {
  // Collatz steps: every lane leaves its loop at another time.
  const Launch launch{.assembly = R"(
        MOV R0, SR_TID.X
        IADD R1, R0, 1
        MOV R2, 0
 loop:  ISETP.LE.U32 P0, R1, 1
   @P0  BRA done
        AND R3, R1, 1
        ISETP.NE P1, R3, 0
  @!P1  BRA even
        IMUL R1, R1, 3
        IADD R1, R1, 1
        BRA next
 even:  SHR.U32 R1, R1, 1
 next:  IADD R2, R2, 1
        BRA loop
 done:  SHL R0, R0, 2
        IADD R0, R0, c[0x40]
        ST [R0], R2
        EXIT
)",
                      .block = {11, 1, 1},
                      .buffers = {out_buffer(11)},
                      .arguments = {buffer_argument(0)}};
  run(launch);
}

TEST(Launch, EveryDataPathOpWithLanesSittingOut) {
  const Launch launch{.assembly = R"(
        MOV R0, SR_TID.X
        IMUL R1, R0, 0x9e3779b1
        ISETP.LT.S32 P0, R1, 0
        ISETP.GT.U32 P1, R1, c[0x44]
        PLOP.XOR P2, P0, !P1
   @P0  IADD R2, R1, R0
        ISUB R3, R2, R1
   @!P1 IMUL.HI.S32 R4, R1, R3
        IMUL.HI.U32 R5, R1, R1
   @P2  IMAD R6, R4, R5, R1
        IMIN.S32 R7, R6, R1
        IMAX.U32 R8, R7, c[0x44]
        AND R9, R0, 31
        SHL R10, R8, R9
        SHR.S32 R11, R1, R9
        SHR.U32 R12, R1, 35
        SEL R13, !P2, R10, R11
        XOR R13, R13, R12
        OR R13, R13, SR_LANEID
        XOR R13, R13, SR_WARPID
        SHL R0, R0, 2
        IADD R0, R0, c[0x40]
        ST [R0-0], R13
        EXIT
)",
                      .block = {38, 1, 1},
                      .buffers = {out_buffer(38)},
                      .arguments = {buffer_argument(0), word_argument(0x7fff1234)}};
  run(launch);
}

TEST(Launch, EveryRegisterClass) {
  for (int registers : {16, 32, 64, 128}) {
    SCOPED_TRACE(registers);
    std::string text = "MOV R" + std::to_string(registers - 1) + ", SR_TID.X\n";
    for (int r = 0; r < registers - 1; ++r)
      text += "IADD R" + std::to_string(r) + ", R" + std::to_string(registers - 1) + ", " +
              std::to_string(r) + "\n";
    text += "IMAD R0, R" + std::to_string(registers - 2) + ", 3, R" + std::to_string(registers / 2) + "\n";
    text += "SHL R1, R" + std::to_string(registers - 1) + ", 2\nIADD R1, R1, c[0x40]\nST [R1], R0\nEXIT\n";
    run({.assembly = text,
         .block = {9, 1, 1},
         .buffers = {out_buffer(9)},
         .arguments = {buffer_argument(0)},
         .registers = registers});
  }
}

TEST(LaunchErrors, AreWrittenByTheModel) {
  Launch empty = increment_launch(4, 4, 1);
  empty.grid = {0, 1, 1};
  EXPECT_TRUE(says(run(empty), "<3.0 09;>"));  // cudaErrorInvalidConfiguration

  EXPECT_TRUE(says(run(increment_launch(4, 1025, 1)), "<3.0 09;>"));

  Launch registers = increment_launch(4, 1024, 1);
  registers.registers = 64;
  EXPECT_TRUE(says(run(registers), "<3.0 bd>"));  // 701, cudaErrorLaunchOutOfResources

  Launch memory = increment_launch(4, 4, 1);
  memory.buffers.push_back({.bytes = 1u << 20, .copy_in = false, .copy_out = true, .data = {}});
  EXPECT_TRUE(says(run(memory), "<3.0 02;>"));  // cudaErrorMemoryAllocation
}

TEST(LaunchErrors, FaultsEndTheLaunch) {
  const auto with_access = [](const std::string& access) {
    return Launch{
        .assembly = "MOV R0, SR_TID.X\nISETP.GE.U32 P0, R0, 2\nSHL R1, R0, 2\nIADD R1, R1, c[0x40]\n" +
                    access + "\nEXIT",
        .block = {4, 1, 1},
        .buffers = {in_buffer(numbers(4))},
        .arguments = {buffer_argument(0)}};
  };
  EXPECT_TRUE(says(run(with_access("@P0 LD R2, [R1+0x10000]")), "<FAULT illegal-address 2>"));
  EXPECT_TRUE(says(run(with_access("ST [R0], R0")), "<FAULT illegal-address 0>"));
  EXPECT_TRUE(says(run(with_access("@P0 ST [R1+2], R0")), "<FAULT misaligned-address 2>"));
  EXPECT_TRUE(says(run({.assembly = "MOV R0, 1"}), "<FAULT illegal-instruction 0>"));
}

}  // namespace
}  // namespace qwengpu

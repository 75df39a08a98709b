#include "launch/printer.h"

#include <gtest/gtest.h>

#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

const std::string start = "<Q S><FW 0><RUN 1111 1111><Q 0>";

std::vector<std::string> lines_of(const std::string& text, const isa::Kernel& kernel, bool verbose = false) {
  Printer printer(kernel, verbose);
  std::vector<std::string> lines;
  for (const Step& step : parse_steps(isa::tokenize(text)))
    if (const std::string line = printer.line(step); !line.empty()) lines.push_back(line);
  return lines;
}

TEST(Printer, Lines) {
  const std::vector<std::string> lines = lines_of(testing::scale_transcript, testing::scale_kernel());
  EXPECT_EQ(lines[0], "cudaMalloc(buffer 0, 12 bytes) = 0x100  cudaSuccess");
  EXPECT_EQ(lines[3],
            "block (5,0,0) quad 0  pc 2 [1110]  IADD R1, R1, c[0x40]               = 256 | 260 | 264 | .");
  EXPECT_EQ(lines[6],
            "block (5,0,0) quad 0  pc 5 [1110]  ST [R1], R2                        [0x100] = 6 | [0x104] = 8 "
            "| [0x108] = 10 | .");
  EXPECT_EQ(lines[7], "block (5,0,0) quad 0  pc 6 [1110]  EXIT");
  EXPECT_EQ(lines[8], "cudaStreamSynchronize(stream 1)  cudaSuccess");
}

// The address is that of the register before it is overwritten.
TEST(Printer, AtomicOperationsShowAddressOldAndNew) {
  const isa::Kernel kernel =
      testing::kernel_of("MOV R0, 0x100\n ATOM.ADD R0, [R0+4], R1\n RED.ADD [R0], R1\n EXIT");
  const std::vector<std::string> lines =
      lines_of(start +
                   "<PC 0><MOV 1111 1111><0.1 01;><1.1 01;><2.1 01;><3.1 01;>"
                   "<PC 1><ATOM.ADD 1111 1101><KEEP><0.0 05;><0.0=06;><RD 1><1.0 06;><1.0=05;><RD 2><2.1 01;>"
                   "<3.0 05;>"
                   "<3.0=ff->"
                   "<PC 2><RED.ADD 1111 1000><0.0 05;><0.0=06;><RD 1><1.0 00;><2.0 00;><3.0 00;>",
               kernel);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1],
            "block (0,0,0) quad 0  pc 1 [1101/1111]  ATOM.ADD R0, [R0+0x4], R1          = [0x104] 5 -> 6 | "
            "[0x104] 6 -> "
            "5 | . | [0x104] 5 -> -1");
  EXPECT_EQ(
      lines[2],
      "block (0,0,0) quad 0  pc 2 [1000/1111]  RED.ADD [R0], R1                   [0x5] 5 -> 6 | . | . | .");
}

TEST(Printer, StoresOfPartsShowTheParts) {
  const isa::Kernel kernel =
      testing::kernel_of("MOV R0, 0x1000001\n ST.8 [R0+1], R1\n ST.16 [R0+1], R1\n EXIT");
  const std::string address = "<0.0 01><0.3 01;>";
  const std::vector<std::string> lines =
      lines_of(start + "<PC 0><MOV 1000 1000><KEEP>" + address +
                   "<1.0 00;><2.0 00;><3.0 00;>"
                   "<PC 1><ST.8 1000 1000><0.0 01><0.1 02><0.2 03;><0.0=01><0.1=02><0.2=09;><RD 1><1.0 "
                   "00;><2.0 00;><3.0 00;>"
                   "<PC 2><ST.16 1000 1000><0.0 01><0.1 02><0.2 09;><0.0=01><0.1=02><0.2=07><0.3=01;><RD "
                   "1><1.0 00;><2.0 00;>"
                   "<3.0 00;>",
               kernel);
  EXPECT_EQ(
      lines[1],
      "block (0,0,0) quad 0  pc 1 [1000]  ST.8 [R0+0x1], R1                  shared[0x2] 3 -> 9 | . | . | .");
  EXPECT_EQ(lines[2],
            "block (0,0,0) quad 0  pc 2 [1000]  ST.16 [R0+0x1], R1                 shared[0x2] 9 -> 263 | . "
            "| . | .");
}

TEST(Printer, SharedMemoryIsNotARawAddress) {
  const isa::Kernel kernel = testing::kernel_of("ST [RZ+0x1000040], R1\n EXIT");
  EXPECT_EQ(
      lines_of(start + "<PC 0><ST 1000 1000><ST 0>", kernel)[0],
      "block (0,0,0) quad 0  pc 0 [1000]  ST [0x1000040], R1                 shared[0x40] = 0 | . | . | .");
}

TEST(Printer, ApiCallsOfSharedAndLocalMemory) {
  const std::vector<std::string> lines = lines_of(
      "<Q S><FW 0><localMemory 1111 1110><0.0 20;><1.1 10;><2.1 02;><3.0 00;>"
      "<FW 1><allocateShared 1111 1111><0.1 01;><1.0 00;><2.3 01;><3.0 00;>"
      "<FW 2><freeShared 1111 1111><0.1 01;><1.0 00;><2.3 01;><3.0 00;>",
      testing::scale_kernel());
  EXPECT_EQ(lines,
            (std::vector<std::string>{"localMemory(32 bytes a thread, 4096 bytes) = 0x200  cudaSuccess",
                                      "allocateShared(256 bytes) = shared[0x0]  cudaSuccess",
                                      "freeShared(256 bytes at shared[0x0])  cudaSuccess"}));
}

const std::string waiting =
    start +
    "<PC 0><WARPSYNC 1100 1100><WAIT W 1100><MEET 1><Q 0><RELEASE 1><WAIT W 0000><PC 1><BAR 1100 1100><WAIT "
    "B 1100>"
    "<RELEASE B><Q 0><WAIT B 0000><PC 2><YIELD 1100 1100><WAIT Y 1100><RELEASE Y>"
    "<Q 0><WAIT Y 0000><PC 3><BAR.NAMED 1100 1100><WAIT B 1100><STUCK>"
    "<Q S><FW 1><cudaStreamSynchronize 1111 1111><0.0 01;><1.0 00;><2.0 00;><3.0 be><3.1 02;>";

TEST(Printer, LanesThatWaitAndGoOn) {
  const isa::Kernel kernel = testing::kernel_of("WARPSYNC\n BAR\n YIELD\n BAR.NAMED\n EXIT");
  const std::vector<std::string> lines = lines_of(waiting, kernel);
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], "block (0,0,0) quad 0  pc 0 [1100]  WARPSYNC                           waits 1100");
  EXPECT_EQ(lines[1], "block (0,0,0) warp 0  released at pc 1");
  EXPECT_EQ(lines[3], "block (0,0,0)  the barrier is passed");
  EXPECT_EQ(lines[5], "block (0,0,0)  the lanes that yielded go on");
  EXPECT_EQ(lines[7], "block (0,0,0)  all lanes wait, some of them at named barriers");
}

TEST(Printer, ADeadlockSaysWhereEachWarpWaits) {
  const isa::Kernel kernel = testing::kernel_of("WARPSYNC\n BAR\n YIELD\n BAR.NAMED\n EXIT");
  EXPECT_EQ(lines_of(waiting, kernel).back(),
            "cudaStreamSynchronize(stream 1)  cudaErrorLaunchTimeout\n"
            "  warp 0 quad 0: pc 3 [1100] BAR.NAMED");
}

TEST(Printer, VerboseLinesSayHowWarpsMeet) {
  const isa::Kernel kernel = testing::kernel_of("WARPSYNC\n BAR\n YIELD\n BAR.NAMED\n EXIT");
  const std::vector<std::string> lines = lines_of(waiting, kernel, /*verbose=*/true);
  EXPECT_EQ(lines[2], "block (0,0,0) warp 0  to meet at pc 1");
  EXPECT_EQ(lines[4], "block (0,0,0) quad 0  still waiting for the warp: 0000");
}

TEST(Printer, FaultsSayStepLaneAndAddress) {
  const isa::Kernel kernel = testing::kernel_of("MOV R0, SR_THREAD\n LD R1, [R0+0x1000]\n EXIT");
  const std::string text =
      start + "<PC 0><MOV 1111 1111><0.0 00;><1.0 04;><2.0 07;><3.0 0c;><PC 1><LD 1111 1111>";
  EXPECT_EQ(lines_of(text + "<FAULT misaligned-address 2><0.0 00;><1.0 00;><2.0 07><2.1 10;><3.0 00;><Q S>", kernel)[1],
            "block (0,0,0) quad 0  pc 1 [1111]  LD R1, [R0+0x1000]                 "
            "cudaErrorMisalignedAddress in step 2, "
            "lane 2, address 0x1007");
  EXPECT_EQ(lines_of(text + "<FAULT illegal-address 0><0.1 10;><1.0 00;><2.0 00;><3.0 00;><Q S>", kernel)[1],
            "block (0,0,0) quad 0  pc 1 [1111]  LD R1, [R0+0x1000]                 cudaErrorIllegalAddress "
            "in step 2, "
            "lane 0, address 0x1000");
  const std::vector<std::string> illegal =
      lines_of(start + "<PC 2><ILLEGAL 1111 0000><FAULT illegal-instruction 0><Q S>", kernel);
  EXPECT_NE(illegal[0].find("cudaErrorIllegalInstruction in step 1, lane 0"), std::string::npos)
      << illegal[0];
  EXPECT_EQ(illegal[0].find("address"), std::string::npos) << illegal[0];
}

}  // namespace
}  // namespace qwengpu::launch

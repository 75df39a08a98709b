// Accesses of every width, atomic operations, shared and local memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "emulator/emulator.h"
#include "emulator/test_floats.h"
#include "emulator/test_kernels.h"
#include "emulator/test_transcript.h"
#include "isa/assembly.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;
using isa::Row;

// The buffer's words after the launch.
std::vector<std::uint32_t> words_after(const Case& launch) {
  return results_of(instructions_of(transcript_of(launch)));
}

int status_of(const Case& launch) { return emulator::status_of(instructions_of(transcript_of(launch))); }

TEST(MemoryTest, LoadsOfEveryWidthAndSign) {
  struct Example {
    std::string op;
    int offset;
    std::uint32_t value;
  };
  for (const Example& example :
       std::vector<Example>{{"LD", 0, 0x80f17f01},     {"LD", 4, 0xfedc8203},     {"LD.U8", 0, 0x01},
                            {"LD.U8", 1, 0x7f},        {"LD.U8", 2, 0xf1},        {"LD.U8", 3, 0x80},
                            {"LD.U8", 7, 0xfe},        {"LD.S8", 0, 0x01},        {"LD.S8", 1, 0x7f},
                            {"LD.S8", 2, 0xfffffff1},  {"LD.S8", 3, 0xffffff80},  {"LD.U16", 0, 0x7f01},
                            {"LD.U16", 2, 0x80f1},     {"LD.U16", 4, 0x8203},     {"LD.S16", 0, 0x7f01},
                            {"LD.S16", 2, 0xffff80f1}, {"LD.S16", 4, 0xffff8203}, {"LD.S16", 6, 0xfffffedc},
                            {"LD.64", 0, 0x80f17f01},  {"LD.64", 8, 0x11223344},  {"LD.128", 0, 0x80f17f01},
                            {"LD.128", 16, 0xffffffff}}) {
    Case launch = small_launch(
        fmt::format("MOV R1, c[0x40]\n{} R2, [R1+{}]\nST [R1+0x40], R2\nEXIT", example.op, example.offset),
        1);
    launch.buffers[0].data = {0x80f17f01, 0xfedc8203, 0x11223344, 0, 0xffffffff};
    EXPECT_EQ(words_after(launch).at(16), example.value) << example.op << " " << example.offset;
  }
}

TEST(MemoryTest, AnAddressHasToBeAMultipleOfWhatIsAccessed) {
  int accesses = 0;
  for (const isa::OpInfo& op : isa::op_table) {
    if (op.privileged() || !op.accesses_memory()) continue;
    std::string operands = op.has('d') ? "R3, [R1]" : "[R1]";
    if (op.has('b')) operands += ", R2";
    if (op.has('c')) operands += ", R2";
    for (int offset = 0; offset <= 16; ++offset) {
      // Lanes 2 and 3 are at OFFSET.
      const std::string text = kernel_text(small_launch(fmt::format(
          "MOV R1, SR_QUADLANE\nSHR.U32 R1, R1, 1\nIMAD R1, R1, {}, R4\nIADD R1, R1, c[0x40]\n{} {}\nEXIT",
          offset, op.mnemonic, operands)));
      const bool aligned = offset % op.alignment() == 0;
      EXPECT_EQ(text.find("<FAULT misaligned-address 2>") != std::string::npos, !aligned) << op.mnemonic << " " << offset;
      EXPECT_EQ(text.ends_with("<EXIT 1111 1111>"), aligned) << op.mnemonic << " " << offset;
      ++accesses;
    }
  }
  EXPECT_GT(accesses, 17 * 30);
  // The kind of fault is that of the lowest bad lane, and the one of alignment goes first in a lane.
  EXPECT_TRUE(kernel_text(small_launch("MOV R1, SR_QUADLANE\nLD R1, [R1]\nEXIT"))
                  .ends_with("<FAULT illegal-address 0><0.0 00;><1.0 00;><2.0 00;><3.0 00;>"));
  EXPECT_TRUE(
      kernel_text(small_launch("LD.128 R1, [RZ+0x8]\nEXIT")).ends_with("<FAULT misaligned-address 0><0.0 08;><1.0 00;><2.0 00;><3.0 00;>"));
}

TEST(MemoryTest, FourLanesStoreTheirBytesInOneWord) {
  const Case launch = small_launch(R"(
        MOV R1, SR_QUADLANE
        IADD R2, R1, 0xa0
        ST.8 [R1+0x104], R2
        LD R3, [RZ+0x104]
        EXIT
  )");
  EXPECT_EQ(kernel_text(launch),
            "<Q 0>\n<PC 0><MOV 1111 1111><0.0 00;><1.0 01;><2.0 02;><3.0 03;>\n"
            "<PC 1><IADD 1111 1111><0.0 a0;><1.0 a1;><2.0 a2;><3.0 a3;>\n"
            "<PC 2><ST.8 1111 1111><0.0 01;><0.0=a0;><RD 1><1.0 a0;><1.0=a0><1.1=a1;><RD 2><2.0 a0><2.1 a1;>"
            "<2.0=a0><2.1=a1><2.2=a2;><RD 3><3.0 a0><3.1 a1><3.2 a2;><3.0=a0><3.1=a1><3.2=a2><3.3=a3;>\n"
            "<PC 3><LD 1111 1111><*.0 a0><*.1 a1><*.2 a2><*.3 a3;>\n"
            "<PC 4><EXIT 1111 1111>");
}

TEST(MemoryTest, HalvesAreStoredWhereTheyBelong) {
  const auto words = words_after(small_launch(R"(
        MOV R1, SR_QUADLANE
        SHL R1, R1, 1
        IADD R2, R1, 0x12345
        ST.16 [R1+0x100], R2
        EXIT
  )"));
  EXPECT_EQ(words.at(0), 0x23472345u);
  EXPECT_EQ(words.at(1), 0x234b2349u);
  EXPECT_EQ(words.at(2), 2u);
}

TEST(MemoryTest, WideStoresAreStoresOfTheirFirstWord) {
  const auto words =
      words_after(small_launch("MOV R2, 77\nST.64 [RZ+0x108], R2\nST.128 [RZ+0x110], R2\nEXIT", 1));
  EXPECT_EQ((std::vector(words.begin(), words.begin() + 6)),
            (std::vector<std::uint32_t>{0, 1, 77, 3, 77, 5}));
}

TEST(MemoryTest, LanesSeeWhatLowerLanesHaveAdded) {
  const Case launch = small_launch(R"(
        MOV R2, 0x7f
        ATOM.ADD R1, [RZ+0x108], R2
        EXIT
  )",
                                   3);
  EXPECT_EQ(kernel_text(launch),
            "<Q 0>\n<PC 0><MOV 1110 1110><KEEP><0.0 7f;><1.0 7f;><2.0 7f;><3.0 00;>\n"
            "<PC 1><ATOM.ADD 1110 1110><KEEP><0.0 02;><0.0=81;><RD 1><1.0 81;><1.1=01;><RD 2>"
            "<2.1 01;><2.0=7f><2.1=01;><RD 3><3.0 00;>\n"
            "<PC 2><EXIT 1110 1110>");
  EXPECT_EQ(words_after(launch).at(2), 0x17fu);
}

TEST(MemoryTest, LanesThatSitOutKeepTheirRegisterInAtomAndSpeakZeroInRed) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        MOV R1, SR_QUADLANE
        ISETP.GE.U32 P0, R1, 2
   @P0  ATOM.EXCH R1, [RZ+0x120], R1
   @!P0 RED.OR [RZ+0x124], R1
   @!PT RED.OR [RZ+0x1], R1
        EXIT
  )")),
            "<Q 0>\n<PC 0><MOV 1111 1111><0.0 00;><1.0 01;><2.0 02;><3.0 03;>\n"
            "<PC 1><ISETP.GE.U32 1111 1111><P0 0011>\n"
            "<PC 2><ATOM.EXCH 1111 0011><KEEP><0.0 00;><1.0 01;><2.0 08;><2.0=02;><RD 3><3.0 02;><3.0=03;>\n"
            "<PC 3><RED.OR 1111 1100><0.0 09;><0.0=09;><RD 1><1.0 09;><1.0=09;><RD 2><2.0 00;><3.0 00;>\n"
            "<PC 4><RED.OR 1111 0000>\n"
            "<PC 5><EXIT 1111 1111>");
}

TEST(MemoryTest, CompareAndSwapReadsItsThirdOperandFirst) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        MOV R1, SR_QUADLANE
        IADD R2, R1, 1
        ATOM.CAS R3, [RZ+0x104], R1, R2
        ATOM.CAS R3, [RZ+0x108], R2, R1
        EXIT
  )",
                                     3)),
            "<Q 0>\n<PC 0><MOV 1110 1110><KEEP><0.0 00;><1.0 01;><2.0 02;><3.0 00;>\n"
            "<PC 1><IADD 1110 1110><KEEP><0.0 01;><1.0 02;><2.0 03;><3.0 00;>\n"
            "<PC 2><ATOM.CAS 1110 1110><C><KEEP><0.0 01;><0.0=01;><RD 1><1.0 01;><1.0=02;><RD 2><2.0 02;>"
            "<2.0=03;><RD 3><3.0 00;>\n"
            "<PC 3><ATOM.CAS 1110 1110><C><KEEP><0.0 02;><0.0=02;><RD 1><1.0 02;><1.0=01;><RD 2><2.0 01;>"
            "<2.0=01;><RD 3><3.0 00;>\n"
            "<PC 4><EXIT 1110 1110>");
}

// What a word becomes, by mnemonic behind ATOM or RED.
using Word = std::uint32_t;
std::int32_t s(Word x) { return static_cast<std::int32_t>(x); }
Word float_sum(Word old, Word b, bool flush) {
  isa::Instruction add;
  add.op = Op::Fadd;
  add.flush = flush;
  return HostFloat(add).word(old, b, 0);
}
const std::map<std::string, std::function<Word(Word, Word, Word)>> updates = {
    {"ADD", [](Word old, Word b, Word) { return old + b; }},
    {"MIN.S32", [](Word old, Word b, Word) { return s(b) < s(old) ? b : old; }},
    {"MAX.S32", [](Word old, Word b, Word) { return s(b) > s(old) ? b : old; }},
    {"MIN.U32", [](Word old, Word b, Word) { return std::min(old, b); }},
    {"MAX.U32", [](Word old, Word b, Word) { return std::max(old, b); }},
    {"AND", [](Word old, Word b, Word) { return old & b; }},
    {"OR", [](Word old, Word b, Word) { return old | b; }},
    {"XOR", [](Word old, Word b, Word) { return old ^ b; }},
    {"INC", [](Word old, Word b, Word) { return old >= b ? 0 : old + 1; }},
    {"DEC", [](Word old, Word b, Word) { return old == 0 || old > b ? b : old - 1; }},
    {"EXCH", [](Word, Word b, Word) { return b; }},
    {"CAS", [](Word old, Word b, Word c) { return old == b ? c : old; }},
    {"FADD", [](Word old, Word b, Word) { return float_sum(old, b, false); }},
    {"FADD.FTZ", [](Word old, Word b, Word) { return float_sum(old, b, true); }},
};

TEST(MemoryTest, EveryAtomicOperationOnEdgesAndFloats) {
  std::vector<Word> olds, operands;  // one word a quad, one operand a lane
  const std::vector<Word> edges = {0,          1,          2,          0x7ffffffe, 0x7fffffff,
                                   0x80000000, 0x80000001, 0xfffffffe, 0xffffffff, 0xdeadbeef};
  const std::vector<Word> floats = float_corners();
  for (std::size_t n = 0; n < 240; ++n) {
    const auto& values = n < 100 ? edges : floats;
    olds.push_back(values[n % values.size()]);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      operands.push_back(values[(n / 10 + n + 7 * lane + (lane > 1 ? n / 3 : 0)) % values.size()]);
    if (n % 5 == 0) operands[4 * n] = olds[n];  // a compare that is equal
  }
  std::size_t ops = 0;
  for (const isa::OpInfo& op : isa::op_table) {
    if (op.unit != isa::Unit::Atomic || op.op == Op::St8 || op.op == Op::St16) continue;
    for (const bool flush : {false, true}) {
      if (flush && !op.has('F')) continue;
      const std::string mnemonic = std::string(op.mnemonic) + (flush ? ".FTZ" : "");
      const auto& update = updates.at(mnemonic.substr(mnemonic.find('.') + 1));
      Case launch;
      launch.kernel.code =
          isa::assemble(fmt::format(R"(
        MOV  R0, SR_THREAD
        SHL  R0, R0, 2
        AND  R1, R0, -16
        SHR.U32 R1, R1, 2
        IADD R1, R1, c[0x40]
        IADD R2, R0, c[0x44]
        LD   R2, [R2]
        IADD R3, R2, 1
        {} {}[R1], R2{}
        IADD R0, R0, c[0x48]
        ST   [R0], R4
        EXIT
      )",
                                    mnemonic, op.has('d') ? "R4, " : "", op.has('c') ? ", R3" : ""));
      launch.block[0] = static_cast<Word>(operands.size());
      const auto bytes = [](const auto& values) { return static_cast<Word>(4 * values.size()); };
      launch.buffers = {{bytes(olds), true, true, olds},
                        {bytes(operands), true, false, operands},
                        {bytes(operands), false, true, {}}};
      launch.arguments = {{0, true}, {1, true}, {2, true}};
      const std::vector<Word> results = words_after(launch);
      ASSERT_EQ(results.size(), olds.size() + operands.size()) << mnemonic;
      for (std::size_t n = 0; n < olds.size(); ++n) {
        Word word = olds[n];
        for (std::size_t lane = 4 * n; lane < 4 * n + 4; ++lane) {
          EXPECT_EQ(results[olds.size() + lane], op.has('d') ? word : 0) << mnemonic << " lane " << lane;
          word = update(word, operands[lane], operands[lane] + 1);
        }
        EXPECT_EQ(results[n], word) << mnemonic << " on " << olds[n];
      }
      ++ops;
    }
  }
  EXPECT_EQ(ops, 14 + 12u);
}

TEST(MemoryTest, NoLaneUpdatesWhenOneFaults) {
  const std::vector<int> prompt = prompt_of(
      small_launch("MOV R1, SR_THREAD\nSHL R1, R1, 7\nIADD R1, R1, c[0x40]\nRED.INC [R1], R1\nEXIT"));
  Emulator emulator(prompt);
  while (emulator.next()) continue;
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(emulator.state().global[64 + i], i);
  EXPECT_EQ(emulator.state().fault_code, 700);
}

TEST(MemoryTest, SharedMemoryIsAWindowOfTheAddressSpace) {
  Case launch = small_launch(R"(
        MOV R1, SR_THREAD
        SHL R1, R1, 2
        IADD R2, R1, 0x1000000
        LD R5, [R2+0x10]         ; 0 at first
        ST [R2+0x10], R1
        IADD R3, R1, 0x55
        ST.8 [R1+0x1000021], R3
        ATOM.ADD R4, [R1+0x1000010], R3
        LD R4, [R2+0x20]
        LD R6, [R2+0x10]
        IADD R1, R1, c[0x40]
        ST [R1], R4
        ST [R1+0x10], R6
        ST [R1+0x20], R5
        EXIT
  )");
  launch.kernel.shared_bytes = 64;
  launch.grid[0] = 2;  // the second block finds it clear
  const auto words = words_after(launch);
  EXPECT_EQ((std::vector(words.begin(), words.begin() + 12)),
            (std::vector<std::uint32_t>{0x5500, 0x5900, 0x5d00, 0x6100, 0x55, 0x5d, 0x65, 0x6d, 0, 0, 0, 0}));
}

TEST(MemoryTest, SharedMemoryEndsAtItsLimit) {
  struct Example {
    int fixed;
    std::uint32_t dynamic;
    std::string address;
    int status;
  };
  for (const Example& example : std::vector<Example>{{0, 0, "0x1000000", 700},
                                                     {4, 0, "0x1000000", 0},
                                                     {4, 0, "0x10000fc", 0},
                                                     {4, 0, "0x1000100", 700},
                                                     {256, 0, "0x10000fc", 0},
                                                     {256, 1, "0x10001fc", 0},
                                                     {256, 1, "0x1000200", 700},
                                                     {0, 0xc000, "0x100bffc", 0},
                                                     {0x4000, 0x8000, "0x100c000", 700},
                                                     {16, 0, "0x0fffffc", 700},
                                                     {16, 0, "0x2000000", 700},
                                                     {16, 0, "0x3000000", 700},
                                                     {16, 0, "0x81000000", 700},
                                                     {16, 0, "0x1000002", 716}}) {
    Case launch = small_launch("RED.ADD [RZ+" + example.address + "], RZ\nEXIT", 1);
    launch.kernel.shared_bytes = example.fixed;
    launch.dynamic_shared = example.dynamic;
    EXPECT_EQ(status_of(launch), example.status)
        << example.fixed << " " << example.dynamic << example.address;
  }
}

TEST(MemoryTest, EachBlockAllocatesAndFreesItsSharedMemory) {
  Case launch = small_launch("EXIT");
  launch.kernel.shared_bytes = 100;
  launch.dynamic_shared = 28;
  launch.grid = {2, 1, 2};
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(rows_of(instructions, Op::LaunchKernel), (std::vector<Row>{{0, 0, 128, 0}}));
  const std::vector<Row> rows(4, {128, 0, 0x1000000, 0});
  EXPECT_EQ(rows_of(instructions, Op::SharedAllocate), rows);
  EXPECT_EQ(rows_of(instructions, Op::SharedFree), rows);
  EXPECT_TRUE(rows_of(instructions_of(transcript_of(small_launch("EXIT"))), Op::SharedAllocate).empty());
}

TEST(MemoryTest, MoreSharedMemoryThanThereIsIsRefused) {
  for (const auto& [fixed, dynamic, status] :
       std::vector<std::tuple<int, std::uint32_t, int>>{{0xc000, 0, 0},
                                                        {0, 0xc000, 0},
                                                        {1, 0xbfff, 0},
                                                        {0xc001, 0, 701},
                                                        {0, 0xc001, 701},
                                                        {0x8000, 0x4001, 701},
                                                        {0x100, 0xffffffff, 701},
                                                        {0x100, 0xffffff00, 701}}) {
    Case launch = small_launch("EXIT");
    launch.kernel.shared_bytes = fixed;
    launch.dynamic_shared = dynamic;
    const auto instructions = instructions_of(transcript_of(launch));
    EXPECT_EQ(emulator::status_of(instructions), status) << fixed << " " << dynamic;
    EXPECT_EQ(rows_of(instructions, Op::Resources),
              (std::vector<Row>{{16, 4, 16, static_cast<Word>(status)}}));
    EXPECT_EQ(rows_of(instructions, Op::Free).size(), 1u);
  }
}

TEST(MemoryTest, LocalMemoryIsAThreadsOwn) {
  Case launch = small_launch(R"(
        MOV R0, SR_THREAD
        IMAD R1, R0, 32, RZ
        IADD R1, R1, c[0x30]
        ST [R1+0x1c], R0
        LD R2, [R1+0x3c]        ; of the next thread, which stores later or not at all
        LD R3, [R1+0x1c]
        SHL R0, R0, 2
        IADD R0, R0, c[0x40]
        ST [R0], R3
        MOV R3, c[0x30]
        ST [R0+0x40], R3
        EXIT
  )",
                             7);
  launch.kernel.local_bytes = 32;
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(rows_of(instructions, Op::LocalMemory), (std::vector<Row>{{32, 7 * 32, 512, 0}}));
  EXPECT_EQ(emulator::status_of(instructions), 0) << "the last thread's neighbour is below the limit";
  const auto words = results_of(instructions);
  for (std::uint32_t t = 0; t < 7; ++t) {
    EXPECT_EQ(words.at(t), t);
    EXPECT_EQ(words.at(16 + t), 512u);
  }
  launch.block[0] = 8;  // now it is not
  EXPECT_EQ(status_of(launch), 700);
}

TEST(MemoryTest, LocalMemoryThatDoesNotFitIsRefused) {
  Case launch = small_launch("EXIT", 64);
  launch.kernel.local_bytes = (0x1e000 - 512) / 64 / 16 * 16;
  EXPECT_EQ(status_of(launch), 0);
  launch.kernel.local_bytes += 16;
  const auto instructions = instructions_of(transcript_of(launch));
  const auto bytes = static_cast<Word>(launch.kernel.local_bytes);
  EXPECT_EQ(rows_of(instructions, Op::LocalMemory), (std::vector<Row>{{bytes, 64 * bytes, 0, 2}}));
  EXPECT_EQ(emulator::status_of(instructions), 2);
  EXPECT_TRUE(rows_of(instructions, Op::LaunchKernel).empty());
  EXPECT_EQ(rows_of(instructions, Op::Free).size(), 1u);
}

TEST(MemoryTest, AdditionsWithCarryReadItsPredicate) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.EQ P1, RZ, SR_THREAD
        MOV R1, 0xff
        IADD.X R2, R1, R1, P1
        ISUB.X R3, R1, 0xff, P1
        ISUB.X R3, R1, 0xff, !P1
        EXIT
  )",
                                     2)),
            "<Q 0>\n<PC 0><ISETP.EQ 1100 1100><P1 1000>\n"
            "<PC 1><MOV 1100 1100><KEEP><0.0 ff;><1.0 ff;><2.0 00;><3.0 00;>\n"
            "<PC 2><IADD.X 1100 1100><KEEP><0.0 ff><0.1 01;><1.0 fe><1.1 01;><2.0 00;><3.0 00;>\n"
            "<PC 3><ISUB.X 1100 1100><KEEP><0.0 00;><1.0 ff-><2.0 00;><3.0 00;>\n"
            "<PC 4><ISUB.X 1100 1100><KEEP><0.0 ff-><1.0 00;><2.0 00;><3.0 00;>\n"
            "<PC 5><EXIT 1100 1100>");
}

TEST(MemoryTest, ThreadNumbersCountAcrossDimensions) {
  Case launch = small_launch(R"(
        MOV R0, SR_THREAD
        SHL R1, R0, 2
        IADD R1, R1, c[0x40]
        ST [R1], R0
        EXIT
  )");
  launch.block = {3, 5, 4};
  const auto words = words_after(launch);
  for (std::uint32_t t = 0; t < 60; ++t) EXPECT_EQ(words.at(t), t);
}

}  // namespace
}  // namespace qwengpu::emulator

#include "emulator/emulator.h"

#include <gtest/gtest.h>

#include <functional>

#include "emulator/test_kernels.h"
#include "emulator/test_transcript.h"
#include "isa/assembly.h"
#include "isa/request.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;
using isa::Row;

TEST(EmulatorTest, VectorAddGivesItsSums) {
  for (std::uint32_t n : {1u, 4u, 13u, 64u, 200u}) {
    const auto words = results_of(instructions_of(transcript_of(vector_add(n, 32))));
    ASSERT_EQ(words.size(), n);
    for (std::uint32_t i = 0; i < n; ++i) EXPECT_EQ(words[i], 1000 + 2 * i);
  }
}

TEST(EmulatorTest, TranscriptOfADivergentKernel) {
  // Lanes 0 and 1 take the first way, 2 the second, 3 does not exist.
  EXPECT_EQ(kernel_text(small_launch(R"(
        MOV R1, SR_TID.X
        ISETP.LT.U32 P1, R1, 2
    @P1 BRA low
        MOV R2, 0x1234
        BRA join
    low:
        IMAD R2, R1, 3, R1
    join:
        EXIT
  )",
                                     3)),
            "<Q 0>\n<PC 0><MOV 1110 1110><KEEP><0.0 00;><1.0 01;><2.0 02;><3.0 00;>\n"
            "<PC 1><ISETP.LT.U32 1110 1110><P1 1100>\n"
            "<PC 2><BRA 1110 1100>\n"
            "<PC 3><MOV 0010 0010><KEEP><0.0 00;><1.0 00;><2.0 34><2.1 12;><3.0 00;>\n"
            "<PC 4><BRA 0010 0010>\n"
            "<PC 5><IMAD 1100 1100><C><KEEP><0.0 00;><1.0 04;><2.0 34><2.1 12;><3.0 00;>\n"
            "<PC 6><EXIT 1110 1110>");
}

TEST(EmulatorTest, NothingHappensWhenNoLaneExecutes) {
  EXPECT_EQ(
      kernel_text(small_launch("@!PT ST [RZ+0x1], RZ\n@P0 LD R1, [RZ]\n@P0 BRA 0\n@P0 EXIT\nEXIT", 5)),
      "<Q 0>\n<PC 0><ST 1111 0000>\n<PC 1><LD 1111 0000>\n<PC 2><BRA 1111 0000>\n<PC 3><EXIT 1111 "
      "0000>\n<PC 4><EXIT 1111 1111>\n"
      "<Q 1>\n<PC 0><ST 1000 0000>\n<PC 1><LD 1000 0000>\n<PC 2><BRA 1000 0000>\n<PC 3><EXIT 1000 "
      "0000>\n<PC 4><EXIT 1000 1000>");
}

TEST(EmulatorTest, PredicatesOfLanesThatSitOutStay) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        ISETP.LT.U32 P0, RZ, SR_TID.X
    @P0 ISETP.EQ P1, RZ, RZ
   @!P0 PLOP.OR P1, PT, P0
        PLOP.XOR P2, P0, P1
        EXIT
  )")),
            "<Q 0>\n<PC 0><ISETP.LT.U32 1111 1111><P0 0111>\n"
            "<PC 1><ISETP.EQ 1111 0111><P1 0111>\n"
            "<PC 2><PLOP.OR 1111 1000><P1 1111>\n"
            "<PC 3><PLOP.XOR 1111 1111><P2 1000>\n"
            "<PC 4><EXIT 1111 1111>");
}

TEST(EmulatorTest, TranscriptOfFloatingPointAndBitInstructions) {
  EXPECT_EQ(kernel_text(small_launch(R"(
        I2F.S32 R1, SR_TID.X
        FSETP.GT P3, -R1, -1.5
   @!P3 FFMA.SAT R2, R1, -0.25, R1
    @P3 BFI R2, RZ, 0x810, R1
        EXIT
  )")),
            "<Q 0>\n<PC 0><I2F.S32 1111 1111><0.0 00;><1.2 80><1.3 3f;>"
            "<2.3 40;><3.2 40><3.3 40;>\n"
            "<PC 1><FSETP.GT 1111 1111><P3 1100>\n"
            "<PC 2><FFMA 1111 0011><C><KEEP><0.0 00;><1.0 00;><2.2 80><2.3 3f;>"
            "<3.2 80><3.3 3f;>\n"
            "<PC 3><BFI 1111 1100><C><KEEP><0.0 00;><1.3 3f;><2.2 "
            "80><2.3 3f;>"
            "<3.2 80><3.3 3f;>\n"
            "<PC 4><EXIT 1111 1111>");
}

TEST(EmulatorTest, SpecialRegistersOfThreeDimensions) {
  Case launch = small_launch("EXIT", 1);
  launch.block = {3, 5, 4};
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  while (emulator.next()) continue;
  for (std::uint32_t t = 0; t < 60; ++t)
    EXPECT_EQ(emulator.state().thread_indices[t / 4][t % 4], (t % 3) | (t / 3 % 5) << 10 | (t / 15) << 20)
        << t;
}

TEST(EmulatorTest, EveryBlockShapeHasItsThreadIndices) {
  for (const std::array<std::uint32_t, 3>& block : std::vector<std::array<std::uint32_t, 3>>{{1, 1024, 1},
                                                                                             {1024, 1, 1},
                                                                                             {1, 1, 64},
                                                                                             {2, 2, 64},
                                                                                             {1, 16, 64},
                                                                                             {7, 11, 13},
                                                                                             {16, 16, 1},
                                                                                             {4, 1, 3},
                                                                                             {1, 2, 3},
                                                                                             {1021, 1, 1}}) {
    Case launch = small_launch("EXIT", 1);
    launch.block = block;
    const std::vector<int> prompt = prompt_of(launch);
    Emulator emulator(prompt);
    while (emulator.next()) continue;
    for (std::uint32_t t = 0; t < block[0] * block[1] * block[2]; ++t)
      ASSERT_EQ(emulator.state().thread_indices[t / 4][t % 4],
                (t % block[0]) | (t / block[0] % block[1]) << 10 | (t / block[0] / block[1]) << 20)
          << block[0] << "," << block[1] << "," << block[2] << " thread " << t;
  }
}

TEST(EmulatorTest, EachFaultIsSpokenWithItsLowestLane) {
  struct Example {
    std::string text, token;
    int status;
  };
  const std::string index = "MOV R1, SR_TID.X\nSHL R1, R1, 2\nIADD R2, R1, c[0x40]\n";
  for (const Example& example : std::vector<Example>{
           {"LD R1, [RZ+0xfc]\nEXIT", "<FAULT illegal-address 0><0.0 fc;><1.0 00;><2.0 00;><3.0 00;>", 700},
           {index + "ST [R2+0xf8], R1\nEXIT", "<FAULT illegal-address 2><0.0 00;><1.0 00;><2.1 02;><3.0 00;>", 700},
           {index + "LD R1, [R1-8]\nEXIT", "<FAULT illegal-address 0><0.0 f8-><1.0 00;><2.0 00;><3.0 00;>", 700},
           {"MOV R1, SR_TID.X\nIADD R2, R1, c[0x40]\nST [R2], R1\nEXIT", "<FAULT misaligned-address 1><0.0 00;><1.0 01><1.1 01;><2.0 00;><3.0 00;>",
            716},
           {"ILLEGAL", "<FAULT illegal-instruction 0>", 715},
           {"MOV R1, R1", "<FAULT illegal-instruction 0>", 715},  // runs into the empty words
       }) {
    Case launch = small_launch(example.text);
    launch.grid[0] = 3;
    const std::string kernel = kernel_text(launch);
    EXPECT_TRUE(kernel.ends_with(example.token)) << kernel;
    EXPECT_EQ(kernel.find("<Q 0>", 1), std::string::npos) << "the other blocks do not start";
    const auto instructions = instructions_of(transcript_of(launch));
    EXPECT_EQ(status_of(instructions), example.status);
    EXPECT_TRUE(rows_of(instructions, Op::CopyBack).empty());
    EXPECT_EQ(rows_of(instructions, Op::Free).size(), 1u);
  }
}

TEST(EmulatorTest, NoLaneStoresWhenOneFaults) {
  const std::vector<int> prompt = prompt_of(small_launch(
      "MOV R1, SR_TID.X\nSHL R1, R1, 2\nMOV R3, 77\nIADD R2, R1, c[0x40]\nST [R2+0xf4], R3\nEXIT"));
  Emulator emulator(prompt);
  while (emulator.next()) continue;
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(emulator.state().global[64 + i], i);
}

TEST(EmulatorTest, BlocksStartWithClearRegistersPredicatesAndProgramCounters) {
  Case launch = small_launch(R"(
        MOV R0, SR_TID.X
        SHL R0, R0, 2
        IADD R0, R0, c[0x40]
    @P0 MOV R5, 1000
        IADD R5, R5, 1
        ST [R0], R5
        ISETP.EQ P0, RZ, RZ
        EXIT
  )",
                             8);
  launch.grid = {2, 2, 1};
  const auto words = results_of(instructions_of(transcript_of(launch)));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(words.at(i), 1u);
}

TEST(EmulatorTest, ApiCallsOfALaunch) {
  Case launch = vector_add(5, 4);
  launch.device = 3;
  launch.buffers[0].copy_out = true;
  launch.buffers.push_back({0, true, true, {}});  // a null buffer
  launch.buffers.push_back({300, false, false, {}});
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(rows_of(instructions, Op::SetDevice), (std::vector<Row>{{3, 0, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::StreamCreate), (std::vector<Row>{{1, 0, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::ModuleLoad), (std::vector<Row>{{14, 16, 0, 0}}));
  EXPECT_EQ(
      rows_of(instructions, Op::Malloc),
      (std::vector<Row>{{0, 20, 256, 0}, {1, 20, 512, 0}, {2, 20, 768, 0}, {3, 0, 0, 0}, {4, 300, 1024, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::CopyIn),
            (std::vector<Row>{{256, 0x1400, 20, 0}, {512, 0x1420, 20, 0}, {0, 0x1440, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::Arguments), (std::vector<Row>{{4, 0, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::Grid), (std::vector<Row>{{2, 1, 1, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::Block), (std::vector<Row>{{4, 1, 1, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::Resources), (std::vector<Row>{{16, 4, 16, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::LaunchKernel), (std::vector<Row>{{0, 0, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::Synchronize), (std::vector<Row>{{1, 0, 0, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::CopyBack),
            (std::vector<Row>{{256, 0, 20, 0}, {768, 2, 20, 0}, {0, 3, 0, 0}}));
  EXPECT_EQ(
      rows_of(instructions, Op::Free),
      (std::vector<Row>{{4, 0, 1024, 0}, {3, 0, 0, 0}, {2, 0, 768, 0}, {1, 0, 512, 0}, {0, 0, 256, 0}}));
  EXPECT_EQ(rows_of(instructions, Op::StreamDestroy), (std::vector<Row>{{1, 0, 0, 0}}));
  EXPECT_EQ(results_of(instructions),
            (std::vector<std::uint32_t>{0, 3, 6, 9, 12, 1000, 1002, 1004, 1006, 1008}));
}

TEST(EmulatorTest, CopiesOfEveryLengthArrive) {
  for (std::uint32_t bytes = 1; bytes <= 330; bytes = bytes < 140 ? bytes + 1 : bytes + 47) {
    Case launch;
    launch.kernel.code = isa::assemble("EXIT");
    CaseBuffer buffer{bytes, true, true, {}};
    for (std::uint32_t i = 0; i < (bytes + 3) / 4; ++i) buffer.data.push_back(0x01010101u * i + 5);
    launch.buffers = {buffer, {8, false, true, {}}};
    std::vector<std::uint32_t> expected = buffer.data;
    expected.resize(expected.size() + 2);  // the second starts at 0
    ASSERT_EQ(results_of(instructions_of(transcript_of(launch))), expected) << bytes;
  }
}

TEST(EmulatorTest, KernelParametersOfManyLines) {
  Case launch = small_launch(R"(
        MOV R1, c[0x40]
        MOV R2, c[0x7c]
        ST [R1], R2
        MOV R2, c[0x60]
        ST [R1+0x4], R2
        EXIT
  )",
                             1);
  launch.arguments.resize(16);
  launch.arguments[15] = {0xabcdef01, false};
  launch.arguments[8] = {0, true};
  const auto instructions = instructions_of(transcript_of(launch));
  EXPECT_EQ(rows_of(instructions, Op::Arguments), (std::vector<Row>{{16, 0, 0, 0}}));
  const auto words = results_of(instructions);
  EXPECT_EQ(words.at(0), 0xabcdef01u);
  EXPECT_EQ(words.at(1), 256u);
}

TEST(EmulatorTest, RefusedLaunchesSayTheirStatusAndFree) {
  struct Example {
    Op op;
    Row row;  // last of that op
    int status;
    std::size_t frees;
    std::function<void(Case&)> spoil;
  };
  const std::vector<Example> examples = {
      {Op::Malloc, {2, 0x1e000, 0, 2}, 2, 2, [](Case& c) { c.buffers[2].bytes = 0x1e000; }},
      {Op::Malloc, {0, 0xffffffff, 0, 2}, 2, 0, [](Case& c) { c.buffers[0].bytes = 0xffffffff; }},
      {Op::Malloc, {2, 0x1dd01, 0, 2}, 2, 2, [](Case& c) { c.buffers[2].bytes = 0x1dd01; }},
      {Op::Malloc,
       {2, 0x1dd00, 0x300, 0},
       0,
       3,
       [](Case& c) {
         c.buffers[2] = {0x1dd00, false, false, {}};
       }},
      {Op::Grid,
       {0, 1, 1, 9},
       9,
       3,
       [](Case& c) {
         c.grid = {0, 1, 1};
       }},
      {Op::Grid,
       {1, 65536, 1, 9},
       9,
       3,
       [](Case& c) {
         c.grid = {1, 65536, 1};
       }},
      {Op::Grid,
       {0x80000000, 1, 1, 9},
       9,
       3,
       [](Case& c) {
         c.grid = {0x80000000, 1, 1};
       }},
      {Op::Block,
       {1025, 1, 1, 9},
       9,
       3,
       [](Case& c) {
         c.block = {1025, 1, 1};
       }},
      {Op::Block,
       {1, 1, 65, 9},
       9,
       3,
       [](Case& c) {
         c.block = {1, 1, 65};
       }},
      {Op::Block,
       {4, 0, 1, 9},
       9,
       3,
       [](Case& c) {
         c.block = {4, 0, 1};
       }},
      {Op::Block,
       {33, 32, 1, 9},
       9,
       3,
       [](Case& c) {
         c.block = {33, 32, 1};
       }},
      {Op::Resources,
       {128, 257, 8320, 701},
       701,
       3,
       [](Case& c) {
         c.kernel.registers = 128, c.block = {257, 1, 1};
       }},
      {Op::Resources,
       {128, 256, 8192, 0},
       0,
       3,
       [](Case& c) {
         c.kernel.registers = 128, c.block = {256, 1, 1};
       }},
  };
  for (const Example& example : examples) {
    Case launch = vector_add(8, 4);
    example.spoil(launch);
    const auto instructions = instructions_of(transcript_of(launch));
    EXPECT_EQ(rows_of(instructions, example.op).back(), example.row);
    EXPECT_EQ(status_of(instructions), example.status);
    EXPECT_EQ(rows_of(instructions, Op::Free).size(), example.frees);
    EXPECT_EQ(rows_of(instructions, Op::LaunchKernel).size(), example.status == 0 ? 1u : 0u);
    EXPECT_EQ(rows_of(instructions, Op::StreamDestroy).size(), 1u);
  }
}

TEST(EmulatorTest, TheLimitIsTheWatermarkAndAsManyBuffersFitAsItSays) {
  constexpr std::uint32_t most = isa::request::max_buffers;
  Case launch;
  launch.kernel.code = isa::assemble("EXIT");
  for (std::uint32_t b = 0; b < most; ++b) launch.buffers.push_back({4, true, true, {b + 1}});
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  while (emulator.next()) continue;
  EXPECT_EQ(emulator.state().limit, 256u * (most + 1));
  const auto words = results_of(instructions_of(transcript_of(launch)));
  ASSERT_EQ(words.size(), most);
  for (std::uint32_t b = 0; b < most; ++b) EXPECT_EQ(words[b], b + 1);
}

TEST(EmulatorTest, AnEndlessKernelIsWrittenForEver) {
  const std::vector<int> prompt = prompt_of(small_launch("top: BRA top"));
  Emulator emulator(prompt);
  for (int n = 0; n < 1'000'000; ++n) ASSERT_TRUE(emulator.next());
}

std::string prompt_error(const std::string& text) {
  try {
    Emulator emulator(isa::tokenize(text));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(PromptTest, MalformedPromptsAreRefused) {
  EXPECT_EQ(prompt_error("<GO>"), "");
  EXPECT_EQ(prompt_error("<H 3><0.0 05;><1.0 00;><2.0 00;><3.1 01;><GO>"), "");
  EXPECT_EQ(prompt_error(""), "prompt token 0: the prompt ends before <GO>");
  EXPECT_EQ(prompt_error("<H 3>"), "prompt token 0 <H 3>: the prompt ends before <GO>");
  EXPECT_EQ(prompt_error("<GO><GO>"), "prompt token 1 <GO>: nothing may follow <GO>");
  EXPECT_EQ(prompt_error("<Q 3><GO>"), "prompt token 0 <Q 3>: expected <I n>, <H n> or <GO>");
  EXPECT_EQ(prompt_error("<H 0><1.0 00;>"), "prompt token 1 <1.0 00;>: expected byte 0 or a later one of lane 0");
  EXPECT_EQ(prompt_error("<H 0><0.0 01><0.1 00;>"),
            "prompt token 2 <0.1 00;>: expected byte 1 or a later one of lane 0");
  EXPECT_EQ(prompt_error("<I 0><0.0 ff;><1.0 00;><2.0 00;><3.0 00;><GO>"),
            "prompt token 4 <3.0 00;>: opcode 255 does not exist");
  std::vector<int> tokens;
  isa::append_row(tokens, isa::encode(isa::assemble("HALT").at(0)));
  EXPECT_NE(prompt_error("<I 0>" + isa::detokenize(tokens) + "<GO>").find("HALT is the firmware's"),
            std::string::npos);
  const std::vector<int> outside = {isa::vocabulary_size()};
  EXPECT_THROW(Emulator{outside}, std::invalid_argument);
}

}  // namespace
}  // namespace qwengpu::emulator

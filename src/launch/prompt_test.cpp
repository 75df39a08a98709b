#include "launch/prompt.h"

#include <gtest/gtest.h>

#include <map>

#include "isa/request.h"
#include "isa/rows.h"
#include "isa/tokens.h"
#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;

Prompt prompt_of(const std::vector<std::string>& arguments, const isa::Kernel& kernel, Dim3 grid = {},
                 Dim3 block = {}) {
  Description d;
  d.grid = grid;
  d.block = block;
  for (const std::string& text : arguments) d.arguments.push_back(parse_argument(text));
  return make_prompt(d, kernel);
}

// The words of host staging that a prompt writes.
std::map<int, std::uint32_t> host_words(const Prompt& prompt) {
  std::map<int, std::uint32_t> words;
  int address = -1;
  for (int id : prompt.tokens) {
    const isa::Token& token = isa::token_of(id);
    if (token.kind == isa::TokenKind::HostLine) address = 16 * token.a;
    if (token.kind == isa::TokenKind::Instruction) address = -1;
    if (address >= 0 && isa::said_byte(token)) words[address + 4 * token.a] |= isa::spoken_bits(token);
  }
  return words;
}

TEST(Prompt, HoldsTheRequest) {
  const isa::Kernel kernel = testing::scale_kernel();
  const Prompt prompt = prompt_of({"inout:i32[5]=iota", "i32:-2"}, kernel, {4, 2, 1}, {32, 1, 1});
  EXPECT_EQ(isa::spelling(prompt.tokens.front()), "<I 0>");
  EXPECT_EQ(isa::spelling(prompt.tokens.back()), "<GO>");
  EXPECT_EQ(prompt.buffers, (std::vector<Prompt::Buffer>{{0, 0, {Type::I32, {5}}}}));
  EXPECT_TRUE(prompt.kept.buffers.empty());
  auto words = host_words(prompt);
  namespace request = isa::request;
  EXPECT_EQ(words[request::instructions], 7u);
  EXPECT_EQ(words[request::registers], 16u);
  EXPECT_EQ(words[request::grid], 4u);
  EXPECT_EQ(words[request::grid + 4], 2u);
  EXPECT_EQ(words[request::block], 32u);
  EXPECT_EQ(words[request::buffers], 1u);
  EXPECT_EQ(words[request::parameter_lines], 1u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::bytes], 20u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::flags], 3u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::host_address], 0x1400u);
  EXPECT_EQ(words[request::parameters], 0u);  // 4 * buffer 0
  EXPECT_EQ(words[request::parameters + request::parameter_kinds], 1u);
  EXPECT_EQ(words[request::parameters + 8], 0xfffffffeu);
  EXPECT_EQ(words[request::parameters + request::parameter_kinds + 8], 0u);
  EXPECT_EQ(words[request::data + 16], 4u);
}

TEST(Prompt, BuffersFollowEachOther) {
  isa::Kernel kernel = testing::scale_kernel();
  kernel.parameters = {{"a", "u64", 0, 8, true},
                       {"n", "u8", 8, 1, false},
                       {"b", "u64", 16, 8, true},
                       {"c", "u64", 24, 8, false}};
  kernel.parameter_bytes = 32;
  const Prompt prompt = prompt_of({"in:u8[17]=iota", "u8:9", "out:i32[9]", "in:f32[2]=iota"}, kernel);
  EXPECT_EQ(prompt.buffers,
            (std::vector<Prompt::Buffer>{
                {0, 0, {Type::U8, {17}}}, {2, 1, {Type::I32, {9}}}, {3, 2, {Type::F32, {2}}}}));
  auto words = host_words(prompt);
  namespace request = isa::request;
  EXPECT_EQ(words[request::parameter_lines], 2u);
  EXPECT_EQ(words[request::descriptors + 16 + request::descriptor::flags], 2u);
  EXPECT_EQ(words[request::descriptors + 16 + request::descriptor::host_address], 0u);
  EXPECT_EQ(words[request::descriptors + 32 + request::descriptor::host_address], 0x1420u);
  EXPECT_EQ(words[request::parameters + 8], 9u);
  EXPECT_EQ(words[request::parameters + 32], 4u);      // parameter word 4: buffer 1
  EXPECT_EQ(words[request::parameters + 32 + 8], 8u);  // parameter word 6: buffer 2
  EXPECT_EQ(words[request::parameters + 32 + 16 + 8], 1u);
  EXPECT_EQ(words[0x1424], 0x3f800000u);
}

// What does not fit is for the model to refuse.
TEST(Prompt, HoldsSharedAndLocalMemory) {
  isa::Kernel kernel = testing::scale_kernel();
  kernel.shared_bytes = 20;
  kernel.local_bytes = 48;
  kernel.named_barriers = 0x140;
  Description d;
  d.arguments = {parse_argument("out:i32[1]"), parse_argument("i32:1")};
  namespace request = isa::request;
  auto words = host_words(make_prompt(d, kernel));
  EXPECT_EQ(words[request::static_shared], 20u);
  EXPECT_EQ(words[request::dynamic_shared], 0u);
  EXPECT_EQ(words[request::local_bytes], 48u);
  EXPECT_EQ(words[request::named_barriers], 0x140u);
  d.shared_bytes = 1'000'000;
  words = host_words(make_prompt(d, kernel));
  EXPECT_EQ(words[request::static_shared], 32u);  // dynamic shared memory begins at a multiple of 16
  EXPECT_EQ(words[request::dynamic_shared], 1'000'000u);
}

TEST(Prompt, VariablesOfTheModuleAreTheFirstBuffer) {
  isa::Kernel kernel = testing::scale_kernel();
  kernel.variables = {1, 2, 3, 4, 5};
  const Prompt prompt = prompt_of({"in:i32[2]=iota", "i32:1"}, kernel);
  EXPECT_EQ(prompt.buffers, (std::vector<Prompt::Buffer>{{0, 1, {Type::I32, {2}}}}));
  auto words = host_words(prompt);
  namespace request = isa::request;
  EXPECT_EQ(words[request::buffers], 2u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::bytes], 5u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::flags], 1u);
  EXPECT_EQ(words[request::descriptors + request::descriptor::host_address], 0x1400u);
  EXPECT_EQ(words[request::descriptors + 16 + request::descriptor::host_address], 0x1410u);
  EXPECT_EQ(words[request::parameters], 4u);  // 4 * buffer 1
  EXPECT_EQ(words[request::parameters + request::parameter_kinds], 1u);
  EXPECT_EQ(words[0x1400], 0x04030201u);
  EXPECT_EQ(words[0x1404], 5u);
  EXPECT_EQ(words[0x1414], 1u);
}

// Launches of a kernel that takes three pointers, in a sequence.
class Sequence : public ::testing::Test {
 protected:
  struct Descriptor {
    std::uint32_t bytes, flags, host_address;
    std::string lifetime;
    bool operator==(const Descriptor&) const = default;
  };

  Sequence() {
    kernel.name = "three";
    kernel.parameters = {{"a", "u64", 0, 8, true}, {"b", "u64", 8, 8, true}, {"c", "u64", 16, 8, true}};
    kernel.parameter_bytes = 24;
  }
  void launch(const std::vector<std::string>& arguments) {
    namespace request = isa::request;
    Description d;
    for (const std::string& text : arguments) d.arguments.push_back(parse_argument(text));
    const Prompt prompt = make_prompt(d, kernel, kept);
    kept = prompt.kept;
    numbers.clear();
    for (const Prompt::Buffer& buffer : prompt.buffers) numbers.push_back(buffer.number);
    auto words = host_words(prompt);
    buffers.clear();
    for (std::uint32_t b = 0; b < words[request::buffers]; ++b) {
      const int at = request::descriptors + static_cast<int>(b) * request::descriptor_bytes;
      const std::uint32_t lifetime = words[at + request::descriptor::lifetime];
      buffers.push_back({words[at], words[at + request::descriptor::flags],
                         words[at + request::descriptor::host_address],
                         std::string((lifetime & request::again) != 0 ? "again" : "") +
                             ((lifetime & request::keep) != 0 ? "+keep" : "")});
    }
  }
  std::string refusal(const std::vector<std::string>& arguments) {
    return message_of([&] { launch(arguments); });
  }

  isa::Kernel kernel = testing::scale_kernel();
  Kept kept;
  std::vector<std::uint32_t> numbers;  // of the arguments
  std::vector<Descriptor> buffers;
};

TEST_F(Sequence, WhatIsKeptHasTheLowestNumbers) {
  launch({"in:i32[4]=iota", "keep:x:f32[2]", "keep:y:inout:u8[3]=iota"});
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{2, 0, 1}));
  EXPECT_EQ(buffers,
            (std::vector<Descriptor>{{8, 0, 0, "+keep"}, {3, 3, 0x1400, "+keep"}, {16, 1, 0x1410, ""}}));
}

TEST_F(Sequence, WhatIsKeptIsThereUntilItIsFreed) {
  launch({"keep:x:f32[2]", "keep:y:i32[3]", "keep:z:out:u8[1]"});
  launch({"use:z:out", "out:i32[8]", "use:x:in:f32[2]=iota"});  // y stays, too
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{2, 3, 0}));
  EXPECT_EQ(
      buffers,
      (std::vector<Descriptor>{
          {8, 1, 0x1400, "again+keep"}, {12, 0, 0, "again+keep"}, {1, 2, 0, "again+keep"}, {32, 2, 0, ""}}));
  launch({"free:y", "use:x", "use:x:out"});
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 0, 0}));
  EXPECT_EQ(buffers,
            (std::vector<Descriptor>{{8, 2, 0, "again+keep"}, {12, 0, 0, "again"}, {1, 0, 0, "again+keep"}}));
  launch({"use:x", "use:z", "keep:y:i32[1]"});  // another y, at the number that is free
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 2, 1}));
  launch({"free:x", "free:y", "use:z"});
  launch({"use:z", "use:z", "use:z"});
  EXPECT_EQ(buffers, (std::vector<Descriptor>{{0, 0, 0, ""}, {0, 0, 0, ""}, {1, 0, 0, "again+keep"}}));
  launch({"free:z", "out:i32[1]", "out:i32[2]"});
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{2, 0, 1}));
  launch({"out:i32[1]", "out:i32[2]", "out:i32[3]"});
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{0, 1, 2}));
}

// They stand in front of all memory: the first launch that keeps something leaves room for those of later
// ones.
TEST_F(Sequence, VariablesOfModulesHaveRoomInFrontOfWhatIsKept) {
  kept.variable_bytes = 20;
  launch({"keep:x:i32[1]", "out:i32[1]", "out:i32[1]"});
  EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(buffers[0], (Descriptor{20, 0, 0, "+keep"}));
  kernel.variables.assign(20, 7);
  launch({"use:x", "in:i32[1]=iota", "out:i32[1]"});
  EXPECT_EQ(buffers[0], (Descriptor{20, 1, 0x1400, "again+keep"}));
  EXPECT_EQ(buffers[2].host_address, 0x1420u);
  kernel.variables.assign(21, 7);
  EXPECT_NE(refusal({"use:x", "out:i32[1]", "out:i32[1]"}).find("kernel three has variables of its module"),
            std::string::npos);
  kept = {};
  launch({"out:i32[1]", "out:i32[1]", "out:i32[1]"});
  EXPECT_EQ(buffers[0], (Descriptor{21, 1, 0x1400, ""}));
  EXPECT_TRUE(kept.buffers.empty());
}

TEST_F(Sequence, RefusesWithAReason) {
  EXPECT_NE(refusal({"use:x", "out:i32[1]", "out:i32[1]"})
                .find("argument 0: no earlier launch keeps x; kept is nothing"),
            std::string::npos);
  launch({"keep:x:i32[2]", "keep:y:i32[1]", "out:i32[1]"});
  EXPECT_NE(refusal({"out:i32[1]", "free:z", "use:x"})
                .find("argument 1: no earlier launch keeps z; kept are: x, y"),
            std::string::npos);
  EXPECT_NE(refusal({"keep:x:i32[2]", "use:y", "use:y"})
                .find("argument 0: x is kept already; use:x is that memory"),
            std::string::npos);
  EXPECT_NE(refusal({"use:x:in:f32[2]=iota", "use:y", "use:y"})
                .find("argument 0: x is f32[2], but what is kept has i32[2]"),
            std::string::npos);
  EXPECT_NE(refusal({"use:y:in:i32[1]=iota", "use:y:in:i32[1]=iota", "use:x"}).find("y gets contents twice"),
            std::string::npos);
  kernel.parameters.resize(62, kernel.parameters[0]);
  std::vector<std::string> many(62, "use:x");
  for (std::size_t n = 2; n < 62; ++n) many[n] = "out:i32[1]";
  for (std::size_t n = 0; n < 62; ++n) kernel.parameters[n].offset = 8 * static_cast<int>(n);
  EXPECT_NE(refusal(many).find("62 buffers, those included that earlier launches keep; the machine takes 59: "
                               "join some of them, or free:"),
            std::string::npos);
}

TEST(Prompt, RefusesWhatTheMachineCannotHold) {
  const isa::Kernel scale = testing::scale_kernel();
  const auto refusal = [](const std::vector<std::string>& arguments, const isa::Kernel& kernel) {
    return message_of([&] { prompt_of(arguments, kernel); });
  };
  EXPECT_NE(
      refusal({"in:i32[15200]=iota", "i32:1"}, scale).find("have 60800 bytes; host staging holds 60416"),
      std::string::npos);
  EXPECT_EQ(refusal({"in:i32[15104]=iota", "i32:1"}, scale), "");
  isa::Kernel kernel = scale;
  kernel.code.resize(2049);
  EXPECT_NE(refusal({"out:i32[1]", "i32:1"}, kernel)
                .find("2049 instructions; the machine's instruction memory holds 2048"),
            std::string::npos);
  kernel = scale;
  kernel.code[0].op = isa::Op::Halt;
  EXPECT_NE(
      refusal({"out:i32[1]", "i32:1"}, kernel).find("instruction 0: HALT belongs to the launch firmware"),
      std::string::npos);
  kernel = scale;
  for (int n = 2; n < 64; ++n) kernel.parameters.push_back({"p", "u64", 8 * n, 8, true});
  kernel.parameter_bytes = 8 * 64;
  std::vector<std::string> arguments(64, "out:i32[1]");
  arguments[1] = "i32:1";
  EXPECT_NE(refusal(arguments, kernel).find("63 buffers; the machine takes 59"), std::string::npos);
  kernel = scale;
  kernel.variables.resize(60000);
  EXPECT_NE(refusal({"in:i32[200]=iota", "i32:1"}, kernel)
                .find("have 60800 bytes (the module's variables, 60000 bytes, are one of them); host staging "
                      "holds 60416"),
            std::string::npos);
  EXPECT_EQ(refusal({"out:i32[200]", "i32:1"}, kernel), "");
}

}  // namespace
}  // namespace qwengpu::launch

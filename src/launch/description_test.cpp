#include "launch/description.h"

#include <gtest/gtest.h>

#include <fstream>

#include "launch/npy.h"
#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;
using testing::temporary_file;

TEST(Argument, Scalars) {
  const Argument number = parse_argument("i32:-7");
  EXPECT_EQ(number.kind, Argument::Kind::Scalar);
  EXPECT_EQ(number.data.at<std::int32_t>(0), -7);
  EXPECT_EQ(parse_argument("u32:0xffffffff").data.at<std::uint32_t>(0), 0xffffffffu);
  EXPECT_EQ(parse_argument("i32:0xffffffff").data.at<std::int32_t>(0), -1);
  EXPECT_EQ(parse_argument("f32:0.1").data.at<float>(0), 0.1f);
  EXPECT_EQ(parse_argument("u64:18446744073709551615").data.at<std::uint64_t>(0), ~0ull);
}

TEST(Argument, Generated) {
  const Argument iota = parse_argument("inout:i16[2,3]=iota");
  EXPECT_EQ(iota.kind, Argument::Kind::InOut);
  EXPECT_EQ(iota.shape, (Shape{Type::I16, {2, 3}}));
  EXPECT_EQ(iota.data.at<std::int16_t>(5), 5);
  EXPECT_EQ(parse_argument("in:u8[4]=zero").data.bytes, std::vector<std::uint8_t>(4));

  // The data of a seed is part of the interface: the same on every machine, in every version.
  const Array random = parse_argument("in:u32[3]=random:7").data;
  EXPECT_EQ(random, parse_argument("in:u32[3]=random:7").data);
  EXPECT_NE(random, parse_argument("in:u32[3]=random:8").data);
  const Array bounded = parse_argument("in:i32[200]=random:1:-3:4").data;
  std::int32_t low = 99, high = -99;
  for (std::uint64_t i = 0; i < 200; ++i) {
    low = std::min(low, bounded.at<std::int32_t>(i));
    high = std::max(high, bounded.at<std::int32_t>(i));
  }
  EXPECT_EQ(low, -3);
  EXPECT_EQ(high, 4);
  const Array floats = parse_argument("in:f32[100]=random:1").data;
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_LT(std::abs(floats.at<float>(i)), 1.0f);
}

TEST(Argument, Files) {
  const auto path = temporary_file("in.npy");
  const Array array = parse_argument("in:f32[4]=iota").data;
  write_npy(path, array);
  EXPECT_EQ(parse_argument("inout:in.npy", path.parent_path()).data, array);
}

TEST(Argument, OutHasNoContents) {
  const Argument out = parse_argument("out:i32[1000000]");
  EXPECT_TRUE(out.copied_out() && !out.copied_in());
  EXPECT_TRUE(out.data.bytes.empty());
}

TEST(Argument, MemoryThatStays) {
  const Argument scratch = parse_argument("keep:x:f32[8,2]");
  EXPECT_EQ(scratch.lifetime, Argument::Lifetime::Keep);
  EXPECT_EQ(scratch.name, "x");
  EXPECT_EQ(scratch.shape, (Shape{Type::F32, {8, 2}}));
  EXPECT_TRUE(scratch.buffer() && !scratch.copied_in() && !scratch.copied_out());
  EXPECT_EQ(parse_argument("keep:x_1:out:i32[4]").kind, Argument::Kind::Out);
  EXPECT_EQ(parse_argument("keep:x:inout:i32[4]=random:1:0:5").data.bytes.size(), 16u);
  const Argument use = parse_argument("use:x");
  EXPECT_EQ(use.lifetime, Argument::Lifetime::Use);
  EXPECT_EQ(use.kind, Argument::Kind::Device);
  EXPECT_FALSE(use.has_shape());
  EXPECT_EQ(parse_argument("use:x:out").kind, Argument::Kind::Out);
  EXPECT_TRUE(parse_argument("use:x:in:i32[4]=iota").has_shape());
  EXPECT_EQ(parse_argument("free:x:out").lifetime, Argument::Lifetime::Free);
}

TEST(Argument, RefusesWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"7", "'7' is not an argument: an argument is TYPE:NUMBER"},
      {"i33:7", "'i33:7' is not an argument"},
      {"i32:7x", "'7x' is not a number that i32 holds"},
      {"i32:", "'' is not a number"},
      {"u8:256", "'256' is not a number that u8 holds"},
      {"u32:-1", "'-1' is not a number that u32 holds"},
      {"in:i32[4]", "says no contents"},
      {"in:i32[4]=random", "this rule does not exist"},
      {"in:i32[4]=random:x", "the seed is not a number"},
      {"in:i32[4]=random:1:5:4", "not an interval"},
      {"out:i32", "it has no [N]"},
      {"out:int[4]", "there is no type 'int'"},
      {"out:i32[]", "'' is not a number of elements"},
      {"out:i32[-1]", "'-1' is not a number of elements"},
      {"out:i32[65536,65536]", "less than 4 GiB"},
      {"keep::i32[4]", "'' is not a name of letters, digits, _ and -"},
      {"keep:x y:i32[4]", "'x y' is not a name"},
      {"keep:x", "it says no buffer: give keep:NAME:TYPE[N]"},
      {"keep:x:i32:4", "'i32:4' is not a buffer"},
      {"keep:x:keep:y:i32[4]", "'keep:y:i32[4]' is not a buffer"},
      {"keep:x:use:y", "'use:y' is not a buffer"},
      {"use:x:out:i32[4]", "after the name comes nothing, out, or new contents"},
      {"use:", "'' is not a name"},
      {"in:i32[100000]=zero", "has 400000 bytes; a launch takes in at most 65536"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(message_of([&] { parse_argument(text); }).find(message), std::string::npos)
        << text << ": " << message_of([&] { parse_argument(text); });
}

TEST(Dim3, Parses) {
  EXPECT_EQ(parse_dim3("4"), (Dim3{4, 1, 1}));
  EXPECT_EQ(parse_dim3("4,2,3"), (Dim3{4, 2, 3}));
  EXPECT_EQ(parse_dim3("0"), (Dim3{0, 1, 1}));  // for the model to refuse
  for (const char* bad : {"", "4,", "4,2,1,1", "-1", "4x2", "4294967296"})
    EXPECT_THROW(parse_dim3(bad), UsageError) << bad;
}

std::filesystem::path launch_file(const std::string& text) {
  const auto path = temporary_file("test.launch.json");
  std::ofstream(path) << text;
  return path;
}

TEST(LaunchFile, HasTheFieldsOfTheCommandLine) {
  const auto path = launch_file(
      R"({"file": "k.cu", "kernel": "k", "grid": [4, 2], "block": 32, "shared": 256, "device": 1, "out": "results",
                                    "arguments": ["in:i32[4]=iota", "i32:4"]})");
  const Description d = read_launch_file(path);
  EXPECT_EQ(d.file, path.parent_path() / "k.cu");
  EXPECT_EQ(d.kernel, "k");
  EXPECT_EQ(d.grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(d.block, (Dim3{32, 1, 1}));
  EXPECT_EQ(d.shared_bytes, 256u);
  EXPECT_EQ(d.device, 1u);
  EXPECT_EQ(d.out, "results");
  EXPECT_EQ(d.arguments.size(), 2u);
}

TEST(LaunchFile, RefusesWithAReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "parse error"},
      {"[]", "not a JSON object"},
      {"{}", "no \"file\""},
      {R"({"file": "k.cu", "shared": [1, 2]})", "\"shared\" is not a number from 0 to 4294967295"},
      {R"({"file": "k.cu", "shared": -1})", "\"shared\" is not a number from 0 to 4294967295"},
      {R"({"file": "a.cu", "grids": 4})", "\"grids\" is not a field"},
      {R"({"file": "a.cu", "grid": -4})", "\"grid\" is not one to three numbers"},
      {R"({"file": 4})", "type must be string"},
      {R"({"file": "a.cu", "arguments": ["i32"]})", "'i32' is not an argument"},
  };
  for (const auto& [text, message] : cases) {
    const std::string what = message_of([&] { read_launch_file(launch_file(text)); });
    EXPECT_NE(what.find(message), std::string::npos) << text << ": " << what;
    EXPECT_NE(what.find("test.launch.json"), std::string::npos) << what;
  }
}

TEST(CheckArguments, ListsEveryProblem) {
  const isa::Kernel kernel = testing::scale_kernel();
  const auto check = [&](const std::vector<std::string>& arguments) {
    Description d;
    for (const std::string& text : arguments) d.arguments.push_back(parse_argument(text));
    return message_of([&] { check_arguments(d, kernel); });
  };
  EXPECT_EQ(check({"inout:i32[4]=iota", "i32:2"}), "");
  EXPECT_EQ(
      check({"inout:i32[4]=iota"}),
      "the arguments do not fit kernel scale(pointer data, u32 factor):\n  it takes 2 arguments, not 1");
  const std::string both = check({"i64:0", "out:i32[4]"});
  EXPECT_NE(both.find("argument 0 (data) is the number i64, but the kernel takes a pointer"),
            std::string::npos)
      << both;
  EXPECT_NE(both.find("argument 1 (factor) is the buffer out:i32[4], but the kernel takes a number (u32)"),
            std::string::npos)
      << both;
  EXPECT_NE(check({"out:i32[4]", "f32:2"}).find("is the number f32, but the kernel takes u32 of 4 bytes"),
            std::string::npos);
  EXPECT_NE(check({"out:i32[4]", "i64:2"}).find("is the number i64, but the kernel takes u32 of 4 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace qwengpu::launch

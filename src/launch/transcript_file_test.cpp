#include "launch/transcript_file.h"

#include <gtest/gtest.h>

#include <iterator>

#include "isa/tokens.h"
#include "launch/compare.h"
#include "launch/prompt.h"
#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;
using testing::temporary_file;

std::filesystem::path written(const std::string& tokens) {
  const auto path = temporary_file("transcript.txt");
  Description d;
  d.arguments = {parse_argument("inout:i32[3]=iota"), parse_argument("i32:2")};
  isa::Kernel kernel = testing::scale_kernel();
  kernel.shared_bytes = 64;
  kernel.local_bytes = 32;
  kernel.named_barriers = 0x140;
  TranscriptWriter writer(path, kernel, "a test", make_prompt(d, kernel).tokens);
  for (int token : isa::tokenize(tokens)) writer.push(token);
  writer.close();
  return path;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TranscriptFile, ReadsWhatItWrites) {
  const Transcript transcript = read_transcript(written(testing::scale_transcript));
  const isa::Kernel kernel = testing::scale_kernel();
  EXPECT_TRUE(transcript.complete);
  EXPECT_EQ(transcript.written_by, "a test");
  EXPECT_EQ(transcript.tokens, isa::tokenize(testing::scale_transcript));
  EXPECT_EQ(transcript.kernel.name, kernel.name);
  EXPECT_EQ(transcript.kernel.code, kernel.code);
  ASSERT_EQ(transcript.kernel.lines.size(), kernel.lines.size());
  EXPECT_EQ(transcript.kernel.lines[3].line, 13);
  EXPECT_EQ(transcript.kernel.parameters[1].name, "factor");
  EXPECT_EQ(transcript.kernel.shared_bytes, 64);
  EXPECT_EQ(transcript.kernel.local_bytes, 32);
  EXPECT_EQ(transcript.kernel.named_barriers, 0x140u);
}

// Wherever a file is cut, it does not pass for a whole one.
TEST(TranscriptFile, RefusesATruncatedFile) {
  const std::string whole = content(written(testing::scale_transcript));
  const auto path = temporary_file("cut.txt");
  for (std::size_t length = 0; length + 6 < whole.size(); length += 7) {
    std::ofstream(path) << whole.substr(0, length);
    const std::string message = message_of([&] { read_transcript(path); });
    EXPECT_NE(message.find("cut.txt"), std::string::npos) << length << ": " << message;
  }
  std::ofstream(path) << whole.substr(0, whole.find("<PC 3>") + 3);
  EXPECT_NE(message_of([&] { read_transcript(path); }).find("does not end with <END>"), std::string::npos);
  const Transcript partial = read_transcript(path, /*partial=*/true);
  EXPECT_FALSE(partial.complete);
  EXPECT_EQ(isa::spelling(partial.tokens.back()), "<3.0 00;>");
}

TEST(TranscriptFile, RefusesADamagedFile) {
  const std::string whole = content(written(testing::scale_transcript));
  const auto path = temporary_file("damaged.txt");
  const auto damage = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    std::ofstream(path) << text;
    return message_of([&] { read_transcript(path); });
  };
  EXPECT_NE(damage("qwengpu-transcript", "something").find("not a transcript"), std::string::npos);
  EXPECT_NE(damage("\"kernel\"", "\"colonel\"").find("head of the transcript is damaged"), std::string::npos);
  EXPECT_NE(damage("<PC 3>", "<PC x>").find("no token is spelled '<PC x>'"), std::string::npos);
  EXPECT_NE(damage("<I 1>", "<I 2>").find("not in order"), std::string::npos);
}

TEST(Compare, TellsStepQuadPcAndLane) {
  const isa::Kernel kernel = testing::scale_kernel();
  const std::vector<int> first = isa::tokenize(testing::scale_transcript);
  EXPECT_FALSE(first_difference(first, first, kernel));

  std::string text = testing::scale_transcript;
  text.replace(text.find("<0.0 06;><1.0 08;>"), 18, "<0.0 06;><1.0 09;>");
  auto difference = first_difference(first, isa::tokenize(text), kernel);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->step, 8u);
  EXPECT_EQ(difference->where, "block (5,0,0) quad 0, pc 4, lane 1");
  EXPECT_TRUE(difference->first.starts_with("<1.0 08;>   block (5,0,0) quad 0  pc 4")) << difference->first;
  EXPECT_NE(difference->second.find("= 6 | 9 | 10 | ."), std::string::npos) << difference->second;

  // What an atomic operation makes of a word belongs to a lane, too.
  const std::string atomic =
      "<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><RED.ADD 1111 1111><0.0 05;><0.0=06;><RD 1><1.0 06;>";
  difference =
      first_difference(isa::tokenize(atomic + "<1.0=07;>"), isa::tokenize(atomic + "<1.0=08;>"), kernel);
  ASSERT_TRUE(difference);
  EXPECT_TRUE(difference->where.ends_with("lane 1")) << difference->where;

  const std::vector<int> cut(first.begin(), first.begin() + 40);
  difference = first_difference(first, cut, kernel);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->token, 40u);
  EXPECT_EQ(difference->second, "ends here");
}

}  // namespace
}  // namespace qwengpu::launch

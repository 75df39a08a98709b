#include "emulator/random_kernel.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "emulator/emulator.h"
#include "emulator/grammar.h"
#include "emulator/shrink.h"
#include "emulator/test_transcript.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;
using isa::TokenKind;

TEST(RandomKernelTest, ASeedIsAlwaysTheSameLaunch) {
  EXPECT_EQ(prompt_of(random_case(5)), prompt_of(random_case(5)));
  EXPECT_NE(prompt_of(random_case(5)), prompt_of(random_case(6)));
}

// Empty when the launch ends and its transcript is one.
std::string objection(const Case& launch) {
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  Grammar grammar;
  try {
    for (int tokens = 0; tokens < 5'000'000; ++tokens) {
      const auto token = emulator.next();
      if (!token) return grammar.ended() ? "" : "the transcript has no end";
      grammar.accept(*token);
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "the launch does not end";
}

TEST(RandomKernelTest, KernelsUseEverythingAndEnd) {
  constexpr int seeds = 3000;
  std::set<Op> executed;
  std::map<TokenKind, int> kinds;  // launches that say them
  std::map<int, int> statuses;     // launches by status
  int moderate = 0, large = 0, warps = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Case launch = random_case(static_cast<std::uint64_t>(seed));
    if (const std::string text = objection(launch); !text.empty()) {
      const Case small = shrink(
          launch, [&](const Case& c) { return objection(c) == text; }, 500);
      FAIL() << "seed " << seed << ": " << text << "\n" << text_of(small);
    }
    std::set<TokenKind> said;
    std::size_t tokens = 0;
    const std::vector<int> prompt = prompt_of(launch);
    Emulator emulator(prompt);
    while (const auto token = emulator.next()) {
      ++tokens;
      const isa::Token& t = isa::token_of(*token);
      said.insert(t.kind);
      if (t.kind == TokenKind::Op && t.c != 0) executed.insert(static_cast<Op>(t.a));
    }
    ++statuses[status_of(instructions_of(transcript_of(launch)))];
    for (TokenKind kind : said) ++kinds[kind];
    moderate += tokens >= 3000 && tokens <= 20'000;
    large += tokens > 100'000;
    warps += emulator.state().last_thread >= Parameters::warp_lanes;
  }
  EXPECT_GT(moderate, seeds * 2 / 3);
  EXPECT_LT(large, seeds / 100);
  EXPECT_GT(warps, seeds / 6);
  EXPECT_GT(statuses[0], seeds * 4 / 5);
  for (const int status : {2, 9, 700, 701, 702, 715, 716}) EXPECT_GE(statuses[status], 5) << status;
  EXPECT_EQ(statuses.size(), 8u);
  for (TokenKind kind : {TokenKind::NewValue, TokenKind::Read, TokenKind::Meet, TokenKind::MeetNone,
                         TokenKind::Release, TokenKind::ReleaseKind, TokenKind::Stuck, TokenKind::Fault})
    EXPECT_GT(kinds[kind], 50) << static_cast<int>(kind);
  for (const isa::OpInfo& op : isa::op_table)
    EXPECT_TRUE(op.op == Op::Illegal || executed.contains(op.op)) << op.mnemonic;
}

}  // namespace
}  // namespace qwengpu::emulator

#include "emulator/compare.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "emulator/emulator.h"
#include "emulator/grammar.h"
#include "isa/rows.h"
#include "emulator/random_kernel.h"
#include "emulator/shrink.h"
#include "emulator/test_kernels.h"
#include "emulator/test_transcript.h"

namespace qwengpu::emulator {
namespace {

// Gives out a recorded transcript, and checks that it is told its own tokens.
class Recorded {
 public:
  explicit Recorded(std::vector<int> tokens) : tokens_(std::move(tokens)) {}
  int operator()(int last) {
    EXPECT_EQ(last, at_ == 0 ? isa::token_id({isa::TokenKind::Go}) : tokens_[at_ - 1]);
    return tokens_.at(at_++);
  }

 private:
  std::vector<int> tokens_;
  std::size_t at_ = 0;
};

TEST(CompareTest, EqualTranscriptsEnd) {
  const Case launch = vector_add(8, 4);
  const std::vector<int> tokens = transcript_of(launch);
  const Comparison result = compare(prompt_of(launch), Recorded(tokens));
  EXPECT_FALSE(result.difference);
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.steps, tokens.size());
  EXPECT_FALSE(compare(prompt_of(launch), Recorded(tokens), 10).ended);
}

TEST(CompareTest, TheFirstDifferenceIsNamed) {
  const Case launch = vector_add(8, 8);
  std::vector<int> tokens = transcript_of(launch);
  // Quad 1, the sum in lane 2: the row of pc 10.
  std::size_t at = 0;
  for (int seen = 0; seen < 2; ++at) seen += tokens[at] == isa::token_id({isa::TokenKind::Pc, 10});
  while (isa::token_of(tokens[at]).kind != isa::TokenKind::Value || isa::token_of(tokens[at]).a != 2) ++at;
  const int expected = tokens[at];
  tokens[at] = isa::token_id({isa::TokenKind::Value, 2, 0, 0x11});
  const Comparison result = compare(prompt_of(launch), Recorded(tokens));
  ASSERT_TRUE(result.difference);
  EXPECT_EQ(result.difference->step, at);
  EXPECT_EQ(result.difference->expected, expected);
  EXPECT_NE(result.difference->text.find(
                "(quad 1, pc 10: IADD R1, R1, R2, lane 2 byte 0): expected <2.0 f4>, got <2.0 11>"),
            std::string::npos)
      << result.difference->text;
  EXPECT_NE(result.difference->text.find("<PC 9><LD 1111 1111>"), std::string::npos)
      << result.difference->text;
}

TEST(CompareTest, AnIdOutsideTheVocabularyIsADifference) {
  const Comparison result = compare(prompt_of(vector_add(4, 4)), [](int) { return 1 << 20; });
  ASSERT_TRUE(result.difference);
  EXPECT_NE(result.difference->text.find("expected <Q S>, got token id 1048576"), std::string::npos)
      << result.difference->text;
}

// Index of the first token that the grammar refuses, or the size.
std::size_t refused_at(const std::vector<int>& tokens) {
  Grammar grammar;
  for (std::size_t n = 0; n < tokens.size(); ++n) try {
      grammar.accept(tokens[n]);
    } catch (const std::runtime_error&) {
      return n;
    }
  return tokens.size();
}

TEST(GrammarTest, TokensInTheWrongPlaceAreRefused) {
  const std::vector<int> tokens = transcript_of(vector_add(6, 4));
  ASSERT_EQ(refused_at(tokens), tokens.size());
  // A token too many, one too few: the transcript goes wrong at that place or right behind it.
  int unnoticed = 0;
  for (std::size_t n = 0; n + 1 < tokens.size(); ++n) {
    std::vector<int> twice = tokens, without = tokens;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(n), tokens[n]);
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(n));
    EXPECT_LE(refused_at(twice), n + 2) << isa::spelling(tokens[n]);
    if (const auto said = isa::said_byte(isa::token_of(tokens[n])); said && said->ending == isa::Ending::More) continue;  // without it, the byte is 0
    unnoticed += refused_at(without) > n + 16;
  }
  EXPECT_EQ(unnoticed, 0);
}

TEST(ShrinkTest, AMultiplicationByAnOddConstantIsAllThatRemains) {
  // 'Fails' when the kernel executes mul.lo and ends well: a stand-in for a broken multiplier.
  const auto fails = [](const Case& launch) {
    const std::vector<int> prompt = prompt_of(launch);
    Emulator emulator(prompt);
    bool multiplied = false;
    for (int n = 0; n < 50000; ++n) {
      const auto token = emulator.next();
      if (!token) return multiplied && emulator.state().fault_code == 0;
      const isa::Token& t = isa::token_of(*token);
      multiplied |= t.kind == isa::TokenKind::Op && t.a == static_cast<int>(isa::Op::Imul) && t.c != 0 &&
                    emulator.state().quad != State::system;
    }
    return false;
  };
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const Case launch = random_case(seed, {.faults = false, .bad_launches = false});
    ASSERT_TRUE(fails(launch)) << seed;
    const Case small = shrink(launch, fails);
    EXPECT_TRUE(fails(small));
    EXPECT_EQ(small.kernel.code.size(), 2u) << "seed " << seed << "\n" << text_of(small);
    EXPECT_EQ(small.block, (std::array<std::uint32_t, 3>{1, 1, 1}));
  }
}

// Whether the kernel's part of a launch that ends in 50000 tokens has a token of this kind.
bool says(const Case& launch, isa::TokenKind kind) {
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  bool said = false;
  for (int n = 0; n < 50000; ++n) {
    const auto token = emulator.next();
    if (!token) return said;
    said |= isa::token_of(*token).kind == kind;
  }
  return false;
}

TEST(ShrinkTest, WhoWaitsRemainsAndNothingElse) {
  struct Example {
    isa::TokenKind kind;
    std::size_t instructions;
  };
  for (const Example& example :
       {Example{isa::TokenKind::Meet, 1}, Example{isa::TokenKind::ReleaseKind, 1},
        Example{isa::TokenKind::Stuck, 1}, Example{isa::TokenKind::LastNewValue, 4}}) {
    const auto fails = [&](const Case& launch) { return says(launch, example.kind); };
    int shrunk = 0;
    for (std::uint64_t seed = 1; shrunk < 4; ++seed) {
      const Case launch = random_case(seed, {.faults = false, .bad_launches = false});
      if (!fails(launch)) continue;
      ++shrunk;
      const Case small = shrink(launch, fails);
      EXPECT_TRUE(fails(small));
      EXPECT_LE(small.kernel.code.size(), example.instructions) << "seed " << seed << "\n" << text_of(small);
      EXPECT_LE(small.block[0] * small.block[1] * small.block[2], 2u);
    }
  }
}

}  // namespace
}  // namespace qwengpu::emulator

#include "isa/rows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace qwengpu::isa {
namespace {

std::string spelled(std::uint32_t word) {
  std::string text;
  spell_word(word, [&](int byte, int value, Ending ending) {
    text += spelling(token_id(byte_token(Said::Word, 0, byte, value, ending)));
  });
  return text;
}

TEST(RowsTest, ZeroBytesAreLeftOutAndOnesAreOneSign) {
  EXPECT_EQ(spelled(0), "<0.0 00;>");
  EXPECT_EQ(spelled(5), "<0.0 05;>");
  EXPECT_EQ(spelled(0x100), "<0.1 01;>");
  EXPECT_EQ(spelled(0x3f800000), "<0.2 80><0.3 3f;>");
  EXPECT_EQ(spelled(0x3f000001), "<0.0 01><0.3 3f;>");
  EXPECT_EQ(spelled(0xff), "<0.0 ff;>");
  EXPECT_EQ(spelled(~0u), "<0.0 ff->");
  EXPECT_EQ(spelled(0xfffffffe), "<0.0 fe->");
  EXPECT_EQ(spelled(0xffff0000), "<0.2 ff->");
  EXPECT_EQ(spelled(0xff000000), "<0.3 ff;>");
  EXPECT_EQ(spelled(0xff00ffff), "<0.0 ff><0.1 ff><0.3 ff;>");
  EXPECT_EQ(spelled(0x80808080), "<0.0 80><0.1 80><0.2 80><0.3 80;>");
}

TEST(RowsTest, AWordReadsBackFromItsSpellingAndFromNoOther) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 20000; ++n) {
    // bytes 0 and ff often
    std::uint32_t word = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const auto r = random();
      word |= static_cast<std::uint32_t>(r % 3 == 0 ? 0 : r % 3 == 1 ? 0xff : (r >> 8 & 0xff)) << 8 * byte;
    }
    WordReader reader;
    spell_word(word,
               [&](int byte, int value, Ending ending) { EXPECT_TRUE(reader.push(byte, value, ending)); });
    EXPECT_TRUE(reader.complete());
    EXPECT_EQ(reader.word(), word);
    EXPECT_FALSE(reader.push(3, 1, Ending::Zeros));
  }
  const auto accepts = [](std::initializer_list<std::tuple<int, int, Ending>> bytes) {
    WordReader reader;
    for (const auto& [byte, value, ending] : bytes)
      if (!reader.push(byte, value, ending)) return false;
    return reader.complete();
  };
  EXPECT_FALSE(accepts({{0, 1, Ending::More}, {1, 0, Ending::Zeros}}));       // a zero byte
  EXPECT_FALSE(accepts({{0, 0xff, Ending::More}, {1, 0xff, Ending::Ones}}));  // <0.0 ff->
  EXPECT_FALSE(accepts({{3, 1, Ending::More}}));
  EXPECT_FALSE(accepts({{1, 0, Ending::Zeros}}));
  EXPECT_FALSE(accepts({{1, 2, Ending::More}, {0, 2, Ending::Zeros}}));
}

TEST(RowsTest, ARowIsSpokenLaneByLaneOrOfAllLanesAtOnce) {
  const auto read = [](const std::string& text) {
    RowReader reader;
    for (const int id : tokenize(text))
      if (!reader.push(token_of(id))) return std::optional<Row>();
    return reader.complete() ? std::optional(reader.row()) : std::nullopt;
  };
  EXPECT_EQ(read("<0.0 05;><1.0 00;><2.1 01;><3.0 fe->"), (Row{5, 0, 256, 0xfffffffe}));
  EXPECT_EQ(read("<*.2 80><*.3 3f;>"), (Row{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000}));
  EXPECT_EQ(read("<*.0 05;><1.0 00;>"), std::nullopt);
  EXPECT_EQ(read("<0.0 05;><*.0 00;>"), std::nullopt);
  EXPECT_EQ(read("<*.0 05><0.1 01;>"), std::nullopt);
}

}  // namespace
}  // namespace qwengpu::isa

#include "isa/tokens.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace qwengpu::isa {
namespace {

TEST(TokensTest, IdsFieldsAndSpellingsAreOneToOne) {
  std::set<std::string> spellings;
  for (int id = 0; id < vocabulary_size(); ++id) {
    EXPECT_EQ(token_id(token_of(id)), id);
    EXPECT_EQ(find_token(spelling(id)), id);
    EXPECT_TRUE(spellings.insert(spelling(id)).second) << spelling(id);
  }
}

TEST(TokensTest, TextRoundTripsWithAndWithoutSpaces) {
  const std::vector<int> tokens = tokenize("<GO><Q S> <FW 0>\n<MOV 1111 1111><0.0 05;>");
  EXPECT_EQ(detokenize(tokens), "<GO><Q S><FW 0><MOV 1111 1111><0.0 05;>");
  EXPECT_EQ(tokenize(detokenize(tokens)), tokens);
  EXPECT_THROW(tokenize("<GO><NO SUCH>"), std::invalid_argument);
  EXPECT_THROW(tokenize("<GO"), std::invalid_argument);
}

TEST(TokensTest, RowsAreSpokenWithoutTheirZeroBytes) {
  std::vector<int> tokens;
  append_row(tokens, {0, 5, 0x100, 0xff000000});
  EXPECT_EQ(detokenize(tokens), "<0.0 00;><1.0 05;><2.1 01;><3.3 ff;>");
}

}  // namespace
}  // namespace qwengpu::isa

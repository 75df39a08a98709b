#include "isa/encoding.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace qwengpu::isa {
namespace {

TEST(EncodingTest, TheEmptyWordIsIllegal) {
  EXPECT_EQ(decode(Row{}).op, Op::Illegal);
  EXPECT_EQ(encode(Instruction{}), Row{});
}

TEST(EncodingTest, FieldsThatDoNotFitAreRefused) {
  Instruction i;
  i.op = Op::Iadd;
  i.ra = 129;
  EXPECT_THROW(encode(i), std::invalid_argument);
  i.ra = -1;
  EXPECT_THROW(encode(i), std::invalid_argument);
  i.ra = 0;
  i.target = 2048;
  EXPECT_THROW(encode(i), std::invalid_argument);
  i.target = 0;
  i.pd = 7;
  EXPECT_THROW(encode(i), std::invalid_argument);
  i.pd = 0;
  i.table = 256;
  EXPECT_THROW(encode(i), std::invalid_argument);
}

TEST(EncodingTest, WordsThatNoInstructionEncodesToAreRefused) {
  EXPECT_THROW(decode(Row{255, 0, 0, 0}), std::invalid_argument);  // no such opcode
  EXPECT_THROW(decode(Row{0, 1, 0, 0}), std::invalid_argument);    // ILLEGAL with operands
  Row word = encode({.op = Op::Exit});
  word[3] |= 1u << 31;  // behind the target
  EXPECT_THROW(decode(word), std::invalid_argument);
}

}  // namespace
}  // namespace qwengpu::isa

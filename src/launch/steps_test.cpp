#include "launch/steps.h"

#include <gtest/gtest.h>

#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;

std::vector<Step> steps_of(const std::string& text) { return parse_steps(isa::tokenize(text)); }

TEST(Steps, OfAWholeLaunch) {
  const std::vector<Step> steps = steps_of(testing::scale_transcript);
  ASSERT_EQ(steps.size(), 16u);
  const Step& malloc = steps[1];
  EXPECT_TRUE(malloc.firmware && malloc.api());
  EXPECT_EQ(*malloc.row, (isa::Row{0, 12, 0x100, 0}));
  EXPECT_EQ(malloc.status(), 0);
  const Step& add = steps[6];
  EXPECT_FALSE(add.firmware);
  EXPECT_EQ(add.block, (Dim3{5, 0, 0}));
  EXPECT_EQ(add.quad, 0);
  EXPECT_EQ(add.pc, 2);
  EXPECT_EQ(add.op, isa::Op::Iadd);
  EXPECT_EQ(add.executing, 0b0111);
  EXPECT_EQ(*add.row, (isa::Row{0x100, 0x104, 0x108, 0}));
  EXPECT_EQ(add.number, 6u);
  EXPECT_EQ(steps[9].stored, 0b0111);
  EXPECT_FALSE(steps[14].row);  // BRA that no lane executes
}

TEST(Steps, AreCompleteWithTheirLastToken) {
  StepParser parser;
  const std::vector<int> tokens =
      isa::tokenize("<Q S><FW 0><LIMIT 1111 1111><FW 1><MOV 1111 1111><0.0 00;><1.0 01;><2.0 02;><3.0 03;>");
  std::vector<std::size_t> complete_at;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (parser.push(tokens[i])) complete_at.push_back(i);
  EXPECT_EQ(complete_at, (std::vector<std::size_t>{2, 8}));
  EXPECT_FALSE(parser.ended());
}

TEST(Steps, PredicatesFaultsAndDivergence) {
  const std::string start = "<Q S><FW 0><RUN 1111 1111><Q 0>";
  const std::vector<Step> steps =
      steps_of(start +
               "<PC 0><ISETP.EQ 1111 1111><P3 1010><PC 1><BRA 1111 1010>"
               "<PC 2><LDG 0101 0101><FAULT illegal-address 1><Q S><FW 1><HALT 1111 1111><END>");
  EXPECT_EQ(steps[1].predicate, 0b0101);
  EXPECT_EQ(steps[1].index, 3);
  EXPECT_EQ(steps[2].executing, 0b0101);
  ASSERT_TRUE(steps[3].fault);
  EXPECT_EQ(*steps[3].fault, (Step::Fault{isa::Fault::IllegalAddress, 1}));
  EXPECT_TRUE(steps_of(start + "<PC 0><ILLEGAL 1111 0000><FAULT illegal-instruction 0><Q S>")[1].fault);
}

TEST(Steps, RefuseWhatTheGrammarDoesNotHave) {
  const std::string start = "<Q S><FW 0><RUN 1111 1111><Q 0>";
  const std::pair<std::string, std::string> cases[] = {
      {"<FW 0>", "token 0 of the transcript, <FW 0>, cannot follow <GO>"},
      {"<Q S><PC 0>", "token 1 of the transcript, <PC 0>, cannot follow <Q S>"},
      {"<Q S><FW 0><MOV 1110 1110>", "<MOV 1110 1110>, cannot follow <FW 0>"},
      {"<Q S><FW 0><MOV 1111 1111><1.0 00;>", "<1.0 00;>, cannot follow"},
      {"<Q S><FW 0><MOV 1111 1111><0.0 00><0.2 00;>", "<0.2 00;>, cannot follow"},
      {"<Q S><FW 0><MOV 1111 1110><0.0 00;>", "<0.0 00;>, cannot follow <MOV 1111 1110>"},
      {"<Q S><FW 0><LIMIT 1111 1111><END>", "<END>, cannot follow"},
      {start + "<PC 0><HALT 1111 1111>", "<HALT 1111 1111>, cannot follow <PC 0>"},
      {start + "<PC 0><EXIT 1111 1111><Q 2>", "<Q 2>, cannot follow"},
      {start + "<PC 0><STG 1111 0110><ST 0>", "<ST 0>, cannot follow"},
      {start + "<PC 0><STG 1111 0110><ST 1><PC 1>", "<PC 1>, cannot follow <ST 1>"},
      {testing::scale_transcript + "<Q S>", "<Q S>, cannot follow <END>"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(message_of([&] { steps_of(text); }).find(message), std::string::npos)
        << text << ": " << message_of([&] { steps_of(text); });
}

}  // namespace
}  // namespace qwengpu::launch

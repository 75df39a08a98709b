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
  const std::vector<Step> steps = steps_of(start +
                                           "<PC 0><ISETP.EQ 1111 1111><P3 1010><PC 1><BRA 1111 1010>"
                                           "<PC 2><LD 0101 0101><FAULT illegal-address 1><0.0 00;><1.1 "
                                           "04;><2.0 00;><3.0 00;><Q S><FW 1><HALT 1111 1111><END>");
  EXPECT_EQ(steps[1].predicate, 0b0101);
  EXPECT_EQ(steps[1].index, 3);
  EXPECT_EQ(steps[2].executing, 0b0101);
  ASSERT_TRUE(steps[3].fault);
  EXPECT_EQ(*steps[3].fault, (Step::Fault{isa::Fault::IllegalAddress, 1, 0x400}));
  EXPECT_TRUE(steps_of(start + "<PC 0><ILLEGAL 1111 0000><FAULT illegal-instruction 0><Q S>")[1].fault);
}

constexpr const char* start = "<Q S><FW 0><RUN 1111 1111><Q 0>";

// A lane's word and what it becomes; a lane that sits out speaks a word alone.
TEST(Steps, AtomicOperationsHaveOldAndNewWords) {
  const std::vector<Step> steps = steps_of(
      std::string(start) +
      "<PC 0><ATOM.CAS 1111 1010><C><KEEP><0.0 05;><0.1=01;><RD "
      "1><1.0 09;><2.1 01;><2.0=07;><RD 3><3.0 04;>"
      "<PC 1><RED.ADD 1111 1110><0.0 01;><0.0=02;><RD 1><1.0 "
      "02;><1.0=03;><RD 2><2.0 03;><2.0=04;><RD 3><3.0 00;>"
      "<PC 2><ST.8 1111 1111><0.0 01;><0.0=02;><RD 1><1.0 "
      "02;><1.0=03;><RD 2><2.0 03;><2.0=04;><RD 3><3.0 00;><3.0=00;>"
      "<PC 3><ATOM.ADD 1111 0100><FAULT misaligned-address 1><0.0 00;><1.1 04;><2.0 00;><3.0 00;><Q S>");
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(*steps[1].row, (isa::Row{5, 9, 0x100, 4}));
  EXPECT_EQ(*steps[1].updated, (isa::Row{0x100, 0, 7, 0}));
  EXPECT_EQ(*steps[2].row, (isa::Row{1, 2, 3, 0}));
  EXPECT_EQ(*steps[2].updated, (isa::Row{2, 3, 4, 0}));
  EXPECT_EQ(steps[3].op, isa::Op::St8);
  EXPECT_EQ(*steps[4].fault, (Step::Fault{isa::Fault::MisalignedAddress, 1, 0x400}));
  EXPECT_FALSE(steps[4].updated);
}

// Two quads meet, pass a barrier and yield; then a third round of them is stuck, and the firmware lets them
// go on.
const std::string waiting_transcript =
    "<Q S><FW 0><RUN 1111 1111><Q 0>"
    "<PC 0><WARPSYNC 1111 1101><WAIT W 1101><PC 1><VOTE.PUT 0010 0010><WAIT W 1111><MEET 1>"
    "<Q 1><PC 0><WARPSYNC 1000 1000><WAIT W 1000>"
    "<Q 0><RELEASE 1><WAIT W 0010><PC 1><BAR 1101 1101><WAIT B 1101><MEET 2>"
    "<Q 1><WAIT W 0000><PC 1><BAR 1000 1000><WAIT B 1000>"
    "<Q 0><RELEASE 2><WAIT W 0000><PC 2><BAR 0010 0010><WAIT B 1111>"
    "<Q 1><RELEASE B>"
    "<Q 0><WAIT B 0000><PC 3><YIELD 1111 1111><WAIT Y 1111>"
    "<Q 1><WAIT B 0000><PC 3><WARPSYNC 1000 1000><WAIT W 1000><MEET 4><MEET -><RELEASE Y>"
    "<Q 0><WAIT Y 0000><PC 4><BAR.NAMED 1111 1111><WAIT B 1111>"
    "<Q 1><MEET 4><Q 0><RELEASE 4><Q 1><WAIT W 0000><PC 4><EXIT 1000 1000><STUCK>"
    "<Q S><FW 1><RESUME 1111 1111><RELEASE B>"
    "<Q 0><WAIT B 0000><PC 5><EXIT 1111 1111><Q 1><Q S><FW 2><HALT 1111 1111><END>";

TEST(Steps, OfLanesThatWait) {
  const std::vector<Step> steps = steps_of(waiting_transcript);
  const Step& wait = steps[1];
  EXPECT_TRUE(wait.instruction());
  EXPECT_EQ(wait.op, isa::Op::Warpsync);
  EXPECT_EQ(wait.waiting, 0b1011);
  EXPECT_EQ(wait.wait_kind, isa::WaitKind::Warp);
  EXPECT_EQ(steps[2].waiting, 0b1111);

  std::vector<Event> events;
  for (const Step& step : steps)
    if (!step.instruction() && step.event != Event::StillWaiting) events.push_back(step.event);
  EXPECT_EQ(events, (std::vector{Event::Meet, Event::WarpReleased, Event::Meet, Event::WarpReleased,
                                 Event::BarrierPassed, Event::Meet, Event::MeetPutOff, Event::YieldOver,
                                 Event::Meet, Event::WarpReleased, Event::Stuck, Event::BarrierPassed}));
  const Step& meet = steps[3];
  EXPECT_EQ(meet.event, Event::Meet);
  EXPECT_EQ(meet.pc, 1);
  EXPECT_FALSE(meet.api() || meet.firmware);
  const Step& released = steps[5];
  EXPECT_EQ(released.event, Event::WarpReleased);
  EXPECT_EQ(released.pc, 1);
  const Step& still = steps[6];
  EXPECT_EQ(still.event, Event::StillWaiting);
  EXPECT_EQ(still.waiting, 0b0100);
  EXPECT_EQ(still.wait_kind, isa::WaitKind::Warp);
  EXPECT_EQ(steps.back().op, isa::Op::Halt);
  for (std::size_t n = 0; n < steps.size(); ++n) EXPECT_EQ(steps[n].number, n);
}

// What is between two blocks is the firmware's; the release that RESUME makes is the block's.
TEST(Steps, TellWhoseATokenIs) {
  StepParser parser;
  std::string kernel, firmware;
  for (int token :
       isa::tokenize("<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><BAR.NAMED 1000 1000><WAIT B 1000><STUCK><Q S>"
                     "<FW 1><RESUME 1111 1111><RELEASE B><Q 0><WAIT B 0000><PC 1><EXIT 1000 1000><Q S>")) {
    parser.push(token);
    (parser.firmware() ? firmware : kernel) += isa::spelling(token);
  }
  EXPECT_EQ(firmware, "<Q S><FW 0><RUN 1111 1111><Q S><FW 1><RESUME 1111 1111><Q S>");
  EXPECT_EQ(kernel,
            "<Q 0><PC 0><BAR.NAMED 1000 1000><WAIT B 1000><STUCK><RELEASE B><Q 0><WAIT B 0000><PC 1><EXIT "
            "1000 1000>");
}

TEST(Steps, OfSharedAndLocalMemory) {
  const std::vector<Step> steps = steps_of(
      "<Q S><FW 0><localMemory 1111 1110><0.0 20;><1.0 40;><2.1 02;><3.0 00;>"
      "<FW 1><allocateShared 1111 1111><0.0 10;><1.0 00;><2.3 01;><3.0 00;>"
      "<FW 2><LIMIT.SHARED 1111 1111><FW 3><HALT 1111 1111><END>");
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_TRUE(steps[0].api() && steps[1].api());
  EXPECT_EQ((*steps[1].row)[2], 0x1000000u);
}

TEST(Steps, RefuseWhatTheGrammarDoesNotHave) {
  const std::string kernel = start, waits = kernel + "<PC 0><WARPSYNC 1111 1111><WAIT W 1111>",
                    atomic = kernel + "<PC 0><ATOM.ADD 1111 1111>";
  const std::pair<std::string, std::string> cases[] = {
      {"<FW 0>", "token 0 of the transcript, <FW 0>, cannot follow <GO>"},
      {"<Q S><PC 0>", "token 1 of the transcript, <PC 0>, cannot follow <Q S>"},
      {"<Q S><FW 0><MOV 1110 1110>", "<MOV 1110 1110>, cannot follow <FW 0>"},
      {"<Q S><FW 0><MOV 1111 1111><1.0 00;>", "<1.0 00;>, cannot follow"},
      {"<Q S><FW 0><MOV 1111 1111><0.2 00;>", "<0.2 00;>, cannot follow"},
      {"<Q S><FW 0><MOV 1111 1110><0.0 00;>", "<0.0 00;>, cannot follow <MOV 1111 1110>"},
      {"<Q S><FW 0><LIMIT 1111 1111><END>", "<END>, cannot follow"},
      {kernel + "<PC 0><HALT 1111 1111>", "<HALT 1111 1111>, cannot follow <PC 0>"},
      {kernel + "<PC 0><EXIT 1111 1111><Q 2>", "<Q 2>, cannot follow"},
      {kernel + "<PC 0><ST 1111 0110><ST 0>", "<ST 0>, cannot follow"},
      {kernel + "<PC 0><ST 1111 0110><ST 1><PC 1>", "<PC 1>, cannot follow <ST 1>"},
      {atomic + "<C>", "<C>, cannot follow"},
      {atomic + "<0.0 00;><1.0 00;>", "<1.0 00;>, cannot follow <0.0 00;>"},
      {atomic + "<0.0 00;><0.0=01;><1.0 00;>", "<1.0 00;>, cannot follow <0.0=01;>"},
      {atomic + "<0.0 00;><0.0=01;><RD 2>", "<RD 2>, cannot follow"},
      {atomic + "<0.0 00;><1.0=01;>", "<1.0=01;>, cannot follow"},
      {kernel + "<PC 0><MOV 1111 1111><0.0 00;><0.0=00;>", "<0.0=00;>, cannot follow"},
      {kernel + "<PC 0><BAR 1111 1111><PC 1>", "<PC 1>, cannot follow <BAR 1111 1111>"},
      {kernel + "<PC 0><BAR 1111 1111><WAIT W 1111>", "<WAIT W 1111>, cannot follow"},
      {kernel + "<PC 0><BAR 1111 1100><WAIT B 1000>", "<WAIT B 1000>, cannot follow"},
      {kernel + "<WAIT B 0000><WAIT B 0000>", "<WAIT B 0000>, cannot follow <WAIT B 0000>"},
      {kernel + "<RELEASE 1>", "<RELEASE 1>, cannot follow <Q 0>"},
      {waits + "<MEET ->", "<MEET ->, cannot follow"},
      {waits + "<Q 0>", "<Q 0>, cannot follow <WAIT W 1111>"},
      {waits + "<MEET 1><PC 1>", "<PC 1>, cannot follow <MEET 1>"},
      {waits + "<MEET 1><RELEASE B>", "<RELEASE B>, cannot follow"},
      {waits + "<MEET 1><Q 0><RELEASE 2>", "<RELEASE 2>, cannot follow <Q 0>"},
      {waits + "<MEET 1><Q 0><PC 1>", "<PC 1>, cannot follow <Q 0>"},
      {waits + "<MEET 1><Q 0><RELEASE 1><WAIT B 0000>", "<WAIT B 0000>, cannot follow <RELEASE 1>"},
      {waits + "<RELEASE B><Q 1>", "<Q 1>, cannot follow <RELEASE B>"},
      {waits + "<STUCK><Q 0>", "<Q 0>, cannot follow <STUCK>"},
      {"<Q S><FW 0><RESUME 1111 1111><RELEASE Y>", "<RELEASE Y>, cannot follow"},
      {"<Q S><FW 0><LIMIT 1111 1111><RELEASE B>", "<RELEASE B>, cannot follow"},
      {testing::scale_transcript + "<Q S>", "<Q S>, cannot follow <END>"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_NE(message_of([&] { steps_of(text); }).find(message), std::string::npos)
        << text << ": " << message_of([&] { steps_of(text); });
}

}  // namespace
}  // namespace qwengpu::launch

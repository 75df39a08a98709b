#include "launch/session.h"

#include <gtest/gtest.h>

#include "isa/tokens.h"
#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

// Writes what it is given, then REPEAT for ever.
class Script final : public TokenSource {
 public:
  Script(const std::string& text, const std::string& repeat = "")
      : tokens_(isa::tokenize(text)), repeat_(isa::tokenize(repeat)) {}
  void reset() override { at_ = 0; }
  void prefill(std::span<const int> tokens) override { prefilled += tokens.size(); }
  int next() override {
    const std::size_t i = at_++;
    return i < tokens_.size() ? tokens_[i] : repeat_[(i - tokens_.size()) % repeat_.size()];
  }
  std::size_t prefilled = 0;

 private:
  std::vector<int> tokens_, repeat_;
  std::size_t at_ = 0;
};

TEST(Session, CountsAndEnds) {
  Script script(testing::scale_transcript);
  const isa::Kernel kernel = testing::scale_kernel();
  Session session(script, kernel);
  const std::vector<int> prompt(1000, 0);
  std::size_t steps = 0, tokens = 0;
  Observer observer;
  observer.step = [&](const Step&) { ++steps; };
  observer.token = [&](int) { ++tokens; };
  session.run(prompt, default_max_tokens, observer);
  EXPECT_EQ(script.prefilled, prompt.size());
  EXPECT_EQ(steps, 16u);
  EXPECT_EQ(tokens, session.summary().tokens);
  EXPECT_EQ(session.summary().instructions, 7u);
  EXPECT_EQ(session.summary().firmware_instructions, 9u);
  // From <Q 0> to <EXIT 1110 1110>.
  EXPECT_EQ(session.summary().kernel_tokens, 46u);
  EXPECT_EQ(session.summary().firmware_tokens(), tokens - 46);
  EXPECT_DOUBLE_EQ(session.summary().tokens_per_instruction(), 46.0 / 7);
  EXPECT_DOUBLE_EQ(session.summary().firmware_share(),
                   static_cast<double>(tokens - 46) / static_cast<double>(tokens));
}

TEST(Session, WaitingCostsTokensButIsNoInstruction) {
  Script script(
      "<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><BAR 1111 1111><WAIT B 1111><RELEASE B><Q 0><WAIT B 0000>"
      "<PC 1><EXIT 1111 1111><Q S><FW 1><HALT 1111 1111><END>");
  const isa::Kernel kernel = testing::kernel_of("BAR\n EXIT");
  Session session(script, kernel);
  session.run({}, default_max_tokens);
  EXPECT_EQ(session.summary().instructions, 2u);
  EXPECT_EQ(session.summary().kernel_tokens, 9u);
  EXPECT_EQ(session.summary().firmware_tokens(), 7u);
}

TEST(Session, SaysWhereALoopIs) {
  const isa::Kernel kernel = testing::scale_kernel();
  Script script("<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><BRA 1111 1111>",
                "<PC 3><BRA 1111 0000><PC 4><BRA 1111 1111>");
  Session session(script, kernel);
  std::string message;
  try {
    session.run({}, 50000);
  } catch (const StepLimit& limit) {
    message = limit.what();
  }
  EXPECT_EQ(message,
            "the launch has not ended after 50000 tokens; kernel scale block (0,0,0) quad 0 was executing pc "
            "3 to 4 "
            "(scale.cu:13, scale.cu:14); if it does end, allow more with --max-steps");
}

TEST(Session, StopsAtATokenThatCannotBe) {
  const isa::Kernel kernel = testing::scale_kernel();
  Script script("<Q S>", "<PC 1>");
  EXPECT_THROW(Session(script, kernel).run({}, 100), TranscriptError);
}

}  // namespace
}  // namespace qwengpu::launch

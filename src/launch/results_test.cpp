#include "launch/results.h"

#include <gtest/gtest.h>

#include "launch/testing.h"

namespace qwengpu::launch {
namespace {

using testing::message_of;

struct Launch {
  Description description;
  Prompt prompt;
};

Launch scale_launch(const std::string& buffer) {
  Launch launch;
  launch.description.arguments = {parse_argument(buffer), parse_argument("i32:2")};
  launch.prompt = make_prompt(launch.description, testing::scale_kernel());
  return launch;
}

ResultCollector collect(const std::string& text) {
  ResultCollector collector;
  for (const Step& step : parse_steps(isa::tokenize(text))) collector.push(step);
  return collector;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Results, AreTheSpokenWords) {
  const Launch launch = scale_launch("inout:i32[3]=iota");
  const auto results = collect(testing::scale_transcript).results(launch.description, launch.prompt);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].argument, 0u);
  EXPECT_EQ(results[0].array.at<std::int32_t>(0), 6);
  EXPECT_EQ(results[0].array.at<std::int32_t>(2), 10);
}

// The module's variables are buffer 0, and no result.
TEST(Results, AreThoseOfTheArgumentsBehindTheVariables) {
  Launch launch = scale_launch("inout:i32[3]=iota");
  isa::Kernel kernel = testing::scale_kernel();
  kernel.variables = {1, 2, 3};
  launch.prompt = make_prompt(launch.description, kernel);
  const std::string text = replaced(testing::scale_transcript, "<0.1 01;><1.0 00;><2.0 0c;>",
                                    "<0.1 01;><1.0 01;><2.0 0c;>");
  const auto results = collect(text).results(launch.description, launch.prompt);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].argument, 0u);
  EXPECT_EQ(results[0].array.at<std::int32_t>(2), 10);
  EXPECT_NE(message_of([&] {
              collect(testing::scale_transcript).results(launch.description, launch.prompt);
            }).find("speaks 0 of the 12 bytes of argument 0"),
            std::string::npos);
}

TEST(Results, KnowTheFaultOfTheKernel) {
  const std::string kernel =
      "<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><LD 1111 1111><FAULT illegal-address 2><0.0 00;><1.0 00;><2.1 04;><3.0 00;><Q S>";
  ASSERT_TRUE(collect(kernel).fault());
  EXPECT_EQ(collect(kernel).fault()->fault->lane, 2);
  EXPECT_FALSE(collect("<Q S><FW 0><LD 1111 1111><FAULT illegal-address 2><0.0 00;><1.0 00;><2.1 04;><3.0 00;><Q S>").fault());
}

TEST(Results, KnowTheBlockThatIsStuck) {
  const std::string stuck =
      "<Q S><FW 0><RUN 1111 1111><Q 0><PC 0><BAR.NAMED 1111 1111><WAIT B 1111><STUCK><Q S>";
  EXPECT_TRUE(collect(stuck).stuck());
  EXPECT_FALSE(collect(stuck + "<FW 1><RESUME 1111 1111><RELEASE B><Q 0>").stuck());
}

TEST(Results, LastWordCountsInPart) {
  const Launch launch = scale_launch("out:u8[10]");
  const std::string text = replaced(testing::scale_transcript, "<1.0 00;><2.0 0c;>", "<1.0 00;><2.0 0a;>");
  EXPECT_EQ(collect(text).results(launch.description, launch.prompt)[0].array.bytes,
            (std::vector<std::uint8_t>{6, 0, 0, 0, 8, 0, 0, 0, 10, 0}));
}

TEST(Results, OfAnIncompleteTranscriptDoNotExist) {
  const Launch launch = scale_launch("inout:i32[3]=iota");
  const auto results = [&](const std::string& text) {
    return message_of([&] { collect(text).results(launch.description, launch.prompt); });
  };
  const std::string& whole = testing::scale_transcript;
  EXPECT_NE(results(whole.substr(0, whole.find("<FW 4>"))).find("ends before cudaStreamSynchronize"),
            std::string::npos);
  EXPECT_NE(results(whole.substr(0, whole.find("<FW 6>"))).find("speaks 0 of the 12 bytes of argument 0"),
            std::string::npos);
  EXPECT_NE(results(whole.substr(0, whole.find("<FW 5>"))).find("speaks 0 of the 12 bytes of argument 0"),
            std::string::npos);
}

TEST(Results, OfAFailedLaunchDoNotExist) {
  const Launch launch = scale_launch("inout:i32[3]=iota");
  // cudaStreamSynchronize with status 700.
  const std::string text = replaced(testing::scale_transcript, "<0.0 01;><1.0 00;><2.0 00;><3.0 00;>",
                                    "<0.0 01;><1.0 00;><2.0 00;><3.0 bc><3.1 02;>");
  const ResultCollector collector = collect(text);
  EXPECT_EQ(collector.status(), 700);
  EXPECT_EQ(collector.failed_call(), "cudaStreamSynchronize");
  EXPECT_NE(message_of([&] {
              collector.results(launch.description, launch.prompt);
            }).find("cudaErrorIllegalAddress"),
            std::string::npos);
}

TEST(Results, MoreThanABufferHoldsIsAnError) {
  const std::string text = replaced(testing::scale_transcript, "<1.0 00;><2.0 0c;>", "<1.0 00;><2.0 08;>");
  EXPECT_NE(message_of([&] { collect(text); }).find("more results than the buffer has bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace qwengpu::launch

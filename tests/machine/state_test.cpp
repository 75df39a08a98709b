// The recurrent state itself: registers, predicates, program counters, waiting lanes and memory, read out of
// the GDN heads while a kernel runs, are the emulator's.
#include <gtest/gtest.h>

#include "long_launch.h"
#include "state_check.h"

namespace qwengpu {
namespace {

TEST(State, IsTheEmulatorsAfterEveryInstruction) {
  long tokens = 0, checks = 0;
  std::string difference;
  const Launch launch = long_launch(4);
  const Agreement result =
      compare(emulator::prompt_of(make_case(launch)), 100'000, [&](const emulator::Emulator& e, int) {
        // Every now and then, at places that differ.
        if (!e.between_instructions() || ++tokens % 23 != 0 || !difference.empty()) return;
        difference = state_difference(e.state(), long_launch_extent);
        ++checks;
      });
  EXPECT_TRUE(result.same) << result.difference;
  EXPECT_EQ(difference, "");
  EXPECT_GT(checks, 100);
}

}  // namespace
}  // namespace qwengpu

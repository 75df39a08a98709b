#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "emulator/case.h"
#include "emulator/emulator.h"
#include "ptx/module.h"
#include "random_program.h"

namespace qwengpu {
namespace {

// Five threads, so that lanes diverge and a quad is not full.
void check(unsigned seed) {
  const RandomProgram program = random_program(seed);
  std::mt19937 generator(seed);
  const auto random = [&] { return static_cast<std::uint32_t>(generator()); };
  std::vector<std::uint32_t> input, expected;
  for (int thread = 0; thread < 5; ++thread) {
    std::vector<std::uint32_t> words(RandomProgram::input_words);
    for (auto& word : words) word = random() >> (random() % 32);
    input.insert(input.end(), words.begin(), words.end());
    const auto result = program.expected(words);
    expected.insert(expected.end(), result.begin(), result.end());
  }
  emulator::Case launch;
  launch.kernel = ptx::Module(program.ptx, "random.ptx").compile("random");
  launch.block = {5, 1, 1};
  launch.buffers.push_back({static_cast<std::uint32_t>(4 * input.size()), true, false, input});
  launch.buffers.push_back({static_cast<std::uint32_t>(4 * expected.size()), false, true, {}});
  launch.arguments = {{0, true}, {0, false}, {1, true}, {0, false}};
  const std::vector<int> prompt = emulator::prompt_of(launch);
  emulator::Emulator emulator(prompt);
  for (int tokens = 0; emulator.next(); ++tokens) ASSERT_LT(tokens, 5'000'000);
  ASSERT_EQ(emulator.state().fault_code, 0);
  const auto begin = emulator.state().global.begin() + 128;  // behind the input
  const std::vector<std::uint32_t> got(begin, begin + static_cast<std::ptrdiff_t>(expected.size()));
  ASSERT_EQ(got, expected) << "seed " << seed << "\n" << program.ptx << ptx::listing(launch.kernel);
}

TEST(RandomPtx, ComputesWhatPtxSays) {
  const char* variable = std::getenv("QWENGPU_TEST_ROUNDS");
  const unsigned rounds = variable != nullptr ? static_cast<unsigned>(std::atoi(variable)) : 500;
  for (unsigned seed = 0; seed < rounds && !HasFatalFailure(); ++seed) check(seed);
}

}  // namespace
}  // namespace qwengpu

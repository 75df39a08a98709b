// The model writes what the emulator writes on random kernels: loops, divergence, memory of every kind,
// atomic operations, waiting, faults, refused launches. Many small blocks, and some of several warps. `make
// fuzz` runs many more.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulator/compare.h"
#include "emulator/random_kernel.h"
#include "emulator/shrink.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

constexpr std::size_t most_tokens = 400'000;

emulator::Comparison run(const emulator::Case& launch) {
  const std::vector<int> prompt = emulator::prompt_of(launch);
  engine::Engine& engine = model();
  engine.reset();
  engine.prefill(std::span(prompt).first(prompt.size() - 1));
  return emulator::compare(
      prompt,
      [&engine](int last) {
        engine.append(last);
        return engine.argmax();
      },
      most_tokens);
}

class RandomKernels : public testing::TestWithParam<int> {};

TEST_P(RandomKernels, RunAsInTheEmulator) {
  constexpr int kernels = 60;
  for (int i = 0; i < kernels; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * kernels + i);
    const emulator::Case launch =
        emulator::random_case(seed, {.instructions = 30, .quads = i % 6 == 0 ? 20 : 2});
    const emulator::Comparison result = run(launch);
    if (!result.difference) {
      ASSERT_TRUE(result.ended) << "seed " << seed << ": no end after " << result.steps << " tokens";
      continue;
    }
    const emulator::Case small = emulator::shrink(
        launch, [](const emulator::Case& c) { return run(c).difference.has_value(); }, 300);
    FAIL() << "seed " << seed << "\n" << run(small).difference->text << "\n" << emulator::text_of(small);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomKernels, testing::Range(0, 10),
                         [](const auto& range) { return fmt::format("From{}", 60 * range.param); });

}  // namespace
}  // namespace qwengpu

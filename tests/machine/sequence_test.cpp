// Launches one after another in one sequence: memory stays, all else begins anew.
#include <gtest/gtest.h>

#include <optional>

#include "isa/tokens.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

TEST(Sequence, MemoryThatIsFreedIsGivenAgainAsItWas) {
  const auto launch = [](const std::string& text, std::uint32_t threads) {
    return emulator::prompt_of(make_case({.assembly = "MOV R0, SR_THREAD\nMOV R1, c[0x40]\nIMAD R2, R0, 4, R1\n" + text + "\nEXIT",
                                          .block = {threads, 1, 1},
                                          .buffers = {out_buffer(40)},
                                          .arguments = {buffer_argument(0)}}));
  };
  const std::vector<std::vector<int>> prompts = {
      launch("IMUL R3, R0, 0x1234567\nST [R2], R3\nSHFL.PUT R3\nISETP.EQ P3, R0, 1", 40),
      launch("LD R4, [R2]\nIADD R4, R4, R3\nST [R2], R4\n@P3 ST [R2+4], RZ", 20),
      launch("LD R4, [R2]\nLD R5, [R2+80]\nSHFL.GET R6, R0\nIADD R4, R4, R5\n@P0 LD R5, [RZ]\nST [R2+0x1000], R4", 7),  // faults
      launch("LD R4, [R2]\nBAR\nLD R5, [R2+4]", 9)};
  engine::Engine& engine = model();
  engine.reset();
  std::optional<emulator::Emulator> emulator;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    SCOPED_TRACE(n);
    engine.prefill(prompts[n]);
    if (emulator)
      emulator->next_launch(prompts[n]);
    else
      emulator.emplace(prompts[n]);
    int token = 0;
    for (std::size_t at = 0; const auto expected = emulator->next(); ++at) {
      token = engine.argmax();
      ASSERT_EQ(isa::spelling(token), isa::spelling(*expected)) << "token " << at;
      engine.append(token);
    }
    ASSERT_EQ(isa::spelling(token), "<END>");
  }
}

}  // namespace
}  // namespace qwengpu

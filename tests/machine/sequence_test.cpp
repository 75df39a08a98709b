// Launches one after another in one sequence: memory stays, all else begins anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "emulator/random_kernel.h"
#include "isa/rows.h"
#include "isa/tokens.h"
#include "model_under_test.h"

namespace qwengpu {
namespace {

constexpr long most_tokens = 400'000;  // of a launch

// The model writes what the emulator writes, launch by launch. The last transcript, as spellings.
std::string run_all(const std::vector<std::vector<int>>& prompts) {
  engine::Engine& engine = model();
  engine.reset();
  std::optional<emulator::Emulator> emulator;
  std::string said;
  for (std::size_t n = 0; n < prompts.size(); ++n) {
    SCOPED_TRACE(fmt::format("launch {}", n));
    engine.prefill(prompts[n]);
    if (emulator)
      emulator->next_launch(prompts[n]);
    else
      emulator.emplace(prompts[n]);
    said.clear();
    for (long at = 0; const auto expected = emulator->next(); ++at) {
      const int token = engine.argmax();
      if (token != *expected || at == most_tokens) {
        ADD_FAILURE() << "token " << at << ": expected " << isa::spelling(*expected) << ", the model says "
                      << isa::spelling(token) << "; before it: "
                      << said.substr(said.size() - std::min<std::size_t>(said.size(), 400));
        return said;
      }
      said += isa::spelling(token);
      engine.append(token);
    }
    EXPECT_TRUE(said.ends_with("<END>"));
  }
  return said;
}

TEST(Sequence, MemoryThatIsFreedIsGivenAgainAsItWas) {
  const auto launch = [](const std::string& text, std::uint32_t threads) {
    return emulator::prompt_of(
        make_case({.assembly = "MOV R0, SR_THREAD\nMOV R1, c[0x40]\nIMAD R2, R0, 4, R1\n" + text + "\nEXIT",
                   .block = {threads, 1, 1},
                   .buffers = {out_buffer(40)},
                   .arguments = {buffer_argument(0)}}));
  };
  run_all({launch("IMUL R3, R0, 0x1234567\nST [R2], R3\nSHFL.PUT R3\nISETP.EQ P3, R0, 1", 40),
           launch("LD R4, [R2]\nIADD R4, R4, R3\nST [R2], R4\n@P3 ST [R2+4], RZ", 20),
           launch("LD R4, [R2]\nLD R5, [R2+80]\nSHFL.GET R6, R0\nIADD R4, R4, R5\n@P0 LD R5, [RZ]\nST "
                  "[R2+0x1000], R4",
                  7),  // faults
           launch("LD R4, [R2]\nBAR\nLD R5, [R2+4]", 9)});
}

// Heat moves between two buffers, which take turns as the source; a launch that faults and one that finds no
// memory change nothing.
TEST(Sequence, BuffersThatAreKeptTakeTurns) {
  constexpr int cells = 21;
  const auto step = [](bool first, std::uint32_t from, std::uint32_t to, bool last, const std::string& text) {
    std::vector<emulator::CaseBuffer> buffers = {in_buffer(std::vector<std::uint32_t>(cells, 1000)),
                                                 out_buffer(cells)};
    buffers[0].data[4] = 90000;
    for (emulator::CaseBuffer& buffer : buffers) {
      buffer.again = !first;
      buffer.keep = !last;
      buffer.copy_in = buffer.copy_in && first;
      buffer.copy_out = last;
      if (!first) buffer.data.clear();
    }
    if (!first) buffers.push_back({.bytes = 100, .keep = !last && text != "EXIT"});
    return make_case({.assembly = text.empty() ? R"(
        MOV R0, SR_THREAD
        SHL R0, R0, 2
        IADD R1, R0, c[0x40]
        IADD R2, R0, c[0x44]
        ISETP.EQ P0, R0, 0
        ISETP.EQ P1, R0, 80
        LD R3, [R1]
        MOV R4, R3
        MOV R5, R3
  @!P0  LD R4, [R1-4]
  @!P1  LD R5, [R1+4]
        IADD R4, R4, R5
        IMAD R3, R3, 2, R4
        SHR.U32 R3, R3, 2
        ST [R2], R3
        EXIT
)"
                                               : text,
                      .block = {cells, 1, 1},
                      .buffers = buffers,
                      .arguments = {buffer_argument(from), buffer_argument(to)}});
  };
  std::vector<std::vector<int>> prompts = {emulator::prompt_of(step(true, 0, 1, false, ""))};
  prompts.push_back(
      emulator::prompt_of(step(false, 1, 0, false, "MOV R1, c[0x40]\nLD R2, [R1+0x4000]\nEXIT")));
  emulator::Case too_large = step(false, 1, 0, false, "EXIT");
  too_large.buffers[2] = {.bytes = 200'000, .keep = true};
  prompts.push_back(emulator::prompt_of(too_large));
  prompts.push_back(emulator::prompt_of(step(false, 1, 0, false, "EXIT")));
  prompts.push_back(emulator::prompt_of(step(false, 1, 0, true, "")));
  const std::string said = run_all(prompts);
  std::vector<std::uint32_t> cell(cells, 1000), next(cells);
  cell[4] = 90000;
  for (int n = 0; n < 2; ++n) {
    for (std::size_t i = 0; i < cells; ++i)
      next[i] = (2 * cell[i] + cell[i == 0 ? 0 : i - 1] + cell[i == cells - 1 ? i : i + 1]) / 4;
    cell = next;
  }
  std::vector<int> values;
  isa::append_row(values, {cell[4], cell[5], cell[6], cell[7]});
  EXPECT_NE(said.find("<OUT 1111 1111>" + isa::detokenize(values)), std::string::npos);
}

TEST(Sequence, RandomLaunchesThatKeepUseAndFree) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::vector<std::vector<int>> prompts;
    for (const emulator::Case& launch : emulator::random_sequence(seed, 3, {.instructions = 30, .quads = 2}))
      prompts.push_back(emulator::prompt_of(launch));
    run_all(prompts);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace qwengpu

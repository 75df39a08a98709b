// Launches one after another: buffers that stay, their memory, and what becomes of them when a launch fails.
#include <gtest/gtest.h>

#include <optional>

#include "emulator/grammar.h"
#include "emulator/random_kernel.h"
#include "emulator/test_kernels.h"
#include "emulator/test_transcript.h"
#include "isa/parameters.h"
#include "isa/request.h"

namespace qwengpu::emulator {
namespace {

using isa::Op;
using isa::Row;

class Sequence {
 public:
  std::vector<Spoken> run(const Case& launch) {
    const std::vector<int> prompt = prompt_of(launch);
    if (emulator_)
      emulator_->next_launch(prompt);
    else
      emulator_.emplace(prompt);
    Grammar grammar;
    std::vector<int> tokens;
    while (const auto token = emulator_->next()) {
      grammar.accept(*token);
      tokens.push_back(*token);
    }
    EXPECT_TRUE(grammar.ended());
    return instructions_of(tokens);
  }
  const State& state() const { return emulator_->state(); }

 private:
  std::optional<Emulator> emulator_;
};

Case launch_of(std::vector<CaseBuffer> buffers, std::string_view text = "EXIT") {
  Case launch;
  launch.kernel.code = isa::assemble(text);
  launch.buffers = std::move(buffers);
  for (std::uint32_t b = 0; b < launch.buffers.size(); ++b) launch.arguments.push_back({b, true});
  return launch;
}

CaseBuffer plain(std::uint32_t bytes) { return {.bytes = bytes}; }
CaseBuffer keep(std::uint32_t bytes) { return {.bytes = bytes, .keep = true}; }
CaseBuffer stay(std::uint32_t bytes) { return {.bytes = bytes, .keep = true, .again = true}; }
CaseBuffer last(std::uint32_t bytes) { return {.bytes = bytes, .again = true}; }

std::vector<Row> allocated(const std::vector<Spoken>& said) { return rows_of(said, Op::Malloc); }
std::vector<Row> freed(const std::vector<Spoken>& said) { return rows_of(said, Op::Free); }
using Rows = std::vector<Row>;

TEST(SequenceTest, ABufferThatIsKeptIsAllocatedOnceAndFreedOnce) {
  Sequence sequence;
  auto said = sequence.run(launch_of({keep(20), plain(8)}));
  EXPECT_EQ(allocated(said), (Rows{{0, 20, 256, 0}, {1, 8, 512, 0}}));
  EXPECT_EQ(freed(said), (Rows{{1, 0, 512, 0}}));
  EXPECT_EQ(sequence.state().limit, 768u);
  said = sequence.run(launch_of({stay(20), plain(300), plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{1, 300, 512, 0}, {2, 4, 1024, 0}}));
  EXPECT_EQ(freed(said), (Rows{{2, 0, 1024, 0}, {1, 0, 512, 0}}));
  EXPECT_EQ(sequence.state().limit, 1280u);
  said = sequence.run(launch_of({last(20), plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{1, 4, 512, 0}}));
  EXPECT_EQ(freed(said), (Rows{{1, 0, 512, 0}, {0, 0, 256, 0}}));
  said = sequence.run(launch_of({plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{0, 4, 256, 0}}));
  EXPECT_EQ(sequence.state().limit, 512u);
}

TEST(SequenceTest, DataGoesFromOneLaunchToTheNext) {
  Sequence sequence;
  const std::string_view text = R"(
        MOV R0, SR_THREAD
        SHL R0, R0, 2
        IADD R1, R0, c[0x40]
        LD R2, [R1]
        IMUL R2, R2, 3
        ST [R1], R2
        EXIT
  )";
  Case launch = launch_of({{.bytes = 20, .copy_in = true, .data = {1, 2, 3, 4, 5}, .keep = true}}, text);
  launch.block[0] = 5;
  EXPECT_TRUE(results_of(sequence.run(launch)).empty());
  launch.buffers[0] = stay(20);
  EXPECT_TRUE(rows_of(sequence.run(launch), Op::CopyIn).empty());
  launch.buffers[0] = last(20);
  launch.buffers[0].copy_out = true;
  const auto said = sequence.run(launch);
  EXPECT_EQ(rows_of(said, Op::CopyBack), (Rows{{256, 0, 20, 0}}));
  EXPECT_EQ(results_of(said), (std::vector<std::uint32_t>{27, 54, 81, 108, 135}));
}

TEST(SequenceTest, WhatIsKeptCanBeCopiedInAnew) {
  Sequence sequence;
  sequence.run(launch_of({{.bytes = 8, .copy_in = true, .data = {1, 2}, .keep = true}}));
  const auto said = sequence.run(launch_of(
      {{.bytes = 8, .copy_in = true, .copy_out = true, .data = {7, 9}, .keep = true, .again = true}}));
  EXPECT_EQ(rows_of(said, Op::CopyIn).size(), 1u);
  EXPECT_EQ(results_of(said), (std::vector<std::uint32_t>{7, 9}));
}

// Freed below others, memory is given again when all above it is free.
TEST(SequenceTest, MemoryComesBackFromTheTop) {
  Sequence sequence;
  sequence.run(launch_of({keep(100), keep(256), keep(257)}));
  auto said = sequence.run(launch_of({stay(100), last(256), stay(257)}));
  EXPECT_EQ(freed(said), (Rows{{1, 0, 512, 0}}));
  said = sequence.run(launch_of({stay(100), plain(4), last(257)}));
  EXPECT_EQ(allocated(said), (Rows{{1, 4, 1280, 0}})) << "number 1 is free, its memory is not";
  EXPECT_EQ(freed(said), (Rows{{2, 0, 768, 0}, {1, 0, 1280, 0}}));
  said = sequence.run(launch_of({stay(100), plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{1, 4, 512, 0}}));
}

TEST(SequenceTest, ABufferThatTookAFreeNumberLiesAboveTheOthers) {
  Sequence sequence;
  sequence.run(launch_of({keep(4), keep(4)}));
  sequence.run(launch_of({last(4), stay(4)}));
  sequence.run(launch_of({keep(300), stay(4)}));
  const auto said = sequence.run(launch_of({stay(300), stay(4), plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{2, 4, 1280, 0}}));
}

TEST(SequenceTest, NullBuffersMayBeKept) {
  Sequence sequence;
  sequence.run(launch_of({keep(0)}));
  auto said = sequence.run(launch_of({stay(0), keep(4)}));
  EXPECT_EQ(allocated(said), (Rows{{1, 4, 256, 0}}));
  said = sequence.run(launch_of({last(0), last(4)}));
  EXPECT_EQ(freed(said), (Rows{{1, 0, 256, 0}, {0, 0, 0, 0}}));
}

TEST(SequenceTest, OutOfMemoryFreesWhatIsNewAndKeepsTheRest) {
  constexpr std::uint32_t all = isa::Parameters::global_bytes - isa::Parameters::first_allocation;
  Sequence sequence;
  sequence.run(launch_of({keep(256), keep(256)}));
  for (const CaseBuffer& large : {plain(all - 511), keep(all - 511), plain(0xffffffff), keep(0xffffffff)}) {
    const auto said = sequence.run(launch_of({last(256), stay(256), keep(4), large}));
    EXPECT_EQ(status_of(said), 2);
    EXPECT_EQ(allocated(said), (Rows{{2, 4, 768, 0}, {3, large.bytes, 0, 2}}));
    EXPECT_EQ(freed(said), (Rows{{2, 0, 768, 0}}));
  }
  // Before the buffers that are there already were seen.
  sequence.run(launch_of({last(256), stay(256)}));
  auto said = sequence.run(launch_of({keep(all), stay(256)}));
  EXPECT_EQ(allocated(said), (Rows{{0, all, 0, 2}}));
  EXPECT_TRUE(freed(said).empty());
  said = sequence.run(launch_of({keep(all - 512), stay(256)}));
  EXPECT_EQ(status_of(said), 0);
  EXPECT_EQ(allocated(said), (Rows{{0, all - 512, 768, 0}}));
}

TEST(SequenceTest, AfterAFaultOrARefusalEverythingIsKeptThatWas) {
  Sequence sequence;
  const auto first = launch_of({{.bytes = 4, .copy_in = true, .data = {5}, .keep = true}, keep(4)});
  sequence.run(first);
  Case fault = launch_of({last(4), stay(4), keep(4), plain(4)}, "LD R1, [RZ]\nEXIT");
  auto said = sequence.run(fault);
  EXPECT_EQ(status_of(said), 700);
  EXPECT_EQ(freed(said), (Rows{{3, 0, 1024, 0}, {2, 0, 768, 0}}));
  Case refused = launch_of({last(4), stay(4), keep(4)});
  refused.grid[0] = 0;
  said = sequence.run(refused);
  EXPECT_EQ(status_of(said), 9);
  EXPECT_EQ(freed(said), (Rows{{2, 0, 768, 0}}));
  CaseBuffer out = last(4);
  out.copy_out = true;
  said = sequence.run(launch_of({out, last(4), plain(4)}));
  EXPECT_EQ(allocated(said), (Rows{{2, 4, 768, 0}}));
  EXPECT_EQ(results_of(said), std::vector<std::uint32_t>{5});
  EXPECT_EQ(freed(said).size(), 3u);
}

TEST(SequenceTest, LocalMemoryLiesAboveAndGoesWithItsLaunch) {
  Sequence sequence;
  Case launch = launch_of({keep(4)});
  launch.kernel.local_bytes = 16;
  launch.block[0] = 20;
  EXPECT_EQ(rows_of(sequence.run(launch), Op::LocalMemory), (Rows{{16, 320, 512, 0}}));
  launch.buffers = {stay(4), keep(4)};
  const auto said = sequence.run(launch);
  EXPECT_EQ(allocated(said), (Rows{{1, 4, 512, 0}}));
  EXPECT_EQ(rows_of(said, Op::LocalMemory), (Rows{{16, 320, 768, 0}}));
}

TEST(SequenceTest, AsManyAsTheMachineTakesMayBeKept) {
  std::vector<CaseBuffer> buffers(isa::request::max_buffers, keep(4)),
      again(isa::request::max_buffers, stay(4));
  Sequence sequence;
  sequence.run(launch_of(buffers));
  EXPECT_TRUE(allocated(sequence.run(launch_of(again))).empty());
  EXPECT_EQ(sequence.state().limit, 256u * (isa::request::max_buffers + 1));
}

TEST(SequenceTest, RandomSequencesAreTranscripts) {
  int used_again = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Sequence sequence;
    for (const Case& launch : random_sequence(seed, 3, {.quads = 2})) {
      const auto said = sequence.run(launch);
      if (allocated(said).size() < launch.buffers.size() && status_of(said) == 0) ++used_again;
    }
  }
  EXPECT_GT(used_again, 100);
}

}  // namespace
}  // namespace qwengpu::emulator

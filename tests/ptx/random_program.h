// Random PTX together with what it computes: every instruction comes with its meaning in C++, in the words of
// the PTX ISA.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace qwengpu {

// The registers of one thread.
struct Thread {
  std::array<std::uint32_t, 8> r{};
  std::array<std::uint64_t, 6> d{};
  std::array<std::uint16_t, 5> h{};
  std::array<bool, 10> p{};
  bool operator==(const Thread&) const = default;
};

// An instruction, a conditional block, or a loop.
struct Step {
  std::string text;  // of an instruction
  std::function<void(Thread&)> meaning;
  int guard = -1;  // predicate of the instruction or block
  bool negated = false;
  int rounds = 0;            // of a loop; 0: not one
  std::vector<Step> inside;  // of a block or loop
};

struct RandomProgram {
  static constexpr int input_words = 8;
  static constexpr int output_words = 8 + 12 + 5 + 1;  // r, d, h, and p as bits
  std::string ptx;  // kernel "random"(u64 in, u64 out): one record a thread
  // What thread writes, given what it reads.
  std::vector<std::uint32_t> expected(const std::vector<std::uint32_t>& input) const;

  std::vector<Step> steps;
};

RandomProgram random_program(unsigned seed);

}  // namespace qwengpu

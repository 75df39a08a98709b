#include "model_under_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "isa/assembly.h"
#include "isa/tokens.h"
#include "machine/machine.h"

namespace qwengpu {

const circuit::Compiled& compiled_machine() {
  static const circuit::Compiled instance = machine::compile(machine::make_machine());
  return instance;
}

engine::Engine& model() {
  static const std::unique_ptr<engine::Engine> instance = engine::make_sparse(compiled_machine().checkpoint);
  return *instance;
}

Agreement compare(std::span<const int> prompt, long most, const Watch& watch) {
  emulator::Emulator emulator(prompt);
  engine::Engine& engine = model();
  engine.reset();
  engine.prefill(prompt);
  Agreement result;
  while (result.tokens < most) {
    const auto expected = emulator.next();
    if (!expected) break;
    const int got = engine.argmax();
    if (got != *expected) {
      result.same = false;
      const std::size_t context = std::min<std::size_t>(result.transcript.size(), 40);
      result.difference =
          fmt::format("at token {}: expected {}, the model says {}; before it: {}", result.tokens,
                      isa::spelling(*expected), isa::spelling(got),
                      isa::detokenize({result.transcript.end() - static_cast<std::ptrdiff_t>(context),
                                       result.transcript.end()}));
      return result;
    }
    engine.append(got);
    result.transcript.push_back(got);
    ++result.tokens;
    if (watch) watch(emulator, got);
  }
  return result;
}

emulator::Case make_case(const Launch& launch) {
  emulator::Case result;
  result.kernel.name = "test";
  result.kernel.code = isa::assemble(launch.assembly);
  result.kernel.registers = launch.registers;
  result.kernel.shared_bytes = launch.shared_bytes;
  result.grid = launch.grid;
  result.block = launch.block;
  result.buffers = launch.buffers;
  result.arguments = launch.arguments;
  return result;
}

Agreement run(const Launch& launch) {
  const Agreement result = compare(emulator::prompt_of(make_case(launch)));
  EXPECT_TRUE(result.same) << result.difference;
  return result;
}

bool says(const Agreement& result, const std::string& spelling) {
  const auto token = isa::find_token(spelling);
  EXPECT_TRUE(token.has_value()) << spelling;
  return token &&
         std::find(result.transcript.begin(), result.transcript.end(), *token) != result.transcript.end();
}

emulator::CaseBuffer in_buffer(std::vector<std::uint32_t> data) {
  const auto bytes = static_cast<std::uint32_t>(4 * data.size());
  return {.bytes = bytes, .copy_in = true, .copy_out = true, .data = std::move(data)};
}

emulator::CaseBuffer out_buffer(int words) {
  return {.bytes = static_cast<std::uint32_t>(4 * words), .copy_in = false, .copy_out = true, .data = {}};
}

emulator::CaseArgument buffer_argument(std::uint32_t number) { return {number, true}; }
emulator::CaseArgument word_argument(std::uint32_t value) { return {value, false}; }

}  // namespace qwengpu

// The model, built once for a test program, and the comparison with the emulator.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "circuit/compile.h"
#include "emulator/case.h"
#include "emulator/emulator.h"
#include "engine/engine.h"

namespace qwengpu {

const circuit::Compiled& compiled_machine();
engine::Engine& model();  // sparse engine with its weights

// Called after every token with the emulator and the token; both sides have taken it.
using Watch = std::function<void(const emulator::Emulator&, int token)>;

struct Agreement {
  bool same = true;
  long tokens = 0;         // compared
  std::string difference;  // the first one, with its surroundings
  std::vector<int> transcript;
};

// Runs the prompt on the model and on the emulator, token by token, to <END> or to `most` tokens.
Agreement compare(std::span<const int> prompt, long most = 2'000'000, const Watch& watch = {});

// A launch of assembly text.
struct Launch {
  std::string assembly;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<emulator::CaseBuffer> buffers;
  std::vector<emulator::CaseArgument> arguments;
  int registers = 16;
  int shared_bytes = 0;
};
emulator::Case make_case(const Launch& launch);
Agreement run(const Launch& launch);  // and expects agreement
bool says(const Agreement& result, const std::string& spelling);
emulator::CaseBuffer in_buffer(std::vector<std::uint32_t> data);
emulator::CaseBuffer out_buffer(int words);
emulator::CaseArgument buffer_argument(std::uint32_t number);
emulator::CaseArgument word_argument(std::uint32_t value);

}  // namespace qwengpu

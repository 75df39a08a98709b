// One launch of a compiled kernel on the emulator.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emulator/case.h"
#include "emulator/emulator.h"
#include "emulator/test_transcript.h"
#include "isa/kernel.h"
#include "isa/request.h"
#include "isa/tokens.h"

namespace qwengpu {

using Words = std::vector<std::uint32_t>;

class Launch {
 public:
  Launch(const isa::Kernel& kernel, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block) {
    launch_.kernel = kernel;
    launch_.grid = grid;
    launch_.block = block;
    // The kernel's variables are the first allocation.
    if (!kernel.variables.empty()) {
      Words words((kernel.variables.size() + 3) / 4);
      for (std::size_t n = 0; n < kernel.variables.size(); ++n)
        words[n / 4] |= std::uint32_t{kernel.variables[n]} << (8 * (n % 4));
      allocate(words);
    }
    variables_ = launch_.buffers.size();
  }

  // The next argument: the address of a buffer that starts with these words, or a number.
  Launch& buffer(const Words& words) {
    launch_.arguments.push_back({static_cast<std::uint32_t>(launch_.buffers.size()), true});
    launch_.arguments.push_back({0, false});
    allocate(words);
    return *this;
  }
  Launch& word(std::uint32_t value) {
    launch_.arguments.push_back({value, false});
    return *this;
  }
  Launch& dynamic_shared(std::uint32_t bytes) {
    launch_.dynamic_shared = bytes;
    return *this;
  }

  struct Result {
    int status = 0;  // of cudaStreamSynchronize
    std::size_t tokens = 0;
    std::vector<Words> buffers;
  };
  Result run() const {
    Result result;
    emulator::Emulator emulator(prompt());
    std::vector<int> transcript;
    while (const auto token = emulator.next()) {
      transcript.push_back(*token);
      if (transcript.size() > 20'000'000) throw std::runtime_error("the launch does not end");
    }
    result.tokens = transcript.size();
    result.status = emulator::status_of(emulator::instructions_of(transcript));
    for (std::size_t b = variables_; b < addresses_.size(); ++b) {
      const auto begin = emulator.state().global.begin() + addresses_[b] / 4;
      result.buffers.emplace_back(begin, begin + launch_.buffers[b].bytes / 4);
    }
    return result;
  }

 private:
  void allocate(const Words& words) {
    const auto bytes = static_cast<std::uint32_t>(4 * words.size());
    launch_.buffers.push_back({bytes, true, true, words});
    addresses_.push_back(next_);
    next_ += (bytes + 255) / 256 * 256;
  }

  std::vector<int> prompt() const {
    std::vector<isa::Row> lines = emulator::host_lines(launch_);
    const auto put = [&](int address, std::uint32_t value) {
      lines[static_cast<std::size_t>(address) / 16][static_cast<std::size_t>(address) / 4 % 4] = value;
    };
    put(isa::request::local_bytes, static_cast<std::uint32_t>(launch_.kernel.local_bytes));
    put(isa::request::named_barriers, launch_.kernel.named_barriers);
    std::vector<int> tokens;
    const auto say = [&](isa::TokenKind kind, std::size_t n, const isa::Row& row) {
      tokens.push_back(isa::token_id({kind, static_cast<int>(n)}));
      isa::append_row(tokens, row);
    };
    for (std::size_t n = 0; n < launch_.kernel.code.size(); ++n)
      say(isa::TokenKind::Instruction, n, isa::encode(launch_.kernel.code[n]));
    for (std::size_t n = 0; n < lines.size(); ++n)
      if (lines[n] != isa::Row{}) say(isa::TokenKind::HostLine, n, lines[n]);
    tokens.push_back(isa::token_id({isa::TokenKind::Go}));
    return tokens;
  }

  emulator::Case launch_;
  std::size_t variables_ = 0;
  std::vector<std::uint32_t> addresses_;
  std::uint32_t next_ = 256;
};

}  // namespace qwengpu

// One launch from prompt to <END>: greedy decoding of some source of tokens, watched step by step.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "isa/kernel.h"
#include "launch/steps.h"

namespace qwengpu::launch {

// What writes the transcript: the model (an engine with the weights) or the emulator.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // Back to the empty sequence.
  virtual void reset() = 0;
  // The next part of the prompt; after <END>, of that of the next launch.
  virtual void prefill(std::span<const int> tokens) = 0;
  // The token that follows everything so far; it is part of the sequence from then on.
  virtual int next() = 0;
};

// Of a transcript. An instruction is what a quad executes: one op token, for up to four threads.
struct Summary {
  std::size_t prompt_tokens = 0, tokens = 0;  // tokens: of the transcript
  std::size_t instructions = 0;               // of the kernel
  std::size_t firmware_instructions = 0;
  // From the start of a block to its end or fault: the kernel's instructions, changes of quad, and what makes
  // lanes wait and go on. The other tokens are the firmware's.
  std::size_t kernel_tokens = 0;
  double prefill_seconds = 0, decode_seconds = 0;

  std::size_t firmware_tokens() const { return tokens - kernel_tokens; }
  // Of the kernel.
  double tokens_per_instruction() const {
    return instructions == 0 ? 0 : static_cast<double>(kernel_tokens) / static_cast<double>(instructions);
  }
  // The firmware's part of the tokens.
  double firmware_share() const {
    return tokens == 0 ? 0 : static_cast<double>(firmware_tokens()) / static_cast<double>(tokens);
  }
  double tokens_per_second() const {
    return decode_seconds > 0 ? static_cast<double>(tokens) / decode_seconds : 0;
  }
};

// Called as things happen; all may be empty.
struct Observer {
  std::function<void(std::size_t done, std::size_t total)> prefilled;
  std::function<void(int token)> token;
  std::function<void(const Step&)> step;
  std::function<bool()> interrupted;  // true: stop
};

// The launch did not end: the message says where the kernel loops.
struct StepLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Tokens after which a launch passes for endless, unless the user says otherwise.
constexpr std::size_t default_max_tokens = 5'000'000;

class Session {
 public:
  Session(TokenSource& source, const isa::Kernel& kernel) : source_(source), kernel_(kernel) {}

  // Throws StepLimit after MAX_TOKENS, TranscriptError when the source writes what cannot be.
  void run(std::span<const int> prompt, std::size_t max_tokens, const Observer& observer = {});

  const Summary& summary() const { return summary_; }

 private:
  std::string where() const;

  TokenSource& source_;
  const isa::Kernel& kernel_;
  Summary summary_;
  std::deque<Step> recent_;  // the last steps of the kernel
};

}  // namespace qwengpu::launch

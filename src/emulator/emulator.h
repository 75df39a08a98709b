// The conventional interpreter: executes the firmware and the kernel of a prompt and writes the transcript
// that the model has to write, token by token (docs/machine.md, Grammar). It shares only src/isa with the
// circuits.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "emulator/prompt.h"
#include "emulator/state.h"
#include "emulator/token_ids.h"

namespace qwengpu::emulator {

class Emulator {
 public:
  // Throws std::invalid_argument for a malformed prompt.
  explicit Emulator(std::span<const int> prompt);

  // The next prompt of the sequence, after <END>. Memory stays as it is. Throws std::invalid_argument for a malformed prompt.
  void next_launch(std::span<const int> prompt);

  // The next token of the transcript; nothing after <END>. Memory is constant however long the launch is.
  std::optional<int> next() {
    while (taken_ == spoken_) {
      if (halted_) return std::nullopt;
      step();
    }
    return tokens_[taken_++];
  }

  // No tokens of the last instruction are left to give out.
  bool between_instructions() const { return taken_ == spoken_; }
  // The state after the instruction whose tokens next() is giving out.
  const State& state() const { return state_; }
  // The row of register INDEX of a quad of the kernel.
  const Row& register_row(int quad, int index) const { return state_.registers[register_index(quad, index)]; }
  const isa::Instruction& instruction(int pc) const {
    return kernel_[static_cast<std::size_t>(pc)].instruction;
  }

 private:
  // An instruction with its table entry at hand.
  struct Decoded {
    isa::Instruction instruction;
    isa::OpInfo info;
  };
  static std::vector<Decoded> decode_all(const std::vector<isa::Instruction>& code);

  // One finished instruction or change of quad.
  void step();
  void execute(const Decoded& decoded, int mask);
  int living_lanes(int quad) const;
  int runnable_lanes(int quad) const;
  // Lowest program counter of the lanes in a mask.
  static int lowest_pc(const QuadState& quad, int mask);
  bool system() const { return state_.quad == State::system; }

  int predicate(int index) const;  // mask of P0 .. P6, PT
  int predicate(isa::PredicateOperand operand) const;
  Row read_register(int index) const;
  void write_register(int index, const Row& row);
  Row read_b(const isa::Instruction& i) const;
  std::uint32_t special(isa::Special which, int lane) const;
  std::size_t register_index(int quad, int index) const;

  // The first bad address of the executing lanes, if any.
  bool check_addresses(const Decoded& decoded, int exec, const Row& addresses);
  void advance(const isa::Instruction& i, int mask, int exec);
  void raise(isa::Fault fault, std::size_t lane, std::uint32_t address = 0);
  void run_block(std::uint32_t last_thread);

  // Waiting: a quad whose lanes all wait or have ended is left, for the next, or for those that may go on.
  void wait(const Decoded& decoded, int exec);
  void leave_quad();
  void enter_quad(int quad);
  void wake_lanes();
  void leave_block();
  void release(isa::WaitKind kind);

  std::uint32_t votes_of_warp() const;
  std::uint32_t& memory(std::uint32_t address);
  std::uint32_t load(isa::Mode mode, std::uint32_t address);
  void execute_atomic(const Decoded& decoded, int exec, const Row& address, const Row& b);
  static bool is_uniform(const Decoded& decoded, const Row& address);
  void execute_register_write(const Decoded& decoded, int exec, const Row& a, const Row& b);

  void say(int token) { tokens_[spoken_++] = token; }
  void say_row(const Row& row);
  void say_word(const decltype(TokenIds::value)& ids, std::size_t lane, std::uint32_t word);

  Prompt prompt_;
  std::vector<Decoded> kernel_, firmware_;
  const TokenIds& ids_ = TokenIds::instance();
  State state_;
  bool halted_ = false;
  std::size_t used_rows_ = 0;  // register rows that may not be 0

  // The tokens of one step: a header, an op, <C>, <KEEP> and a row of old and new words of four tokens at most.
  std::array<int, 64> tokens_{};
  std::size_t spoken_ = 0, taken_ = 0;
};

}  // namespace qwengpu::emulator

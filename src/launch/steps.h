// The transcript as steps: one executed instruction each, with what the model said about it. The parser holds
// every token against the grammar of docs/machine.md; it knows no kernel and computes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "isa/instructions.h"
#include "isa/tokens.h"
#include "launch/description.h"

namespace qwengpu::launch {

struct Step {
  std::size_t number = 0;       // counted from 0
  std::size_t first_token = 0;  // index in the transcript
  bool firmware = false;        // of the launch firmware; else of the kernel
  Dim3 block{0, 0, 0};          // blockIdx, of a kernel's step
  int quad = 0;                 // of a kernel's step
  int pc = 0;
  isa::Op op = isa::Op::Illegal;
  int mask = 0, executing = 0;   // bit l: lane l
  std::optional<isa::Row> row;   // the spoken values, a word a lane
  std::optional<int> predicate;  // the mask that the predicate became
  int stored = 0;                // lanes that stored or copied
  int index = 0;                 // constant line, quad of thread indices, register class
  struct Fault {
    isa::Fault kind;
    int lane;
    bool operator==(const Fault&) const = default;
  };
  std::optional<Fault> fault;

  const isa::OpInfo& info() const { return isa::info(op); }
  bool executes(int lane) const { return (executing >> lane & 1) != 0; }
  // An API call of the firmware: its status is the last word of the row.
  bool api() const { return info().unit == isa::Unit::Tell; }
  int status() const { return static_cast<int>((*row)[3]); }
  bool operator==(const Step&) const = default;
};

// A token that cannot stand where it stands.
struct TranscriptError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class StepParser {
 public:
  // The step that this token completes. Throws TranscriptError.
  std::optional<Step> push(int token);
  bool ended() const { return expected_ == Expected::Nothing; }  // <END> was read
  std::size_t tokens() const { return tokens_; }
  std::size_t steps() const { return steps_; }
  bool firmware() const { return firmware_; }

 private:
  enum class Expected {
    System,      // <Q S>: at the start and after a fault
    FirmwarePc,  // after <Q S>
    FirstQuad,   // <Q 0>: after RUN
    Next,        // NEXT of the grammar
    Op,          // after a program counter
    Checked,     // a fault, or what comes after the address check
    Fault,       // an illegal instruction
    OperandC,
    KeepOrValue,  // <KEEP> when a lane sits out
    Value,
    Predicate,
    Store,
    RegisterClass,
    Index,  // <CB n>, <TI n>
    End,
    Nothing,
  };

  void where(const isa::Token& token);
  void header(const isa::Token& token);
  void checked(const isa::Token& token);
  void value(const isa::Token& token);
  void store(const isa::Token& token);
  void fault(const isa::Token& token);
  void expect_value();
  void finish(Expected expected);
  void require(bool condition);

  Expected expected_ = Expected::System;
  std::size_t tokens_ = 0, steps_ = 0;
  bool firmware_ = true;
  int quad_ = 0;
  Dim3 block_{0, 0, 0};
  int lane_ = 0, byte_ = 0;  // of the next value token
  Step step_;
  bool complete_ = false;
  int token_ = 0, previous_ = -1;
};

// All steps of a transcript, which may end early. Throws TranscriptError.
std::vector<Step> parse_steps(std::span<const int> transcript);

}  // namespace qwengpu::launch

// The transcript as steps: one executed instruction each, with what the model said about it, and the events
// that make waiting lanes go on. The parser holds every token against the grammar of docs/machine.md; it
// knows no kernel and computes nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "isa/instructions.h"
#include "isa/rows.h"
#include "isa/tokens.h"
#include "launch/description.h"

namespace qwengpu::launch {

// What a step is (docs/machine.md, Waiting).
enum class Event {
  Instruction,
  StillWaiting,   // <WAIT k mask> on entering a quad: of the lanes that waited for k, these stay
  Meet,           // <MEET n>: the warp will go on at pc
  MeetPutOff,     // <MEET ->: the warp meets in a later round
  WarpReleased,   // <RELEASE n>: lanes of the warp that wait at pc go on
  BarrierPassed,  // <RELEASE B>: lanes of the block that wait for a barrier go on
  YieldOver,      // <RELEASE Y>: lanes of the block that yielded go on
  Stuck,          // <STUCK>: all lanes of the block wait at named barriers
};

struct Step {
  Event event = Event::Instruction;
  std::size_t number = 0;       // counted from 0
  std::size_t first_token = 0;  // index in the transcript
  bool firmware = false;        // of the launch firmware; else of the kernel
  Dim3 block{0, 0, 0};          // blockIdx, of a kernel's step
  int quad = 0;                 // of a kernel's step
  int pc = 0;
  isa::Op op = isa::Op::Illegal;    // of an instruction
  int mask = 0, executing = 0;      // bit l: lane l
  std::optional<isa::Row> row;      // the spoken values, a word a lane
  std::optional<isa::Row> updated;  // of an atomic operation: what the words of memory became
  std::optional<int> predicate;     // the mask that the predicate became
  std::optional<int> waiting;       // lanes of the quad that wait for wait_kind now
  isa::WaitKind wait_kind = isa::WaitKind::Barrier;
  int stored = 0;  // lanes that stored or copied
  int index = 0;   // constant line, quad of thread indices, register class
  struct Fault {
    isa::Fault kind;
    int lane;
    std::uint32_t address = 0;  // in that lane, of a fault that has one
    bool operator==(const Fault&) const = default;
  };
  std::optional<Fault> fault;

  bool instruction() const { return event == Event::Instruction; }
  const isa::OpInfo& info() const { return isa::info(op); }
  bool executes(int lane) const { return (executing >> lane & 1) != 0; }
  // An API call of the firmware: its status is the last word of the row.
  bool api() const { return instruction() && info().unit == isa::Unit::Tell; }
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
  // The last token is the firmware's: from <Q S> to before the next <Q 0>, or to the release after RESUME.
  bool firmware() const { return firmware_; }

 private:
  enum class Expected {
    System,      // <Q S>: at the start, after a fault and after <STUCK>
    FirmwarePc,  // after <Q S>
    FirstQuad,   // <Q 0>: after RUN and after the release of a block
    Entered,     // after <Q n>: <WAIT k mask> or NEXT
    Release,     // after the return to a warp's first quad: <RELEASE n>
    Woken,       // after <RELEASE n>: <WAIT W mask> or NEXT
    Next,        // NEXT of the grammar
    Left,        // NEXT without an instruction: after <MEET n>, <MEET ->
    Op,          // after a program counter
    FaultAddress,
    Checked,     // a fault, or what comes after the address check
    Fault,       // an illegal instruction
    OperandC,
    Keep,
    Value,
    NewValue,  // what the word of an atomic operation's lane becomes
    Read,      // <RD l>
    Predicate,
    Store,
    Wait,     // of an instruction that waits
    Resumed,  // <RELEASE B>: after RESUME
    RegisterClass,
    Index,  // <CB n>, <TI n>
    End,
    Nothing,
  };

  void next(const isa::Token& token);
  void enter(const isa::Token& token);
  void header(const isa::Token& token);
  void checked(const isa::Token& token);
  void row(const isa::Token& token);
  void value(const isa::Token& token);
  void new_value(const isa::Token& token);
  void byte(const isa::Token& token, isa::Said what);
  void finish_lane();
  void store(const isa::Token& token);
  void fault(const isa::Token& token);
  void fault_address(const isa::Token& token);
  void begin_row();
  void begin(Event event);
  void finish(Expected expected);
  void finish_waits(const isa::Token& token);
  void finish_release(const isa::Token& token);
  void require(bool condition);

  Expected expected_ = Expected::System;
  std::size_t tokens_ = 0, steps_ = 0;
  bool firmware_ = true;
  int quad_ = 0;
  std::optional<int> meet_;  // where the warp will go on
  Dim3 block_{0, 0, 0};
  int lane_ = 0;           // of the next value token
  isa::WordReader word_;  // as far as it is spoken
  bool uniform_ = false;  // it is that of all lanes
  Step step_;
  bool complete_ = false;
  int token_ = 0, previous_ = -1;
};

// All steps of a transcript, which may end early. Throws TranscriptError.
std::vector<Step> parse_steps(std::span<const int> transcript);

}  // namespace qwengpu::launch

// Follows a transcript and checks that every token may stand where it stands (docs/machine.md, Grammar). It
// computes no values: it knows the table of instructions and the masks that the op tokens say.
#pragma once

#include <optional>
#include <string>

#include "isa/instructions.h"
#include "isa/rows.h"
#include "isa/tokens.h"

namespace qwengpu::emulator {

class Grammar {
 public:
  // Throws std::runtime_error saying what may stand here instead. The transcript begins after <GO>.
  void accept(int token);
  bool ended() const { return expect_ == Expect::Nothing; }

  // Where the transcript stands: after the tokens accepted so far.
  static constexpr int system = -1;
  int quad() const { return quad_; }
  int pc() const { return pc_; }  // of the instruction begun last
  // The lane and the lowest byte that a value token would give next; nothing when a row is not under way.
  struct Position {
    int lane, byte;
  };
  std::optional<Position> row_position() const;
  std::string expected() const;  // "an op token", "byte 0 of lane 2", ...

 private:
  enum class Expect {
    System,
    FirstPc,
    Next,
    Op,
    OperandC,
    Keep,
    Values,
    NewValues,
    Read,
    Wait,
    Predicate,
    Store,
    Copy,
    Class,
    Line,
    Quads,
    Fault,
    Resume,
    RunQuad,
    Entered,  // after <Q n>: <RELEASE n>, <WAIT k mask> or Next
    Woken,    // after <RELEASE n>: <WAIT W mask> or Next
    Leave,    // after <MEET ->: what follows the last quad of a warp
    End,
    Nothing
  };
  void accept_next(const isa::Token& token);
  void accept_leave(const isa::Token& token);
  void enter(int quad);
  void accept_op(const isa::Token& token);
  void accept_value(const isa::Token& token);
  void accept_new_value(const isa::Token& token);
  void accept_byte(const isa::Token& token, isa::Said what);
  bool may_be_uniform() const;
  void finish_lane();  // of a row
  void begin_result();  // after the checks of an op that executes
  void begin_row(bool speaks_c);
  void require(bool condition, const isa::Token& token) const;

  Expect expect_ = Expect::System;
  bool may_fault_ = false;
  bool faults_ = false;  // the row is the address of a fault
  int quad_ = system, pc_ = 0, lane_ = 0;
  isa::WordReader word_;
  bool all_lanes_ = false;  // the row is one word for all lanes
  isa::Op op_ = isa::Op::Illegal;
  int exec_ = 0;

  // Who waits, as far as it decides what comes next (docs/machine.md, Waiting).
  std::optional<int> meet_;
  std::optional<isa::WaitKind> released_;
  bool warp_yields_ = false, yields_ = false, barrier_waits_ = false, named_waits_ = false;
};

}  // namespace qwengpu::emulator

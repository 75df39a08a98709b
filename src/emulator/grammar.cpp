#include "emulator/grammar.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace qwengpu::emulator {
namespace {

using isa::Parameters;
using isa::Token;
using isa::TokenKind;
using isa::Unit;

constexpr int all_lanes = (1 << Parameters::lanes) - 1;
constexpr int quads_of_warp = Parameters::warp_lanes / Parameters::lanes;

int first_lane(int mask, int from) {
  while (from < Parameters::lanes && (mask >> from & 1) == 0) ++from;
  return from;
}

}  // namespace

void Grammar::require(bool condition, const Token& token) const {
  if (!condition)
    throw std::runtime_error(
        fmt::format("{} stands where {} is expected", isa::spelling(isa::token_id(token)), expected()));
}

void Grammar::accept(int id) {
  const Token token = isa::token_of(id);
  if (may_fault_ && token.kind == TokenKind::Fault) {
    require((exec_ >> token.b & 1) && token.a != static_cast<int>(isa::Fault::IllegalInstruction), token);
    may_fault_ = false;
    faults_ = true;
    exec_ = 1 << token.b;
    lane_ = 0;
    word_.clear();
    expect_ = Expect::Values;
    return;
  }
  may_fault_ = false;
  switch (expect_) {
    case Expect::System:
      require(token.kind == TokenKind::System, token);
      return accept_next(token);
    case Expect::FirstPc:
      require(token.kind == TokenKind::Pc || token.kind == TokenKind::FirmwarePc, token);
      return accept_next(token);
    case Expect::Next:
      return accept_next(token);
    case Expect::Op:
      return accept_op(token);
    case Expect::OperandC:
      require(token.kind == TokenKind::OperandC, token);
      return begin_row(false);
    case Expect::Keep:
      require(token.kind == TokenKind::Keep, token);
      expect_ = Expect::Values;
      return;
    case Expect::Values:
      return accept_value(token);
    case Expect::NewValues:
      return accept_new_value(token);
    case Expect::Read:
      require(token.kind == TokenKind::Read && token.a == lane_, token);
      expect_ = Expect::Values;
      return;
    case Expect::Wait: {
      const isa::WaitKind kind = isa::wait_kind(isa::info(op_));
      require(token.kind == TokenKind::Wait && token.a == static_cast<int>(kind) && (exec_ & ~token.b) == 0,
              token);
      if (kind == isa::WaitKind::Yield) yields_ = warp_yields_ = true;
      if (kind == isa::WaitKind::Barrier) barrier_waits_ = true;
      if (op_ == isa::Op::BarNamed) named_waits_ = true;
      expect_ = Expect::Next;
      return;
    }
    case Expect::Entered:
      if (meet_ && quad_ % quads_of_warp == 0) {
        require(token.kind == TokenKind::Release && token.a == *meet_, token);
        meet_.reset();
        expect_ = Expect::Woken;
        return;
      }
      [[fallthrough]];
    case Expect::Woken:
      if (token.kind == TokenKind::Wait) {
        // Quads behind the first one of a warp follow its <RELEASE n> or the block's last release.
        const bool kind_fits = token.a == static_cast<int>(isa::WaitKind::Warp) ||
                               (released_ && token.a == static_cast<int>(*released_));
        require(expect_ == Expect::Woken ? token.a == static_cast<int>(isa::WaitKind::Warp) : kind_fits,
                token);
        expect_ = Expect::Next;
        return;
      }
      return accept_next(token);
    case Expect::Leave:
      return accept_leave(token);
    case Expect::Predicate:
      require(token.kind == TokenKind::Predicate, token);
      expect_ = Expect::Next;
      return;
    case Expect::Class:
      require(token.kind == TokenKind::RegisterClass, token);
      expect_ = Expect::Next;
      return;
    case Expect::Store:
    case Expect::Copy:
      require(
          token.kind == (expect_ == Expect::Store ? TokenKind::Store : TokenKind::Copy) && token.a == lane_,
          token);
      lane_ = first_lane(exec_, lane_ + 1);
      if (lane_ == Parameters::lanes) expect_ = Expect::Next;
      return;
    case Expect::Line:
    case Expect::Quads:
      require(token.kind == (expect_ == Expect::Line ? TokenKind::ConstantLine : TokenKind::ThreadIndex),
              token);
      expect_ = Expect::Values;
      return;
    case Expect::Fault:
      require(token.kind == TokenKind::Fault && token.a == static_cast<int>(isa::Fault::IllegalInstruction) &&
                  token.b == 0,
              token);
      expect_ = Expect::System;
      return;
    case Expect::Resume:
      require(token.kind == TokenKind::ReleaseKind && token.a == static_cast<int>(isa::WaitKind::Barrier),
              token);
      released_ = isa::WaitKind::Barrier;
      barrier_waits_ = named_waits_ = false;
      expect_ = Expect::RunQuad;
      return;
    case Expect::RunQuad:
      require(token.kind == TokenKind::Quad && token.a == 0, token);
      return enter(0);
    case Expect::End:
      require(token.kind == TokenKind::End, token);
      expect_ = Expect::Nothing;
      return;
    case Expect::Nothing:
      require(false, token);
  }
}

void Grammar::accept_next(const Token& token) {
  switch (token.kind) {
    case TokenKind::System:
      if (expect_ == Expect::System) {
        quad_ = system;
        expect_ = Expect::FirstPc;
        return;
      }
      [[fallthrough]];
    case TokenKind::Quad:
    case TokenKind::ReleaseKind:
    case TokenKind::Stuck:
      return accept_leave(token);
    case TokenKind::Meet:
      require(quad_ != system && (!meet_ || token.a < *meet_), token);
      meet_ = token.a;
      expect_ = Expect::Next;
      return;
    case TokenKind::MeetNone:
      require(quad_ != system && meet_ && warp_yields_, token);
      meet_.reset();
      expect_ = Expect::Leave;
      return;
    case TokenKind::Pc:
    case TokenKind::FirmwarePc:
      require((quad_ == system) == (token.kind == TokenKind::FirmwarePc), token);
      pc_ = token.a;
      expect_ = Expect::Op;
      return;
    default:
      require(false, token);
  }
}

// What follows a quad whose lanes all wait or have ended.
void Grammar::accept_leave(const Token& token) {
  require(quad_ != system, token);
  const bool next_quad = token.kind == TokenKind::Quad && token.a == quad_ + 1;
  if (next_quad && token.a % quads_of_warp != 0) {
    require(expect_ != Expect::Leave, token);
    return enter(token.a);
  }
  if (token.kind == TokenKind::Quad && token.a == quad_ - quad_ % quads_of_warp) {
    require(meet_ && !warp_yields_, token);
    return enter(token.a);
  }
  require(!meet_, token);  // a warp that meets is entered again
  if (next_quad) return enter(token.a);
  switch (token.kind) {
    case TokenKind::ReleaseKind: {
      const auto kind = static_cast<isa::WaitKind>(token.a);
      if (kind == isa::WaitKind::Yield)
        require(std::exchange(yields_, false), token);
      else
        require(!yields_ && !named_waits_ && std::exchange(barrier_waits_, false), token);
      released_ = kind;
      expect_ = Expect::RunQuad;
      return;
    }
    case TokenKind::Stuck:
      require(!yields_ && named_waits_, token);
      expect_ = Expect::System;
      return;
    default:
      require(token.kind == TokenKind::System && !yields_ && !barrier_waits_, token);
      quad_ = system;
      expect_ = Expect::FirstPc;
  }
}

void Grammar::enter(int quad) {
  quad_ = quad;
  if (quad % quads_of_warp == 0) warp_yields_ = false;
  expect_ = Expect::Entered;
}

void Grammar::accept_op(const Token& token) {
  require(token.kind == TokenKind::Op, token);
  op_ = static_cast<isa::Op>(token.a);
  exec_ = token.c;
  const isa::OpInfo& info = isa::info(op_);
  require(quad_ != system || token.b == all_lanes, token);
  require(quad_ == system || !info.privileged(), token);
  if (info.unit == Unit::Illegal)
    expect_ = Expect::Fault;
  else if (exec_ == 0)
    expect_ = Expect::Next;
  else
    begin_result();
}

void Grammar::begin_result() {
  const isa::OpInfo& info = isa::info(op_);
  may_fault_ = info.accesses_memory();
  lane_ = first_lane(exec_, 0);
  switch (info.unit) {
    case Unit::Compare:
    case Unit::FloatCompare:
    case Unit::Predicate:
      expect_ = Expect::Predicate;
      return;
    case Unit::Store:
      expect_ = Expect::Store;
      return;
    case Unit::CopyHost:
      expect_ = Expect::Copy;
      return;
    case Unit::Branch:
    case Unit::Exit:
    case Unit::Limit:
      expect_ = Expect::Next;
      return;
    case Unit::Wait:
    case Unit::Put:
      expect_ = Expect::Wait;
      return;
    case Unit::Run:
      meet_.reset();
      released_.reset();
      warp_yields_ = yields_ = barrier_waits_ = named_waits_ = false;
      expect_ = Expect::RunQuad;
      return;
    case Unit::Resume:
      expect_ = Expect::Resume;
      return;
    case Unit::Halt:
      expect_ = Expect::End;
      return;
    case Unit::RegisterClass:
      expect_ = Expect::Class;
      return;
    default:
      break;
  }
  begin_row(info.reads_c());
  if (info.unit == Unit::StoreConstant) expect_ = Expect::Line;
  if (info.unit == Unit::ThreadIndex) expect_ = Expect::Quads;
}

void Grammar::begin_row(bool speaks_c) {
  lane_ = 0;
  word_.clear();
  if (speaks_c)
    expect_ = Expect::OperandC;
  else
    expect_ = isa::info(op_).writes_register() && exec_ != all_lanes ? Expect::Keep : Expect::Values;
}

void Grammar::accept_value(const Token& token) {
  const bool all = token.kind == TokenKind::AllValue || token.kind == TokenKind::LastAllValue ||
                   token.kind == TokenKind::OnesAllValue;
  if (lane_ == 0 && word_.next_byte() == 0)
    all_lanes_ = !faults_ && all && exec_ == all_lanes && may_be_uniform();
  accept_byte(token, all_lanes_ ? isa::Said::AllWords : isa::Said::Word);
  if (!word_.complete()) return;
  word_.clear();
  if (all_lanes_) lane_ = Parameters::lanes - 1;
  if (!faults_ && isa::info(op_).unit == Unit::Atomic && (exec_ >> lane_ & 1) != 0)
    expect_ = Expect::NewValues;
  else
    finish_lane();
}

bool Grammar::may_be_uniform() const {
  return isa::info(op_).unit == Unit::Load || isa::info(op_).unit == Unit::Move;
}

void Grammar::accept_byte(const Token& token, isa::Said what) {
  const auto said = isa::said_byte(token);
  require(said && said->what == what && token.a == lane_ && word_.push(token.b, token.c, said->ending),
          token);
}

void Grammar::finish_lane() {
  if (++lane_ < Parameters::lanes) return;
  expect_ = faults_ ? Expect::System : Expect::Next;
  faults_ = false;
}

void Grammar::accept_new_value(const Token& token) {
  accept_byte(token, isa::Said::NewWord);
  if (!word_.complete()) return;
  word_.clear();
  expect_ = Expect::Read;
  finish_lane();
}

std::optional<Grammar::Position> Grammar::row_position() const {
  if (expect_ != Expect::Values) return std::nullopt;
  return Position{lane_, word_.next_byte()};
}

std::string Grammar::expected() const {
  const std::string fault = may_fault_ ? " or a fault" : "";
  switch (expect_) {
    case Expect::System:
      return "<Q S>";
    case Expect::FirstPc:
      return quad_ == system ? "<FW n>" : "<PC n>";
    case Expect::Leave:
      return "<Q n>, <Q S> or a release";
    case Expect::Next:
      return quad_ == system ? "<FW n>"
                             : fmt::format("<PC n>, <Q {}>, <Q S>, <MEET n> or a release", quad_ + 1);
    case Expect::Op:
      return quad_ == system ? "an op with the mask 1111" : "an op of a kernel";
    case Expect::OperandC:
      return "<C>";
    case Expect::Keep:
      return "<KEEP>" + fault;
    case Expect::Values:
      return fmt::format("byte {} or a later one of lane {}{}", word_.next_byte(), lane_, fault);
    case Expect::NewValues:
      return fmt::format("byte {} or a later one of what the word of lane {} becomes", word_.next_byte(),
                         lane_);
    case Expect::Read:
      return fmt::format("<RD {}>", lane_);
    case Expect::Wait:
      return "the lanes that wait";
    case Expect::Resume:
      return "<RELEASE B>";
    case Expect::Entered:
    case Expect::Woken:
      return fmt::format("what quad {} does", quad_);
    case Expect::Predicate:
      return "a predicate";
    case Expect::Store:
      return fmt::format("<ST {}>{}", lane_, fault);
    case Expect::Copy:
      return fmt::format("<CP {}>{}", lane_, fault);
    case Expect::Class:
      return "<RC n>";
    case Expect::Line:
      return "<CB n>";
    case Expect::Quads:
      return "<TI n>";
    case Expect::Fault:
      return "<FAULT illegal-instruction 0>";
    case Expect::RunQuad:
      return "<Q 0>";
    case Expect::End:
      return "<END>";
    case Expect::Nothing:
      return "nothing";
  }
  return "";
}

}  // namespace qwengpu::emulator

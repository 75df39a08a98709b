#include "emulator/grammar.h"

#include <fmt/format.h>

#include <stdexcept>

namespace qwengpu::emulator {
namespace {

using isa::Parameters;
using isa::Token;
using isa::TokenKind;
using isa::Unit;

constexpr int all_lanes = (1 << Parameters::lanes) - 1;

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
    expect_ = Expect::System;
    may_fault_ = false;
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
    case Expect::RunQuad:
      require(token.kind == TokenKind::Quad && token.a == 0, token);
      quad_ = 0;
      expect_ = Expect::FirstPc;
      return;
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
      require(quad_ != system || expect_ == Expect::System, token);
      quad_ = system;
      expect_ = Expect::FirstPc;
      return;
    case TokenKind::Quad:
      require(quad_ != system && token.a == quad_ + 1, token);
      quad_ = token.a;
      expect_ = Expect::FirstPc;
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
  may_fault_ = info.accesses_global();
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
    case Unit::Run:
      expect_ = Expect::RunQuad;
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
  lane_ = byte_ = 0;
  if (speaks_c)
    expect_ = Expect::OperandC;
  else
    expect_ = isa::info(op_).writes_register() && exec_ != all_lanes ? Expect::Keep : Expect::Values;
}

void Grammar::accept_value(const Token& token) {
  const bool last = token.kind == TokenKind::LastValue;
  require((last || token.kind == TokenKind::Value) && token.a == lane_ && token.b == byte_, token);
  require(!last || byte_ == 0 || token.c != 0, token);  // one spelling a value: no byte 0 at the top
  ++byte_;
  if (!last) return;
  byte_ = 0;
  if (++lane_ == Parameters::lanes) expect_ = Expect::Next;
}

std::optional<Grammar::Position> Grammar::row_position() const {
  if (expect_ != Expect::Values) return std::nullopt;
  return Position{lane_, byte_};
}

std::string Grammar::expected() const {
  const std::string fault = may_fault_ ? " or a fault" : "";
  switch (expect_) {
    case Expect::System:
      return "<Q S>";
    case Expect::FirstPc:
      return quad_ == system ? "<FW n>" : "<PC n>";
    case Expect::Next:
      return quad_ == system ? "<FW n>" : fmt::format("<PC n>, <Q {}> or <Q S>", quad_ + 1);
    case Expect::Op:
      return quad_ == system ? "an op with the mask 1111" : "an op of a kernel";
    case Expect::OperandC:
      return "<C>";
    case Expect::Keep:
      return "<KEEP>" + fault;
    case Expect::Values:
      return fmt::format("byte {} of lane {}{}", byte_, lane_, fault);
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

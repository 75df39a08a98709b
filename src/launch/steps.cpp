#include "launch/steps.h"

#include <fmt/format.h>

#include <bit>

namespace qwengpu::launch {

using isa::Token;
using isa::TokenKind;
using isa::Unit;

namespace {
constexpr int all_lanes = (1 << isa::Parameters::lanes) - 1;
constexpr int ctaid_line = isa::constant::ctaid / 16;
}  // namespace

void StepParser::require(bool condition) {
  if (condition) return;
  throw TranscriptError(fmt::format("token {} of the transcript, {}, cannot follow {}", tokens_,
                                    isa::spelling(token_),
                                    previous_ < 0 ? "<GO>" : isa::spelling(previous_)));
}

std::optional<Step> StepParser::push(int id) {
  token_ = id;
  complete_ = false;
  const Token& token = isa::token_of(id);
  switch (expected_) {
    case Expected::System:
    case Expected::FirmwarePc:
    case Expected::FirstQuad:
    case Expected::Next:
      where(token);
      break;
    case Expected::Op:
      header(token);
      break;
    case Expected::Checked:
      checked(token);
      break;
    case Expected::Fault:
      fault(token);
      break;
    case Expected::OperandC:
      require(token.kind == TokenKind::OperandC);
      expect_value();
      break;
    case Expected::KeepOrValue:
      require(token.kind == TokenKind::Keep);
      expected_ = Expected::Value;
      break;
    case Expected::Value:
      value(token);
      break;
    case Expected::Predicate:
      require(token.kind == TokenKind::Predicate);
      step_.predicate = token.b;
      step_.index = token.a;
      finish(Expected::Next);
      break;
    case Expected::Store:
      store(token);
      break;
    case Expected::RegisterClass:
      require(token.kind == TokenKind::RegisterClass);
      step_.index = token.a;
      finish(Expected::Next);
      break;
    case Expected::Index:
      require(token.kind ==
              (step_.info().unit == Unit::StoreConstant ? TokenKind::ConstantLine : TokenKind::ThreadIndex));
      step_.index = token.a;
      expected_ = Expected::Value;
      break;
    case Expected::End:
      require(token.kind == TokenKind::End);
      expected_ = Expected::Nothing;
      break;
    case Expected::Nothing:
      require(false);
  }
  ++tokens_;
  previous_ = id;
  if (!complete_) return std::nullopt;
  return step_;
}

void StepParser::where(const Token& token) {
  switch (token.kind) {
    case TokenKind::System:
      require(expected_ == Expected::System || (expected_ == Expected::Next && !firmware_));
      firmware_ = true;
      expected_ = Expected::FirmwarePc;
      return;
    case TokenKind::Quad:
      require(expected_ == Expected::FirstQuad
                  ? token.a == 0
                  : expected_ == Expected::Next && !firmware_ && token.a == quad_ + 1);
      firmware_ = false;
      quad_ = token.a;
      expected_ = Expected::Next;
      return;
    case TokenKind::FirmwarePc:
      require(firmware_ && (expected_ == Expected::FirmwarePc || expected_ == Expected::Next));
      break;
    case TokenKind::Pc:
      require(!firmware_ && expected_ == Expected::Next);
      break;
    default:
      require(false);
  }
  step_ = Step{};
  step_.first_token = tokens_;
  step_.firmware = firmware_;
  step_.pc = token.a;
  if (!firmware_) {
    step_.block = block_;
    step_.quad = quad_;
  }
  expected_ = Expected::Op;
}

void StepParser::header(const Token& token) {
  require(token.kind == TokenKind::Op);
  step_.op = static_cast<isa::Op>(token.a);
  step_.mask = token.b;
  step_.executing = token.c;
  const isa::OpInfo& op = step_.info();
  require(firmware_ ? step_.mask == all_lanes : !op.privileged());
  if (op.unit == Unit::Illegal) {
    expected_ = Expected::Fault;
  } else if (step_.executing == 0) {
    finish(Expected::Next);
  } else if (op.accesses_global()) {
    expected_ = Expected::Checked;
  } else if (op.writes_predicate()) {
    expected_ = Expected::Predicate;
  } else if (op.unit == Unit::StoreConstant || op.unit == Unit::ThreadIndex) {
    expected_ = Expected::Index;
  } else if (op.unit == Unit::RegisterClass) {
    expected_ = Expected::RegisterClass;
  } else if (op.unit == Unit::Run) {
    finish(Expected::FirstQuad);
  } else if (op.unit == Unit::Halt) {
    finish(Expected::End);
  } else if (op.reads_c()) {
    expected_ = Expected::OperandC;
  } else if (op.speaks_row()) {
    expect_value();
  } else {
    finish(Expected::Next);  // branches, exit, limit
  }
}

// After an address check: a fault, or what the instruction does.
void StepParser::checked(const Token& token) {
  if (token.kind == TokenKind::Fault) return fault(token);
  if (!step_.info().speaks_row()) {
    expected_ = Expected::Store;
    return store(token);
  }
  expect_value();
  if (expected_ == Expected::Value) return value(token);
  require(token.kind == TokenKind::Keep);
  expected_ = Expected::Value;
}

void StepParser::expect_value() {
  step_.row = isa::Row{};
  lane_ = byte_ = 0;
  const bool keeps = step_.info().writes_register() && step_.executing != all_lanes;
  expected_ = keeps ? Expected::KeepOrValue : Expected::Value;
}

void StepParser::value(const Token& token) {
  const bool last = token.kind == TokenKind::LastValue;
  require((last || token.kind == TokenKind::Value) && token.a == lane_ && token.b == byte_);
  if (!step_.row) step_.row = isa::Row{};
  (*step_.row)[static_cast<std::size_t>(lane_)] |= static_cast<std::uint32_t>(token.c) << (8 * byte_);
  byte_ = last ? 0 : byte_ + 1;
  if (last && ++lane_ == isa::Parameters::lanes) {
    lane_ = 0;
    if (step_.info().unit == Unit::StoreConstant && step_.index == ctaid_line)
      block_ = {(*step_.row)[0], (*step_.row)[1], (*step_.row)[2]};
    finish(Expected::Next);
  }
}

void StepParser::store(const Token& token) {
  const int lane = std::countr_zero(static_cast<unsigned>(step_.executing & ~step_.stored));
  require(token.kind == (step_.info().unit == Unit::CopyHost ? TokenKind::Copy : TokenKind::Store) &&
          token.a == lane);
  step_.stored |= 1 << lane;
  if (step_.stored == step_.executing) finish(Expected::Next);
}

void StepParser::fault(const Token& token) {
  require(token.kind == TokenKind::Fault);
  step_.fault = Step::Fault{static_cast<isa::Fault>(token.a), token.b};
  finish(Expected::System);
}

void StepParser::finish(Expected expected) {
  expected_ = expected;
  step_.number = steps_++;
  complete_ = true;
}

std::vector<Step> parse_steps(std::span<const int> transcript) {
  StepParser parser;
  std::vector<Step> steps;
  for (int token : transcript)
    if (auto step = parser.push(token)) steps.push_back(*step);
  return steps;
}

}  // namespace qwengpu::launch

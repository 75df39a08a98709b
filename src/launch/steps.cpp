#include "launch/steps.h"

#include <fmt/format.h>

#include <bit>

namespace qwengpu::launch {

using isa::Token;
using isa::TokenKind;
using isa::Unit;

namespace {

constexpr int all_lanes = (1 << isa::Parameters::lanes) - 1;
constexpr int quads_of_warp = isa::Parameters::warp_lanes / isa::Parameters::lanes;
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
    case Expected::Left:
      next(token);
      break;
    case Expected::Entered:
    case Expected::Woken:
      if (token.kind == TokenKind::Wait) {
        require(expected_ == Expected::Entered || token.a == static_cast<int>(isa::WaitKind::Warp));
        begin(Event::StillWaiting);
        finish_waits(token);
      } else {
        next(token);
      }
      break;
    case Expected::Release:
      require(token.kind == TokenKind::Release && token.a == meet_);
      meet_.reset();
      begin(Event::WarpReleased);
      step_.pc = token.a;
      finish(Expected::Woken);
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
    case Expected::FaultAddress:
      fault_address(token);
      break;
    case Expected::OperandC:
    case Expected::Keep:
    case Expected::Value:
      row(token);
      break;
    case Expected::NewValue:
      new_value(token);
      break;
    case Expected::Read:
      require(token.kind == TokenKind::Read && token.a == lane_);
      expected_ = Expected::Value;
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
    case Expected::Wait:
      require(token.kind == TokenKind::Wait && token.a == static_cast<int>(isa::wait_kind(step_.info())) &&
              (step_.executing & ~token.b) == 0);
      finish_waits(token);
      break;
    case Expected::Resumed:
      require(token.kind == TokenKind::ReleaseKind && token.a == static_cast<int>(isa::WaitKind::Barrier));
      firmware_ = false;
      finish_release(token);
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

void StepParser::begin(Event event) {
  step_ = Step{};
  step_.event = event;
  step_.first_token = tokens_;
  step_.firmware = firmware_;
  if (firmware_) return;
  step_.block = block_;
  step_.quad = quad_;
}

// What follows a finished instruction, or begins a quad.
void StepParser::next(const Token& token) {
  const bool left = expected_ == Expected::Next || expected_ == Expected::Left ||
                    expected_ == Expected::Entered || expected_ == Expected::Woken;
  const bool of_kernel = left && !firmware_;
  switch (token.kind) {
    case TokenKind::System:
      require(expected_ == Expected::System || of_kernel);
      firmware_ = true;
      expected_ = Expected::FirmwarePc;
      return;
    case TokenKind::Quad:
      require(expected_ == Expected::FirstQuad || of_kernel);
      return enter(token);
    case TokenKind::Meet:
      require(of_kernel && expected_ != Expected::Left);
      meet_ = token.a;
      begin(Event::Meet);
      step_.pc = token.a;
      return finish(Expected::Left);
    case TokenKind::MeetNone:
      require(of_kernel && meet_);
      meet_.reset();
      begin(Event::MeetPutOff);
      return finish(Expected::Left);
    case TokenKind::ReleaseKind:
      require(of_kernel && !meet_ && token.a != static_cast<int>(isa::WaitKind::Warp));
      return finish_release(token);
    case TokenKind::Stuck:
      require(of_kernel && !meet_);
      begin(Event::Stuck);
      return finish(Expected::System);
    case TokenKind::FirmwarePc:
      require(firmware_ && (expected_ == Expected::FirmwarePc || expected_ == Expected::Next));
      break;
    case TokenKind::Pc:
      require(of_kernel && expected_ != Expected::Left);
      break;
    default:
      require(false);
  }
  begin(Event::Instruction);
  step_.pc = token.a;
  expected_ = Expected::Op;
}

// The next quad, or, where the warp meets, its first one once more.
void StepParser::enter(const Token& token) {
  if (expected_ == Expected::FirstQuad) {
    require(token.a == 0);
    meet_.reset();
  } else if (const bool again = meet_ && token.a == quad_ - quad_ % quads_of_warp; !again) {
    require(token.a == quad_ + 1 && !(meet_ && token.a % quads_of_warp == 0));
  }
  firmware_ = false;
  quad_ = token.a;
  expected_ = meet_ && quad_ % quads_of_warp == 0 ? Expected::Release : Expected::Entered;
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
  } else if (op.accesses_memory()) {
    expected_ = Expected::Checked;
  } else if (op.writes_predicate()) {
    expected_ = Expected::Predicate;
  } else if (op.waits()) {
    expected_ = Expected::Wait;
  } else if (op.unit == Unit::StoreConstant || op.unit == Unit::ThreadIndex) {
    step_.row = isa::Row{};
    lane_ = 0;
    expected_ = Expected::Index;
  } else if (op.unit == Unit::RegisterClass) {
    expected_ = Expected::RegisterClass;
  } else if (op.unit == Unit::Run) {
    finish(Expected::FirstQuad);
  } else if (op.unit == Unit::Resume) {
    finish(Expected::Resumed);
  } else if (op.unit == Unit::Halt) {
    finish(Expected::End);
  } else if (op.speaks_row()) {
    begin_row();
  } else {
    finish(Expected::Next);  // branches, exit, limits
  }
}

// After an address check: a fault, or what the instruction does.
void StepParser::checked(const Token& token) {
  if (token.kind == TokenKind::Fault) return fault(token);
  if (!step_.info().speaks_row()) {
    expected_ = Expected::Store;
    return store(token);
  }
  begin_row();
  row(token);
}

void StepParser::begin_row() {
  step_.row = isa::Row{};
  if (step_.info().unit == Unit::Atomic) step_.updated = isa::Row{};
  lane_ = 0;
  const bool keeps = step_.info().writes_register() && step_.executing != all_lanes;
  expected_ = step_.info().reads_c() ? Expected::OperandC : keeps ? Expected::Keep : Expected::Value;
}

void StepParser::row(const Token& token) {
  if (expected_ == Expected::Value) return value(token);
  require(token.kind == (expected_ == Expected::OperandC ? TokenKind::OperandC : TokenKind::Keep));
  const bool keeps = step_.info().writes_register() && step_.executing != all_lanes;
  expected_ = expected_ == Expected::OperandC && keeps ? Expected::Keep : Expected::Value;
}

void StepParser::value(const Token& token) {
  const auto said = isa::said_byte(token);
  // All lanes at once: only of ops that can know before the value that they will be the same.
  if (lane_ == 0 && word_.next_byte() == 0)
    uniform_ = said && said->what == isa::Said::AllWords && step_.executing == all_lanes &&
               (step_.info().unit == Unit::Load || step_.info().unit == Unit::Move);
  byte(token, uniform_ ? isa::Said::AllWords : isa::Said::Word);
  if (!word_.complete()) return;
  (*step_.row)[static_cast<std::size_t>(lane_)] = word_.word();
  if (uniform_) {
    step_.row->fill(word_.word());
    lane_ = isa::Parameters::lanes - 1;
  }
  word_.clear();
  if (step_.info().unit == Unit::Atomic && step_.executes(lane_))
    expected_ = Expected::NewValue;
  else
    finish_lane();
}

void StepParser::new_value(const Token& token) {
  byte(token, isa::Said::NewWord);
  if (!word_.complete()) return;
  (*step_.updated)[static_cast<std::size_t>(lane_)] = word_.word();
  word_.clear();
  expected_ = Expected::Read;
  finish_lane();
}

void StepParser::byte(const Token& token, isa::Said what) {
  const auto said = isa::said_byte(token);
  require(said && said->what == what && token.a == lane_ && word_.push(token.b, token.c, said->ending));
}

void StepParser::finish_lane() {
  if (++lane_ < isa::Parameters::lanes) return;
  lane_ = 0;
  if (step_.info().unit == Unit::StoreConstant && step_.index == ctaid_line)
    block_ = {(*step_.row)[0], (*step_.row)[1], (*step_.row)[2]};
  finish(Expected::Next);
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
  if (!isa::fault_table[static_cast<std::size_t>(token.a)].has_address()) return finish(Expected::System);
  lane_ = 0;
  expected_ = Expected::FaultAddress;
}

// A row that is 0 but for the lane of the fault.
void StepParser::fault_address(const Token& token) {
  byte(token, isa::Said::Word);
  if (!word_.complete()) return;
  if (lane_ == step_.fault->lane) step_.fault->address = word_.word();
  word_.clear();
  if (++lane_ == isa::Parameters::lanes) finish(Expected::System);
}

void StepParser::finish_waits(const Token& token) {
  step_.wait_kind = static_cast<isa::WaitKind>(token.a);
  step_.waiting = token.b;
  finish(Expected::Next);
}

void StepParser::finish_release(const Token& token) {
  const bool barrier = token.a == static_cast<int>(isa::WaitKind::Barrier);
  begin(barrier ? Event::BarrierPassed : Event::YieldOver);
  finish(Expected::FirstQuad);
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

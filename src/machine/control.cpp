#include "machine/control.h"

#include <algorithm>
#include <array>

namespace qwengpu::machine {

std::string_view control_name(Control control) {
  static constexpr std::array<std::string_view, control_count> names = {
#define X(name, meaning) #name,
      QWENGPU_CONTROLS(X)
#undef X
  };
  return names[static_cast<std::size_t>(control)];
}

std::vector<Control> control_word(const isa::OpInfo& op, int executing) {
  using isa::Mode;
  using isa::Unit;
  std::vector<Control> word;
  word.reserve(control_count);
  const auto set = [&word](std::initializer_list<Control> controls) { word.insert(word.end(), controls); };

  if (op.reads_a()) set({Control::UseA});
  if (op.reads_b() || op.unit == Unit::Load || op.unit == Unit::CopyOut) set({Control::UseB});
  if (op.reads_c()) set({Control::UseC});
  if (op.writes_register()) {
    set({Control::ToRegister});
    if (executing != 15) set({Control::Keep});
  }

  if (op.has('F') || op.has('l')) set({Control::Modified});

  if (op.accesses_memory()) {
    if (op.alignment() >= 2) set({Control::Align2});
    if (op.alignment() >= 4) set({Control::Align4});
    if (op.alignment() >= 8) set({Control::Align8});
    if (op.alignment() >= 16) set({Control::Align16});
  }

  switch (op.unit) {
    case Unit::Move:
    case Unit::Tell: set({Control::Move}); break;
    case Unit::Add:
    case Unit::Subtract:
      set({Control::Sum, op.unit == Unit::Add ? Control::AddB : Control::SubtractB});
      if (op.mode == Mode::Carry) set({Control::Carry, Control::Chosen});
      break;
    case Unit::Multiply:
      set({Control::Multiply, op.mode == Mode::Low ? Control::MultiplyLow : Control::MultiplyHigh});
      if (op.mode == Mode::HighSigned) set({Control::SignedProduct});
      break;
    case Unit::MultiplyAdd: set({Control::Multiply, Control::MultiplyLow}); break;
    case Unit::MinMax:
      set({Control::MinMax});
      set({op.mode == Mode::MinSigned || op.mode == Mode::MinUnsigned ? Control::Min : Control::Max});
      if (op.mode == Mode::MinSigned || op.mode == Mode::MaxSigned) set({Control::Signed});
      break;
    case Unit::Shift:
      set({op.mode == Mode::Left ? Control::ShiftLeft : Control::ShiftRight});
      if (op.mode == Mode::RightSigned) set({Control::Signed});
      break;
    case Unit::Logic:
      set({op.mode == Mode::And ? Control::And : op.mode == Mode::Or ? Control::Or : Control::Xor});
      break;
    case Unit::Select: set({Control::Select, Control::Chosen}); break;
    case Unit::Compare:
      switch (op.mode) {
        case Mode::Equal: set({Control::Equal}); break;
        case Mode::NotEqual: set({Control::Equal, Control::Invert}); break;
        case Mode::LessSigned: set({Control::Less, Control::Signed}); break;
        case Mode::LessUnsigned: set({Control::Less}); break;
        case Mode::GreaterEqualSigned: set({Control::Less, Control::Signed, Control::Invert}); break;
        case Mode::GreaterEqualUnsigned: set({Control::Less, Control::Invert}); break;
        case Mode::LessEqualSigned: set({Control::Less, Control::Equal, Control::Signed}); break;
        case Mode::LessEqualUnsigned: set({Control::Less, Control::Equal}); break;
        case Mode::GreaterSigned: set({Control::Less, Control::Equal, Control::Signed, Control::Invert}); break;
        case Mode::GreaterUnsigned: set({Control::Less, Control::Equal, Control::Invert}); break;
        default: break;
      }
      break;
    case Unit::Predicate:
      set({op.mode == Mode::And  ? Control::PredicateAnd
           : op.mode == Mode::Or ? Control::PredicateOr
                                 : Control::PredicateXor});
      break;
    case Unit::FloatArithmetic:
      set({op.mode == Mode::Sum       ? Control::FloatAdd
           : op.mode == Mode::Product ? Control::FloatMultiply
                                      : Control::FloatMultiplyAdd});
      break;
    case Unit::FloatMinMax: set({op.mode == Mode::Minimum ? Control::FloatMin : Control::FloatMax}); break;
    case Unit::FloatCompare: {
      set({Control::FloatCompare});
      const auto is = [&op](std::initializer_list<Mode> modes) {
        return std::find(modes.begin(), modes.end(), op.mode) != modes.end();
      };
      if (is({Mode::Less, Mode::LessEqual, Mode::NotEqual, Mode::LessOrUnordered, Mode::LessEqualOrUnordered,
              Mode::NotEqualOrUnordered, Mode::Ordered}))
        set({Control::FloatLess});
      if (is({Mode::Equal, Mode::LessEqual, Mode::GreaterEqual, Mode::EqualOrUnordered, Mode::LessEqualOrUnordered,
              Mode::GreaterEqualOrUnordered, Mode::Ordered}))
        set({Control::FloatEqual});
      if (is({Mode::Greater, Mode::GreaterEqual, Mode::NotEqual, Mode::GreaterOrUnordered,
              Mode::GreaterEqualOrUnordered, Mode::NotEqualOrUnordered, Mode::Ordered}))
        set({Control::FloatGreater});
      if (is({Mode::EqualOrUnordered, Mode::NotEqualOrUnordered, Mode::LessOrUnordered, Mode::LessEqualOrUnordered,
              Mode::GreaterOrUnordered, Mode::GreaterEqualOrUnordered, Mode::Unordered}))
        set({Control::FloatUnordered});
      break;
    }
    case Unit::ConvertToFloat:
      set({Control::IntToFloat});
      if (op.mode == Mode::Signed) set({Control::Signed});
      break;
    case Unit::ConvertToInteger:
      set({Control::FloatToInt});
      if (op.mode == Mode::Signed) set({Control::Signed});
      break;
    case Unit::RoundToIntegral: set({Control::FloatToIntegral}); break;
    case Unit::BitCount:
      set({op.mode == Mode::Population     ? Control::PopulationCount
           : op.mode == Mode::LeadingZeros ? Control::LeadingZeros
                                           : Control::FindBit});
      if (op.mode == Mode::HighestSigned) set({Control::Signed});
      break;
    case Unit::BitReverse: set({Control::ReverseBits}); break;
    case Unit::BitField:
      set({op.mode == Mode::Insert ? Control::Insert : Control::Extract});
      if (op.mode == Mode::Signed) set({Control::Signed});
      break;
    case Unit::Permute: set({Control::PermuteBytes}); break;
    case Unit::LookUp: set({Control::LookUp}); break;
    case Unit::FunnelShift: set({op.mode == Mode::Left ? Control::FunnelLeft : Control::FunnelRight}); break;
    case Unit::Load:
    case Unit::CopyOut:
      set({Control::Load, Control::AddB});
      if (op.mode == Mode::Byte || op.mode == Mode::SignedByte) set({Control::LoadByte});
      if (op.mode == Mode::Half || op.mode == Mode::SignedHalf) set({Control::LoadHalf});
      if (op.mode == Mode::SignedByte || op.mode == Mode::SignedHalf) set({Control::LoadSigned});
      break;
    case Unit::Store: set({Control::AddImmediate}); break;
    case Unit::Atomic:
      set({Control::Load, Control::AddImmediate, Control::ReadModify});
      switch (op.mode) {
        case Mode::Sum: set({Control::NewSum}); break;
        case Mode::FloatSum: set({Control::NewFloatSum}); break;
        case Mode::MinSigned: set({Control::NewMinMax, Control::Min, Control::Signed}); break;
        case Mode::MaxSigned: set({Control::NewMinMax, Control::Max, Control::Signed}); break;
        case Mode::MinUnsigned: set({Control::NewMinMax, Control::Min}); break;
        case Mode::MaxUnsigned: set({Control::NewMinMax, Control::Max}); break;
        case Mode::And: set({Control::NewAnd}); break;
        case Mode::Or: set({Control::NewOr}); break;
        case Mode::Xor: set({Control::NewXor}); break;
        case Mode::Exchange: set({Control::NewMove}); break;
        case Mode::CompareAndSwap: set({Control::CompareAndSwap}); break;
        case Mode::Increment: set({Control::Increment}); break;
        case Mode::Decrement: set({Control::Decrement}); break;
        case Mode::StoreByte: set({Control::Merge, Control::MergeByte}); break;
        case Mode::StoreHalf: set({Control::Merge, Control::MergeHalf}); break;
        default: break;
      }
      break;
    case Unit::Put: set({op.mode == Mode::Vote ? Control::PutVote : Control::PutWord}); break;
    case Unit::GetWord: set({Control::GetWord}); break;
    case Unit::GetVote: set({Control::GetVote}); break;
    case Unit::LoadHost: set({Control::LoadHost}); break;
    case Unit::CopyHost: break;
    case Unit::StoreConstant: set({Control::Move, Control::ToConstant}); break;
    case Unit::ThreadIndex: set({Control::Move, Control::ToThreadIndex}); break;
    case Unit::Illegal:
    case Unit::Branch:
    case Unit::Exit:
    case Unit::Wait:
    case Unit::Resume:
    case Unit::RegisterClass:
    case Unit::Limit:
    case Unit::Run:
    case Unit::Halt: break;
  }
  return word;
}

}  // namespace qwengpu::machine

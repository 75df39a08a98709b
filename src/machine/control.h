// The control word of an op: the bits that an op token brings along in its embedding and that a latch of layer 0 keeps until the next
// op. This is the instruction decoder of the model: a table, looked up by the token that was spoken.
#pragma once

#include <string_view>
#include <vector>

#include "isa/instructions.h"

namespace qwengpu::machine {

// X(name, "meaning")
#define QWENGPU_CONTROLS(X)                                                           \
  X(UseA, "operand A of the selected lane is read")                                   \
  X(UseB, "operand B of the selected lane is read")                                   \
  X(UseC, "operand C of the selected lane is read")                                   \
  X(Keep, "a register is written and a lane sits out: old values are spoken for it")  \
  X(Move, "result = b")                                                               \
  X(Sum, "result = a + addend")                                                       \
  X(AddB, "addend = b")                                                               \
  X(AddImmediate, "addend = immediate")                                               \
  X(SubtractB, "addend = -b")                                                         \
  X(Carry, "the carry into the sum is the predicate")                                 \
  X(MultiplyLow, "result = low half of the product")                                  \
  X(MultiplyHigh, "result = high half of the product")                                \
  X(SignedProduct, "factors are signed")                                              \
  X(Multiply, "either half")                                                          \
  X(Min, "result = smaller of a and b")                                               \
  X(Max, "result = larger of a and b")                                                \
  X(MinMax, "either of them")                                                         \
  X(Signed, "comparison, shift, field or conversion is signed")                                                   \
  X(ShiftLeft, "result = a << b")                                                     \
  X(ShiftRight, "result = a >> b, with or without sign")                              \
  X(And, "result = a & b")                                                            \
  X(Or, "result = a | b")                                                             \
  X(Xor, "result = a ^ b")                                                            \
  X(Select, "result = predicate ? a : b")                                             \
  X(Chosen, "the predicate of the selected lane is read")                             \
  X(Less, "predicate is true for a < b")                                              \
  X(Equal, "predicate is true for a == b")                                            \
  X(Invert, "the comparison is inverted")                                             \
  X(PredicateAnd, "predicate = q & r")                                                \
  X(PredicateOr, "predicate = q | r")                                                 \
  X(PredicateXor, "predicate = q ^ r")                                                \
  X(FloatAdd, "result = a + b in binary32")                                           \
  X(FloatMultiply, "result = a * b in binary32")                                      \
  X(FloatMultiplyAdd, "result = a * b + c in binary32")                               \
  X(FloatMin, "result = smaller binary32 of a and b")                                 \
  X(FloatMax, "result = larger binary32 of a and b")                                  \
  X(FloatCompare, "predicate from the order of two binary32 numbers")                 \
  X(FloatLess, "predicate is true for a < b")                                         \
  X(FloatEqual, "predicate is true for a == b")                                       \
  X(FloatGreater, "predicate is true for a > b")                                      \
  X(FloatUnordered, "predicate is true when a or b is NaN")                           \
  X(IntToFloat, "result = binary32 of the integer b")                                 \
  X(FloatToInt, "result = integer of the binary32 b")                                 \
  X(FloatToIntegral, "result = integral binary32 of b")                               \
  X(PopulationCount, "result = number of ones of b")                                  \
  X(LeadingZeros, "result = number of leading zeros of b")                            \
  X(FindBit, "result = position of the highest bit of b")                             \
  X(ReverseBits, "result = b reversed")                                               \
  X(Extract, "result = bit field of a")                                               \
  X(Insert, "result = c with a bit field of a")                                       \
  X(PermuteBytes, "result = bytes of a and c selected by b")                          \
  X(LookUp, "result = table of a, b and c")                                           \
  X(FunnelLeft, "result = high word of c:a << b")                                     \
  X(FunnelRight, "result = low word of c:a >> b")                                     \
  X(Modified, "the op has modifiers")                                                 \
  X(Load, "result = memory")                                                          \
  X(LoadByte, "of which a byte")                                                      \
  X(LoadHalf, "of which 16 bits")                                                     \
  X(LoadSigned, "with their sign")                                                    \
  X(Align2, "the address is even")                                                    \
  X(Align4, "the address is a multiple of 4")                                         \
  X(Align8, "the address is a multiple of 8")                                         \
  X(Align16, "the address is a multiple of 16")                                       \
  X(ReadModify, "the word of memory becomes a function of itself and b")              \
  X(NewSum, "namely itself + b")                                                      \
  X(NewMove, "b")                                                                     \
  X(NewAnd, "itself & b")                                                             \
  X(NewOr, "itself | b")                                                              \
  X(NewXor, "itself ^ b")                                                             \
  X(NewMinMax, "the smaller or larger")                                               \
  X(NewFloatSum, "the sum in binary32")                                               \
  X(CompareAndSwap, "c if it equals b")                                               \
  X(Increment, "0 if it is not below b, else itself + 1")                             \
  X(Decrement, "b if it is 0 or above b, else itself - 1")                            \
  X(MergeByte, "itself with a byte of b")                                             \
  X(MergeHalf, "itself with 16 bits of b")                                            \
  X(Merge, "either of them")                                                          \
  X(PutWord, "b of all lanes is shown to the warp")                                   \
  X(PutVote, "a predicate of all lanes is shown to the warp")                         \
  X(GetWord, "result = the word that thread a shows")                                 \
  X(GetVote, "result = the predicates that the warp shows")                           \
  X(LoadHost, "result = host staging")                                                \
  X(Faulted, "the row is the address of a fault, and ends the block")                 \
  X(ToRegister, "the row goes to the register file")                                  \
  X(ToConstant, "the row goes to the constant bank")                                  \
  X(ToThreadIndex, "the row goes to the thread indices")                              \
  X(ToInstruction, "the row goes to instruction memory")                              \
  X(ToHost, "the row goes to host staging")

enum class Control {
#define X(name, meaning) name,
  QWENGPU_CONTROLS(X)
#undef X
};
inline constexpr int control_count = 0
#define X(name, meaning) +1
    QWENGPU_CONTROLS(X)
#undef X
    ;
std::string_view control_name(Control control);

// The bits that are set for an op that executes in `executing` (not 0).
std::vector<Control> control_word(const isa::OpInfo& op, int executing);

}  // namespace qwengpu::machine

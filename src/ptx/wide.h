// 64-bit integers as pairs of registers. What turns out to be needed of the low halves only (an address,
// mostly) loses its high halves as dead code: that is how 64-bit addresses become 32-bit ones.
#pragma once

#include "ptx/emitter.h"

namespace qwengpu::ptx::ir {

struct Pair {
  Value lo, hi;
};

inline Pair pair_of(std::uint64_t value) {
  return {Value::imm(static_cast<std::uint32_t>(value)), Value::imm(static_cast<std::uint32_t>(value >> 32))};
}
inline Pair zero_extended(Value value) { return {value, Value::imm(0)}; }
Pair sign_extended(Emitter& e, Value value);

Pair add(Emitter& e, Pair a, Pair b);
Pair subtract(Emitter& e, Pair a, Pair b);
Pair negate(Emitter& e, Pair a);
Pair absolute(Emitter& e, Pair a);
Pair logic(Emitter& e, isa::Op op, Pair a, Pair b);
Pair select(Emitter& e, Predicate condition, Pair a, Pair b);
// The full product of two 32-bit values.
Pair multiply_wide(Emitter& e, Value a, Value b, bool is_signed);
Pair multiply_low(Emitter& e, Pair a, Pair b);
Pair multiply_high(Emitter& e, Pair a, Pair b, bool is_signed);
// Amounts from 64 on give 0, or the sign (PTX ISA, shl and shr).
Pair shift_left(Emitter& e, Pair a, Value amount);
Pair shift_right(Emitter& e, Pair a, Value amount, bool is_signed);

enum class Relation { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
Predicate compare(Emitter& e, Relation relation, Pair a, Pair b, bool is_signed);
// The instruction that compares 32 bits.
isa::Op compare_op(Relation relation, bool is_signed);

}  // namespace qwengpu::ptx::ir

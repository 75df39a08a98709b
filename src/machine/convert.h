// CVT between 32-bit integers and binary32 (PTX ISA 9.7.9, cvt): six MLPs from an integer, four from a float.
#pragma once

#include "machine/wires.h"

namespace qwengpu::machine {

// Every member is 0 or 1.
struct ConvertMode {
  // At most one; the unit is silent when all are 0.
  Linear int_to_float;       // cvt.{rn,rz,rm,rp}.f32.{s32,u32}
  Linear float_to_int;       // cvt.{rni,rzi,rmi,rpi}.{s32,u32}.f32: saturates; of NaN, 0
  Linear float_to_integral;  // cvt.{rni,rzi,rmi,rpi}.f32.f32: of NaN, 0x7fffffff
  Linear is_signed;          // the integer is s32, not u32
  // Exactly one when a conversion is on.
  Linear nearest_even, toward_zero, down, up;
  Linear flush;  // .ftz: a subnormal float that comes in counts as zero of its sign
};

// result[0 .. 31] += the conversion of in[0 .. 31].
void build_convert(Circuit& c, const Word& in, const ConvertMode& mode, const Signals& result);

}  // namespace qwengpu::machine

// Floating-point operations that the machine does not have, as sequences of those it has. A sequence has a
// short way for the numbers that occur and a branch for the others: zeros, infinities, NaNs, subnormals,
// results that overflow.
#pragma once

#include "ptx/emitter.h"

namespace qwengpu::ptx::ir {

// With `flush` subnormal operands and results count as zeros (PTX .ftz).

// Correctly rounded (PTX .rn).
Value divide_exactly(Emitter& e, Value a, Value b, bool flush);
Value square_root_exactly(Emitter& e, Value x, bool flush);
// At most 2 ulp off (PTX div.full, and div.approx beyond what PTX asks of it), 1 ulp (rcp.approx).
Value divide_nearly(Emitter& e, Value a, Value b, bool flush);
Value reciprocal_nearly(Emitter& e, Value x, bool flush);
// Relative errors below 2^-23 (sqrt.approx) and 2^-22.9 (rsqrt.approx).
Value square_root_nearly(Emitter& e, Value x, bool flush);
Value reciprocal_square_root_nearly(Emitter& e, Value x, bool flush);
// 2 ulp (ex2.approx); 2^-22 absolute between 0.5 and 2, else relative (lg2.approx).
Value exponential_nearly(Emitter& e, Value x, bool flush);
Value logarithm_nearly(Emitter& e, Value x, bool flush);
// 2^-20.5 absolute up to 2 pi, 2^-14.7 up to 100 pi (sin.approx, cos.approx).
Value sine_nearly(Emitter& e, Value x, bool cosine, bool flush);
// 2^-11 relative (tanh.approx).
Value hyperbolic_tangent_nearly(Emitter& e, Value x);

}  // namespace qwengpu::ptx::ir

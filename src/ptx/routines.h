// Operations that the machine does not have, as sequences of those it has.
#pragma once

#include "ptx/wide.h"

namespace qwengpu::ptx::ir {

struct Quotient {
  Value quotient, remainder;
};
// 32-bit division. PTX leaves division by zero open; unsigned, it gives the quotient 0xffffffff here, as on
// NVIDIA's GPUs, and the dividend as the remainder. Signed, the same is done to the absolute values: the
// quotient is -1, or 1 for a negative dividend.
Quotient divide(Emitter& e, Value dividend, Value divisor, bool is_signed);

struct WideQuotient {
  Pair quotient, remainder;
};
// The same with 64 bits.
WideQuotient divide(Emitter& e, Pair dividend, Pair divisor, bool is_signed);

}  // namespace qwengpu::ptx::ir

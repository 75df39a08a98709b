// The binary32 data path: operands a, b, c of the selected lane and the modifiers of the op -> result.
#include "machine/convert.h"
#include "machine/float.h"
#include "machine/float_compare.h"
#include "machine/units.h"

namespace qwengpu::machine {

void build_floating(Circuit& c, Wires& w) {
  const auto scope = c.scope("float");
  const auto on = [&](Control control) { return executes(c, w, control); };
  {
    const auto unit = c.scope("multiply_add");
    const Linear add = on(Control::FloatAdd), multiply = on(Control::FloatMultiply);
    const FloatMode mode{.multiply_add = add + multiply + on(Control::FloatMultiplyAdd),
                         .nearest_even = w.rounding[0],
                         .toward_zero = w.rounding[1],
                         .down = w.rounding[2],
                         .up = w.rounding[3],
                         .flush = w.flush,
                         .saturate = w.saturate};
    const FloatOp op{.add = add,
                     .multiply = multiply,
                     .negate_a = w.negate_a,
                     .negate_b = w.negate_b,
                     .negate_c = w.negate_c,
                     .absolute_a = w.absolute_a,
                     .absolute_b = w.absolute_b,
                     .absolute_c = 0};
    build_float(c, float_front(c, {w.a, w.b, w.c}, op, mode), mode, w.result);
  }
  {
    const auto unit = c.scope("min_max");
    const Linear minimum = on(Control::FloatMin), maximum = on(Control::FloatMax);
    const Linear used = minimum + maximum;
    build_float_min_max(c, with_sign(c, "sign_a", w.a, w.absolute_a, w.negate_a, used),
                        with_sign(c, "sign_b", w.b, w.absolute_b, w.negate_b, used),
                        {.minimum = minimum, .maximum = maximum, .propagate_nan = 0, .flush = w.flush},
                        w.result);
  }
  {
    const auto unit = c.scope("convert");
    build_convert(c, w.b,
                  {.int_to_float = on(Control::IntToFloat),
                   .float_to_int = on(Control::FloatToInt),
                   .float_to_integral = on(Control::FloatToIntegral),
                   .is_signed = w.control_bit(Control::Signed),
                   .nearest_even = w.rounding[0],
                   .toward_zero = w.rounding[1],
                   .down = w.rounding[2],
                   .up = w.rounding[3],
                   .flush = w.flush},
                  w.result);
  }
}

}  // namespace qwengpu::machine

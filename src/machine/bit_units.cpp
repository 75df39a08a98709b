// Shifts, bit counts, bit fields, byte permutes and look-up tables of the selected lane -> result.
#include "machine/bits.h"
#include "machine/units.h"

namespace qwengpu::machine {

void build_bit_units(Circuit& c, Wires& w) {
  const auto scope = c.scope("bits");
  const auto on = [&](Control control) { return executes(c, w, control); };
  const Word b = w.b;
  {
    const auto unit = c.scope("population");
    build_population_count(c, b, on(Control::PopulationCount), w.result);
  }
  {
    const auto unit = c.scope("find");
    build_find(c, b,
               {.leading_zeros = on(Control::LeadingZeros), .position = on(Control::FindBit), .shift_amount = 0,
                .is_signed = w.control_bit(Control::Signed)},
               w.result);
  }
  {
    const auto unit = c.scope("reverse");
    build_bit_reverse(c, b, on(Control::ReverseBits), w.result);
  }
  {
    const auto unit = c.scope("permute");
    build_permute(c, w.a, w.c, b, on(Control::PermuteBytes), w.result);
  }
  {
    const auto unit = c.scope("look_up");
    build_logic3(c, w.a, b, w.c, w.table, on(Control::LookUp), w.result);
  }
  {
    const auto unit = c.scope("shift");
    // BFE has position and length in b; the unit takes the length as its third operand.
    const Linear extract = on(Control::Extract);
    Word third(w.c);
    for (std::size_t i = 0; i < 8; ++i) {
      const Signal bit = c.bus(circuit::indexed("third", static_cast<int>(i)));  // c is not read by BFE
      c.add(bit, 1, w.c[i]);
      c.add(bit, 1, both(extract, b[8 + i]));
      third[i] = bit;
    }
    build_shift_unit(c, w.a, b, third,
                     {.left = on(Control::ShiftLeft),
                      .right = on(Control::ShiftRight),
                      .funnel_left = 0,
                      .funnel_right = 0,
                      .funnel_left_wrap = on(Control::FunnelLeft),
                      .funnel_right_wrap = on(Control::FunnelRight),
                      .extract = extract,
                      .insert = on(Control::Insert),
                      .is_signed = w.control_bit(Control::Signed)},
                     w.result);
  }
}

}  // namespace qwengpu::machine

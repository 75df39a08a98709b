// The last steps: three MLPs for signs, rounding and exponents, the last of which writes the result.
#include <fmt/format.h>

#include "machine/float_stages.h"

namespace qwengpu::machine::float_stages {
namespace {

constexpr int low_bits = 3, radix = 1 << low_bits;
constexpr int high_bits = exponent_bits - low_bits;
constexpr int high_end = 1 << high_bits;  // first high digit beyond the exponent field

// IEEE 754-2019, 6.3: an exact sum of zero is +0, or -0 when rounding down, unless both terms were zeros of
// one sign.
Signal sign_of_result(Circuit& c, const Classes& classes, const Magnitude& magnitude, const Linear& down) {
  const Signal plain = circuit::xor_(c, "plain_sign", classes.product_sign, magnitude.negative);
  const Signal cancelled = c.bus("cancelled");
  c.add(cancelled, 1, classes.subtract - sum(Word(magnitude.bits)) - classes.special);
  const Signal sign = c.bus("sign");
  c.add(sign, 1, plain - Linear(cancelled) - classes.special);
  add_if_possible(c, sign, 1, both(cancelled, down));
  c.add(sign, 1, both(classes.infinite, classes.special_sign));
  return sign;
}

// What the mode and the sign make of the result's magnitude.
struct Directions {
  Signal away;  // up, or down with a negative result: any lost bit increases the magnitude
  Signal overflow_to_infinity, overflow_to_largest;
  Signal clamp;  // .sat of a positive result: 1 at most
};
Directions directions(Circuit& c, const FloatMode& mode, const Linear& sign) {
  const Linear& on = mode.multiply_add;
  Directions d{c.bus("away"), c.bus("overflow_to_infinity"), c.bus("overflow_to_largest"), c.bus("clamp")};
  const Linear up = both(on, mode.up), down = both(on, mode.down);
  add_if_possible(c, d.away, 1, up - sign);
  add_if_possible(c, d.away, 1, both(down, sign));
  add_if_possible(c, d.overflow_to_infinity, 1, both(on, mode.nearest_even) - mode.saturate);
  add_if_possible(c, d.overflow_to_infinity, 1, up - sign - mode.saturate);
  add_if_possible(c, d.overflow_to_infinity, 1, both(down, sign) - mode.saturate);
  add_if_possible(c, d.overflow_to_largest, 1, both(on, mode.toward_zero) - mode.saturate);
  add_if_possible(c, d.overflow_to_largest, 1, down - sign - mode.saturate);
  add_if_possible(c, d.overflow_to_largest, 1, both(up, sign) - mode.saturate);
  add_if_possible(c, d.clamp, 1, both(on, mode.saturate) - sign);
  return d;
}

// The high digit of an exponent, which may lie beyond the field, and the field where the significand is
// normal.
struct Exponent {
  Linear high;
  Word field;  // [8]
};
// The exponent of the significand's leading place, 8 * (9 - group) + place - 1 places below the window's top,
// plus `increment`.
Exponent exponent_field(Circuit& c, const std::string& name, const Window& window, const Normalised& value,
                        int increment, const Linear& on) {
  const auto scope = c.scope(name);
  Linear group_number = 0, place = 0;
  for (int g = 0; g < groups; ++g) group_number += g * Linear(value.lead_group[at(g)]);
  for (int u = 0; u < group; ++u) place += u * Linear(value.lead_place[at(u)]);
  // -6 .. 8 become 1 .. 15: 0 is left for the unit that is off
  constexpr int offset = radix - 1, most = 2 * radix - 1;
  const Linear low = window.low + on - place + offset * on;
  const auto shifted = [increment](int n) { return n - offset + increment + radix; };  // not negative
  const Signal carry = c.bus("carry", {-1, 1});
  add_function(c, carry, low, most, [&](int n) { return n > 0 ? shifted(n) / radix - 1 : 0; });

  Exponent out;
  const Linear normal = value.significand.back();
  for (int bit = 0; bit < low_bits; ++bit) {
    const Signal digit = c.bus(fmt::format("digit[{}]", bit)), field = c.bus(fmt::format("field[{}]", bit));
    add_function(c, digit, low, most, [&](int n) { return n > 0 ? shifted(n) >> bit & 1 : 0; });
    c.add(field, 1, both(digit, normal));
    out.field.push_back(field);
  }
  out.high = window.high - 9 * on + group_number + carry;
  for (int bit = 0; bit < high_bits; ++bit) {
    const Signal field = c.bus(fmt::format("field[{}]", low_bits + bit));
    add_function(
        c, field, out.high, most_high + 1, [bit](int n) { return n < high_end ? n >> bit & 1 : 0; }, normal);
    out.field.push_back(field);
  }
  return out;
}

}  // namespace

void round_and_pack(Circuit& c, const Classes& classes, const Window& window, const Magnitude& magnitude,
                    const Normalised& value, const FloatMode& mode, const Signals& result) {
  const auto scope = c.scope("round");
  const Linear& on = mode.multiply_add;
  const Linear sign = sign_of_result(c, classes, magnitude, mode.down);
  const Directions toward = directions(c, mode, sign);
  const Word significand = value.significand;
  const Linear normal = significand.back(), guard = value.guard, rest = value.rest;
  const Exponent same = exponent_field(c, "exponent", window, value, 0, on),
                 next = exponent_field(c, "next_exponent", window, value, 1, on);

  // Does the magnitude grow by one unit of the last place?
  const Signal grows = c.bus("grows");
  add_if_possible(c, grows, 1, all({mode.nearest_even, guard, significand[0]}));
  add_threshold(c, grows, rest, 1, {mode.nearest_even, guard, 1 - significand[0]}, group);
  add_threshold(c, grows, guard + rest, 1, {toward.away}, group + 1);

  // Results that are not the rounded sum. An exponent of 255 or 127 is one where the next exponent's high
  // digit is 32 or 16.
  constexpr int most = 64;  // more than any high digit
  constexpr int high_of_two = high_end / 2;
  const Signal infinite = c.bus("infinite"), largest = c.bus("largest"), one = c.bus("one"),
               nan = c.bus("nan");
  add_threshold(c, infinite, next.high, high_end, {normal, toward.overflow_to_infinity}, most);
  add_if_possible(c, infinite, 1, classes.infinite - mode.saturate);
  add_threshold(c, largest, next.high, high_end, {normal, toward.overflow_to_largest}, most);
  add_threshold(c, one, next.high, high_of_two, {normal, toward.clamp}, most);
  add_if_possible(c, one, 1, both(classes.infinite, toward.clamp));
  add_if_possible(c, nan, 1, classes.nan - mode.saturate);

  // Reasons to drop the rounded sum: overflow, and what saturation replaces.
  const Signal drop = c.bus("drop", {0, 3});
  add_threshold(c, drop, next.high, high_end, {}, 0);
  add_threshold(c, drop, next.high, high_of_two, {toward.clamp}, most);
  add_if_possible(c, drop, 1, both(mode.saturate, sign));
  // Flushing takes the fraction of a subnormal result. If rounding made it normal its fraction is 0 anyway.
  const Signal flushed = c.bus("flushed");
  add_if_possible(c, flushed, 1, both(on, mode.flush) - normal);

  // The last MLP. A bit of the fraction flips where `grows` and all bits below are 1; overflow of the
  // fraction steps the exponent on, from the largest finite number to infinity too.
  Linear run = grows - Linear(drop);
  for (int i = 0; i < fraction_bits; ++i) {
    const Linear bit = significand[at(i)];
    c.add(result[at(i)], 1, bit - drop - flushed);
    c.add(result[at(i)], -1, both(run, bit) - flushed);
    c.add(result[at(i)], 1, run - bit - flushed);
    run = both(run, bit);
  }
  for (int i = 0; i < exponent_bits; ++i) {
    const Signal out = result[at(fraction_bits + i)];
    c.add(out, 1, same.field[at(i)] - drop);
    // A subnormal's exponent field steps from 0 to 1.
    c.add(out, 1, run, next.field[at(i)] - same.field[at(i)] + (i == 0 ? 1 - normal : Linear(0)));
  }
  add_if_possible(c, result[word_bits - 1], 1, sign - mode.saturate);
  for (int i = 0; i < word_bits - 1; ++i) {
    Linear set_by = nan;                                         // 0x7fffffff
    if (i >= fraction_bits) set_by += infinite;                  // 0x7f800000
    if (i != fraction_bits) set_by += largest;                   // 0x7f7fffff
    if (i >= fraction_bits && i < word_bits - 2) set_by += one;  // 0x3f800000
    c.add(result[at(i)], 1, set_by);
  }
}

}  // namespace qwengpu::machine::float_stages

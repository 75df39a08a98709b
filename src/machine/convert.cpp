#include "machine/convert.h"

#include <fmt/format.h>

namespace qwengpu::machine {
namespace {

using circuit::and_;
using circuit::bus_word;
using circuit::match;
using circuit::number;
using circuit::slice;
using circuit::sum;

constexpr int mantissa_bits = 23, sign = 31;

// What all conversions share: the sign of the number, and whether a remainder rounds away from zero in a
// directed mode.
struct Direction {
  Signal negative;
  Signal away;
};
Direction build_direction(Circuit& c, const Word& in, const ConvertMode& mode, const Linear& from_float) {
  const Direction d{c.bus("negative"), c.bus("away")};
  c.add(d.negative, 1, all({mode.int_to_float, mode.is_signed, in[sign]}));
  c.add(d.negative, 1, both(from_float, in[sign]));
  c.add(d.away, 1, both(mode.down, d.negative));
  c.add(d.away, 1, all({mode.up, mode.int_to_float + from_float, 1 - Linear(d.negative)}));
  return d;
}

void build_int_to_float(Circuit& c, const Word& in, const ConvertMode& mode, const Direction& direction,
                        const Signals& result) {
  const auto scope = c.scope("int_to_float");
  const Linear on = mode.int_to_float;

  // MLP 1: the magnitude. Minus x keeps the lowest 1 of x and what is below, and inverts the bits above it.
  const Linear negative = all({on, mode.is_signed, in[sign]});  // not a bit, but good in a gate
  const Signals magnitude = bus_word(c, "magnitude", word_bits);
  for (int i = 0; i < word_bits; ++i) {
    c.add(magnitude[at(i)], 1, both(on, in[at(i)]));
    if (i == 0) continue;
    const Linear invert = 1 - 2 * in[at(i)];
    c.add(magnitude[at(i)], 1, negative, invert);
    c.add(magnitude[at(i)], -1, negative - sum(slice(in, 0, i)), invert);
  }

  // MLP 2: which nibble holds the leading one: zeros down to nibble t + 1, but not down to t.
  constexpr int nibbles = word_bits / 4;
  const Signals leading = bus_word(c, "leading", nibbles);
  c.exclusive(leading);
  for (int t = 0; t <= nibbles; ++t) {
    const Linear zeros = on - sum(slice(magnitude, 4 * t, word_bits - 4 * t));
    if (t > 0) c.add(leading[at(t - 1)], 1, zeros);
    if (t < nibbles) c.add(leading[at(t)], -1, zeros);
  }
  const Linear nonzero = sum(leading);

  // MLP 3: that nibble on top. MLP 4: the leading one on top, in bit 31.
  const Signals coarse = bus_word(c, "coarse", word_bits);
  for (int t = 0; t < nibbles; ++t) {
    const int by = word_bits - 4 * (t + 1);
    for (int i = by; i < word_bits; ++i) c.add(coarse[at(i)], 1, both(leading[at(t)], magnitude[at(i - by)]));
  }
  const Signals fine = bus_word(c, "fine", word_bits - 1);  // bit 31 is `nonzero`
  const Signals low_place = bus_word(c, "place", 2);        // of the leading one in its nibble, in binary
  for (int s = 0; s < 4; ++s) {                             // zeros above it in its nibble
    const Linear found = coarse[at(sign - s)] - sum(slice(coarse, sign - s + 1, s));
    for (int i = s; i < word_bits - 1; ++i) c.add(fine[at(i)], 1, both(found, coarse[at(i - s)]));
    for (int d = 0; d < 2; ++d)
      if (((3 - s) >> d & 1) != 0) c.add(low_place[at(d)], 1, found);
  }
  Word place = low_place;  // of the leading one in the word, in binary
  for (int d = 0; d < 3; ++d) {
    Linear digit = 0;
    for (int t = 0; t < nibbles; ++t)
      if ((t >> d & 1) != 0) digit += leading[at(t)];
    place.push_back(digit);
  }

  // MLP 5: rounding. `fine` has 23 bits of mantissa and 8 of a remainder below them, where 128 is a tie.
  constexpr int spare = word_bits - 1 - mantissa_bits;
  const Word mantissa = slice(fine, spare, mantissa_bits), rest = slice(fine, 0, spare);
  const Signal increment = c.bus("increment");
  add_positive(c, increment, number(rest) + mantissa[0] - 128, mode.nearest_even);
  add_positive(c, increment, sum(rest), direction.away);

  // MLP 6: a bit flips when all below it are 1.
  for (int i = 0; i < mantissa_bits; ++i) {
    c.add(result[at(i)], 1, mantissa[at(i)]);
    c.add(result[at(i)], 1, increment + sum(slice(mantissa, 0, i)) - i, 1 - 2 * mantissa[at(i)]);
  }
  // The exponent is 128 + place with a carry out of the mantissa, and one less without.
  const Linear carry = increment + sum(mantissa) - mantissa_bits;  // 1, else at most 0
  const int digits = static_cast<int>(place.size());
  for (int d = 0; d < digits; ++d) {
    const Signal out = result[at(mantissa_bits + d)];
    const Linear borrow = nonzero - sum(slice(place, 0, d)), invert = 1 - 2 * place[at(d)];
    c.add(out, 1, place[at(d)]);
    c.add(out, 1, borrow, invert);
    c.add(out, -1, both(borrow, carry), invert);
  }
  const Linear one = nonzero - sum(place);  // the magnitude 1 has exponent 127; it never carries
  c.add(result[28], 1, one);
  c.add(result[29], 1, one);
  c.add(result[30], 1, nonzero);
  c.add(result[30], -1, one);
  c.add(result[sign], 1, both(on, direction.negative));
}

// The exponent e is 4 h + l. The significand is shifted left by l, then placed by h, which gives the integer
// part and what is below it; all of that in two MLPs, the rounding is the third and the increment the fourth.
void build_from_float(Circuit& c, const Word& in, const ConvertMode& mode, const Direction& direction,
                      const Linear& on, const Signals& result) {
  const auto scope = c.scope("from_float");
  const Word mantissa = slice(in, 0, mantissa_bits), exponent = slice(in, mantissa_bits, 8);
  const Word low = slice(exponent, 0, 2), high = slice(exponent, 2, 6);

  // MLP 1
  const Signals fine = bus_word(c, "fine", mantissa_bits + 4);
  for (int l = 0; l < 4; ++l) {
    const Linear by = both(on, match(low, at(l)));
    for (int i = 0; i < mantissa_bits; ++i) c.add(fine[at(i + l)], 1, both(by, mantissa[at(i)]));
    c.add(fine[at(mantissa_bits + l)], 1, by);  // zeros and subnormals are not placed
  }
  // The integer's bit j is fine[j + 150 - 4 h]. Below h = 31 all is a remainder below one half; 159 and more
  // is out of reach, and 158 for signed integers.
  constexpr int first = 31, last = 39;
  Signals placed;
  for (int h = first; h <= last; ++h) {
    placed.push_back(c.bus(fmt::format("placed[{}]", h)));
    c.add(placed.back(), 1, both(on, match(high, at(h))));
  }
  c.exclusive(placed);
  const Signal beyond = c.bus("beyond");
  for (const Linear& limit :
       {both(on, match(exponent, 159)), all({mode.float_to_int, mode.is_signed, match(exponent, 158)})}) {
    c.add(placed.back(), -1, limit);
    c.add(beyond, 1, limit);
  }
  add_positive(c, beyond, 2 * (both(on, exponent[7]) - 1) + exponent[6] + exponent[5], 1);  // 160 and more
  const Signal below_two = and_(c, "below_two", {on, 1 - exponent[7]}),
               no_exponent = and_(c, "no_exponent", {on - sum(exponent)}),
               no_mantissa = and_(c, "no_mantissa", {on - sum(mantissa)}),
               special = and_(c, "special", {on, sum(exponent) - 7});  // infinity or NaN
  const Signal positive = and_(c, "positive", {mode.float_to_int, 1 - in[sign]}),
               negative = and_(c, "negative", {mode.float_to_int, mode.is_signed, in[sign]});
  // kept[i]: mantissa bit i is not below the binary point; kept[23]: the number is at least 1.
  const Signals kept = bus_word(c, "kept", mantissa_bits + 1);
  for (int i = 0; i <= mantissa_bits; ++i)
    add_positive(c, kept[at(i)], number(exponent) - (149 - i), mode.float_to_integral);

  // MLP 2
  const Signals integer = bus_word(c, "integer", word_bits);
  const Signal half = c.bus("half"), rest = c.bus("rest", {0, mantissa_bits + 3});
  for (int h = first; h <= last; ++h) {
    const Signal here = placed[at(h - first)];
    const int point = 150 - 4 * h;
    for (int i = std::max(0, point); i < mantissa_bits + 4 && i - point < word_bits; ++i)
      c.add(integer[at(i - point)], 1, both(here, fine[at(i)]));
    if (point > 0) c.add(half, 1, both(here, fine[at(point - 1)]));
    if (point > 1) c.add(rest, 1, here, sum(slice(fine, 0, point - 1)));
  }
  c.add(rest, 1, below_two - Linear(placed.front()) - no_exponent);
  c.add(rest, 1, no_exponent - Linear(no_mantissa) - mode.flush);
  const Signal nan = and_(c, "nan", {special, 1 - Linear(no_mantissa)});
  const auto saturated = [&](const char* name, const Signal& when) {  // infinities, but not NaN
    const Signal out = and_(c, name, {when, beyond, 1 - Linear(special)});
    c.add(out, 1, all({when, special, no_mantissa}));
    return out;
  };
  const Signal most = saturated("most", positive), least = saturated("least", negative);
  const Signals masked = bus_word(c, "masked", mantissa_bits);
  for (int i = 0; i < mantissa_bits; ++i) c.add(masked[at(i)], 1, both(kept[at(i)], mantissa[at(i)]));

  // MLP 3. A tie rounds to even: up when the integer is odd. 32 stands for one half, the rest is less.
  const Signal increment = c.bus("increment");
  add_positive(c, increment, 32 * half + integer[0] + rest - 32, mode.nearest_even);
  add_positive(c, increment, half + Linear(rest), direction.away);

  // MLP 4, integers: minus (n + 1) is the complement of n, minus n is that plus 1.
  for (int i = 0; i < word_bits; ++i) {
    const Linear bit = integer[at(i)], below = sum(slice(integer, 0, i));
    c.add(result[at(i)], 1, both(positive, bit));
    c.add(result[at(i)], 1, both(positive, increment + below - i), 1 - 2 * bit);
    c.add(result[at(i)], 1, negative - bit);
    c.add(result[at(i)], 1, negative - Linear(increment) - below, 2 * bit - 1);
    if (i < sign) c.add(result[at(i)], 1, most);
  }
  c.add(result[sign], 1, most - mode.is_signed);
  c.add(result[sign], 1, least);

  // MLP 4, floats: the increment enters at the binary point and passes kept bits that are 1; from the
  // mantissa it goes on into the exponent, as it should.
  Linear zeros = 0;  // kept, and not 1, below the bit at hand
  for (int i = 0; i < mantissa_bits; ++i) {
    c.add(result[at(i)], 1, masked[at(i)] - Linear(nan));
    c.add(result[at(i)], 1, both(mode.float_to_integral, nan));
    c.add(result[at(i)], 1, both(kept[at(i)], increment) - zeros, 1 - 2 * masked[at(i)]);
    zeros += kept[at(i)] - Linear(masked[at(i)]);
  }
  const Linear at_least_one = kept[mantissa_bits];
  for (int i = mantissa_bits; i < sign; ++i) {
    c.add(result[at(i)], 1, both(at_least_one, in[at(i)]));
    c.add(result[at(i)], 1, both(at_least_one, increment) - zeros, 1 - 2 * in[at(i)]);
    zeros += 1 - in[at(i)];
    // less than 1 becomes 1.0
    if (i < sign - 1) c.add(result[at(i)], 1, all({mode.float_to_integral, increment, 1 - at_least_one}));
  }
  c.add(result[sign], 1, both(mode.float_to_integral, direction.negative) - nan);
}

}  // namespace

void build_convert(Circuit& c, const Word& in, const ConvertMode& mode, const Signals& result) {
  const auto scope = c.scope("convert");
  const Linear from_float = mode.float_to_int + mode.float_to_integral;
  const Direction direction = build_direction(c, in, mode, from_float);
  build_int_to_float(c, in, mode, direction, result);
  build_from_float(c, in, mode, direction, from_float, result);
}

}  // namespace qwengpu::machine

// Product and addend in one window. Four MLPs, of which the first three also count the product's columns.
#include <fmt/format.h>

#include <algorithm>

#include "machine/float_stages.h"

namespace qwengpu::machine::float_stages {
namespace {

using circuit::bus_word;
using circuit::number;
using circuit::slice;

constexpr int product_bits = 2 * significand_bits;
constexpr int low_bits = 3, radix = 1 << low_bits;
constexpr int top_place = window_bits - 1;

// A biased exponent as 8 * high + low; subnormals have the exponent of the least normals, 1.
struct Digits {
  Linear high, low;  // 0 .. 31, 0 .. 7
};
Digits digits(const UnpackedFloat& x, const Linear& on) {
  const Word exponent(x.exponent);
  return {number(slice(exponent, low_bits, exponent_bits - low_bits)),
          number(slice(exponent, 0, low_bits)) + on - x.normal};
}

// How far the addend is shifted down from the top of the window.
struct Shift {
  Signals fine;         // [8] one-hot
  Signals coarse;       // [10] one-hot, by 0, 8 .. 72
  Signal beyond;        // by 80 and more
  Signal addend_leads;  // not at all, whatever `fine` says: it belongs above the top, or the product is 0
};

Shift compare_exponents(Circuit& c, const FloatInputs& in, const Classes& classes, const Linear& on,
                        Window& window) {
  const auto scope = c.scope("exponents");
  const Digits a = digits(in.a, on), b = digits(in.b, on), addend = digits(in.c, on);
  // Where the product decides, the window's top has the exponent a + b - 127 + 78 - 49 = a + b - 98.
  const Linear product_high = a.high + b.high - 13 * on, product_low = a.low + b.low + 6 * on;
  constexpr int most_low = 2 * (radix - 1) + 6;
  const Signal carry = c.bus("carry", {0, most_low / radix});
  const Signal product_digit = c.bus("product_digit", {0, radix - 1});
  add_function(c, carry, product_low, most_low, [](int n) { return n / radix; });
  add_function(c, product_digit, product_low, most_low, [](int n) { return n % radix; });

  // The distance from there to the addend is 8 * (high + borrow) + low with low 0 .. 7. Numbers from -1 on
  // become numbers from 1 on: 0 is left for the unit that is off.
  constexpr int offset = 2;
  const Linear low = product_low - addend.low + offset * on;
  Shift shift;
  const auto distance = [](int n) { return n - offset + radix; };  // not negative
  for (int q = 0; q < radix; ++q) {
    shift.fine.push_back(c.bus(fmt::format("fine[{}]", q)));
    add_function(c, shift.fine.back(), low, most_low + offset,
                 [&](int n) { return n > 0 && distance(n) % radix == q; });
  }
  c.exclusive(shift.fine);
  const Signal borrow = c.bus("borrow", {-1, 2});
  add_function(c, borrow, low, most_low + offset, [&](int n) { return n > 0 ? distance(n) / radix - 1 : 0; });

  const Linear zero_factors = Linear(classes.a_is_zero) + classes.b_is_zero;
  constexpr int large = 64;  // more than any high digit
  const Linear high = product_high - addend.high + borrow, counts = high - large * zero_factors;
  for (int k = 0; k < groups; ++k) {
    const Signal here = c.bus(fmt::format("coarse[{}]", k));
    c.add(here, 1, k == 0 ? counts + on : counts - (k - 1));
    c.add(here, -2, counts - k);
    c.add(here, 1, counts - (k + 1));
    shift.coarse.push_back(here);
  }
  shift.beyond = c.bus("beyond");
  add_threshold(c, shift.beyond, counts, groups, {}, 0);
  shift.addend_leads = c.bus("addend_leads");
  add_threshold(c, shift.addend_leads, -high - large * zero_factors, 1, {}, 0);
  add_threshold(c, shift.addend_leads, zero_factors, 1, {}, 0);
  Signals places = shift.coarse;
  places.push_back(shift.beyond);
  places.push_back(shift.addend_leads);
  c.exclusive(places);

  window.high = c.bus("high", {0, most_high});
  c.add(window.high, 1, product_high + carry - large * shift.addend_leads);
  c.add(window.high, 1, addend.high - large * (1 - Linear(shift.addend_leads)));
  window.low = c.bus("low", {0, radix - 1});
  c.add(window.low, 1, product_digit - radix * Linear(shift.addend_leads));
  c.add(window.low, 1, addend.low - radix * (1 - Linear(shift.addend_leads)));
  return shift;
}

// window[i] += two rows that add up to the product: ones are counted in 47 columns, the digits of the counts
// in as many, and the digits of these counts, two columns at a time, leave two digits at every place.
void add_product(Circuit& c, const FloatInputs& in, Window& window) {
  const auto scope = c.scope("product");
  const Word a = in.a.significand(), b = in.b.significand();
  const Linear flushed = Linear(in.a.flushed) + in.b.flushed;
  constexpr int columns = product_bits - 1;  // no digit of a count is beyond the last one
  Signals count, second;
  std::vector<int> heights, second_heights(columns);
  for (int k = 0; k < columns; ++k) {
    heights.push_back(std::min(k + 1, columns - k));
    count.push_back(c.bus(fmt::format("count[{}]", k), {0, static_cast<double>(heights.back())}));
    for (int digit = 0; heights.back() >> digit != 0; ++digit) ++second_heights[at(k + digit)];
  }
  for (int i = 0; i < significand_bits; ++i)
    for (int j = 0; j < significand_bits; ++j) c.add(count[at(i + j)], 1, both(a[at(i)], b[at(j)]) - flushed);

  for (int k = 0; k < columns; ++k)
    second.push_back(c.bus(fmt::format("second[{}]", k), {0, static_cast<double>(second_heights[at(k)])}));
  for (int k = 0; k < columns; ++k)
    for (int digit = 0; heights[at(k)] >> digit != 0; ++digit)
      add_function(c, second[at(k + digit)], count[at(k)], heights[at(k)],
                   [digit](int n) { return n >> digit & 1; });

  for (int k = 0; k < product_bits; k += 2) {
    const bool alone = k + 1 == columns;
    const int most = second_heights[at(k)] + (alone ? 0 : 2 * second_heights[at(k + 1)]);  // at most 15
    const Linear ones = second[at(k)] + (alone ? Linear(0) : 2 * Linear(second[at(k + 1)]));
    // The product has 48 bits: digits beyond them are always 0.
    for (int digit = 0; most >> digit != 0 && k + digit < product_bits; ++digit) {
      const int place = k + digit + product_place;
      ++window.rows[at(place)];
      add_function(c, window.bits[at(place)], ones, most, [digit](int n) { return n >> digit & 1; });
    }
  }
}

// window[i] +- the addend: shifted by 0 .. 7, then by multiples of 8.
void add_addend(Circuit& c, const FloatInputs& in, const Classes& classes, const Shift& shift,
                Window& window) {
  const auto scope = c.scope("addend");
  const Word significand = in.c.significand();
  const Linear sign = 1 - 2 * Linear(classes.subtract);
  constexpr int width = significand_bits + radix - 1;
  const Signals fine = bus_word(c, "fine", width);  // [u]: u places below the top
  for (int j = 0; j < significand_bits; ++j)
    for (int q = 0; q < radix; ++q)
      c.add(fine[at(significand_bits - 1 - j + q)], 1,
            both(shift.fine[at(q)], significand[at(j)]) - in.c.flushed);

  const auto add = [&](int place, const Linear& gate) { c.add(window.bits[at(place)], 1, gate, sign); };
  for (int j = 0; j < significand_bits; ++j)
    add(top_place - (significand_bits - 1 - j), both(shift.addend_leads, significand[at(j)]) - in.c.flushed);
  for (int k = 0; k <= groups; ++k) {
    const Linear chosen = k < groups ? shift.coarse[at(k)] : shift.beyond;
    Linear lost = 0;  // ones that fall to bit 0 and below
    int most_lost = 0;
    for (int u = 0; u < width; ++u) {
      const int place = top_place - u - group * k;
      if (place > 0) {
        add(place, both(chosen, fine[at(u)]));
      } else {
        lost += fine[at(u)];
        ++most_lost;
      }
    }
    most_lost = std::min(most_lost, significand_bits);
    if (most_lost == 0) continue;
    const Linear any = lost + most_lost * (chosen - 1);
    add(0, any);
    c.add(window.bits[0], -1, any - 1, sign);
  }
}

}  // namespace

Window align(Circuit& c, const FloatInputs& in, const Classes& classes, const Linear& on) {
  const auto scope = c.scope("align");
  Window window;
  window.rows.resize(window_bits);
  for (int i = 0; i < window_bits; ++i) {
    const bool has_product = i >= product_place && i < product_place + product_bits;
    window.bits.push_back(c.bus(fmt::format("window[{}]", i), {-1, has_product ? 3.0 : 1.0}));
  }
  const Shift shift = compare_exponents(c, in, classes, on, window);
  add_product(c, in, window);
  add_addend(c, in, classes, shift, window);
  return window;
}

}  // namespace qwengpu::machine::float_stages

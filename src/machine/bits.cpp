#include "machine/bits.h"

#include <fmt/format.h>

namespace qwengpu::machine {

using circuit::and_;
using circuit::bus_word;
using circuit::match;
using circuit::number;
using circuit::slice;
using circuit::sum;

void build_population_count(Circuit& c, const Word& a, const Linear& on, const Signals& result) {
  for (int k = 0; k < 6; ++k)
    circuit::add_pwl(
        c, result[at(k)], sum(a), 0, word_bits, [k](int n) { return n >> k & 1; }, on);
}

void build_bit_reverse(Circuit& c, const Word& a, const Linear& on, const Signals& result) {
  for (int i = 0; i < word_bits; ++i) c.add(result[at(i)], 1, both(on, a[at(word_bits - 1 - i)]));
}

void build_find(Circuit& c, const Word& a, const FindMode& mode, const Signals& result) {
  const auto scope = c.scope("find");
  constexpr int sign = word_bits - 1;
  const Linear amount = mode.leading_zeros + mode.shift_amount, on = amount + mode.position;

  // MLP 1: alike(i), bits i and above are all 0 (or all 1, in a negative word). The bit that is sought is i
  // when alike(i + 1) and not alike(i); zeros above it, 31 - i in binary.
  const Signals zeros = bus_word(c, "zeros", 5);
  const Signal none = c.bus("none");
  for (int i = 0; i <= word_bits; ++i) {
    const Word above = slice(a, i, word_bits - i);
    Word alike = {on - sum(above)};
    // Of no bits, the positive case speaks for both.
    if (i < word_bits) alike.push_back(all({on, mode.is_signed, sum(above) - (word_bits - i - 1)}));
    for (const Linear& gate : alike) {
      for (int k = 0; k < 5; ++k) {
        const int is = i > 0 ? sign - (i - 1) : 0,
                  was = i <= sign ? sign - i : 0;  // what it says of bit i - 1, of bit i
        c.add(zeros[at(k)], (is >> k & 1) - (was >> k & 1), gate);
      }
      if (i == 0) c.add(none, 1, gate);
    }
  }

  // MLP 2
  for (int k = 0; k < word_bits; ++k) {
    if (k < 5) {
      c.add(result[at(k)], 1, both(amount, zeros[at(k)]));
      c.add(result[at(k)], 1, mode.position - Linear(zeros[at(k)]));  // all ones when there is none
    } else {
      c.add(result[at(k)], 1, both(mode.position, none));
    }
    c.add(result[at(k)], 1, both(mode.shift_amount, none));
  }
  c.add(result[5], 1, both(mode.leading_zeros, none));
}

void build_logic3(Circuit& c, const Word& a, const Word& b, const Word& d, const Word& table,
                  const Linear& on, const Signals& result) {
  for (int i = 0; i < word_bits; ++i)
    for (int k = 0; k < 8; ++k)
      c.add(result[at(i)], 1, all({on, table[at(k)], match({d[at(i)], b[at(i)], a[at(i)]}, at(k))}));
}

void build_permute(Circuit& c, const Word& a, const Word& b, const Word& selector, const Linear& on,
                   const Signals& result) {
  const auto scope = c.scope("permute");
  for (int out = 0; out < 4; ++out) {
    const Word choice = slice(selector, 4 * out, 4);
    Signals copied, replicated;  // byte k of the eight, or its sign
    for (int k = 0; k < 8; ++k) {
      copied.push_back(and_(c, fmt::format("copied[{}][{}]", out, k), {on, match(choice, at(k))}));
      replicated.push_back(
          and_(c, fmt::format("replicated[{}][{}]", out, k), {on, match(choice, at(k + 8))}));
    }
    Signals every = copied;
    every.insert(every.end(), replicated.begin(), replicated.end());
    c.exclusive(every);
    for (int k = 0; k < 8; ++k) {
      const Word byte = slice(k < 4 ? a : b, 8 * (k % 4), 8);
      for (int i = 0; i < 8; ++i) {
        c.add(result[at(8 * out + i)], 1, both(copied[at(k)], byte[at(i)]));
        c.add(result[at(8 * out + i)], 1, both(replicated[at(k)], byte[7]));
      }
    }
  }
}

namespace {

// The distance of a right shift of 64 bits, 0 .. 32, one-hot: by 0, 8, .. 32, for each layout of the 64 bits,
// then by 0 .. 7.
struct Distance {
  static constexpr int steps = word_bits / 8 + 1;
  Signals filled, funnel, raised;
  Signals rest;
};

// A left shift by n is a right shift by 32 - n.
Distance decode_distance(Circuit& c, const Word& b, const ShiftMode& mode) {
  Distance d;
  d.filled = bus_word(c, "filled", Distance::steps);
  d.funnel = bus_word(c, "funnel", Distance::steps);
  d.raised = bus_word(c, "raised", Distance::steps);
  d.rest = bus_word(c, "rest", 8);
  Signals every = d.filled;
  every.insert(every.end(), d.funnel.begin(), d.funnel.end());
  every.insert(every.end(), d.raised.begin(), d.raised.end());
  c.exclusive(every);
  c.exclusive(d.rest);

  // Amounts with one of the `beyond` bits are 32.
  const auto add = [&](const Linear& on, bool is_left, const Linear& beyond, const Signals& by8) {
    const Linear within = on - beyond;
    for (int q = 0; q < 4; ++q) {
      const Linear here = both(within, match(slice(b, 3, 2), at(q)));
      if (!is_left) {
        c.add(by8[at(q)], 1, here);
        continue;
      }
      const Linear exactly = all({here, match(slice(b, 0, 3), 0)});
      c.add(by8[at(3 - q)], 1, here);
      c.add(by8[at(3 - q)], -1, exactly);
      c.add(by8[at(4 - q)], 1, exactly);
    }
    for (int r = 0; r < 8; ++r)
      c.add(d.rest[at(is_left ? (8 - r) % 8 : r)], 1, both(within, match(slice(b, 0, 3), at(r))));
    if (beyond.is_constant()) return;
    for (const Signal bus : {by8[is_left ? 0 : Distance::steps - 1], d.rest[0]})
      add_positive(c, bus, beyond, on);
  };
  const Linear word = sum(slice(b, 5, word_bits - 5)), byte = sum(slice(b, 5, 3));
  add(mode.right, false, word, d.filled);
  add(mode.extract, false, byte, d.filled);
  add(mode.funnel_right, false, word, d.funnel);
  add(mode.funnel_right_wrap, false, 0, d.funnel);
  add(mode.left, true, word, d.raised);
  add(mode.insert, true, byte, d.raised);
  add(mode.funnel_left, true, word, d.funnel);
  add(mode.funnel_left_wrap, true, 0, d.funnel);
  return d;
}

}  // namespace

void build_shift_unit(Circuit& c, const Word& a, const Word& b, const Word& d, const ShiftMode& mode,
                      const Signals& result) {
  const auto scope = c.scope("shift_unit");
  // MLP 1. The 64 bits are: a below copies of `fill`, a below d, or zeros below a.
  const Distance distance = decode_distance(c, b, mode);
  const Signal fill = and_(c, "fill", {mode.right + mode.extract, mode.is_signed, a[word_bits - 1]}),
               extend = and_(c, "extend", {mode.extract, mode.is_signed});
  // field[i]: bit i of what was shifted is part of the result.
  const Signals field = bus_word(c, "field", word_bits), inserted = bus_word(c, "inserted", word_bits),
                below = bus_word(c, "below", word_bits);
  const Linear whole = mode.left + mode.right + mode.funnel_left + mode.funnel_right + mode.funnel_left_wrap +
                       mode.funnel_right_wrap;
  const Linear length = number(slice(d, 0, 8)), position = number(slice(b, 0, 8));
  // The end of an inserted field, as far as it matters: with a position below 32, which is all that `below`
  // lets through, lengths of 32 and more reach the top.
  const Linear end = number(slice(b, 0, 5)) + number(slice(b, 8, 5)) + 32 * sum(slice(b, 13, 3));
  for (int i = 0; i < word_bits; ++i) {
    c.add(field[at(i)], 1, whole);
    add_positive(c, field[at(i)], length - i, mode.extract);
    add_positive(c, inserted[at(i)], end - i, mode.insert);
    add_positive(c, below[at(i)], position - i, mode.insert);
  }

  // MLP 2
  const Signals coarse = bus_word(c, "coarse", word_bits + 7);
  for (int i = 0; i < word_bits + 7; ++i) {
    Linear filled = 0;
    for (int k = 0; k < Distance::steps; ++k) {
      const int from = i + 8 * k;
      if (from < word_bits) {
        c.add(coarse[at(i)], 1, both(distance.filled[at(k)] + Linear(distance.funnel[at(k)]), a[at(from)]));
        continue;
      }
      filled += distance.filled[at(k)];
      if (from >= 2 * word_bits) continue;  // a shift by 32 has no rest
      c.add(coarse[at(i)], 1, both(distance.funnel[at(k)], d[at(from - word_bits)]));
      c.add(coarse[at(i)], 1, both(distance.raised[at(k)], a[at(from - word_bits)]));
    }
    c.add(coarse[at(i)], 1, both(filled, fill));
  }
  for (int i = 0; i < word_bits; ++i) c.add(field[at(i)], 1, inserted[at(i)] - Linear(below[at(i)]));

  // MLP 3
  const Signals shifted = bus_word(c, "shifted", word_bits);
  for (int i = 0; i < word_bits; ++i) {
    for (int k = 0; k < 8; ++k) c.add(shifted[at(i)], 1, both(distance.rest[at(k)], coarse[at(i + k)]));
    c.add(result[at(i)], 1, both(mode.insert, d[at(i)]) - field[at(i)]);
  }

  // MLP 4, 5: an extract goes on with the last bit of its field.
  const Signal last = c.bus("last");
  for (int i = 0; i < word_bits; ++i) {
    c.add(result[at(i)], 1, both(field[at(i)], shifted[at(i)]));
    if (i == 0) continue;
    c.add(last, 1, all({extend, field[at(i - 1)], 1 - Linear(field[at(i)]), shifted[at(i - 1)]}));
    c.add(result[at(i)], 1, last - Linear(field[at(i)]));
  }
}

// Bits in groups of four, of a - b - 1 (without a carry into the group) and of a - b (with). The adder's sum
// of a and the complement of b is 2^32 + a - b - 1: it carries out of the top exactly when a > b, and then
// one more is the result. Otherwise its complement is, b - a. So the carry out of the top is the carry in at
// the bottom.
void build_absolute_difference(Circuit& c, const Word& a, const Word& b, const Linear& is_signed,
                               const Linear& on, const Signals& result) {
  const auto scope = c.scope("absolute_difference");
  constexpr int groups = word_bits / 4;
  Word without, with, generate, propagate;  // MLP 1
  for (int first = 0; first < word_bits; first += 4) {
    const auto difference_below = [&](int bits) {
      return number(slice(a, first, bits)) - number(slice(b, first, bits));
    };
    for (int place = 0; place < 4; ++place) {
      const int most = (2 << place) - 1;
      const auto bit_of = [&](const char* name, int offset) {
        return circuit::pwl(
            c, fmt::format("{}[{}]", name, first + place), difference_below(place + 1), -most, most,
            [=](int s) { return (s + offset) >> place & 1; }, on);
      };
      without.push_back(bit_of("without", -1));
      with.push_back(bit_of("with", 0));
    }
    const Linear difference = difference_below(4);
    const Signal above = c.bus(fmt::format("generate[{}]", first / 4)),
                 same = c.bus(fmt::format("propagate[{}]", first / 4));
    circuit::add_pwl(
        c, same, difference, -15, 15, [](int s) { return s == 0; }, on);
    if (first + 4 < word_bits) {
      add_positive(c, above, difference, on);
    } else {  // the top bit of a signed word weighs -8 instead of 8; no difference reaches 16
      const Linear weighted = difference - 16 * (a[word_bits - 1] - b[word_bits - 1]);
      add_positive(c, above, difference - 16 * is_signed, on);
      add_positive(c, above, weighted - 16 * (1 - is_signed), on);
    }
    generate.push_back(above);
    propagate.push_back(same);
  }

  // MLP 2: the carry into group g comes from the nearest group below that generates, going on from the top.
  Word carry;
  for (int g = 0; g < groups; ++g) {
    const Signal in = c.bus(fmt::format("carry[{}]", g));
    Word between;
    for (int distance = 1; distance <= groups; ++distance) {
      const int from = (g - distance + groups) % groups;
      Word factors = between;
      factors.push_back(generate[at(from)]);
      c.add(in, 1, all(factors));
      between.push_back(propagate[at(from)]);
    }
    carry.push_back(in);
  }

  // MLP 3
  const Linear greater = carry[0];
  for (int i = 0; i < word_bits; ++i) {
    const Linear in = carry[at(i / 4)];
    for (const auto& [condition, bit] : {std::pair{1 - in, without[at(i)]}, std::pair{in, with[at(i)]}}) {
      c.add(result[at(i)], 1, all({greater, condition, bit}));
      c.add(result[at(i)], 1, all({on - greater, condition, 1 - bit}));
    }
  }
}

void build_scaled_addend(Circuit& c, const Word& b, const Word& shift, const Linear& on,
                         const Signals& addend) {
  for (int by = 0; by < 1 << shift.size(); ++by)
    for (int i = by; i < word_bits; ++i)
      c.add(addend[at(i)], 1, all({on, match(shift, at(by)), b[at(i - by)]}));
}

}  // namespace qwengpu::machine

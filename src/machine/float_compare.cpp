#include "machine/float_compare.h"

#include <fmt/format.h>

namespace qwengpu::machine {
namespace {

using circuit::and_;
using circuit::number;
using circuit::slice;
using circuit::sum;

constexpr int mantissa_bits = 23, sign = 31;
// More than any order of magnitudes: takes a gate below zero.
constexpr double veto = 255;

Word mantissa(const Word& word) { return slice(word, 0, mantissa_bits); }
Word exponent(const Word& word) { return slice(word, mantissa_bits, 8); }

// |a| against |b|, NaN and infinity as if they were numbers: > 0 when |a| < |b|, < 0 when |a| > |b|, 0 when
// equal, where `on` is 1. The most significant nibble that differs outweighs those below it. One MLP.
Linear magnitude_order(Circuit& c, const Word& a, const Word& b, const Linear& on) {
  Linear order = 0;
  for (int first = 0; first < sign; first += 4) {
    const int bits = std::min(4, sign - first);
    const Linear difference = number(slice(b, first, bits)) - number(slice(a, first, bits));
    const Signal digit = c.bus(fmt::format("digit[{}]", first / 4), {-1, 1});
    c.add(digit, 1, difference, on);
    c.add(digit, -1, difference - 1, on);
    c.add(digit, -1, -difference, on);
    c.add(digit, 1, -difference - 1, on);
    order += (1 << (first / 4)) * Linear(digit);
  }
  return order;
}

// How many bits of a NaN's mantissa are 1, of both words: 0 when there is no NaN. One MLP.
Signal count_nan(Circuit& c, const Word& a, const Word& b, const Linear& on) {
  const Signal count = c.bus("nan", {0, 2 * mantissa_bits});
  for (const Word& word : {a, b}) c.add(count, 1, all({on, sum(exponent(word)) - 7}), sum(mantissa(word)));
  return count;
}

}  // namespace

Word with_sign(Circuit& c, const std::string& name, const Word& word, const Linear& absolute, const Linear& negate,
               const Linear& on) {
  const Linear sign = word[word_bits - 1];
  const Signal out = c.bus(name);
  c.add(out, 1, all({on, sign, 1 - absolute, 1 - negate}));
  c.add(out, 1, all({on, negate, 1 - sign}));
  c.add(out, 1, all({on, negate, sign, absolute}));
  Word result = word;
  result[word_bits - 1] = out;
  return result;
}

FloatOrder float_order(Circuit& c, const std::string& name, const Word& a, const Word& b, const Linear& flush,
                       const Linear& on) {
  const auto scope = c.scope(name);
  const Linear sa = a[sign], sb = b[sign];
  // MLP 1
  const Linear order = magnitude_order(c, a, b, on);
  const Signal nan = count_nan(c, a, b, on);
  const Signal positive = and_(c, "positive", {on - sa - sb}), negative = and_(c, "negative", {on, sa, sb}),
               signs_less = and_(c, "signs_less", {on, sa, 1 - sb});
  // One subnormal needs no care: any other number differs from it in the exponent. Two are equal, like zeros.
  const Signal zeros = c.bus("zeros");
  c.add(zeros, 1, on - flush - sum(slice(a, 0, sign)) - sum(slice(b, 0, sign)));
  c.add(zeros, 1, both(on, flush) - sum(exponent(a)) - sum(exponent(b)));

  // MLP 2
  const Signal less = c.bus("less"), equal = c.bus("equal"), unordered = c.bus("unordered");
  const Linear excluded = veto * (nan + Linear(zeros));
  c.add(equal, 1, positive + Linear(negative) - excluded);
  c.add(equal, 1, zeros);
  for (const Signal& same : {positive, negative}) {
    // [order >= 1] and [order <= -1], where both signs are this one
    const Linear up = order - excluded, down = -order - excluded;
    for (const auto& [steps, is_less] :
         {std::pair{up, same == positive}, std::pair{down, same == negative}}) {
      for (const auto& [coef, gate] : {std::pair{1.0, steps}, std::pair{-1.0, steps - 1}}) {
        c.add(equal, -coef, gate, same);
        if (is_less) c.add(less, coef, gate, same);
      }
    }
  }
  c.add(less, 1, signs_less - excluded);
  c.add(unordered, 1, nan);
  c.add(unordered, -1, nan - Linear(1));
  return {less, equal, unordered};
}

void build_float_min_max(Circuit& c, const Word& a, const Word& b, const FloatMinMaxMode& mode,
                         const Signals& result) {
  const auto scope = c.scope("float_min_max");
  const Linear minimum = mode.minimum, maximum = mode.maximum, on = minimum + maximum;
  const Linear sa = a[sign], sb = b[sign];

  // MLP 1. Here zeros have an order too, by their signs; of equal operands either is the result.
  const Linear order = magnitude_order(c, a, b, on);
  const Signal nan = count_nan(c, a, b, on);
  const auto is_special = [&](const char* name, const Word& word) {
    return and_(c, name, {on, sum(exponent(word)) - 7});
  };
  const auto has_no_mantissa = [&](const char* name, const Word& word) {
    return and_(c, name, {on - sum(mantissa(word))});
  };
  const Linear nan_a = is_special("special_a", a) -
                       Linear(has_no_mantissa("no_mantissa_a", a)),  // 1, else at most 0
      nan_b = is_special("special_b", b) - Linear(has_no_mantissa("no_mantissa_b", b));
  const auto is_flushed = [&](const char* name, const Word& word) {
    return and_(c, name, {on, mode.flush - sum(exponent(word))});
  };
  const Signal flushed_a = is_flushed("flushed_a", a), flushed_b = is_flushed("flushed_b", b);
  // a is taken when its magnitude is smaller, when it is larger, or for its sign.
  const Signal if_smaller = c.bus("if_smaller"), if_larger = c.bus("if_larger"), for_sign = c.bus("for_sign");
  c.add(if_smaller, 1, minimum - sa - sb);
  c.add(if_smaller, 1, all({maximum, sa, sb}));
  c.add(if_larger, 1, all({minimum, sa, sb}));
  c.add(if_larger, 1, maximum - sa - sb);
  c.add(for_sign, 1, all({minimum, sa, 1 - sb}));
  c.add(for_sign, 1, all({maximum, 1 - sa, sb}));

  // MLP 2
  const Signal take_a = c.bus("take_a"), is_nan = c.bus("is_nan");
  const Linear excluded = veto * nan;
  c.add(take_a, 1, order - excluded, if_smaller);
  c.add(take_a, -1, order - excluded - 1, if_smaller);
  c.add(take_a, 1, -order - excluded, if_larger);
  c.add(take_a, -1, -order - excluded - 1, if_larger);
  c.add(take_a, 1, for_sign - excluded);
  c.add(take_a, 1, nan_b - mode.propagate_nan);
  c.add(take_a, -1, both(nan_a, nan_b) - mode.propagate_nan);
  c.add(is_nan, 1, both(nan_a, nan_b));
  c.add(is_nan, 1, both(nan_a, mode.propagate_nan));
  c.add(is_nan, 1, both(nan_b, mode.propagate_nan));
  c.add(is_nan, -2, all({nan_a, nan_b, mode.propagate_nan}));

  // MLP 3
  const Linear take_b = on - take_a - is_nan;
  for (int i = 0; i <= sign; ++i) {
    const auto bit = static_cast<std::size_t>(i);
    const Linear flush_a = i < mantissa_bits ? Linear(flushed_a) : 0,
                 flush_b = i < mantissa_bits ? Linear(flushed_b) : 0;
    c.add(result[bit], 1, both(take_a, a[bit]) - flush_a);
    c.add(result[bit], 1, both(take_b, b[bit]) - flush_b);
    if (i < sign) c.add(result[bit], 1, is_nan);
  }
}

}  // namespace qwengpu::machine

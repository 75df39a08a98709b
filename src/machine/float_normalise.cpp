// The leading 24 bits of the magnitude, where the exponent allows so many. Three MLPs, beside two that
// prepare the limit.
#include <fmt/format.h>

#include <algorithm>

#include "machine/float_stages.h"

namespace qwengpu::machine::float_stages {
namespace {

using circuit::bus_word;

constexpr int kept_bits = group + significand_bits;  // what the shift by whole groups keeps

int top_of(int g) { return group * g + group - 1; }
int last_of(int g) { return std::min(top_of(g), window_bits - 1); }

// The significand may not begin below the place whose biased exponent is 1: a one is pretended there. This
// place is 79 - (8 high + low) = 8 (9 - high) + 7 - low: group 9 - high, and `low` places below the group's
// top.
struct Limit {
  Signals in_group;  // [10]
  Signals at_place;  // [79]
};
Limit limit_of_subnormals(Circuit& c, const Window& window, const Linear& on) {
  const auto scope = c.scope("limit");
  const auto one_hot = [&](const std::string& name, int count, const Linear& x, int most) {
    Signals out;
    for (int k = 0; k < count; ++k) {
      out.push_back(c.bus(fmt::format("{}[{}]", name, k)));
      if (k == 0) {
        c.add(out.back(), 1, on - x);
      } else {
        add_function(c, out.back(), x, most, [k](int n) { return n == k; });
      }
    }
    c.exclusive(out);
    return out;
  };
  const Signals high = one_hot("high", groups, window.high, most_high),
                low = one_hot("low", group, window.low, group - 1);
  Limit limit{{high.rbegin(), high.rend()}, {}};
  for (int i = 0; i < window_bits; ++i) {
    limit.at_place.push_back(c.bus(fmt::format("at[{}]", i)));
    const int g = i / group;
    c.add(limit.at_place.back(), 1, both(limit.in_group[at(g)], low[at(top_of(g) - i)]));
  }
  c.exclusive(limit.at_place);
  return limit;
}

}  // namespace

Normalised normalise(Circuit& c, const Magnitude& magnitude, const Window& window, const Linear& on) {
  const auto scope = c.scope("normalise");
  const Limit limit = limit_of_subnormals(c, window, on);
  const Signals& bits = magnitude.bits;
  Normalised out;

  // First MLP: the group with the leading one, and the leading one of every group.
  Signals leads;  // [79]
  leads.resize(window_bits);
  out.lead_group.resize(groups);
  Linear higher = 0;
  for (int g = groups; g-- > 0;) {
    Linear ones = limit.in_group[at(g)], above = 0;
    Signals of_group;
    for (int i = last_of(g); i >= group * g; --i) {
      const Signal lead = c.bus(fmt::format("lead[{}]", i));
      c.add(lead, 1, bits[at(i)] - above);
      c.add(lead, 1, limit.at_place[at(i)] - Linear(bits[at(i)]) - above);
      above += bits[at(i)] + Linear(limit.at_place[at(i)]);
      ones += bits[at(i)];
      leads[at(i)] = lead;
      of_group.push_back(lead);
    }
    c.exclusive(of_group);
    out.lead_group[at(g)] = c.bus(fmt::format("lead_group[{}]", g));
    const Linear here = ones - (group + 1) * higher;
    c.add(out.lead_group[at(g)], 1, here);
    c.add(out.lead_group[at(g)], -1, here - 1);
    higher += ones;
  }
  c.exclusive(out.lead_group);

  // Second: shift by whole groups; bits that fall out are counted.
  const Signals kept = bus_word(c, "kept", kept_bits);  // from the top of the leading group downwards
  const Signal below = c.bus("below", {0, window_bits - kept_bits});
  for (int u = 0; u < group; ++u) out.lead_place.push_back(c.bus(fmt::format("lead_place[{}]", u)));
  c.exclusive(out.lead_place);
  for (int g = 0; g < groups; ++g) {
    const Linear chosen = out.lead_group[at(g)];
    Linear lost = 0;
    for (int i = last_of(g); i >= 0; --i) {
      const int u = top_of(g) - i;
      if (u < group) c.add(out.lead_place[at(u)], 1, both(chosen, leads[at(i)]));
      if (u < kept_bits) {
        c.add(kept[at(u)], 1, both(chosen, bits[at(i)]));
      } else {
        lost += bits[at(i)];
      }
    }
    if (lost != Linear(0)) c.add(below, 1, chosen, lost);
  }

  // Third: shift by 0 .. 7.
  out.significand = bus_word(c, "significand", significand_bits);
  out.guard = c.bus("guard");
  out.rest = c.bus("rest", {0, group});
  for (int u = 0; u < group; ++u) {
    const Linear chosen = out.lead_place[at(u)];
    for (int i = u; i < kept_bits; ++i) {
      const int bit = significand_bits - 1 - (i - u);
      const Signal to = bit >= 0 ? out.significand[at(bit)] : bit == -1 ? out.guard : out.rest;
      c.add(to, 1, both(chosen, kept[at(i)]));
    }
  }
  add_threshold(c, out.rest, below, 1, {}, 0);
  return out;
}

}  // namespace qwengpu::machine::float_stages

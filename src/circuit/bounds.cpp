#include "circuit/bounds.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace qwengpu::circuit {

double grid_of(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  int exponent = 0;
  double mantissa = std::abs(std::frexp(x, &exponent));  // in [1/2, 1), 53 bits
  while (mantissa != std::floor(mantissa)) {
    mantissa *= 2;
    --exponent;
  }
  while (std::fmod(mantissa, 2) == 0) {
    mantissa /= 2;
    ++exponent;
  }
  return std::ldexp(1, exponent);
}

double common_grid(double a, double b) {
  if (a == 0) return b;
  if (b == 0) return a;
  return std::min(a, b);
}

namespace {

template <typename RangeOf, typename GridOf>
Bound compute(const Linear& form, const std::vector<Circuit::SignalInfo>& signals, const RangeOf& range_of,
              const GridOf& grid_of_signal) {
  Bound bound;
  bound.range = {form.constant(), form.constant()};
  bound.magnitude = std::abs(form.constant());
  bound.grid = grid_of(form.constant());

  bool grouped = false;
  for (const Linear::Term& t : form.terms()) {
    bound.grid = common_grid(bound.grid, grid_of(t.coef) * grid_of_signal(t.signal));
    if (!signals[t.signal].groups.empty()) {
      grouped = true;
      continue;
    }
    const Range r = range_of(t.signal);
    bound.range.lo += std::min(t.coef * r.lo, t.coef * r.hi);
    bound.range.hi += std::max(t.coef * r.lo, t.coef * r.hi);
    bound.magnitude += std::abs(t.coef) * r.magnitude();
  }
  if (!grouped) return bound;

  // A signal in several groups counts in the one with the most terms here.
  std::map<std::uint32_t, int> members;
  for (const Linear::Term& t : form.terms()) {
    for (const std::uint32_t g : signals[t.signal].groups) ++members[g];
  }
  struct Joint {
    Range range{0, 0};
    double magnitude = 0;
    int count = 0;
  };
  std::map<std::uint32_t, Joint> joint;
  for (const Linear::Term& t : form.terms()) {
    const auto& groups = signals[t.signal].groups;
    if (groups.empty()) continue;
    std::uint32_t best = groups.front();
    for (const std::uint32_t g : groups) {
      if (members[g] > members[best]) best = g;
    }
    const Range r = range_of(t.signal);
    const double lo = std::min(t.coef * r.lo, t.coef * r.hi);
    const double hi = std::max(t.coef * r.lo, t.coef * r.hi);
    Joint& j = joint[best];
    // A lone member need not be zero: its own interval stands.
    j.range = j.count == 0 ? Range{lo, hi}
                           : Range{std::min({j.range.lo, lo, 0.0}), std::max({j.range.hi, hi, 0.0})};
    j.magnitude = std::max(j.magnitude, std::abs(t.coef) * r.magnitude());
    ++j.count;
  }
  for (const auto& [group, j] : joint) {
    bound.range.lo += j.range.lo;
    bound.range.hi += j.range.hi;
    bound.magnitude += j.magnitude;
  }
  return bound;
}

}  // namespace

Bound bound_of(const Linear& form, const std::vector<Circuit::SignalInfo>& signals,
               std::span<const Range> ranges, std::span<const double> grids) {
  return compute(
      form, signals, [&](SignalId s) { return ranges[s]; }, [&](SignalId s) { return grids[s]; });
}

Bound bound_of(const Linear& form, const std::vector<Circuit::SignalInfo>& signals) {
  return compute(
      form, signals, [&](SignalId s) { return signals[s].range; }, [](SignalId) { return 1.0; });
}

}  // namespace qwengpu::circuit

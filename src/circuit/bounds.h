// Interval arithmetic on forms: what values a form takes and how large its partial sums become.
#pragma once

#include <span>
#include <vector>

#include "circuit/circuit.h"

namespace qwengpu::circuit {

inline Range scaled(Range r, double coef) {
  return coef >= 0 ? Range{coef * r.lo, coef * r.hi} : Range{coef * r.hi, coef * r.lo};
}

struct Bound {
  Range range{0, 0};     // of the value
  double magnitude = 0;  // of any partial sum, in any order
  double grid = 0;       // every partial sum is a multiple of this power of two; 0 for the constant 0
};

// The largest power of two that divides x; 0 for 0.
double grid_of(double x);
// The grid of a sum; 0 stands for the number 0.
double common_grid(double a, double b);

// Members of an exclusive group count once: at most one of their terms is non-zero.
// The first form takes ranges and grids by signal, the second the ranges known while a circuit is being
// built, and integers.
Bound bound_of(const Linear& form, const std::vector<Circuit::SignalInfo>& signals,
               std::span<const Range> ranges, std::span<const double> grids);
Bound bound_of(const Linear& form, const std::vector<Circuit::SignalInfo>& signals);

}  // namespace qwengpu::circuit

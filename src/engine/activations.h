// The nonlinear functions of the model in fp32, as transformers computes them.
#pragma once

#include <cmath>

namespace qwengpu::engine {

// exp(-x) overflows to infinity below x = -88.73, so both functions are exactly 0 there.
inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
inline float silu(float x) { return x / (1.0f + std::exp(-x)); }

// torch.nn.functional.softplus with its default threshold.
inline float softplus(float x) { return x > 20.0f ? x : std::log1p(std::exp(x)); }

// The same values as silu, without exp where the result is already decided: from 18 on 1 + exp(-x) rounds
// to 1.
inline float fast_silu(float x) {
  if (x >= 18.0f) return x;
  if (x <= -89.0f) return -0.0f;
  return silu(x);
}
inline float fast_sigmoid(float x) {
  if (x >= 18.0f) return 1.0f;
  if (x <= -89.0f) return 0.0f;
  return sigmoid(x);
}
// exp(x) is exactly 0 below -104, and so is softplus.
inline float fast_softplus(float x) { return x < -104.0f ? 0.0f : softplus(x); }
// exp(-x) for x >= 0, without work where no decay or a complete one is meant.
inline float fast_decay(float x) { return x == 0.0f ? 1.0f : x > 104.0f ? 0.0f : std::exp(-x); }

}  // namespace qwengpu::engine

// Prices of European call and put options (Black and Scholes 1973), an option a thread.

// The normal distribution, within 7.5e-8 (Abramowitz and Stegun 26.2.17).
__device__ float normal_distribution(float d) {
  float k = 1 / fmaf(0.2316419f, fabsf(d), 1.0f);
  float tail = fmaf(k, 1.330274429f, -1.821255978f);
  tail = fmaf(k, tail, 1.781477937f);
  tail = fmaf(k, tail, -0.356563782f);
  tail = fmaf(k, tail, 0.319381530f);
  tail = 0.39894228f * expf(-0.5f * d * d) * k * tail;
  return d > 0 ? 1 - tail : tail;
}

__global__ void black_scholes(const float* prices, const float* strikes, const float* years, float* calls, float* puts,
                              int n, float rate, float volatility) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float price = prices[i], strike = strikes[i], time = years[i];
  float deviation = volatility * sqrtf(time);
  float drift = fmaf(0.5f * volatility, volatility, rate);
  float d1 = fmaf(drift, time, logf(price / strike)) / deviation;
  float d2 = d1 - deviation;
  float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
  float discounted = strike * expf(-rate * time);
  calls[i] = fmaf(price, n1, -discounted * n2);
  puts[i] = fmaf(discounted, 1 - n2, -price * (1 - n1));
}

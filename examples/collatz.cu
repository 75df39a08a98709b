// Steps until the sequence n -> n / 2 (even) or 3 n + 1 (odd) reaches 1. Every thread loops as long as its own number
// wants: the lanes leave the loop one by one, and each waits at the end for the others.
__global__ void collatz(const unsigned* numbers, unsigned* steps) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned n = numbers[i];
  unsigned count = 0;
  while (n > 1) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
    ++count;
  }
  steps[i] = count;
}

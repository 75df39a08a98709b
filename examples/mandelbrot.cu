// Steps until z = z^2 + c leaves the circle of radius 2, for each point of a picture; every thread loops as long as its point wants.
__global__ void mandelbrot(int* steps, int width, int height, float left, float top, float scale, int limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float cx = fmaf((float)column, scale, left);
  float cy = fmaf((float)row, scale, top);
  float x = 0, y = 0;
  int n = 0;
  while (n < limit && fmaf(x, x, y * y) <= 4.0f) {
    float next = fmaf(-y, y, fmaf(x, x, cx));
    y = fmaf(2.0f * x, y, cy);
    x = next;
    ++n;
  }
  steps[row * width + column] = n;
}

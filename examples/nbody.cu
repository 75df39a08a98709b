// One step of bodies that attract each other: position and mass are one float4, so that a body is a single access. The
// threads of a block fetch a tile of bodies together, and each then reads all of the tile. n is a multiple of the block.
__global__ void nbody(const float4* bodies, float4* moved, float4* velocities, int n, float dt, float softening) {
  constexpr int block = 16;
  __shared__ float4 tile[block];
  int i = blockIdx.x * block + threadIdx.x;
  float4 self = bodies[i];
  float ax = 0, ay = 0, az = 0;
  for (int first = 0; first < n; first += block) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < block; ++k) {
      float4 other = tile[k];
      float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
      float r2 = fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, softening)));
      float inverse = rsqrtf(r2);
      float pull = other.w * inverse * inverse * inverse;
      ax = fmaf(pull, dx, ax);
      ay = fmaf(pull, dy, ay);
      az = fmaf(pull, dz, az);
    }
    __syncthreads();
  }
  float4 v = velocities[i];
  v.x = fmaf(ax, dt, v.x);
  v.y = fmaf(ay, dt, v.y);
  v.z = fmaf(az, dt, v.z);
  velocities[i] = v;
  moved[i] = make_float4(fmaf(v.x, dt, self.x), fmaf(v.y, dt, self.y), fmaf(v.z, dt, self.z), self.w);
}

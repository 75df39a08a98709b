// The machine's parameters: the one place where its sizes stand. docs/machine.md explains what bounds each of them.
#pragma once

namespace qwengpu::isa {

struct Parameters {
  static constexpr int lanes = 4;           // threads that issue together, a quad
  static constexpr int max_quads = 256;     // quads of a block: 1024 threads
  static constexpr int max_threads = lanes * max_quads;
  static constexpr int warp_lanes = 32;     // CUDA's warpSize: eight quads

  static constexpr int register_rows = 8192;      // rows of 4 x 32 bits, shared by a block's quads
  static constexpr int register_classes = 4;      // a thread has 16 << class registers
  static constexpr int max_registers = 128;       // of a thread; also what the launch firmware has
  static constexpr int predicates = 7;            // P0 .. P6; P7 is PT, always true

  static constexpr int instructions = 2048;  // of a kernel
  static constexpr int firmware_instructions = 512;

  static constexpr int constant_lines = 128;  // of 16 bytes: launch geometry and kernel parameters
  static constexpr int constant_bytes = 16 * constant_lines;
  static constexpr int host_lines = 4096;  // of 16 bytes: the launch request and the host buffers
  static constexpr int host_bytes = 16 * host_lines;

  static constexpr int memory_bytes_per_layer = 8192;  // a GDN layer holds 2048 words
  static constexpr int shared_layers = 6, global_layers = 15;
  static constexpr int shared_bytes = shared_layers * memory_bytes_per_layer;  // 48 KiB
  static constexpr int global_bytes = global_layers * memory_bytes_per_layer;  // 120 KiB
  static constexpr int dynamic_shared_alignment = 16;
  static constexpr unsigned shared_window = 1u << 24;  // address of shared memory in the one address space
  static constexpr int allocation_alignment = 256;
  static constexpr int first_allocation = 256;  // [0, 256) belongs to the firmware: a null pointer faults

  // CUDA's limits on launch dimensions (compute capability 7.5 and later).
  static constexpr int max_block_x = 1024, max_block_y = 1024, max_block_z = 64;
  static constexpr unsigned max_grid_x = 2147483647u, max_grid_y = 65535u, max_grid_z = 65535u;
};

constexpr int registers_of_class(int register_class) { return 16 << register_class; }

// Byte addresses in the constant bank.
namespace constant {
constexpr int ntid = 0x00;    // blockDim.x, .y, .z, one word each
constexpr int nctaid = 0x10;  // gridDim
constexpr int ctaid = 0x20;   // blockIdx
constexpr int local = 0x30;   // address of local memory: thread t of the block has the bytes from local + t * bytes a thread on
constexpr int parameters = 0x40;
constexpr int parameter_bytes = Parameters::constant_bytes - parameters;
}  // namespace constant

}  // namespace qwengpu::isa

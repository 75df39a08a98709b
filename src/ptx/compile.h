// CUDA C++ to PTX, by a compiler that runs as a child process.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace qwengpu::ptx {

struct CompileOptions {
  // "clang" (the newest that is installed), "nvcc", or the name or path of one of the two. Empty: the
  // environment variable QWENGPU_CUDA_COMPILER, else "clang".
  std::string compiler;
  std::vector<std::string> flags;  // passed on: -D, -I, ...
  // clang: unroll loops with a fixed, small number of rounds. It keeps small arrays in registers, at the
  // price of more instructions.
  bool unroll = false;
};

// What the compiler said, and a last line that says what failed.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the PTX text. Throws CompileError.
std::string compile_cuda(const std::string& path, const CompileOptions& options = {});

}  // namespace qwengpu::ptx

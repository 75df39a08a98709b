// Running compiled kernels on the emulator and the same functions on the CPU.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "kernels.h"
#include "launch.h"
#include "ptx/module.h"

namespace qwengpu {

using Body = void (*)(At, const unsigned*, const unsigned*, unsigned*, int, int);

struct Shape {
  std::array<std::uint32_t, 3> grid, block;
  std::size_t words;  // of each buffer
  int n, m;
};

// The file's kernels as PTX of this compiler, with flags for clang and for nvcc.
inline const ptx::Module& module_of(const std::string& file, const std::string& compiler,
                                    const std::vector<std::string>& clang_flags,
                                    const std::vector<std::string>& nvcc_flags) {
  static std::map<std::string, ptx::Module> modules;
  auto found = modules.find(compiler + file);
  if (found == modules.end()) {
    ptx::CompileOptions options;
    options.compiler = compiler;
    options.flags = compiler == "nvcc" ? nvcc_flags : clang_flags;
    found = modules.emplace(compiler + file, ptx::load(file, options)).first;
  }
  return found->second;
}

inline Words on_cpu(Body body, const Shape& s, const Words& a, const Words& b, Words c) {
  for (unsigned by = 0; by < s.grid[1]; ++by)
    for (unsigned bx = 0; bx < s.grid[0]; ++bx)
      for (unsigned ty = 0; ty < s.block[1]; ++ty)
        for (unsigned tx = 0; tx < s.block[0]; ++tx)
          body({bx, by, tx, ty, s.block[0], s.block[1], s.grid[0], s.grid[1]}, a.data(), b.data(), c.data(),
               s.n, s.m);
  return c;
}

// Tokens of the transcript, and the output buffer as it stands in memory at the end of the launch.
inline std::pair<std::size_t, Words> on_emulator(const isa::Kernel& kernel, const Shape& s, const Words& a,
                                                 const Words& b, const Words& c) {
  const auto result = Launch(kernel, s.grid, s.block)
                          .buffer(a)
                          .buffer(b)
                          .buffer(c)
                          .word(static_cast<std::uint32_t>(s.n))
                          .word(static_cast<std::uint32_t>(s.m))
                          .run();
  if (result.status != 0) throw std::runtime_error("the kernel ends with " + std::to_string(result.status));
  return {result.tokens, result.buffers[2]};
}

// Runs the kernel on several shapes of launch with words that `numbers(count, seed)` makes, and hands each
// result to `check(got, right)`.
template <typename Numbers, typename Check>
void run_shapes(const isa::Kernel& kernel, Body body, const Numbers& numbers, const Check& check) {
  const Shape shapes[] = {
      {{1, 1, 1}, {32, 1, 1}, 1024, 30, 3},
      {{3, 2, 1}, {8, 4, 1}, 256, 12, 7},
      {{5, 1, 1}, {13, 1, 1}, 1024, 29, 5},
  };
  unsigned seed = 1;
  for (const Shape& s : shapes) {
    const Words a = numbers(s.words, seed), b = numbers(s.words, seed + 1), c = numbers(s.words, seed + 2);
    seed += 3;
    const auto [tokens, got] = on_emulator(kernel, s, a, b, c);
    check(got, on_cpu(body, s, a, b, c));
    testing::Test::RecordProperty("tokens", static_cast<int>(tokens));
  }
  testing::Test::RecordProperty("instructions", static_cast<int>(kernel.code.size()));
}

}  // namespace qwengpu

// Small launches for the tests of this folder.
#pragma once

#include <string_view>

#include "emulator/case.h"
#include "isa/assembly.h"

namespace qwengpu::emulator {

// c[i] = a[i] + b[i] for i < n. Data: a[i] = 3 i, b[i] = 1000 - i.
inline Case vector_add(std::uint32_t n, std::uint32_t threads_a_block) {
  Case launch;
  launch.kernel.name = "vecadd";
  launch.kernel.code = isa::assemble(R"(
        MOV  R0, SR_TID.X
        MOV  R1, c[0x20]
        IMAD R0, R1, c[0x0], R0
        ISETP.GE.U32 P0, R0, c[0x4c]
@P0     EXIT
        SHL  R0, R0, 2
        IADD R1, R0, c[0x40]
        LD  R1, [R1]
        IADD R2, R0, c[0x44]
        LD  R2, [R2]
        IADD R1, R1, R2
        IADD R0, R0, c[0x48]
        ST  [R0], R1
        EXIT
  )");
  launch.grid[0] = (n + threads_a_block - 1) / threads_a_block;
  launch.block[0] = threads_a_block;
  CaseBuffer a{4 * n, true, false, {}}, b{4 * n, true, false, {}}, c{4 * n, false, true, {}};
  for (std::uint32_t i = 0; i < n; ++i) {
    a.data.push_back(3 * i);
    b.data.push_back(1000 - i);
  }
  launch.buffers = {a, b, c};
  launch.arguments = {{0, true}, {1, true}, {2, true}, {n, false}};
  return launch;
}

// One thread or more that run TEXT with one buffer of 64 words, copied in (0, 1, 2, ...) and out, at address
// 256.
inline Case small_launch(std::string_view text, std::uint32_t threads = 4) {
  Case launch;
  launch.kernel.code = isa::assemble(text);
  launch.block[0] = threads;
  CaseBuffer buffer{256, true, true, {}};
  for (std::uint32_t i = 0; i < 64; ++i) buffer.data.push_back(i);
  launch.buffers = {buffer};
  launch.arguments = {{0, true}};
  return launch;
}

}  // namespace qwengpu::emulator

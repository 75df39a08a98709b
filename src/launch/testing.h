// Helpers of the tests.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "isa/assembly.h"
#include "isa/kernel.h"

namespace qwengpu::launch::testing {

// The message of the exception that f throws; empty when it throws none.
template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

inline std::filesystem::path temporary_file(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() / "qwengpu_launch_test";
  std::filesystem::create_directories(folder);
  return folder / name;
}

// data[i] = data[i] * factor, by one block
inline isa::Kernel scale_kernel() {
  isa::Kernel kernel;
  kernel.name = "scale";
  kernel.code = isa::assemble(R"(
    MOV R0, SR_TID.X
    IMAD R1, R0, 4, RZ
    IADD R1, R1, c[0x40]
    LD R2, [R1]
    IMUL R2, R2, c[0x48]
    ST [R1], R2
    EXIT
  )");
  for (int pc = 0; pc < 7; ++pc) kernel.lines.push_back({"scale.cu", 10 + pc});
  kernel.parameters = {{"data", "u64", 0, 8, true}, {"factor", "u32", 8, 4, false}};
  kernel.parameter_bytes = 12;
  return kernel;
}

// Sixteen registers, no parameters.
inline isa::Kernel kernel_of(std::string_view assembly) {
  isa::Kernel kernel;
  kernel.name = "kernel";
  kernel.code = isa::assemble(assembly);
  return kernel;
}

// What a launch of scale_kernel with the buffer 3, 4, 5 and the factor 2 speaks, shortened:
// a few of the firmware's steps, with program counters that are not its own.
inline const std::string scale_transcript =
    "<Q S><FW 0><MOV 1111 1111><0.0 00;><1.0 01;><2.0 02;><3.0 03;>"
    "<FW 1><cudaMalloc 1111 1110><0.0 00;><1.0 0c;><2.1 01;><3.0 00;>"
    "<FW 2><STC 1111 1111><CB 2><0.0 05;><1.0 00;><2.0 00;><3.0 00;>"
    "<FW 3><RUN 1111 1111><Q 0>"
    "<PC 0><MOV 1110 1110><KEEP><0.0 00;><1.0 01;><2.0 02;><3.0 00;>"
    "<PC 1><IMAD 1110 1110><C><KEEP><0.0 00;><1.0 04;><2.0 08;><3.0 00;>"
    "<PC 2><IADD 1110 1110><KEEP><0.1 01;><1.0 04><1.1 01;><2.0 08><2.1 01;><3.0 00;>"
    "<PC 3><LD 1110 1110><KEEP><0.0 03;><1.0 04;><2.0 05;><3.0 00;>"
    "<PC 4><IMUL 1110 1110><KEEP><0.0 06;><1.0 08;><2.0 0a;><3.0 00;>"
    "<PC 5><ST 1110 1110><ST 0><ST 1><ST 2>"
    "<PC 6><EXIT 1110 1110><Q S>"
    "<FW 4><cudaStreamSynchronize 1111 1111><0.0 01;><1.0 00;><2.0 00;><3.0 00;>"
    "<FW 5><cudaMemcpyDeviceToHost 1111 1110><0.1 01;><1.0 00;><2.0 0c;><3.0 00;>"
    "<FW 6><OUT 1111 1110><0.0 06;><1.0 08;><2.0 0a;><3.0 00;>"
    "<FW 7><BRA 1111 0000><FW 8><HALT 1111 1111><END>";

}  // namespace qwengpu::launch::testing

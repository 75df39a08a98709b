#include "ptx/compile.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "ptx/device_headers.h"
#include "ptx/process.h"

namespace qwengpu::ptx {
namespace {

namespace fs = std::filesystem;

void write_headers(const fs::path& directory) {
  for (const DeviceHeader& header : device_headers()) {
    const fs::path path = directory / header.path;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << header.text;
  }
}

std::vector<std::string> clang_arguments(const std::string& compiler, const fs::path& source,
                                         const fs::path& headers, const CompileOptions& options) {
  std::vector<std::string> arguments = {
      compiler,
      // Device code only, with no NVIDIA toolkit. sm_70 and PTX 6.3 bring the .sync forms of warp operations.
      "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "--cuda-path=/nonexistent", "-nocudainc",
      "-nocudalib", "-Xclang", "-target-feature", "-Xclang", "+ptx63", "-S", "-O2", "-std=c++17",
      // The machine has no calls ...
      "-mllvm", "-inline-threshold=1000000",
      // ... and no indirect branches.
      "-fno-jump-tables",
      // Line numbers without debug sections.
      "-gline-directives-only", "-Wno-unknown-cuda-version", "-include",
      (headers / "qwengpu_device.h").string(), "-I", source.parent_path().string(), "-isystem",
      (headers / "include").string()};
  // Every instruction of the kernel is spoken in the prompt: unrolled loops are dear.
  if (options.unroll)
    arguments.insert(arguments.end(),
                     {"-mllvm", "-unroll-runtime=false", "-mllvm", "-unroll-allow-partial=false"});
  else
    arguments.push_back("-fno-unroll-loops");
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  arguments.insert(arguments.end(), {"-o", "-", source.string()});
  return arguments;
}

std::vector<std::string> nvcc_arguments(const std::string& compiler, const fs::path& source,
                                        const fs::path& output, const CompileOptions& options) {
  std::vector<std::string> arguments = {compiler,      "-x",        "cu",  "-ptx",
                                        "-arch=sm_75", "-lineinfo", "-O3", "-std=c++17"};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  arguments.insert(arguments.end(), {"-o", output.string(), source.string()});
  return arguments;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> candidates(const CompileOptions& options) {
  std::string compiler = options.compiler;
  if (compiler.empty())
    if (const char* variable = std::getenv("QWENGPU_CUDA_COMPILER")) compiler = variable;
  if (compiler.empty() || compiler == "clang") return {"clang-19", "clang-14", "clang"};
  if (compiler == "nvcc") return {"nvcc", "/usr/local/cuda/bin/nvcc"};
  return {compiler};
}

}  // namespace

std::string compile_cuda(const std::string& path, const CompileOptions& options) {
  std::error_code error;
  const fs::path source = fs::absolute(path, error);
  if (!fs::exists(source)) throw CompileError(fmt::format("{}: no such file", path));
  if (!fs::is_regular_file(source)) throw CompileError(fmt::format("{}: not a file", path));
  if (!std::ifstream(source)) throw CompileError(fmt::format("{}: cannot be read", path));

  const TemporaryDirectory temporary;
  const fs::path headers = fs::path(temporary.path()) / "device",
                 ptx_file = fs::path(temporary.path()) / "out.ptx";
  write_headers(headers);

  const std::vector<std::string> names = candidates(options);
  for (const std::string& name : names) {
    const bool nvcc = fs::path(name).filename().string().starts_with("nvcc");
    const auto result = run_process(nvcc ? nvcc_arguments(name, source, ptx_file, options)
                                         : clang_arguments(name, source, headers, options));
    if (!result) continue;
    if (result->status != 0) {
      std::string said = nvcc ? result->output + result->errors : result->errors;
      if (!said.empty() && said.back() != '\n') said += '\n';
      throw CompileError(
          fmt::format("{}{}: {} could not compile it (status {})", said, path, name, result->status));
    }
    std::string text = nvcc ? read_file(ptx_file) : result->output;
    if (text.empty()) throw CompileError(fmt::format("{}: {} wrote no PTX", path, name));
    return text;
  }
  if (names.size() == 1) throw CompileError(fmt::format("{}: there is no compiler {}", path, names[0]));
  if (names[0] == "nvcc")
    throw CompileError(fmt::format("{}: nvcc is not installed (NVIDIA CUDA toolkit)", path));
  throw CompileError(fmt::format("{}: clang is not installed: apt-get install clang", path));
}

}  // namespace qwengpu::ptx

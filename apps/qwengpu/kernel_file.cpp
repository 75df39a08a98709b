#include "kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "isa/assembly.h"
#include "isa/parameters.h"
#include "launch/error.h"
#include "ptx/module.h"

namespace qwengpu {
namespace {

// The smallest class of registers that holds those the code names.
int registers_of(const std::vector<isa::Instruction>& code) {
  int highest = -1;
  for (const isa::Instruction& i : code)
    for (int reg : {i.rd, i.ra, i.rb, i.rc})
      if (reg != isa::rz) highest = std::max(highest, reg);
  int register_class = 0;
  while (isa::registers_of_class(register_class) <= highest) ++register_class;
  return isa::registers_of_class(register_class);
}

// A line `; parameter TYPE NAME` of assembly text; TYPE is pointer or a PTX type.
std::optional<isa::KernelParameter> parameter_of(const std::string& line, int& offset) {
  std::istringstream words(line);
  std::string comment, keyword, type, name;
  if (!(words >> comment >> keyword >> type >> name) || comment != ";" || keyword != "parameter")
    return std::nullopt;
  isa::KernelParameter parameter;
  parameter.name = name;
  parameter.pointer = type == "pointer";
  parameter.ptx_type = parameter.pointer ? "u64" : type;
  const std::size_t digits = parameter.ptx_type.find_first_of("0123456789");
  const std::string bits = digits == std::string::npos ? "" : parameter.ptx_type.substr(digits);
  if (bits != "8" && bits != "16" && bits != "32" && bits != "64")
    throw std::runtime_error(
        fmt::format("parameter {}: '{}' is neither 'pointer' nor a type such as u32", name, type));
  parameter.bytes = std::stoi(bits) / 8;
  offset = (offset + parameter.bytes - 1) / parameter.bytes * parameter.bytes;
  parameter.offset = offset;
  offset += parameter.bytes;
  return parameter;
}

isa::Kernel from_assembly(const std::filesystem::path& file) {
  isa::Kernel kernel;
  kernel.name = file.stem().string();
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    kernel.code = isa::assemble(text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (const auto parameter = parameter_of(line, kernel.parameter_bytes))
        kernel.parameters.push_back(*parameter);
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", file.string(), error.what()));
  }
  kernel.registers = registers_of(kernel.code);
  return kernel;
}

bool has_extension(const std::filesystem::path& file, std::initializer_list<std::string_view> extensions) {
  const std::string extension = file.extension().string();
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace

isa::Kernel load_kernel(const std::filesystem::path& file, const std::string& name) {
  if (!std::ifstream(file) || std::filesystem::is_directory(file))
    throw std::runtime_error(fmt::format("{}: cannot be read", file.string()));
  if (has_extension(file, {".asm"})) {
    const isa::Kernel kernel = from_assembly(file);
    if (!name.empty() && name != kernel.name)
      throw launch::UsageError(
          fmt::format("{} has no kernel '{}'; it has: {}", file.string(), name, kernel.name));
    return kernel;
  }
  if (!has_extension(file, {".cu", ".ptx"}))
    throw launch::UsageError(
        fmt::format("{}: not a kernel: give CUDA C++ (.cu), PTX (.ptx) or assembly (.asm)", file.string()));
  try {
    const ptx::Module module = ptx::load(file.string());
    isa::Kernel kernel = module.compile(name);
    kernel.name = module.find(name).plain;
    // PTX knows no names of the source, only _Z6vecaddPKi_param_0.
    for (isa::KernelParameter& parameter : kernel.parameters) parameter.name.clear();
    return kernel;
  } catch (const ptx::NameError& error) {
    throw launch::UsageError(error.what());
  }
}

}  // namespace qwengpu

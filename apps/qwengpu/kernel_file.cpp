#include "kernel_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

constexpr int local_alignment = 16;

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

std::uint32_t header_number(const std::string& keyword, const std::string& text) {
  const bool hexadecimal = text.starts_with("0x");
  const char* const first = text.data() + (hexadecimal ? 2 : 0);
  const char* const last = text.data() + text.size();
  std::int32_t value{};
  const auto [end, error] = std::from_chars(first, last, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != last || value < 0)
    throw std::runtime_error(fmt::format("{}: '{}' is not a number of bytes", keyword, text));
  return static_cast<std::uint32_t>(value);
}

void add_parameter(const std::string& type, const std::string& name, isa::Kernel& kernel) {
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
  parameter.offset = (kernel.parameter_bytes + parameter.bytes - 1) / parameter.bytes * parameter.bytes;
  kernel.parameter_bytes = parameter.offset + parameter.bytes;
  kernel.parameters.push_back(parameter);
}

// "0102ff": bytes in the order of their addresses.
void add_variable_bytes(const std::string& text, std::vector<std::uint8_t>& variables) {
  for (std::size_t at = 0; at < text.size(); at += 2) {
    std::uint8_t byte{};
    const char* const first = text.data() + at;
    const char* const last = text.data() + std::min(at + 2, text.size());
    const auto [end, error] = std::from_chars(first, last, byte, 16);
    if (error != std::errc{} || end != first + 2)
      throw std::runtime_error(
          fmt::format("variable-bytes: '{}' is not bytes of two hexadecimal digits each", text));
    variables.push_back(byte);
  }
}

// A line of the header (kernel_file.h). Other comments may begin with the same word, but have more of them.
void read_header_line(const std::string& line, isa::Kernel& kernel) {
  std::istringstream stream(line);
  const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() < 3 || words[0] != ";") return;
  const std::string& keyword = words[1];
  if (keyword == "parameter" && words.size() >= 4) return add_parameter(words[2], words[3], kernel);
  if (keyword == "variable-bytes") {
    for (std::size_t i = 2; i < words.size(); ++i) add_variable_bytes(words[i], kernel.variables);
    return;
  }
  if (words.size() != 3) return;
  if (keyword == "shared") kernel.shared_bytes = static_cast<int>(header_number(keyword, words[2]));
  if (keyword == "named-barriers") kernel.named_barriers = header_number(keyword, words[2]);
  if (keyword == "local") {
    kernel.local_bytes = static_cast<int>(header_number(keyword, words[2]));
    if (kernel.local_bytes % local_alignment != 0)
      throw std::runtime_error(fmt::format("local: {} is not a multiple of {}", words[2], local_alignment));
  }
}

isa::Kernel from_assembly(const std::filesystem::path& file) {
  isa::Kernel kernel;
  kernel.name = file.stem().string();
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    kernel.code = isa::assemble(text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_header_line(line, kernel);
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

std::string assembly_header(const isa::Kernel& kernel) {
  std::string text;
  for (std::size_t n = 0; n < kernel.parameters.size(); ++n) {
    const isa::KernelParameter& parameter = kernel.parameters[n];
    text += fmt::format("; parameter {} {}  c[0x{:x}]\n", parameter.pointer ? "pointer" : parameter.ptx_type,
                        parameter.name.empty() ? fmt::format("p{}", n) : parameter.name,
                        isa::constant::parameters + parameter.offset);
  }
  if (kernel.shared_bytes != 0) text += fmt::format("; shared {}\n", kernel.shared_bytes);
  if (kernel.local_bytes != 0) text += fmt::format("; local {}\n", kernel.local_bytes);
  constexpr std::size_t bytes_a_line = 32, bytes_a_word = 4;
  for (std::size_t n = 0; n < kernel.variables.size(); ++n) {
    if (n % bytes_a_line == 0) text += n == 0 ? "; variable-bytes" : "\n; variable-bytes";
    text += fmt::format("{}{:02x}", n % bytes_a_word == 0 ? " " : "", kernel.variables[n]);
  }
  if (!kernel.variables.empty()) text += "\n";
  if (kernel.named_barriers != 0) text += fmt::format("; named-barriers 0x{:x}\n", kernel.named_barriers);
  return text;
}

}  // namespace qwengpu

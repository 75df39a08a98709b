#include "ptx/module.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "isa/assembly.h"
#include "isa/parameters.h"
#include "ptx/lower.h"
#include "ptx/parse.h"
#include "ptx/passes.h"
#include "ptx/pointers.h"

namespace qwengpu::ptx {
namespace {

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

// "void ns::scale<int>(int*, int)" -> "ns::scale": without return type, template arguments and parameters.
std::string plain_name(const std::string& demangled) {
  std::string result;
  int depth = 0;
  for (const char c : demangled) {
    if (depth == 0 && c == '(' && !result.ends_with("operator")) {
      // "(anonymous namespace)::" is part of the name.
      if (demangled.compare(result.size(), 21, "(anonymous namespace)") != 0) break;
    }
    if (c == '<') ++depth;
    if (depth == 0) {
      if (c == ' ')
        result.clear();
      else
        result += c;
    }
    if (c == '>') --depth;
  }
  return result.empty() ? demangled : result;
}

bool uses_local_memory(std::string_view ptx) {
  return ptx.find("ld.local") != std::string_view::npos || ptx.find("st.local") != std::string_view::npos;
}

bool looks_like_ptx(const std::string& path, std::string_view text) {
  if (path.ends_with(".ptx")) return true;
  const std::size_t dot = path.rfind('.');
  if (dot != std::string::npos && path.find('/', dot) == std::string::npos) {
    for (const std::string_view extension : {".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp"})
      if (path.substr(dot) == extension) return false;
  }
  // Comments and blank lines, then .version.
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && !line.substr(first).starts_with("//"))
      return line.substr(first).starts_with(".version");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

}  // namespace

Module::Module(std::string ptx, const std::string& path, const std::string& ptx_name)
    : ptx_(std::move(ptx)),
      path_(path),
      ptx_name_(ptx_name.empty() ? path : ptx_name),
      syntax_(parse(ptx_, ptx_name_)) {
  // The compiler was given an absolute path; messages show the one that the user gave.
  std::error_code ignored;
  const std::string absolute = std::filesystem::absolute(path, ignored).string();
  for (auto& [number, file] : syntax_.files)
    if (file == absolute) file = path;
  for (const syntax::Function& function : syntax_.functions)
    if (function.entry && function.defined) {
      const std::string demangled = demangle(function.name);
      names_.push_back({function.name, demangled, plain_name(demangled)});
    }
}

const KernelName& Module::find(std::string_view name) const {
  const auto list = [](const std::vector<const KernelName*>& kernels) {
    std::string text;
    for (const KernelName* kernel : kernels) text += "\n  " + kernel->demangled;
    return text;
  };
  std::vector<const KernelName*> all, exact, plain;
  for (const KernelName& kernel : names_) {
    all.push_back(&kernel);
    if (kernel.mangled == name || kernel.demangled == name) exact.push_back(&kernel);
    const bool last_part = kernel.plain.ends_with(name) && kernel.plain.size() > name.size() &&
                           kernel.plain[kernel.plain.size() - name.size() - 1] == ':';
    if (kernel.plain == name || last_part) plain.push_back(&kernel);
  }
  if (all.empty()) throw NameError(fmt::format("{}: there is no kernel in it", path_));
  if (name.empty()) {
    if (all.size() == 1) return *all.front();
    throw NameError(fmt::format("{}: there are several kernels; say which:{}", path_, list(all)));
  }
  if (!exact.empty()) return *exact.front();
  if (plain.size() == 1) return *plain.front();
  if (plain.size() > 1)
    throw NameError(fmt::format("{}: several kernels are called {}:{}", path_, name, list(plain)));
  throw NameError(fmt::format("{}: there is no kernel {}; there is:{}", path_, name, list(all)));
}

isa::Kernel Module::compile(std::string_view name) const {
  const KernelName& found = find(name);
  const auto source = std::find_if(
      syntax_.functions.begin(), syntax_.functions.end(),
      [&](const syntax::Function& f) { return f.entry && f.defined && f.name == found.mangled; });
  Lowered lowered = lower(syntax_, *source, ptx_name_);
  ir::Function& function = lowered.function;
  mark_pointers(function, lowered.parameters);
  mark_converted(*source, lowered.parameters);
  ir::take_votes_back(function);
  ir::optimise(function);
  ir::meet_before_next_round(function);
  ir::yield_in_waiting_loops(function);
  ir::legalise(function);
  ir::order_blocks(function);
  const ir::Allocation allocation = ir::allocate(function, found.demangled);
  const ir::Code code = ir::emit_code(function);
  if (code.instructions.size() > isa::Parameters::instructions)
    throw TooLarge(fmt::format("kernel {} has {} instructions; the instruction memory holds {}",
                               found.demangled, code.instructions.size(), isa::Parameters::instructions));
  isa::Kernel kernel;
  kernel.name = found.mangled;
  kernel.code = code.instructions;
  for (const ir::Line& line : code.lines) {
    const auto file = syntax_.files.find(line.file);
    kernel.lines.push_back(
        {line.file != 0 && file != syntax_.files.end() ? file->second : ptx_name_, line.line});
  }
  kernel.parameters = std::move(lowered.parameters);
  kernel.parameter_bytes = lowered.parameter_bytes;
  kernel.shared_bytes = lowered.shared_bytes;
  kernel.local_bytes = lowered.local_bytes;
  kernel.variables = std::move(lowered.variables);
  kernel.named_barriers = lowered.named_barriers;
  while (kernel.registers < allocation.registers) kernel.registers *= 2;
  return kernel;
}

Module load(const std::string& path, const CompileOptions& options) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (file && looks_like_ptx(path, text.view())) return Module(text.str(), path);
  if (file && text.view().find('\0') != std::string_view::npos)
    throw CompileError(fmt::format("{}: neither CUDA C++ nor PTX", path));
  std::string ptx = compile_cuda(path, options);
  if (!options.unroll && uses_local_memory(ptx)) {
    // Small arrays that are indexed in loops: with the loops unrolled they may be registers.
    CompileOptions unrolled = options;
    unrolled.unroll = true;
    if (std::string other = compile_cuda(path, unrolled); !uses_local_memory(other)) ptx = std::move(other);
  }
  return Module(std::move(ptx), path, path + " (PTX)");
}

std::string listing(const isa::Kernel& kernel) {
  std::string result =
      fmt::format("// {}: {} instructions, {} registers, {} parameter bytes\n", demangle(kernel.name),
                  kernel.code.size(), kernel.registers, kernel.parameter_bytes);
  for (const isa::KernelParameter& parameter : kernel.parameters)
    result += fmt::format("//   c[{:#x}] {} .{}{}\n", isa::constant::parameters + parameter.offset,
                          parameter.name, parameter.ptx_type, parameter.pointer ? ", pointer" : "");
  std::vector<char> target(kernel.code.size() + 1);
  for (const isa::Instruction& i : kernel.code)
    if (i.op == isa::Op::Bra) target[static_cast<std::size_t>(i.target)] = 1;
  const isa::SourceLine* last = nullptr;
  for (std::size_t n = 0; n < kernel.code.size(); ++n) {
    if (n < kernel.lines.size()) {
      const isa::SourceLine& line = kernel.lines[n];
      if (line.line != 0 && (last == nullptr || last->line != line.line || last->file != line.file))
        result += fmt::format("// {}:{}\n", line.file, line.line);
      last = &line;
    }
    result += fmt::format("{:>4}{} {}\n", n, target[n] ? ":" : " ", isa::disassemble(kernel.code[n]));
  }
  return result;
}

}  // namespace qwengpu::ptx

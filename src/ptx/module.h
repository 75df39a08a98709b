// A file with kernels, and machine code of those that are asked for.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isa/kernel.h"
#include "ptx/compile.h"
#include "ptx/diagnostics.h"
#include "ptx/syntax.h"

namespace qwengpu::ptx {

struct KernelName {
  std::string mangled;    // "_Z3addPKiPii"
  std::string demangled;  // "add(int const*, int*, int)"; the mangled one where it is a plain C name
  std::string plain;      // "add"
};

class Module {
 public:
  // `path` names the file; `ptx_name` its PTX in messages, when that is not what the file holds.
  Module(std::string ptx, const std::string& path, const std::string& ptx_name = {});

  const std::string& ptx() const { return ptx_; }
  const std::vector<KernelName>& names() const { return names_; }
  // The kernel of this mangled, demangled or plain name; with an empty name the only one there is. Throws
  // NameError.
  const KernelName& find(std::string_view name) const;
  // Its machine code. Throws NameError, SyntaxError, Unsupported, TooLarge.
  isa::Kernel compile(std::string_view name) const;

 private:
  std::string ptx_, path_, ptx_name_;
  syntax::Module syntax_;
  std::vector<KernelName> names_;
};

// Reads a .ptx file, or compiles a .cu (or .cpp, .cuh, ...) file. What a file is called or starts with tells
// which it is. Throws CompileError, SyntaxError.
Module load(const std::string& path, const CompileOptions& options = {});

// Machine code with its numbers, branch targets, and the source lines it comes from where they change.
std::string listing(const isa::Kernel& kernel);

}  // namespace qwengpu::ptx

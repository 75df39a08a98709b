// Kernels of a file, compiled with each of the compilers.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ptx/module.h"

namespace qwengpu {

// The parameter names the compiler.
class Compiled : public testing::TestWithParam<const char*> {
 protected:
  virtual const char* file() const = 0;

  void SetUp() override {
    try {
      module();
    } catch (const ptx::CompileError& error) {
      if (std::string(error.what()).find("nvcc is not installed") == std::string::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }

  const ptx::Module& module() const {
    static std::map<std::string, ptx::Module> modules;
    const std::string key = std::string(GetParam()) + file();
    auto found = modules.find(key);
    if (found == modules.end()) {
      ptx::CompileOptions options;
      options.compiler = GetParam();
      found = modules.emplace(key, ptx::load(file(), options)).first;
    }
    return found->second;
  }

  isa::Kernel kernel(const std::string& name) const { return module().compile(name); }
};

}  // namespace qwengpu

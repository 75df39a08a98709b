// Where the variables that a kernel uses stand in memory, and what they hold at first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/syntax.h"

namespace qwengpu::ptx {

class Variables {
 public:
  struct Place {
    enum class Space { Global, Constant, Shared, Local } space = Space::Global;
    // Global and constant memory: the address. Shared memory: counted from the beginning of it. Local memory:
    // counted from the beginning of a thread's part.
    std::uint32_t address = 0;
  };

  // Lays out the variables that the kernel names, and those that their initial values name. `path` is for
  // messages. Throws SyntaxError, TooLarge.
  Variables(const syntax::Module& module, const syntax::Function& kernel, const std::string& path);

  // Nothing when the kernel has no variable of this name in memory. Throws SyntaxError for one that is
  // declared only.
  const Place* find(const std::string& name) const;

  int shared_bytes() const { return static_cast<int>(shared_); }
  int local_bytes() const {
    return static_cast<int>((local_ + local_alignment_ - 1) / local_alignment_ * local_alignment_);
  }
  // Those of global and constant memory, from Parameters::first_allocation on; the constant ones stand first.
  const std::vector<std::uint8_t>& image() const { return image_; }
  std::uint32_t constant_end() const { return constant_end_; }

  // Room for the compiler's own use, filled with zeros. Returns the address.
  std::uint32_t add_global(std::uint32_t bytes, std::uint32_t alignment);
  std::uint32_t add_local(std::uint32_t bytes, std::uint32_t alignment);

 private:
  void collect(const syntax::Variable& variable);
  void place(const syntax::Variable& variable);
  void fill(const syntax::Variable& variable);
  std::uint64_t bytes_of(const syntax::Variable& variable) const;
  std::uint32_t alignment_of(const syntax::Variable& variable) const;
  const syntax::Variable* declared(const std::string& name) const;
  [[noreturn]] void fail(const syntax::Variable& variable, const std::string& what) const;
  [[noreturn]] void too_large(const syntax::Variable& variable, const char* space, int bytes) const;

  const syntax::Module& module_;
  const syntax::Function& kernel_;
  std::string path_;
  std::map<std::string, const syntax::Variable*> used_;
  std::vector<const syntax::Variable*> order_;
  std::map<std::string, Place> places_;
  std::vector<std::uint8_t> image_;
  std::uint64_t shared_ = 0, local_ = 0, local_alignment_ = 16;
  std::uint32_t constant_end_ = 0;
};

}  // namespace qwengpu::ptx

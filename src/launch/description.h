// What a user asks for: a kernel, its grid and its arguments, from the command line or a launch file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isa/kernel.h"
#include "launch/array.h"
#include "launch/error.h"

namespace qwengpu::launch {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// One kernel argument:
//   i32:7                     a number
//   in:a.npy  inout:a.npy     a buffer with the contents of a file; inout: its final contents are a result
//   in:i32[8,4]=iota          a buffer of generated contents: zero, iota (0, 1, 2, ...),
//   inout:f32[64]=random:SEED   or random:SEED[:LOW:HIGH]
//   out:i32[64]               a result only (device memory is zero until a launch writes it)
// Of launches in a sequence (variables of a module have their initial values at each launch):
//   keep:NAME:BUFFER          a buffer as above, or TYPE[N] that is not copied at all, whose device memory
//   stays for later launches use:NAME                  the memory that an earlier launch keeps as NAME; it
//   stays use:NAME:out              its final contents are a result use:NAME:in:...           it gets new
//   contents, as many as it has; use:NAME:inout:... likewise free:NAME  free:NAME:...  like use, but its
//   memory is freed after this launch
struct Argument {
  enum class Kind { Scalar, In, Out, InOut, Device };  // Device: memory that is not copied
  enum class Lifetime { Launch, Keep, Use, Free };
  Kind kind = Kind::Scalar;
  Shape shape;  // empty where that of the memory that was kept counts: has_shape()
  Array data;   // of Scalar, In and InOut
  Lifetime lifetime = Lifetime::Launch;
  std::string name;  // of Keep, Use and Free

  bool earlier() const { return lifetime == Lifetime::Use || lifetime == Lifetime::Free; }
  bool has_shape() const { return !earlier() || copied_in(); }
  bool buffer() const { return kind != Kind::Scalar; }
  bool copied_in() const { return kind == Kind::In || kind == Kind::InOut; }
  bool copied_out() const { return kind == Kind::Out || kind == Kind::InOut; }
};

struct Description {
  std::filesystem::path file;  // .cu, .ptx or assembly
  std::string kernel;          // empty: the only one of the file
  Dim3 grid, block;
  std::uint32_t shared_bytes = 0;  // dynamic
  std::uint32_t device = 0;
  std::vector<Argument> arguments;
  std::filesystem::path out;  // folder for argN.npy; empty: results are only shown
};

// "4", "4,2" or "4,2,1". Throws UsageError.
Dim3 parse_dim3(std::string_view text);
std::string text_of(const Dim3& dim);  // "(4,2,1)"

// Files are looked up in FOLDER. Throws UsageError for the spelling and std::runtime_error for a file.
Argument parse_argument(std::string_view text, const std::filesystem::path& folder = ".");

// A launch file is JSON with the fields of the command line; paths are relative to its own folder, except
// "out":
//   {"file": "vecadd.cu", "kernel": "vecadd", "grid": [4, 1, 1], "block": 32,
//    "arguments": ["in:i32[128]=iota", "in:i32[128]=random:7", "out:i32[128]", "i32:128"]}
Description read_launch_file(const std::filesystem::path& path);

// "argument 2 (name)"; the front end may not know the name.
std::string argument_label(const isa::Kernel& kernel, std::size_t n);

// Throws UsageError listing every argument that does not fit the kernel.
void check_arguments(const Description& description, const isa::Kernel& kernel);

}  // namespace qwengpu::launch

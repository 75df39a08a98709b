// Checks the results of an example: the same source, compiled by the host's C++ compiler, has to compute the
// same arrays.
//
//   check_on_cpu examples/vecadd.launch.json FOLDER
//
// FOLDER is where `qwengpu run --out FOLDER` left argN.npy.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "../collatz.cu"
#include "../mandelbrot.cu"
#include "../matmul.cu"
#include "../saxpy.cu"
#include "../strided_sum.cu"
#include "../transpose.cu"
#include "../vecadd.cu"
#include "launch/npy.h"

namespace {

using qwengpu::launch::Array;
using qwengpu::launch::Description;

template <typename Parameter>
Parameter argument(Array& array) {
  if constexpr (std::is_pointer_v<Parameter>)
    return reinterpret_cast<Parameter>(array.bytes.data());
  else
    return array.at<Parameter>(0);
}

using Launch = std::function<void(const Description&, std::vector<Array>&)>;

template <typename... Parameters>
Launch on_cpu(void (*kernel)(Parameters...)) {
  return [kernel](const Description& d, std::vector<Array>& arrays) {
    if (arrays.size() != sizeof...(Parameters))
      throw std::runtime_error("the launch has another number of arguments");
    [&]<std::size_t... n>(std::index_sequence<n...>) {
      launch_on_cpu<Parameters...>(kernel, d.grid, d.block, argument<Parameters>(arrays[n])...);
    }
    (std::index_sequence_for<Parameters...>{});
  };
}

const std::map<std::string, Launch> kernels = {
    {"vecadd", on_cpu(vecadd)},
    {"strided_sum", on_cpu(strided_sum)},
    {"collatz", on_cpu(collatz)},
    {"transpose", on_cpu(transpose)},
    {"saxpy", on_cpu(saxpy)},
    {"mandelbrot", on_cpu(mandelbrot)},
    {"matmul", on_cpu(matmul)},
};

bool check(const std::string& launch_file, const std::filesystem::path& folder) {
  const Description d = qwengpu::launch::read_launch_file(launch_file);
  std::vector<Array> arrays;
  for (const auto& a : d.arguments)
    arrays.push_back(a.data.bytes.empty() ? Array{a.shape, std::vector<std::uint8_t>(a.shape.bytes())}
                                          : a.data);
  kernels.at(d.kernel)(d, arrays);

  bool equal = true;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    if (!d.arguments[n].copied_out()) continue;
    const Array& expected = arrays[n];
    const Array result = qwengpu::launch::read_npy(folder / fmt::format("arg{}.npy", n));
    if (result.shape != expected.shape)
      throw std::runtime_error(fmt::format("argument {} has another shape", n));
    const std::uint64_t count = expected.shape.elements();
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (result.element_text(i) == expected.element_text(i))
        ++same;
      else if (std::exchange(equal, false))
        fmt::print("{}: argument {}, element {} is {}, the CPU says {}\n", d.kernel, n, i,
                   result.element_text(i), expected.element_text(i));
    }
    fmt::print("{}: argument {}: {} of {} elements equal those of the CPU\n", d.kernel, n, same, count);
  }
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: check_on_cpu LAUNCH_FILE FOLDER\n");
    return 2;
  }
  try {
    return check(argv[1], argv[2]) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "check_on_cpu: {}\n", error.what());
    return 1;
  }
}

// Checks the results of an example: the same source, compiled by the host's C++ compiler, has to compute the
// same arrays.
//
//   check_on_cpu examples/vecadd.launch.json FOLDER
//   check_on_cpu examples/dot_product.1.launch.json examples/dot_product.2.launch.json FOLDER
//
// FOLDER is where `qwengpu run --out FOLDER` of the same launches left argN.npy.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "../bfs.cu"
#include "../bitonic_sort.cu"
#include "../black_scholes.cu"
#include "../collatz.cu"
#include "../compact.cu"
#include "../convolution.cu"
#include "../dot_product.cu"
#include "../gemm_tiled.cu"
#include "../histogram.cu"
#include "../hotspot.cu"
#include "../layer_norm.cu"
#include "../mandelbrot.cu"
#include "../matmul.cu"
#include "../nbody.cu"
#include "../reduce_shared.cu"
#include "../reduce_shuffle.cu"
#include "../saxpy.cu"
#include "../scan.cu"
#include "../softmax.cu"
#include "../stencil.cu"
#include "../strided_sum.cu"
#include "../transpose.cu"
#include "../transpose_tiled.cu"
#include "../vecadd.cu"
#include "launch/npy.h"

// The dynamic shared memory of a kernel has the kernel's name for it.
thread_local int partial[48 * 1024 / sizeof(int)];

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

struct Kernel {
  std::function<void(const Description&, std::vector<Array>&)> launch;
  // Where a kernel has functions that PTX approximates, results may differ from the CPU's by this much of the
  // largest one of their array. 0: they are the same, bit for bit.
  double bound;
};

template <typename... Parameters>
Kernel on_cpu(void (*kernel)(Parameters...), double bound = 0) {
  const auto launch = [kernel](const Description& d, std::vector<Array>& arrays) {
    if (arrays.size() != sizeof...(Parameters))
      throw std::runtime_error("the launch has another number of arguments");
    [&]<std::size_t... n>(std::index_sequence<n...>) {
      launch_on_cpu<Parameters...>(kernel, d.grid, d.block, argument<Parameters>(arrays[n])...);
    }
    (std::index_sequence_for<Parameters...>{});
  };
  return {launch, bound};
}

const std::map<std::string, Kernel> kernels = {
    {"vecadd", on_cpu(vecadd)},
    {"strided_sum", on_cpu(strided_sum)},
    {"collatz", on_cpu(collatz)},
    {"saxpy", on_cpu(saxpy)},
    {"mandelbrot", on_cpu(mandelbrot)},
    {"matmul", on_cpu(matmul)},
    {"gemm_tiled", on_cpu(gemm_tiled)},
    {"transpose", on_cpu(transpose)},
    {"transpose_tiled", on_cpu(transpose_tiled)},
    {"reduce_shared", on_cpu(reduce_shared)},
    {"reduce_shuffle", on_cpu(reduce_shuffle)},
    {"block_products", on_cpu(block_products)},
    {"sum_of_blocks", on_cpu(sum_of_blocks)},
    {"scan", on_cpu(scan)},
    {"compact", on_cpu(compact)},
    {"histogram", on_cpu(histogram)},
    {"bitonic_sort", on_cpu(bitonic_sort)},
    {"bfs", on_cpu(bfs)},
    {"stencil", on_cpu(stencil)},
    {"hotspot", on_cpu(hotspot)},
    {"convolution", on_cpu(convolution)},
    {"softmax", on_cpu(softmax, 1e-6)},              // expf
    {"layer_norm", on_cpu(layer_norm, 1e-6)},        // rsqrtf
    {"nbody", on_cpu(nbody, 1e-6)},                  // rsqrtf
    {"black_scholes", on_cpu(black_scholes, 1e-6)},  // expf, logf
};

double largest_magnitude(const Array& array) {
  double largest = 0;
  for (std::uint64_t i = 0; i < array.shape.elements(); ++i)
    largest = std::max(largest, std::fabs(static_cast<double>(array.at<float>(i))));
  return largest;
}

double difference_at(std::uint64_t i, const Array& a, const Array& b) {
  return std::fabs(static_cast<double>(a.at<float>(i)) - static_cast<double>(b.at<float>(i)));
}

// By name: what launches keep.
using Memory = std::map<std::string, Array>;

bool check(const std::string& launch_file, const std::filesystem::path& folder, Memory& memory) {
  const Description d = qwengpu::launch::read_launch_file(launch_file);
  std::vector<Array> arrays;
  for (const auto& a : d.arguments) {
    if (a.earlier() && !a.copied_in())
      arrays.push_back(memory.at(a.name));
    else
      arrays.push_back(a.data.bytes.empty() ? Array{a.shape, std::vector<std::uint8_t>(a.shape.bytes())}
                                            : a.data);
  }
  const Kernel& kernel = kernels.at(d.kernel);
  kernel.launch(d, arrays);
  for (std::size_t n = 0; n < arrays.size(); ++n)
    if (!d.arguments[n].name.empty()) memory[d.arguments[n].name] = arrays[n];

  bool good = true;
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    if (!d.arguments[n].copied_out()) continue;
    const Array& expected = arrays[n];
    const Array result = qwengpu::launch::read_npy(folder / fmt::format("arg{}.npy", n));
    if (result.shape != expected.shape)
      throw std::runtime_error(fmt::format("argument {} has another shape", n));
    const std::uint64_t count = expected.shape.elements();
    const double allowed = kernel.bound > 0 ? kernel.bound * largest_magnitude(expected) : 0;
    double difference = 0;  // the largest one that is allowed
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (result.element_text(i) == expected.element_text(i)) {
        ++same;
      } else if (allowed > 0 && difference_at(i, result, expected) <= allowed) {
        difference = std::max(difference, difference_at(i, result, expected));
      } else if (std::exchange(good, false)) {
        fmt::print("{}: argument {}, element {} is {}, the CPU says {}\n", d.kernel, n, i,
                   result.element_text(i), expected.element_text(i));
      }
    }
    fmt::print("{}: argument {}: {} of {} elements equal those of the CPU", d.kernel, n, same, count);
    if (difference > 0)
      fmt::print(", others differ by at most {:.2g} where {:.2g} is allowed", difference, allowed);
    fmt::print("\n");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: check_on_cpu LAUNCH_FILE... FOLDER\n");
    return 2;
  }
  try {
    const int launches = argc - 2;
    const std::filesystem::path folder = argv[argc - 1];
    Memory memory;
    bool good = true;
    for (int n = 1; n <= launches; ++n)
      good &= check(argv[n], launches == 1 ? folder : folder / fmt::format("{}", n), memory);
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "check_on_cpu: {}\n", error.what());
    return 1;
  }
}

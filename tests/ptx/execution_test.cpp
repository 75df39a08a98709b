#include "execution.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kernels.h"

namespace qwengpu {
namespace {

struct Named {
  const char* name;
  Body body;
};
void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }
const std::vector<Named> kernels = {
#define X(name) {#name, body::name},
    KERNELS_UNDER_TEST(X)
#undef X
};

// Numbers as they occur, and the edges.
Words numbers(std::size_t count, unsigned seed) {
  static constexpr unsigned edges[] = {0,          1,          2,      0x7fffffff, 0x80000000,
                                       0xffffffff, 0xfffffffe, 0xffff, 0x10000,    0x8000};
  std::mt19937 generator(seed);
  const auto random = [&] { return static_cast<unsigned>(generator()); };
  Words words(count);
  for (unsigned& word : words) {
    const unsigned kind = random() % 8;
    word = kind == 0 ? edges[random() % std::size(edges)] : random() >> (random() % 32);
  }
  return words;
}

const ptx::Module& module(const std::string& compiler) {
  return module_of(KERNELS, compiler, {"-fwrapv"}, {});  // signed overflow occurs, as in this file
}

class Execution : public testing::TestWithParam<Named> {
 protected:
  void check(const std::string& compiler) {
    const isa::Kernel kernel = module(compiler).compile(GetParam().name);
    run_shapes(kernel, GetParam().body, numbers, [&](const Words& got, const Words& right) {
      EXPECT_EQ(got, right) << ptx::listing(kernel);
    });
  }
};

TEST_P(Execution, ComputesWhatTheCpuDoes) { check(""); }

TEST_P(Execution, ComputesWhatTheCpuDoesWithNvcc) {
  try {
    module("nvcc");
  } catch (const ptx::CompileError&) {
    GTEST_SKIP() << "nvcc is not installed";
  }
  check("nvcc");
}

INSTANTIATE_TEST_SUITE_P(Kernels, Execution, testing::ValuesIn(kernels),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace qwengpu

#include "qwen/dense.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "qwen/bf16.h"

namespace qwengpu::qwen {

namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20;  // values a block

float stored(GgufForm form, float value) {
  switch (form) {
    case GgufForm::one_plus:
      return 1.0f + value;
    case GgufForm::minus_exp:
      return static_cast<float>(-std::exp(double{value}));
    case GgufForm::same:
      break;
  }
  return value;
}

float unstored(GgufForm form, float value) {
  switch (form) {
    case GgufForm::one_plus:
      return value - 1.0f;
    case GgufForm::minus_exp:
      return static_cast<float>(std::log(-double{value}));
    case GgufForm::same:
      break;
  }
  return value;
}

std::uint64_t count_of(int rows, int cols) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols);
}

template <typename Word, typename Encode>
void write_blocks(OutputFile& file, const SparseTensor& t, GgufForm form, ProgressMeter& meter,
                  Encode encode) {
  const std::uint64_t count = count_of(t.rows, t.cols);
  const Word background = encode(stored(form, 0));
  std::vector<Word> block(std::min(count, kBlock), background);
  auto entry = t.entries.begin();
  for (std::uint64_t first = 0; first < count; first += block.size()) {
    block.resize(std::min(kBlock, count - first));
    const auto begin = entry;
    const auto index = [&](const Entry& e) {
      return std::uint64_t{e.row} * static_cast<std::uint64_t>(t.cols) + e.col - first;
    };
    for (; entry != t.entries.end() && index(*entry) < block.size(); ++entry) {
      block[index(*entry)] = encode(stored(form, entry->value));
    }
    file.write(block.data(), block.size() * sizeof(Word));
    for (auto e = begin; e != entry; ++e) block[index(*e)] = background;
    meter.add(block.size() * sizeof(Word));
  }
}

template <typename Word, typename Decode>
void read_blocks(InputFile& file, const TensorSpec& spec, GgufForm form, ProgressMeter& meter,
                 SparseTensor& t, Decode decode) {
  const std::uint64_t count = count_of(spec.rows, spec.cols);
  std::vector<Word> block(std::min(count, kBlock));
  for (std::uint64_t first = 0; first < count; first += block.size()) {
    block.resize(std::min(kBlock, count - first));
    file.read(block.data(), block.size() * sizeof(Word), "tensor " + spec.name);
    for (std::uint64_t i = 0; i < block.size(); ++i) {
      if (form == GgufForm::same && block[i] == 0) continue;
      const float value = unstored(form, decode(block[i]));
      if (!std::isfinite(value)) {
        file.fail(fmt::format("tensor {}: value {} is {}, which is no weight", spec.name, first + i,
                              decode(block[i])));
      }
      if (value == 0) continue;
      const std::uint64_t index = first + i;
      t.entries.push_back({static_cast<std::uint32_t>(index / static_cast<std::uint64_t>(spec.cols)),
                           static_cast<std::uint32_t>(index % static_cast<std::uint64_t>(spec.cols)), value});
    }
    meter.add(block.size() * sizeof(Word));
  }
}

}  // namespace

std::uint64_t dense_bytes(const TensorSpec& spec, DType type) {
  return count_of(spec.rows, spec.cols) * bytes_of(type);
}

void write_dense(OutputFile& file, const SparseTensor& tensor, GgufForm form, DType type,
                 ProgressMeter& meter) {
  if (type == DType::f32) {
    write_blocks<float>(file, tensor, form, meter, [](float v) { return v; });
  } else if (type == DType::bf16) {
    write_blocks<std::uint16_t>(file, tensor, form, meter, [](float v) { return to_bf16(v); });
  } else {
    throw std::invalid_argument("weights are not written in fp16: it has no room for the ballast");
  }
}

SparseTensor read_dense(InputFile& file, const TensorSpec& spec, GgufForm form, DType type,
                        ProgressMeter& meter) {
  SparseTensor t{spec.rows, spec.cols, spec.one_dimensional, {}};
  // Nothing is reserved for a tensor that the file does not hold.
  if (dense_bytes(spec, type) > file.remaining()) {
    file.fail(fmt::format("tensor {} needs {} bytes, the file has {} left", spec.name,
                          dense_bytes(spec, type), file.remaining()));
  }
  if (type == DType::f32) {
    read_blocks<std::uint32_t>(file, spec, form, meter, t,
                               [](std::uint32_t w) { return std::bit_cast<float>(w); });
  } else if (type == DType::bf16) {
    read_blocks<std::uint16_t>(file, spec, form, meter, t, from_bf16);
  } else {
    read_blocks<std::uint16_t>(file, spec, form, meter, t, from_fp16);
  }
  return t;
}

void require_exact_bf16(const std::string& name, const SparseTensor& tensor) {
  for (const Entry& e : tensor.entries) {
    if (exactly_representable(e.value)) continue;
    throw std::runtime_error(fmt::format(
        "tensor {}: entry [{}, {}] = {} is not a bf16 number (nearest {}); export this model in fp32", name,
        e.row, e.col, e.value, from_bf16(to_bf16(e.value))));
  }
}

const SparseTensor& tensor_to_write(const Checkpoint& checkpoint, const TensorSpec& spec) {
  const auto found = checkpoint.tensors.find(spec.name);
  if (found == checkpoint.tensors.end())
    throw std::runtime_error(fmt::format("the model has no tensor {}", spec.name));
  const SparseTensor& t = found->second;
  if (t.rows != spec.rows || t.cols != spec.cols) {
    throw std::runtime_error(fmt::format("tensor {} has the shape [{}, {}], the geometry wants [{}, {}]",
                                         spec.name, t.rows, t.cols, spec.rows, spec.cols));
  }
  std::int64_t previous = -1;
  for (const Entry& e : t.entries) {
    const auto index = static_cast<std::int64_t>(e.row) * t.cols + e.col;
    if (e.row >= static_cast<std::uint32_t>(t.rows) || e.col >= static_cast<std::uint32_t>(t.cols) ||
        index <= previous) {
      throw std::runtime_error(
          fmt::format("tensor {}: entry [{}, {}] is out of order or shape; finish the checkpoint "
                      "before writing it",
                      spec.name, e.row, e.col));
    }
    previous = index;
  }
  return t;
}

}  // namespace qwengpu::qwen

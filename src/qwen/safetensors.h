// The header of a safetensors file: length (u64), then JSON with type, shape and byte range of every tensor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "qwen/file.h"
#include "qwen/progress.h"
#include "qwen/tensors.h"

namespace qwengpu::qwen {

struct StoredTensor {
  DType type = DType::f32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  // absolute byte
  std::uint64_t size = 0;
};

// As published: the convolution has a middle dimension of 1.
std::vector<std::uint64_t> published_shape(const TensorSpec& spec);

// Length and header, padded so that the data begin at a multiple of 8.
std::string safetensors_header(const std::vector<TensorSpec>& tensors, DType type);

// Checks every range against the file; tensors of other types than F32, F16 and BF16 are refused.
std::map<std::string, StoredTensor> read_safetensors_header(InputFile& file);

}  // namespace qwengpu::qwen

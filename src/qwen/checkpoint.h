// A Qwen3.5 checkpoint in its working form: every tensor of the published model by its Hugging Face name,
// stored sparsely. Constructed models have a few million non-zeros out of 2.6 G parameters, so this is
// megabytes where a dense file is gigabytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "qwen/geometry.h"

namespace qwengpu::qwen {

struct Entry {
  std::uint32_t row = 0;  // output index, or the index itself in a 1-D tensor
  std::uint32_t col = 0;  // input index (residual column); the tap in conv1d; 0 in a 1-D tensor
  float value = 0;
  bool operator==(const Entry&) const = default;
};

// One tensor of shape [rows, cols] ([out, in]) or [rows] (cols == 1, one_dimensional). conv1d.weight
// [channels, 1, kernel] is kept as [channels, kernel]. Entries are non-zero, unique, and sorted by (row, col)
// once the checkpoint is `finish`ed.
struct SparseTensor {
  int rows = 0;
  int cols = 1;
  bool one_dimensional = false;
  std::vector<Entry> entries;
  bool operator==(const SparseTensor&) const = default;
};

struct Checkpoint {
  Geometry geometry;
  std::map<std::string, SparseTensor>
      tensors;                               // every tensor of the geometry is present, empty when all zero
  std::vector<std::string> token_spellings;  // one per token id; unique
  int eos_token = -1;
  int pad_token = -1;

  // A checkpoint of this geometry with every tensor present and zero.
  explicit Checkpoint(const Geometry& geometry);
  Checkpoint() = default;

  SparseTensor& at(const std::string& name);  // throws std::out_of_range naming the tensor
  const SparseTensor& at(const std::string& name) const;

  // Sorts the entries and drops zeros; throws std::runtime_error naming the tensor when an entry is doubled
  // or outside its shape.
  void finish();

  // Order-independent of how it was built; equal checkpoints have equal hashes. 16 hexadecimal digits.
  std::string hash() const;
};

// "model.layers.N." + suffix, as in the published model.
std::string layer_tensor(int layer, const std::string& suffix);

}  // namespace qwengpu::qwen

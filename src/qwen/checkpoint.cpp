#include "qwen/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "qwen/hash.h"
#include "qwen/tensors.h"

namespace qwengpu::qwen {

namespace {

bool before(const Entry& a, const Entry& b) { return std::tie(a.row, a.col) < std::tie(b.row, b.col); }
bool same_place(const Entry& a, const Entry& b) { return a.row == b.row && a.col == b.col; }
bool is_zero(const Entry& e) { return e.value == 0; }

void sort_and_drop_zeros(std::vector<Entry>& entries) {
  std::erase_if(entries, is_zero);
  if (!std::is_sorted(entries.begin(), entries.end(), before))
    std::sort(entries.begin(), entries.end(), before);
}

void hash_entries(Hasher& hasher, const std::vector<Entry>& entries) {
  hasher.add(static_cast<std::uint64_t>(entries.size()));
  for (const Entry& e : entries) {
    hasher.add((std::uint64_t{e.row} << 32) | e.col);
    hasher.add(std::uint64_t{std::bit_cast<std::uint32_t>(e.value)});
  }
}

void hash_geometry(Hasher& hasher, const Geometry& g) {
  for (const int n : {g.layers, g.vocab, g.hidden, g.intermediate, g.full_attention_interval, g.gdn_heads,
                      g.gdn_key_dim, g.gdn_value_dim, g.conv_kernel, g.attention_heads, g.kv_heads,
                      g.head_dim, g.rotary_dim, static_cast<int>(g.tie_embeddings)}) {
    hasher.add(static_cast<std::uint64_t>(n));
  }
  hasher.add(std::bit_cast<std::uint64_t>(g.rope_theta));
  hasher.add(std::uint64_t{std::bit_cast<std::uint32_t>(g.rms_eps)});
}

}  // namespace

Checkpoint::Checkpoint(const Geometry& shape) : geometry(shape) {
  for (const TensorSpec& spec : tensors_of(shape)) {
    tensors[spec.name] = SparseTensor{spec.rows, spec.cols, spec.one_dimensional, {}};
  }
}

SparseTensor& Checkpoint::at(const std::string& name) {
  return const_cast<SparseTensor&>(std::as_const(*this).at(name));
}

const SparseTensor& Checkpoint::at(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found == tensors.end()) throw std::out_of_range(fmt::format("the model has no tensor {}", name));
  return found->second;
}

void Checkpoint::finish() {
  for (auto& [name, tensor] : tensors) {
    sort_and_drop_zeros(tensor.entries);
    const auto twice = std::adjacent_find(tensor.entries.begin(), tensor.entries.end(), same_place);
    if (twice != tensor.entries.end()) {
      throw std::runtime_error(
          fmt::format("tensor {}: entry [{}, {}] is given twice", name, twice->row, twice->col));
    }
    for (const Entry& e : tensor.entries) {
      if (e.row >= static_cast<std::uint32_t>(tensor.rows) ||
          e.col >= static_cast<std::uint32_t>(tensor.cols)) {
        throw std::runtime_error(fmt::format("tensor {}: entry [{}, {}] is outside its shape [{}, {}]", name,
                                             e.row, e.col, tensor.rows, tensor.cols));
      }
      if (!std::isfinite(e.value)) {
        throw std::runtime_error(fmt::format("tensor {}: entry [{}, {}] is {}", name, e.row, e.col, e.value));
      }
    }
  }
}

std::string Checkpoint::hash() const {
  Hasher hasher;
  hash_geometry(hasher, geometry);
  hasher.add(static_cast<std::uint64_t>(tensors.size()));
  for (const auto& [name, tensor] : tensors) {
    hasher.add(name);
    hasher.add((std::uint64_t{static_cast<std::uint32_t>(tensor.rows)} << 32) |
               static_cast<std::uint32_t>(tensor.cols));
    hasher.add(std::uint64_t{tensor.one_dimensional});
    const auto& entries = tensor.entries;
    if (std::is_sorted(entries.begin(), entries.end(), before) &&
        std::none_of(entries.begin(), entries.end(), is_zero)) {
      hash_entries(hasher, entries);
    } else {
      std::vector<Entry> sorted = entries;
      sort_and_drop_zeros(sorted);
      hash_entries(hasher, sorted);
    }
  }
  hasher.add(static_cast<std::uint64_t>(token_spellings.size()));
  for (const std::string& spelling : token_spellings) hasher.add(spelling);
  hasher.add(static_cast<std::uint64_t>(eos_token));
  hasher.add(static_cast<std::uint64_t>(pad_token));
  return fmt::format("{:016x}", hasher.value());
}

std::string layer_tensor(int layer, const std::string& suffix) {
  return fmt::format("model.layers.{}.{}", layer, suffix);
}

}  // namespace qwengpu::qwen

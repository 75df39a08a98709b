// Compressed matrices of the sparse engine. Values are pushed from the non-zero columns of the residual
// stream into rows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "qwen/checkpoint.h"

namespace qwengpu::engine {

// Bit c of the set is bit c % 64 of word c / 64.
using ColumnSet = std::vector<std::uint64_t>;

inline std::size_t set_words(int columns) { return (static_cast<std::size_t>(columns) + 63) / 64; }
inline bool contains(const ColumnSet& set, std::size_t column) {
  return (set[column / 64] >> (column % 64) & 1) != 0;
}
inline void insert(ColumnSet& set, std::size_t column) {
  set[column / 64] |= std::uint64_t{1} << (column % 64);
}

// One non-zero weight. Row and weight share a cache line: pushes are bound by cache misses.
template <typename Row>
struct Synapse {
  float weight = 0;
  Row row = 0;
};

// Columns -> (row, weight). Only columns with entries are stored: the k-th of them, in order, is found by
// counting the bits of `used` below it, so an idle matrix costs one pass over `used` and nothing else. An
// all-zero matrix has no words at all.
template <typename Row>
struct ColumnMatrix {
  ColumnSet used;                    // [words]
  std::vector<std::uint32_t> rank;   // [words] used columns before the word
  std::vector<std::uint32_t> start;  // [used columns + 1] into synapses
  std::vector<Synapse<Row>> synapses;

  bool empty() const { return synapses.empty(); }
};

template <typename Row>
ColumnMatrix<Row> column_matrix(std::vector<qwen::Entry> entries, int columns) {
  ColumnMatrix<Row> m;
  if (entries.empty()) return m;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.col < b.col; });
  m.used.assign(set_words(columns), 0);
  std::size_t previous = entries.size();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].col != previous) {
      previous = entries[i].col;
      insert(m.used, previous);
      m.start.push_back(static_cast<std::uint32_t>(i));
    }
    m.synapses.push_back({entries[i].value, static_cast<Row>(entries[i].row)});
  }
  m.start.push_back(static_cast<std::uint32_t>(entries.size()));
  std::uint32_t before = 0;
  for (const std::uint64_t word : m.used) {
    m.rank.push_back(before);
    before += static_cast<std::uint32_t>(std::popcount(word));
  }
  return m;
}

// Lists addressed by a dense index: row -> (column, weight) or neuron -> (residual column, weight).
struct ListMatrix {
  std::vector<std::uint32_t> start;              // [lists + 1]
  std::vector<Synapse<std::uint16_t>> synapses;  // row: the index the list leads to
};

// Where pushed sums gather. Outside of a push all of `sum` and `mark` are zero.
template <typename Row>
struct Accumulator {
  std::vector<float> sum;          // [rows]
  std::vector<std::uint8_t> mark;  // [rows] 1 when the row is on the list
  std::vector<Row> list;  // [rows + 1] rows touched; one spare place lets the append be without a branch
  explicit Accumulator(std::size_t rows) : sum(rows), mark(rows), list(rows + 1) {}
  Accumulator() = default;
};

// The active columns of one push.
struct Hits {
  std::vector<std::uint32_t> start, end;  // [columns] into the synapses
  std::vector<float> value;               // [columns]
  explicit Hits(std::size_t columns) : start(columns), end(columns), value(columns) {}
  Hits() = default;
};

// Adds the contributions of all active columns and appends newly touched rows to the list; returns its new
// length. Three passes, so that the cache misses of one column overlap with those of the others instead of
// following mispredicted branches.
template <typename Row>
inline std::uint32_t push(const ColumnMatrix<Row>& m, const float* __restrict x,
                          const std::uint64_t* __restrict active, Hits& hits, Accumulator<Row>& into,
                          std::uint32_t count) {
  const std::uint64_t* __restrict used = m.used.data();
  const std::uint32_t* __restrict start = m.start.data();
  std::uint32_t* __restrict hit_start = hits.start.data();
  std::uint32_t* __restrict hit_end = hits.end.data();
  float* __restrict hit_value = hits.value.data();
  std::uint32_t found = 0;
  for (std::size_t w = 0, words = m.used.size(); w < words; ++w) {
    for (std::uint64_t hit = active[w] & used[w]; hit != 0; hit &= hit - 1) {
      const auto bit = static_cast<unsigned>(std::countr_zero(hit));
      const std::uint64_t below = used[w] & ((std::uint64_t{1} << bit) - 1);
      const std::uint32_t k = m.rank[w] + static_cast<std::uint32_t>(std::popcount(below));
      __builtin_prefetch(start + k);
      hit_start[found] = k;
      hit_value[found] = x[w * 64 + bit];
      ++found;
    }
  }
  const Synapse<Row>* __restrict synapses = m.synapses.data();
  for (std::uint32_t i = 0; i < found; ++i) {
    const std::uint32_t k = hit_start[i];
    hit_start[i] = start[k];
    hit_end[i] = start[k + 1];
    __builtin_prefetch(synapses + start[k]);
  }
  float* __restrict sum = into.sum.data();
  std::uint8_t* __restrict mark = into.mark.data();
  Row* __restrict list = into.list.data();
  for (std::uint32_t i = 0; i < found; ++i) {
    const float value = hit_value[i];
    for (std::uint32_t e = hit_start[i], end = hit_end[i]; e < end; ++e) {
      const Row r = synapses[e].row;
      sum[r] += synapses[e].weight * value;
      list[count] = r;
      count += mark[r] ^ 1u;
      mark[r] = 1;
    }
  }
  return count;
}

}  // namespace qwengpu::engine

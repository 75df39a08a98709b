// A checkpoint compiled for the sparse engine. Everything here follows from properties of the tensors alone:
//
//  - A column whose embedding is the same non-zero number for every token and that no layer writes is
//  constant. What it adds to a
//    projection row is that row's `baseline`, and it takes no part in pushes.
//  - (1 + w) of a norm is folded into the columns of the projections behind it, so that a row is
//    (baseline + sum of W'[row, c] x[c]) * scale with the one number scale = rsqrt(mean(x^2) + eps).
//  - silu is exactly 0 at 0 and below -89: rows with such a baseline need no work until an active column
//  touches them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/sparse_matrix.h"
#include "qwen/checkpoint.h"

namespace qwengpu::engine {

// Rows of silu(scale * (baseline + W' x)).
struct Bank {
  int rows = 0;
  ColumnMatrix<std::uint16_t> columns;
  std::vector<float> baseline;               // [rows]; empty when all zero
  std::vector<std::uint16_t> baseline_rows;  // rows with a baseline
  // Rows whose silu is not 0 even when nothing touches them; depends on the scale, so it is remembered with
  // it.
  std::vector<std::uint16_t> always;
  float always_scale = std::numeric_limits<float>::quiet_NaN();

  bool dead() const { return columns.empty() && baseline.empty(); }
};

struct Neuron {
  float gate_baseline = 0;
  float up_baseline = 0;
  std::uint32_t up = 0;    // first of its synapses in Mlp::up; they end where those of the next neuron begin
  std::uint32_t down = 0;  // the same in Mlp::down
};

// Only neurons that can matter, numbered anew: those with a gate row, an up row and a down column.
struct Mlp {
  Bank gate;
  std::vector<Neuron> neurons;               // [neurons + 1]
  std::vector<Synapse<std::uint16_t>> up;    // from residual columns
  std::vector<Synapse<std::uint16_t>> down;  // to residual columns
};

// The q, k or v rows of one head: projection, depthwise convolution and SiLU.
struct Block {
  Bank bank;  // the current token's tap is folded in unless `history`
  bool history = false;
  std::vector<float> taps;     // [rows, kernel], with `history` only
  std::size_t history_at = 0;  // its [kernel - 1, rows] inputs in SparseState::history, oldest first
  std::size_t history_index = 0;
};

struct GdnHead {
  Block q, k, v;
  bool can_write = false;  // k can be non-zero
  bool can_read = false;   // q, z and out_proj can be non-zero
  bool has_history = false;
};

struct Gdn {
  // beta and decay: rows 0..heads-1 are in_proj_b, heads..2*heads-1 in_proj_a
  ColumnMatrix<std::uint16_t> ba;
  std::vector<float> ba_baseline;  // [2 heads]
  std::vector<float> dt_bias;      // [heads]
  std::vector<float> rate;         // [heads] exp(A_log)
  // beta and decay of untouched heads at `idle_scale`
  float idle_scale = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> idle_beta, idle_decay;  // [heads]
  std::uint64_t idle_beta_heads = 0;         // beta != 0
  std::uint64_t idle_decay_heads = 0;        // decay != 1

  Bank z;  // rows that out_proj does not read are left out
  std::vector<GdnHead> heads;
  std::uint64_t writing_heads = 0, reading_heads = 0, history_heads = 0;
  std::vector<float> norm;   // [value dim]
  ListMatrix out;            // value row -> residual columns written
  std::size_t state_at = 0;  // [heads, key dim, value dim] in SparseState::gdn
  std::size_t used_at = 0;   // [heads, key words] in SparseState::used_keys
};

// Gated full attention, computed in full unless o_proj is zero.
struct Attention {
  bool inert = true;
  std::vector<float> input_norm;      // [hidden] 1 + w
  ListMatrix q, k, v;                 // row -> residual columns read
  ListMatrix o;                       // value row -> residual columns written
  std::vector<float> q_norm, k_norm;  // [head dim] 1 + w
  std::size_t cache = 0;              // index in SparseState::attention
};

struct Layer {
  bool is_attention = false;
  Gdn gdn;
  Attention attention;
  Mlp mlp;
};

struct LmHead {
  ColumnMatrix<std::uint32_t> columns;
  std::vector<float> baseline;  // [vocab]; empty when all zero
  std::vector<std::uint32_t>
      by_baseline;  // tokens, highest baseline first, then lowest id; empty when all zero
};

struct Constant {
  std::uint16_t column = 0;
  float value = 0;
};

struct SparseModel {
  qwen::Geometry geometry;
  std::vector<Constant> constants;
  std::vector<float> constant_of;    // [hidden] 0 where the column is not constant
  ListMatrix embedding;              // token -> residual columns, constants left out
  std::vector<double> token_energy;  // [vocab] sum of squares of the whole embedding
  std::vector<Layer> layers;
  LmHead lm_head;

  std::size_t gdn_size = 0, used_size = 0;  // of SparseState
  std::size_t history_size = 0, history_blocks = 0, attention_layers = 0;
  std::size_t key_words = 0;  // words of a set of keys
};

// std::invalid_argument when an index would not fit the compressed form.
SparseModel compile(const qwen::Checkpoint& checkpoint);

}  // namespace qwengpu::engine

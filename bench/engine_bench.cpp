// Speed of the sparse engine on synthetic models of the full geometry, shaped like constructed weights: a
// constant, ballast, bits on the residual stream, AND gates with gain 128, one-hot memories.

#include <benchmark/benchmark.h>

#include <random>

#include "engine/engine.h"
#include "qwen/checkpoint.h"

namespace {

using qwengpu::qwen::Checkpoint;
using qwengpu::qwen::Geometry;
using qwengpu::qwen::layer_tensor;

constexpr float kGain = 128.0f * 32768.0f;  // gain 128 behind a norm of 2^-15
constexpr int kOne = 2;

// `bits` columns are on in every token; every MLP has `neurons` four-input AND gates; one memory head a GDN
// layer is addressed by every token, and `selected` of the layers write and read it.
Checkpoint synthetic(int layers, int neurons, int bits, int selected) {
  std::mt19937 random(1);
  Geometry g;
  g.layers = layers;
  g.vocab = 2048;
  Checkpoint c(g);
  const auto put = [&](const std::string& name, int row, int col, float value) {
    c.at(name).entries.push_back({static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(col), value});
  };
  const int bit0 = 64, bit_count = 1600, key0 = 1700, out0 = 1900;
  const auto any_bit = [&] { return bit0 + static_cast<int>(random() % bit_count); };
  for (int token = 0; token < g.vocab; ++token) {
    put("model.embed_tokens.weight", token, 0, 1048576.0f);
    put("model.embed_tokens.weight", token, 1, 1048576.0f);
    put("model.embed_tokens.weight", token, kOne, 1);
    std::vector<bool> on(bit_count);
    for (int i = 0; i < bits; ++i) on[random() % bit_count] = true;
    for (int i = 0; i < bit_count; ++i) {
      if (on[i]) put("model.embed_tokens.weight", token, bit0 + i, 1);
    }
    put("model.embed_tokens.weight", token, key0 + static_cast<int>(random() % 128), 1);
    put("lm_head.weight", token, out0 + token % 128, 1 + static_cast<float>(token));
  }
  for (int layer = 0; layer < layers; ++layer) {
    const auto name = [&](const char* suffix) { return layer_tensor(layer, suffix); };
    for (int n = 0; n < neurons; ++n) {
      const int first = any_bit();
      for (int i = 0; i < 4; ++i)
        put(name("mlp.gate_proj.weight"), n, bit0 + (first + i * 397) % bit_count, kGain);
      put(name("mlp.gate_proj.weight"), n, kOne, -3 * kGain);
      put(name("mlp.up_proj.weight"), n, kOne, 32768.0f);
      put(name("mlp.down_proj.weight"), any_bit(), n, 1 / 128.0f);
    }
    if (g.is_attention(layer)) continue;
    const int head = layer % g.gdn_heads, H = g.gdn_heads;
    for (int h = 0; h < H; ++h) {
      put(name("linear_attn.in_proj_b.weight"), h, kOne, h == head && layer < selected ? kGain : -kGain);
      put(name("linear_attn.dt_bias"), h, 0, -128);
    }
    for (int channel = 0; channel < g.gdn_conv_width(); ++channel) {
      put(name("linear_attn.conv1d.weight"), channel, 3, 1);
    }
    for (int i = 0; i < 128; ++i) {
      put(name("linear_attn.in_proj_qkv.weight"), head * 128 + i, key0 + i, kGain);
      put(name("linear_attn.in_proj_qkv.weight"), (H + head) * 128 + i, key0 + i, kGain);
      put(name("linear_attn.in_proj_qkv.weight"), 2 * H * 128 + head * 128 + i, bit0 + i, kGain);
      if (layer < selected && i < 32) put(name("linear_attn.in_proj_z.weight"), head * 128 + i, kOne, kGain);
      put(name("linear_attn.norm.weight"), i, 0, 1);
      put(name("linear_attn.out_proj.weight"), out0 + i, head * 128 + i, 1 / 128.0f);
    }
  }
  c.finish();
  return c;
}

void run(benchmark::State& state, const Checkpoint& checkpoint) {
  const auto engine = qwengpu::engine::make_sparse(checkpoint);
  unsigned token = 1;
  for (auto _ : state) {
    engine->append(static_cast<int>(token % 2048));
    benchmark::DoNotOptimize(engine->argmax());
    token = token * 1664525u + 1013904223u;
  }
  state.SetItemsProcessed(state.iterations());
}

// Tokens with nothing to do: the cost of going through 90 sublayers.
void idle(benchmark::State& state) { run(state, synthetic(45, 0, 0, 0)); }

void gates(benchmark::State& state) {
  run(state, synthetic(45, static_cast<int>(state.range(0)), static_cast<int>(state.range(1)), 0));
}

void memories(benchmark::State& state) { run(state, synthetic(45, 0, 0, static_cast<int>(state.range(0)))); }

void typical(benchmark::State& state) { run(state, synthetic(45, 600, 100, 4)); }

void load(benchmark::State& state) {
  const Checkpoint checkpoint = synthetic(45, 2000, 50, 4);
  for (auto _ : state) benchmark::DoNotOptimize(qwengpu::engine::make_sparse(checkpoint));
}

BENCHMARK(idle);
BENCHMARK(gates)->Args({600, 50})->Args({600, 200})->Args({3000, 50})->Args({3000, 200});
BENCHMARK(memories)->Arg(4)->Arg(45);
BENCHMARK(typical);
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

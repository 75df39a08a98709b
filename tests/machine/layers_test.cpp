// Every layer carries load: with what any one of them adds to the residual stream taken away, a launch that
// uses the whole machine goes wrong.
#include <gtest/gtest.h>

#include <array>

#include "emulator/compare.h"
#include "model_under_test.h"
#include "qwen/checkpoint.h"

namespace qwengpu {
namespace {

// 64 quads with 128 registers each, so that every bank of the register file is in use; a word in each layer
// of shared and of global memory; data in both layers of host staging.
Launch tour() {
  constexpr int staged_bytes = 34 * 1024;
  Launch launch{.assembly = R"(
        MOV R100, SR_THREAD
        LD R1, [R1+0x8800]                  ; came from the second layer of host staging
        IMUL R101, R100, 0x9e3779b1
        IADD R101, R101, 0x01234567
        ISETP.LT.U32 P0, R100, 15
        SHL R2, R100, 13
   @P0  ST [R2+0x1000], R101
   @P0  LD R3, [R2+0x1000]
        ISETP.LT.U32 P1, R100, 6
        IADD R2, R2, 0x1000000
   @P1  ATOM.ADD R4, [R2+4], R101
   @P1  LD R5, [R2+4]
        FFMA R6, R100, 1.5, R3
        SHFL.PUT R5
        XOR R7, R100, 5
        SHFL.GET R7, R7
        BAR
        EXIT
)",
                .block = {256, 1, 1},
                .buffers = {in_buffer(std::vector<std::uint32_t>(staged_bytes / 4)),
                            {.bytes = isa::Parameters::global_bytes - 256 - staged_bytes,
                             .copy_in = false,
                             .copy_out = false,
                             .data = {}}},
                .registers = 128,
                .shared_bytes = isa::Parameters::shared_bytes};
  launch.buffers[0].copy_out = false;
  for (std::size_t i = 0; i < launch.buffers[0].data.size(); i += 4)
    launch.buffers[0].data[i] = static_cast<std::uint32_t>(i) + 1;
  return launch;
}

// Tokens that a model with these weights writes as the emulator does; nothing when that is all of them.
std::optional<std::size_t> goes_wrong(const std::vector<int>& prompt, const qwen::Checkpoint& checkpoint) {
  const auto engine = engine::make_sparse(checkpoint);
  engine->prefill(std::span(prompt).first(prompt.size() - 1));
  const emulator::Comparison result = emulator::compare(prompt, [&](int last) {
    engine->append(last);
    return engine->argmax();
  });
  return result.difference ? std::optional(result.steps) : std::nullopt;
}

TEST(Layers, EachCarriesLoad) {
  const std::vector<int> prompt = emulator::prompt_of(make_case(tour()));
  qwen::Checkpoint checkpoint = compiled_machine().checkpoint;
  ASSERT_FALSE(goes_wrong(prompt, checkpoint));
  for (int layer = 0; layer < checkpoint.geometry.layers; ++layer) {
    const bool attention = checkpoint.geometry.is_attention(layer);
    const std::string parts[] = {"mlp.down_proj.weight",
                                 attention ? "self_attn.o_proj.weight" : "linear_attn.out_proj.weight"};
    std::array<std::vector<qwen::Entry>, std::size(parts)> entries;
    const auto exchange = [&] {
      for (std::size_t i = 0; i < entries.size(); ++i)
        checkpoint.at(qwen::layer_tensor(layer, parts[i])).entries.swap(entries[i]);
    };
    exchange();
    EXPECT_TRUE(goes_wrong(prompt, checkpoint)) << "layer " << layer;
    exchange();
  }
}

}  // namespace
}  // namespace qwengpu

// What the weights must be: exact in bf16, of Qwen3.5-2B's shapes, the same every time, and proved exact by
// the certificate.
#include <gtest/gtest.h>

#include "machine/machine.h"
#include "model_under_test.h"
#include "qwen/bf16.h"
#include "qwen/tensors.h"

namespace qwengpu {
namespace {

TEST(Weights, HaveTheShapesOf45Qwen35Layers) {
  const qwen::Geometry& g = compiled_machine().checkpoint.geometry;
  qwen::Geometry published;  // its defaults are those of Qwen3.5-2B's layers
  published.vocab = g.vocab;
  EXPECT_EQ(g, published);
  EXPECT_EQ(g.layers, 45);
}

TEST(Weights, AreExactInBf16) {
  for (const auto& [name, tensor] : compiled_machine().checkpoint.tensors)
    for (const qwen::Entry& entry : tensor.entries)
      ASSERT_TRUE(qwen::exactly_representable(entry.value)) << name << " holds " << entry.value;
}

TEST(Weights, AreTheSameEveryTime) {
  EXPECT_EQ(machine::compile(machine::make_machine()).checkpoint.hash(),
            compiled_machine().checkpoint.hash());
}

TEST(Weights, AreCertifiedExact) {
  const circuit::Certificate& certificate = compiled_machine().report.certificate;
  EXPECT_LT(certificate.fp32.magnitude, certificate.fp32.limit);
  EXPECT_LT(certificate.energy.magnitude, certificate.energy.limit);
  EXPECT_TRUE(certificate.bf16.empty());
}

TEST(Weights, UseEveryLayer) {
  for (const circuit::LayerReport& layer : compiled_machine().report.layers)
    EXPECT_GT(layer.neurons(), 0) << layer.layer;
}

}  // namespace
}  // namespace qwengpu

// A forward pass of a Qwen3.5 text model, one position at a time: tensors and token ids, nothing else. All
// arithmetic is fp32.
//
// Two implementations with one meaning: `make_reference` reads like the equations; `make_sparse` does work
// proportional to the non-zero activations and weights. Both run every checkpoint of the architecture.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "qwen/checkpoint.h"

namespace qwengpu::engine {

// The whole state of a sequence, for the engine that saved it or another one of the same kind and checkpoint.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
};

// sublayer 2 L is the mixer of layer L and 2 L + 1 its MLP, called after the residual add; -1 is the
// embedding. residual: [hidden], valid during the call only.
using SublayerHook = std::function<void(int sublayer, std::span<const float> residual)>;

class Engine {
 public:
  virtual ~Engine() = default;

  // Back to the empty sequence.
  virtual void reset() = 0;

  // Runs all layers for one more position, without the lm_head. std::invalid_argument when the token is
  // outside the vocabulary.
  virtual void append(int token) = 0;
  // The same from an embedding vector [hidden], like `inputs_embeds` of transformers.
  virtual void append_embedding(std::span<const float> hidden) = 0;
  // Several positions; all tokens are checked before the first is appended.
  virtual void prefill(std::span<const int> tokens);

  // Of the last appended position; std::logic_error when the sequence is empty.
  virtual int argmax() = 0;                 // greedy next token; the lowest id wins a tie
  virtual std::vector<float> logits() = 0;  // [vocab]
  virtual std::span<const float> residual()
      const = 0;  // [hidden] after the last layer, before the final norm

  // Recurrent state of a GDN head: [key][value] row-major. std::invalid_argument when there is no such head.
  virtual std::span<const float> gdn_state(int layer, int head) const = 0;

  virtual int position() const = 0;  // number of positions appended

  virtual std::shared_ptr<const Snapshot> save() const = 0;
  virtual void restore(
      const Snapshot& snapshot) = 0;  // std::invalid_argument when another kind of engine saved it

  const qwen::Geometry& geometry() const { return geometry_; }
  void on_sublayer(SublayerHook hook) { hook_ = std::move(hook); }

 protected:
  explicit Engine(const qwen::Geometry& geometry) : geometry_(geometry) {}
  void check_token(int token) const;
  void check_embedding(std::span<const float> hidden) const;
  void check_head(int layer, int head) const;
  void check_not_empty() const;

  qwen::Geometry geometry_;
  SublayerHook hook_;
};

// The checkpoint must be `finish`ed; the engine keeps what it needs of it. std::invalid_argument when its
// geometry is not possible.
std::unique_ptr<Engine> make_reference(const qwen::Checkpoint& checkpoint);
std::unique_ptr<Engine> make_sparse(const qwen::Checkpoint& checkpoint);

}  // namespace qwengpu::engine

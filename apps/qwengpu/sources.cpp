#include "sources.h"

#include <fmt/format.h>

#include <optional>

#include "emulator/emulator.h"
#include "engine/engine.h"
#include "model.h"

namespace qwengpu {
namespace {

class ModelSource final : public launch::TokenSource {
 public:
  explicit ModelSource(const qwen::Checkpoint& checkpoint) : engine_(engine::make_sparse(checkpoint)) {}

  void reset() override {
    engine_->reset();
    last_.reset();
  }
  void prefill(std::span<const int> tokens) override { engine_->prefill(tokens); }
  int next() override {
    // The last token is appended only when another one is wanted.
    if (last_) engine_->append(*last_);
    last_ = engine_->argmax();
    return *last_;
  }

 private:
  std::unique_ptr<engine::Engine> engine_;
  std::optional<int> last_;
};

class EmulatorSource final : public launch::TokenSource {
 public:
  void reset() override {
    prompt_.clear();
    emulator_.reset();
  }
  void prefill(std::span<const int> tokens) override {
    prompt_.insert(prompt_.end(), tokens.begin(), tokens.end());
  }
  int next() override {
    if (!emulator_) emulator_.emplace(prompt_);
    const std::optional<int> token = emulator_->next();
    if (!token) throw std::logic_error("the emulator was asked for a token after <END>");
    return *token;
  }

 private:
  std::vector<int> prompt_;
  std::optional<emulator::Emulator> emulator_;
};

}  // namespace

Writer make_writer(bool emulate) {
  if (emulate) return {std::make_unique<EmulatorSource>(), "emulator"};
  const Model model = load_model();
  return {std::make_unique<ModelSource>(model.checkpoint),
          fmt::format("weights {}", model.checkpoint.hash())};
}

}  // namespace qwengpu

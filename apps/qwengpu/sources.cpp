#include "sources.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <stdexcept>

#include "emulator/emulator.h"
#include "engine/engine.h"
#include "isa/tokens.h"
#include "model.h"
#include "qwen/gguf.h"
#include "qwen/huggingface.h"
#include "qwen/sparse_file.h"

namespace qwengpu {
namespace {

class ModelSource final : public launch::TokenSource {
 public:
  explicit ModelSource(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}

  void reset() override {
    engine_->reset();
    last_.reset();
  }
  void prefill(std::span<const int> tokens) override {
    if (last_) engine_->append(*last_);  // the <END> of the launch before
    last_.reset();
    engine_->prefill(tokens);
  }
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
    if (!emulator_)
      emulator_.emplace(prompt_);
    else if (!prompt_.empty())
      emulator_->next_launch(prompt_);
    prompt_.clear();
    const std::optional<int> token = emulator_->next();
    if (!token) throw std::logic_error("the emulator was asked for a token after <END>");
    return *token;
  }

 private:
  std::vector<int> prompt_;
  std::optional<emulator::Emulator> emulator_;
};

}  // namespace

void add_writer_options(CLI::App& command, WriterOptions& options) {
  command.add_flag("--emulate", options.emulate, "let the emulator write instead of the model");
  command
      .add_option("--engine", options.engine,
                  "sparse: work in proportion to what is active; reference: plain and slow")
      ->check(CLI::IsMember({"sparse", "reference"}))
      ->capture_default_str();
  command.add_option("--model", options.model,
                     "an exported checkpoint instead of the constructed one: a Hugging Face folder, or a .gguf file");
}

qwen::Checkpoint load_checkpoint(const WriterOptions& options) {
  if (options.model.empty()) return load_model().checkpoint;
  const std::filesystem::path path = options.model;
  if (!std::filesystem::exists(path)) throw std::runtime_error(fmt::format("{} does not exist", path.string()));
  qwen::Checkpoint checkpoint = std::filesystem::is_directory(path) ? qwen::read_huggingface(path)
                                : path.extension() == ".gguf"       ? qwen::read_gguf(path)
                                                                    : qwen::load_sparse(path);
  // Of another vocabulary not even the prompt could be told.
  bool same = static_cast<int>(checkpoint.token_spellings.size()) == isa::vocabulary_size();
  for (int id = 0; same && id < isa::vocabulary_size(); ++id)
    same = checkpoint.token_spellings[static_cast<std::size_t>(id)] == isa::spelling(id);
  if (!same)
    throw std::runtime_error(fmt::format(
        "{} is not a model of this version: its tokens are others; export it again", path.string()));
  return checkpoint;
}

Writer make_writer(const WriterOptions& options) {
  if (options.emulate) return {std::make_unique<EmulatorSource>(), "emulator"};
  const qwen::Checkpoint checkpoint = load_checkpoint(options);
  return {std::make_unique<ModelSource>(options.engine == "reference" ? engine::make_reference(checkpoint)
                                                                      : engine::make_sparse(checkpoint)),
          fmt::format("weights {}", checkpoint.hash())};
}

}  // namespace qwengpu

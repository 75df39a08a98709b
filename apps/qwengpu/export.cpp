// qwengpu export: the model as files that other engines read.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "model.h"
#include "qwen/gguf.h"
#include "qwen/huggingface.h"
#include "terminal.h"

namespace qwengpu {
namespace {

struct Options {
  std::string format, path, type = "bf16";
};

void export_model(const Options& options) {
  const Model model = load_model();
  Terminal terminal;
  const qwen::Progress progress = [&](std::uint64_t done, std::uint64_t total) {
    constexpr double gigabyte = 1e9;
    terminal.progress(fmt::format("{}: {:.2f} of {:.2f} GB", options.path,
                                  static_cast<double>(done) / gigabyte,
                                  static_cast<double>(total) / gigabyte));
  };
  const qwen::DType type = options.type == "f32" ? qwen::DType::f32 : qwen::DType::bf16;
  if (options.format == "hf") {
    qwen::HuggingFaceOptions huggingface;
    huggingface.type = type;
    qwen::write_huggingface(model.checkpoint, options.path, huggingface, progress);
  } else {
    qwen::GgufOptions gguf;
    gguf.type = type;
    qwen::write_gguf(model.checkpoint, options.path, gguf, progress);
  }
  terminal.clear_progress();
  terminal.line(fmt::format("model {} written to {}", model.checkpoint.hash(), options.path));
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "write the model for another inference engine");
  auto options = std::make_shared<Options>();
  command->add_option("FORMAT", options->format, "hf: a Hugging Face folder; gguf: a file for llama.cpp")
      ->required()
      ->check(CLI::IsMember({"hf", "gguf"}));
  command->add_option("PATH", options->path, "folder (hf) or file (gguf) to write")->required();
  command->add_option("--type", options->type, "of the weights: bf16 or f32; they are exact in both")
      ->capture_default_str()
      ->check(CLI::IsMember({"bf16", "f32"}));
  command->callback([options] { export_model(*options); });
}

}  // namespace qwengpu

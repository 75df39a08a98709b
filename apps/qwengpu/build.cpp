// qwengpu build: construct the weights, or say what the cache holds.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "construct.h"
#include "model.h"

namespace qwengpu {
namespace {

void build(bool rebuild) {
  const Model model = load_model(rebuild);
  std::size_t weights = 0;
  for (const auto& [name, tensor] : model.checkpoint.tensors) weights += tensor.entries.size();
  fmt::print("model {}: {} layers, {} tokens, {} weights that are not zero\n", model.checkpoint.hash(),
             model.checkpoint.geometry.layers, model.checkpoint.geometry.vocab, weights);
  fmt::print("{} in {:.1f} s{}\n", model.built ? "constructed" : "loaded", model.seconds,
             model.file.empty() ? "" : ", kept in " + model.file.string());
  if (!model.report.empty()) fmt::print("{}", model.report);
}

}  // namespace

void add_build(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("build", "construct the weights of the model and keep them in the cache");
  auto rebuild = std::make_shared<bool>(false);
  command->add_flag("--rebuild", *rebuild, "construct them again even when the cache has them");
  command->callback([rebuild] { build(*rebuild); });
}

}  // namespace qwengpu

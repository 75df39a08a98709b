#include "model.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "construct.h"
#include "qwen/sparse_file.h"

namespace qwengpu {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::optional<qwen::Checkpoint> from_cache(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return qwen::load_sparse(file);
  } catch (const std::exception& error) {
    // A damaged cache is not the user's problem: the model is built again.
    fmt::print(stderr, "qwengpu: {}; building the model again\n", error.what());
    return std::nullopt;
  }
}

// A model that cannot be kept is still a model.
bool keep(const std::filesystem::path& file, const qwen::Checkpoint& checkpoint) {
  try {
    std::filesystem::create_directories(file.parent_path());
    qwen::save_sparse(checkpoint, file);
    return true;
  } catch (const std::exception& error) {
    fmt::print(stderr, "qwengpu: the model is not kept for the next time: {}\n", error.what());
    return false;
  }
}

}  // namespace

std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::filesystem::path(cache) / "qwengpu";
  if (const char* home = std::getenv("HOME"); home && *home)
    return std::filesystem::path(home) / ".cache" / "qwengpu";
  return std::filesystem::temp_directory_path() / "qwengpu";
}

Model load_model(bool rebuild) {
  Model model;
  model.file = cache_folder() / fmt::format("model-{}.sparse", model_version);
  auto start = std::chrono::steady_clock::now();
  if (!rebuild) {
    if (auto cached = from_cache(model.file)) {
      model.checkpoint = std::move(*cached);
      model.seconds = seconds_since(start);
      return model;
    }
  }
  fmt::print(stderr, "qwengpu: constructing the weights of the model (once; they are kept in {})\n",
             cache_folder().string());
  start = std::chrono::steady_clock::now();
  Construction construction = construct();
  model.checkpoint = std::move(construction.checkpoint);
  model.report = std::move(construction.report);
  model.built = true;
  model.seconds = seconds_since(start);
  fmt::print(stderr, "qwengpu: model {} constructed in {:.1f} s\n", model.checkpoint.hash(), model.seconds);
  if (!keep(model.file, model.checkpoint)) model.file.clear();
  return model;
}

}  // namespace qwengpu

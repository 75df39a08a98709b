// The constructed model: built once, then loaded from a cache.
#pragma once

#include <filesystem>
#include <string>

#include "qwen/checkpoint.h"

namespace qwengpu {

// Hash of the sources that the weights follow from.
extern const char* const model_version;

struct Model {
  qwen::Checkpoint checkpoint;
  std::string report;          // of its construction; empty when it came from the cache
  bool built = false;          // now; else it came from the cache
  double seconds = 0;          // to build or to load
  std::filesystem::path file;  // in the cache; empty when it could not be kept
};

// $XDG_CACHE_HOME/qwengpu or ~/.cache/qwengpu.
std::filesystem::path cache_folder();

// Loads the model of this version from the cache, or builds it and keeps it there. Notes what it does on
// stderr. REBUILD builds it whatever the cache holds. Throws std::runtime_error.
Model load_model(bool rebuild = false);

}  // namespace qwengpu

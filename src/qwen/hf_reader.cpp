#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "qwen/dense.h"
#include "qwen/huggingface.h"
#include "qwen/safetensors.h"

namespace qwengpu::qwen {

namespace fs = std::filesystem;

namespace {

struct Shard {
  explicit Shard(const fs::path& path) : file(path), tensors(read_safetensors_header(file)) {}
  InputFile file;
  std::map<std::string, StoredTensor> tensors;
};

// Shard names from the index, or the one file of a small model.
std::vector<std::string> shard_names(const fs::path& directory) {
  const fs::path index = directory / "model.safetensors.index.json";
  if (!fs::exists(index)) return {"model.safetensors"};
  std::map<std::string, bool> names;
  try {
    const nlohmann::json j = nlohmann::json::parse(read_whole_file(index));
    for (const auto& [tensor, name] : j.at("weight_map").items()) names[name.get<std::string>()] = true;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", index.string(), error.what()));
  }
  std::vector<std::string> list;
  for (const auto& [name, present] : names) {
    if (fs::path(name).filename() != name) {
      throw std::runtime_error(
          fmt::format("{}: the shard {} is not a file of this directory", index.string(), name));
    }
    list.push_back(name);
  }
  return list;
}

}  // namespace

Checkpoint read_huggingface(const fs::path& directory, const Progress& progress) {
  const fs::path config = directory / "config.json";
  Checkpoint c = parse_config(read_whole_file(config), config.string());
  const fs::path tokenizer = directory / "tokenizer.json";
  if (fs::exists(tokenizer)) {
    c.token_spellings = parse_tokenizer(read_whole_file(tokenizer), tokenizer.string(), c.geometry.vocab);
  }

  std::vector<std::unique_ptr<Shard>> shards;
  std::map<std::string, Shard*> where;
  for (const std::string& name : shard_names(directory)) {
    shards.push_back(std::make_unique<Shard>(directory / name));
    for (const auto& [tensor, stored] : shards.back()->tensors) {
      if (!c.tensors.count(tensor)) {
        shards.back()->file.fail(fmt::format("tensor {} is not one of this architecture", tensor));
      }
      if (!where.emplace(tensor, shards.back().get()).second) {
        shards.back()->file.fail(fmt::format("tensor {} is in two shards", tensor));
      }
    }
  }

  const std::vector<TensorSpec> specs = tensors_of(c.geometry);
  std::uint64_t total = 0;
  for (const TensorSpec& spec : specs) {
    const auto found = where.find(spec.name);
    if (found == where.end()) {
      throw std::runtime_error(fmt::format("{}: tensor {} is missing", directory.string(), spec.name));
    }
    const StoredTensor& stored = found->second->tensors.at(spec.name);
    if (stored.shape != published_shape(spec) || stored.size != dense_bytes(spec, stored.type)) {
      found->second->file.fail(
          fmt::format("tensor {} has the shape [{}] and {} bytes, the config wants [{}] and {} bytes",
                      spec.name, fmt::join(stored.shape, ", "), stored.size,
                      fmt::join(published_shape(spec), ", "), dense_bytes(spec, stored.type)));
    }
    total += stored.size;
  }
  ProgressMeter meter(progress, total);
  for (const TensorSpec& spec : specs) {
    Shard& shard = *where.at(spec.name);
    const StoredTensor& stored = shard.tensors.at(spec.name);
    shard.file.seek(stored.begin);
    c.at(spec.name) = read_dense(shard.file, spec, GgufForm::same, stored.type, meter);
  }
  return c;
}

}  // namespace qwengpu::qwen

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "qwen/dense.h"
#include "qwen/huggingface.h"
#include "qwen/safetensors.h"

namespace qwengpu::qwen {

namespace fs = std::filesystem;

namespace {

// Removes the unfinished directory unless it was put in place.
class PartialDirectory {
 public:
  explicit PartialDirectory(const fs::path& final_path)
      : final_(final_path), path_(final_path.string() + ".partial") {
    std::error_code error;
    if (fs::exists(final_) && !(fs::is_directory(final_) && fs::is_empty(final_))) {
      throw std::runtime_error(
          fmt::format("{} exists already: remove it or name another directory", final_.string()));
    }
    fs::remove_all(path_, error);
    if (!fs::create_directories(path_, error)) {
      throw std::runtime_error(fmt::format("{}: cannot be created: {}", path_.string(), error.message()));
    }
  }
  ~PartialDirectory() {
    std::error_code ignored;
    if (!committed_) fs::remove_all(path_, ignored);
  }
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  fs::path operator/(const std::string& name) const { return path_ / name; }
  void commit() {
    std::error_code error;
    fs::remove(final_, error);  // an empty directory at most
    fs::rename(path_, final_, error);
    if (error)
      throw std::runtime_error(
          fmt::format("{}: cannot be put in place: {}", final_.string(), error.message()));
    committed_ = true;
  }

 private:
  fs::path final_;
  fs::path path_;
  bool committed_ = false;
};

std::vector<std::vector<TensorSpec>> shards_of(const Geometry& g, const HuggingFaceOptions& options) {
  std::vector<std::vector<TensorSpec>> shards;
  std::uint64_t room = 0;
  for (const TensorSpec& spec : tensors_of(g)) {
    const std::uint64_t size = dense_bytes(spec, options.type);
    if (shards.empty() || size > room) {
      shards.emplace_back();
      room = std::max(size, options.shard_bytes);
    }
    shards.back().push_back(spec);
    room -= size;
  }
  return shards;
}

}  // namespace

void write_huggingface(const Checkpoint& c, const fs::path& path, const HuggingFaceOptions& options,
                       const Progress& progress) {
  if (options.type == DType::f16) throw std::invalid_argument("safetensors are written in f32 or bf16");
  if (c.token_spellings.size() != static_cast<std::size_t>(c.geometry.vocab)) {
    throw std::runtime_error(
        fmt::format("the model has {} tokens but {} spellings", c.geometry.vocab, c.token_spellings.size()));
  }
  std::uint64_t total = 0;
  for (const TensorSpec& spec : tensors_of(c.geometry)) {
    const SparseTensor& t = tensor_to_write(c, spec);
    if (options.type == DType::bf16) require_exact_bf16(spec.name, t);
    total += dense_bytes(spec, options.type);
  }
  const std::string tokenizer = tokenizer_json(c);

  // A name without a trailing slash, so that `.partial` goes behind it.
  PartialDirectory directory(path.has_filename() ? path : path.parent_path());
  ProgressMeter meter(progress, total);
  nlohmann::ordered_json index;
  index["metadata"] = {{"total_size", total}};
  const auto shards = shards_of(c.geometry, options);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    OutputFile file(directory / name);
    file.write(safetensors_header(shards[i], options.type));
    for (const TensorSpec& spec : shards[i]) {
      write_dense(file, c.at(spec.name), GgufForm::same, options.type, meter);
      index["weight_map"][spec.name] = name;
    }
    file.commit();
  }
  write_whole_file(directory / "model.safetensors.index.json", index.dump(2) + "\n");
  write_whole_file(directory / "config.json", config_json(c, options.type));
  write_whole_file(directory / "generation_config.json", generation_config_json(c));
  write_whole_file(directory / "tokenizer.json", tokenizer);
  write_whole_file(directory / "tokenizer_config.json", tokenizer_config_json(c));
  directory.commit();
}

}  // namespace qwengpu::qwen

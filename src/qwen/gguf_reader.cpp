#include <fmt/ranges.h>

#include <map>
#include <stdexcept>
#include <variant>

#include "qwen/dense.h"
#include "qwen/gguf.h"
#include "qwen/gguf_format.h"

namespace qwengpu::qwen {

namespace {

// Integers of all widths, reals, strings, and arrays of strings; other arrays are passed over.
using MetaValue = std::variant<std::monostate, std::int64_t, double, std::string, std::vector<std::string>>;

struct TensorInfo {
  std::vector<std::uint64_t> shape;  // fastest dimension first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : file_(path) {}

  Checkpoint read(const Progress& progress) {
    read_header();
    Checkpoint c(geometry());
    read_tokenizer(c);
    read_tensors(c, progress);
    return c;
  }

 private:
  std::string text(const char* what) {
    const auto length = file_.read_value<std::uint64_t>(what);
    return file_.read_string(length, what);
  }

  MetaValue scalar(std::uint32_t type, const std::string& key) {
    switch (type) {
      case gguf::u8:
      case gguf::boolean:
        return std::int64_t{file_.read_value<std::uint8_t>(key)};
      case gguf::i8:
        return std::int64_t{file_.read_value<std::int8_t>(key)};
      case gguf::u16:
        return std::int64_t{file_.read_value<std::uint16_t>(key)};
      case gguf::i16:
        return std::int64_t{file_.read_value<std::int16_t>(key)};
      case gguf::u32:
        return std::int64_t{file_.read_value<std::uint32_t>(key)};
      case gguf::i32:
        return std::int64_t{file_.read_value<std::int32_t>(key)};
      case gguf::u64:
      case gguf::i64:
        return file_.read_value<std::int64_t>(key);
      case gguf::f32:
        return double{file_.read_value<float>(key)};
      case gguf::f64:
        return file_.read_value<double>(key);
      case gguf::string:
        return text(key.c_str());
      default:
        file_.fail(fmt::format("{} has the unknown value type {}", key, type));
    }
  }

  MetaValue value(const std::string& key) {
    const auto type = file_.read_value<std::uint32_t>(key);
    if (type != gguf::array) return scalar(type, key);
    const auto element = file_.read_value<std::uint32_t>(key);
    const auto count = file_.read_value<std::uint64_t>(key);
    if (count > file_.remaining()) {
      file_.fail(
          fmt::format("{} announces {} elements, the file has {} bytes left", key, count, file_.remaining()));
    }
    if (element == gguf::array)
      file_.fail(fmt::format("{} is an array of arrays, which no {} model has", key, gguf::kArchitecture));
    if (element != gguf::string) {
      for (std::uint64_t i = 0; i < count; ++i) scalar(element, key);
      return {};
    }
    std::vector<std::string> strings;
    for (std::uint64_t i = 0; i < count; ++i) strings.push_back(text(key.c_str()));
    return strings;
  }

  void read_header() {
    if (file_.read_string(4, "the magic number") != "GGUF") {
      file_.seek(0);
      file_.fail("this is not a GGUF file (its first bytes are not GGUF)");
    }
    const auto version = file_.read_value<std::uint32_t>("the version");
    if (version != gguf::kVersion)
      file_.fail(fmt::format("this is GGUF version {}, version {} is wanted", version, gguf::kVersion));
    const auto tensors = file_.read_value<std::uint64_t>("the number of tensors");
    const auto keys = file_.read_value<std::uint64_t>("the number of metadata keys");
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::string key = text("a metadata key");
      meta_[key] = value(key);
    }
    const std::string architecture = string("general.architecture");
    if (architecture != gguf::kArchitecture) {
      file_.fail(fmt::format("the architecture is {}, {} is wanted", architecture, gguf::kArchitecture));
    }
    for (std::uint64_t i = 0; i < tensors; ++i) {
      const std::string name = text("a tensor name");
      TensorInfo info;
      const auto dimensions = file_.read_value<std::uint32_t>(name);
      if (dimensions < 1 || dimensions > 4)
        file_.fail(fmt::format("tensor {} has {} dimensions", name, dimensions));
      for (std::uint32_t d = 0; d < dimensions; ++d)
        info.shape.push_back(file_.read_value<std::uint64_t>(name));
      info.type = file_.read_value<std::uint32_t>(name);
      info.offset = file_.read_value<std::uint64_t>(name);
      if (!tensors_.emplace(name, info).second) file_.fail(fmt::format("tensor {} is there twice", name));
    }
    const std::int64_t alignment = number("general.alignment", gguf::kAlignment);
    if (alignment < 1 || alignment > 1 << 20) file_.fail(fmt::format("the alignment is {}", alignment));
    data_ = gguf::aligned(file_.position(), static_cast<std::uint64_t>(alignment));
  }

  template <typename T>
  const T* find(const std::string& key) const {
    const auto found = meta_.find(key);
    if (found == meta_.end()) return nullptr;
    const T* value = std::get_if<T>(&found->second);
    if (value == nullptr) file_.fail(fmt::format("the metadata key {} has the wrong type", key));
    return value;
  }
  std::string string(const std::string& key) const {
    const auto* value = find<std::string>(key);
    if (value == nullptr) file_.fail(fmt::format("the metadata key {} is missing", key));
    return *value;
  }
  std::int64_t number(const std::string& key, std::int64_t otherwise) const {
    const auto* value = find<std::int64_t>(key);
    return value == nullptr ? otherwise : *value;
  }
  int dimension(const char* name) const {
    const std::string key = fmt::format("{}.{}", gguf::kArchitecture, name);
    const std::int64_t value = number(key, -1);
    if (value < 0 || value > 1 << 30)
      file_.fail(fmt::format("the metadata key {} is missing or out of range", key));
    return static_cast<int>(value);
  }
  double real(const char* name) const {
    const std::string key = fmt::format("{}.{}", gguf::kArchitecture, name);
    const auto* value = find<double>(key);
    if (value == nullptr) file_.fail(fmt::format("the metadata key {} is missing", key));
    return *value;
  }

  Geometry geometry() const {
    Geometry g;
    g.layers = dimension("block_count");
    g.hidden = dimension("embedding_length");
    g.intermediate = dimension("feed_forward_length");
    g.attention_heads = dimension("attention.head_count");
    g.kv_heads = dimension("attention.head_count_kv");
    g.head_dim = dimension("attention.key_length");
    g.rms_eps = static_cast<float>(real("attention.layer_norm_rms_epsilon"));
    g.rope_theta = real("rope.freq_base");
    g.rotary_dim = dimension("rope.dimension_count");
    g.conv_kernel = dimension("ssm.conv_kernel");
    g.gdn_key_dim = g.gdn_value_dim = dimension("ssm.state_size");
    g.gdn_heads = dimension("ssm.group_count");
    g.full_attention_interval =
        static_cast<int>(number(fmt::format("{}.full_attention_interval", gguf::kArchitecture), 4));
    g.tie_embeddings = tensors_.count("output.weight") == 0;
    const auto embedding = tensors_.find("token_embd.weight");
    if (embedding == tensors_.end() || embedding->second.shape.size() != 2 ||
        embedding->second.shape[1] > 1 << 30) {
      file_.fail("tensor token_embd.weight is missing or not a matrix");
    }
    g.vocab = static_cast<int>(embedding->second.shape[1]);
    try {
      check_geometry(g);
    } catch (const std::invalid_argument& error) {
      file_.fail(error.what());
    }
    if (dimension("ssm.time_step_rank") != g.gdn_heads ||
        dimension("ssm.inner_size") != g.gdn_value_width()) {
      file_.fail(fmt::format(
          "the model has {} key heads and {} value heads of {} / {}; equal numbers are wanted", g.gdn_heads,
          dimension("ssm.time_step_rank"), dimension("ssm.inner_size"), g.gdn_value_dim));
    }
    return g;
  }

  void read_tokenizer(Checkpoint& c) const {
    if (const auto* spellings = find<std::vector<std::string>>("tokenizer.ggml.tokens"))
      c.token_spellings = *spellings;
    if (!c.token_spellings.empty() &&
        c.token_spellings.size() != static_cast<std::size_t>(c.geometry.vocab)) {
      file_.fail(fmt::format("{} tokens are spelled, the embedding has {}", c.token_spellings.size(),
                             c.geometry.vocab));
    }
    c.eos_token = static_cast<int>(number("tokenizer.ggml.eos_token_id", -1));
    c.pad_token = static_cast<int>(number("tokenizer.ggml.padding_token_id", -1));
  }

  DType type_of(const std::string& name, std::uint32_t type) const {
    if (type == gguf::kTensorF32) return DType::f32;
    if (type == gguf::kTensorF16) return DType::f16;
    if (type == gguf::kTensorBf16) return DType::bf16;
    file_.fail(fmt::format("tensor {} has the ggml type {}; F32 (0), F16 (1) and BF16 (30) can be read", name,
                           type));
  }

  void read_tensors(Checkpoint& c, const Progress& progress) {
    const std::vector<TensorSpec> specs = tensors_of(c.geometry);
    std::uint64_t total = 0;
    for (const TensorSpec& spec : specs) {
      const auto found = tensors_.find(spec.gguf_name);
      if (found == tensors_.end()) file_.fail(fmt::format("tensor {} is missing", spec.gguf_name));
      const TensorInfo& info = found->second;
      std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(spec.rows)};
      if (!spec.one_dimensional) shape.insert(shape.begin(), static_cast<std::uint64_t>(spec.cols));
      if (info.shape != shape) {
        file_.fail(fmt::format("tensor {} has the shape [{}], [{}] is wanted", spec.gguf_name,
                               fmt::join(info.shape, ", "), fmt::join(shape, ", ")));
      }
      const std::uint64_t size = dense_bytes(spec, type_of(spec.gguf_name, info.type));
      if (data_ > file_.size() || info.offset > file_.size() - data_ ||
          size > file_.size() - data_ - info.offset) {
        file_.fail(
            fmt::format("tensor {} reaches beyond the end of the file: it was cut short", spec.gguf_name));
      }
      total += size;
    }
    if (tensors_.size() != specs.size()) {
      std::map<std::string, bool> known;
      for (const TensorSpec& spec : specs) known[spec.gguf_name] = true;
      for (const auto& [name, info] : tensors_) {
        if (!known.count(name)) file_.fail(fmt::format("tensor {} is not one of this architecture", name));
      }
    }
    ProgressMeter meter(progress, total);
    for (const TensorSpec& spec : specs) {
      const TensorInfo& info = tensors_.at(spec.gguf_name);
      file_.seek(data_ + info.offset);
      c.at(spec.name) = read_dense(file_, spec, spec.gguf_form, type_of(spec.gguf_name, info.type), meter);
    }
  }

  InputFile file_;
  std::map<std::string, MetaValue> meta_;
  std::map<std::string, TensorInfo> tensors_;
  std::uint64_t data_ = 0;
};

}  // namespace

Checkpoint read_gguf(const std::filesystem::path& path, const Progress& progress) {
  return Reader(path).read(progress);
}

}  // namespace qwengpu::qwen

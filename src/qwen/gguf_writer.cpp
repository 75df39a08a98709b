#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "qwen/dense.h"
#include "qwen/gguf.h"
#include "qwen/gguf_format.h"
#include "qwen/rope_sections.h"

namespace qwengpu::qwen {

namespace {

// The header in memory: metadata and the table of tensors, about as large as the vocabulary.
class Header {
 public:
  template <typename T>
  void raw(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view s) {
    raw(static_cast<std::uint64_t>(s.size()));
    bytes.append(s);
  }
  void key(std::string_view name, gguf::Value type) {
    text(name);
    raw(static_cast<std::uint32_t>(type));
    ++keys;
  }
  void number(std::string_view name, std::int64_t value) {
    key(name, gguf::u32);
    raw(static_cast<std::uint32_t>(value));
  }
  void real(std::string_view name, float value) {
    key(name, gguf::f32);
    raw(value);
  }
  void string(std::string_view name, std::string_view value) {
    key(name, gguf::string);
    text(value);
  }
  void boolean(std::string_view name, bool value) {
    key(name, gguf::boolean);
    raw(static_cast<std::uint8_t>(value));
  }
  void array(std::string_view name, gguf::Value type, std::uint64_t count) {
    key(name, gguf::array);
    raw(static_cast<std::uint32_t>(type));
    raw(count);
  }

  std::string bytes;
  std::uint64_t keys = 0;
};

void model_metadata(Header& h, const Geometry& g) {
  const auto key = [](const char* name) { return fmt::format("{}.{}", gguf::kArchitecture, name); };
  h.number(key("block_count"), g.layers);
  h.number(key("context_length"), 262144);
  h.number(key("embedding_length"), g.hidden);
  h.number(key("feed_forward_length"), g.intermediate);
  h.number(key("attention.head_count"), g.attention_heads);
  h.number(key("attention.head_count_kv"), g.kv_heads);
  h.number(key("attention.key_length"), g.head_dim);
  h.number(key("attention.value_length"), g.head_dim);
  h.real(key("attention.layer_norm_rms_epsilon"), g.rms_eps);
  h.real(key("rope.freq_base"), static_cast<float>(g.rope_theta));
  h.number(key("rope.dimension_count"), g.rotary_dim);
  h.array(key("rope.dimension_sections"), gguf::i32, 4);
  for (const int section : rope_sections(g)) h.raw(static_cast<std::int32_t>(section));
  h.raw(std::int32_t{0});
  h.number(key("ssm.conv_kernel"), g.conv_kernel);
  h.number(key("ssm.state_size"), g.gdn_key_dim);
  h.number(key("ssm.group_count"), g.gdn_heads);
  h.number(key("ssm.time_step_rank"), g.gdn_heads);
  h.number(key("ssm.inner_size"), g.gdn_value_width());
  h.number(key("full_attention_interval"), g.full_attention_interval);
}

// Every token is user-defined, so that its spelling is matched as one token and there is nothing to merge.
void tokenizer_metadata(Header& h, const Checkpoint& c) {
  h.string("tokenizer.ggml.model", "gpt2");
  h.string("tokenizer.ggml.pre", "qwen35");
  h.array("tokenizer.ggml.tokens", gguf::string, c.token_spellings.size());
  for (const std::string& s : c.token_spellings) h.text(s);
  h.array("tokenizer.ggml.token_type", gguf::i32, c.token_spellings.size());
  for (std::size_t id = 0; id < c.token_spellings.size(); ++id) {
    const bool control = static_cast<int>(id) == c.eos_token || static_cast<int>(id) == c.pad_token;
    h.raw(control ? gguf::kTokenControl : gguf::kTokenUserDefined);
  }
  h.array("tokenizer.ggml.merges", gguf::string, 0);
  if (c.eos_token >= 0) h.number("tokenizer.ggml.eos_token_id", c.eos_token);
  if (c.pad_token >= 0) {
    h.number("tokenizer.ggml.padding_token_id", c.pad_token);
    h.number("tokenizer.ggml.bos_token_id",
             c.pad_token);  // never added; llama.cpp's default id may not exist here
  }
  h.boolean("tokenizer.ggml.add_bos_token", false);
}

}  // namespace

void write_gguf(const Checkpoint& c, const std::filesystem::path& path, const GgufOptions& options,
                const Progress& progress) {
  const Geometry& g = c.geometry;
  if (g.gdn_key_dim != g.gdn_value_dim) {
    throw std::runtime_error(
        fmt::format("GGUF has one state size for keys and values, this model has {} and {}", g.gdn_key_dim,
                    g.gdn_value_dim));
  }
  if (options.type == DType::f16) throw std::invalid_argument("GGUF files are written in f32 or bf16");
  if (c.token_spellings.size() != static_cast<std::size_t>(g.vocab)) {
    throw std::runtime_error(
        fmt::format("the model has {} tokens but {} spellings", g.vocab, c.token_spellings.size()));
  }
  const std::vector<TensorSpec> specs = tensors_of(g);
  const auto type_of = [&](const TensorSpec& spec) {
    return spec.one_dimensional || spec.depthwise_conv ? DType::f32 : options.type;
  };
  for (const TensorSpec& spec : specs) {
    const SparseTensor& t = tensor_to_write(c, spec);
    if (type_of(spec) == DType::bf16) require_exact_bf16(spec.name, t);
  }

  Header meta;
  meta.string("general.architecture", gguf::kArchitecture);
  meta.string("general.type", "model");
  meta.string("general.name", options.name);
  meta.number("general.file_type", options.type == DType::f32 ? gguf::kFileF32 : gguf::kFileBf16);
  meta.number("general.quantization_version", 2);
  meta.number("general.alignment", gguf::kAlignment);
  model_metadata(meta, g);
  tokenizer_metadata(meta, c);

  Header head;
  head.bytes = "GGUF";
  head.raw(gguf::kVersion);
  head.raw(static_cast<std::uint64_t>(specs.size()));
  head.raw(meta.keys);
  head.bytes += meta.bytes;
  std::uint64_t offset = 0;
  for (const TensorSpec& spec : specs) {
    head.text(spec.gguf_name);
    head.raw(std::uint32_t{spec.one_dimensional ? 1u : 2u});
    if (!spec.one_dimensional)
      head.raw(static_cast<std::uint64_t>(spec.cols));  // the fastest dimension comes first
    head.raw(static_cast<std::uint64_t>(spec.rows));
    head.raw(type_of(spec) == DType::f32 ? gguf::kTensorF32 : gguf::kTensorBf16);
    head.raw(offset);
    offset += gguf::aligned(dense_bytes(spec, type_of(spec)), gguf::kAlignment);
  }
  head.bytes.resize(gguf::aligned(head.bytes.size(), gguf::kAlignment));

  OutputFile file(path);
  file.write(head.bytes);
  ProgressMeter meter(progress, offset);
  const std::array<char, gguf::kAlignment> zeros{};
  for (const TensorSpec& spec : specs) {
    write_dense(file, c.at(spec.name), spec.gguf_form, type_of(spec), meter);
    const std::uint64_t size = dense_bytes(spec, type_of(spec));
    const std::uint64_t padding = gguf::aligned(size, gguf::kAlignment) - size;
    file.write(zeros.data(), padding);
    meter.add(padding);
  }
  file.commit();
}

}  // namespace qwengpu::qwen

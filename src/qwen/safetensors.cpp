#include "qwen/safetensors.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "qwen/dense.h"

namespace qwengpu::qwen {

std::vector<std::uint64_t> published_shape(const TensorSpec& spec) {
  const auto rows = static_cast<std::uint64_t>(spec.rows), cols = static_cast<std::uint64_t>(spec.cols);
  if (spec.one_dimensional) return {rows};
  if (spec.depthwise_conv) return {rows, 1, cols};
  return {rows, cols};
}

std::string safetensors_header(const std::vector<TensorSpec>& tensors, DType type) {
  nlohmann::json j;
  j["__metadata__"] = {{"format", "pt"}};
  std::uint64_t offset = 0;
  for (const TensorSpec& spec : tensors) {
    const std::uint64_t end = offset + dense_bytes(spec, type);
    j[spec.name] = {{"dtype", type == DType::f32 ? "F32" : "BF16"},
                    {"shape", published_shape(spec)},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string json = j.dump();
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = json.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + json;
}

std::map<std::string, StoredTensor> read_safetensors_header(InputFile& file) {
  constexpr std::uint64_t kLongest = 100'000'000;  // the limit of the safetensors library
  const auto length = file.read_value<std::uint64_t>("the header length");
  if (length > file.remaining() || length > kLongest) {
    file.fail(
        fmt::format("a header of {} bytes is announced, the file has {} left", length, file.remaining()));
  }
  const std::string text = file.read_string(length, "the header");
  const std::uint64_t data = file.position();
  std::map<std::string, StoredTensor> tensors;
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    for (const auto& [name, t] : j.items()) {
      if (name == "__metadata__") continue;
      StoredTensor stored;
      const std::string type = t.at("dtype");
      if (type == "F32") {
        stored.type = DType::f32;
      } else if (type == "F16") {
        stored.type = DType::f16;
      } else if (type == "BF16") {
        stored.type = DType::bf16;
      } else {
        file.fail(fmt::format("tensor {} has the type {}; F32, F16 and BF16 can be read", name, type));
      }
      stored.shape = t.at("shape").get<std::vector<std::uint64_t>>();
      const auto begin = t.at("data_offsets").at(0).get<std::uint64_t>();
      const auto end = t.at("data_offsets").at(1).get<std::uint64_t>();
      if (begin > end || end > file.size() - data) {
        file.fail(fmt::format(
            "tensor {} has the bytes {} to {}, the file has {} bytes of data: it was cut short or is corrupt",
            name, begin, end, file.size() - data));
      }
      stored.begin = data + begin;
      stored.size = end - begin;
      tensors[name] = std::move(stored);
    }
  } catch (const nlohmann::json::exception& error) {
    file.fail(fmt::format("the header is not valid: {}", error.what()));
  }
  return tensors;
}

}  // namespace qwengpu::qwen

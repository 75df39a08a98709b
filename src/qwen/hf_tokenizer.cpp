// A tokenizer of the `tokenizers` library that knows every token as an added one: its spelling is matched as
// it stands, the longest first. Behind it is a BPE model with the same vocabulary and no merges; text that is
// no spelling yields no tokens.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "qwen/huggingface.h"

namespace qwengpu::qwen {

namespace {

using Json = nlohmann::ordered_json;

bool is_special(const Checkpoint& c, std::size_t id) {
  return static_cast<int>(id) == c.eos_token || static_cast<int>(id) == c.pad_token;
}

Json spelling_or_null(const Checkpoint& c, int token) {
  return token >= 0 ? Json(c.token_spellings.at(static_cast<std::size_t>(token))) : Json(nullptr);
}

}  // namespace

std::string tokenizer_json(const Checkpoint& c) {
  std::set<std::string> unique;
  for (const std::string& s : c.token_spellings) {
    if (s.empty() || !unique.insert(s).second) {
      throw std::runtime_error(fmt::format("token spellings must be unique and not empty; \"{}\" is not", s));
    }
  }
  Json added = Json::array();
  for (std::size_t id = 0; id < c.token_spellings.size(); ++id) {
    added.push_back({{"id", id},
                     {"content", c.token_spellings[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", is_special(c, id)}});
  }
  nlohmann::json vocab = nlohmann::json::object();  // sorted: no quadratic search for doubles
  for (std::size_t id = 0; id < c.token_spellings.size(); ++id) vocab[c.token_spellings[id]] = id;
  Json j;
  j["version"] = "1.0";
  j["truncation"] = nullptr;
  j["padding"] = nullptr;
  j["added_tokens"] = std::move(added);
  j["normalizer"] = nullptr;
  j["pre_tokenizer"] = nullptr;
  j["post_processor"] = nullptr;
  j["decoder"] = {{"type", "Fuse"}};  // spellings are joined without blanks
  j["model"] = {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false}};
  // The vocabulary is put in as text, as it is of another (sorted) type.
  std::string text = j.dump(1);
  const std::string tail = "\n }\n}";
  if (!text.ends_with(tail)) throw std::logic_error("unexpected form of tokenizer.json");
  text.resize(text.size() - tail.size());
  return text + ",\n  \"vocab\": " + vocab.dump() + ",\n  \"merges\": []" + tail + "\n";
}

std::string tokenizer_config_json(const Checkpoint& c) {
  Json j;
  j["tokenizer_class"] = "PreTrainedTokenizerFast";
  j["model_max_length"] = 262144;
  j["clean_up_tokenization_spaces"] = false;
  j["add_bos_token"] = false;
  j["bos_token"] = nullptr;
  j["eos_token"] = spelling_or_null(c, c.eos_token);
  j["pad_token"] = spelling_or_null(c, c.pad_token);
  return j.dump(2) + "\n";
}

std::vector<std::string> parse_tokenizer(const std::string& text, const std::string& file, int vocab) {
  std::vector<std::string> spellings(static_cast<std::size_t>(vocab));
  std::vector<bool> known(spellings.size());
  const auto set = [&](std::int64_t id, const std::string& spelling) {
    if (id < 0 || id >= vocab) {
      throw std::runtime_error(
          fmt::format("{}: token \"{}\" has the id {}, the vocabulary has {}", file, spelling, id, vocab));
    }
    spellings[id] = spelling;
    known[id] = true;
  };
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    for (const auto& [spelling, id] : j.at("model").at("vocab").items())
      set(id.get<std::int64_t>(), spelling);
    for (const auto& token : j.at("added_tokens"))
      set(token.at("id").get<std::int64_t>(), token.at("content"));
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", file, error.what()));
  }
  for (std::size_t id = 0; id < known.size(); ++id) {
    if (!known[id]) throw std::runtime_error(fmt::format("{}: token {} has no spelling", file, id));
  }
  return spellings;
}

}  // namespace qwengpu::qwen

// Round trips of all formats, and what happens with files that are damaged, cut short or not of this kind.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "qwen/file.h"
#include "qwen/gguf.h"
#include "qwen/huggingface.h"
#include "qwen/sparse_file.h"
#include "qwen/test_checkpoint.h"
#include "qwen/test_directory.h"

namespace qwengpu::qwen {
namespace {

namespace fs = std::filesystem;

// A_log goes through exp and log in GGUF, and 1 + w of a random norm is rounded: constructed models have
// integers there.
Checkpoint sample(bool tie = false) {
  Geometry g = small_geometry();
  g.tie_embeddings = tie;
  Checkpoint c = random_checkpoint(g, 11, 0.2);
  for (auto& [name, t] : c.tensors) {
    if (name.find("A_log") != std::string::npos) t.entries.clear();
    if (name.find("norm.weight") == std::string::npos) continue;
    for (auto& e : t.entries) e.value = static_cast<float>(e.row % 7) - 2;
  }
  c.finish();
  return c;
}

void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.geometry, b.geometry);
  EXPECT_EQ(a.token_spellings, b.token_spellings);
  EXPECT_EQ(a.eos_token, b.eos_token);
  EXPECT_EQ(a.pad_token, b.pad_token);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, t] : a.tensors) EXPECT_EQ(t, b.at(name)) << name;
  EXPECT_EQ(a.hash(), b.hash());
}

std::string bytes_of_file(const fs::path& path) { return read_whole_file(path); }
void put(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// Behind a tensor's name in the header of a GGUF file; the length before it tells it from names that begin or
// end alike.
std::size_t behind_name(const std::string& bytes, const std::string& name) {
  const std::uint64_t length = name.size();
  return bytes.find(std::string(reinterpret_cast<const char*>(&length), 8) + name) + 8 + name.size();
}

// Where the header of the sample's GGUF file ends: lm_head is the last tensor, its dimensions, shape, type
// and offset follow.
std::size_t gguf_header_size(const std::string& bytes) {
  return behind_name(bytes, "output.weight") + 4 + 16 + 4 + 8;
}

TEST(SparseFile, ComesBackAsItWas) {
  const TestDirectory dir;
  for (const bool tie : {false, true}) {
    const Checkpoint c = random_checkpoint(sample(tie).geometry, 5);
    save_sparse(c, dir / "model");
    expect_same(c, load_sparse(dir / "model"));
  }
  EXPECT_FALSE(fs::exists(dir / "model.partial"));
}

TEST(SparseFile, IsRefusedWhenCutShortAnywhereOrDamaged) {
  const TestDirectory dir;
  save_sparse(sample(), dir / "model");
  const std::string good = bytes_of_file(dir / "model");
  for (std::size_t size = 0; size < 200; ++size) {
    put(dir / "cut", good.substr(0, size));
    ASSERT_NE(error_of([&] { load_sparse(dir / "cut"); }).find((dir / "cut").string()), std::string::npos)
        << size;
  }
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
    put(dir / "bad", bad);
    ASSERT_NE(error_of([&] { load_sparse(dir / "bad"); }), "") << i;
  }
  put(dir / "bad", good + "x");
  EXPECT_NE(error_of([&] { load_sparse(dir / "bad"); }).find("cut short or added to"), std::string::npos);
  EXPECT_NE(error_of([&] { load_sparse(dir / "none"); }).find("no such file"), std::string::npos);
}

TEST(Gguf, ComesBackAsItWas) {
  const TestDirectory dir;
  for (const bool tie : {false, true}) {
    for (const DType type : {DType::f32, DType::bf16}) {
      const Checkpoint c = sample(tie);
      write_gguf(c, dir / "m.gguf", {type, "test"});
      expect_same(c, read_gguf(dir / "m.gguf"));
    }
  }
}

TEST(Gguf, FollowsTheLayoutOfLlamaCpp) {
  const TestDirectory dir;
  Checkpoint c = sample();
  c.at("model.layers.0.input_layernorm.weight").entries = {{1, 0, 3.0f}};
  c.at("model.layers.0.linear_attn.A_log").entries = {};
  c.at("model.layers.0.linear_attn.norm.weight").entries = {{0, 0, 1.0f}};
  write_gguf(c, dir / "m.gguf", {DType::f32, "test"});
  const std::string bytes = bytes_of_file(dir / "m.gguf");
  // Name, dimensions, type and offset of a tensor stand together.
  const auto value_at = [&](const std::string& name, std::size_t dimensions, std::size_t index) {
    const std::size_t at = behind_name(bytes, name) + 4 + 8 * dimensions + 4;
    std::uint64_t offset;
    std::memcpy(&offset, &bytes[at], 8);
    const std::size_t end = (gguf_header_size(bytes) + 31) / 32 * 32;
    float value;
    std::memcpy(&value, &bytes[end + offset + 4 * index], 4);
    return value;
  };
  EXPECT_EQ(value_at("blk.0.attn_norm.weight", 1, 0), 1.0f);
  EXPECT_EQ(value_at("blk.0.attn_norm.weight", 1, 1), 4.0f);
  EXPECT_EQ(value_at("blk.0.ssm_a", 1, 0), -1.0f);
  EXPECT_EQ(value_at("blk.0.ssm_norm.weight", 1, 0), 1.0f);
  EXPECT_EQ(value_at("blk.0.ssm_norm.weight", 1, 1), 0.0f);
}

TEST(Gguf, WeightsThatBf16CannotHoldAreNamed) {
  const TestDirectory dir;
  Checkpoint c = sample();
  c.at("model.layers.1.mlp.up_proj.weight").entries = {{2, 3, 257.0f}};
  const std::string error = error_of([&] { write_gguf(c, dir / "m.gguf"); });
  EXPECT_NE(error.find("model.layers.1.mlp.up_proj.weight: entry [2, 3] = 257"), std::string::npos) << error;
  EXPECT_NE(error_of([&] { write_huggingface(c, dir / "hf"); }).find("up_proj"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(dir.path));
}

TEST(Gguf, IsRefusedWhenCutShortAtAnyByteOfTheHeader) {
  const TestDirectory dir;
  write_gguf(sample(), dir / "m.gguf");
  const std::string good = bytes_of_file(dir / "m.gguf");
  const std::size_t header = gguf_header_size(good);
  for (std::size_t size = header + 200; size-- > 0;) {
    fs::resize_file(dir / "m.gguf", size);
    const std::string error = error_of([&] { read_gguf(dir / "m.gguf"); });
    ASSERT_NE(error.find((dir / "m.gguf").string() + ": at byte "), std::string::npos)
        << size << ": " << error;
  }
  put(dir / "m.gguf", good.substr(0, good.size() - 40));
  EXPECT_NE(error_of([&] { read_gguf(dir / "m.gguf"); }).find("cut short"), std::string::npos);
}

TEST(Gguf, DamagedHeadersDoNoHarm) {
  const TestDirectory dir;
  write_gguf(sample(), dir / "m.gguf");
  const std::string good = bytes_of_file(dir / "m.gguf");
  const std::size_t header = gguf_header_size(good);
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    const std::size_t at = random() % header;
    if (i % 3 == 0) {  // a huge number
      std::memset(&bad[at], i % 2 == 0 ? 0xff : 0x7f, std::min<std::size_t>(8, header - at));
    } else {
      bad[at] ^= static_cast<char>(1 + random() % 255);
    }
    put(dir / "bad", bad);
    error_of([&] { read_gguf(dir / "bad"); });  // any other exception, or a crash, fails
  }
}

TEST(Gguf, OtherFilesAndArchitecturesAreRefused) {
  const TestDirectory dir;
  put(dir / "m.gguf", std::string(1000, 'x'));
  EXPECT_NE(error_of([&] { read_gguf(dir / "m.gguf"); }).find("not a GGUF file"), std::string::npos);
  write_gguf(sample(), dir / "m.gguf");
  std::string bytes = bytes_of_file(dir / "m.gguf");
  bytes[bytes.find("qwen35") + 5] = '6';
  put(dir / "m.gguf", bytes);
  EXPECT_NE(error_of([&] { read_gguf(dir / "m.gguf"); }).find("architecture is qwen36"), std::string::npos);
}

TEST(HuggingFace, ComesBackAsItWas) {
  const TestDirectory dir;
  for (const bool tie : {false, true}) {
    for (const DType type : {DType::f32, DType::bf16}) {
      const Checkpoint c = sample(tie);
      const fs::path path = dir / ("m" + std::to_string(tie) + std::to_string(static_cast<int>(type)));
      write_huggingface(c, path, {type, 50'000});
      EXPECT_TRUE(fs::exists(path / "model.safetensors.index.json"));
      expect_same(c, read_huggingface(path));
      for (const auto& file : fs::directory_iterator(path)) {
        if (file.path().extension() != ".safetensors") continue;
        EXPECT_LT(file.file_size(), 60'000u);
      }
    }
  }
}

TEST(HuggingFace, ConfigSaysWhatTransformersExpects) {
  Geometry g;
  g.vocab = 100;
  Checkpoint c(g);
  c.eos_token = 99;
  const auto j = nlohmann::json::parse(config_json(c, DType::bf16));
  EXPECT_EQ(j["architectures"][0], "Qwen3_5ForCausalLM");
  EXPECT_EQ(j["model_type"], "qwen3_5_text");
  EXPECT_EQ(j["layer_types"].size(), 45u);
  EXPECT_EQ(j["layer_types"][3], "full_attention");
  EXPECT_EQ(j["layer_types"][4], "linear_attention");
  EXPECT_EQ(j["rope_parameters"]["mrope_section"], (std::vector<int>{11, 11, 10}));
  EXPECT_EQ(j["rope_parameters"]["partial_rotary_factor"], 0.25);
  EXPECT_EQ(j["rms_norm_eps"], 1e-6);
  EXPECT_EQ(j["eos_token_id"], 99);
  EXPECT_TRUE(j["pad_token_id"].is_null());
}

TEST(HuggingFace, TokenizerSpellsEveryTokenAsOne) {
  const Checkpoint c = sample();
  const std::string text = tokenizer_json(c);
  const auto j = nlohmann::json::parse(text);
  EXPECT_EQ(j["added_tokens"].size(), c.token_spellings.size());
  EXPECT_EQ(j["model"]["vocab"].size(), c.token_spellings.size());
  EXPECT_EQ(parse_tokenizer(text, "tokenizer.json", c.geometry.vocab), c.token_spellings);
  Checkpoint twice = c;
  twice.token_spellings[3] = twice.token_spellings[4];
  EXPECT_NE(error_of([&] { tokenizer_json(twice); }).find("unique"), std::string::npos);
}

TEST(HuggingFace, AnExistingDirectoryIsNotOverwritten) {
  const TestDirectory dir;
  fs::create_directories(dir / "m");
  put(dir / "m" / "precious", "x");
  EXPECT_NE(error_of([&] { write_huggingface(sample(), dir / "m"); }).find("exists already"),
            std::string::npos);
  EXPECT_TRUE(fs::exists(dir / "m" / "precious"));
}

TEST(HuggingFace, DamagedDirectoriesAreRefusedWithTheFileNamed) {
  const TestDirectory dir;
  const fs::path m = dir / "m";
  write_huggingface(sample(), m);
  const fs::path shard = m / "model-00001-of-00001.safetensors";
  const std::string good = bytes_of_file(shard);
  std::uint64_t header;
  std::memcpy(&header, good.data(), 8);
  for (std::size_t size = 0; size < 8 + header + 100; ++size) {
    put(shard, good.substr(0, size));
    ASSERT_NE(error_of([&] { read_huggingface(m); }).find(shard.string()), std::string::npos) << size;
  }
  std::mt19937 random(17);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    bad[random() % (8 + header)] ^= static_cast<char>(1 + random() % 255);
    put(shard, bad);
    error_of([&] { read_huggingface(m); });
  }
  std::string huge = good;
  std::memset(huge.data(), 0x7f, 8);
  put(shard, huge);
  EXPECT_NE(error_of([&] { read_huggingface(m); }).find("announced"), std::string::npos);
  put(shard, good);
  const std::string config = bytes_of_file(m / "config.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = config;
    text.replace(text.find(from), from.size(), to);
    put(m / "config.json", text);
    return error_of([&] { read_huggingface(m); });
  };
  EXPECT_NE(with("qwen3_5_text", "llama").find("the model type is llama"), std::string::npos);
  EXPECT_NE(with("\"hidden_size\": 64", "\"hidden_size\": 65")
                .find("tensor model.embed_tokens.weight has the shape"),
            std::string::npos);
  EXPECT_NE(with("\"hidden_size\": 64", "\"hidden_size\": -1").find("hidden size"), std::string::npos);
  EXPECT_NE(with("\"hidden_size\": 64", "\"hidden_size\": \"x\"").find("config.json"), std::string::npos);
  EXPECT_NE(with("full_attention\"", "linear_attention\"").find("layer"), std::string::npos);
  put(m / "config.json", config);
  EXPECT_EQ(error_of([&] { read_huggingface(m); }), "");
  std::string nan = good;
  std::memset(&nan[8 + header + 1000], 0xff, 4);
  put(shard, nan);
  EXPECT_NE(error_of([&] { read_huggingface(m); }).find("no weight"), std::string::npos);
  fs::remove(shard);
  EXPECT_NE(error_of([&] { read_huggingface(m); }).find("no such file"), std::string::npos);
}

// As on a full disk: the system refuses to let files grow beyond a limit.
TEST(Writers, FailedWritesLeaveNothingBehind) {
  const TestDirectory dir;
  const Checkpoint c = sample();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 20'000;
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string sparse = error_of([&] { save_sparse(random_checkpoint(c.geometry, 1), dir / "s"); });
  const std::string gguf = error_of([&] { write_gguf(c, dir / "g"); });
  const std::string hf = error_of([&] { write_huggingface(c, dir / "h"); });
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  for (const auto& error : {sparse, gguf, hf})
    EXPECT_NE(error.find("cannot be written"), std::string::npos) << error;
  EXPECT_TRUE(fs::is_empty(dir.path));
  EXPECT_NE(error_of([&] { write_gguf(c, dir / "no such directory" / "g"); }).find("cannot be created"),
            std::string::npos);
}

TEST(Writers, ReportProgressUpToTheTotal) {
  const TestDirectory dir;
  const Checkpoint c = sample();
  std::uint64_t last = 0, total = 0;
  const Progress progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  };
  write_gguf(c, dir / "g", {}, progress);
  EXPECT_EQ(last, total);
  last = 0;
  read_gguf(dir / "g", progress);
  EXPECT_EQ(last, total);
  last = 0;
  write_huggingface(c, dir / "h", {}, progress);
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 0u);
}

// A caller that wants to stop throws from its progress callback.
TEST(Writers, StoppedByTheirProgressCallbackLeaveNothingBehind) {
  const TestDirectory dir;
  const Progress stop = [](std::uint64_t done, std::uint64_t) {
    if (done > 1000) throw std::runtime_error("stopped");
  };
  EXPECT_EQ(error_of([&] { write_gguf(sample(), dir / "g", {}, stop); }), "stopped");
  EXPECT_EQ(error_of([&] { write_huggingface(sample(), dir / "h", {}, stop); }), "stopped");
  EXPECT_TRUE(fs::is_empty(dir.path));
}

TEST(Writers, UnfinishedCheckpointsAreRefused) {
  const TestDirectory dir;
  Checkpoint c = sample();
  std::swap(c.at("lm_head.weight").entries.front(), c.at("lm_head.weight").entries.back());
  EXPECT_NE(error_of([&] { write_gguf(c, dir / "g"); }).find("finish the checkpoint"), std::string::npos);
}

}  // namespace
}  // namespace qwengpu::qwen

// Layout, little-endian: magic (8 bytes), version (u32), payload length (u64), checksum of the payload (u64),
// payload. Payload: geometry, token spellings, eos and pad, then every tensor of the geometry in the order of
// `tensors_of`: the number of entries, and for each the distance to the previous one in row-major order (a
// varint) and the value (f32).

#include "qwen/sparse_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "qwen/dense.h"
#include "qwen/file.h"
#include "qwen/hash.h"
#include "qwen/tensors.h"

namespace qwengpu::qwen {

namespace {

static_assert(std::endian::native == std::endian::little, "checkpoint files are written in memory order");

constexpr std::string_view kMagic = "QWGPUCKP";
constexpr std::uint32_t kVersion = 1;

class Encoder {
 public:
  void number(std::uint64_t value) {  // LEB128
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void integer(int value) {
    number(static_cast<std::uint64_t>(static_cast<std::int64_t>(value) + 1));
  }  // from -1 on
  template <typename T>
  void raw(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view s) {
    number(s.size());
    bytes_.append(s);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  Decoder(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail("a number is too long");
  }
  int integer() {
    const std::uint64_t value = number();
    if (value > std::uint64_t{1} << 31) fail("a number is too large");
    return static_cast<int>(static_cast<std::int64_t>(value) - 1);
  }
  // A count of things that take at least `least` bytes each.
  std::uint64_t count(std::uint64_t least) {
    const std::uint64_t n = number();
    if (n > (bytes_.size() - at_) / least) fail(fmt::format("it cannot hold {} more items", n));
    return n;
  }
  template <typename T>
  T raw() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(count(1)); }
  bool at_end() const { return at_ == bytes_.size(); }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}: at payload byte {}: {}", file_, at_, what));
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("the content ends too early");
    const std::string_view part = bytes_.substr(at_, size);
    at_ += size;
    return part;
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

template <typename Visit>
void each_dimension(Geometry& g, Visit visit) {
  for (int* n : {&g.layers, &g.vocab, &g.hidden, &g.intermediate, &g.full_attention_interval, &g.gdn_heads,
                 &g.gdn_key_dim, &g.gdn_value_dim, &g.conv_kernel, &g.attention_heads, &g.kv_heads,
                 &g.head_dim, &g.rotary_dim}) {
    visit(*n);
  }
}

std::string encode(const Checkpoint& c) {
  Encoder out;
  Geometry g = c.geometry;
  each_dimension(g, [&](int n) { out.integer(n); });
  out.raw(g.rope_theta);
  out.raw(g.rms_eps);
  out.raw(static_cast<std::uint8_t>(g.tie_embeddings));
  out.number(c.token_spellings.size());
  for (const std::string& s : c.token_spellings) out.text(s);
  out.integer(c.eos_token);
  out.integer(c.pad_token);
  for (const TensorSpec& spec : tensors_of(g)) {
    const SparseTensor& t = tensor_to_write(c, spec);
    out.number(t.entries.size());
    std::uint64_t next = 0;
    for (const Entry& e : t.entries) {
      const std::uint64_t index = std::uint64_t{e.row} * static_cast<std::uint64_t>(t.cols) + e.col;
      out.number(index - next);
      out.raw(e.value);
      next = index + 1;
    }
  }
  return out.bytes();
}

Checkpoint decode(Decoder& in) {
  Geometry g;
  each_dimension(g, [&](int& n) { n = in.integer(); });
  g.rope_theta = in.raw<double>();
  g.rms_eps = in.raw<float>();
  g.tie_embeddings = in.raw<std::uint8_t>() != 0;
  try {
    check_geometry(g);
  } catch (const std::invalid_argument& error) {
    in.fail(error.what());
  }
  Checkpoint c(g);
  const std::uint64_t spellings = in.count(1);
  c.token_spellings.reserve(spellings);
  for (std::uint64_t i = 0; i < spellings; ++i) c.token_spellings.emplace_back(in.text());
  c.eos_token = in.integer();
  c.pad_token = in.integer();
  for (const TensorSpec& spec : tensors_of(g)) {
    SparseTensor& t = c.at(spec.name);
    const std::uint64_t entries = in.count(5);
    t.entries.reserve(entries);
    const auto cols = static_cast<std::uint64_t>(t.cols);
    const std::uint64_t size = static_cast<std::uint64_t>(t.rows) * cols;
    std::uint64_t next = 0;
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t distance = in.number();
      if (next >= size || distance >= size - next)
        in.fail(fmt::format("tensor {} has an entry outside its shape", spec.name));
      const std::uint64_t index = next + distance;
      t.entries.push_back({static_cast<std::uint32_t>(index / cols), static_cast<std::uint32_t>(index % cols),
                           in.raw<float>()});
      next = index + 1;
    }
  }
  if (!in.at_end()) in.fail("there is something behind the last tensor");
  return c;
}

std::uint64_t checksum(std::string_view payload) {
  Hasher hasher;
  hasher.add(payload);
  return hasher.value();
}

}  // namespace

void save_sparse(const Checkpoint& checkpoint, const std::filesystem::path& path) {
  const std::string payload = encode(checkpoint);
  Encoder head;
  head.raw(kVersion);
  head.raw(static_cast<std::uint64_t>(payload.size()));
  head.raw(checksum(payload));
  OutputFile file(path);
  file.write(kMagic);
  file.write(head.bytes());
  file.write(payload);
  file.commit();
}

Checkpoint load_sparse(const std::filesystem::path& path) {
  InputFile file(path);
  if (file.read_string(kMagic.size(), "the magic number") != kMagic) {
    file.seek(0);
    file.fail("this is not a qwenGPU checkpoint (its first bytes are not QWGPUCKP)");
  }
  const auto version = file.read_value<std::uint32_t>("the version");
  if (version != kVersion)
    file.fail(fmt::format("this is version {} of the format, version {} is wanted", version, kVersion));
  const auto length = file.read_value<std::uint64_t>("the length");
  const auto sum = file.read_value<std::uint64_t>("the checksum");
  if (length != file.remaining()) {
    file.fail(
        fmt::format("{} bytes of content are announced, {} are there: the file was cut short or added to",
                    length, file.remaining()));
  }
  const std::string payload = file.read_string(length, "the content");
  if (checksum(payload) != sum) {
    throw std::runtime_error(fmt::format("{}: the checksum is wrong: the file is corrupt", file.name()));
  }
  Decoder in(payload, file.name());
  Checkpoint c = decode(in);
  c.finish();
  return c;
}

}  // namespace qwengpu::qwen

// A 64-bit content hash that is the same on every machine: it names checkpoints and guards cache files
// against corruption. It is not cryptographic.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace qwengpu::qwen {

class Hasher {
 public:
  void add(std::uint64_t word) {
    // One round of multiply and rotate a word (the constants are those of xxHash64).
    state_ ^= std::rotl(word * 0xC2B2AE3D27D4EB4Full, 31) * 0x9E3779B185EBCA87ull;
    state_ = std::rotl(state_, 27) * 0x9E3779B185EBCA87ull + 0x85EBCA77C2B2AE63ull;
  }
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) add(little_endian(text.data() + at, 8));
    if (at < text.size()) add(little_endian(text.data() + at, text.size() - at));
  }
  std::uint64_t value() const {
    std::uint64_t h = state_;
    h = (h ^ (h >> 33)) * 0xC2B2AE3D27D4EB4Full;
    h = (h ^ (h >> 29)) * 0x165667B19E3779F9ull;
    return h ^ (h >> 32);
  }

 private:
  static std::uint64_t little_endian(const char* bytes, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, count);
    return word;
  }

  std::uint64_t state_ = 0x27D4EB2F165667C5ull;
};

}  // namespace qwengpu::qwen

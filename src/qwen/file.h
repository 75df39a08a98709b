// Files that are either whole or not there, and reads that say where a file ends too early.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace qwengpu::qwen {

// Writes to PATH.partial and renames it on `commit`; without it the partial file is removed. Errors (a full
// disk, say) are std::runtime_error naming the file and the cause.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  [[noreturn]] void fail(const char* what);
  void discard();

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
};

void write_whole_file(const std::filesystem::path& path, std::string_view content);

// Sequential and random reads with the size known beforehand, so that no length found in a file is believed
// without a check.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return size_ - position_; }
  const std::string& name() const { return name_; }

  void seek(std::uint64_t position);
  // std::runtime_error naming file, offset and `what` when the file ends before.
  void read(void* into, std::uint64_t size, std::string_view what);
  std::string read_string(std::uint64_t size, std::string_view what);
  template <typename T>
  T read_value(std::string_view what) {
    T value{};
    read(&value, sizeof value, what);
    return value;
  }
  // std::runtime_error "FILE: at byte N: MESSAGE"
  [[noreturn]] void fail(std::string_view message) const;

 private:
  std::string name_;
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

std::string read_whole_file(const std::filesystem::path& path);

}  // namespace qwengpu::qwen

#include "qwen/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace qwengpu::qwen {

namespace fs = std::filesystem;

OutputFile::OutputFile(const fs::path& path) : path_(path), partial_(path.string() + ".partial") {
  file_ = std::fopen(partial_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot be created");
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  file_ = nullptr;
  std::error_code ignored;
  fs::remove(partial_, ignored);
}

void OutputFile::fail(const char* what) {
  const int error = errno;
  discard();
  throw std::runtime_error(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(error)));
}

void OutputFile::write(const void* bytes, std::size_t size) {
  if (size != 0 && std::fwrite(bytes, 1, size, file_) != size) fail("cannot be written");
  size_ += size;
}

void OutputFile::commit() {
  // Closing is where some file systems report a full disk.
  if (std::fflush(file_) != 0) fail("cannot be written");
  std::FILE* file = file_;
  file_ = nullptr;
  std::error_code error;
  if (std::fclose(file) != 0) {
    const int cause = errno;
    fs::remove(partial_, error);
    throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(cause)));
  }
  fs::rename(partial_, path_, error);
  if (error) {
    const std::string cause = error.message();
    fs::remove(partial_, error);
    throw std::runtime_error(fmt::format("{}: cannot be put in place: {}", path_.string(), cause));
  }
}

void write_whole_file(const fs::path& path, std::string_view content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

InputFile::InputFile(const fs::path& path) : name_(path.string()) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw std::runtime_error(fmt::format("{}: there is no such file", name_));
  }
  size_ = fs::file_size(path, error);
  file_ = error ? nullptr : std::fopen(path.c_str(), "rb");
  if (file_ == nullptr)
    throw std::runtime_error(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
}

InputFile::~InputFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void InputFile::fail(std::string_view message) const {
  throw std::runtime_error(fmt::format("{}: at byte {}: {}", name_, position_, message));
}

void InputFile::seek(std::uint64_t position) {
  if (position > size_ || fseeko(file_, static_cast<off_t>(position), SEEK_SET) != 0) {
    fail(fmt::format("the file of {} bytes has no byte {}", size_, position));
  }
  position_ = position;
}

void InputFile::read(void* into, std::uint64_t size, std::string_view what) {
  if (size > remaining() || std::fread(into, 1, size, file_) != size) {
    fail(fmt::format("the file ends inside {} ({} bytes wanted, {} left)", what, size, remaining()));
  }
  position_ += size;
}

std::string InputFile::read_string(std::uint64_t size, std::string_view what) {
  if (size > remaining()) {
    fail(fmt::format("the file ends inside {} ({} bytes wanted, {} left)", what, size, remaining()));
  }
  std::string text(size, '\0');
  read(text.data(), size, what);
  return text;
}

std::string read_whole_file(const fs::path& path) {
  InputFile file(path);
  return file.read_string(file.size(), "its content");
}

}  // namespace qwengpu::qwen

// A directory of its own for a test, removed at the end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace qwengpu::qwen {

class TestDirectory {
 public:
  TestDirectory() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path = std::filesystem::temp_directory_path() / (std::string("qwengpu-") + info->test_suite_name() + "-" +
                                                     info->name() + "-" + std::to_string(getpid()));
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~TestDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path / name; }

  std::filesystem::path path;
};

// What the function throws, or "" when it does not.
template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace qwengpu::qwen

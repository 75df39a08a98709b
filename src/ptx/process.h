// A child process with its output caught.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qwengpu::ptx {

struct ProcessResult {
  int status = 0;  // exit status; 128 + n when signal n ended it
  std::string output;
  std::string errors;
};

// Runs arguments[0] (looked up in PATH) without a shell. Nothing when there is no such program.
// Throws std::system_error when the process cannot be started for another reason.
std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments);

// A directory of its own below the system's temporary directory; removed with everything in it at the end of
// its life.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace qwengpu::ptx

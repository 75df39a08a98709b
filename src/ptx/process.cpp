#include "ptx/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

extern char** environ;

namespace qwengpu::ptx {
namespace {

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  std::array<int, 2> end{-1, -1};
  Pipe() {
    if (pipe2(end.data(), O_CLOEXEC) != 0) fail(errno, "pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t which) {
    if (end[which] >= 0) close(end[which]);
    end[which] = -1;
  }
};

// Reads both pipes until the child has closed both: either may fill up while the other is silent.
void drain(Pipe& first, std::string& first_text, Pipe& second, std::string& second_text) {
  std::array<pollfd, 2> files{pollfd{first.end[0], POLLIN, 0}, pollfd{second.end[0], POLLIN, 0}};
  const std::array<std::string*, 2> texts{&first_text, &second_text};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (poll(files.data(), files.size(), -1) < 0) {
      if (errno == EINTR) continue;
      fail(errno, "poll");
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t got = read(files[i].fd, buffer.data(), buffer.size());
      if (got > 0)
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      else if (got == 0 || errno != EINTR)
        files[i].fd = -1;
    }
  }
}

}  // namespace

std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);

  Pipe output, errors;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.end[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.end[1], STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT || error == EACCES || error == ENOTDIR) return std::nullopt;
  if (error != 0) fail(error, argv[0]);

  output.close_end(1);
  errors.close_end(1);
  ProcessResult result;
  drain(output, result.output, errors, result.errors);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) fail(errno, "waitpid");
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryDirectory::TemporaryDirectory() {
  path_ = (std::filesystem::temp_directory_path() / "qwengpu-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) fail(errno, path_.c_str());
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace qwengpu::ptx

#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>

namespace qwengpu {
namespace {

constexpr auto progress_interval = std::chrono::milliseconds(100);
constexpr std::string_view erase_line = "\r\x1b[K";

std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

}  // namespace

Terminal::Terminal(bool lines)
    : lines_(lines), interactive_(isatty(STDERR_FILENO) != 0 && (!lines || isatty(STDOUT_FILENO) != 0)) {}

Terminal::~Terminal() { clear_progress(); }

void Terminal::line(std::string_view text) {
  if (!lines_) return;
  const std::string below = shown_;
  clear_progress();
  fmt::print("{}\n", text);
  if (interactive_) std::fflush(stdout);
  if (below.empty()) return;
  fmt::print(stderr, "{}", below);
  shown_ = below;
}

bool Terminal::wants_progress() const {
  return interactive_ && std::chrono::steady_clock::now() - last_ >= progress_interval;
}

void Terminal::progress(std::string_view text) {
  if (!wants_progress()) return;
  last_ = std::chrono::steady_clock::now();
  fmt::print(stderr, "{}{}", erase_line, text);
  shown_ = text;
}

void Terminal::clear_progress() {
  if (shown_.empty()) return;
  fmt::print(stderr, "{}", erase_line);
  shown_.clear();
}

void catch_interrupts() {
  std::signal(SIGINT, [](int) { interrupt_flag = true; });
}

bool interrupted() { return interrupt_flag; }

}  // namespace qwengpu

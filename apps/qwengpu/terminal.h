// What the user sees while a command works: lines on stdout and, on a terminal, one line of progress below
// them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace qwengpu {

class Terminal {
 public:
  // Without LINES, stdout is left to the command (--json, --quiet).
  explicit Terminal(bool lines = true);
  ~Terminal();

  void line(std::string_view text);
  // Shown on a terminal only, a few times a second.
  void progress(std::string_view text);
  void clear_progress();
  // True when a progress text would be shown now; so that it need not be made otherwise.
  bool wants_progress() const;

 private:
  bool lines_;
  bool interactive_;
  std::string shown_;
  std::chrono::steady_clock::time_point last_{};
};

// From now on an interrupt (Ctrl-C) only sets the flag that interrupted() returns.
void catch_interrupts();
bool interrupted();

}  // namespace qwengpu

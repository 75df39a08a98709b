// One launch of many million tokens: the model against the emulator token for token, and its recurrent state
// against the emulator's along the way. `endurance [MILLIONS]`, 10 unless said otherwise.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "long_launch.h"

int main(int count, char** arguments) {
  using namespace qwengpu;
  const double millions = count > 1 ? std::atof(arguments[1]) : 10;
  if (!(millions > 0 && millions <= 1000)) {
    fmt::print(stderr, "usage: endurance [MILLIONS], 10 unless said otherwise\n");
    return 2;
  }
  const long most = static_cast<long>(millions * 1e6);
  constexpr long interval = 250'000;  // tokens between two looks at the state
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };

  long tokens = 0, next_look = interval, looks = 0;
  std::string difference;
  const Launch launch = long_launch(0xffffffff);  // far more rounds than there is time for
  const Agreement result =
      compare(emulator::prompt_of(make_case(launch)), most, [&](const emulator::Emulator& e, int) {
        ++tokens;
        if (tokens < next_look || !e.between_instructions() || !difference.empty()) return;
        difference = state_difference(e.state(), long_launch_extent);
        if (!difference.empty()) difference = fmt::format("after {} tokens: {}", tokens, difference);
        ++looks;
        next_look += interval;
        if (isatty(STDERR_FILENO))
          fmt::print(stderr, "\r{:.2f} million tokens, {:.0f} s ", static_cast<double>(tokens) / 1e6,
                     seconds());
      });
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "\r\033[K");
  if (!result.same) {
    fmt::print("the model differs from the emulator: {}\n", result.difference);
    return 1;
  }
  if (!difference.empty()) {
    fmt::print("the state differs from the emulator's {}\n", difference);
    return 1;
  }
  fmt::print(
      "{} tokens of one launch equal the emulator's; the state was equal at each of {} looks; {:.0f} s, "
      "{:.0f} tokens/s\n",
      tokens, looks, seconds(), static_cast<double>(tokens) / seconds());
  return 0;
}

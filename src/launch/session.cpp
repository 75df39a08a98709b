#include "launch/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "launch/source_line.h"

namespace qwengpu::launch {
namespace {

constexpr std::size_t prefill_chunk = 256;  // tokens between two reports of progress
constexpr std::size_t recent_steps = 4096;  // loops up to this long are told whole
constexpr std::size_t shown_lines = 4;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void Session::run(std::span<const int> prompt, std::size_t max_tokens, const Observer& observer) {
  summary_ = {};
  summary_.prompt_tokens = prompt.size();
  auto start = std::chrono::steady_clock::now();
  const auto check_interrupt = [&] {
    if (observer.interrupted && observer.interrupted())
      throw std::runtime_error("interrupted: there are no results");
  };
  for (std::size_t done = 0; done < prompt.size();) {
    check_interrupt();
    const auto chunk = prompt.subspan(done, std::min(prefill_chunk, prompt.size() - done));
    source_.prefill(chunk);
    done += chunk.size();
    summary_.prefill_seconds = seconds_since(start);
    if (observer.prefilled) observer.prefilled(done, prompt.size());
  }

  start = std::chrono::steady_clock::now();
  StepParser parser;
  while (!parser.ended()) {
    check_interrupt();
    if (parser.tokens() == max_tokens) throw StepLimit(where());
    const int token = source_.next();
    const auto step = parser.push(token);
    summary_.tokens = parser.tokens();
    if (!parser.firmware()) ++summary_.kernel_tokens;
    if (observer.token) observer.token(token);
    if (step) {
      if (step->instruction()) {
        (step->firmware ? summary_.firmware_instructions : summary_.instructions) += 1;
        if (!step->firmware) {
          recent_.push_back(*step);
          if (recent_.size() > recent_steps) recent_.pop_front();
        }
      }
      summary_.decode_seconds = seconds_since(start);
      if (observer.step) observer.step(*step);
    }
  }
  summary_.decode_seconds = seconds_since(start);
}

std::string Session::where() const {
  std::string text = fmt::format("the launch has not ended after {} tokens", summary_.tokens);
  if (recent_.empty()) return text + " and its kernel has not started; allow more with --max-steps";
  const Step& last = recent_.back();
  // Of a loop is what was executed more than once.
  std::map<int, int> times;
  for (const Step& step : recent_)
    if (step.block == last.block && step.quad == last.quad) ++times[step.pc];
  std::set<int> pcs{last.pc};
  for (const auto& [pc, count] : times)
    if (count > 1) pcs.insert(pc);
  text += fmt::format("; kernel {} block {} quad {} was executing pc {}", kernel_.name, text_of(last.block),
                      last.quad, *pcs.begin());
  if (pcs.size() > 1) text += fmt::format(" to {}", *pcs.rbegin());
  std::vector<std::string> lines;
  for (int pc : pcs) {
    const std::string line = source_line(kernel_, pc);
    if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  if (lines.size() > shown_lines) {
    lines.resize(shown_lines);
    lines.push_back("...");
  }
  if (!lines.empty()) text += fmt::format(" ({})", fmt::join(lines, ", "));
  return text + "; if it does end, allow more with --max-steps";
}

}  // namespace qwengpu::launch

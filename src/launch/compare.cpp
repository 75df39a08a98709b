#include "launch/compare.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/rows.h"
#include "isa/tokens.h"
#include "launch/printer.h"
#include "launch/steps.h"

namespace qwengpu::launch {
namespace {

std::optional<int> lane_of(const isa::Token& token) {
  switch (token.kind) {
    case isa::TokenKind::Value:
    case isa::TokenKind::LastValue:
    case isa::TokenKind::NewValue:
    case isa::TokenKind::LastNewValue:
    case isa::TokenKind::Read:
    case isa::TokenKind::Store:
    case isa::TokenKind::Copy:
      return token.a;
    case isa::TokenKind::Fault:
      return token.b;
    default:
      return std::nullopt;
  }
}

struct Side {
  std::string text;
  std::string where;
};

// Replays a transcript to the step that holds token AT and describes it.
Side describe(std::span<const int> tokens, std::size_t at, const isa::Kernel& kernel) {
  if (at >= tokens.size()) return {"ends here", ""};
  Side side{isa::spelling(tokens[at]), ""};
  StepParser parser;
  Printer printer(kernel, /*verbose=*/true);
  try {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto step = parser.push(tokens[i]);
      if (!step) continue;
      const std::string line = printer.line(*step);
      if (i < at) continue;
      side.where = step->firmware ? "launch firmware"
                                  : fmt::format("block {} quad {}", text_of(step->block), step->quad);
      if (step->instruction()) side.where += fmt::format(", pc {}", step->pc);
      if (step->first_token <= at) side.text += "   " + line;
      break;
    }
  } catch (const TranscriptError& error) {
    side.text += fmt::format("   ({})", error.what());
  }
  return side;
}

}  // namespace

std::optional<Difference> first_difference(std::span<const int> first, std::span<const int> second,
                                           const isa::Kernel& kernel) {
  const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  if (a == first.end() && b == second.end()) return std::nullopt;
  Difference difference;
  difference.token = static_cast<std::size_t>(a - first.begin());
  StepParser parser;
  for (int token : first.first(difference.token)) parser.push(token);
  difference.step = parser.steps();

  const Side one = describe(first, difference.token, kernel),
             two = describe(second, difference.token, kernel);
  difference.first = one.text;
  difference.second = two.text;
  difference.where = !one.where.empty() ? one.where : two.where;
  const auto lane = a != first.end() ? lane_of(isa::token_of(*a)) : lane_of(isa::token_of(*b));
  if (lane) difference.where += fmt::format(", lane {}", *lane);
  return difference;
}

}  // namespace qwengpu::launch

#include "ptx/diagnostics.h"

#include <fmt/format.h>

namespace qwengpu::ptx {
namespace {

std::string join(const std::string& kernel, const std::vector<Diagnostic>& diagnostics) {
  std::string text = fmt::format("kernel {} needs what this machine does not have:", kernel);
  for (const Diagnostic& d : diagnostics)
    text += fmt::format("\n  {}: {}: {}", to_string(d.where), d.construct, d.reason);
  return text;
}

}  // namespace

std::string to_string(const Location& location) {
  std::string text = location.file.empty() ? "<ptx>" : location.file;
  if (location.line > 0) text += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column > 0) text += fmt::format(":{}", location.column);
  return text;
}

SyntaxError::SyntaxError(Location where, const std::string& what)
    : std::runtime_error(fmt::format("{}: {}", to_string(where), what)), where_(std::move(where)) {}

Unsupported::Unsupported(const std::string& kernel, std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(kernel, diagnostics)), diagnostics_(std::move(diagnostics)) {}

}  // namespace qwengpu::ptx

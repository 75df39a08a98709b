#include "launch/source_line.h"

#include <fmt/format.h>

namespace qwengpu::launch {

std::string source_line(const isa::Kernel& kernel, int pc) {
  const auto index = static_cast<std::size_t>(pc);
  if (pc < 0 || index >= kernel.lines.size() || kernel.lines[index].line <= 0) return "";
  return fmt::format("{}:{}", kernel.lines[index].file, kernel.lines[index].line);
}

}  // namespace qwengpu::launch

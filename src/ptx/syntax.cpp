#include "ptx/syntax.h"

namespace qwengpu::ptx::syntax {

std::string Instruction::text() const {
  std::string result = opcode;
  for (const std::string& modifier : modifiers) result += "." + modifier;
  return result;
}

std::optional<std::size_t> Function::find_label(const std::string& label, int scope) const {
  for (int s = scope; s >= 0; s = scopes[static_cast<std::size_t>(s)].parent)
    if (const auto found = labels.find({s, label}); found != labels.end()) return found->second;
  return std::nullopt;
}

}  // namespace qwengpu::ptx::syntax

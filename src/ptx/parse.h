// PTX text to a module (PTX ISA, chapters 4 and 5).
#pragma once

#include <string>
#include <string_view>

#include "ptx/syntax.h"

namespace qwengpu::ptx {

// `path` names the text in errors. Throws SyntaxError.
syntax::Module parse(std::string_view text, const std::string& path);

}  // namespace qwengpu::ptx

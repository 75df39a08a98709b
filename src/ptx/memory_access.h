// Words in memory, whole, in parts and several at once, as loads, stores and atomic operations need them.
#pragma once

#include <string>
#include <vector>

#include "ptx/lower.h"

namespace qwengpu::ptx {

struct Access {
  std::string space = "generic";  // "global", "shared", "const", "local", "param"
  bool is_volatile = false;       // another thread may write there: .volatile, .relaxed, .acquire
};
// Takes the modifiers that say where and how.
Access take_access(Modifiers& modifiers);

// Elements of a type that follow one another, as one access: they begin at a multiple of its size. Parts of
// words are extended to 32 bits by the type's sign.
std::vector<ir::Pair> load(Lowering& l, ir::Emitter::Place place, std::size_t count, Type type,
                           bool is_volatile);
void store(Lowering& l, ir::Emitter::Place place, const std::vector<ir::Pair>& values, Type type);

}  // namespace qwengpu::ptx

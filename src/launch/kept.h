// Device memory that stays from one launch of a sequence to the next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/array.h"

namespace qwengpu::launch {

struct Kept {
  struct Buffer {
    std::string name;  // empty: room for the variables of modules
    Shape shape;
    bool operator==(const Buffer&) const = default;
  };
  std::vector<std::optional<Buffer>> buffers;  // by number; nothing where the number is free

  // Variables of a module stand at a fixed address in front of all other memory. The first launch that keeps
  // something keeps as many bytes there: the most that a kernel of the sequence needs.
  std::uint64_t variable_bytes = 0;
};

}  // namespace qwengpu::launch

// What can write a transcript.
#pragma once

#include <memory>
#include <string>

#include "launch/session.h"

namespace qwengpu {

struct Writer {
  std::unique_ptr<launch::TokenSource> source;
  std::string name;  // "emulator", or "weights HASH"
};

// The model (built or loaded from the cache, with notes on stderr), or the emulator.
Writer make_writer(bool emulate);

}  // namespace qwengpu

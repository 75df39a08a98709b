// What can write a transcript.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "launch/session.h"
#include "qwen/checkpoint.h"

namespace qwengpu {

struct Writer {
  std::unique_ptr<launch::TokenSource> source;
  std::string name;  // "emulator", or "weights HASH"
};

// Which of them.
struct WriterOptions {
  bool emulate = false;
  std::string engine = "sparse";  // or "reference"
  std::string model;              // file or folder of a checkpoint; empty: the model that this program constructs
};
// --emulate, --engine and --model
void add_writer_options(CLI::App& command, WriterOptions& options);

// The checkpoint (constructed, loaded from the cache with notes on stderr, or read from the file that the options name). Throws
// std::runtime_error for a file that is damaged or holds another model.
qwen::Checkpoint load_checkpoint(const WriterOptions& options);

// An engine with that checkpoint, or the emulator.
Writer make_writer(const WriterOptions& options = {});

}  // namespace qwengpu

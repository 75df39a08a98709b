// Transcripts on disk: text of token spellings, after a line that names the kernel.
//
//   qwengpu-transcript 1
//   {"kernel": "vecadd", "written by": "emulator", ...}     one line of JSON
//   prompt:
//   <I 0> ... <GO>                                            spellings, separated by white space anywhere
//   transcript:
//   <Q S> <FW 0> ... <END>
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "isa/kernel.h"

namespace qwengpu::launch {

struct Transcript {
  isa::Kernel kernel;      // its code is that of the prompt; its variables stand only there
  std::string written_by;  // "emulator", or the hash of the weights
  int launch = 1;          // its number in the sequence of launches
  std::vector<int> prompt;
  std::vector<int> tokens;
  bool complete = false;  // it ends with <END>
};

// Writes while the launch runs: a file without <END> is a launch that did not finish.
class TranscriptWriter {
 public:
  // Throws std::runtime_error naming the file, now or later, when it cannot be written.
  TranscriptWriter(const std::filesystem::path& path, const isa::Kernel& kernel,
                   const std::string& written_by, const std::vector<int>& prompt, int launch = 1);
  void push(int token);
  void close();

 private:
  void check() const;
  std::filesystem::path path_;
  std::ofstream file_;
};

// Throws std::runtime_error naming the file: not a transcript, damaged, or, unless PARTIAL, without <END>.
Transcript read_transcript(const std::filesystem::path& path, bool partial = false);

}  // namespace qwengpu::launch

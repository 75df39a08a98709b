// qwengpu diff: where two transcripts part.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "kernel_file.h"
#include "launch/compare.h"
#include "launch/prompt.h"
#include "launch/session.h"
#include "launch/transcript_file.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

struct Options {
  std::string first, second;
  bool partial = false;
};

launch::Transcript written_now(const isa::Kernel& kernel, const std::vector<int>& prompt, bool emulate,
                               std::size_t max_tokens) {
  Writer writer = make_writer(emulate);
  launch::Transcript transcript{kernel, writer.name, prompt, {}, false};
  Terminal terminal;
  launch::Observer observer;
  observer.token = [&](int token) {
    transcript.tokens.push_back(token);
    terminal.progress(fmt::format("{}: {} tokens", writer.name, transcript.tokens.size()));
  };
  try {
    launch::Session(*writer.source, kernel).run(prompt, max_tokens, observer);
    transcript.complete = true;
  } catch (const launch::StepLimit&) {
    // A difference in length is a difference, too.
  } catch (const launch::TranscriptError&) {
    // The token that cannot be there is one that differs.
  }
  return transcript;
}

// A launch file: what the model writes for it.
launch::Transcript launched(const std::string& file) {
  const launch::Description description = launch::read_launch_file(file);
  const isa::Kernel kernel = load_kernel(description.file, description.kernel);
  return written_now(kernel, launch::make_prompt(description, kernel).tokens, false,
                     launch::default_max_tokens);
}

void diff(const Options& options) {
  const launch::Transcript first = options.first.ends_with(".json")
                                       ? launched(options.first)
                                       : launch::read_transcript(options.first, options.partial);
  const launch::Transcript second =
      options.second.empty() ? written_now(first.kernel, first.prompt, true, first.tokens.size() + 1)
                             : launch::read_transcript(options.second, options.partial);
  if (first.prompt != second.prompt)
    throw std::runtime_error("the two transcripts are of different launches: their prompts differ");
  const auto difference = launch::first_difference(first.tokens, second.tokens, first.kernel);
  if (!difference) {
    fmt::print("equal: {} tokens, written by {} and by {}\n", first.tokens.size(), first.written_by,
               second.written_by);
    return;
  }
  fmt::print("first difference: token {}, step {}, {}\n", difference->token, difference->step,
             difference->where);
  fmt::print("  {}: {}\n  {}: {}\n", first.written_by, difference->first, second.written_by,
             difference->second);
  throw Failed{};
}

}  // namespace

void add_diff(CLI::App& app) {
  CLI::App* command = app.add_subcommand("diff", "tell the first difference of two transcripts of a launch");
  auto options = std::make_shared<Options>();
  command
      ->add_option("FIRST", options->first,
                   "transcript file, or a launch file (.json) for the model to write a transcript of now")
      ->required();
  command->add_option("SECOND", options->second,
                      "transcript file; without it, what the emulator writes for the same prompt");
  command->add_flag("--partial", options->partial, "accept transcripts that do not end with <END>");
  command->callback([options] { diff(*options); });
}

}  // namespace qwengpu

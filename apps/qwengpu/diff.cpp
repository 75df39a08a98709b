// qwengpu diff: where two transcripts part.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "kernel_file.h"
#include "launch/compare.h"
#include "launch/prompt.h"
#include "launch/session.h"
#include "launch/transcript_file.h"
#include "locate.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

struct Options {
  std::string first, second;
  bool partial = false;
  WriterOptions writer;
};

launch::Transcript written_now(const isa::Kernel& kernel, const std::vector<int>& prompt,
                               const WriterOptions& options, std::size_t max_tokens) {
  Writer writer = make_writer(options);
  launch::Transcript transcript{kernel, writer.name, 1, prompt, {}, false};
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
launch::Transcript launched(const std::string& file, const WriterOptions& writer) {
  const launch::Description description = launch::read_launch_file(file);
  const isa::Kernel kernel = load_kernel(description.file, description.kernel);
  return written_now(kernel, launch::make_prompt(description, kernel).tokens, writer,
                     launch::default_max_tokens);
}

void diff(const Options& options) {
  const launch::Transcript first = options.first.ends_with(".json")
                                       ? launched(options.first, options.writer)
                                       : launch::read_transcript(options.first, options.partial);
  if (options.second.empty() && first.launch > 1)
    throw launch::UsageError(
        fmt::format("{} is launch {} of a sequence, with device memory from the launches before it: give the "
                    "transcript to compare it "
                    "with, such as one by `run --emulate` of the same launches",
                    options.first, first.launch));
  const launch::Transcript second =
      options.second.empty() ? written_now(first.kernel, first.prompt, {.emulate = true}, first.tokens.size() + 1)
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
  // Where the emulator is right, the model can be asked which of its signals is wrong.
  if (options.second.empty() && !options.writer.emulate) {
    std::vector<int> tokens = first.prompt;
    tokens.insert(tokens.end(), first.tokens.begin(),
                  first.tokens.begin() + static_cast<std::ptrdiff_t>(difference->token));
    fmt::print("looking for the layer and the signal ...\n");
    fmt::print("{}\n", locate(load_checkpoint(options.writer), tokens));
  }
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
  add_writer_options(*command, options->writer);
  command->callback([options] { diff(*options); });
}

}  // namespace qwengpu

// qwengpu show: a transcript file as readable lines.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "launch/printer.h"
#include "launch/steps.h"
#include "launch/transcript_file.h"

namespace qwengpu {
namespace {

struct Options {
  std::string file;
  bool partial = false, verbose = false, tokens = false;
};

void show(const Options& options) {
  const launch::Transcript transcript = launch::read_transcript(options.file, options.partial);
  launch::Printer printer(transcript.kernel, options.verbose);
  launch::StepParser parser;
  fmt::print("kernel {}, written by {}, {} tokens{}\n", transcript.kernel.name, transcript.written_by,
             transcript.tokens.size(), transcript.complete ? "" : " (incomplete)");
  std::string spoken;
  for (int token : transcript.tokens) {
    const auto step = parser.push(token);
    if (options.tokens) spoken += isa::spelling(token);
    if (!step) continue;
    const std::string line = printer.line(*step);
    if (!line.empty()) fmt::print("{}\n", line);
    if (options.tokens && !line.empty()) fmt::print("    {}\n", spoken);
    spoken.clear();
  }
  if (!transcript.complete) fmt::print("the transcript ends here, without <END>\n");
}

}  // namespace

void add_show(CLI::App& app) {
  CLI::App* command = app.add_subcommand("show", "print a transcript file as readable lines");
  auto options = std::make_shared<Options>();
  command->add_option("TRANSCRIPT", options->file, "file that `run --transcript` wrote")->required();
  command->add_flag("--verbose,-v", options->verbose,
                    "show the launch firmware's instructions and source lines too");
  command->add_flag("--tokens", options->tokens, "show the tokens below each line");
  command->add_flag("--partial", options->partial, "accept a transcript that does not end with <END>");
  command->callback([options] { show(*options); });
}

}  // namespace qwengpu

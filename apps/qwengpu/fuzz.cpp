// qwengpu fuzz: random launches, model against emulator.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "emulator/compare.h"
#include "emulator/emulator.h"
#include "emulator/random_kernel.h"
#include "emulator/shrink.h"
#include "locate.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

struct Options {
  std::uint64_t seed = 1;
  int count = 10;
  int instructions = 50, quads = 24;
  std::size_t max_steps = 100'000;
  int shrink_attempts = 200;
  WriterOptions writer;
};

emulator::Comparison compare(launch::TokenSource& source, const std::vector<int>& prompt,
                             std::size_t max_tokens) {
  source.reset();
  source.prefill(prompt);
  return emulator::compare(
      prompt, [&](int) { return source.next(); }, max_tokens);
}

// The layer and the signal behind the first wrong token: STEPS tokens of the transcript are right.
std::string where_in_the_model(const WriterOptions& writer, const std::vector<int>& prompt, std::size_t steps) {
  std::vector<int> tokens = prompt;
  emulator::Emulator emulator(prompt);
  for (std::size_t i = 0; i < steps; ++i) tokens.push_back(*emulator.next());
  return locate(load_checkpoint(writer), tokens);
}

void fuzz(const Options& options) {
  const Writer writer = make_writer(options.writer);
  Terminal terminal;
  catch_interrupts();
  emulator::RandomOptions random;
  random.instructions = options.instructions;
  random.quads = options.quads;
  std::size_t tokens = 0;
  for (int n = 0; n < options.count && !interrupted(); ++n) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(n);
    const emulator::Case launch = emulator::random_case(seed, random);
    const emulator::Comparison comparison =
        compare(*writer.source, emulator::prompt_of(launch), options.max_steps);
    tokens += comparison.steps;
    if (!comparison.difference) {
      terminal.line(fmt::format("seed {}: {} tokens equal{}", seed, comparison.steps,
                                comparison.ended ? "" : " (stopped at --max-steps)"));
      continue;
    }
    terminal.line(fmt::format("seed {}: {}", seed, comparison.difference->text));
    // A shorter launch that differs anywhere is a better report.
    terminal.line("looking for a smaller launch that differs ...");
    const emulator::Case small = emulator::shrink(
        launch,
        [&](const emulator::Case& candidate) {
          terminal.progress(fmt::format("{} instructions", candidate.kernel.code.size()));
          return compare(*writer.source, emulator::prompt_of(candidate), comparison.steps + 1)
              .difference.has_value();
        },
        options.shrink_attempts);
    terminal.line(emulator::text_of(small));
    const std::vector<int> prompt = emulator::prompt_of(small);
    if (const auto difference = compare(*writer.source, prompt, comparison.steps + 1).difference) {
      terminal.line(difference->text);
      if (!options.writer.emulate) terminal.line(where_in_the_model(options.writer, prompt, difference->step));
    }
    throw Failed{};
  }
  terminal.line(fmt::format("{} tokens of {} equal those of the emulator", tokens, writer.name));
}

}  // namespace

void add_fuzz(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("fuzz", "run random kernels on the model and compare with the emulator");
  auto options = std::make_shared<Options>();
  command->add_option("--seed", options->seed, "of the first launch; the next ones follow")
      ->capture_default_str();
  command->add_option("--count", options->count, "launches")->capture_default_str();
  command->add_option("--instructions", options->instructions, "of a kernel, about")->capture_default_str();
  command->add_option("--quads", options->quads, "of a block, mostly")->capture_default_str();
  command->add_option("--max-steps", options->max_steps, "tokens of a launch that are compared")
      ->capture_default_str();
  command->add_option("--shrink", options->shrink_attempts, "tries to make a launch that differs smaller")
      ->capture_default_str();
  add_writer_options(*command, options->writer);
  command->callback([options] { fuzz(*options); });
}

}  // namespace qwengpu

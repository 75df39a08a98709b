// qwengpu run: one launch, or several that follow one another, written by the model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "kernel_file.h"
#include "launch/block_state.h"
#include "launch/npy.h"
#include "launch/printer.h"
#include "launch/prompt.h"
#include "launch/results.h"
#include "launch/session.h"
#include "launch/source_line.h"
#include "launch/text.h"
#include "launch/transcript_file.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

constexpr std::uint64_t shown_values = 8;

struct Options {
  std::vector<std::string> files;
  std::string kernel, grid, block, out, transcript;
  std::optional<std::uint32_t> shared;
  std::vector<std::string> arguments;
  std::size_t max_steps = launch::default_max_tokens;
  WriterOptions writer;
  bool json = false, quiet = false, verbose = false;
};

launch::Description describe(const std::string& file, const Options& options) {
  launch::Description description;
  if (file.ends_with(".json"))
    description = launch::read_launch_file(file);
  else
    description.file = file;
  if (!options.kernel.empty()) description.kernel = options.kernel;
  if (!options.grid.empty()) description.grid = launch::parse_dim3(options.grid);
  if (!options.block.empty()) description.block = launch::parse_dim3(options.block);
  if (options.shared) description.shared_bytes = *options.shared;
  if (!options.out.empty()) description.out = options.out;
  if (!options.arguments.empty()) description.arguments.clear();
  for (const std::string& argument : options.arguments)
    description.arguments.push_back(launch::parse_argument(argument));
  return description;
}

struct Launch {
  std::string label;  // "launch 2 of 3, ", or empty when it is the only one
  launch::Description description;
  isa::Kernel kernel;
  launch::Prompt prompt;
  std::string transcript;  // file, or empty
  int number = 1;          // in the sequence
};

// All of them, before the first one runs: what is wrong with a later one is said at once.
std::vector<Launch> prepare(const Options& options) {
  const std::size_t count = options.files.size();
  const bool several = count > 1;
  if (several && (!options.kernel.empty() || !options.grid.empty() || !options.block.empty() ||
                  options.shared || !options.arguments.empty()))
    throw launch::UsageError(
        "--kernel, --grid, --block, --shared and --arg are of a single launch; say them in the launch files");
  std::vector<Launch> launches;
  launch::Kept kept;
  for (std::size_t n = 0; n < count; ++n) {
    Launch launch;
    launch.description = describe(options.files[n], options);
    launch.kernel = load_kernel(launch.description.file, launch.description.kernel);
    launch.transcript = options.transcript;
    if (several) {
      launch.number = static_cast<int>(n) + 1;
      launch.label = fmt::format("launch {} of {}, ", launch.number, count);
      if (!options.out.empty()) launch.description.out /= fmt::format("{}", launch.number);
      if (!options.transcript.empty()) launch.transcript += fmt::format(".{}", launch.number);
    }
    kept.variable_bytes = std::max<std::uint64_t>(kept.variable_bytes, launch.kernel.variables.size());
    launches.push_back(std::move(launch));
  }
  for (std::size_t n = 0; n < count; ++n) {
    try {
      launches[n].prompt = launch::make_prompt(launches[n].description, launches[n].kernel, kept);
    } catch (const launch::UsageError& error) {
      if (!several) throw;
      throw launch::UsageError(fmt::format("{}: {}", options.files[n], error.what()));
    }
    kept = launches[n].prompt.kept;
  }
  return launches;
}

std::filesystem::path result_file(const launch::Description& description, std::size_t argument) {
  return description.out / fmt::format("arg{}.npy", argument);
}

// Results of an earlier launch must not pass for those of one that fails now.
void prepare_folder(const launch::Description& description) {
  if (description.out.empty()) return;
  std::filesystem::create_directories(description.out);
  for (std::size_t n = 0; n < description.arguments.size(); ++n)
    if (description.arguments[n].copied_out()) std::filesystem::remove(result_file(description, n));
}

std::string values_text(const launch::Array& array) {
  std::string text;
  const std::uint64_t count = array.shape.elements();
  for (std::uint64_t i = 0; i < std::min(count, shown_values); ++i)
    text += (i == 0 ? "" : " ") + array.element_text(i);
  return text + (count > shown_values ? " ..." : "");
}

// "cudaErrorIllegalAddress (700): block (0,0,0) ..., vecadd.cu:7", or the API call that failed, or where the
// threads wait.
std::string error_text(const launch::ResultCollector& collector, const isa::Kernel& kernel,
                       const launch::BlockState& block) {
  std::string text = fmt::format("{} ({})", isa::status_name(collector.status()), collector.status());
  if (const auto& fault = collector.fault()) {
    const int lane = fault->fault->lane;
    text += fmt::format(": block {} quad {} lane {}, pc {}", launch::text_of(fault->block), fault->quad, lane,
                        fault->pc);
    if (fault->info().accesses_memory())
      text += fmt::format(", address {}", launch::address_text(fault->fault->address));
    text += fmt::format(", step {}", fault->number);
    if (const std::string line = launch::source_line(kernel, fault->pc); !line.empty()) text += ", " + line;
  } else if (collector.stuck()) {
    text += fmt::format(": the threads of block {} wait for barriers that too few of them come to\n{}",
                        launch::text_of(collector.stuck()->block), block.waiting_text());
  } else if (!collector.failed_call().empty()) {
    text += fmt::format(" from {}", collector.failed_call());
  }
  return text;
}

// What was spent on what.
void print_summary(Terminal& terminal, const isa::Kernel& kernel, const launch::Summary& s) {
  constexpr double percent = 100;
  terminal.line(fmt::format(
      "kernel {}: {} instructions (each for up to four threads) in {} tokens, {:.1f} tokens an instruction",
      kernel.name, s.instructions, s.kernel_tokens, s.tokens_per_instruction()));
  terminal.line(fmt::format("launch firmware: {} instructions in {} tokens, {:.0f} % of the transcript",
                            s.firmware_instructions, s.firmware_tokens(), percent * s.firmware_share()));
  terminal.line(fmt::format("{} tokens in {:.2f} s after {:.2f} s for the prompt; {:.0f} tokens/s", s.tokens,
                            s.decode_seconds, s.prefill_seconds, s.tokens_per_second()));
}

// What happened, in JSON. It has an "error" when the launch failed.
nlohmann::json run_launch(const Launch& launch, const Writer& writer, Terminal& terminal,
                          const Options& options) {
  const auto& [label, description, kernel, prompt, transcript_file, number] = launch;
  terminal.line(fmt::format(
      "{}kernel {} of {}: {} instructions, {} registers a thread; the launch is {} tokens", label,
      kernel.name, description.file.string(), kernel.code.size(), kernel.registers, prompt.tokens.size()));
  terminal.line(
      fmt::format("written by {}:", options.writer.emulate ? "the emulator" : "the model, " + writer.name));

  std::unique_ptr<launch::TranscriptWriter> transcript;
  if (!transcript_file.empty())
    transcript = std::make_unique<launch::TranscriptWriter>(transcript_file, kernel, writer.name,
                                                            prompt.tokens, number);
  launch::Printer printer(kernel, options.verbose);
  launch::ResultCollector collector;
  launch::BlockState block(kernel);
  launch::Session session(*writer.source, kernel);
  launch::Observer observer;
  observer.interrupted = interrupted;
  observer.prefilled = [&](std::size_t done, std::size_t total) {
    terminal.progress(fmt::format("reading the launch: {} of {} tokens", done, total));
    if (done == total) terminal.clear_progress();
  };
  observer.token = [&](int token) {
    if (transcript) transcript->push(token);
    if (!terminal.wants_progress()) return;
    const launch::Summary& s = session.summary();
    terminal.progress(fmt::format("{} tokens, {} instructions, {:.0f} tokens/s", s.tokens, s.instructions,
                                  s.tokens_per_second()));
  };
  observer.step = [&](const launch::Step& step) {
    collector.push(step);
    block.push(step);
    if (options.json || options.quiet) return;
    const std::string line = printer.line(step);
    if (!line.empty()) terminal.line(line);
  };
  session.run(prompt.tokens, options.max_steps, observer);
  if (transcript) transcript->close();
  terminal.clear_progress();

  const launch::Summary& s = session.summary();
  const bool succeeded = collector.synchronized() && collector.status() == 0;
  nlohmann::json json = {{"kernel", kernel.name},
                         {"written by", writer.name},
                         {"status", isa::status_name(collector.status())},
                         {"status code", collector.status()},
                         {"instructions", s.instructions},
                         {"firmware instructions", s.firmware_instructions},
                         {"prompt tokens", s.prompt_tokens},
                         {"tokens", s.tokens},
                         {"kernel tokens", s.kernel_tokens},
                         {"firmware tokens", s.firmware_tokens()},
                         {"firmware share", s.firmware_share()},
                         {"tokens per instruction", s.tokens_per_instruction()},
                         {"prefill seconds", s.prefill_seconds},
                         {"decode seconds", s.decode_seconds},
                         {"tokens per second", s.tokens_per_second()},
                         {"results", nlohmann::json::array()}};
  if (succeeded) {
    for (const launch::Result& result : collector.results(description, prompt)) {
      nlohmann::json entry = {{"argument", result.argument},
                              {"type", launch::type_name(result.array.shape.type)},
                              {"shape", result.array.shape.extents}};
      std::string where;
      if (!description.out.empty()) {
        const std::filesystem::path file = result_file(description, result.argument);
        launch::write_npy(file, result.array);
        entry["file"] = file.string();
        where = " -> " + file.string();
      }
      json["results"].push_back(entry);
      terminal.line(fmt::format("{} {} = {}{}", launch::argument_label(kernel, result.argument),
                                result.array.shape.text(), values_text(result.array), where));
    }
  } else {
    json["error"] = error_text(collector, kernel, block);
  }
  print_summary(terminal, kernel, s);
  return json;
}

void run(const Options& options) {
  const std::vector<Launch> launches = prepare(options);
  for (const Launch& launch : launches) prepare_folder(launch.description);
  const Writer writer = make_writer(options.writer);
  Terminal terminal(!options.json && !options.quiet);
  catch_interrupts();
  nlohmann::json summaries = nlohmann::json::array();
  for (const Launch& launch : launches) {
    summaries.push_back(run_launch(launch, writer, terminal, options));
    if (summaries.back().contains("error")) break;  // what follows needs its results
  }
  if (options.json) fmt::print("{}\n", (launches.size() == 1 ? summaries.front() : summaries).dump(2));
  if (!summaries.back().contains("error")) return;
  throw std::runtime_error(fmt::format("{}the launch failed: {}", launches[summaries.size() - 1].label,
                                       summaries.back()["error"].get<std::string>()));
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command = app.add_subcommand("run", "let the model write launches and collect their results");
  auto options = std::make_shared<Options>();
  command
      ->add_option(
          "FILE", options->files,
          fmt::format("{}, or a launch file (.json); several follow one another on the same device memory",
                      kernel_file_help))
      ->required();
  command->add_option("--kernel", options->kernel, "name of the kernel, when the file has several");
  command->add_option("--grid", options->grid, "blocks: X, X,Y or X,Y,Z")->take_last();
  command->add_option("--block", options->block, "threads of a block: X, X,Y or X,Y,Z")->take_last();
  command->add_option("--shared", options->shared, "bytes of dynamic shared memory");
  command
      ->add_option("--arg", options->arguments,
                   "one kernel argument, in order: i32:7, in:a.npy, inout:a.npy, in:i32[64]=iota, =zero, "
                   "=random:SEED[:LOW:HIGH], out:i32[64]; keep:NAME:..., use:NAME and free:NAME of several "
                   "launches; types u8 i8 u16 i16 u32 i32 u64 i64 f32 f64")
      ->allow_extra_args(false);
  command->add_option("--out", options->out,
                      "folder for the results: argN.npy for each out and inout argument N; of several "
                      "launches 1/argN.npy, 2/argN.npy ...");
  command->add_option("--transcript", options->transcript,
                      "file for everything the model writes; of several launches FILE.1, FILE.2 ...");
  command->add_option("--max-steps", options->max_steps, "tokens after which an endless launch is given up")
      ->capture_default_str();
  add_writer_options(*command, options->writer);
  command->add_flag("--json", options->json, "print a summary in JSON instead of the lines");
  command->add_flag("--quiet,-q", options->quiet, "print nothing but errors");
  command->add_flag("--verbose,-v", options->verbose,
                    "show the launch firmware's instructions and source lines too");
  command->callback([options] { run(*options); });
}

}  // namespace qwengpu

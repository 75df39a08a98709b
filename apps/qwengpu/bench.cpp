// qwengpu bench: how fast the model writes, and that a token costs the same however long the launch is.
#include <fmt/format.h>

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "isa/assembly.h"
#include "isa/tokens.h"
#include "launch/prompt.h"
#include "launch/session.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

struct Options {
  WriterOptions writer;
  std::size_t tokens = 1'010'000;
  bool json = false;
};

// A loop without end on one quad: arithmetic, a compare, a load, a store and a branch.
isa::Kernel loop_kernel() {
  isa::Kernel kernel;
  kernel.name = "loop";
  kernel.code = isa::assemble(R"(
        MOV R2, SR_TID.X
        SHL R2, R2, 2
        IADD R2, R2, c[0x40]
loop:
        IMAD R1, R0, 3, R1
        LD R3, [R2]
        XOR R1, R1, R3
        IADD R0, R0, 1
        ISETP.NE P0, R0, 0
        ST [R2], R1
@P0     BRA loop
        EXIT
  )");
  kernel.parameters = {{"data", "u64", 0, 8, true}};
  kernel.parameter_bytes = 8;
  return kernel;
}

// A stretch of the transcript.
struct Window {
  std::size_t first, last;  // tokens
  double seconds = 0;
  std::size_t instructions = 0;

  double tokens_per_second() const { return static_cast<double>(last - first) / seconds; }
  double instructions_per_second() const { return static_cast<double>(instructions) / seconds; }
};

void bench(const Options& options) {
  launch::Description description;
  description.block = {4, 1, 1};
  description.arguments = {launch::parse_argument("inout:u32[4]=iota")};
  const launch::Prompt prompt = launch::make_prompt(description, loop_kernel());
  Writer writer = make_writer(options.writer);
  Terminal terminal(!options.json);
  catch_interrupts();

  // Time of this process on its core: what else the machine does does not count.
  const auto seconds = [](std::clock_t from) { return static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC; };
  std::clock_t start = std::clock();
  writer.source->reset();
  writer.source->prefill(prompt.tokens);
  const double prefill = static_cast<double>(prompt.tokens.size()) / seconds(start);

  // Ten thousand tokens from the 1,000th on, from the 10,000th on, ... and from the last 10,000 on.
  constexpr std::size_t width = 10'000;
  std::vector<Window> windows;
  for (std::size_t first = 1000; first + width <= options.tokens; first *= 10) windows.push_back({first, first + width});
  std::size_t tokens = 0;
  for (Window& window : windows) {
    for (; tokens < window.first && !interrupted(); ++tokens) {
      writer.source->next();
      if (tokens % 4096 == 0) terminal.progress(fmt::format("{} tokens", tokens));
    }
    start = std::clock();
    for (; tokens < window.last; ++tokens)
      if (isa::token_of(writer.source->next()).kind == isa::TokenKind::Op) ++window.instructions;
    window.seconds = seconds(start);
    if (interrupted()) throw Failed{};
  }
  terminal.clear_progress();
  if (windows.empty()) throw std::runtime_error(fmt::format("--tokens must be at least {}", 1000 + width));

  const Window& reference = windows.front();
  if (options.json) {
    nlohmann::json json = {{"written by", writer.name}, {"prompt tokens per second", prefill}};
    for (const Window& w : windows)
      json["windows"].push_back({{"token", w.first},
                                 {"tokens per second", w.tokens_per_second()},
                                 {"instructions per second", w.instructions_per_second()},
                                 {"cost against the first", w.seconds / reference.seconds}});
    fmt::print("{}\n", json.dump(2));
    return;
  }
  terminal.line(fmt::format("{}: a loop of 7 instructions on four lanes", writer.name));
  terminal.line(fmt::format("prompt of {} tokens: {:.0f} tokens/s (of one core, as below)", prompt.tokens.size(), prefill));
  terminal.line("   at token   tokens/s   instructions/s   cost of a token against the first row");
  for (const Window& w : windows)
    terminal.line(fmt::format("{:11}{:11.0f}{:17.0f}   {:.2f}", w.first, w.tokens_per_second(),
                              w.instructions_per_second(), w.seconds / reference.seconds));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "measure how fast the model writes");
  auto options = std::make_shared<Options>();
  command->add_option("--tokens", options->tokens, "length of the transcript")->capture_default_str();
  add_writer_options(*command, options->writer);
  command->add_flag("--json", options->json, "print the numbers in JSON");
  command->callback([options] { bench(*options); });
}

}  // namespace qwengpu

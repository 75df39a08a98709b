// qwengpu bench: how fast the model writes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "isa/assembly.h"
#include "launch/prompt.h"
#include "launch/session.h"
#include "sources.h"
#include "terminal.h"

namespace qwengpu {
namespace {

// out[i] = sum of 1 .. ITERATIONS, by one quad a block: arithmetic, a compare and a branch in a loop.
isa::Kernel loop_kernel() {
  isa::Kernel kernel;
  kernel.name = "loop";
  kernel.code = isa::assemble(R"(
        MOV R0, c[0x48]
loop:
        IMAD R1, R0, 1, R1
        IADD R0, R0, -1
        ISETP.NE P0, R0, RZ
@P0     BRA loop
        MOV R2, SR_TID.X
        SHL R2, R2, 2
        IADD R2, R2, c[0x40]
        STG [R2], R1
        EXIT
  )");
  kernel.parameters = {{"out", "u64", 0, 8, true}, {"iterations", "u32", 8, 4, false}};
  kernel.parameter_bytes = 12;
  return kernel;
}

void bench(std::uint32_t iterations, bool emulate, bool as_json) {
  const isa::Kernel kernel = loop_kernel();
  launch::Description description;
  description.block = {4, 1, 1};
  description.arguments = {launch::parse_argument("out:u32[4]"),
                           launch::parse_argument(fmt::format("u32:{}", iterations))};
  const launch::Prompt prompt = launch::make_prompt(description, kernel);
  Writer writer = make_writer(emulate);
  Terminal terminal(!as_json);
  launch::Session session(*writer.source, kernel);
  launch::Observer observer;
  observer.step = [&](const launch::Step&) {
    if (terminal.wants_progress()) terminal.progress(fmt::format("{} tokens", session.summary().tokens));
  };
  session.run(prompt.tokens, launch::default_max_tokens, observer);
  terminal.clear_progress();
  const launch::Summary& s = session.summary();
  const double prefill_speed = static_cast<double>(s.prompt_tokens) / s.prefill_seconds;
  const double step_speed = static_cast<double>(s.instructions) / s.decode_seconds;
  if (as_json) {
    fmt::print("{}\n", nlohmann::json({{"written by", writer.name},
                                       {"prompt tokens per second", prefill_speed},
                                       {"tokens per second", s.tokens_per_second()},
                                       {"instructions per second", step_speed},
                                       {"tokens per instruction", s.tokens_per_instruction()}})
                           .dump(2));
    return;
  }
  terminal.line(fmt::format("{}: a loop of {} instructions on four lanes", writer.name, s.instructions));
  terminal.line(fmt::format("prompt      {:10.0f} tokens/s ({} tokens)", prefill_speed, s.prompt_tokens));
  terminal.line(fmt::format("transcript  {:10.0f} tokens/s ({} tokens, {:.1f} an instruction of the kernel)",
                            s.tokens_per_second(), s.tokens, s.tokens_per_instruction()));
  terminal.line(fmt::format("            {:10.1f} instructions/s", step_speed));
}

}  // namespace

void add_bench(CLI::App& app) {
  struct Options {
    std::uint32_t iterations = 100;
    bool emulate = false, json = false;
  };
  CLI::App* command = app.add_subcommand("bench", "measure how fast the model writes");
  auto options = std::make_shared<Options>();
  command->add_option("--iterations", options->iterations, "of the measured loop")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000'000u));
  command->add_flag("--emulate", options->emulate, "measure the emulator instead");
  command->add_flag("--json", options->json, "print the numbers in JSON");
  command->callback([options] { bench(options->iterations, options->emulate, options->json); });
}

}  // namespace qwengpu

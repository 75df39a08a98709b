#include <fmt/format.h>

#include <cstdio>

#include "commands.h"
#include "launch/error.h"

namespace {
constexpr int failed = 1, usage = 2;
}

int main(int argc, char** argv) {
  CLI::App app("qwenGPU: Qwen3.5 weights that are a GPU. The model writes out every step of a CUDA launch.",
               "qwengpu");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(36);
  app.footer(
      "Exit status: 0 done, 1 the launch or a file failed, 2 the command is wrong.\n"
      "Start with `qwengpu run examples/vecadd.launch.json`.");
  qwengpu::add_run(app);
  qwengpu::add_build(app);
  qwengpu::add_show(app);
  qwengpu::add_diff(app);
  qwengpu::add_explain(app);
  qwengpu::add_asm(app);
  qwengpu::add_export(app);
  qwengpu::add_fuzz(app);
  qwengpu::add_bench(app);

  try {
    app.parse(argc, argv);
    if (!app.get_subcommands().empty()) return 0;
    fmt::print(stderr, "{}\nqwengpu: a subcommand is required\n", app.help());
    return usage;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "qwengpu: {}; see qwengpu --help\n", error.what());
    return usage;
  } catch (const qwengpu::launch::UsageError& error) {
    fmt::print(stderr, "qwengpu: {}\n", error.what());
    return usage;
  } catch (const qwengpu::Failed&) {
    return failed;
  } catch (const std::exception& error) {
    fmt::print(stderr, "qwengpu: {}\n", error.what());
    return failed;
  }
}

// The subcommands, one file each. A command adds itself to the application; its callback does the work and
// throws when it fails: launch::UsageError for what the user should type differently, any other exception for
// the rest.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>

namespace qwengpu {

void add_run(CLI::App& app);
void add_build(CLI::App& app);
void add_show(CLI::App& app);
void add_diff(CLI::App& app);
void add_explain(CLI::App& app);
void add_asm(CLI::App& app);
void add_export(CLI::App& app);
void add_fuzz(CLI::App& app);
void add_bench(CLI::App& app);

// Ends the program with status 1; everything to say has been said.
struct Failed {};

}  // namespace qwengpu

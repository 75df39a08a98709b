// qwengpu asm: the machine code of a kernel, or of the launch firmware.
#include <fmt/format.h>

#include <memory>
#include <sstream>

#include "commands.h"
#include "isa/assembly.h"
#include "isa/firmware.h"
#include "kernel_file.h"
#include "launch/source_line.h"

namespace qwengpu {
namespace {

// Text that assembles to the same kernel: all but its code is in comments.
void list(const std::string& file, const std::string& name) {
  const isa::Kernel kernel = load_kernel(file, name);
  fmt::print("; kernel {}: {} instructions, {} registers a thread\n", kernel.name, kernel.code.size(),
             kernel.registers);
  fmt::print("{}", assembly_header(kernel));
  std::istringstream lines(isa::listing(kernel.code));
  std::string line, source;
  for (std::size_t pc = 0; std::getline(lines, line); ++pc) {
    if (const std::string now = launch::source_line(kernel, static_cast<int>(pc));
        !now.empty() && now != source) {
      fmt::print("; {}\n", now);
      source = now;
    }
    fmt::print("{}\n", line);
  }
}

}  // namespace

void add_asm(CLI::App& app) {
  CLI::App* command = app.add_subcommand("asm", "print the machine code of a kernel as assembly text");
  struct Options {
    std::string file, kernel;
    bool firmware = false;
  };
  auto options = std::make_shared<Options>();
  CLI::Option* file = command->add_option("FILE", options->file, kernel_file_help);
  command->add_option("--kernel", options->kernel, "name of the kernel, when the file has several");
  command
      ->add_flag("--firmware", options->firmware, "the launch firmware instead, which stands in the weights")
      ->excludes(file);
  command->callback([options] {
    if (options->firmware)
      fmt::print("{}", isa::listing(isa::firmware()));
    else if (options->file.empty())
      throw CLI::RequiredError("FILE");
    else
      list(options->file, options->kernel);
  });
}

}  // namespace qwengpu

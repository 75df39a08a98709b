// qwengpu explain: what each of the 45 layers does and which state holds what.
#include <fmt/format.h>

#include "commands.h"
#include "construct.h"

namespace qwengpu {

void add_explain(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("explain", "say what each layer of the model does and which state holds what");
  command->callback([] { fmt::print("{}", explanation()); });
}

}  // namespace qwengpu

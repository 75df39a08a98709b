#include "construct.h"

#include "circuit/compile.h"
#include "machine/explain.h"
#include "machine/machine.h"

namespace qwengpu {

Construction construct() {
  circuit::Compiled compiled = machine::compile(machine::make_machine());
  return {std::move(compiled.checkpoint), circuit::to_text(compiled.report)};
}

std::string explanation() { return machine::explain(machine::compile(machine::make_machine())); }

}  // namespace qwengpu

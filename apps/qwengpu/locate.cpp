#include "locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "circuit/evaluate.h"
#include "engine/engine.h"
#include "machine/machine.h"

namespace qwengpu {
namespace {

struct Probe {
  circuit::SignalId signal;
  int column;
};

struct Wrong {
  int sublayer;
  circuit::SignalId signal;
  float value;
};

}  // namespace

std::string locate(const qwen::Checkpoint& checkpoint, std::span<const int> tokens,
                   const std::function<void(std::size_t done)>& progress) {
  const machine::Machine machine = machine::make_machine();
  const circuit::Compiled compiled = machine::compile(machine);
  const auto& signals = machine.circuit->signals();

  // Signals by the sublayer after which they are complete.
  std::vector<std::vector<Probe>> probes(static_cast<std::size_t>(2 * checkpoint.geometry.layers + 1));
  for (circuit::SignalId id = 0; id < signals.size(); ++id) {
    const auto place = compiled.placement.signals.find(signals[id].name);
    if (place == compiled.placement.signals.end() || place->second.column < 0) continue;
    probes[static_cast<std::size_t>(place->second.ready + 1)].push_back({id, place->second.column});
  }

  circuit::Evaluator circuit(*machine.circuit);
  const auto engine = engine::make_sparse(checkpoint);
  std::vector<Wrong> wrong;
  engine->on_sublayer([&](int sublayer, std::span<const float> residual) {
    for (const Probe& probe : probes[static_cast<std::size_t>(sublayer + 1)]) {
      const float value = residual[static_cast<std::size_t>(probe.column)];
      if (value != circuit.get(circuit::Signal{probe.signal}))
        wrong.push_back({sublayer, probe.signal, value});
    }
  });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    circuit.set_token(tokens[i]);
    circuit.step();
    wrong.clear();
    engine->append(tokens[i]);
    if (progress) progress(i + 1);
  }

  if (wrong.empty())
    return "every signal of the model is what its circuit says it is: the circuit and the emulator disagree";
  std::string text;
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, wrong.size()); ++i)
    text += fmt::format("layer {}, {}: signal {} is {}, the circuit says {}\n",
                        circuit::layer_of(wrong[i].sublayer), circuit::sublayer_name(wrong[i].sublayer),
                        signals[wrong[i].signal].name, wrong[i].value,
                        circuit.get(circuit::Signal{wrong[i].signal}));
  if (wrong.size() > most) text += fmt::format("and {} more after them\n", wrong.size() - most);
  return text;
}

}  // namespace qwengpu

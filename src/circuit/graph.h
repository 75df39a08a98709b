// The dependency graph of a circuit: what must be computed before what within one token.
#pragma once

#include <vector>

#include "circuit/circuit.h"

namespace qwengpu::circuit {

struct Node {
  enum Kind : std::uint8_t { neuron, head, signal };
  Kind kind;
  std::uint32_t index;
};

// Calls visit(SignalId) for every signal a head or neuron reads (a signal may come several times).
template <typename Visit>
void for_each_input(const Circuit::Neuron& neuron, const Visit& visit) {
  for (const Linear::Term& t : neuron.gate.terms()) visit(t.signal);
  for (const Linear::Term& t : neuron.up.terms()) visit(t.signal);
}

template <typename Visit>
void for_each_form(const HeadSpec& head, const Visit& visit) {
  for (const auto* rows : {&head.key, &head.query, &head.value, &head.z}) {
    for (const HeadSpec::Row& row : *rows) visit(row.form);
  }
  visit(head.write_enable);
  visit(head.clear);
}

template <typename Visit>
void for_each_input(const HeadSpec& head, const Visit& visit) {
  for_each_form(head, [&](const Linear& form) {
    for (const Linear::Term& t : form.terms()) visit(t.signal);
  });
}

// Neurons and heads after the signals they read, signals after everything that drives them. Deterministic.
// Throws Error printing the signals of a cycle: within one token values only flow forward; a loop must pass
// through a token.
std::vector<Node> topological_order(const Circuit& circuit);

}  // namespace qwengpu::circuit

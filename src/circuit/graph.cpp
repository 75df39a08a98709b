#include "circuit/graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace qwengpu::circuit {

namespace {

// Some signal of a cycle, walking from driver to driver among the nodes that were never ordered.
std::vector<std::string> find_cycle(const Circuit& circuit, const std::vector<bool>& done) {
  const auto& signals = circuit.signals();
  const auto unfinished_input = [&](const auto& unit) {
    SignalId found = Signal::none;
    for_each_input(unit, [&](SignalId s) {
      if (found == Signal::none && !done[s]) found = s;
    });
    return found;
  };
  SignalId at = 0;
  while (done[at]) ++at;
  std::vector<SignalId> path;
  std::vector<bool> seen(signals.size());
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    SignalId next = Signal::none;
    for (const auto& c : signals[at].contributions) {
      if (next == Signal::none) next = unfinished_input(circuit.neurons()[c.neuron]);
    }
    for (const auto& r : signals[at].raw_reads) {
      if (next == Signal::none) next = unfinished_input(circuit.heads()[r.head]);
    }
    at = next;
  }
  std::vector<std::string> names;
  for (auto it = std::find(path.begin(), path.end(), at); it != path.end(); ++it)
    names.push_back(signals[*it].name);
  names.push_back(signals[at].name);
  return names;
}

}  // namespace

std::vector<Node> topological_order(const Circuit& circuit) {
  const auto& signals = circuit.signals();
  const auto& neurons = circuit.neurons();
  const auto& heads = circuit.heads();
  std::vector<std::vector<Node>> readers(signals.size());
  std::vector<int> neuron_waits(neurons.size()), head_waits(heads.size()), signal_waits(signals.size());
  for (std::uint32_t n = 0; n < neurons.size(); ++n) {
    for_each_input(neurons[n], [&](SignalId s) {
      readers[s].push_back({Node::neuron, n});
      ++neuron_waits[n];
    });
  }
  for (std::uint32_t h = 0; h < heads.size(); ++h) {
    for_each_input(heads[h], [&](SignalId s) {
      readers[s].push_back({Node::head, h});
      ++head_waits[h];
    });
  }
  std::vector<Node> order;
  order.reserve(signals.size() + neurons.size() + heads.size());
  for (std::uint32_t s = 0; s < signals.size(); ++s) {
    signal_waits[s] = static_cast<int>(signals[s].contributions.size() + signals[s].raw_reads.size());
    if (signal_waits[s] == 0) order.push_back({Node::signal, s});
  }
  for (std::uint32_t n = 0; n < neurons.size(); ++n) {
    if (neuron_waits[n] == 0) order.push_back({Node::neuron, n});
  }
  for (std::uint32_t h = 0; h < heads.size(); ++h) {
    if (head_waits[h] == 0) order.push_back({Node::head, h});
  }
  const auto drive = [&](SignalId s) {
    if (--signal_waits[s] == 0) order.push_back({Node::signal, s});
  };
  for (std::size_t i = 0; i < order.size(); ++i) {  // grows while it is walked
    const Node node = order[i];
    switch (node.kind) {
      case Node::neuron:
        for (const auto& out : neurons[node.index].outputs) drive(out.signal);
        break;
      case Node::head:
        for (const auto& out : heads[node.index].outputs) drive(out.signal.id);
        break;
      case Node::signal:
        for (const Node reader : readers[node.index]) {
          int& waits = reader.kind == Node::neuron ? neuron_waits[reader.index] : head_waits[reader.index];
          if (--waits == 0) order.push_back(reader);
        }
        break;
    }
  }
  if (order.size() < signals.size() + neurons.size() + heads.size()) {
    std::vector<bool> done(signals.size());
    for (const Node node : order) {
      if (node.kind == Node::signal) done[node.index] = true;
    }
    throw Error(
        fmt::format("combinational cycle: {} (each is computed from the next). Within a token values only "
                    "flow to deeper layers; "
                    "what must come back has to be spoken as a token or kept in a memory head",
                    fmt::join(find_cycle(circuit, done), " <- ")));
  }
  return order;
}

}  // namespace qwengpu::circuit

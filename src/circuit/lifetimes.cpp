// From a placement of neurons and heads to the life of every signal: written, ready, last read, released.
#include <fmt/format.h>

#include <algorithm>

#include "circuit/plan.h"

namespace qwengpu::circuit {

void Plan::update_lifetimes() {
  const auto& signals = circuit.signals();
  first_write.assign(signals.size(), never);
  ready.assign(signals.size(), embedding_sublayer);
  last_read.assign(signals.size(), embedding_sublayer);
  restores.assign(static_cast<std::size_t>(circuit.geometry().layers), {});
  const auto write = [&](SignalId s, int first, int done) {
    first_write[s] = std::min(first_write[s], first);
    ready[s] = std::max(ready[s], done);
  };
  for (SignalId s = 0; s < signals.size(); ++s) {
    if (!live_signal[s]) continue;
    if (signals[s].is_input) write(s, embedding_sublayer, embedding_sublayer);
    for (const auto& c : signals[s].contributions) write(s, neuron_at[c.neuron], neuron_at[c.neuron]);
    for (const auto& r : signals[s].raw_reads) {
      write(s, head_at[r.head], head_at[r.head] + 1);
      const auto layer = static_cast<std::size_t>(layer_of(head_at[r.head]));
      if (layer >= restores.size()) continue;
      auto& list = restores[layer];
      if (list.empty() || list.back() != s) list.push_back(s);
    }
    for (const Node reader : readers[s]) {
      last_read[s] = std::max(last_read[s],
                              reader.kind == Node::neuron ? neuron_at[reader.index] : head_at[reader.index]);
    }
    if (read_at_end[s]) last_read[s] = end;
  }
}

int Plan::release(SignalId s) const {
  int mlp = last_read[s] % 2 == 0 ? last_read[s] + 1 : last_read[s];
  while (mlp <= ready[s]) mlp += 2;
  return mlp < end ? mlp : never;
}

std::vector<int> live_columns(const Plan& plan) {
  std::vector<int> change(static_cast<std::size_t>(plan.end) + 1);
  for (SignalId s = 0; s < plan.live_signal.size(); ++s) {
    if (!plan.live_signal[s]) continue;
    ++change[static_cast<std::size_t>(std::clamp(plan.first_write[s], 0, plan.end))];
    const int release = plan.release(s);
    if (release != never) --change[static_cast<std::size_t>(release)];
  }
  change.pop_back();
  for (std::size_t t = 1; t < change.size(); ++t) change[t] += change[t - 1];
  return change;
}

std::vector<int> Plan::neurons_per_layer() const {
  std::vector<int> count(static_cast<std::size_t>(circuit.geometry().layers));
  for (std::uint32_t n = 0; n < neuron_at.size(); ++n) {
    if (live_neuron[n]) ++count[static_cast<std::size_t>(layer_of(neuron_at[n]))];
  }
  for (std::size_t layer = 0; layer < count.size(); ++layer)
    count[layer] += static_cast<int>(restores[layer].size());
  return count;
}

std::vector<std::string> critical_path(const Plan& plan, SignalId signal) {
  const Circuit& c = plan.circuit;
  std::vector<std::string> path;
  SignalId at = signal;
  while (at != Signal::none) {
    // What made `at` ready last, and which of its inputs came last.
    std::string note = sublayer_name(plan.ready[at]);
    int done = plan.ready[at];
    std::string through;
    SignalId next = Signal::none;
    int earliest = embedding_sublayer;  // when the inputs would have allowed it
    int requested = 0;                  // first layer the caller allowed
    const auto latest_input = [&](const auto& unit) {
      next = Signal::none;
      for_each_input(unit, [&](SignalId s) {
        if (plan.live_signal[s] && (next == Signal::none || plan.ready[s] > plan.ready[next])) next = s;
      });
      earliest = next == Signal::none ? embedding_sublayer : plan.ready[next];
    };
    for (const auto& r : c.signals()[at].raw_reads) {
      if (plan.head_at[r.head] + 1 != done) continue;
      latest_input(c.heads()[r.head]);
      through = fmt::format("read by head \"{}\"", c.heads()[r.head].name);
      requested = std::max(0, c.heads()[r.head].layer);
      done -= 1;
      break;
    }
    for (const auto& contribution : c.signals()[at].contributions) {
      if (!through.empty() || plan.neuron_at[contribution.neuron] != done) continue;
      latest_input(c.neurons()[contribution.neuron]);
      requested = c.neurons()[contribution.neuron].min_layer;
      break;
    }
    const int possible = earliest % 2 == 0 ? earliest + 1 : earliest + 2;
    if (!through.empty()) {
      note += ", " + through;
      if (requested > 0 && layer_of(done) == requested)
        note += fmt::format(", pinned to layer {}", requested);
    } else if (done > possible) {
      note += layer_of(done) == requested ? fmt::format(", not_before({})", requested)
                                          : std::string(", the MLPs before it are full");
    }
    path.push_back(fmt::format("{} ({})", c.signals()[at].name, note));
    at = done == embedding_sublayer ? Signal::none : next;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string scope_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? family_of(name) : name.substr(0, slash);
}

std::string family_of(const std::string& name) { return name.substr(0, name.find('[')); }

}  // namespace qwengpu::circuit

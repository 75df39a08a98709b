// Sinking: a signal made early and read late holds a column all the while. Making it later frees the column
// but holds its inputs longer, so signals with the same inputs move together: the 64 lines of a decoder are
// worth holding 6 address bits, one is not. Works on the finished as-soon-as-possible schedule, last sublayer
// first, so that readers have moved before what they read.
#include <algorithm>
#include <map>
#include <numeric>

#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

// Signals tied by shared neurons, with all neurons that drive them: they move as one.
struct Unit {
  std::vector<SignalId> signals;
  std::vector<std::uint32_t> neurons;
  std::vector<SignalId> inputs;  // sorted, unique
  int last = 0;                  // sublayer of its last neuron
  int latest = 0;                // last MLP before the first reader
};

class Sinker {
 public:
  explicit Sinker(Plan& plan) : plan_(plan), circuit_(plan.circuit) {}

  void run() {
    make_units();
    used_ = plan_.neurons_per_layer();
    // Units by the sublayer of their last neuron; moved units go later, where they have been handled already.
    std::vector<std::vector<std::size_t>> by_sublayer(static_cast<std::size_t>(plan_.end));
    for (std::size_t u = 0; u < units_.size(); ++u)
      by_sublayer[static_cast<std::size_t>(units_[u].last)].push_back(u);
    for (int sublayer = plan_.end - 1; sublayer > 0; sublayer -= 2) {
      std::map<std::vector<SignalId>, std::vector<std::size_t>> families;  // by inputs
      for (const std::size_t u : by_sublayer[static_cast<std::size_t>(sublayer)])
        families[units_[u].inputs].push_back(u);
      for (const auto& [inputs, family] : families) move(inputs, family);
    }
  }

 private:
  void make_units() {
    const auto& signals = circuit_.signals();
    std::vector<SignalId> parent(signals.size());
    std::iota(parent.begin(), parent.end(), 0u);
    const auto root = [&](SignalId s) {
      while (parent[s] != s) s = parent[s] = parent[parent[s]];
      return s;
    };
    for (std::uint32_t n = 0; n < circuit_.neurons().size(); ++n) {
      if (!plan_.live_neuron[n]) continue;
      SignalId first = Signal::none;
      for (const auto& out : circuit_.neurons()[n].outputs) {
        if (!plan_.live_signal[out.signal]) continue;
        if (first == Signal::none) first = out.signal;
        parent[root(out.signal)] = root(first);
      }
    }
    // Embeddings and reads of heads stand where they are, and a unit with one of them gains little.
    std::vector<bool> fixed(signals.size());
    for (SignalId s = 0; s < signals.size(); ++s) {
      if (plan_.live_signal[s] && (signals[s].is_input || !signals[s].raw_reads.empty()))
        fixed[root(s)] = true;
    }
    std::vector<std::size_t> unit_of(signals.size(), SIZE_MAX);
    for (SignalId s = 0; s < signals.size(); ++s) {
      if (!plan_.live_signal[s] || fixed[root(s)] || signals[s].contributions.empty()) continue;
      std::size_t& u = unit_of[root(s)];
      if (u == SIZE_MAX) {
        u = units_.size();
        units_.emplace_back();
      }
      units_[u].signals.push_back(s);
      for (const auto& c : signals[s].contributions) units_[u].neurons.push_back(c.neuron);
    }
    for (Unit& unit : units_) {
      std::sort(unit.neurons.begin(), unit.neurons.end());
      unit.neurons.erase(std::unique(unit.neurons.begin(), unit.neurons.end()), unit.neurons.end());
      for (const std::uint32_t n : unit.neurons) {
        unit.last = std::max(unit.last, plan_.neuron_at[n]);
        for_each_input(circuit_.neurons()[n], [&](SignalId s) {
          if (plan_.live_signal[s]) unit.inputs.push_back(s);
        });
      }
      std::sort(unit.inputs.begin(), unit.inputs.end());
      unit.inputs.erase(std::unique(unit.inputs.begin(), unit.inputs.end()), unit.inputs.end());
    }
  }

  void find_latest(Unit& unit) const {
    int first_read = plan_.end;
    for (const SignalId s : unit.signals) {
      for (const Node r : plan_.readers[s]) {
        first_read =
            std::min(first_read, r.kind == Node::neuron ? plan_.neuron_at[r.index] : plan_.head_at[r.index]);
      }
    }
    unit.latest = first_read % 2 == 0 ? first_read - 1 : first_read - 2;
  }

  // Columns times sublayers saved when every member goes as late as it may, but not past `limit`.
  long gain(const std::vector<SignalId>& inputs, const std::vector<std::size_t>& family, int limit) const {
    long saved = 0;
    int reached = 0;
    for (const std::size_t u : family) {
      const int target = std::min(units_[u].latest, limit);
      reached = std::max(reached, target);
      for (const SignalId s : units_[u].signals) saved += target - plan_.first_write[s];
    }
    for (const SignalId s : inputs) saved -= std::max(0, reached - plan_.last_read[s]);
    return saved;
  }

  void move(const std::vector<SignalId>& inputs, const std::vector<std::size_t>& members) {
    std::vector<std::size_t> family;
    std::vector<int> limits;
    for (const std::size_t u : members) {
      find_latest(units_[u]);
      if (units_[u].latest < units_[u].last)
        continue;  // one of its signals is read before another one is complete
      family.push_back(u);
      limits.push_back(units_[u].latest);
    }
    std::sort(limits.begin(), limits.end());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    int best = -1;
    long best_gain = 0;
    for (const int limit : limits) {
      const long g = gain(inputs, family, limit);
      if (g > best_gain) best_gain = g, best = limit;
    }
    if (best < 0) return;
    for (const std::size_t u : family) move_unit(units_[u], std::min(units_[u].latest, best));
  }

  // To `target` or the last MLP before it that has room.
  void move_unit(const Unit& unit, int target) {
    for (; target >= unit.last; target -= 2) {
      int coming = 0;
      for (const std::uint32_t n : unit.neurons) coming += plan_.neuron_at[n] != target ? 1 : 0;
      if (coming == 0) return;
      int& used = used_[static_cast<std::size_t>(layer_of(target))];
      if (used + coming > circuit_.geometry().intermediate) continue;
      used += coming;
      for (const std::uint32_t n : unit.neurons) {
        if (plan_.neuron_at[n] != target) --used_[static_cast<std::size_t>(layer_of(plan_.neuron_at[n]))];
        plan_.neuron_at[n] = target;
      }
      for (const SignalId s : unit.signals) plan_.first_write[s] = plan_.ready[s] = target;
      for (const SignalId s : unit.inputs) plan_.last_read[s] = std::max(plan_.last_read[s], target);
      return;
    }
  }

  Plan& plan_;
  const Circuit& circuit_;
  std::vector<Unit> units_;
  std::vector<int> used_;  // neurons by layer
};

}  // namespace

void sink(Plan& plan) { Sinker(plan).run(); }

}  // namespace qwengpu::circuit

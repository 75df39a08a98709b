// List scheduling: sublayer by sublayer, every neuron goes to the first MLP after its inputs that has room,
// the most urgent first.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "circuit/bounds.h"
#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

int mlp_after(int sublayer) { return sublayer % 2 == 0 ? sublayer + 1 : sublayer + 2; }
int mlp_before(int sublayer) { return sublayer % 2 == 0 ? sublayer - 1 : sublayer - 2; }
int mixer_after(int sublayer) { return sublayer % 2 == 0 ? sublayer + 2 : sublayer + 1; }

class Scheduler {
 public:
  explicit Scheduler(Plan& plan)
      : plan_(plan), circuit_(plan.circuit), geometry_(circuit_.geometry()), pinned_(at_layers()) {}

  void run() {
    check_pinned();
    find_deadlines();
    place_all();
    plan_.update_lifetimes();
    refuse_late_heads();
    refuse_overflow();
    number_heads();
  }

 private:
  std::vector<int> at_layers() const { return std::vector<int>(static_cast<std::size_t>(geometry_.layers)); }

  void check_pinned() {
    for (std::uint32_t h = 0; h < circuit_.heads().size(); ++h) {
      const int layer = circuit_.heads()[h].layer;
      if (!plan_.live_head[h] || layer == HeadSpec::earliest) continue;
      if (++pinned_[static_cast<std::size_t>(layer)] > geometry_.gdn_heads) {
        throw Error(
            fmt::format("layer {} has {} heads, and head \"{}\" is one too many; move it to another layer",
                        layer, geometry_.gdn_heads, circuit_.heads()[h].name));
      }
    }
  }

  // The last sublayer at which a neuron may stand so that pinned heads and the last layer are still reached.
  void find_deadlines() {
    std::vector<int> needed(circuit_.signals().size(), plan_.end);  // every signal must be ready before
    deadline_.assign(circuit_.neurons().size(), plan_.end);
    for (auto it = plan_.order.rbegin(); it != plan_.order.rend(); ++it) {
      int start = plan_.end;
      if (it->kind == Node::neuron) {
        for (const auto& out : circuit_.neurons()[it->index].outputs)
          start = std::min(start, needed[out.signal]);
        start = mlp_before(start);
        deadline_[it->index] = start;
        for_each_input(circuit_.neurons()[it->index],
                       [&](SignalId s) { needed[s] = std::min(needed[s], start); });
      } else if (it->kind == Node::head) {
        const HeadSpec& head = circuit_.heads()[it->index];
        for (const auto& out : head.outputs) start = std::min(start, needed[out.signal.id]);
        start = head.layer == HeadSpec::earliest ? mlp_before(start) - 1 : mixer_of(head.layer);
        for_each_input(head, [&](SignalId s) { needed[s] = std::min(needed[s], start); });
      }
    }
  }

  template <typename T>
  static std::vector<T>& bucket(std::vector<std::vector<T>>& buckets, int sublayer) {
    const auto at = static_cast<std::size_t>(sublayer);
    if (buckets.size() <= at) buckets.resize(at + 1);
    return buckets[at];
  }

  void place_all() {
    plan_.neuron_at.assign(circuit_.neurons().size(), never);
    plan_.head_at.assign(circuit_.heads().size(), never);
    waits_neuron_.assign(circuit_.neurons().size(), 0);
    waits_head_.assign(circuit_.heads().size(), 0);
    waits_signal_.assign(circuit_.signals().size(), 0);
    inputs_ready_neuron_.assign(circuit_.neurons().size(), embedding_sublayer);
    inputs_ready_head_.assign(circuit_.heads().size(), embedding_sublayer);
    ready_.assign(circuit_.signals().size(), embedding_sublayer);
    int unplaced = 0;
    for (const Node node : plan_.order) {
      if (node.kind != Node::signal) {
        ++unplaced;
        continue;
      }
      const auto& info = circuit_.signals()[node.index];
      waits_signal_[node.index] = static_cast<int>(info.contributions.size() + info.raw_reads.size());
      for (const Node reader : plan_.readers[node.index]) {
        ++(reader.kind == Node::neuron ? waits_neuron_ : waits_head_)[reader.index];
      }
    }
    for (const Node node : plan_.order) {  // what waits for nothing
      if (node.kind == Node::neuron && waits_neuron_[node.index] == 0) neuron_is_ready(node.index);
      if (node.kind == Node::head && waits_head_[node.index] == 0) head_is_ready(node.index);
    }
    for (const Node node : plan_.order) {
      if (node.kind == Node::signal && waits_signal_[node.index] == 0) signal_is_ready(node.index);
    }
    for (int sublayer = 0; unplaced > 0;
         ++sublayer) {  // runs past the last layer to say how many are missing
      unplaced -= sublayer % 2 == 0 ? place_heads(sublayer) : place_neurons(sublayer);
    }
  }

  void neuron_is_ready(std::uint32_t n) {
    const int first = std::max(mlp_after(inputs_ready_neuron_[n]), mlp_of(circuit_.neurons()[n].min_layer));
    bucket(neurons_due_, first).push_back(n);
  }

  void head_is_ready(std::uint32_t h) {
    const int first = mixer_after(inputs_ready_head_[h]);
    const int layer = circuit_.heads()[h].layer;
    if (layer == HeadSpec::earliest) {
      bucket(heads_due_, first).push_back(h);
      return;
    }
    if (first > mixer_of(layer)) late_.push_back(h);
    bucket(heads_due_, std::max(first, mixer_of(layer))).push_back(h);
  }

  void signal_is_ready(SignalId s) {
    for (const Node reader : plan_.readers[s]) {
      if (reader.kind == Node::neuron) {
        int& inputs = inputs_ready_neuron_[reader.index];
        inputs = std::max(inputs, ready_[s]);
        if (--waits_neuron_[reader.index] == 0) neuron_is_ready(reader.index);
      } else {
        int& inputs = inputs_ready_head_[reader.index];
        inputs = std::max(inputs, ready_[s]);
        if (--waits_head_[reader.index] == 0) head_is_ready(reader.index);
      }
    }
  }

  void drive(SignalId s, int sublayer) {
    if (!plan_.live_signal[s]) return;
    ready_[s] = std::max(ready_[s], sublayer);
    if (--waits_signal_[s] == 0) signal_is_ready(s);
  }

  int place_heads(int sublayer) {
    restored_.clear();
    std::vector<std::uint32_t> due = std::move(bucket(heads_due_, sublayer));
    if (due.empty()) return 0;
    const int layer = layer_of(sublayer);
    const bool exists = layer < geometry_.layers;
    int room = geometry_.gdn_heads - (exists ? pinned_[static_cast<std::size_t>(layer)] : 0);
    if (geometry_.is_attention(layer)) room = 0;
    int placed = 0;
    std::sort(due.begin(), due.end());
    for (const std::uint32_t h : due) {
      const bool pinned_here = exists && circuit_.heads()[h].layer == layer;
      if (!pinned_here && room-- <= 0) {
        bucket(heads_due_, sublayer + 2).push_back(h);
        continue;
      }
      plan_.head_at[h] = sublayer;
      ++placed;
      for (const auto& out : circuit_.heads()[h].outputs) {
        if (plan_.live_signal[out.signal.id]) restored_.push_back(out.signal.id);
        drive(out.signal.id, sublayer + 1);  // a bit again after the MLP of this layer
      }
    }
    std::sort(restored_.begin(), restored_.end());
    restored_.erase(std::unique(restored_.begin(), restored_.end()), restored_.end());
    return placed;
  }

  int place_neurons(int sublayer) {
    std::vector<std::uint32_t>& due = bucket(neurons_due_, sublayer);
    if (due.empty()) return 0;
    std::vector<std::uint32_t> now = std::move(due);
    due.clear();
    const auto urgent = [&](std::uint32_t a, std::uint32_t b) {
      return deadline_[a] != deadline_[b] ? deadline_[a] < deadline_[b] : a < b;
    };
    std::sort(now.begin(), now.end(), urgent);
    const int room = std::max(0, geometry_.intermediate - static_cast<int>(restored_.size()));
    const auto count = std::min(now.size(), static_cast<std::size_t>(room));
    for (std::size_t i = 0; i < count; ++i) {
      plan_.neuron_at[now[i]] = sublayer;
      for (const auto& out : circuit_.neurons()[now[i]].outputs) drive(out.signal, sublayer);
    }
    if (count < now.size()) {
      auto& later = bucket(neurons_due_, sublayer + 2);
      later.insert(later.end(), now.begin() + static_cast<std::ptrdiff_t>(count), now.end());
    }
    if (room == 0 && sublayer > plan_.end) throw Error("the MLPs of this geometry have no neurons");
    return static_cast<int>(count);
  }

  void refuse_late_heads() const {
    if (late_.empty()) return;
    std::string message;
    int shown = 0;
    for (const std::uint32_t h : late_) {
      if (++shown > 5) break;
      const HeadSpec& head = circuit_.heads()[h];
      SignalId worst = Signal::none;
      for_each_input(head, [&](SignalId s) {
        if (plan_.live_signal[s] && (worst == Signal::none || plan_.ready[s] > plan_.ready[worst])) worst = s;
      });
      message += fmt::format(
          "{}head \"{}\" of layer {} reads signal \"{}\", ready only after {}; a mixer of layer {} sees what "
          "{} and "
          "earlier sublayers wrote. Critical path: {}",
          message.empty() ? "" : "\n", head.name, head.layer, plan_.name(worst),
          sublayer_name(plan_.ready[worst]), head.layer, sublayer_name(mixer_of(head.layer) - 1),
          fmt::join(critical_path(plan_, worst), " -> "));
    }
    if (late_.size() > 5) message += fmt::format("\nand {} more heads", late_.size() - 5);
    throw Error(message);
  }

  void refuse_overflow() const {
    SignalId worst = Signal::none;
    for (SignalId s = 0; s < plan_.live_signal.size(); ++s) {
      if (plan_.live_signal[s] && (worst == Signal::none || plan_.ready[s] > plan_.ready[worst])) worst = s;
    }
    if (worst == Signal::none || plan_.ready[worst] < plan_.end) return;
    throw Error(
        fmt::format("the circuit needs {} layers and the model has {}: signal \"{}\" is ready only after {}. "
                    "Critical path: {}",
                    layer_of(plan_.ready[worst]) + 1, geometry_.layers, plan_.name(worst),
                    sublayer_name(plan_.ready[worst]), fmt::join(critical_path(plan_, worst), " -> ")));
  }

  void number_heads() {
    std::vector<int> next = at_layers();
    plan_.head_index.assign(circuit_.heads().size(), -1);
    for (std::uint32_t h = 0; h < circuit_.heads().size(); ++h) {
      if (plan_.live_head[h])
        plan_.head_index[h] = next[static_cast<std::size_t>(layer_of(plan_.head_at[h]))]++;
    }
  }

  Plan& plan_;
  const Circuit& circuit_;
  const qwen::Geometry& geometry_;
  std::vector<int> pinned_;    // heads by layer
  std::vector<int> deadline_;  // by neuron
  std::vector<int> waits_neuron_, waits_head_, waits_signal_;
  std::vector<int> inputs_ready_neuron_, inputs_ready_head_, ready_;
  std::vector<std::vector<std::uint32_t>> neurons_due_, heads_due_;  // by sublayer
  std::vector<std::uint32_t> late_;
  std::vector<SignalId> restored_;  // in the MLP of the current layer
};

// A raw read is restored by -relu(x - 1) with x 0, 1 or a read of at least 2. Anything else in the column
// must be bits.
void check_restored(const Plan& plan) {
  for (SignalId s = 0; s < plan.live_signal.size(); ++s) {
    const auto& info = plan.circuit.signals()[s];
    if (!plan.live_signal[s] || info.raw_reads.empty()) continue;
    for (const auto& c : info.contributions) {
      const Range r = scaled(plan.products[c.neuron], c.coef);
      if (r.lo >= 0 && r.hi <= 1) continue;
      throw Error(fmt::format(
          "signal \"{}\" collects reads of heads, so every other contribution must be 0 or 1; one is "
          "in [{}, {}]. Compute it in a signal of its own and add() that",
          info.name, r.lo, r.hi));
    }
  }
}

}  // namespace

void schedule(Plan& plan, const CompileOptions& options) {
  Scheduler(plan).run();
  check_restored(plan);

  SignalId last = Signal::none;
  for (SignalId s = 0; s < plan.live_signal.size(); ++s) {
    if (plan.live_signal[s] && (last == Signal::none || plan.ready[s] > plan.ready[last])) last = s;
  }
  if (last != Signal::none) {
    plan.depth = (plan.ready[last] + 1) / 2;
    plan.critical_path = critical_path(plan, last);
  }

  // Fewer columns at the peak, or as many and fewer elsewhere: less to hold and less energy for the norms.
  const auto cost = [&] {
    const std::vector<int> live = live_columns(plan);
    return std::pair(*std::max_element(live.begin(), live.end()),
                     std::accumulate(live.begin(), live.end(), 0L));
  };
  const auto unsunk = cost();
  plan.peak_unsunk = unsunk.first;
  if (!options.sink) return;
  const std::vector<int> as_soon_as_possible = plan.neuron_at;
  sink(plan);
  plan.update_lifetimes();
  if (cost() >= unsunk) {
    plan.neuron_at = as_soon_as_possible;
    plan.update_lifetimes();
  }
}

}  // namespace qwengpu::circuit

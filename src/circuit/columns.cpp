// Columns are registers: a signal holds one from its first write to its last read. A freed column is zeroed
// before it is reused by neurons that read it, x - relu(x) + relu(-x) = 0, in an MLP at or after the last
// read; because the down projection adds to what the MLP's input had, the next signal may be written by that
// very MLP.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <queue>

#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

class Allocator {
 public:
  explicit Allocator(Plan& plan) : plan_(plan), neurons_(plan.neurons_per_layer()) {}

  void run(double eager_clear) {
    const auto& signals = plan_.circuit.signals();
    plan_.column.assign(signals.size(), -1);
    plan_.cleared_at.assign(signals.size(), never);
    plan_.clears.assign(static_cast<std::size_t>(plan_.circuit.geometry().layers), {});
    const std::vector<int> live = live_columns(plan_);
    const auto widest = std::max_element(live.begin(), live.end());
    plan_.peak = *widest;
    plan_.peak_sublayer = static_cast<int>(widest - live.begin());
    if (plan_.peak > plan_.constants.signal_columns) refuse_columns();

    std::vector<SignalId> by_start;
    for (SignalId s = 0; s < signals.size(); ++s) {
      if (plan_.live_signal[s]) by_start.push_back(s);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](SignalId a, SignalId b) { return plan_.first_write[a] < plan_.first_write[b]; });
    for (const SignalId s : by_start) place(s);
    if (eager_clear < never) clear_large(by_start, eager_clear);
    for (SignalId s = 0; s < signals.size(); ++s) {
      if (plan_.cleared_at[s] != never) {
        plan_.clears[static_cast<std::size_t>(layer_of(plan_.cleared_at[s]))].push_back(s);
      }
    }
  }

 private:
  int clearing_neurons(SignalId s) const {
    return (plan_.ranges[s].hi > 0 ? 1 : 0) + (plan_.ranges[s].lo < 0 ? 1 : 0);
  }

  void place(SignalId s) {
    const int start = plan_.first_write[s];
    while (!ending_.empty() && ending_.top().first <= start) {
      const SignalId freed = ending_.top().second;
      ending_.pop();
      (clearing_neurons(freed) <= 1 ? narrow_ : wide_).push_back(freed);
    }
    if (used_ < plan_.constants.signal_columns) {
      plan_.column[s] = plan_.constants.first_signal + used_++;
    } else if (!take_from(narrow_, s) && !take_from(wide_, s)) {
      throw Error(fmt::format(
          "no MLP before {} has room for the neurons that zero a column for signal \"{}\"; raise the "
          "number of columns or spread the circuit over more layers",
          sublayer_name(start + 1), plan_.name(s)));
    }
    const int release = plan_.release(s);
    if (release != never) ending_.emplace(release, s);
  }

  bool take_from(std::deque<SignalId>& freed, SignalId s) {
    const int start = plan_.first_write[s];
    for (auto it = freed.begin(); it != freed.end(); ++it) {
      if (!clear(*it, start % 2 != 0 ? start : start - 1)) continue;
      plan_.column[s] = plan_.column[*it];
      freed.erase(it);
      return true;
    }
    return false;
  }

  // In the first MLP from the signal's release to `last` that has room.
  bool clear(SignalId s, int last) {
    const int count = clearing_neurons(s);
    for (int mlp = plan_.release(s); mlp <= last; mlp += 2) {
      int& neurons = neurons_[static_cast<std::size_t>(layer_of(mlp))];
      if (neurons + count > plan_.circuit.geometry().intermediate) continue;
      neurons += count;
      plan_.cleared_at[s] = mlp;
      return true;
    }
    return false;
  }

  void clear_large(const std::vector<SignalId>& by_start, double eager_clear) {
    for (const SignalId s : by_start) {
      if (plan_.cleared_at[s] != never || plan_.release(s) == never) continue;
      if (plan_.ranges[s].magnitude() > eager_clear) clear(s, plan_.end - 1);
    }
  }

  void refuse_columns() const {
    std::map<std::string, int> groups;
    const int t = plan_.peak_sublayer;
    for (SignalId s = 0; s < plan_.live_signal.size(); ++s) {
      if (plan_.live_signal[s] && plan_.first_write[s] <= t && plan_.release(s) > t)
        ++groups[family_of(plan_.name(s))];
    }
    std::vector<std::pair<std::string, int>> widest(groups.begin(), groups.end());
    std::stable_sort(widest.begin(), widest.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < widest.size() && i < 12; ++i) {
      shown.push_back(fmt::format("{} {}", widest[i].first, widest[i].second));
    }
    throw Error(
        fmt::format("{} columns are needed after {} and {} are there. The widest groups alive: {}. Read them "
                    "earlier, make them later (not_before) or encode them more narrowly",
                    plan_.peak, sublayer_name(t), plan_.constants.signal_columns, fmt::join(shown, ", ")));
  }

  Plan& plan_;
  std::vector<int> neurons_;  // by layer
  int used_ = 0;              // columns handed out so far
  using Ending = std::pair<int, SignalId>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ending_;
  std::deque<SignalId> narrow_, wide_;  // dead, column not yet reused
};

}  // namespace

void allocate_columns(Plan& plan, double eager_clear) { Allocator(plan).run(eager_clear); }

}  // namespace qwengpu::circuit

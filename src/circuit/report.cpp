#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "circuit/plan.h"

namespace qwengpu::circuit {

Report make_report(const Plan& plan, const qwen::Checkpoint& checkpoint, const std::vector<double>& energy) {
  const Circuit& c = plan.circuit;
  Report report;
  const std::vector<int> live = live_columns(plan);
  std::vector<std::map<std::string, int>> units(static_cast<std::size_t>(c.geometry().layers));
  for (int layer = 0; layer < c.geometry().layers; ++layer) {
    LayerReport l;
    l.layer = layer;
    l.attention = c.geometry().is_attention(layer);
    const auto i = static_cast<std::size_t>(layer);
    l.columns_mixer = layer == 0 ? 0 : live[2 * i - 1];
    l.columns_mlp = live[2 * i];
    l.restores = static_cast<int>(plan.restores[i].size());
    for (const SignalId s : plan.clears[i]) {
      l.clears += (plan.ranges[s].hi > 0 ? 1 : 0) + (plan.ranges[s].lo < 0 ? 1 : 0);
    }
    l.energy = std::max(energy[2 * i], energy[2 * i + 1]);
    report.layers.push_back(std::move(l));
  }
  for (SignalId s = 0; s < c.signals().size(); ++s) {
    if (plan.live_signal[s]) {
      ++report.signals;
      if (plan.first_write[s] == embedding_sublayer) ++report.layers.front().columns_mixer;
    } else {
      report.removed.push_back(plan.name(s));
    }
  }
  for (std::uint32_t n = 0; n < c.neurons().size(); ++n) {
    if (!plan.live_neuron[n]) continue;
    const auto layer = static_cast<std::size_t>(layer_of(plan.neuron_at[n]));
    ++report.layers[layer].gates;
    for (const auto& out : c.neurons()[n].outputs) {
      if (!plan.live_signal[out.signal]) continue;
      ++units[layer][scope_of(plan.name(out.signal))];
      break;
    }
  }
  for (std::uint32_t h = 0; h < c.heads().size(); ++h) {
    if (!plan.live_head[h]) continue;
    ++report.heads;
    report.layers[static_cast<std::size_t>(layer_of(plan.head_at[h]))].heads.push_back(c.heads()[h].name);
  }
  for (LayerReport& l : report.layers) {
    report.neurons += l.neurons();
    const auto& u = units[static_cast<std::size_t>(l.layer)];
    l.units.assign(u.begin(), u.end());
    std::stable_sort(l.units.begin(), l.units.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  }
  report.peak_columns = plan.peak;
  report.peak_sublayer = plan.peak_sublayer;
  report.peak_columns_unsunk = plan.peak_unsunk;
  report.depth = plan.depth;
  report.critical_path = plan.critical_path;
  for (const auto& [name, tensor] : checkpoint.tensors) report.nonzeros += tensor.entries.size();
  return report;
}

std::string to_text(const Report& r) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} signals, {} neurons, {} heads, {} non-zero weights\n", r.signals, r.neurons,
                 r.heads, r.nonzeros);
  fmt::format_to(out, "peak {} columns after {} ({} before signals were moved later)\n", r.peak_columns,
                 sublayer_name(r.peak_sublayer), r.peak_columns_unsunk);
  fmt::format_to(out, "depth {} MLPs: {}\n\n", r.depth, fmt::join(r.critical_path, " -> "));
  fmt::format_to(out, "layer  columns      neurons: gates restores clears  energy  heads and units\n");
  for (const LayerReport& l : r.layers) {
    std::string what;
    for (const std::string& head : l.heads) what += head + " ";
    if (!l.heads.empty()) what += "| ";
    for (std::size_t i = 0; i < l.units.size() && i < 6; ++i) {
      what += fmt::format("{} {}  ", l.units[i].first, l.units[i].second);
    }
    if (l.units.size() > 6) what += fmt::format("and {} more", l.units.size() - 6);
    while (!what.empty() && what.back() == ' ') what.pop_back();
    fmt::format_to(out, "{:3}{}   {:5} {:5}   {:6}: {:6} {:6} {:6}  {:7.0f}  {}\n", l.layer,
                   l.attention ? "a" : " ", l.columns_mixer, l.columns_mlp, l.neurons(), l.gates, l.restores,
                   l.clears, l.energy, what);
  }
  const auto& c = r.certificate;
  fmt::format_to(out, "\nexact in fp32: largest sum {:.0f} of 2^24, {} in {}\n", c.fp32.magnitude,
                 c.fp32.what, sublayer_name(c.fp32.sublayer));
  fmt::format_to(out, "norms exact: largest energy {:.0f} of {:.0f}, at {}\n", c.energy.magnitude,
                 c.energy.limit, c.energy.what);
  if (c.bf16.empty()) {
    fmt::format_to(out, "bf16 activations: every value fits 8 bits\n");
  } else {
    fmt::format_to(out, "bf16 activations: {} values exceed 8 bits\n", c.bf16.size());
    for (std::size_t i = 0; i < c.bf16.size() && i < 20; ++i) {
      const auto& w = c.bf16[i];
      fmt::format_to(out, "  {:8.0f} ({:.1f} bits) {} in {}\n", w.magnitude, std::log2(w.magnitude), w.what,
                     sublayer_name(w.sublayer));
    }
  }
  if (!r.removed.empty()) {
    fmt::format_to(out, "{} signals were removed because nothing reads them\n", r.removed.size());
  }
  return text;
}

}  // namespace qwengpu::circuit

// First pass: what is alive, in which order, with which values.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "circuit/bounds.h"
#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

void check_model(const qwen::Geometry& g) {
  const auto refuse = [](const std::string& why) {
    throw Error("this geometry cannot be compiled for: " + why);
  };
  if (g.layers < 1) refuse("it has no layers");
  if (g.tie_embeddings)
    refuse("tie_embeddings must be false, the embeddings carry the ballast and the lm_head must not");
  if (g.gdn_key_dim != 128 || g.gdn_value_dim != 128) {
    refuse("the exact amplitudes of memory heads are those of 128 key and value dimensions");
  }
  if (g.conv_kernel < 1) refuse("the convolution has no tap for the current token");
}

Constants constants_of(const qwen::Geometry& g) {
  // ballast_count * 4^exponent / hidden = 4^norm_exponent needs a power of two; one ballast for even powers, two for odd
  // ones.
  const auto hidden = static_cast<unsigned>(g.hidden);
  if (g.hidden < 8 || !std::has_single_bit(hidden)) {
    throw Error(fmt::format(
        "hidden size {}: the ballast makes the norm an exact power of two only for a power of two "
        "of at least 8",
        g.hidden));
  }
  const int log2_hidden = std::countr_zero(hidden);
  const int count = log2_hidden % 2 == 0 ? 1 : 2;
  const int exponent = (2 * norm_exponent + log2_hidden - (count - 1)) / 2;
  Constants k;
  k.ballast = std::ldexp(1, exponent);
  k.energy_limit = std::ldexp(1, 2 * exponent - 24);
  // At the far end: in block formats (Q8_0: 32 columns share a scale) a ballast must not share a block with
  // signals, and columns are handed out from the front.
  for (int i = 0; i < count; ++i) k.ballast_columns.push_back(g.hidden - count + i);
  k.signal_columns = g.hidden - count - k.first_signal;
  return k;
}

// True where one bf16 weight (8 significant bits) holds the constant.
bool short_constant(double x) { return std::abs(x) / std::max(grid_of(x), 1e-300) < 256; }

void mark_live(Plan& plan) {
  const Circuit& c = plan.circuit;
  std::vector<SignalId> stack;
  const auto need = [&](SignalId s) {
    if (plan.live_signal[s]) return;
    plan.live_signal[s] = true;
    stack.push_back(s);
  };
  for (const auto& [token, form] : c.unembeds()) {
    for (const Linear::Term& t : form.terms()) {
      need(t.signal);
      plan.read_at_end[t.signal] = true;
    }
  }
  for (SignalId s = 0; s < c.signals().size(); ++s) {
    if (!c.signals()[s].kept) continue;
    need(s);
    plan.read_at_end[s] = true;
  }
  while (!stack.empty()) {
    const SignalId s = stack.back();
    stack.pop_back();
    for (const auto& contribution : c.signals()[s].contributions) {
      if (plan.live_neuron[contribution.neuron]) continue;
      plan.live_neuron[contribution.neuron] = true;
      for_each_input(c.neurons()[contribution.neuron], need);
    }
    for (const auto& read : c.signals()[s].raw_reads) {
      if (plan.live_head[read.head]) continue;
      plan.live_head[read.head] = true;
      for_each_input(c.heads()[read.head], need);
    }
  }
}

void check_drivers(const Plan& plan) {
  const auto& signals = plan.circuit.signals();
  const auto reader_of = [&](SignalId s) -> std::string {
    std::string reader = "the lm_head";
    if (signals[s].kept) reader = "keep()";
    for (std::uint32_t h = 0; h < plan.circuit.heads().size(); ++h) {
      if (!plan.live_head[h]) continue;
      for_each_input(plan.circuit.heads()[h], [&](SignalId r) {
        if (r == s) reader = fmt::format("head \"{}\"", plan.circuit.heads()[h].name);
      });
    }
    for (std::uint32_t n = 0; n < plan.circuit.neurons().size(); ++n) {
      if (!plan.live_neuron[n]) continue;
      for_each_input(plan.circuit.neurons()[n], [&](SignalId r) {
        if (r == s) reader = plan.describe_neuron(n);
      });
    }
    return reader;
  };
  for (SignalId s = 0; s < signals.size(); ++s) {
    if (plan.live_signal[s] && !signals[s].is_input && !signals[s].driven) {
      throw Error(fmt::format(
          "signal \"{}\" is read by {} but nothing drives it: add() to it, make it the output of a "
          "head, or make it an input()",
          signals[s].name, reader_of(s)));
    }
  }
}

void find_values(Plan& plan) {
  const Circuit& c = plan.circuit;
  std::vector<Range> total(c.signals().size(), Range{0, 0});
  for (const Circuit::Embed& e : c.embeds()) {
    Range& r = total[e.signal];
    r = {std::min(r.lo, e.value), std::max(r.hi, e.value)};
    plan.grids[e.signal] = common_grid(plan.grids[e.signal], grid_of(e.value));
  }
  for (SignalId s = 0; s < c.signals().size(); ++s) {
    const auto& info = c.signals()[s];
    if (!info.raw_reads.empty()) total[s].hi += 1;
    if (info.is_input || !info.raw_reads.empty()) plan.grids[s] = common_grid(plan.grids[s], 1);
    plan.ranges[s] = {0, 0};
  }
  const auto& signals = c.signals();
  for (const Node node : plan.order) {
    if (node.kind == Node::neuron) {
      const auto& neuron = c.neurons()[node.index];
      const Bound g = bound_of(neuron.gate, signals, plan.ranges, plan.grids);
      const Bound u = bound_of(neuron.up, signals, plan.ranges, plan.grids);
      const Range product = plan.products[node.index] = neuron_range(g.range, u.range, 1);
      for (const auto& out : neuron.outputs) {
        const Range r = scaled(product, out.coef);
        total[out.signal].lo += r.lo;
        total[out.signal].hi += r.hi;
        plan.grids[out.signal] = common_grid(plan.grids[out.signal], g.grid * u.grid * grid_of(out.coef));
      }
    } else if (node.kind == Node::signal) {
      const SignalId s = node.index;
      const auto& info = signals[s];
      const Range sum = total[s];
      if (info.range_inferred) {
        plan.ranges[s] = sum;
      } else {
        plan.ranges[s] = info.range;
        const bool disjoint = sum.lo > info.range.hi || sum.hi < info.range.lo;
        if (disjoint && !info.is_input) {
          throw Error(
              fmt::format("signal \"{}\": its contributions add up to [{}, {}], which has nothing in common "
                          "with its declared range [{}, {}]",
                          info.name, sum.lo, sum.hi, info.range.lo, info.range.hi));
        }
      }
      if (plan.grids[s] == 0) plan.grids[s] = 1;
    }
  }
}

}  // namespace

Plan::Plan(const Circuit& the_circuit)
    : circuit(the_circuit),
      end(2 * the_circuit.geometry().layers),
      live_signal(circuit.signals().size()),
      live_neuron(circuit.neurons().size()),
      live_head(circuit.heads().size()),
      read_at_end(circuit.signals().size()),
      readers(circuit.signals().size()),
      ranges(circuit.signals().size()),
      grids(circuit.signals().size()),
      products(circuit.neurons().size()) {}

std::string Plan::describe_neuron(std::uint32_t neuron) const {
  for (const auto& out : circuit.neurons()[neuron].outputs) {
    if (live_signal[out.signal]) return fmt::format("a gate of \"{}\"", name(out.signal));
  }
  return "a gate";
}

void analyse(Plan& plan) {
  const Circuit& c = plan.circuit;
  check_model(c.geometry());
  plan.constants = constants_of(c.geometry());
  const std::vector<Node> order = topological_order(c);
  mark_live(plan);
  check_drivers(plan);
  for (SignalId s = 0; s < c.signals().size(); ++s) {
    const auto& info = c.signals()[s];
    if (!info.is_input && info.contributions.empty() && info.raw_reads.empty()) plan.live_signal[s] = false;
  }
  for (const Node node : order) {
    const auto& live = node.kind == Node::neuron ? plan.live_neuron
                       : node.kind == Node::head ? plan.live_head
                                                 : plan.live_signal;
    if (!live[node.index]) continue;
    plan.order.push_back(node);
    const auto read = [&](SignalId s) {
      if (!plan.live_signal[s]) return;
      auto& r = plan.readers[s];
      // consecutive duplicates only: a form reads a signal once, gate and up may both read it
      if (r.empty() || r.back().kind != node.kind || r.back().index != node.index) r.push_back(node);
    };
    if (node.kind == Node::neuron) for_each_input(c.neurons()[node.index], read);
    if (node.kind == Node::head) for_each_input(c.heads()[node.index], read);
  }
  find_values(plan);

  bool long_constant = false;
  const auto look = [&](const Linear& form) {
    long_constant = long_constant || !short_constant(form.constant());
  };
  for (std::uint32_t n = 0; n < c.neurons().size(); ++n) {
    if (plan.live_neuron[n]) look(c.neurons()[n].gate), look(c.neurons()[n].up);
  }
  for (std::uint32_t h = 0; h < c.heads().size(); ++h) {
    if (plan.live_head[h]) for_each_form(c.heads()[h], look);
  }
  for (const auto& [token, form] : c.unembeds()) look(form);
  if (long_constant) {
    plan.constants.one_low = plan.constants.first_signal++;
    --plan.constants.signal_columns;
  }
}

}  // namespace qwengpu::circuit

#include "circuit/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "circuit/bounds.h"

namespace qwengpu::circuit {

namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

std::uint64_t hash_form(std::uint64_t hash, const Linear& form) {
  for (const Linear::Term& t : form.terms()) {
    hash = mix(mix(hash, t.signal), std::bit_cast<std::uint64_t>(t.coef));
  }
  return mix(hash, std::bit_cast<std::uint64_t>(form.constant() + 0.0));  // + 0.0: -0 hashes as 0
}

int mlp_after(int sublayer) { return sublayer % 2 == 0 ? sublayer + 1 : sublayer + 2; }

}  // namespace

std::string sublayer_name(int sublayer) {
  if (sublayer < 0) return "embedding";
  return fmt::format("{} {}", sublayer % 2 == 0 ? "mixer" : "MLP", layer_of(sublayer));
}

Range neuron_range(Range gate, Range up, double coef) {
  const double g0 = std::max(0.0, gate.lo);
  const double g1 = std::max(0.0, gate.hi);
  const auto [lo, hi] = std::minmax({g0 * up.lo, g0 * up.hi, g1 * up.lo, g1 * up.hi});
  return coef >= 0 ? Range{coef * lo, coef * hi} : Range{coef * hi, coef * lo};
}

Circuit::Circuit(const qwen::Geometry& geometry) : geometry_(geometry) {}

Signal Circuit::new_signal(const std::string& name, Range range, bool is_input) {
  const std::string full = prefix_ + name;
  const Signal signal{static_cast<SignalId>(signals_.size())};
  if (!by_name_.emplace(full, signal.id).second) {
    throw Error(fmt::format("signal \"{}\" is defined twice; give it another name or open a scope()", full));
  }
  SignalInfo info;
  info.name = full;
  info.is_input = is_input;
  info.range_inferred = range == inferred;
  if (!info.range_inferred && !(range.lo <= range.hi)) {
    throw Error(fmt::format("signal \"{}\": the range [{}, {}] is empty", full, range.lo, range.hi));
  }
  info.range = info.range_inferred ? Range{0, 0} : range;
  signals_.push_back(std::move(info));
  return signal;
}

Signal Circuit::input(const std::string& name, Range range) { return new_signal(name, range, true); }
Signal Circuit::bus(const std::string& name, Range range) { return new_signal(name, range, false); }

void Circuit::check_form(const Linear& form, const char* what) const {
  if (!form.terms().empty() && form.terms().back().signal >= signals_.size()) {
    throw Error(fmt::format("{} uses a signal of another circuit", what));
  }
  bool finite = std::isfinite(form.constant());
  for (const Linear::Term& t : form.terms()) finite = finite && std::isfinite(t.coef);
  if (!finite) throw Error(fmt::format("{} has a coefficient that is not a finite number", what));
}

std::uint32_t Circuit::find_or_make_neuron(const Linear& gate, const Linear& up) {
  const std::uint64_t hash = mix(hash_form(hash_form(17, gate), up), static_cast<std::uint64_t>(min_layer_));
  const auto [first, last] = neuron_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Neuron& n = neurons_[it->second];
    if (n.min_layer == min_layer_ && n.gate == gate && n.up == up) return it->second;
  }
  const auto index = static_cast<std::uint32_t>(neurons_.size());
  neurons_.push_back({gate, up, min_layer_, {}});
  neuron_index_.emplace(hash, index);
  return index;
}

void Circuit::add(Signal bus, double coef, const Linear& gate, const Linear& up) {
  if (!bus.valid() || bus.id >= signals_.size()) throw Error("add() to a signal that is not of this circuit");
  check_form(gate, "a gate");
  check_form(up, "a gate's factor");
  SignalInfo& info = signals_[bus.id];
  info.driven = true;
  const bool never = gate.is_constant() && gate.constant() <= 0;
  if (coef == 0 || never || up == Linear(0)) return;

  const std::uint32_t index = find_or_make_neuron(gate, up);
  Neuron& neuron = neurons_[index];
  const auto same = std::find_if(neuron.outputs.begin(), neuron.outputs.end(),
                                 [&](const Neuron::Output& o) { return o.signal == bus.id; });
  if (same != neuron.outputs.end()) {
    same->coef += coef;
    for (Contribution& c : info.contributions) {
      if (c.neuron == index) c.coef += coef;
    }
  } else {
    neuron.outputs.push_back({bus.id, coef});
    info.contributions.push_back({index, coef});
  }
  if (info.range_inferred) {
    const Range r = neuron_range(range(gate), range(up), coef);
    info.range.lo += r.lo;
    info.range.hi += r.hi;
  }
  const int inputs_ready = std::max(ready_estimate(gate), ready_estimate(up));
  info.ready_estimate = std::max({info.ready_estimate, mlp_after(inputs_ready), mlp_of(neuron.min_layer)});
}

void Circuit::exclusive(const Signals& signals) {
  const auto group = static_cast<std::uint32_t>(groups_.size());
  for (const Signal s : signals) signals_.at(s.id).groups.push_back(group);
  groups_.push_back(signals);
}

void Circuit::keep(Signal signal) { signals_.at(signal.id).kept = true; }

int Circuit::head(HeadSpec spec) {
  spec.name = prefix_ + spec.name;
  const auto index = static_cast<std::uint32_t>(heads_.size());
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("head \"{}\": {}", spec.name, why));
  };
  if (!head_names_.emplace(spec.name, index).second) refuse("this name is taken by another head");
  if (spec.layer != HeadSpec::earliest) {
    if (spec.layer < 0 || spec.layer >= geometry_.layers) {
      refuse(fmt::format("layer {} does not exist, the model has {}", spec.layer, geometry_.layers));
    }
    if (geometry_.is_attention(spec.layer)) {
      refuse(fmt::format("layer {} is an attention layer and has no memory heads; take {} or {}", spec.layer,
                         spec.layer - 1, spec.layer + 1));
    }
  }
  int inputs_ready = embedding_sublayer;
  const auto check_rows = [&](const std::vector<HeadSpec::Row>& rows, const char* what, int dims) {
    std::vector<bool> used(static_cast<std::size_t>(dims));
    for (const HeadSpec::Row& row : rows) {
      if (row.dim < 0 || row.dim >= dims) {
        refuse(fmt::format("{} dimension {} is outside 0 .. {}", what, row.dim, dims - 1));
      }
      if (used[static_cast<std::size_t>(row.dim)]) {
        refuse(fmt::format("{} dimension {} is given twice", what, row.dim));
      }
      used[static_cast<std::size_t>(row.dim)] = true;
      check_form(row.form, what);
      inputs_ready = std::max(inputs_ready, ready_estimate(row.form));
    }
  };
  check_rows(spec.key, "key", geometry_.gdn_key_dim);
  check_rows(spec.query, "query", geometry_.gdn_key_dim);
  check_rows(spec.value, "value", geometry_.gdn_value_dim);
  check_rows(spec.z, "z", geometry_.gdn_value_dim);
  check_form(spec.write_enable, "write_enable");
  check_form(spec.clear, "clear");
  inputs_ready = std::max({inputs_ready, ready_estimate(spec.write_enable), ready_estimate(spec.clear)});

  int layer = spec.layer;
  if (layer == HeadSpec::earliest) {
    layer = (inputs_ready + 2) / 2;  // the first mixer after inputs_ready
    while (geometry_.is_attention(layer)) ++layer;
  }
  for (const HeadSpec::Output& out : spec.outputs) {
    if (out.dim < 0 || out.dim >= geometry_.gdn_value_dim) {
      refuse(fmt::format("output dimension {} is outside 0 .. {}", out.dim, geometry_.gdn_value_dim - 1));
    }
    if (!out.signal.valid() || out.signal.id >= signals_.size())
      refuse("an output is not a signal of this circuit");
    SignalInfo& info = signals_[out.signal.id];
    if (std::any_of(info.raw_reads.begin(), info.raw_reads.end(),
                    [&](const RawRead& r) { return r.head == index && r.dim == out.dim; })) {
      refuse(fmt::format("signal \"{}\" is an output of dimension {} twice", info.name, out.dim));
    }
    info.driven = true;
    info.raw_reads.push_back({index, out.dim});
    info.ready_estimate = std::max(info.ready_estimate, mlp_of(layer));
    if (info.range_inferred) info.range.hi = std::max(info.range.hi, 1.0);
  }
  heads_.push_back(std::move(spec));
  return static_cast<int>(index);
}

void Circuit::embed(int token, Signal input, double value) {
  if (!input.valid() || input.id >= signals_.size())
    throw Error("embed() of a signal that is not of this circuit");
  SignalInfo& info = signals_[input.id];
  if (!info.is_input) {
    throw Error(fmt::format("embed(): signal \"{}\" is not an input; make it with input()", info.name));
  }
  if (token < 0) throw Error(fmt::format("embed(): token {} is negative", token));
  if (info.range_inferred) {
    info.range = {std::min(info.range.lo, value), std::max(info.range.hi, value)};
  } else if (!info.range.contains(value) && info.contributions.empty()) {
    throw Error(fmt::format("embed(): value {} of signal \"{}\" for token {} is outside its range [{}, {}]",
                            value, info.name, token, info.range.lo, info.range.hi));
  }
  embeds_.push_back({token, input.id, value});
}

void Circuit::unembed(int token, const Linear& contribution) {
  if (token < 0) throw Error(fmt::format("unembed(): token {} is negative", token));
  check_form(contribution, "unembed()");
  unembeds_[token] += contribution;
}

Circuit::Scope::~Scope() {
  if (circuit_ != nullptr) circuit_->prefix_.resize(length_);
}

Circuit::Scope Circuit::scope(const std::string& name) {
  Scope scope(this, prefix_.size());
  prefix_ += name + "/";
  return scope;
}

Circuit::MinLayer::~MinLayer() {
  if (circuit_ != nullptr) circuit_->min_layer_ = outer_;
}

Circuit::MinLayer Circuit::not_before(int layer) {
  MinLayer guard(this, min_layer_);
  min_layer_ = std::max(min_layer_, layer);
  return guard;
}

Range Circuit::range(const Linear& form) const { return bound_of(form, signals_).range; }

int Circuit::ready_estimate(const Linear& form) const {
  int ready = embedding_sublayer;
  for (const Linear::Term& t : form.terms()) ready = std::max(ready, signals_[t.signal].ready_estimate);
  return ready;
}

Signal Circuit::find(const std::string& full_name) const {
  const auto found = by_name_.find(full_name);
  return found == by_name_.end() ? Signal{} : Signal{found->second};
}

}  // namespace qwengpu::circuit

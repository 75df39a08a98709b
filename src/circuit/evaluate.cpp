#include "circuit/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace qwengpu::circuit {

namespace {

// The activation as the model computes it. On integers silu(128 x) / 128 is exactly relu(x) in fp32 (a test
// holds this down).
float activation(float x) {
  if (x == std::floor(x)) return std::max(x, 0.0f);
  const float y = 128.0f * x;
  return y / (1.0f + std::exp(-y)) / 128.0f;
}

}  // namespace

Evaluator::Evaluator(const Circuit& circuit, int lanes)
    : circuit_(circuit),
      lanes_(lanes),
      order_(topological_order(circuit)),
      value_(circuit.signals().size() * static_cast<std::size_t>(lanes)),
      inputs_(value_.size()),
      state_(circuit.heads().size() * static_cast<std::size_t>(lanes * circuit.geometry().gdn_key_dim)),
      gate_(static_cast<std::size_t>(lanes)),
      up_(static_cast<std::size_t>(lanes)),
      key_(static_cast<std::size_t>(lanes)),
      row_(static_cast<std::size_t>(lanes)),
      writes_(static_cast<std::size_t>(lanes)) {}

void Evaluator::set(Signal input, int lane, float value) {
  if (!circuit_.signals().at(input.id).is_input) broken("\"" + circuit_.name(input) + "\" is not an input");
  inputs_[input.id * static_cast<std::size_t>(lanes_) + static_cast<std::size_t>(lane)] = value;
}

void Evaluator::set_all_inputs_zero() { std::fill(inputs_.begin(), inputs_.end(), 0.0f); }

void Evaluator::set_token(int token, int lane) {
  for (std::size_t i = static_cast<std::size_t>(lane); i < inputs_.size();
       i += static_cast<std::size_t>(lanes_)) {
    inputs_[i] = 0;
  }
  for (const Circuit::Embed& e : circuit_.embeds()) {
    if (e.token == token) set(Signal{e.signal}, lane, static_cast<float>(e.value));
  }
}

void Evaluator::reset() { std::fill(state_.begin(), state_.end(), Bits{}); }

void Evaluator::step() {
  value_ = inputs_;
  for (const Node node : order_) {
    switch (node.kind) {
      case Node::neuron:
        run_neuron(node.index);
        break;
      case Node::head:
        run_head(node.index);
        break;
      case Node::signal:
        check_signal(node.index);
        break;
    }
  }
  check_groups();
}

void Evaluator::form(const Linear& form, std::vector<float>& out) const {
  if (lanes_ == 1) {
    auto total = static_cast<float>(form.constant());
    for (const Linear::Term& t : form.terms()) total += static_cast<float>(t.coef) * value_[t.signal];
    out[0] = total;
    return;
  }
  std::fill(out.begin(), out.end(), static_cast<float>(form.constant()));
  for (const Linear::Term& t : form.terms()) {
    const float* x = &value_[t.signal * static_cast<std::size_t>(lanes_)];
    const auto coef = static_cast<float>(t.coef);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += coef * x[i];
  }
}

void Evaluator::run_neuron(std::uint32_t index) {
  const Circuit::Neuron& neuron = circuit_.neurons()[index];
  form(neuron.gate, gate_);
  bool any = false;
  for (float& g : gate_) {
    g = activation(g);
    any = any || g != 0;
  }
  if (!any) return;
  if (neuron.up != Linear(1)) {
    form(neuron.up, up_);
    for (std::size_t i = 0; i < gate_.size(); ++i) gate_[i] *= up_[i];
  }
  for (const auto& out : neuron.outputs) {
    float* y = &value_[out.signal * static_cast<std::size_t>(lanes_)];
    const auto coef = static_cast<float>(out.coef);
    for (std::size_t i = 0; i < gate_.size(); ++i) y[i] += coef * gate_[i];
  }
}

// One bit a row, by lane: relu(form), which may not exceed 1.
void Evaluator::row_bits(const std::string& head, const char* what, const std::vector<HeadSpec::Row>& rows,
                         std::vector<Bits>& bits) {
  std::fill(bits.begin(), bits.end(), Bits{});
  const Linear* previous = nullptr;
  for (const HeadSpec::Row& row : rows) {
    if (previous == nullptr || *previous != row.form) form(row.form, gate_);  // enables repeat in every row
    previous = &row.form;
    for (std::size_t lane = 0; lane < bits.size(); ++lane) {
      const float x = gate_[lane];
      if (x <= 0) continue;
      if (x != 1)
        broken(fmt::format("head \"{}\": {} row {} is {}, it may not exceed 1", head, what, row.dim, x));
      bits[lane].set(static_cast<std::size_t>(row.dim));
    }
  }
}

// The head's equations on bits: S <- exp(g) S;  S <- S + k (beta (v - S^T k))^T;  o = S^T q, gated by z.
// Rows that cannot matter at this token are not looked at: most heads of a machine are idle.
void Evaluator::run_head(std::uint32_t index) {
  const HeadSpec& head = circuit_.heads()[index];
  const auto lanes = static_cast<std::size_t>(lanes_);
  const auto words = static_cast<std::size_t>(circuit_.geometry().gdn_key_dim);
  Bits* const states = &state_[index * lanes * words];
  const auto any_lane = [](const std::vector<Bits>& bits) {
    return std::any_of(bits.begin(), bits.end(), [](const Bits& b) { return b.any(); });
  };

  form(head.clear, gate_);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const float clear = gate_[lane];
    if (clear != 0 && clear != 1)
      broken(fmt::format("head \"{}\": clear is {}, not 0 or 1", head.name, clear));
    if (clear == 1) std::fill_n(states + lane * words, words, Bits{});
  }

  form(head.write_enable, gate_);
  bool any_write = false;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const float beta = gate_[lane];
    if (beta > -1 && beta < 1) {
      broken(
          fmt::format("head \"{}\": write_enable is {}; it must be >= 1 (write) or <= -1", head.name, beta));
    }
    writes_[lane] = beta >= 1;
    any_write = any_write || beta >= 1;
  }
  if (any_write) row_bits(head.name, "key", head.key, key_);
  if (any_write && any_lane(key_)) {
    row_bits(head.name, "value", head.value, row_);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!writes_[lane] || key_[lane].none()) continue;
      if (key_[lane].count() > 1) {
        broken(fmt::format("head \"{}\": {} words are written at once; a key is one-hot", head.name,
                           key_[lane].count()));
      }
      states[lane * words + key_[lane]._Find_first()] = row_[lane];
    }
  }

  row_bits(head.name, "z", head.z, row_);
  if (!any_lane(row_)) return;
  row_bits(head.name, "query", head.query, key_);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (row_[lane].none()) continue;
    Bits read;
    for (std::size_t w = key_[lane]._Find_first(); w < words; w = key_[lane]._Find_next(w)) {
      const Bits& word = states[lane * words + w];
      if ((read & word).any()) {
        broken(fmt::format("head \"{}\": words read together share value dimensions", head.name));
      }
      read |= word;
    }
    read &= row_[lane];
    for (const HeadSpec::Output& out : head.outputs) {
      if (read[static_cast<std::size_t>(out.dim)]) value_[out.signal.id * lanes + lane] += 1;
    }
  }
}

void Evaluator::check_signal(std::uint32_t index) const {
  const Circuit::SignalInfo& info = circuit_.signals()[index];
  const float* x = &value_[index * static_cast<std::size_t>(lanes_)];
  float lo = x[0];
  float hi = x[0];
  for (int i = 1; i < lanes_; ++i) {
    lo = std::min(lo, x[i]);
    hi = std::max(hi, x[i]);
  }
  const double low = lo;
  const double high = hi;
  // inferred ranges of a circuit under construction are estimates only
  if (!info.range_inferred && (low < info.range.lo || high > info.range.hi)) {
    broken(fmt::format("signal \"{}\" is {}, outside its range [{}, {}]", info.name,
                       low < info.range.lo ? low : high, info.range.lo, info.range.hi));
  }
}

void Evaluator::check_groups() const {
  const auto lanes = static_cast<std::size_t>(lanes_);
  std::vector<SignalId> on(lanes);
  for (const Signals& group : circuit_.groups()) {
    std::fill(on.begin(), on.end(), Signal::none);
    for (const Signal s : group) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (value_[s.id * lanes + lane] == 0) continue;
        if (on[lane] != Signal::none && on[lane] != s.id) {
          broken(fmt::format("signals \"{}\" and \"{}\" are both non-zero, but were declared exclusive",
                             circuit_.signals()[on[lane]].name, circuit_.name(s)));
        }
        on[lane] = s.id;
      }
    }
  }
}

float Evaluator::get(Signal signal, int lane) const {
  return value_[signal.id * static_cast<std::size_t>(lanes_) + static_cast<std::size_t>(lane)];
}

double Evaluator::get(const Linear& form, int lane) const {
  double total = form.constant();
  for (const Linear::Term& t : form.terms())
    total += t.coef * static_cast<double>(get(Signal{t.signal}, lane));
  return total;
}

std::span<const float> Evaluator::values(Signal signal) const {
  return {&value_[signal.id * static_cast<std::size_t>(lanes_)], static_cast<std::size_t>(lanes_)};
}

int Evaluator::argmax_token(int lane) const {
  int best = 0;
  double best_logit = circuit_.unembeds().contains(0) ? get(circuit_.unembeds().at(0), lane) : 0;
  int expected = 1;  // tokens between the listed ones have logit 0
  for (const auto& [token, logit_form] : circuit_.unembeds()) {
    if (token == 0) continue;
    if (token > expected && best_logit < 0) best = expected, best_logit = 0;
    const double logit = get(logit_form, lane);
    if (logit > best_logit) best = token, best_logit = logit;
    expected = token + 1;
  }
  return best;
}

void Evaluator::broken(const std::string& message) const { throw Error("evaluation: " + message); }

}  // namespace qwengpu::circuit

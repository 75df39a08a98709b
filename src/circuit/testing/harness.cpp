#include "circuit/testing/harness.h"

#include <fmt/format.h>

namespace qwengpu::circuit {

qwen::Geometry small_geometry(int layers, int hidden, int intermediate) {
  qwen::Geometry g;
  g.layers = layers;
  g.hidden = hidden;
  g.intermediate = intermediate;
  g.gdn_heads = 4;
  g.attention_heads = 2;
  g.kv_heads = 1;
  g.head_dim = 32;
  g.rotary_dim = 8;
  return g;
}

Harness::Harness(const Circuit& circuit, const TokenTable& tokens, EngineKind kind,
                 const CompileOptions& options)
    : circuit_(circuit), compiled_(compile(circuit, tokens, options)) {
  engine_ = kind == EngineKind::sparse ? engine::make_sparse(compiled_.checkpoint)
                                       : engine::make_reference(compiled_.checkpoint);
  embedding_.assign(static_cast<std::size_t>(circuit.geometry().hidden), 0);
  for (const auto& [column, value] : compiled_.placement.constant_columns) {
    embedding_[static_cast<std::size_t>(column)] = value;
  }
  value_.assign(circuit.signals().size(), 0);
  probes_.resize(static_cast<std::size_t>(2 * circuit.geometry().layers) + 1);
  for (SignalId s = 0; s < circuit.signals().size(); ++s) {
    const SignalPlace& place = compiled_.placement.signals.at(circuit.signals()[s].name);
    if (place.column >= 0) probes_[static_cast<std::size_t>(place.ready + 1)].emplace_back(s, place.column);
  }
  engine_->on_sublayer([this](int sublayer, std::span<const float> residual) {
    for (const auto& [signal, column] : probes_[static_cast<std::size_t>(sublayer + 1)]) {
      value_[signal] = residual[static_cast<std::size_t>(column)];
    }
  });
}

void Harness::set(Signal input, double value) {
  if (!circuit_.signals().at(input.id).is_input) {
    throw Error(fmt::format("signal \"{}\" is not an input", circuit_.name(input)));
  }
  const SignalPlace& place = compiled_.placement.signals.at(circuit_.name(input));
  if (place.column >= 0) embedding_[static_cast<std::size_t>(place.column)] = static_cast<float>(value);
}

void Harness::set_number(const Signals& word, std::uint64_t value) {
  for (std::size_t i = 0; i < word.size(); ++i)
    set(word[i], i < 64 ? static_cast<double>(value >> i & 1) : 0);
}

void Harness::step() { engine_->append_embedding(embedding_); }
void Harness::step_token(int token) { engine_->append(token); }
void Harness::reset() { engine_->reset(); }

double Harness::get(Signal signal) const {
  const auto& info = circuit_.signals().at(signal.id);
  const bool always_zero = !info.is_input && info.contributions.empty() && info.raw_reads.empty();
  if (!always_zero) compiled_.placement.signal(info.name);  // throws when it was removed
  return static_cast<double>(value_[signal.id]);
}

double Harness::get(const Linear& form) const {
  double total = form.constant();
  for (const Linear::Term& t : form.terms()) total += t.coef * get(Signal{t.signal});
  return total;
}

std::uint64_t Harness::get_number(const Word& word) const {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const double x = get(word[i]);
    if (x != 0 && x != 1) {
      const auto& terms = word[i].terms();
      throw Error(fmt::format(
          "bit {} of a word{} is {}", i,
          terms.empty() ? "" : fmt::format(" (\"{}\")", circuit_.name(Signal{terms.front().signal})), x));
    }
    if (x == 1) number |= std::uint64_t{1} << i;
  }
  return number;
}

void compare_with_evaluator(const Circuit& circuit, int vectors, std::uint64_t seed, const DrawInputs& draw,
                            EngineKind kind) {
  Harness harness(circuit, {{"step"}, -1, -1}, kind);
  Evaluator oracle(circuit);
  std::mt19937_64 random(seed);
  const auto set = [&](Signal s, double value) {
    harness.set(s, value);
    oracle.set(s, 0, static_cast<float>(value));
  };
  for (int v = 0; v < vectors; ++v) {
    if (draw) {
      draw(random, set);
    } else {
      for (SignalId s = 0; s < circuit.signals().size(); ++s) {
        const auto& info = circuit.signals()[s];
        if (!info.is_input) continue;
        const auto lo = static_cast<int>(info.range.lo);
        set(Signal{s}, std::uniform_int_distribution<int>(lo, static_cast<int>(info.range.hi))(random));
      }
    }
    harness.step();
    oracle.step();
    for (SignalId s = 0; s < circuit.signals().size(); ++s) {
      if (harness.compiled().placement.signals.at(circuit.signals()[s].name).column < 0) continue;
      const double got = harness.get(Signal{s});
      const double expected = static_cast<double>(oracle.get(Signal{s}));
      if (got != expected) {
        throw Error(
            fmt::format("seed {}, vector {}: signal \"{}\" is {} in the model and {} in the evaluator", seed,
                        v, circuit.signals()[s].name, got, expected));
      }
    }
  }
}

}  // namespace qwengpu::circuit

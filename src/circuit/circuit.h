// A circuit: named signals, the neurons and memory heads that drive them, and how tokens enter and leave.
//
// Model of computation (one token, one forward pass):
//  - A signal is a column of the residual stream and acts as a bus: its value is the sum of its embedding
//  entry and of any
//    number of contributions  coef * relu(gate) * up,  each one SwiGLU neuron (gate, up are Linear forms),
//    plus what memory heads read into it. It is ready after the last of them.
//  - A Head is one Gated DeltaNet head used as a RAM of 128 words of 128 bits; state lives only there.
//  - Building a circuit fixes no layer (except where a head or not_before() says so); compile() in compile.h
//  schedules it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "circuit/linear.h"
#include "qwen/geometry.h"

namespace qwengpu::circuit {

// Sublayers in the order they execute: the mixer of layer L is 2 L, its MLP 2 L + 1, the embedding -1.
inline constexpr int embedding_sublayer = -1;
inline int mixer_of(int layer) { return 2 * layer; }
inline int mlp_of(int layer) { return 2 * layer + 1; }
inline int layer_of(int sublayer) { return sublayer >> 1; }
std::string sublayer_name(int sublayer);  // "MLP 12", "mixer 12", "embedding"

// One Gated DeltaNet head as a RAM. Rows are in_proj rows through SiLU, so a row is relu(form): a product of
// bits inside a row (relu(a + b - 1)) is free. Per token, in this order: clear, write, read.
struct HeadSpec {
  struct Row {
    int dim;      // 0 .. 127
    Linear form;  // at most 1; the row is on at 1 and off at 0 or below
  };
  struct Output {
    int dim;        // value dimension
    Signal signal;  // a bus; it receives 1 where the bit that was read is 1
  };
  static constexpr int earliest = -1;

  std::string name;
  int layer = earliest;    // a GDN layer; `earliest`: the first one whose mixer can see every input
  std::vector<Row> key;    // one-hot: the word written. No row on: no write
  std::vector<Row> query;  // the word read; multi-hot reads the union of words with disjoint value dimensions
  std::vector<Row> value;  // the word written: every dimension without a row is written 0
  std::vector<Row> z;      // the value dimensions that are read; a dimension without a row is not read
  Linear write_enable = 1;  // >= 1 writes, <= -1 does not: see write_when()
  Linear clear = 0;         // 1 wipes the whole head, 0 keeps it
  std::vector<Output> outputs;
};
// The write_enable of a condition that is 0 or 1.
inline Linear write_when(const Linear& condition) { return 2 * condition - 1; }

class Circuit {
 public:
  explicit Circuit(const qwen::Geometry& geometry);
  Circuit(const Circuit&) = delete;  // scopes point into the circuit
  Circuit& operator=(const Circuit&) = delete;

  // --- Signals
  // -----------------------------------------------------------------------------------------------------------
  // Names are unique, with the enclosing scopes prefixed: "adder/carry".
  // `range` is a promise about the final value (the evaluator checks it, the certificate relies on it). Pass
  // `inferred` for the interval sum of the contributions.
  Signal input(const std::string& name, Range range = bit);  // set by token embeddings, see embed()
  Signal bus(const std::string& name, Range range = bit);
  // bus += coef * relu(gate) * up. Neurons with the same gate and up are shared.
  void add(Signal bus, double coef, const Linear& gate, const Linear& up = 1);
  // At most one of these is non-zero at any token: their ranges and energies count once.
  void exclusive(const Signals& signals);
  // Keeps a signal intact to the end although nothing reads it (outputs under test, probes).
  void keep(Signal signal);

  // --- Memory
  // ------------------------------------------------------------------------------------------------------------
  int head(HeadSpec spec);  // returns the index in heads()

  // --- Tokens
  // ------------------------------------------------------------------------------------------------------------
  void embed(int token, Signal input,
             double value);  // the embedding of `token` sets `input`; unset inputs are 0
  void unembed(int token, const Linear& contribution);  // logit of `token` += contribution

  // --- Scopes
  // ------------------------------------------------------------------------------------------------------------
  class [[nodiscard]] Scope {
   public:
    Scope(Scope&& other) noexcept
        : circuit_(std::exchange(other.circuit_, nullptr)), length_(other.length_) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope();

   private:
    friend class Circuit;
    Scope(Circuit* circuit, std::size_t length) : circuit_(circuit), length_(length) {}
    Circuit* circuit_;
    std::size_t length_;  // of the enclosing prefix
  };
  Scope scope(const std::string& name);  // until it is destroyed, names begin with "name/"

  class [[nodiscard]] MinLayer {
   public:
    MinLayer(MinLayer&& other) noexcept
        : circuit_(std::exchange(other.circuit_, nullptr)), outer_(other.outer_) {}
    MinLayer& operator=(MinLayer&&) = delete;
    ~MinLayer();

   private:
    friend class Circuit;
    MinLayer(Circuit* circuit, int outer) : circuit_(circuit), outer_(outer) {}
    Circuit* circuit_;
    int outer_;
  };
  MinLayer not_before(int layer);  // until it is destroyed, new neurons go to the MLP of this layer or later

  // --- Questions while building
  // --------------------------------------------------------------------------------------------
  const qwen::Geometry& geometry() const { return geometry_; }
  Range range(const Linear& form) const;  // interval of a form from what is declared so far
  // First sublayer after which the form is readable, from what is declared so far and without limits on
  // neurons.
  int ready_estimate(const Linear& form) const;
  const std::string& name(Signal signal) const { return signals_.at(signal.id).name; }
  Signal find(const std::string& full_name) const;  // invalid Signal when there is none

  // --- The graph, read-only
  // ------------------------------------------------------------------------------------------------
  struct Contribution {
    std::uint32_t neuron;
    double coef;
  };
  struct RawRead {
    std::uint32_t head;
    int dim;
  };
  struct SignalInfo {
    std::string name;
    Range range;  // as declared, or as inferred so far
    bool range_inferred = false;
    bool is_input = false;
    bool driven = false;  // by add() or a head, even where that turned out to be the constant 0
    bool kept = false;
    int ready_estimate = embedding_sublayer;
    std::vector<Contribution> contributions;
    std::vector<RawRead> raw_reads;
    std::vector<std::uint32_t> groups;  // indices into groups()
  };
  struct Neuron {
    Linear gate, up;
    int min_layer = 0;
    struct Output {
      SignalId signal;
      double coef;
    };
    std::vector<Output> outputs;
  };
  struct Embed {
    int token;
    SignalId signal;
    double value;
  };
  const std::vector<SignalInfo>& signals() const { return signals_; }
  const std::vector<Neuron>& neurons() const { return neurons_; }
  const std::vector<HeadSpec>& heads() const { return heads_; }
  const std::vector<Signals>& groups() const { return groups_; }
  const std::vector<Embed>& embeds() const { return embeds_; }
  const std::map<int, Linear>& unembeds() const { return unembeds_; }  // by token

 private:
  Signal new_signal(const std::string& name, Range range, bool is_input);
  void check_form(const Linear& form, const char* what) const;
  std::uint32_t find_or_make_neuron(const Linear& gate, const Linear& up);

  qwen::Geometry geometry_;
  std::string prefix_;
  int min_layer_ = 0;
  std::vector<SignalInfo> signals_;
  std::vector<Neuron> neurons_;
  std::vector<HeadSpec> heads_;
  std::vector<Signals> groups_;
  std::vector<Embed> embeds_;
  std::map<int, Linear> unembeds_;
  std::unordered_map<std::string, SignalId> by_name_;
  std::unordered_map<std::string, std::uint32_t> head_names_;
  std::unordered_multimap<std::uint64_t, std::uint32_t>
      neuron_index_;  // hash of (gate, up, min_layer) -> neuron
};

// Interval of coef * relu(gate) * up for the given intervals of gate and up.
Range neuron_range(Range gate, Range up, double coef);

}  // namespace qwengpu::circuit

// From a circuit to the weights of a Qwen3.5 model: schedule -> columns -> certificate -> weights.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "circuit/circuit.h"
#include "qwen/checkpoint.h"

namespace qwengpu::circuit {

struct TokenTable {
  std::vector<std::string> spellings;  // one per token id; unique
  int eos = -1;
  int pad = -1;
};

struct CompileOptions {
  bool sink = true;  // move signals later where that lowers the peak of live columns
};

// Where to find a signal: residual[column] after sublayer s holds its value for ready <= s <= intact_until.
struct SignalPlace {
  int column = -1;  // -1: nothing reads the signal, so it was removed
  int ready = -1;
  int intact_until = -1;
};

struct HeadPlace {
  int layer = -1;
  int head = -1;  // index in its layer
};

struct Placement {
  std::map<std::string, SignalPlace> signals;
  std::map<std::string, HeadPlace> heads;
  std::vector<std::pair<int, float>> constant_columns;  // (column, value) in every embedding: ballast, one

  const SignalPlace& signal(
      const std::string& name) const;  // throws Error when there is none or it was removed
  const HeadPlace& head(const std::string& name) const;
};

// What the compiler proved about the numbers; see certificate.h for how.
struct Certificate {
  struct Worst {
    std::string what;  // names the signal, neuron or head
    int sublayer = 0;
    double magnitude = 0;  // bound, in units of the finest grid
    double limit = 0;
  };
  Worst fp32;               // the form or sum that comes closest to 2^24
  Worst energy;             // the norm with the largest signal energy
  std::vector<Worst> bf16;  // whatever exceeds 8 bits, worst first; not an error
};

struct LayerReport {
  int layer = 0;
  bool attention = false;
  int columns_mixer = 0, columns_mlp = 0;   // columns in use (signals only) at the input of each
  int gates = 0, restores = 0, clears = 0;  // neurons
  double energy = 0;                        // bound at the worse of the two norms
  std::vector<std::string> heads;
  std::vector<std::pair<std::string, int>> units;  // scope -> neurons, largest first
  int neurons() const { return gates + restores + clears; }
};

struct Report {
  std::vector<LayerReport> layers;
  int signals = 0, neurons = 0, heads = 0;  // compiled
  int peak_columns = 0;                     // signals at once; the ballast and the constants come on top
  int peak_sublayer = 0;
  int peak_columns_unsunk = 0;             // before signals were moved later
  int depth = 0;                           // MLP sublayers on the critical path
  std::vector<std::string> critical_path;  // signals and heads from the tokens to the last one ready
  std::size_t nonzeros = 0;
  Certificate certificate;
  std::vector<std::string> removed;  // signals that nothing reads
};
std::string to_text(const Report& report);

struct Compiled {
  qwen::Checkpoint checkpoint;
  Report report;
  Placement placement;
};

// Throws Error, naming signals and layers, when the circuit does not fit or cannot be exact.
Compiled compile(const Circuit& circuit, const TokenTable& tokens, const CompileOptions& options = {});

}  // namespace qwengpu::circuit

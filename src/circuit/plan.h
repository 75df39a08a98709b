// What the passes of compile() know about a circuit; each pass fills its part in, in this order.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "circuit/compile.h"
#include "circuit/graph.h"

namespace qwengpu::circuit {

inline constexpr int never = std::numeric_limits<int>::max();

// How the constants of the model stand on the residual stream. RMSNorm with w = 0 is x * rsqrt(mean(x^2) +
// eps); the ballast makes the mean exactly 4^16, so the norm is exactly x * 2^-16 while the energy of all
// signals is lost in the rounding of the sum. A larger exponent would allow more energy.
inline constexpr int norm_exponent = 16;
struct Constants {
  std::vector<int> ballast_columns;
  double ballast = 0;  // a power of two
  double energy_limit =
      0;        // half a unit in the last place of ballast^2, the smallest partial sum with a ballast in it
  int one = 0;  // the column that is 1 in every embedding: bias weights
  int one_low = -1;      // a second one, made when a constant needs more than the 8 bits of a bf16 weight
  int first_signal = 1;  // columns first_signal .. first_signal + signals - 1 are for signals
  int signal_columns = 0;
};

struct Plan {
  explicit Plan(const Circuit& circuit);

  const Circuit& circuit;
  int end;  // 2 * layers: the sublayer index at which the final norm and the lm_head read

  // analyse(): dead code, order, values
  std::vector<bool> live_signal;  // is read, and is not the constant 0
  std::vector<bool> live_neuron, live_head;
  std::vector<bool> read_at_end;           // by the lm_head, or kept
  std::vector<Node> order;                 // live nodes, topological
  std::vector<std::vector<Node>> readers;  // of every live signal: live neurons and heads
  std::vector<Range> ranges;               // by signal
  std::vector<double> grids;               // by signal
  std::vector<Range> products;             // by neuron: relu(gate) * up
  Constants constants;

  // schedule()
  std::vector<int> neuron_at;                      // sublayer of every live neuron (odd)
  std::vector<int> head_at;                        // sublayer of every live head (even)
  std::vector<int> head_index;                     // in its layer
  std::vector<std::vector<SignalId>> restores;     // by layer: signals whose raw reads become bits in its MLP
  std::vector<int> first_write, ready, last_read;  // sublayers, by signal
  int depth = 0;
  std::vector<std::string> critical_path;
  int peak_unsunk = 0;

  // allocate_columns()
  std::vector<int> column;                    // by signal, -1 when it has none
  std::vector<int> cleared_at;                // sublayer of the MLP that zeroes the column, or `never`
  std::vector<std::vector<SignalId>> clears;  // by layer
  int peak = 0, peak_sublayer = 0;

  bool in_form(SignalId s) const { return live_signal[s]; }  // signals that are constant 0 drop out of forms
  const std::string& name(SignalId s) const { return circuit.signals()[s].name; }
  std::string describe_neuron(std::uint32_t neuron) const;  // by the first live signal it drives
  std::vector<int> neurons_per_layer() const;               // gates and restores
  // First MLP that can zero a signal: it reads the final value, and every other reader has done so. `never`
  // at the end.
  int release(SignalId s) const;
  void update_lifetimes();  // first_write, ready, last_read, restores from neuron_at and head_at
};

// Columns in use after each sublayer 0 .. end - 1 when every column is freed as early as possible.
std::vector<int> live_columns(const Plan& plan);

void analyse(Plan& plan);
void schedule(Plan& plan, const CompileOptions& options);
void sink(Plan& plan);  // part of schedule()
// Signals larger than `eager_clear` are zeroed as soon as they are dead even where nobody needs the column:
// for their energy.
void allocate_columns(Plan& plan, double eager_clear);
Certificate certify(const Plan& plan, std::vector<double>& energy_by_sublayer);  // throws for fp32
void refuse_energy(const Plan& plan, const Certificate& certificate);  // throws when a norm is not exact
qwen::Checkpoint write_weights(const Plan& plan, const TokenTable& tokens);
Report make_report(const Plan& plan, const qwen::Checkpoint& checkpoint, const std::vector<double>& energy);

// "a/b/c[3]" -> "a/b" (the scope), or "c" where there is none; and "a/b/c" (the name without its indices).
std::string scope_of(const std::string& name);
std::string family_of(const std::string& name);
// The signals from a token to this signal that made it ready no sooner, with their sublayers.
std::vector<std::string> critical_path(const Plan& plan, SignalId signal);

}  // namespace qwengpu::circuit

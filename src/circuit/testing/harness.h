// Runs a compiled circuit in a real forward pass, inputs and outputs by name: for tests of units (an adder, a
// decoder, a memory).
//
//   Harness h(circuit);                          // compiles, makes a sparse engine
//   h.set(a, 1); h.step(); EXPECT_EQ(h.get(sum), 1);
//
// Inputs go in as one embedding vector a step, outputs are read from the residual stream at the sublayer
// after which they are ready. Signals must be read by something or kept with Circuit::keep().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "circuit/compile.h"
#include "circuit/evaluate.h"
#include "engine/engine.h"

namespace qwengpu::circuit {

// A small model: 4 memory heads a GDN layer, everything else as in Qwen3.5 except the sizes given.
qwen::Geometry small_geometry(int layers = 8, int hidden = 256, int intermediate = 512);

enum class EngineKind { sparse, reference };

class Harness {
 public:
  // Without tokens the model gets one, named "step".
  explicit Harness(const Circuit& circuit, const TokenTable& tokens = {{"step"}, -1, -1},
                   EngineKind kind = EngineKind::sparse, const CompileOptions& options = {});

  Harness(const Harness&) = delete;  // the engine's hook points here
  Harness& operator=(const Harness&) = delete;

  // Inputs keep their values between steps; all start at 0.
  void set(Signal input, double value);
  void set_number(const Signals& word, std::uint64_t value);
  void step();                 // one position of the sequence with these inputs
  void step_token(int token);  // one position of the sequence with the embedding of a token
  // The value at the last step, exactly as the model had it: a float, not rounded.
  double get(Signal signal) const;
  double get(const Linear& form) const;
  // The word as a number; throws Error naming the signal when a bit is neither exactly 0 nor exactly 1.
  std::uint64_t get_number(const Word& word) const;
  int argmax() { return engine_->argmax(); }
  void reset();  // a new sequence: memories are empty

  const Compiled& compiled() const { return compiled_; }
  engine::Engine& engine() { return *engine_; }

 private:
  const Circuit& circuit_;
  Compiled compiled_;
  std::unique_ptr<engine::Engine> engine_;
  std::vector<float> embedding_;
  std::vector<float> value_;                                   // by signal
  std::vector<std::vector<std::pair<SignalId, int>>> probes_;  // [sublayer + 1]: (signal, column)
};

// Runs the same random input vectors through the model and through the Evaluator and compares every signal
// that was compiled; throws Error naming the first signal that differs. Inputs are drawn by `draw`, or
// uniformly from their ranges. With memories the vectors are one sequence.
using DrawInputs =
    std::function<void(std::mt19937_64& random, const std::function<void(Signal, double)>& set)>;
void compare_with_evaluator(const Circuit& circuit, int vectors, std::uint64_t seed,
                            const DrawInputs& draw = {}, EngineKind kind = EngineKind::sparse);

}  // namespace qwengpu::circuit

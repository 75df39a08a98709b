// A plain interpreter of a circuit, the oracle of the compiler: no layers, no columns, only the equations of
// neurons and heads. It works on a batch of independent lanes (test vectors or, with memory, independent
// runs) and checks what was promised to the compiler: declared ranges, exclusive groups, integer gates, bits
// at most 1 in rows of heads.
#pragma once

#include <bitset>
#include <span>
#include <string>
#include <vector>

#include "circuit/circuit.h"
#include "circuit/graph.h"

namespace qwengpu::circuit {

class Evaluator {
 public:
  // The circuit must outlive the evaluator and be complete.
  explicit Evaluator(const Circuit& circuit, int lanes = 1);

  int lanes() const { return lanes_; }
  // Inputs keep their values between steps; all start at 0.
  void set(Signal input, int lane, float value);
  void set_all_inputs_zero();
  void set_token(int token, int lane = 0);  // all inputs as the embedding of this token
  void step();                              // one token on every lane; throws Error when a promise is broken
  float get(Signal signal, int lane = 0) const;
  double get(const Linear& form, int lane = 0) const;
  std::span<const float> values(Signal signal) const;  // one per lane
  // The first token with the largest logit. Tokens beyond the last one with an unembedding are not
  // considered.
  int argmax_token(int lane = 0) const;
  void reset();  // empties all memories

 private:
  using Bits = std::bitset<128>;
  void run_neuron(std::uint32_t index);
  void run_head(std::uint32_t index);
  void row_bits(const std::string& head, const char* what, const std::vector<HeadSpec::Row>& rows,
                std::vector<Bits>& bits);
  void check_signal(std::uint32_t index) const;
  void check_groups() const;
  void form(const Linear& form, std::vector<float>& out) const;
  [[noreturn]] void broken(const std::string& message) const;

  const Circuit& circuit_;
  int lanes_;
  std::vector<Node> order_;
  std::vector<float> value_;   // [signals][lanes]
  std::vector<float> inputs_;  // [signals][lanes], only the rows of inputs are used
  std::vector<Bits> state_;    // [heads][lanes][words]
  // work space, by lane
  std::vector<float> gate_, up_;
  std::vector<Bits> key_, row_;
  std::vector<bool> writes_;
};

}  // namespace qwengpu::circuit

// The gate library: free functions that add neurons to a circuit. Each gate is one MLP sublayer deep.
// Every argument may be a Linear form of several signals: `and_(c, "x", {a, 1 - b, c + d})`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "circuit/circuit.h"

namespace qwengpu::circuit {

// --- Bits: arguments are forms with values 0 and 1 (NOT is `1 - x`)
// --------------------------------------------------------
Signal and_(Circuit& c, const std::string& name, const Word& bits);  // 1 neuron, any number of bits
Signal nor_(Circuit& c, const std::string& name, const Word& bits);  // 1 neuron, any number of bits
Signal or_(Circuit& c, const std::string& name, const Word& bits);   // 2 neurons, any number of bits
Signal xor_(Circuit& c, const std::string& name, const Linear& a, const Linear& b);  // 2 neurons
Signal parity(Circuit& c, const std::string& name, const Word& bits);                // one neuron a bit
Signal equal_const(Circuit& c, const std::string& name, const Word& bits, std::uint64_t value);  // 1 neuron
// Complete decoder: output i is 1 when the bits spell i. One neuron an output; the outputs are an exclusive
// group.
Signals decode(Circuit& c, const std::string& name, const Word& bits);
// The form of one decoder output, sum of matching bits - (n - 1): 1 on a match, else at most 0. For rows of a
// head (free there).
Linear match(const Word& bits, std::uint64_t value);

// --- Integers
// ---------------------------------------------------------------------------------------------------------------
Signal relu(Circuit& c, const std::string& name, const Linear& form);              // max(form, 0), 1 neuron
Signal threshold(Circuit& c, const std::string& name, const Linear& form, int t);  // form >= t, 2 neurons
Signal equal(Circuit& c, const std::string& name, const Linear& form,
             int value);  // form == value, 3 neurons at most
Signal product(Circuit& c, const std::string& name, const Linear& a,
               const Linear& b);  // a * b, 2 neurons (1 when a >= 0)
// Any function of an integer lo .. hi: one neuron a breakpoint. `when` (0 or 1) silences it.
Signal pwl(Circuit& c, const std::string& name, const Linear& form, int lo, int hi,
           const std::function<int(int)>& f, const Linear& when = 1);
// Adds such a function to a bus of the caller.
void add_pwl(Circuit& c, Signal bus, const Linear& form, int lo, int hi, const std::function<int(int)>& f,
             const Linear& when = 1);
// The binary digits of a count 0 .. hi; they share their neurons.
Signals pwl_bits(Circuit& c, const std::string& name, const Linear& form, int hi);

// --- Routing
// ----------------------------------------------------------------------------------------------------------------
// relu(condition) * value: the value where the condition is 1, else 0. 1 neuron.
Signal gate(Circuit& c, const std::string& name, const Linear& condition, const Linear& value);
Signals gate(Circuit& c, const std::string& name, const Linear& condition, const Word& values);
// sum of relu(condition) * value; at most one condition is 1 at a time.
struct Choice {
  Linear condition, value;
};
Signal select(Circuit& c, const std::string& name, const std::vector<Choice>& choices);
struct WordChoice {
  Linear condition;
  Word value;
};
Signals select(Circuit& c, const std::string& name, const std::vector<WordChoice>& choices);
// condition ? a : b, 2 neurons
Signal mux(Circuit& c, const std::string& name, const Linear& condition, const Linear& a, const Linear& b);
Signals mux(Circuit& c, const std::string& name, const Linear& condition, const Word& a, const Word& b);
// A signal of its own that holds a form: 1 neuron when it cannot be negative, else 2.
Signal copy(Circuit& c, const std::string& name, const Linear& form);
Signals copy(Circuit& c, const std::string& name, const Word& word);
// A copy made by the MLP of this layer or a later one.
Signal delay(Circuit& c, const std::string& name, const Linear& form, int layer);

// --- Words: signals name[0], name[1], ...
// --------------------------------------------------------------------------------------
Signals input_word(Circuit& c, const std::string& name, int width);
Signals bus_word(Circuit& c, const std::string& name, int width, Range range = bit);
std::string indexed(const std::string& name, int i);  // "name[i]"
void keep(Circuit& c, const Signals& signals);

}  // namespace qwengpu::circuit

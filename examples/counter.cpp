// A counter as a language model: a first machine built with src/circuit, small enough to read in one go.
//
//   prompt    step=7 100                        "count from 100 in steps of 7"
//   answer    107 114 121 ... 247 254 end       spoken by four Qwen3.5 layers whose weights were constructed
//
// It shows the three things every machine here is made of:
//   memory      the step is latched in a Gated DeltaNet head when its token is consumed, and read at every
//   later token; logic       an 8-bit adder in SwiGLU neurons; feedback    the count itself goes round
//   through the token that is spoken. Within a token information only flows to deeper
//               layers, so what an early layer must know about the last result has to be said aloud.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "circuit/compile.h"
#include "circuit/gates.h"
#include "circuit/memory.h"
#include "engine/engine.h"

using namespace qwengpu;
using namespace qwengpu::circuit;

namespace {

constexpr int bits = 8;
constexpr int numbers = 1 << bits;

// Token ids: the numbers 0 .. 255, then step=0 .. step=255, then end.
int number_token(int n) { return n; }
int step_token(int n) { return numbers + n; }
constexpr int end_token = 2 * numbers;

TokenTable make_tokens() {
  TokenTable tokens;
  for (int n = 0; n < numbers; ++n) tokens.spellings.push_back(fmt::format("{}", n));
  for (int n = 0; n < numbers; ++n) tokens.spellings.push_back(fmt::format("step={}", n));
  tokens.spellings.emplace_back("end");
  tokens.eos = end_token;
  return tokens;
}

void build(Circuit& c) {
  // What a token puts on the residual stream: its number in binary, and which of the two kinds it is.
  const Signals number_bits = input_word(c, "number", bits);
  const Signal is_step = c.input("is_step");
  const Signal is_number = c.input("is_number");
  for (int n = 0; n < numbers; ++n) {
    for (const int token : {number_token(n), step_token(n)}) {
      for (int i = 0; i < bits; ++i) {
        if ((n >> i & 1) != 0) c.embed(token, number_bits[static_cast<std::size_t>(i)], 1);
      }
    }
    c.embed(number_token(n), is_number, 1);
    c.embed(step_token(n), is_step, 1);
  }

  // Memory: one word of one head. It is read only where a number is to be continued.
  LatchSpec spec;
  spec.name = "step";
  spec.write = is_step;
  spec.data = number_bits;
  spec.read = is_number;
  const Signals step = latch(c, spec);

  // Logic: the carry into bit i says whether the lower bits add up to 2^i or more; a sum bit is then the
  // parity of three bits. The sums are linear forms and cost nothing, a threshold is two neurons and a parity
  // three.
  Signals result;
  Signal carry_out;
  {
    const auto scope = c.scope("adder");
    Linear low;        // both numbers, bits below i
    Linear carry = 0;  // into bit i
    for (int i = 0; i < bits; ++i) {
      const Linear a = number_bits[static_cast<std::size_t>(i)];
      const Linear b = step[static_cast<std::size_t>(i)];
      result.push_back(parity(c, indexed("sum", i), {a, b, carry}));
      low += (1 << i) * (a + b);
      carry_out = threshold(c, indexed("carry", i + 1), low, 2 << i);
      carry = carry_out;
    }
  }

  // Speech: match() is 1 where all bits of the result spell n and at most 0 elsewhere, and it is linear, so
  // it needs no neurons; a gap of 16 between the right token and every other is enough to be deterministic
  // even when sampling. A carry outweighs all of them.
  for (int n = 0; n < numbers; ++n)
    c.unembed(number_token(n), 16 * match(result, static_cast<std::uint64_t>(n)));
  c.unembed(end_token, 32 * carry_out);
}

int count(engine::Engine& engine, const TokenTable& tokens, int step, int from) {
  const int prompt[] = {step_token(step), number_token(from)};
  engine.reset();
  engine.prefill(prompt);
  fmt::print("step={} {} :", step, from);
  for (int expected = from + step;; expected += step) {
    const int token = engine.argmax();
    fmt::print(" {}", tokens.spellings[static_cast<std::size_t>(token)]);
    if (token != (expected < numbers ? number_token(expected) : end_token)) {
      fmt::print("   WRONG, expected {}\n", expected);
      return EXIT_FAILURE;
    }
    if (token == end_token) break;
    engine.append(token);
  }
  fmt::print("\n");
  return EXIT_SUCCESS;
}

}  // namespace

int main() {
  qwen::Geometry
      geometry;  // Qwen3.5-2B layers, but four of them, a narrower residual stream and fewer neurons
  geometry.layers = 4;
  geometry.hidden = 64;
  geometry.intermediate = 64;

  Circuit circuit(geometry);
  build(circuit);
  const TokenTable tokens = make_tokens();
  const Compiled compiled = compile(circuit, tokens);
  fmt::print("{}\n", to_text(compiled.report));

  const auto engine = engine::make_sparse(compiled.checkpoint);
  for (const auto& [step, from] : {std::pair{7, 100}, {1, 250}, {64, 0}, {255, 1}}) {
    if (count(*engine, tokens, step, from) != EXIT_SUCCESS) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

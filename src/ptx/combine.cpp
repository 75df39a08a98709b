#include <optional>

#include "ptx/facts.h"
#include "ptx/passes.h"

namespace qwengpu::ptx::ir {
namespace {

using isa::Op;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// One IMAD says one token more than a sum; what it saves is a whole instruction, so long as few sums use the
// product.
constexpr std::size_t most_uses = 3;

// The factors of a product: a shift is one by a power of two.
struct Factors {
  Value a, b;
};
std::optional<Factors> factors(const Instruction& i) {
  if (i.op == Op::Imul) return Factors{i.a, i.b};
  if (i.op == Op::Shl && i.b.is_immediate() && i.b.number < 32)
    return Factors{i.a, Value::imm(1u << i.b.number)};
  return std::nullopt;
}

// The IMAD that a sum with the product becomes, if it does.
// Where constants may be summands, that is in loops, legalise() keeps them in a register.
std::optional<Instruction> with_product(const Instruction& sum, Value product, Factors f, bool constants) {
  Instruction result = sum;
  result.op = Op::Imad;
  result.a = f.a;
  result.b = f.b;
  if (constants && sum.op == Op::Iadd && sum.a == product && sum.b.is_fixed()) {
    result.c = sum.b;
    return result;
  }
  if (sum.op == Op::Iadd && sum.a == product && sum.b.is_register() && sum.b != product) {
    result.c = sum.b;
    return result;
  }
  if (sum.op == Op::Iadd && sum.b == product && sum.a.is_register() && sum.a != product) {
    result.c = sum.a;
    return result;
  }
  if (sum.op == Op::Isub && sum.b == product && sum.a.is_register() && sum.a != product &&
      f.b.is_immediate()) {
    result.b = Value::imm(0 - f.b.number);
    result.c = sum.a;
    return result;
  }
  return std::nullopt;
}

}  // namespace

bool combine(Function& function) {
  const Flow flow(function);
  const Definitions definitions(function);
  const Facts facts(function, flow, definitions);
  std::vector<std::vector<Site>> uses(at(function.registers));
  for (const int b : flow.reverse_post_order()) {
    const Block& block = function.blocks[at(b)];
    for (int p = 0; p < static_cast<int>(block.code.size()); ++p)
      for_each_value(block.code[at(p)], [&](const Value& value) {
        if (value.is_register()) uses[value.number].push_back({b, p});
      });
  }
  bool changed = false;
  for (int reg = 0; reg < function.registers; ++reg) {
    const Value product = Value::reg(reg);
    const Instruction* maker = facts.source(product);
    const auto& readers = uses[at(reg)];
    if (maker == nullptr || readers.empty() || readers.size() > most_uses) continue;
    const auto f = factors(*maker);
    if (!f) continue;
    std::vector<Instruction> results;
    for (const Site& reader : readers) {
      const Site from = facts.site(product);
      if (flow.loops(from.block) != flow.loops(reader.block)) break;
      if (!facts.available(f->a, from, reader) || !facts.available(f->b, from, reader)) break;
      const auto result = with_product(function.blocks[at(reader.block)].code[at(reader.position)], product,
                                       *f, flow.depth(reader.block) > 0);
      if (!result) break;
      results.push_back(*result);
    }
    if (results.size() != readers.size()) continue;
    for (std::size_t n = 0; n < readers.size(); ++n)
      function.blocks[at(readers[n].block)].code[at(readers[n].position)] = results[n];
    changed = true;
  }
  return changed;
}

}  // namespace qwengpu::ptx::ir

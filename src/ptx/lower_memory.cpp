// Loads and stores (PTX ISA 9.7.9).
#include <fmt/format.h>

#include "isa/parameters.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using syntax::Operand;

// Orders and caches: the machine's memory operations happen one after another, and it has no cache.
void take_ordering(Modifiers& m) {
  m.take_any({"weak", "volatile", "relaxed", "acquire", "release", "mmio"});
  m.take_any({"cta", "cluster", "gpu", "sys"});
  m.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  m.take("nc");
  m.take_any(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  m.take_any({"L2::64B", "L2::128B", "L2::256B"});
}

// A generic address is a global one: no other memory can have its address taken.
std::string take_space(Modifiers& m) {
  const std::string space = m.take_any({"global", "param", "param::entry", "const", "shared", "shared::cta",
                                        "shared::cluster", "local", "param::func"});
  return space.empty() ? "global" : space.substr(0, space.find(':'));
}

void require_global(const std::string& space) {
  if (space == "shared") Lowering::reject("shared memory not supported");
  if (space == "local") Lowering::reject("local memory not supported");
  if (space == "const") Lowering::reject("constant memory not supported");
}

// The registers of a vector operand, or the operand itself.
std::vector<Operand> elements(Lowering& l, const Operand& operand, Modifiers& m) {
  const std::string width = m.take_any({"v2", "v4", "v8"});
  if (width.empty()) return {operand};
  if (operand.kind != Operand::Kind::Vector) l.fail("the operand is not a vector");
  if (std::to_string(operand.elements.size()) != width.substr(1)) l.fail("the vector has another length");
  return operand.elements;
}

// A word of the constant bank, or a part of one.
Value parameter_value(Lowering& l, std::uint32_t address, Type type) {
  const Value word = Value::constant(address & ~3u);
  if (type.bits >= 32) return word;
  const std::uint32_t shift = 8 * (address & 3);
  Value value = l.emit().op(Op::Mov, {}, word);
  if (shift != 0) value = l.emit().op(Op::ShrU, value, Value::imm(shift));
  return l.extend(value, type);
}

void load_parameter(Lowering& l, const Operand& source, const std::vector<Operand>& targets, Type type) {
  if (source.kind != Operand::Kind::Address) l.fail("operand 2 is not an address");
  const Operand& base = source.elements.front();
  if (base.kind != Operand::Kind::Symbol) Lowering::reject("parameters at a computed address not supported");
  // The value that a call returns; the call itself is reported.
  if (l.is_local_parameter(base.name)) return;
  const isa::KernelParameter* parameter = l.find_parameter(base.name);
  if (parameter == nullptr) l.fail(fmt::format("parameter {} is not declared", base.name));
  std::uint64_t offset = source.value;
  const std::uint32_t bytes = static_cast<std::uint32_t>(type.bits) / 8;
  for (const Operand& target : targets) {
    if (offset > static_cast<std::uint64_t>(parameter->bytes) ||
        offset + bytes > static_cast<std::uint64_t>(parameter->bytes))
      l.fail(fmt::format("parameter {} has {} bytes", parameter->name, parameter->bytes));
    const std::uint32_t address =
        isa::constant::parameters + static_cast<std::uint32_t>(parameter->offset + static_cast<int>(offset));
    if (address % std::min(bytes, 4u) != 0) l.fail("misaligned parameter");
    offset += bytes;
    if (type.bits == 64) {
      l.write_pair(target, {Value::constant(address), Value::constant(address + 4)});
    } else {
      const Value value = parameter_value(l, address, type);
      if (target.kind == Operand::Kind::Register && l.register_bits(target) == 64)
        l.write_pair(target,
                     type.is_signed() ? ir::sign_extended(l.emit(), value) : ir::zero_extended(value));
      else
        l.write(target, {'b', 32}, value);
    }
  }
}

// The machine loads words. A part of one is shifted out of it: bytes are little endian, and a part does not
// cross words when it is aligned. (A 16-bit load at an odd address gives what is there of it in the word,
// where a GPU reports a misaligned address.)
Value load_part(Lowering& l, Value base, std::uint32_t offset, Type type) {
  ir::Emitter& e = l.emit();
  const Value address = e.op(Op::Iadd, base, Value::imm(offset));
  const Value word = e.load(e.op(Op::And, address, Value::imm(~3u)), 0);
  const Value shift = e.op(Op::And, e.op(Op::Shl, address, Value::imm(3)), Value::imm(24));
  return l.extend(e.op(Op::ShrU, word, shift), type);
}

// Lanes of a quad store one after another but load together, so that a store to a part of a word cannot be
// made of a load and a store.
void require_words(Type type) {
  if (type.bits < 32) Lowering::reject(fmt::format("{}-bit stores not supported", type.bits));
}

void ld(Lowering& l, const Instruction&, Modifiers& m) {
  take_ordering(m);
  const std::string space = take_space(m);
  require_global(space);
  const std::vector<Operand> targets = elements(l, l.operand(0), m);
  const Type type = l.type(m);
  if (space == "param") return load_parameter(l, l.operand(1), targets, type);
  auto [base, offset] = l.address(l.operand(1));
  // All words are loaded before any target is written: a target may be the base.
  std::vector<Pair> words;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    Pair word;
    word.lo = type.bits < 32 ? load_part(l, base, offset, type) : l.emit().load(base, offset);
    if (type.bits == 64) word.hi = l.emit().load(base, offset + 4);
    offset += static_cast<std::uint32_t>(type.bits) / 8;
    words.push_back(word);
  }
  for (std::size_t n = 0; n < targets.size(); ++n) {
    const Operand& target = targets[n];
    if (target.kind == Operand::Kind::Register && l.register_bits(target) == 64) {
      if (type.bits < 64)
        words[n] =
            type.is_signed() ? ir::sign_extended(l.emit(), words[n].lo) : ir::zero_extended(words[n].lo);
      l.write_pair(target, words[n]);
    } else {
      l.check_width(target, type.bits, true);
      l.write(target, {'b', 32}, words[n].lo);
    }
  }
}

void st(Lowering& l, const Instruction&, Modifiers& m) {
  take_ordering(m);
  const std::string space = take_space(m);
  // An argument of a call; the call itself is reported.
  if (space == "param") {
    m.take_any({"v2", "v4"});
    l.type(m);
    return;
  }
  require_global(space);
  const std::vector<Operand> sources = elements(l, l.operand(1), m);
  const Type type = l.type(m);
  require_words(type);
  auto [base, offset] = l.address(l.operand(0));
  for (const Operand& source : sources) {
    if (type.bits == 64) {
      const Pair value = l.read_pair(source, type);
      l.emit().store(base, offset, value.lo);
      l.emit().store(base, offset + 4, value.hi);
    } else {
      l.check_width(source, type.bits, true);
      l.emit().store(base, offset, l.read_low(source, type));
    }
    offset += static_cast<std::uint32_t>(type.bits) / 8;
  }
}

// Fences and prefetches: the order of the machine's memory is that of its instructions.
void nothing(Lowering&, const Instruction&, Modifiers& m) {
  while (!m.rest().empty()) m.take(std::string(m.rest().front()));
}

// A generic address and a global one are the same number.
void cvta(Lowering& l, const Instruction&, Modifiers& m) {
  m.take("to");
  const std::string space = take_space(m);
  require_global(space);
  if (space == "param") Lowering::reject("the address of a parameter not supported");
  const Type type = l.type(m);
  if (type.bits == 64)
    l.write_pair(l.operand(0), l.read_pair(l.operand(1), type));
  else
    l.write(l.operand(0), type, l.read(l.operand(1), type));
}

}  // namespace

const HandlerTable& memory_handlers() {
  static const HandlerTable table = {
      {"ld", ld},
      {"ldu", ld},
      {"st", st},
      {"cvta", cvta},
      {"membar", nothing},
      {"fence", nothing},
      {"prefetch", nothing},
      {"prefetchu", nothing},
  };
  return table;
}

}  // namespace qwengpu::ptx

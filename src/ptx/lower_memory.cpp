// Loads, stores and addresses (PTX ISA 9.7.9).
#include <fmt/format.h>

#include <algorithm>

#include "isa/parameters.h"
#include "ptx/lower.h"
#include "ptx/memory_access.h"

namespace qwengpu::ptx {
namespace {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using isa::Parameters;
using Place = ir::Emitter::Place;
using syntax::Instruction;
using syntax::Operand;

// The registers of a vector operand, or the operand itself.
std::vector<Operand> elements(Lowering& l, const Operand& operand, Modifiers& m) {
  const std::string width = m.take_any({"v2", "v4", "v8"});
  if (width.empty()) return {operand};
  if (operand.kind != Operand::Kind::Vector) l.fail("the operand is not a vector");
  if (std::to_string(operand.elements.size()) != width.substr(1)) l.fail("the vector has another length");
  return operand.elements;
}

// Writes what was loaded to registers that may be wider.
void write_all(Lowering& l, const std::vector<Operand>& targets, const std::vector<Pair>& values, Type type) {
  for (std::size_t n = 0; n < targets.size(); ++n) {
    const Operand& target = targets[n];
    const Pair& value = values[n];
    if (target.kind == Operand::Kind::Register && l.register_bits(target) == 64) {
      if (type.bits == 64)
        l.write_pair(target, value);
      else
        l.write_pair(target,
                     type.is_signed() ? ir::sign_extended(l.emit(), value.lo) : ir::zero_extended(value.lo));
    } else {
      l.check_width(target, type.bits, true);
      l.write(target, {'b', 32}, value.lo);
    }
  }
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

// A parameter whose address is computed has been copied to local memory (parameter_address() in lower.h).
void load_parameter(Lowering& l, const Operand& source, const std::vector<Operand>& targets, Type type) {
  if (source.kind != Operand::Kind::Address) l.fail("operand 2 is not an address");
  const Operand& base = source.elements.front();
  if (base.kind == Operand::Kind::Register)
    return write_all(l, targets, load(l, l.address(source, "local"), targets.size(), type, false), type);
  if (base.kind != Operand::Kind::Symbol) Lowering::reject("parameters at a constant address not supported");
  // The value that a call returns; the call itself is reported.
  if (l.is_local_parameter(base.name)) return;
  const isa::KernelParameter* parameter = l.find_parameter(base.name);
  if (parameter == nullptr) l.fail(fmt::format("parameter {} is not declared", base.name));
  std::uint64_t offset = source.value;
  const std::uint32_t bytes = static_cast<std::uint32_t>(type.bits) / 8;
  std::vector<Pair> values;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    if (offset > static_cast<std::uint64_t>(parameter->bytes) ||
        offset + bytes > static_cast<std::uint64_t>(parameter->bytes))
      l.fail(fmt::format("parameter {} has {} bytes", parameter->name, parameter->bytes));
    const std::uint32_t address =
        isa::constant::parameters + static_cast<std::uint32_t>(parameter->offset + static_cast<int>(offset));
    if (address % std::min(bytes, 4u) != 0) l.fail("misaligned parameter");
    offset += bytes;
    if (type.bits == 64)
      values.push_back({Value::constant(address), Value::constant(address + 4)});
    else
      values.push_back({parameter_value(l, address, type), {}});
  }
  write_all(l, targets, values, type);
}

void ld(Lowering& l, const Instruction&, Modifiers& m) {
  const Access access = take_access(m);
  const std::vector<Operand> targets = elements(l, l.operand(0), m);
  const Type type = l.type(m);
  if (access.space == "param") return load_parameter(l, l.operand(1), targets, type);
  // All words are loaded before any target is written: a target may be the base.
  const Place place = l.address(l.operand(1), access.space);
  write_all(l, targets, load(l, place, targets.size(), type, access.is_volatile), type);
}

void st(Lowering& l, const Instruction&, Modifiers& m) {
  const Access access = take_access(m);
  // An argument of a call; the call itself is reported.
  if (access.space == "param") {
    m.take_any({"v2", "v4"});
    l.type(m);
    return;
  }
  if (access.space == "const") l.fail("constant memory is not written");
  const std::vector<Operand> sources = elements(l, l.operand(1), m);
  const Type type = l.type(m);
  const Place place = l.address(l.operand(0), access.space);
  std::vector<Pair> values;
  for (const Operand& source : sources) {
    if (type.bits == 64) {
      values.push_back(l.read_pair(source, type));
    } else {
      l.check_width(source, type.bits, true);
      values.push_back({l.read_low(source, {'b', type.bits}), {}});
    }
  }
  store(l, place, values, type);
}

// Fences and prefetches: the order of the machine's memory is that of its instructions.
void nothing(Lowering&, const Instruction&, Modifiers& m) {
  while (!m.rest().empty()) m.take(std::string(m.rest().front()));
}

// Generic addresses are the machine's. Addresses in shared memory are counted from the beginning of it; in
// the other spaces they are the machine's too.
void cvta(Lowering& l, const Instruction&, Modifiers& m) {
  const bool to = m.take("to");
  const std::string space = take_access(m).space;
  const Type type = l.type(m);
  const Operand& source = l.operand(1);
  Pair value = type.bits == 64 ? l.read_pair(source, type) : Pair{l.read(source, type), {}};
  if (space == "shared") {
    const std::uint32_t window = Parameters::shared_window;
    value.lo = l.emit().op(Op::Iadd, value.lo, Value::imm(to ? 0 - window : window));
  }
  if (type.bits == 64)
    l.write_pair(l.operand(0), value);
  else
    l.write(l.operand(0), type, value.lo);
}

void isspacep(Lowering& l, const Instruction& i, Modifiers& m) {
  if (i.modifiers.empty()) l.fail("no address space");
  const std::string space = take_access(m).space;
  const Operand& source = l.operand(1);
  const Value address = l.read_low(source, {'u', 32});
  ir::Emitter& e = l.emit();
  const auto within = [&](Value first, Value bytes) {
    return e.compare(Op::SetpLtU, e.op(Op::Isub, address, first), bytes);
  };
  const auto shared = [&] { return e.compare(Op::SetpGeU, address, Value::imm(Parameters::shared_window)); };
  const auto local = [&]() -> Predicate {
    if (l.variables().local_bytes() == 0) return ir::never;
    const Value bytes = e.op(Op::Imul, l.block_threads(),
                             Value::imm(static_cast<std::uint32_t>(l.variables().local_bytes())));
    return within(Value::constant(isa::constant::local), bytes);
  };
  const auto constant = [&] {
    const std::uint32_t first = Parameters::first_allocation;
    return within(Value::imm(first), Value::imm(l.variables().constant_end() - first));
  };
  Predicate result = ir::never;
  if (space == "shared") {
    result = shared();
  } else if (space == "local") {
    result = local();
  } else if (space == "const") {
    result = constant();
  } else if (space == "global") {
    result = !e.combine(Op::PlopOr, e.combine(Op::PlopOr, shared(), local()), constant());
  } else {
    Lowering::reject(fmt::format(".{} not supported", space));
  }
  l.write_predicate(l.operand(0), result);
}

}  // namespace

const HandlerTable& memory_handlers() {
  static const HandlerTable table = {
      {"ld", ld},
      {"ldu", ld},
      {"st", st},
      {"cvta", cvta},
      {"isspacep", isspacep},
      {"membar", nothing},
      {"fence", nothing},
      {"prefetch", nothing},
      {"prefetchu", nothing},
      {"discard", nothing},
      {"applypriority", nothing},
  };
  return table;
}

}  // namespace qwengpu::ptx

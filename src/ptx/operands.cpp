// Operands of PTX instructions (PTX ISA, chapters 6 and 10): reading and writing them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/parameters.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using Kind = syntax::Operand::Kind;

const syntax::Operand& Lowering::operand(std::size_t number) const {
  if (number >= current_->operands.size()) fail(fmt::format("operand {} is missing", number + 1));
  return current_->operands[number];
}

Type Lowering::type(Modifiers& modifiers) const {
  const auto type = modifiers.take_type();
  if (!type) fail("no type");
  if (type->bits == 128) reject("128-bit values not supported");
  return *type;
}

Type Lowering::integer_type(Modifiers& modifiers) const {
  const Type found = type(modifiers);
  if (found.kind == 'f') reject(fmt::format("floating point of type .f{} not supported", found.bits));
  return found;
}

bool Lowering::is_predicate(int reg) const {
  return kernel_.registers[static_cast<std::size_t>(reg)].type == "pred";
}

Lowering::Slot& Lowering::slot(int reg) {
  Slot& slot = slots_[static_cast<std::size_t>(reg)];
  if (slot.lo != ir::none) return slot;
  const std::string& name = kernel_.registers[static_cast<std::size_t>(reg)].type;
  const auto type = parse_type(name);
  if (!type) fail(fmt::format("register type .{}", name));
  if (type->kind == 'p') {
    slot.lo = result_.function.new_predicate();
    return slot;
  }
  if (type->bits > 64) reject("128-bit registers not supported");
  slot.lo = result_.function.new_register();
  if (type->bits == 64) slot.hi = result_.function.new_register();
  return slot;
}

int Lowering::register_bits(const Operand& operand) const {
  const auto type = parse_type(kernel_.registers[static_cast<std::size_t>(operand.index)].type);
  return type ? type->bits : 0;
}

void Lowering::check_width(const Operand& operand, int bits, bool wider_allowed) const {
  if (operand.kind != Kind::Register) return;
  const int have = register_bits(operand);
  if (is_predicate(operand.index) || (wider_allowed ? have < bits : have != bits))
    fail(fmt::format("register {} is a .{}", operand.name,
                     kernel_.registers[static_cast<std::size_t>(operand.index)].type));
}

// PTX ISA, chapter 10.
std::optional<Value> Lowering::special_register(const std::string& name) {
  static const std::unordered_map<std::string_view, Value> table = {
      {"%tid.x", Value::special(isa::Special::TidX)},
      {"%tid.y", Value::special(isa::Special::TidY)},
      {"%tid.z", Value::special(isa::Special::TidZ)},
      {"%tid.w", Value::imm(0)},
      {"%laneid", Value::special(isa::Special::LaneId)},
      {"%warpid", Value::special(isa::Special::WarpId)},
      {"%ntid.x", Value::constant(isa::constant::ntid)},
      {"%ntid.y", Value::constant(isa::constant::ntid + 4)},
      {"%ntid.z", Value::constant(isa::constant::ntid + 8)},
      {"%ntid.w", Value::imm(1)},
      {"%nctaid.x", Value::constant(isa::constant::nctaid)},
      {"%nctaid.y", Value::constant(isa::constant::nctaid + 4)},
      {"%nctaid.z", Value::constant(isa::constant::nctaid + 8)},
      {"%nctaid.w", Value::imm(1)},
      {"%ctaid.x", Value::constant(isa::constant::ctaid)},
      {"%ctaid.y", Value::constant(isa::constant::ctaid + 4)},
      {"%ctaid.z", Value::constant(isa::constant::ctaid + 8)},
      {"%ctaid.w", Value::imm(0)},
      {"%gridid", Value::imm(1)},
      {"%smid", Value::imm(0)},  // there is one multiprocessor
      {"%nsmid", Value::imm(1)},
      {"WARP_SZ", Value::imm(isa::Parameters::warp_lanes)},
  };
  if (const auto found = table.find(name); found != table.end()) return found->second;
  for (const char* mask : {"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"})
    if (name == mask) return lane_mask(emit_, name);
  if (name == "%nwarpid") {
    const std::uint32_t lanes = isa::Parameters::warp_lanes, log = 5;
    static_assert(isa::Parameters::warp_lanes == 1 << 5);
    return emit_.op(Op::ShrU, emit_.op(Op::Iadd, block_threads(), Value::imm(lanes - 1)), Value::imm(log));
  }
  return std::nullopt;
}

Value Lowering::extend(Value value, Type type) {
  if (type.bits >= 32) return value;
  const std::uint32_t bits = static_cast<std::uint32_t>(type.bits);
  if (!type.is_signed()) return emit_.op(Op::And, value, Value::imm((1u << bits) - 1));
  if (value.is_immediate()) {
    const std::uint32_t moved = value.number << (32 - bits);
    return Value::imm(static_cast<std::uint32_t>(static_cast<std::int32_t>(moved) >> (32 - bits)));
  }
  return emit_.op(Op::ShrS, emit_.op(Op::Shl, value, Value::imm(32 - bits)), Value::imm(32 - bits));
}

Value Lowering::read(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Kind::Register: {
      if (is_predicate(operand.index)) fail(fmt::format("{} is a predicate", operand.name));
      if (register_bits(operand) == 64) fail(fmt::format("register {} is a .b64", operand.name));
      if (operand.value != 0) fail(fmt::format("register {} with an offset", operand.name));
      const Value value = Value::reg(slot(operand.index).lo);
      return type.is_signed() && type.bits < 32 ? extend(value, type) : value;
    }
    case Kind::Integer: {
      const std::uint32_t value = static_cast<std::uint32_t>(operand.value);
      if (type.bits >= 32) return Value::imm(value);
      if (type.is_signed()) return extend(Value::imm(value), type);
      return Value::imm(value & ((1u << type.bits) - 1));
    }
    case Kind::Float: {
      if (type.bits != 32) reject("this floating-point constant not supported");
      if (operand.bits == 32) return Value::imm(static_cast<std::uint32_t>(operand.value));
      // PTX ISA 4.5.2: written in decimal they are 64 bits wide, and converted to the type of their use.
      return Value::imm(
          std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value))));
    }
    case Kind::Symbol: {
      if (const auto value = special_register(operand.name)) return *value;
      if (operand.name.starts_with("%"))
        reject(fmt::format("special register {} not supported", operand.name));
      const auto copy = parameter_copies_.find(operand.name);
      const Value address = copy == parameter_copies_.end()
                                ? variable_address(variable(operand.name))
                                : variable_address({Variables::Place::Space::Local, copy->second});
      return emit_.op(Op::Iadd, address, Value::imm(static_cast<std::uint32_t>(operand.value)));
    }
    default:
      fail("this operand is not a register or a constant");
  }
}

Value Lowering::read_low(const Operand& operand, Type type) {
  if (operand.kind == Kind::Register && register_bits(operand) == 64) return read_pair(operand, type).lo;
  return read(operand, type);
}

Pair Lowering::read_pair(const Operand& operand, Type type) {
  switch (operand.kind) {
    case Kind::Register: {
      check_width(operand, 64);
      const Slot& found = slot(operand.index);
      return {Value::reg(found.lo), Value::reg(found.hi)};
    }
    case Kind::Integer:
      return ir::pair_of(operand.value);
    case Kind::Float:
      if (operand.bits != 64) fail("this constant does not have 64 bits");
      return ir::pair_of(operand.value);
    default:
      return ir::zero_extended(read(operand, type));
  }
}

Predicate Lowering::read_predicate(const Operand& operand) const {
  if (operand.kind == Kind::Integer) return operand.value != 0 ? ir::always : ir::never;
  if (operand.kind != Kind::Register || !is_predicate(operand.index)) fail("this operand is not a predicate");
  const int index = const_cast<Lowering*>(this)->slot(operand.index).lo;
  return {index, operand.negated};
}

void Lowering::write(const Operand& operand, Type type, Value value) {
  if (operand.kind == Kind::Sink) return;
  if (operand.kind != Kind::Register) fail("the destination is not a register");
  if (is_predicate(operand.index)) fail(fmt::format("{} is a predicate", operand.name));
  if (register_bits(operand) == 64) fail(fmt::format("register {} is a .b64", operand.name));
  if (type.bits < 32 || register_bits(operand) < 32)
    value = extend(value, {'u', std::max(16, std::min(type.bits, register_bits(operand)))});
  emit_.move_to(slot(operand.index).lo, value);
}

void Lowering::write_pair(const Operand& operand, Pair value) {
  if (operand.kind == Kind::Sink) return;
  if (operand.kind != Kind::Register) fail("the destination is not a register");
  check_width(operand, 64);
  const Slot target = slot(operand.index);
  emit_.move_to(target.lo, value.lo);
  emit_.move_to(target.hi, value.hi);
}

void Lowering::write_predicate(const Operand& operand, Predicate value) {
  if (operand.kind == Kind::Sink) return;
  if (operand.kind != Kind::Register || !is_predicate(operand.index))
    fail("the destination is not a predicate");
  emit_.predicate_to(slot(operand.index).lo, value);
}

ir::Emitter::Place Lowering::address(const Operand& operand, std::string_view space) {
  if (operand.kind != Kind::Address) fail("this operand is not an address");
  const Operand& base = operand.elements.front();
  const std::uint32_t offset = static_cast<std::uint32_t>(operand.value);
  const std::uint32_t window = space == "shared" ? isa::Parameters::shared_window : 0;
  switch (base.kind) {
    case Kind::Register:
      if (is_predicate(base.index) || register_bits(base) < 32)
        fail("the address is not a 32-bit or 64-bit register");
      return {Value::reg(slot(base.index).lo), offset + window};
    case Kind::Integer:
      return {Value::imm(static_cast<std::uint32_t>(base.value)), offset + window};
    default: {
      const Variables::Place& place = variable(base.name);
      const bool shared = place.space == Variables::Place::Space::Shared;
      if (shared ? space != "shared" && space != "generic" : space == "shared")
        fail(fmt::format("{} is not in .{} memory", base.name, space));
      return {variable_address(place), offset + (shared ? isa::Parameters::shared_window : 0)};
    }
  }
}

const Variables::Place& Lowering::variable(const std::string& name) const {
  if (const Variables::Place* place = variables_.find(name)) return *place;
  if (find_parameter(name) != nullptr)
    reject(fmt::format("the address of parameter {} not supported here", name));
  if (is_local_parameter(name)) reject(fmt::format("function calls (variable {}) not supported", name));
  for (const syntax::Variable& variable : module_.variables)
    if (variable.name == name) reject(fmt::format("textures and surfaces (variable {}) not supported", name));
  for (const syntax::Function& function : module_.functions)
    if (function.name == name) reject(fmt::format("the address of function {} not supported", name));
  fail(fmt::format("{} is not declared", name));
}

// In the address space of the variable.
Value Lowering::variable_address(const Variables::Place& place) {
  if (place.space != Variables::Place::Space::Local) return Value::imm(place.address);
  return emit_.op(Op::Iadd, local_memory(Value::special(isa::Special::Thread)), Value::imm(place.address));
}

// The parts of the threads follow one another.
Value Lowering::local_memory(Value thread) {
  const Value part =
      emit_.op(Op::Imul, thread, Value::imm(static_cast<std::uint32_t>(variables_.local_bytes())));
  return emit_.op(Op::Iadd, part, Value::constant(isa::constant::local));
}

int Lowering::carry() {
  if (carry_ == ir::none) carry_ = result_.function.new_predicate();
  return carry_;
}

ir::Emitter::Place Lowering::warp_scratch(Value thread) { return {local_memory(thread), warp_scratch_}; }

Value Lowering::block_threads() {
  const auto size = [](std::uint32_t axis) { return Value::constant(isa::constant::ntid + 4 * axis); };
  return emit_.op(Op::Imul, emit_.op(Op::Imul, emit_.fresh(size(0)), size(1)), size(2));
}

const isa::KernelParameter* Lowering::find_parameter(const std::string& name) const {
  for (const isa::KernelParameter& parameter : result_.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

bool Lowering::is_local_parameter(const std::string& name) const {
  return std::any_of(kernel_.variables.begin(), kernel_.variables.end(),
                     [&](const syntax::Variable& v) { return v.space == "param" && v.name == name; });
}

}  // namespace qwengpu::ptx

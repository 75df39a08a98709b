#include "ptx/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "isa/parameters.h"

namespace qwengpu::ptx {

using ir::Pair;
using ir::Predicate;
using ir::Value;
using isa::Op;
using syntax::Instruction;
using Kind = syntax::Operand::Kind;

std::optional<Type> parse_type(std::string_view text) {
  if (text == "pred") return Type{'p', 1};
  if (text.size() < 2 || std::string_view("usbf").find(text[0]) == std::string_view::npos)
    return std::nullopt;
  for (const int bits : {8, 16, 32, 64, 128})
    if (text.substr(1) == std::to_string(bits)) return Type{text[0], bits};
  return std::nullopt;
}

bool Modifiers::take(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return false;
  names_.erase(found);
  return true;
}

std::optional<Type> Modifiers::take_type() {
  for (auto name = names_.begin(); name != names_.end(); ++name)
    if (const auto type = parse_type(*name)) {
      names_.erase(name);
      return type;
    }
  return std::nullopt;
}

std::string Modifiers::take_any(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (take(name)) return std::string(name);
  return {};
}

// Groups of opcodes, by what the machine lacks for them.
std::string missing(const Instruction& instruction) {
  static const std::unordered_map<std::string_view, std::string_view> reasons = {
      {"bar", "barriers"},
      {"barrier", "barriers"},
      {"mbarrier", "barriers"},
      {"atom", "atomic operations"},
      {"red", "atomic operations"},
      {"call", "function calls"},
      {"brx", "indirect branches"},
      {"alloca", "local memory"},
      {"stacksave", "local memory"},
      {"stackrestore", "local memory"},
      {"trap", "traps"},
      {"brkpt", "traps"},
      {"shfl", "warp operations"},
      {"vote", "warp operations"},
      {"match", "warp operations"},
      {"activemask", "warp operations"},
      {"redux", "warp operations"},
      {"elect", "warp operations"},
      {"tex", "textures and surfaces"},
      {"tld4", "textures and surfaces"},
      {"txq", "textures and surfaces"},
      {"suld", "textures and surfaces"},
      {"sust", "textures and surfaces"},
      {"sured", "textures and surfaces"},
      {"wmma", "matrix operations"},
      {"mma", "matrix operations"},
      {"ldmatrix", "matrix operations"},
      {"wgmma", "matrix operations"},
      {"stmatrix", "matrix operations"},
      {"addc", "arithmetic with carry"},
      {"subc", "arithmetic with carry"},
      {"madc", "arithmetic with carry"},
  };
  for (const std::string_view type : {"f16", "f16x2", "bf16", "bf16x2", "f64", "tf32"})
    if (std::find(instruction.modifiers.begin(), instruction.modifiers.end(), type) !=
        instruction.modifiers.end())
      return fmt::format("floating point of type .{} not supported", type);
  const auto found = reasons.find(instruction.opcode);
  return std::string(found == reasons.end() ? "this instruction" : found->second) + " not supported";
}

namespace {

const Handler* find_handler(const Instruction& instruction) {
  const std::string& opcode = instruction.opcode;
  const auto& modifiers = instruction.modifiers;
  if (std::find(modifiers.begin(), modifiers.end(), "f32") != modifiers.end())
    if (const auto found = float_handlers().find(opcode); found != float_handlers().end())
      return &found->second;
  for (const HandlerTable* table :
       {&integer_handlers(), &move_handlers(), &memory_handlers(), &control_handlers()})
    if (const auto found = table->find(opcode); found != table->end()) return &found->second;
  return nullptr;
}

}  // namespace

Lowered lower(const syntax::Module& module, const syntax::Function& kernel, const std::string& path) {
  return Lowering(module, kernel, path).run();
}

Lowering::Lowering(const syntax::Module& module, const syntax::Function& kernel, const std::string& path)
    : module_(module),
      kernel_(kernel),
      path_(path),
      emit_(result_.function),
      slots_(kernel.registers.size()) {}

void Lowering::fail(const std::string& what) const {
  Location where = current_ != nullptr ? current_->where : kernel_.where;
  where.file = path_;
  throw SyntaxError(where, current_ != nullptr ? fmt::format("{}: {}", text_of(*current_), what) : what);
}

// ---- The kernel ----

// PTX ISA 5.2 and 7.1: parameters follow one another, each at a multiple of its alignment.
void Lowering::lay_out_parameters() {
  std::uint64_t offset = 0;
  for (const syntax::Variable& variable : kernel_.parameters) {
    const auto type = parse_type(variable.type);
    if (!type || type->kind == 'p')
      fail(fmt::format("parameter {} has type .{}", variable.name, variable.type));
    const std::uint64_t size = static_cast<std::uint64_t>(type->bits) / 8;
    const std::uint64_t alignment =
        std::max<std::uint64_t>(static_cast<std::uint64_t>(variable.alignment), size);
    const std::uint64_t bytes = size * variable.elements;
    offset = (offset + alignment - 1) / alignment * alignment;
    isa::KernelParameter parameter;
    parameter.name = variable.name;
    parameter.ptx_type =
        variable.array ? fmt::format("{}[{}]", variable.type, variable.elements) : variable.type;
    if (offset + bytes > isa::constant::parameter_bytes)
      throw TooLarge(fmt::format("kernel {} has more than {} bytes of parameters", kernel_.name,
                                 isa::constant::parameter_bytes));
    parameter.offset = static_cast<int>(offset);
    parameter.bytes = static_cast<int>(bytes);
    parameter.pointer = variable.pointer;
    offset += bytes;
    result_.parameters.push_back(std::move(parameter));
  }
  result_.parameter_bytes = static_cast<int>(offset);
}

Lowered Lowering::run() {
  lay_out_parameters();
  for (const auto& [name, instruction] : kernel_.labels)
    if (label_blocks_.count(instruction) == 0) label_blocks_[instruction] = emit_.new_block();
  for (std::size_t n = 0; n <= kernel_.body.size(); ++n) {
    if (const auto label = label_blocks_.find(n); label != label_blocks_.end()) {
      emit_.jump(label->second);
      emit_.start(label->second);
    }
    if (n < kernel_.body.size()) lower_instruction(kernel_.body[n]);
  }
  emit_.exit();
  if (!diagnostics_.empty()) throw Unsupported(kernel_.name, std::move(diagnostics_));
  return std::move(result_);
}

int Lowering::line_of(const Instruction& instruction) {
  ir::Line line{instruction.loc_file, instruction.loc_line};
  if (line.line == 0) line = {0, instruction.where.line};
  auto& lines = result_.function.lines;
  if (lines.back() != line) lines.push_back(line);
  return static_cast<int>(lines.size()) - 1;
}

std::optional<Predicate> Lowering::guard() const {
  if (!current_->guard) return std::nullopt;
  return Predicate{slots_[static_cast<std::size_t>(current_->guard->predicate)].lo, current_->guard->negated};
}

// Only branches and exits use their guard themselves; anything else is branched around (predicate_blocks() in
// simplify.h makes one guarded instruction of it again where that is possible).
void Lowering::lower_instruction(const Instruction& instruction) {
  current_ = &instruction;
  emit_.line = line_of(instruction);
  if (instruction.guard && !is_predicate(instruction.guard->predicate)) fail("the guard is not a predicate");
  if (instruction.guard) slot(instruction.guard->predicate);
  const bool skips = instruction.guard && control_handlers().count(instruction.opcode) == 0;
  int after = ir::none;
  if (skips) {
    const int inside = emit_.new_block();
    after = emit_.new_block();
    emit_.branch(*guard(), inside, after);
    emit_.start(inside);
  }
  try {
    const Handler* handler = find_handler(instruction);
    if (handler == nullptr) reject(missing(instruction));
    Modifiers modifiers(instruction.modifiers);
    (*handler)(*this, instruction, modifiers);
    if (!modifiers.rest().empty()) reject(fmt::format(".{} not supported", modifiers.rest().front()));
  } catch (const Reject& rejected) {
    report(instruction, rejected.reason);
  }
  if (skips) {
    emit_.jump(after);
    emit_.start(after);
  }
  current_ = nullptr;
}

std::string Lowering::text_of(const Instruction& instruction) const { return instruction.text(); }

void Lowering::report(const Instruction& instruction, const std::string& reason) {
  Diagnostic diagnostic;
  diagnostic.where = instruction.where;
  diagnostic.where.file = path_;
  if (const auto file = module_.files.find(instruction.loc_file);
      instruction.loc_line > 0 && file != module_.files.end())
    diagnostic.where = {file->second, instruction.loc_line, 0};
  diagnostic.construct = text_of(instruction);
  if (instruction.opcode == "call")
    for (const Operand& operand : instruction.operands)
      if (operand.kind == Kind::Symbol) diagnostic.construct += " " + operand.name;
  diagnostic.reason = reason;
  if (std::find(diagnostics_.begin(), diagnostics_.end(), diagnostic) == diagnostics_.end())
    diagnostics_.push_back(std::move(diagnostic));
}

// ---- Operands ----

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
std::optional<Value> Lowering::special_register(const std::string& name) const {
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
      {"%smid", Value::imm(0)},  // there is one multiprocessor
      {"%nsmid", Value::imm(1)},
      {"WARP_SZ", Value::imm(isa::Parameters::warp_lanes)},
  };
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
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
      reject_variable(operand.name);
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

Lowering::Address Lowering::address(const Operand& operand) {
  if (operand.kind != Kind::Address) fail("this operand is not an address");
  const Operand& base = operand.elements.front();
  const std::uint32_t offset = static_cast<std::uint32_t>(operand.value);
  switch (base.kind) {
    case Kind::Register:
      if (is_predicate(base.index) || register_bits(base) < 32)
        fail("the address is not a 32-bit or 64-bit register");
      return {Value::reg(slot(base.index).lo), offset};
    case Kind::Integer:
      return {Value::imm(static_cast<std::uint32_t>(base.value)), offset};
    default:
      reject_variable(base.name);
  }
}

void Lowering::reject_variable(const std::string& name) const {
  const auto named = [&](const syntax::Variable& variable) { return variable.name == name; };
  for (const auto* list : {&kernel_.variables, &module_.variables}) {
    const auto found = std::find_if(list->begin(), list->end(), named);
    if (found == list->end()) continue;
    static const std::unordered_map<std::string_view, std::string_view> reasons = {
        {"shared", "shared memory"},  {"local", "local memory"},
        {"const", "constant memory"}, {"global", "variables in global memory"},
        {"param", "function calls"},  {"tex", "textures and surfaces"}};
    const auto reason = reasons.find(found->space);
    reject(fmt::format("{} (variable {}) not supported",
                       reason == reasons.end() ? "variables" : reason->second, name));
  }
  if (find_parameter(name) != nullptr) reject(fmt::format("the address of parameter {} not supported", name));
  for (const syntax::Function& function : module_.functions)
    if (function.name == name) reject(fmt::format("the address of function {} not supported", name));
  fail(fmt::format("{} is not declared", name));
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

int Lowering::block_of_label(const Operand& operand) {
  if (operand.kind != Kind::Symbol) fail("the target is not a label");
  const auto instruction = kernel_.find_label(operand.name, current_->scope);
  if (!instruction) fail(fmt::format("label {} is not declared", operand.name));
  return label_blocks_.at(*instruction);
}

}  // namespace qwengpu::ptx

#include "ptx/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "isa/parameters.h"
#include "isa/request.h"

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
      {"mbarrier", "asynchronous barriers"},
      {"call", "function calls"},
      {"brx", "indirect branches"},
      {"alloca", "a stack of variable size"},
      {"stacksave", "a stack of variable size"},
      {"stackrestore", "a stack of variable size"},
      {"trap", "traps"},
      {"brkpt", "traps"},
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
       {&integer_handlers(), &product_handlers(), &move_handlers(), &memory_handlers(), &atomic_handlers(),
        &barrier_handlers(), &warp_handlers(), &control_handlers()})
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
      variables_(module, kernel, path),
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

// What the machine keeps in memory for the kernel, besides its variables.
void Lowering::reserve_memory() {
  for (const Instruction& i : kernel_.body)
    for (const Operand& operand : i.operands)
      if (const isa::KernelParameter* parameter = find_parameter(operand.name);
          parameter != nullptr && operand.kind == Kind::Symbol && parameter_copies_.count(operand.name) == 0)
        parameter_copies_[operand.name] =
            variables_.add_local(static_cast<std::uint32_t>(parameter->bytes), 16);
  bool named = false, scratch = false;
  for (const Instruction& i : kernel_.body) {
    scratch |= i.opcode == "redux";
    const BarrierUse use = barrier_use(i);
    named |= use.named;
    if (use.counts && barrier_counts_.count(*use.counts) == 0)
      barrier_counts_[*use.counts] = variables_.add_global(4, 4);
  }
  if (named) result_.named_barriers = variables_.add_global(16 * isa::request::barriers, 16);
  if (scratch) warp_scratch_ = variables_.add_local(4, 4);
}

void Lowering::copy_parameters() {
  for (const auto& [name, local] : parameter_copies_) {
    const isa::KernelParameter& parameter = *find_parameter(name);
    const Value part = local_memory(Value::special(isa::Special::Thread));
    for (int at = 0; at < parameter.bytes; at += 4)
      emit_.store(
          Op::St, {part, local + static_cast<std::uint32_t>(at)},
          Value::constant(static_cast<std::uint32_t>(isa::constant::parameters + parameter.offset + at)));
  }
}

Lowered Lowering::run() {
  lay_out_parameters();
  reserve_memory();
  copy_parameters();
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
  result_.shared_bytes = variables_.shared_bytes();
  result_.local_bytes = variables_.local_bytes();
  result_.variables = variables_.image();
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

int Lowering::block_of_label(const Operand& operand) {
  if (operand.kind != Kind::Symbol) fail("the target is not a label");
  const auto instruction = kernel_.find_label(operand.name, current_->scope);
  if (!instruction) fail(fmt::format("label {} is not declared", operand.name));
  return label_blocks_.at(*instruction);
}

}  // namespace qwengpu::ptx

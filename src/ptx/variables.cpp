#include "ptx/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "isa/parameters.h"
#include "ptx/lower.h"

namespace qwengpu::ptx {

using isa::Parameters;
using syntax::Initial;
using syntax::Operand;
using syntax::Variable;

namespace {

template <class Visit>
void for_each_symbol(const Operand& operand, const Visit& visit) {
  if (operand.kind == Operand::Kind::Symbol) visit(operand.name);
  for (const Operand& element : operand.elements) for_each_symbol(element, visit);
}

std::uint64_t up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool is_dynamic(const Variable& v) { return v.space == "shared" && v.elements == 0; }

}  // namespace

Variables::Variables(const syntax::Module& module, const syntax::Function& kernel, const std::string& path)
    : module_(module), kernel_(kernel), path_(path) {
  for (const syntax::Instruction& i : kernel.body)
    for (const Operand& operand : i.operands)
      for_each_symbol(operand, [&](const std::string& name) {
        if (const Variable* variable = declared(name)) collect(*variable);
      });
  for (const char* space : {"const", "global", "shared", "local"}) {
    for (const Variable* variable : order_)
      if (variable->space == space && !is_dynamic(*variable)) place(*variable);
    if (space == std::string_view("const"))
      constant_end_ = Parameters::first_allocation + static_cast<std::uint32_t>(image_.size());
  }
  // Arrays whose size the launch gives all begin behind the others.
  std::uint64_t alignment = 0;
  for (const Variable* variable : order_)
    if (is_dynamic(*variable))
      alignment =
          std::max<std::uint64_t>({alignment, alignment_of(*variable), Parameters::dynamic_shared_alignment});
  if (alignment != 0) shared_ = up(shared_, alignment);
  for (const Variable* variable : order_)
    if (is_dynamic(*variable))
      places_[variable->name] = {Place::Space::Shared, static_cast<std::uint32_t>(shared_)};
  for (const Variable* variable : order_) fill(*variable);
}

void Variables::fail(const Variable& variable, const std::string& what) const {
  Location where = variable.where;
  where.file = path_;
  throw SyntaxError(where, what);
}

void Variables::too_large(const Variable& variable, const char* space, int bytes) const {
  Location where = variable.where;
  where.file = path_;
  throw TooLarge(fmt::format("{}: variable {} does not fit; there are {} bytes of {} memory",
                             to_string(where), variable.name, bytes, space));
}

const Variable* Variables::declared(const std::string& name) const {
  const Variable* found = nullptr;
  for (const auto* list : {&kernel_.variables, &module_.variables})
    for (const Variable& variable : *list)
      // Textures, surfaces and samplers have types of their own.
      if (variable.name == name && variable.space != "param" && parse_type(variable.type)) {
        // A declaration and a definition of the same variable may both be there.
        if (found == nullptr || found->external) found = &variable;
      }
  return found;
}

void Variables::collect(const Variable& variable) {
  if (!used_.emplace(variable.name, &variable).second) return;
  order_.push_back(&variable);
  for (const Initial& initial : variable.initial)
    if (initial.kind == Initial::Kind::Address)
      if (const Variable* other = declared(initial.name)) collect(*other);
}

std::uint64_t Variables::bytes_of(const Variable& variable) const {
  const auto type = parse_type(variable.type);
  if (!type || type->kind == 'p')
    fail(variable, fmt::format("variable {} has type .{}", variable.name, variable.type));
  return static_cast<std::uint64_t>(type->bits) / 8 * variable.elements;
}

std::uint32_t Variables::alignment_of(const Variable& variable) const {
  const auto type = parse_type(variable.type);
  if (!type || type->kind == 'p')
    fail(variable, fmt::format("variable {} has type .{}", variable.name, variable.type));
  const int natural = type->bits / 8 * variable.vector;
  if (variable.alignment == 0) return static_cast<std::uint32_t>(natural);
  if (!std::has_single_bit(static_cast<unsigned>(variable.alignment)) ||
      variable.alignment > Parameters::allocation_alignment)
    fail(variable, fmt::format("variable {}: .align {} is not a power of two up to {}", variable.name,
                               variable.alignment, Parameters::allocation_alignment));
  return static_cast<std::uint32_t>(variable.alignment);
}

void Variables::place(const Variable& variable) {
  const std::uint64_t bytes = bytes_of(variable), alignment = alignment_of(variable);
  Place& place = places_[variable.name];
  if (variable.space == "shared") {
    place.space = Place::Space::Shared;
    shared_ = up(shared_, alignment);
    place.address = static_cast<std::uint32_t>(shared_);
    if (bytes > Parameters::shared_bytes || shared_ + bytes > Parameters::shared_bytes)
      too_large(variable, "shared", Parameters::shared_bytes);
    shared_ += bytes;
  } else if (variable.space == "local") {
    place.space = Place::Space::Local;
    if (bytes > Parameters::global_bytes || local_ + bytes > Parameters::global_bytes)
      too_large(variable, "local", Parameters::global_bytes);
    place.address = add_local(static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(alignment));
  } else {
    if (variable.external)
      fail(variable, fmt::format("variable {} is declared, but not defined", variable.name));
    place.space = variable.space == "const" ? Place::Space::Constant : Place::Space::Global;
    const std::uint64_t limit = Parameters::global_bytes - Parameters::first_allocation;
    if (bytes > limit || image_.size() + alignment + bytes > limit)
      too_large(variable, "global", Parameters::global_bytes);
    place.address = add_global(static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(alignment));
  }
}

std::uint32_t Variables::add_global(std::uint32_t bytes, std::uint32_t alignment) {
  image_.resize(up(image_.size(), alignment));
  const std::size_t at = image_.size();
  image_.resize(at + bytes);
  return Parameters::first_allocation + static_cast<std::uint32_t>(at);
}

std::uint32_t Variables::add_local(std::uint32_t bytes, std::uint32_t alignment) {
  local_alignment_ = std::max<std::uint64_t>(local_alignment_, alignment);
  local_ = up(local_, alignment);
  const auto at = static_cast<std::uint32_t>(local_);
  local_ += bytes;
  return at;
}

// The image is in memory's order of bytes.
void Variables::fill(const Variable& variable) {
  if (variable.initial.empty()) return;
  if (variable.space != "global" && variable.space != "const")
    fail(variable,
         fmt::format("variable {} of .{} memory has initial values", variable.name, variable.space));
  const Type type = *parse_type(variable.type);
  const std::uint32_t first = places_.at(variable.name).address - Parameters::first_allocation;
  const auto bytes = static_cast<std::size_t>(type.bits) / 8;
  for (const Initial& initial : variable.initial) {
    std::uint64_t value = initial.value;
    if (initial.kind == Initial::Kind::Float || type.kind == 'f') {
      // Numbers in decimal are 64 bits wide, and converted to the type of the variable.
      const bool number = initial.kind == Initial::Kind::Integer;
      const double real =
          number ? static_cast<double>(static_cast<std::int64_t>(value)) : std::bit_cast<double>(value);
      if (type.bits == 32 && (number || initial.bits == 64))
        value = std::bit_cast<std::uint32_t>(static_cast<float>(real));
      else if (type.bits == 64 && number)
        value = std::bit_cast<std::uint64_t>(real);
      else if (type.bits != initial.bits)
        fail(variable,
             fmt::format("variable {}: a floating-point value in type .{}", variable.name, variable.type));
    }
    if (initial.kind == Initial::Kind::Address) {
      const Place* place = find(initial.name);
      if (place == nullptr)
        fail(variable, fmt::format("variable {}: the address of {}, which is no variable", variable.name,
                                   initial.name));
      if (place->space != Place::Space::Global && place->space != Place::Space::Constant)
        fail(variable, fmt::format("variable {}: the address of {}, which is not in global memory",
                                   variable.name, initial.name));
      value += place->address;
      if (initial.mask != 0) value = (value & initial.mask) >> std::countr_zero(initial.mask);
    }
    for (std::size_t byte = 0; byte < std::min<std::size_t>(bytes, 8); ++byte)
      image_[first + bytes * initial.element + byte] = static_cast<std::uint8_t>(value >> (8 * byte));
  }
}

const Variables::Place* Variables::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

}  // namespace qwengpu::ptx

#include "ptx/facts.h"

#include <algorithm>
#include <bit>

#include "isa/parameters.h"

namespace qwengpu::ptx::ir {

using isa::Op;

const Instruction* Facts::source(const Value& value) const {
  return value.is_register() ? definitions_.single(function_, value.index()) : nullptr;
}

const Instruction* Facts::source(const Predicate& predicate) const {
  return predicate.fixed() ? nullptr : definitions_.single_predicate(function_, predicate.index);
}

bool Facts::is_single(const Value& value) const {
  return value.is_fixed() || definitions_.registers[value.number].count == 1;
}

namespace {

std::uint32_t ones_below(std::uint64_t maximum) {
  const int bits = std::min(static_cast<int>(std::bit_width(maximum)), 32);
  return bits == 32 ? 0xffffffff : (1u << bits) - 1;
}

std::uint32_t ones_of_special(std::uint32_t number) {
  using isa::Parameters;
  switch (static_cast<isa::Special>(number)) {
    case isa::Special::TidX:
      return ones_below(Parameters::max_block_x - 1);
    case isa::Special::TidY:
      return ones_below(Parameters::max_block_y - 1);
    case isa::Special::TidZ:
      return ones_below(Parameters::max_block_z - 1);
    case isa::Special::LaneId:
      return Parameters::warp_lanes - 1;
    case isa::Special::WarpId:
      return ones_below(Parameters::max_threads / Parameters::warp_lanes - 1);
    case isa::Special::Thread:
      return ones_below(Parameters::max_threads - 1);
    case isa::Special::QuadLane:
      return Parameters::lanes - 1;
    default:
      return 0xffffffff;
  }
}

std::uint32_t ones_of_constant(std::uint32_t address) {
  using isa::Parameters;
  namespace bank = isa::constant;
  switch (address) {
    case bank::ntid:
    case bank::ntid + 4:
      return ones_below(Parameters::max_block_x);
    case bank::ntid + 8:
      return ones_below(Parameters::max_block_z);
    case bank::nctaid:
    case bank::ctaid:
      return ones_below(Parameters::max_grid_x);
    case bank::nctaid + 4:
    case bank::nctaid + 8:
    case bank::ctaid + 4:
    case bank::ctaid + 8:
      return ones_below(Parameters::max_grid_y);
    default:
      return 0xffffffff;
  }
}

}  // namespace

std::uint32_t Facts::possible_ones(const Value& value, int depth) const {
  if (value.is_immediate()) return value.number;
  if (value.kind == Value::Kind::Special) return ones_of_special(value.number);
  if (value.kind == Value::Kind::Constant) return ones_of_constant(value.number);
  const Instruction* i = source(value);
  if (i == nullptr || depth > 6) return 0xffffffff;
  const auto a = [&] { return possible_ones(i->a, depth + 1); };
  const auto b = [&] { return possible_ones(i->b, depth + 1); };
  switch (i->op) {
    case Op::Mov:
      return b();
    case Op::And:
      return a() & b();
    case Op::Or:
    case Op::Xor:
    case Op::Sel:
      return a() | b();
    case Op::IminU:
      return ones_below(std::min(a(), b()));
    case Op::ImaxU:
      return ones_below(std::max(a(), b()));
    case Op::Iadd:
      return ones_below(std::uint64_t{a()} + b());
    case Op::Imul:
      return ones_below(std::uint64_t{a()} * b());
    case Op::Popc:
    case Op::Clz:
      return 63;
    case Op::LdU8:
      return 0xff;
    case Op::LdU16:
      return 0xffff;
    case Op::BfeU:
      return i->b.is_immediate() ? ones_below((std::uint64_t{1} << std::min(i->b.number >> 8 & 255, 32u)) - 1)
                                 : 0xffffffff;
    case Op::ShfL: {
      if (!i->b.is_immediate() || i->b.number % 32 == 0) return 0xffffffff;
      const std::uint32_t n = i->b.number % 32;
      return possible_ones(i->c, depth + 1) << n | a() >> (32 - n);
    }
    case Op::Shl:
      return i->b.is_immediate() && i->b.number < 32 ? a() << i->b.number : 0xffffffff;
    case Op::ShrU:
      return i->b.is_immediate() && i->b.number < 32 ? a() >> i->b.number : ones_below(a());
    case Op::ShrS: {
      const std::uint32_t bits = a();
      if (bits >> 31 != 0) return 0xffffffff;
      return i->b.is_immediate() ? (i->b.number < 32 ? bits >> i->b.number : 0) : ones_below(bits);
    }
    default:
      return 0xffffffff;
  }
}

// Within one block only: positions between the two sites.
bool Facts::written_between(const Value& value, Site from, Site to) const {
  const auto& code = function_.blocks[static_cast<std::size_t>(from.block)].code;
  for (int p = from.position; p < to.position; ++p)
    if (code[static_cast<std::size_t>(p)].d == value.index()) return true;
  return false;
}

bool Facts::available(const Value& value, Site from, Site to) const {
  if (value.is_fixed() || value.kind == Value::Kind::None) return true;
  const Definitions::Entry& entry = definitions_.registers[value.number];
  if (entry.count == 1) return flow_.dominates(entry.site, from) && flow_.dominates(from, to);
  return from.block == to.block && from.position < to.position && !written_between(value, from, to);
}

bool Facts::available(const Predicate& predicate, Site from, Site to) const {
  if (predicate.fixed()) return true;
  const Definitions::Entry& entry = definitions_.predicates[static_cast<std::size_t>(predicate.index)];
  if (entry.count == 1) return flow_.dominates(entry.site, from) && flow_.dominates(from, to);
  if (from.block != to.block || from.position >= to.position) return false;
  const auto& code = function_.blocks[static_cast<std::size_t>(from.block)].code;
  for (int p = from.position; p < to.position; ++p)
    if (code[static_cast<std::size_t>(p)].pd == predicate.index) return false;
  return true;
}

}  // namespace qwengpu::ptx::ir

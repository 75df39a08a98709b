#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <stdexcept>

#include "isa/assembly.h"
#include "isa/assembly_syntax.h"

namespace qwengpu::isa {
namespace {

std::string register_text(int number) { return number == rz ? "RZ" : fmt::format("R{}", number); }

std::string predicate_text(PredicateOperand p) {
  return (p.negated ? "!" : "") + (p.index == pt ? std::string("PT") : fmt::format("P{}", p.index));
}

std::string number_text(std::uint32_t value) {
  if (value < 1024) return fmt::format("{}", value);
  if (value > 0u - 1024) return fmt::format("-{}", 0u - value);
  return fmt::format("{:#x}", value);
}

// 1.5; hexadecimal for what has no short decimal form: infinity, NaN, subnormal numbers.
std::string float_text(std::uint32_t bits) {
  const auto value = std::bit_cast<float>(bits);
  if (value != 0 && !std::isnormal(value)) return fmt::format("{:#x}", bits);
  const std::string text = fmt::format("{}", value);  // the shortest that is this number and no other
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string sign_text(bool negate, bool absolute, const std::string& operand) {
  const std::string magnitude = absolute ? "|" + operand + "|" : operand;
  return negate ? "-" + magnitude : magnitude;
}

std::string plain_b_text(const Instruction& i) {
  switch (i.b_source) {
    case BSource::Register:
      return register_text(i.rb);
    case BSource::Immediate:
      return b_is_float(info(i.op)) ? float_text(i.immediate) : number_text(i.immediate);
    case BSource::Constant:
      return fmt::format("c[{:#x}]", i.immediate);
    case BSource::Special:
      return i.immediate < special_table.size() ? std::string(special_table[i.immediate].spelling)
                                                : fmt::format("SR_{}", i.immediate);
  }
  throw std::invalid_argument("B source does not exist");
}

std::string b_text(const Instruction& i) {
  std::string text = plain_b_text(i);
  if (i.negate_b && !i.absolute_b && i.b_source == BSource::Immediate) text = "(" + text + ")";
  return sign_text(i.negate_b, i.absolute_b, text);
}

std::string memory_text(const Instruction& i) {
  if (i.ra == rz) return fmt::format("[{:#x}]", i.immediate);
  if (i.immediate == 0) return fmt::format("[{}]", register_text(i.ra));
  if (i.immediate >> 31) return fmt::format("[{}-{:#x}]", register_text(i.ra), 0u - i.immediate);
  return fmt::format("[{}+{:#x}]", register_text(i.ra), i.immediate);
}

std::string operand_text(char kind, const Instruction& i) {
  switch (kind) {
    case 'd':
      return register_text(i.rd);
    case 'a':
      return sign_text(i.negate_a, i.absolute_a, register_text(i.ra));
    case 'b':
      return b_text(i);
    case 'c':
      return sign_text(i.negate_c, false, register_text(i.rc));
    case 'p':
      return fmt::format("P{}", i.pd);
    case 'q':
      return predicate_text(i.pa);
    case 'r':
      return predicate_text(i.pb);
    case 'm':
      return memory_text(i);
    case 't':
      return fmt::format("{}", i.target);
    case 'l':
      return fmt::format("{:#04x}", i.table);
    default:
      throw std::logic_error("operand kind is not in the table");
  }
}

}  // namespace

std::string disassemble(const Instruction& i) {
  std::string text;
  if (i.guard != PredicateOperand{}) text = fmt::format("@{} ", predicate_text(i.guard));
  text += info(i.op).mnemonic;
  for (const RoundingName& rounding : rounding_names)
    if (i.rounding == rounding.rounding) text += fmt::format(".{}", rounding.name);
  if (i.flush) text += ".FTZ";
  if (i.saturate) text += ".SAT";
  std::string_view separator = " ";
  for (char kind : info(i.op).operands) {
    if (!is_text_operand(kind)) continue;
    text += separator;
    text += operand_text(kind, i);
    separator = ", ";
  }
  return text;
}

std::string listing(std::span<const Instruction> code) {
  std::map<int, std::string> sources;  // of each branch target
  for (std::size_t n = 0; n < code.size(); ++n)
    if (info(code[n].op).has('t')) sources[code[n].target] += fmt::format(" {}", n);
  std::string text;
  for (std::size_t n = 0; n < code.size(); ++n) {
    const auto source = sources.find(static_cast<int>(n));
    const std::string line = disassemble(code[n]);
    text += source == sources.end() ? fmt::format("{:5}:  {}\n", n, line)
                                    : fmt::format("{:5}:  {:40} ; from{}\n", n, line, source->second);
  }
  return text;
}

}  // namespace qwengpu::isa

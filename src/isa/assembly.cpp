#include "isa/assembly.h"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "isa/assembly_cursor.h"
#include "isa/assembly_syntax.h"
#include "isa/parameters.h"

namespace qwengpu::isa {
namespace {

std::uint32_t parse_number(std::string_view word) {
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  std::uint64_t value = 0;
  const std::string_view digits = hex ? word.substr(2) : word;
  const unsigned base = hex ? 16 : 10;
  if (digits.empty()) throw std::invalid_argument(fmt::format("'{}' is not a number", word));
  for (char c : digits) {
    const unsigned digit = std::isdigit(static_cast<unsigned char>(c)) ? static_cast<unsigned>(c - '0')
                           : std::isxdigit(static_cast<unsigned char>(c))
                               ? static_cast<unsigned>((c | 32) - 'a' + 10)
                               : 99;
    if (digit >= base) throw std::invalid_argument(fmt::format("'{}' is not a number", word));
    value = value * base + digit;
    if (value > 0xffffffffu) throw std::invalid_argument(fmt::format("{} does not fit in 32 bits", word));
  }
  return static_cast<std::uint32_t>(value);
}

std::uint32_t parse_float(std::string_view decimal) {
  float value = 0;
  const auto [end, error] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  if (error != std::errc() || end != decimal.data() + decimal.size())
    throw std::invalid_argument(fmt::format("{} is not a binary32 number", decimal));
  return std::bit_cast<std::uint32_t>(value);
}

constexpr std::uint32_t sign_bit = 0x80000000;

// "R12" -> 12 for the letter 'R'; nothing if the word has another form.
std::optional<int> numbered(std::string_view word, char letter) {
  if (word.size() < 2 || word.size() > 4 || word[0] != letter) return std::nullopt;
  int value = 0;
  for (char c : word.substr(1)) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

std::optional<int> find_register(std::string_view word) {
  if (word == "RZ") return rz;
  const auto number = numbered(word, 'R');
  if (number && *number >= Parameters::max_registers)
    throw std::invalid_argument(
        fmt::format("register {} does not exist: R0 to R{}, RZ", word, Parameters::max_registers - 1));
  return number;
}

std::optional<Special> find_special(std::string_view word) {
  for (const SpecialInfo& special : special_table)
    if (special.spelling == word) return special.special;
  return std::nullopt;
}

struct BranchFixup {
  std::size_t instruction;
  std::string label;
  int line;
};

class Assembler {
 public:
  explicit Assembler(const Constants& constants) : constants_(constants) {}

  std::vector<Instruction> run(std::string_view text) {
    for (int line = 1; !text.empty(); ++line) {
      const std::size_t end = text.find('\n');
      std::string_view content = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      content = content.substr(0, content.find(';'));
      content = content.substr(0, content.find("//"));
      at_line(line, [&] { parse_line(Cursor(content), line); });
    }
    for (const BranchFixup& fixup : fixups_)
      at_line(fixup.line, [&] {
        const auto label = labels_.find(fixup.label);
        if (label == labels_.end()) throw std::invalid_argument(fmt::format("no label '{}'", fixup.label));
        code_[fixup.instruction].target = label->second;
      });
    return std::move(code_);
  }

 private:
  template <typename Action>
  void at_line(int line, Action action) {
    try {
      action();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("line {}: {}", line, error.what()));
    }
  }

  void parse_line(Cursor cursor, int line) {
    if (cursor.at_end()) return;
    Instruction instruction;
    if (cursor.accept('@')) {
      instruction.guard = predicate(cursor);
    } else {
      Cursor ahead = cursor;
      const std::string_view name = ahead.word();
      if (!name.empty() && ahead.accept(':')) {
        define_label(name);
        return parse_line(ahead, line);
      }
      if (!name.empty() && ahead.accept('=')) {
        define_name(std::string(name), ahead);
        return expect_end(ahead);
      }
    }
    mnemonic(cursor, instruction);
    if (instruction.op == Op::Illegal && instruction.guard != PredicateOperand{})
      throw std::invalid_argument("ILLEGAL is the empty word: it has no guard");
    bool first = true;
    for (char kind : info(instruction.op).operands) {
      if (!is_text_operand(kind)) continue;
      if (!first) cursor.expect(',');
      first = false;
      operand(kind, cursor, instruction, line);
    }
    expect_end(cursor);
    encode(instruction);  // for its checks
    code_.push_back(instruction);
  }

  // The longest mnemonic there is, ISETP.LT.S32 or SHF.L, and modifiers behind it.
  static void mnemonic(Cursor& cursor, Instruction& i) {
    const std::string_view word = cursor.word();
    std::string_view name = word;
    auto op = find_op(name);
    while (!op && name.find('.') != std::string_view::npos) {
      name = name.substr(0, name.rfind('.'));
      op = find_op(name);
    }
    if (!op)
      throw std::invalid_argument(
          fmt::format("no instruction is called '{}'", word.empty() ? cursor.rest() : word));
    i.op = *op;
    std::string_view suffixes = word.substr(name.size());
    while (!suffixes.empty()) {
      suffixes.remove_prefix(1);  // its dot
      const std::string_view suffix = suffixes.substr(0, suffixes.find('.'));
      modifier(suffix, i);
      suffixes.remove_prefix(suffix.size());
    }
  }

  static void modifier(std::string_view name, Instruction& i) {
    const Modifiers allowed = modifiers_of(info(i.op));
    const auto set_once = [&](bool& flag) {
      if (flag) throw std::invalid_argument(fmt::format(".{} stands twice", name));
      flag = true;
    };
    for (const RoundingName& rounding : rounding_names) {
      if (!allowed.rounding || name != rounding.name) continue;
      if (i.rounding != Rounding::NearestEven)
        throw std::invalid_argument(fmt::format(".{} is a second rounding", name));
      i.rounding = rounding.rounding;
      return;
    }
    if (allowed.flush && name == "FTZ") return set_once(i.flush);
    if (allowed.saturate && name == "SAT") return set_once(i.saturate);
    throw std::invalid_argument(fmt::format("{} has no modifier .{}", info(i.op).mnemonic, name));
  }

  static void expect_end(Cursor& cursor) {
    if (!cursor.at_end()) throw std::invalid_argument(fmt::format("unexpected '{}'", cursor.rest()));
  }

  void define_label(std::string_view name) {
    const int here = static_cast<int>(code_.size());
    if (is_number(name)) {
      if (parse_number(name) != code_.size())
        throw std::invalid_argument(fmt::format("this is instruction {}, not {}", here, name));
    } else if (!labels_.emplace(name, here).second) {
      throw std::invalid_argument(fmt::format("label '{}' stands twice", name));
    }
  }

  void define_name(const std::string& name, Cursor& cursor) {
    Cursor ahead = cursor;
    const std::string_view word = ahead.word();
    if (const auto number = find_register(word)) {
      registers_[name] = *number;
    } else if (const auto p = find_predicate(word)) {
      predicates_[name] = *p;
    } else {
      constants_[name] = sum(cursor);
      return;
    }
    cursor = ahead;
  }

  std::optional<int> find_register(std::string_view word) const {
    if (const auto name = registers_.find(word); name != registers_.end()) return name->second;
    return isa::find_register(word);
  }

  std::optional<int> find_predicate(std::string_view word) const {
    if (const auto name = predicates_.find(word); name != predicates_.end()) return name->second;
    if (word == "PT") return pt;
    const auto number = numbered(word, 'P');
    if (number && *number < Parameters::predicates) return number;
    return std::nullopt;
  }

  void operand(char kind, Cursor& cursor, Instruction& i, int line) {
    switch (kind) {
      case 'd':
        i.rd = register_operand(cursor);
        if (i.rd == rz) throw std::invalid_argument("RZ cannot be written");
        break;
      case 'a':
        i.negate_a = info(i.op).has('N') && cursor.accept('-');
        i.absolute_a = info(i.op).has('N') && cursor.accept('|');
        i.ra = register_operand(cursor);
        if (i.absolute_a) cursor.expect('|');
        break;
      case 'c':
        i.negate_c = info(i.op).has('N') && cursor.accept('-');
        i.rc = register_operand(cursor);
        break;
      case 'b':
        // A store's immediate is its offset.
        if (info(i.op).has('m'))
          i.rb = register_operand(cursor);
        else
          b_operand(cursor, i);
        break;
      case 'p': {
        const PredicateOperand p = predicate(cursor);
        if (p.negated || p.index == pt) throw std::invalid_argument("only P0 to P6 can be written");
        i.pd = p.index;
        break;
      }
      case 'q':
        i.pa = predicate(cursor);
        break;
      case 'r':
        i.pb = predicate(cursor);
        break;
      case 'm':
        memory_operand(cursor, i);
        break;
      case 't':
        target(cursor, i, line);
        break;
      case 'l':
        i.table = table(cursor);
        break;
      default:
        throw std::logic_error("operand kind is not in the table");
    }
  }

  int register_operand(Cursor& cursor) {
    Cursor ahead = cursor;
    const std::string_view word = ahead.word();
    const auto number = find_register(word);
    if (!number) throw std::invalid_argument(fmt::format("expected a register before '{}'", cursor.rest()));
    cursor = ahead;
    return *number;
  }

  PredicateOperand predicate(Cursor& cursor) {
    PredicateOperand p;
    p.negated = cursor.accept('!');
    const std::string_view word = cursor.word();
    const auto number = find_predicate(word);
    if (!number)
      throw std::invalid_argument(fmt::format("expected a predicate (P0 to P6, PT), not '{}'", word));
    p.index = *number;
    return p;
  }

  void b_operand(Cursor& cursor, Instruction& i) {
    if (info(i.op).has('N') && signed_b(cursor, i)) return;
    if (!stored_b(cursor, i)) immediate(cursor, i);
  }

  // -R1, |R1|, -|R1|, -(1.5). Not -1.5, which is a number.
  bool signed_b(Cursor& cursor, Instruction& i) {
    Cursor ahead = cursor;
    const bool negate = ahead.accept('-');
    if (ahead.accept('|')) {
      if (!stored_b(ahead, i)) immediate(ahead, i);
      ahead.expect('|');
      i.absolute_b = true;
    } else if (negate && ahead.accept('(')) {
      immediate(ahead, i);
      ahead.expect(')');
    } else if (!negate || !stored_b(ahead, i)) {
      return false;
    }
    i.negate_b = negate;
    cursor = ahead;
    return true;
  }

  void immediate(Cursor& cursor, Instruction& i) {
    i.b_source = BSource::Immediate;
    if (b_is_float(info(i.op)) || info(i.op).unit == Unit::Move) {
      Cursor ahead = cursor;
      const bool negative = ahead.accept('-');
      if (const std::string_view decimal = ahead.decimal(); !decimal.empty()) {
        i.immediate = parse_float(decimal) | (negative ? sign_bit : 0);
        cursor = ahead;
        return;
      }
    }
    i.immediate = sum(cursor);
  }

  // A register, special register or constant; if something else stands here, nothing is consumed.
  bool stored_b(Cursor& cursor, Instruction& i) {
    Cursor ahead = cursor;
    const std::string_view word = ahead.word();
    if (const auto number = find_register(word)) {
      i.rb = *number;
    } else if (const auto special = find_special(word)) {
      i.b_source = BSource::Special;
      i.immediate = static_cast<std::uint32_t>(*special);
    } else if (word == "c" && ahead.accept('[')) {
      i.b_source = BSource::Constant;
      i.immediate = sum(ahead);
      ahead.expect(']');
      if (i.immediate % 4 != 0 || i.immediate >= Parameters::constant_bytes)
        throw std::invalid_argument(fmt::format("constant address {:#x} is not a multiple of 4 below {:#x}",
                                                i.immediate, Parameters::constant_bytes));
    } else {
      return false;
    }
    cursor = ahead;
    return true;
  }

  int table(Cursor& cursor) {
    const std::uint32_t value = sum(cursor);
    if (value > 0xff) throw std::invalid_argument(fmt::format("table {:#x} does not fit in 8 bits", value));
    return static_cast<int>(value);
  }

  // [R2+0x8], [R2], [0x8]
  void memory_operand(Cursor& cursor, Instruction& i) {
    cursor.expect('[');
    Cursor ahead = cursor;
    if (const auto number = find_register(ahead.word())) {
      i.ra = *number;
      cursor = ahead;
      if (cursor.accept('-'))
        i.immediate = 0u - sum(cursor);
      else if (cursor.accept('+'))
        i.immediate = sum(cursor);
    } else {
      i.immediate = sum(cursor);
    }
    cursor.expect(']');
  }

  void target(Cursor& cursor, Instruction& i, int line) {
    const std::string_view word = cursor.word();
    if (word.empty()) throw std::invalid_argument("expected a label");
    if (!is_number(word)) {
      fixups_.push_back({code_.size(), std::string(word), line});
      return;
    }
    const std::uint32_t number = parse_number(word);
    if (number >= Parameters::instructions)
      throw std::invalid_argument(fmt::format("instruction {} does not exist", number));
    i.target = static_cast<int>(number);
  }

  std::uint32_t sum(Cursor& cursor) {
    std::uint32_t value = 0;
    bool negative = cursor.accept('-');
    while (true) {
      const std::uint32_t term = number_or_name(cursor);
      value += negative ? 0u - term : term;
      if (cursor.accept('+'))
        negative = false;
      else if (cursor.accept('-'))
        negative = true;
      else
        return value;
    }
  }

  std::uint32_t number_or_name(Cursor& cursor) {
    const std::string_view word = cursor.word();
    if (is_number(word)) return parse_number(word);
    const auto constant = constants_.find(word);
    if (constant == constants_.end())
      throw std::invalid_argument(word.empty() ? fmt::format("expected a number before '{}'", cursor.rest())
                                               : fmt::format("'{}' is not a register, number or name", word));
    return constant->second;
  }

  Constants constants_;
  std::map<std::string, int, std::less<>> registers_, predicates_;  // names for them
  std::map<std::string, int, std::less<>> labels_;
  std::vector<BranchFixup> fixups_;
  std::vector<Instruction> code_;
};

}  // namespace

std::vector<Instruction> assemble(std::string_view text, const Constants& constants) {
  return Assembler(constants).run(text);
}

}  // namespace qwengpu::isa

#include "isa/assembly.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <stdexcept>

#include "isa/parameters.h"

namespace qwengpu::isa {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
bool is_number(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0]));
}

// The characters of one line, consumed from the left.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() {
    skip_space();
    return text_.empty();
  }
  bool accept(char c) {
    if (at_end() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw std::invalid_argument(fmt::format("expected '{}' before '{}'", c, text_));
  }
  // Letters, digits, '_' and '.'; empty if there are none.
  std::string_view word() {
    skip_space();
    std::size_t length = 0;
    while (length < text_.size() && is_word(text_[length])) ++length;
    const std::string_view result = text_.substr(0, length);
    text_.remove_prefix(length);
    return result;
  }
  std::string_view rest() {
    skip_space();
    return text_;
  }

 private:
  void skip_space() {
    while (!text_.empty() && std::isspace(static_cast<unsigned char>(text_.front()))) text_.remove_prefix(1);
  }
  std::string_view text_;
};

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
    const std::string_view mnemonic = cursor.word();
    const auto op = find_op(mnemonic);
    if (!op)
      throw std::invalid_argument(
          fmt::format("no instruction is called '{}'", mnemonic.empty() ? cursor.rest() : mnemonic));
    if (*op == Op::Illegal && instruction.guard != PredicateOperand{})
      throw std::invalid_argument("ILLEGAL is the empty word: it has no guard");
    instruction.op = *op;
    bool first = true;
    for (char kind : info(*op).operands) {
      if (!first) cursor.expect(',');
      first = false;
      operand(kind, cursor, instruction, line);
    }
    expect_end(cursor);
    encode(instruction);  // for its checks
    code_.push_back(instruction);
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
        i.ra = register_operand(cursor);
        break;
      case 'c':
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
    Cursor ahead = cursor;
    const std::string_view word = ahead.word();
    if (const auto number = find_register(word)) {
      i.rb = *number;
      cursor = ahead;
    } else if (const auto special = find_special(word)) {
      i.b_source = BSource::Special;
      i.immediate = static_cast<std::uint32_t>(*special);
      cursor = ahead;
    } else if (word == "c" && ahead.accept('[')) {
      i.b_source = BSource::Constant;
      i.immediate = sum(ahead);
      ahead.expect(']');
      if (i.immediate % 4 != 0 || i.immediate >= Parameters::constant_bytes)
        throw std::invalid_argument(fmt::format("constant address {:#x} is not a multiple of 4 below {:#x}",
                                                i.immediate, Parameters::constant_bytes));
      cursor = ahead;
    } else {
      i.b_source = BSource::Immediate;
      i.immediate = sum(cursor);
    }
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

std::string register_text(int number) { return number == rz ? "RZ" : fmt::format("R{}", number); }

std::string predicate_text(PredicateOperand p) {
  return (p.negated ? "!" : "") + (p.index == pt ? std::string("PT") : fmt::format("P{}", p.index));
}

std::string number_text(std::uint32_t value) {
  if (value < 1024) return fmt::format("{}", value);
  if (value > 0u - 1024) return fmt::format("-{}", 0u - value);
  return fmt::format("{:#x}", value);
}

std::string b_text(const Instruction& i) {
  switch (i.b_source) {
    case BSource::Register:
      return register_text(i.rb);
    case BSource::Immediate:
      return number_text(i.immediate);
    case BSource::Constant:
      return fmt::format("c[{:#x}]", i.immediate);
    case BSource::Special:
      return i.immediate < special_table.size() ? std::string(special_table[i.immediate].spelling)
                                                : fmt::format("SR_{}", i.immediate);
  }
  throw std::invalid_argument("B source does not exist");
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
      return register_text(i.ra);
    case 'b':
      return b_text(i);
    case 'c':
      return register_text(i.rc);
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
    default:
      throw std::logic_error("operand kind is not in the table");
  }
}

}  // namespace

std::vector<Instruction> assemble(std::string_view text, const Constants& constants) {
  return Assembler(constants).run(text);
}

std::string disassemble(const Instruction& i) {
  std::string text;
  if (i.guard != PredicateOperand{}) text = fmt::format("@{} ", predicate_text(i.guard));
  text += info(i.op).mnemonic;
  std::string_view separator = " ";
  for (char kind : info(i.op).operands) {
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

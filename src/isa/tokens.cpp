#include "isa/tokens.h"

#include <fmt/format.h>

#include <stdexcept>
#include <unordered_map>

#include "isa/rows.h"

namespace qwengpu::isa {
namespace {

std::string mask_text(int mask) {
  std::string text;
  for (int lane = 0; lane < Parameters::lanes; ++lane) text += mask >> lane & 1 ? '1' : '0';
  return text;
}

std::string spell(const Token& t) {
  switch (t.kind) {
    case TokenKind::Pad: return "<PAD>";
    case TokenKind::End: return "<END>";
    case TokenKind::Go: return "<GO>";
    case TokenKind::Instruction: return fmt::format("<I {}>", t.a);
    case TokenKind::HostLine: return fmt::format("<H {}>", t.a);
    case TokenKind::Quad: return fmt::format("<Q {}>", t.a);
    case TokenKind::System: return "<Q S>";
    case TokenKind::Pc: return fmt::format("<PC {}>", t.a);
    case TokenKind::FirmwarePc: return fmt::format("<FW {}>", t.a);
    case TokenKind::Op:
      return fmt::format("<{} {} {}>", info(static_cast<Op>(t.a)).mnemonic, mask_text(t.b), mask_text(t.c));
    case TokenKind::OperandC: return "<C>";
    case TokenKind::Keep: return "<KEEP>";
    case TokenKind::Value: return fmt::format("<{}.{} {:02x}>", t.a, t.b, t.c);
    case TokenKind::LastValue: return fmt::format("<{}.{} {:02x};>", t.a, t.b, t.c);
    case TokenKind::Predicate: return fmt::format("<P{} {}>", t.a, mask_text(t.b));
    case TokenKind::Store: return fmt::format("<ST {}>", t.a);
    case TokenKind::Copy: return fmt::format("<CP {}>", t.a);
    case TokenKind::ThreadIndex: return fmt::format("<TI {}>", t.a);
    case TokenKind::ConstantLine: return fmt::format("<CB {}>", t.a);
    case TokenKind::RegisterClass: return fmt::format("<RC {}>", registers_of_class(t.a));
    case TokenKind::Fault: return fmt::format("<FAULT {} {}>", fault_table[static_cast<std::size_t>(t.a)].spelling, t.b);
    case TokenKind::NewValue: return fmt::format("<{}.{}={:02x}>", t.a, t.b, t.c);
    case TokenKind::OnesValue: return fmt::format("<{}.{} {:02x}->", t.a, t.b, t.c);
    case TokenKind::AllValue: return fmt::format("<*.{} {:02x}>", t.b, t.c);
    case TokenKind::LastAllValue: return fmt::format("<*.{} {:02x};>", t.b, t.c);
    case TokenKind::OnesAllValue: return fmt::format("<*.{} {:02x}->", t.b, t.c);
    case TokenKind::OnesNewValue: return fmt::format("<{}.{}={:02x}->", t.a, t.b, t.c);
    case TokenKind::LastNewValue: return fmt::format("<{}.{}={:02x};>", t.a, t.b, t.c);
    case TokenKind::Read: return fmt::format("<RD {}>", t.a);
    case TokenKind::Wait: return fmt::format("<WAIT {} {}>", wait_letters[static_cast<std::size_t>(t.a)], mask_text(t.b));
    case TokenKind::Meet: return fmt::format("<MEET {}>", t.a);
    case TokenKind::MeetNone: return "<MEET ->";
    case TokenKind::Release: return fmt::format("<RELEASE {}>", t.a);
    case TokenKind::ReleaseKind: return fmt::format("<RELEASE {}>", wait_letters[static_cast<std::size_t>(t.a)]);
    case TokenKind::Stuck: return "<STUCK>";
  }
  throw std::invalid_argument("token kind does not exist");
}

struct Vocabulary {
  std::vector<Token> tokens;
  std::vector<std::string> spellings;
  std::unordered_map<std::string, int> by_spelling;

  void add(const Token& token) {
    by_spelling.emplace(spell(token), static_cast<int>(tokens.size()));
    spellings.push_back(spell(token));
    tokens.push_back(token);
  }
  void add_range(TokenKind kind, int count) {
    for (int a = 0; a < count; ++a) add({kind, a});
  }

  Vocabulary() {
    constexpr int lanes = Parameters::lanes, masks = 1 << lanes;
    for (TokenKind kind : {TokenKind::Pad, TokenKind::End, TokenKind::Go, TokenKind::System, TokenKind::OperandC,
                           TokenKind::Keep})
      add({kind});
    add_range(TokenKind::Instruction, Parameters::instructions);
    add_range(TokenKind::HostLine, Parameters::host_lines);
    add_range(TokenKind::Quad, Parameters::max_quads);
    add_range(TokenKind::Pc, Parameters::instructions);
    add_range(TokenKind::FirmwarePc, Parameters::firmware_instructions);
    for (int op = 0; op < op_count; ++op)
      for (int at = 1; at < masks; ++at)
        for (int executing = 0; executing < masks; ++executing)
          if ((executing & ~at) == 0) add({TokenKind::Op, op, at, executing});
    const auto add_bytes = [this](Said what, int lane) {
      for (int byte = 0; byte < 4; ++byte)
        for (int value = 0; value < 256; ++value)
          for (const Ending ending : {Ending::More, Ending::Zeros, Ending::Ones})
            if (byte < 3 || ending == Ending::Zeros) add(byte_token(what, lane, byte, value, ending));
    };
    for (int lane = 0; lane < lanes; ++lane) add_bytes(Said::Word, lane);
    add_bytes(Said::AllWords, 0);
    for (int predicate = 0; predicate < Parameters::predicates; ++predicate)
      for (int mask = 0; mask < masks; ++mask) add({TokenKind::Predicate, predicate, mask});
    add_range(TokenKind::Store, lanes);
    add_range(TokenKind::Copy, lanes);
    add_range(TokenKind::ThreadIndex, Parameters::max_quads);
    add_range(TokenKind::ConstantLine, Parameters::constant_lines);
    add_range(TokenKind::RegisterClass, Parameters::register_classes);
    for (int fault = 0; fault < static_cast<int>(fault_table.size()); ++fault)
      for (int lane = 0; lane < lanes; ++lane) add({TokenKind::Fault, fault, lane});
    for (int lane = 0; lane < lanes; ++lane) add_bytes(Said::NewWord, lane);
    for (int lane = 1; lane < lanes; ++lane) add({TokenKind::Read, lane});
    for (int kind = 0; kind < static_cast<int>(wait_letters.size()); ++kind)
      for (int mask = 0; mask < masks; ++mask) add({TokenKind::Wait, kind, mask});
    add_range(TokenKind::Meet, Parameters::instructions);
    add({TokenKind::MeetNone});
    add_range(TokenKind::Release, Parameters::instructions);
    for (WaitKind kind : {WaitKind::Barrier, WaitKind::Yield}) add({TokenKind::ReleaseKind, static_cast<int>(kind)});
    add({TokenKind::Stuck});
  }
};

const Vocabulary& vocabulary() {
  static const Vocabulary instance;
  return instance;
}

}  // namespace

int vocabulary_size() { return static_cast<int>(vocabulary().tokens.size()); }

int token_id(const Token& token) {
  const auto key = [](const Token& t) {
    return (static_cast<long>(t.kind) << 48) | (static_cast<long>(t.a) << 24) | (static_cast<long>(t.b) << 12) | t.c;
  };
  static const auto index = [&key] {
    std::unordered_map<long, int> map;
    for (int id = 0; id < vocabulary_size(); ++id) map.emplace(key(token_of(id)), id);
    return map;
  }();
  const auto found = index.find(key(token));
  if (found == index.end() || !(token_of(found->second) == token))
    throw std::invalid_argument(fmt::format("no token of kind {} has the fields {}, {}, {}",
                                            static_cast<int>(token.kind), token.a, token.b, token.c));
  return found->second;
}

const Token& token_of(int id) { return vocabulary().tokens.at(static_cast<std::size_t>(id)); }

const std::string& spelling(int id) { return vocabulary().spellings.at(static_cast<std::size_t>(id)); }

std::optional<int> find_token(std::string_view text) {
  const auto found = vocabulary().by_spelling.find(std::string(text));
  if (found == vocabulary().by_spelling.end()) return std::nullopt;
  return found->second;
}

void append_row(std::vector<int>& tokens, const Row& row) {
  for (int lane = 0; lane < Parameters::lanes; ++lane) {
    spell_word(row[static_cast<std::size_t>(lane)], [&](int byte, int value, Ending ending) {
      tokens.push_back(token_id(byte_token(Said::Word, lane, byte, value, ending)));
    });
  }
}

std::vector<int> tokenize(std::string_view text) {
  std::vector<int> tokens;
  std::size_t at = 0;
  while (true) {
    at = text.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos) return tokens;
    const std::size_t end = text[at] == '<' ? text.find('>', at) : std::string_view::npos;
    const std::string_view word =
        end == std::string_view::npos ? text.substr(at, 24) : text.substr(at, end + 1 - at);
    const auto id = end == std::string_view::npos ? std::nullopt : find_token(word);
    if (!id) throw std::invalid_argument(fmt::format("no token is spelled '{}' (at offset {})", word.substr(0, 40), at));
    tokens.push_back(*id);
    at = end + 1;
  }
}

std::string detokenize(const std::vector<int>& tokens) {
  std::string text;
  for (int id : tokens) text += spelling(id);
  return text;
}

}  // namespace qwengpu::isa

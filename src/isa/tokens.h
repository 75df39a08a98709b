// The model's vocabulary: every token is one step of a launch, with a readable spelling in angle brackets.
// docs/machine.md gives the grammar: which token follows which.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/encoding.h"
#include "isa/instructions.h"
#include "isa/parameters.h"

namespace qwengpu::isa {

enum class TokenKind {
  Pad,            // <PAD>
  End,            // <END>               the launch is over
  Go,             // <GO>                end of the prompt
  Instruction,    // <I a>               prompt: instruction word a follows as a row
  HostLine,       // <H a>               prompt: host line a follows as a row
  Quad,           // <Q a>               quad a issues from here on
  System,         // <Q S>               the launch firmware issues from here on
  Pc,             // <PC a>              instruction a of the kernel is next
  FirmwarePc,     // <FW a>              instruction a of the firmware is next
  Op,             // <NAME 1111 1011>    op a, lanes at this pc b, lanes that execute c (masks: lane 0 first)
  OperandC,       // <C>                 the third operand is read
  Keep,           // <KEEP>              the old destination is read, for the lanes that sit out
  Value,          // <a.b cc>            lane a, byte b (little endian) is cc, more bytes follow. Bytes that are 0 are left out: rows.h
  LastValue,      // <a.b cc;>           the same, and the higher bytes of the lane are 0
  OnesValue,      // <a.b cc->           the same, and they are ff
  AllValue,       // <*.b cc>            the same for the word of all four lanes at once
  LastAllValue,   // <*.b cc;>
  OnesAllValue,   // <*.b cc->
  Predicate,      // <Pa 1111>           predicate a of the quad becomes mask b
  Store,          // <ST a>              lane a stores its word
  Copy,           // <CP a>              lane a copies its line from the host
  ThreadIndex,    // <TI a>              the thread indices of quad a follow as a row
  ConstantLine,   // <CB a>              line a of the constant bank follows as a row
  RegisterClass,  // <RC n>              threads have n registers (a = class)
  Fault,          // <FAULT name a>      fault a, raised by lane b
  NewValue,       // <a.b=cc>            byte b of what lane a's word of memory becomes is cc, more bytes follow
  LastNewValue,   // <a.b=cc;>           the same, and the higher bytes are 0: the word is stored
  OnesNewValue,   // <a.b=cc->           the same, and they are ff
  Read,           // <RD a>              the word of lane a is read
  Wait,           // <WAIT B 1111>       lanes of the quad that wait for a (B barrier, W warp, Y yield) are now b
  Meet,           // <MEET a>            a waiting lane of the warp goes on at instruction a, and none below
  MeetNone,       // <MEET ->            not this time
  Release,        // <RELEASE a>         lanes of the warp that wait at instruction a go on
  ReleaseKind,    // <RELEASE B>         lanes of the block that wait for a barrier (a = 0) or yield (2) go on
  Stuck,          // <STUCK>             all lanes of the block wait at named barriers
};

struct Token {
  TokenKind kind = TokenKind::Pad;
  int a = 0, b = 0, c = 0;
  bool operator==(const Token&) const = default;
};

int vocabulary_size();
// Throws std::invalid_argument for a token that is not in the vocabulary (a field out of range).
int token_id(const Token& token);
// Throws std::out_of_range.
const Token& token_of(int id);
const std::string& spelling(int id);
std::optional<int> find_token(std::string_view spelling);

// The tokens of a row, as rows.h spells its words.
void append_row(std::vector<int>& tokens, const Row& row);

// Splits text into tokens (spellings, optionally separated by white space). Throws std::invalid_argument naming the
// offset and the text that is not a token.
std::vector<int> tokenize(std::string_view text);
// The inverse: spellings one after another.
std::string detokenize(const std::vector<int>& tokens);

}  // namespace qwengpu::isa

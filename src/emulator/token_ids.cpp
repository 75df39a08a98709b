#include "emulator/token_ids.h"

#include "isa/rows.h"

namespace qwengpu::emulator {
namespace {

using isa::Parameters;
using isa::token_id;
using isa::TokenKind;

std::vector<int> numbered(TokenKind kind, int count) {
  std::vector<int> ids;
  for (int n = 0; n < count; ++n) ids.push_back(token_id({kind, n}));
  return ids;
}

}  // namespace

TokenIds::TokenIds()
    : quad(numbered(TokenKind::Quad, Parameters::max_quads)),
      pc(numbered(TokenKind::Pc, Parameters::instructions)),
      firmware_pc(numbered(TokenKind::FirmwarePc, Parameters::firmware_instructions)),
      thread_index(numbered(TokenKind::ThreadIndex, Parameters::max_quads)),
      constant_line(numbered(TokenKind::ConstantLine, Parameters::constant_lines)),
      store(numbered(TokenKind::Store, Parameters::lanes)),
      copy(numbered(TokenKind::Copy, Parameters::lanes)),
      read(Parameters::lanes, -1),
      register_class(numbered(TokenKind::RegisterClass, Parameters::register_classes)),
      meet(numbered(TokenKind::Meet, Parameters::instructions)),
      release(numbered(TokenKind::Release, Parameters::instructions)),
      system(token_id({TokenKind::System})),
      keep(token_id({TokenKind::Keep})),
      operand_c(token_id({TokenKind::OperandC})),
      meet_none(token_id({TokenKind::MeetNone})),
      stuck(token_id({TokenKind::Stuck})),
      end(token_id({TokenKind::End})) {
  for (std::size_t o = 0; o < op.size(); ++o)
    for (std::size_t mask = 0; mask < masks; ++mask)
      for (std::size_t exec = 0; exec < masks; ++exec)
        op[o][mask][exec] = mask != 0 && (exec & ~mask) == 0
                                ? token_id({TokenKind::Op, static_cast<int>(o), static_cast<int>(mask),
                                            static_cast<int>(exec)})
                                : -1;
  for (std::size_t lane = 0; lane < value.size(); ++lane)
    for (std::size_t byte = 0; byte < 4; ++byte)
      for (std::size_t v = 0; v < 256; ++v) {
        const auto l = static_cast<int>(lane), b = static_cast<int>(byte), n = static_cast<int>(v);
        for (const isa::Ending ending : {isa::Ending::More, isa::Ending::Zeros, isa::Ending::Ones}) {
          const bool exists = b < 3 || ending == isa::Ending::Zeros;
          const auto e = static_cast<std::size_t>(ending);
          value[lane][byte][e][v] = exists ? token_id(isa::byte_token(isa::Said::Word, l, b, n, ending)) : -1;
          new_value[lane][byte][e][v] = exists ? token_id(isa::byte_token(isa::Said::NewWord, l, b, n, ending)) : -1;
          all_value[lane][byte][e][v] =
              exists && l == 0 ? token_id(isa::byte_token(isa::Said::AllWords, l, b, n, ending)) : -1;
        }
      }
  for (std::size_t p = 0; p < predicate.size(); ++p)
    for (std::size_t mask = 0; mask < masks; ++mask)
      predicate[p][mask] = token_id({TokenKind::Predicate, static_cast<int>(p), static_cast<int>(mask)});
  for (int lane = 1; lane < Parameters::lanes; ++lane)
    read[static_cast<std::size_t>(lane)] = token_id({TokenKind::Read, lane});
  for (std::size_t kind = 0; kind < wait.size(); ++kind) {
    const int k = static_cast<int>(kind);
    for (std::size_t mask = 0; mask < masks; ++mask)
      wait[kind][mask] = token_id({TokenKind::Wait, k, static_cast<int>(mask)});
    release_kind[kind] = isa::WaitKind(k) == isa::WaitKind::Warp ? -1 : token_id({TokenKind::ReleaseKind, k});
  }
  for (std::size_t f = 0; f < fault.size(); ++f)
    for (std::size_t lane = 0; lane < fault[f].size(); ++lane)
      fault[f][lane] = token_id({TokenKind::Fault, static_cast<int>(f), static_cast<int>(lane)});
}

const TokenIds& TokenIds::instance() {
  static const TokenIds ids;
  return ids;
}

}  // namespace qwengpu::emulator

#include "machine/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "isa/parameters.h"
#include "machine/cells.h"

namespace qwengpu::machine {
namespace {

struct Description {
  std::string_view prefix;  // of the names of heads or of signals
  std::string_view text;
};

// By the first component of a head's name, or more where it matters.
constexpr Description heads[] = {
    {"latch/staging", "staging of spoken bytes: byte b of the four lanes, until the row is complete"},
    {"latch/quad_low", "latch: the quad that issues"},
    {"latch/pc_low", "latch: the pc"},
    {"latch/number_low", "latch: number of the row that is spoken"},
    {"latch/state", "latches: quad, pc, row number, register class, fault"},
    {"latch/control", "latch: control word of the op and its executing mask"},
    {"latch/meet", "latches: place where the warp meets; lanes yielded or wait at named barriers"},
    {"latch/released", "latches: what waiting lanes are released from"},
    {"latch/waits", "latches: lanes of the warp yielded, lanes of the block wait at a barrier"},
    {"predicates", "predicates P0..P6, a word a quad"},
    {"fetch", "instruction memory, 2048 x 128 bits"},
    {"pc", "program counters and 'dead', a head a lane"},
    {"firmware_registers", "registers of the launch firmware"},
    {"constants", "constant bank: launch geometry and kernel parameters"},
    {"special", "thread indices of each quad"},
    {"registers", "register file, rows of four lanes x 32 bits"},
    {"operands/a_lanes", "latch: operand A, read for all lanes"},
    {"operands/b_lanes", "latch: operand B, read for all lanes"},
    {"operands/a", "latch: operand A, read for the selected lane"},
    {"operands/b", "latch: operand B, read for the selected lane"},
    {"operands/c", "latch: operand C"},
    {"operands/d", "latch: old destination, for lanes that sit out"},
    {"operands/kept", "latches: predicate of SEL and carries, last thread of the block, ends of allocated memory"},
    {"operands/offset", "latch: offset of a memory operand"},
    {"operands/address_low", "latch: place of a byte in its word"},
    {"operands/modifiers", "latch: rounding and other modifiers of the op"},
    {"host", "host staging, lines of 16 bytes"},
    {"scheduler", "waiting lanes of each quad: for a barrier, their warp, their next turn"},
    {"warp", "words and votes that threads show to their warp"},
    {"memory/shared", "shared memory, 32-bit cells"},
    {"memory/global", "global memory, 32-bit cells"},
};

// By the longest prefix of the names of the signals that the neurons drive.
constexpr Description units[] = {
    {"fetch", "launch firmware: its instruction words, one neuron each"},
    {"predicates", "guard and predicate operands"},
    {"pc", "pc + 1, branch targets"},
    {"registers", "register row numbers and their decoding"},
    {"firmware_registers", "register numbers of the firmware"},
    {"constants", "constant addresses"},
    {"special", "special registers"},
    {"immediate", "immediates"},
    {"operand", "operand bus: immediates and special registers"},
    {"operands", "operands, results"},
    {"scheduler", "lanes that live and run, last quad"},
    {"warp", "what is shown to the warp: threads, data"},
    {"latch", "lane that is worked on"},
    {"integer/renewal", "atomic operations, stores of bytes"},
    {"integer/logic", "logic"},
    {"integer/sum", "adder: IADD, ISUB, addresses"},
    {"integer/min_max", "minimum, maximum"},
    {"integer/multiply", "multiplier"},
    {"float/multiply_add", "binary32 add, multiply, multiply-add"},
    {"float/min_max", "binary32 minimum, maximum"},
    {"float/convert", "conversions between integers and binary32"},
    {"bits", "shifter: shifts, funnel shifts, bit fields; bit counts, permutes, look-up tables"},
    {"compare", "compare, all lanes"},
    {"host", "host addresses, data"},
    {"address_check", "address check, all lanes"},
    {"memory", "addresses and data of memory"},
    {"say/op", "what to say: op, masks"},
    {"say/next", "what to say: lowest pc, next quad"},
    {"say/entry", "what to say: who goes on"},
    {"say/place", "what to say: lanes at a place"},
    {"say/wait", "what to say: who waits"},
    {"say/value", "what to say: the next byte"},
    {"say", "what to say"},
    {"speech", "the next token: class and digits"},
};

template <std::size_t n>
std::string_view describe(const Description (&table)[n], std::string_view name) {
  const Description* best = nullptr;
  for (const Description& d : table)
    if (name.starts_with(d.prefix) && (best == nullptr || d.prefix.size() > best->prefix.size())) best = &d;
  return best != nullptr ? best->text : name;
}

// Counts by description, in the order in which they first appear.
class Tally {
 public:
  void add(std::string_view text, int count) {
    for (auto& [known, total] : counts_)
      if (known == text) {
        total += count;
        return;
      }
    counts_.emplace_back(text, count);
  }
  const std::vector<std::pair<std::string_view, int>>& counts() const { return counts_; }
  void sort() {
    std::stable_sort(counts_.begin(), counts_.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  }

 private:
  std::vector<std::pair<std::string_view, int>> counts_;
};

std::string layer_text(const circuit::LayerReport& layer) {
  std::string text = fmt::format("layer {:2}  ", layer.layer);
  if (layer.attention) {
    text += "gated attention, inert: no state in this layer\n";
  } else if (layer.heads.empty()) {
    text += "GDN, no head in use\n";
  } else {
    Tally tally;
    for (const std::string& head : layer.heads) tally.add(describe(heads, head), 1);
    bool first = true;
    for (const auto& [what, count] : tally.counts()) {
      text += fmt::format("{}GDN  {} ({} {})\n", first ? "" : "          ", what, count, count == 1 ? "head" : "heads");
      first = false;
    }
  }
  Tally tally;
  for (const auto& [unit, count] : layer.units) tally.add(describe(units, unit), count);
  tally.sort();
  for (const auto& [what, count] : tally.counts()) text += fmt::format("          MLP  {} ({} neurons)\n", what, count);
  if (layer.restores > 0) text += fmt::format("          MLP  makes exact bits of what the heads read ({} neurons)\n", layer.restores);
  if (layer.clears > 0) text += fmt::format("          MLP  clears columns for reuse ({} neurons)\n", layer.clears);
  return text;
}

std::string place_text(const circuit::Placement& placement, const std::string& what, const Cell& first, const Cell& last) {
  const circuit::HeadPlace& a = placement.head(first.head);
  const circuit::HeadPlace& b = placement.head(last.head);
  const auto name = [](const circuit::HeadPlace& place, const Cell& cell) {
    return fmt::format("layer {} head {} key {}", place.layer, place.head, cell.key);
  };
  const std::string dims = fmt::format("dims {}..{}", first.dim, first.dim + first.bits - 1);
  return fmt::format("  {:<46} {} ... {}, {}\n", what, name(a, first), name(b, last), dims);
}

}  // namespace

std::string explain(const circuit::Compiled& compiled) {
  const circuit::Placement& p = compiled.placement;
  std::string text =
      "The model is the machine of docs/machine.md. Its layers, in the order in which one token passes them:\n\n";
  for (const circuit::LayerReport& layer : compiled.report.layers) text += layer_text(layer);

  using P = isa::Parameters;
  text += "\nWhich state holds what (a word is one key of a head's 128 x 128 state, a bit is 0 or 128):\n\n";
  text += place_text(p, "instruction n, n = 0 ... 2047", instruction_word(0), instruction_word(P::instructions - 1));
  text += place_text(p, "P0 of quad q, q = 0 ... 255", predicate(0, 0), predicate(P::max_quads - 1, 0));
  text += place_text(p, "pc and 'dead' of lane 0 of quad q", program_counter(0, 0), program_counter(P::max_quads - 1, 0));
  text += place_text(p, "thread indices of quad q", thread_indices(0), thread_indices(P::max_quads - 1));
  text += place_text(p, "constant word at c[0x0] ... c[0x7fc]", constant_word(0), constant_word(P::constant_bytes - 4));
  text += place_text(p, "register row r = quad * R + register", register_row(0), register_row(P::register_rows - 1));
  text += place_text(p, "register n of the firmware", firmware_register_row(0), firmware_register_row(P::max_registers - 1));
  text += place_text(p, "host line n, n = 0 ... 4095", host_line(0), host_line(P::host_lines - 1));
  text += place_text(p, fmt::format("global word at 0x0 ... {:#x}", P::global_bytes - 4), global_word(0),
                     global_word(static_cast<std::uint32_t>(P::global_bytes - 4)));
  return text;
}

}  // namespace qwengpu::machine

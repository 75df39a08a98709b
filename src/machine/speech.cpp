// The next token, decided from the kind of the current one and from what the units found out.
#include <fmt/format.h>

#include "machine/adder.h"
#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::match;
using circuit::slice;

// digits[v] += 1 where bits spell v and `when` is 1
void speak_digit(Circuit& c, const Signals& digits, const Word& bits, const Linear& when) {
  for (std::size_t v = 0; v < std::size_t{1} << bits.size(); ++v) c.add(digits[v], 1, both(when, match(bits, v)));
}

// After <PC n>: the op there, the lanes there, and those of them that execute.
void speak_op(Circuit& c, Wires& w, const Speech& s) {
  const auto scope = c.scope("op");
  const TokenInputs& t = w.token;
  const Word op = w.field(isa::field::op);
  for (std::size_t k = 0; k < s.op.size(); ++k) c.add(s.op[k], 1, both(t.pc, match(op, k)));

  const Linear negated = w.field(isa::field::guard_negated).front();
  const Signals here = circuit::bus_word(c, "here", lanes), executing = circuit::bus_word(c, "executing", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    Linear differs = 0;
    for (int i = 0; i < 11; ++i)
      differs += circuit::xor_(c, fmt::format("differs{}[{}]", l, i), w.pc_bits[at(i)], w.lane_pc[l][at(i)]);
    c.add(here[l], 1, both(t.pc, w.alive[l]) - differs);
    c.add(executing[l], 1, all({here[l], w.guard[l], 1 - negated}));
    c.add(executing[l], 1, all({here[l], 1 - Linear(w.guard[l]), negated}));
  }
  for (std::size_t m = 1; m < s.masks.size(); ++m)
    for (std::size_t x = 0; x < s.masks.size(); ++x)
      if ((x & ~m) == 0) c.add(s.masks[m][x], 1, all({t.pc, match(here, m), match(executing, x)}));
}

// NEXT: the lowest pc of the living lanes, or the next quad, or back to the firmware.
void speak_next(Circuit& c, Wires& w, const Speech& s, const Linear& next) {
  const auto scope = c.scope("next");

  // A lane is beaten by a living lane with a lower pc, or with the same one and a lower number.
  Signals beaten = circuit::bus_word(c, "beaten", lanes, {0, 3});
  for (int i = 0; i < lanes; ++i)
    for (int j = i + 1; j < lanes; ++j) {
      const Comparison order = compare(c, fmt::format("lanes{}{}", i, j), w.lane_pc[at(i)], w.lane_pc[at(j)], 0);
      const Signal above = circuit::threshold(c, fmt::format("above{}{}", i, j), -order.order, 1);
      c.add(beaten[at(i)], 1, both(w.alive[at(j)], above));
      c.add(beaten[at(j)], 1, w.alive[at(i)] - Linear(above));
    }
  Linear living = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    living += w.alive[l];
    const Signal lowest = c.bus(fmt::format("lowest[{}]", l));
    c.add(lowest, 1, both(next, w.alive[l]) - beaten[l]);
    const Word pc(w.lane_pc[l]);
    speak_digit(c, s.pc_digits.low, slice(pc, 0, 4), lowest);
    speak_digit(c, s.pc_digits.high, slice(pc, 4, 3), lowest);
    speak_digit(c, s.pc, slice(pc, 7, 4), both(lowest, w.user()));
    speak_digit(c, s.firmware_pc, slice(pc, 7, 2), both(lowest, w.system));
  }

  const Signal none = c.bus("none");
  c.add(none, 1, next - living);
  c.add(s.system, 1, both(none, w.last_quad));
  const Signal another = c.bus("another_quad");
  c.add(another, 1, none - Linear(w.last_quad));
  c.add(s.quad, 1, another);
  // quad + 1 in nibbles
  const Word quad(w.quad_bits), low = slice(quad, 0, 4), high = slice(quad, 4, 4);
  const Signal carry = circuit::and_(c, "carry", low);
  for (std::size_t v = 0; v < 16; ++v) {
    c.add(s.digits.low[v], 1, both(another, match(low, (v + 15) % 16)));
    c.add(s.digits.high[v], 1, both(another, match(high, v)) - Linear(carry));
    c.add(s.digits.high[v], 1, all({another, match(high, (v + 15) % 16), carry}));
  }
}

// The next byte of a row.
void speak_value(Circuit& c, Wires& w, const Speech& s, const Linear& speaks) {
  const auto scope = c.scope("value");
  Word word;
  for (int i = 0; i < word_bits; ++i) word.push_back(w.result[at(i)] + Linear(w.old[at(i)]) + Linear(w.loaded[at(i)]));
  for (int byte = 0; byte < 4; ++byte) {
    const Signal here = circuit::and_(c, fmt::format("here[{}]", byte), {speaks, w.token.next_byte[at(byte)]});
    speak_digit(c, s.value_digits.low, slice(word, 8 * byte, 4), here);
    speak_digit(c, s.value_digits.high, slice(word, 8 * byte + 4, 4), here);
    const Signal last = c.bus(fmt::format("last[{}]", byte));
    c.add(last, 1, here - circuit::sum(slice(word, 8 * byte + 8, 24 - 8 * byte)));
    for (std::size_t l = 0; l < lanes; ++l) {
      c.add(s.last_value[l][at(byte)], 1, both(last, w.token.select[l]));
      if (byte < 3) c.add(s.value[l][at(byte)], 1, both(here, w.token.select[l]) - Linear(last));
    }
  }
}

}  // namespace

void build_speech(Circuit& c, Wires& w, const Speech& s) {
  const auto scope = c.scope("say");
  const TokenInputs& t = w.token;
  speak_op(c, w, s);

  // <ST l>, <CP l>: the next executing lane.
  std::array<Linear, lanes> following;  // lane 0 follows no one
  const Linear memory_token = t.store + t.copy;
  Linear more = 0;
  for (std::size_t k = 1; k < lanes; ++k) {
    const Signal follows = c.bus(circuit::indexed("following", static_cast<int>(k)));
    Linear between = 0;
    for (std::size_t l = k; l-- > 0; between += w.executing[l])
      c.add(follows, 1, all({memory_token, t.select[l], w.executing[k]}) - between);
    following[k] = follows;
    more += follows;
  }

  // Loads, stores and copies stop at a bad address.
  const Linear fault = circuit::sum(Word(w.first_bad));
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(s.fault[static_cast<std::size_t>(isa::Fault::MisalignedAddress)][l], 1, both(w.first_bad[l], w.misaligned[l]));
    c.add(s.fault[static_cast<std::size_t>(isa::Fault::IllegalAddress)][l], 1, w.first_bad[l] - Linear(w.misaligned[l]));
    c.add(s.store[l], 1, t.want_store[l] - fault);
    if (l > 0) c.add(s.store[l], 1, both(following[l], t.store));
    c.add(s.copy[l], 1, t.want_copy[l] - fault);
    if (l > 0) c.add(s.copy[l], 1, both(following[l], t.copy));
  }
  c.add(s.fault[static_cast<std::size_t>(isa::Fault::IllegalInstruction)][0], 1, t.want_illegal);

  // <C> is followed by <KEEP> if a lane sits out.
  const Linear keep = w.control_bit(Control::Keep);
  c.add(s.operand_c, 1, t.want_c);
  c.add(s.keep, 1, t.want_keep - fault);
  c.add(s.keep, 1, both(t.operand_c, keep));
  const Signal speaks_value = c.bus("value_wanted");
  c.add(speaks_value, 1, t.want_value - fault);
  c.add(speaks_value, 1, t.operand_c - keep);
  speak_value(c, w, s, speaks_value);

  // want_next is decided by the token alone, except after the last <ST>, <CP>.
  Signal finished = c.bus("finished");
  c.add(finished, 1, memory_token - more);
  c.add(finished, 1, t.want_next);
  speak_next(c, w, s, finished);

  // <Pd mask>
  const Signals mask = circuit::bus_word(c, "mask", lanes);
  const Linear invert = w.control_bit(Control::Invert);
  for (std::size_t l = 0; l < lanes; ++l) {
    const Linear x = both(w.executing[l], t.writes_predicate);
    c.add(mask[l], 1, all({x, w.new_predicate[l], 1 - invert}));
    c.add(mask[l], 1, all({x, 1 - Linear(w.new_predicate[l]), invert}));
    c.add(mask[l], 1, w.old_predicate[l] - Linear(w.executing[l]));
  }
  speak_digit(c, s.digits.high, mask, t.writes_predicate);
  for (std::size_t p = 0; p < s.predicate.size(); ++p)
    c.add(s.predicate[p], 1, both(t.writes_predicate, match(w.field(isa::field::pd), p)));

  // <TI a>, <CB a>: a of lane 0
  c.add(s.thread_index, 1, t.want_thread_index);
  c.add(s.constant_line, 1, t.want_constant);
  const Linear numbered = t.want_thread_index + t.want_constant;
  Word high = slice(w.a, 4, 3);
  high.push_back(circuit::and_(c, "top", {t.want_thread_index, w.a[7]}));
  speak_digit(c, s.digits.low, slice(w.a, 0, 4), numbered);
  speak_digit(c, s.digits.high, high, numbered);

  speak_digit(c, s.register_class, slice(w.b, 0, 2), t.want_class);
  c.add(s.end, 1, t.want_end);
  c.add(s.system, 1, t.want_system);
  c.add(s.quad, 1, t.want_first_quad);
  c.add(s.digits.high[0], 1, t.want_first_quad);
  c.add(s.digits.low[0], 1, t.want_first_quad);
}

}  // namespace qwengpu::machine

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
  for (std::size_t v = 0; v < std::size_t{1} << bits.size(); ++v)
    c.add(digits[v], 1, both(when, match(bits, v)));
}

// After <PC n>: the op there, the lanes there, and those of them that execute.
void speak_op(Circuit& c, Wires& w, const Speech& s, const Word& differs) {
  const auto scope = c.scope("op");
  const TokenInputs& t = w.token;
  const Word op = w.field(isa::field::op);
  for (std::size_t k = 0; k < s.op.size(); ++k) c.add(s.op[k], 1, both(t.pc, match(op, k)));

  const Linear negated = w.field(isa::field::guard_negated).front();
  const Signals here = circuit::bus_word(c, "here", lanes),
                executing = circuit::bus_word(c, "executing", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(here[l], 1, both(t.pc, w.runnable[l]) - differs[l]);
    c.add(executing[l], 1, all({here[l], w.guard[l], 1 - negated}));
    c.add(executing[l], 1, all({here[l], 1 - Linear(w.guard[l]), negated}));
  }
  for (std::size_t m = 1; m < s.masks.size(); ++m)
    for (std::size_t x = 0; x < s.masks.size(); ++x)
      if ((x & ~m) == 0) c.add(s.masks[m][x], 1, all({t.pc, match(here, m), match(executing, x)}));
}

// By how many bits the program counter of each lane differs from the one that was spoken (<PC n>), else from
// the one that the warp is released at. [4]
Word differences(Circuit& c, Wires& w) {
  const auto scope = c.scope("place");
  const Signals place = circuit::bus_word(c, "pc", 11);
  for (int i = 0; i < 11; ++i) {
    c.add(place[at(i)], 1, both(w.token.pc, w.pc_bits[at(i)]));
    c.add(place[at(i)], 1, w.released[at(i)] - Linear(w.token.pc));
  }
  Word differs;
  for (std::size_t l = 0; l < lanes; ++l) {
    Linear count = 0;
    for (int i = 0; i < 11; ++i)
      count += circuit::xor_(c, fmt::format("differs{}[{}]", l, i), place[at(i)], w.lane_pc[l][at(i)]);
    differs.push_back(count);
  }
  return differs;
}

// Where a quad is entered: the warp's release, or the lanes that go on. What is left of `next`, then.
Linear speak_entry(Circuit& c, Wires& w, const Speech& s, const Signal& next, const Word& differs) {
  const auto scope = c.scope("entry");
  const TokenInputs& t = w.token;
  const Signal release = c.bus("release");
  c.add(release, 1, both(t.first_quad, w.meet_holds));
  const Word place(w.meet);
  speak_digit(c, s.pc_digits.low, slice(place, 0, 4), release);
  speak_digit(c, s.pc_digits.high, slice(place, 4, 3), release);
  speak_digit(c, s.release, slice(place, 7, 4), release);

  const Linear enters = t.enters + Linear(t.release);
  // What the lanes are released from: the warp's place counts more than the block's.
  const Signal from[] = {
      circuit::and_(c, "barrier",
                    {w.releases_barrier, enters, 1 - Linear(w.released_holds), 1 - Linear(release)}),
      circuit::and_(c, "warp", {w.released_holds, enters}),
      circuit::and_(c, "yield",
                    {w.releases_yield, enters, 1 - Linear(w.released_holds), 1 - Linear(release)})};
  const Signals stay = circuit::bus_word(c, "stay", lanes);
  Linear woken = 0;
  for (std::size_t k = 0; k < w.waiting.size(); ++k) {
    const bool warp = static_cast<isa::WaitKind>(k) == isa::WaitKind::Warp;
    Linear lanes_woken = 0;
    for (std::size_t l = 0; l < lanes; ++l) {
      const Signal wakes = c.bus(fmt::format("wakes.{}[{}]", isa::wait_letters[k], l));
      c.add(wakes, 1, both(from[k], w.waiting[k][l]) - (warp ? differs[l] : Linear(0)));
      lanes_woken += wakes;
      if (warp) c.add(stay[l], 1, both(from[k], w.waiting[k][l]) - Linear(wakes));
    }
    const Signal some = c.bus(fmt::format("some.{}", isa::wait_letters[k]));
    add_positive(c, some, lanes_woken, 1);
    c.add(s.wait[k], 1, some);
    woken += some;
  }
  // The lanes that stay are spoken only if another one goes on.
  speak_digit(c, s.digits.high, stay, woken);
  return next - release - woken;
}

// <WAIT k mask> of an op.
void speak_wait(Circuit& c, Wires& w, const Speech& s) {
  const auto scope = c.scope("wait");
  const TokenInputs& t = w.token;
  const Linear waits = circuit::sum(Word(t.wait_for));
  const Signals mask = circuit::bus_word(c, "mask", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(mask[l], 1, both(waits, w.executing[l]));
    for (std::size_t k = 0; k < w.waiting.size(); ++k)
      c.add(mask[l], 1, both(t.wait_for[k], w.waiting[k][l]));
  }
  for (std::size_t k = 0; k < w.waiting.size(); ++k) c.add(s.wait[k], 1, t.wait_for[k]);
  speak_digit(c, s.digits.high, mask, waits);
}

// NEXT: the lowest pc of the lanes that run, or another quad, or back to the firmware (docs/machine.md,
// Waiting).
void speak_next(Circuit& c, Wires& w, const Speech& s, const Linear& next) {
  const auto scope = c.scope("next");
  const TokenInputs& t = w.token;
  const Signals& meeting = w.waiting[static_cast<std::size_t>(isa::WaitKind::Warp)];

  // A lane is beaten by one with a lower pc, or with the same one and a lower number. This among those that
  // run, and among those that wait for their warp.
  Signals beaten = circuit::bus_word(c, "beaten", lanes, {0, 3}),
          meet_beaten = circuit::bus_word(c, "meet_beaten", lanes, {0, 3});
  for (int i = 0; i < lanes; ++i)
    for (int j = i + 1; j < lanes; ++j) {
      const Comparison order =
          compare(c, fmt::format("lanes{}{}", i, j), w.lane_pc[at(i)], w.lane_pc[at(j)], 0);
      const Signal above = circuit::threshold(c, fmt::format("above{}{}", i, j), -order.order, 1);
      const auto beats = [&](const Signals& among, const Signals& bus) {
        c.add(bus[at(i)], 1, both(among[at(j)], above));
        c.add(bus[at(j)], 1, among[at(i)] - Linear(above));
      };
      beats(w.runnable, beaten);
      beats(meeting, meet_beaten);
    }
  const auto speak_pc = [&](const Signal& lowest, std::size_t l) {
    const Word pc(w.lane_pc[l]);
    speak_digit(c, s.pc_digits.low, slice(pc, 0, 4), lowest);
    speak_digit(c, s.pc_digits.high, slice(pc, 4, 3), lowest);
  };
  Linear running = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    running += w.runnable[l];
    const Signal lowest = c.bus(fmt::format("lowest[{}]", l));
    c.add(lowest, 1, both(next, w.runnable[l]) - beaten[l]);
    speak_pc(lowest, l);
    speak_digit(c, s.pc, slice(w.lane_pc[l], 7, 4), both(lowest, w.user()));
    speak_digit(c, s.firmware_pc, slice(w.lane_pc[l], 7, 2), both(lowest, w.system));
  }

  // The quad is left. A place to meet that is lower than the one spoken so far comes first.
  const Signal none = c.bus("none");
  c.add(none, 1, next - running);
  Linear meets = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    const Comparison order = compare(c, fmt::format("meet{}", l), w.lane_pc[l], w.meet, 0);
    const Signal below = circuit::threshold(c, fmt::format("below{}", l), order.order, 1);
    const Signal lower = c.bus(fmt::format("lower{}", l)), says = c.bus(fmt::format("meets{}", l));
    c.add(lower, 1, 1 - Linear(w.meet_holds));
    c.add(lower, 1, both(w.meet_holds, below));
    c.add(says, 1, all({none, meeting[l], lower, 1 - Linear(t.meet_none)}) - meet_beaten[l]);
    speak_pc(says, l);
    speak_digit(c, s.meet, slice(w.lane_pc[l], 7, 4), says);
    meets += says;
  }
  const Signal leaves = c.bus("leaves");
  c.add(leaves, 1, none - meets);

  const Signal another = c.bus("another_quad"), back = c.bus("back"), ends = c.bus("block_ends");
  c.add(another, 1, leaves - Linear(w.warp_end));
  const Linear at_end = both(leaves, w.warp_end);
  c.add(another, 1, at_end - w.last_quad - w.meet_holds);
  c.add(back, 1, all({leaves, w.warp_end, w.meet_holds}) - w.warp_yields);
  c.add(s.meet_none, 1, all({leaves, w.warp_end, w.meet_holds, w.warp_yields}));
  c.add(ends, 1, both(leaves, w.last_quad) - w.meet_holds);
  c.add(s.release_yield, 1, both(ends, w.yield_waits));
  const Signal still = c.bus("still");  // nobody yielded
  c.add(still, 1, ends - Linear(w.yield_waits));
  c.add(s.release_barrier, 1, both(still, w.barrier_waits) - w.named_waits);
  c.add(s.stuck, 1, all({still, w.barrier_waits, w.named_waits}));
  c.add(s.system, 1, still - Linear(w.barrier_waits));
  c.add(s.quad, 1, another);
  c.add(s.quad, 1, back);
  // quad + 1 in nibbles
  const Word quad(w.quad_bits), low = slice(quad, 0, 4), high = slice(quad, 4, 4);
  const Signal carry = circuit::and_(c, "carry", low);
  for (std::size_t v = 0; v < 16; ++v) {
    c.add(s.digits.low[v], 1, both(another, match(low, (v + 15) % 16)));
    c.add(s.digits.high[v], 1, both(another, match(high, v)) - Linear(carry));
    c.add(s.digits.high[v], 1, all({another, match(high, (v + 15) % 16), carry}));
    c.add(s.digits.high[v], 1, both(back, match(high, v)));
  }
  c.add(s.digits.low[0], 1, back - Linear(w.quad_bits[3]));
  c.add(s.digits.low[8], 1, both(back, w.quad_bits[3]));
}

// One way in which the next byte may be found: which byte of the lane is spoken, its value, and what the
// bytes above it are.
struct Spoken {
  std::size_t byte;
  Word value;          // [8]
  Linear here;         // it is this one
  Linear zeros, ones;  // the bytes above are all 0, all ff
};

// A whole word, from byte `next_byte` on. Memory comes so late that two MLPs are all there is: one for what
// this function makes, one for the tokens.
std::vector<Spoken> whole_word(Circuit& c, const Wires& w, const Word& word, const Linear& speaks,
                               const Signal& zero) {
  const auto bits = [&word](std::size_t from, std::size_t to) {
    return slice(word, static_cast<int>(8 * from), static_cast<int>(8 * (to - from)));
  };
  std::array<Linear, 4> here;
  for (std::size_t first = 0; first < 4; ++first) {
    const Signal starts = circuit::and_(c, fmt::format("starts[{}]", first), {speaks, w.next_byte[first]});
    // empty: from the first byte on to this one, all are 0.
    Linear before = starts;
    for (std::size_t byte = first; byte < 4; ++byte) {
      if (byte == 3 && first > 0) {
        here[byte] += before;  // something has to follow a byte that is not the last
        continue;
      }
      const Signal empty = byte == 3 ? zero : c.bus(fmt::format("empty[{}][{}]", first, byte));
      c.add(empty, 1, starts - circuit::sum(bits(first, byte + 1)));
      here[byte] += before - Linear(empty);
      before = empty;
    }
  }
  std::vector<Spoken> ways;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    Linear zeros = 1, ones = 0;
    if (byte < 3) {
      const Signal all_zero = c.bus(fmt::format("zeros[{}]", byte)),
                   all_one = c.bus(fmt::format("ones[{}]", byte));
      const Word above = bits(byte + 1, 4);
      c.add(all_zero, 1, speaks - circuit::sum(above));
      c.add(all_one, 1, speaks + circuit::sum(above) - static_cast<double>(above.size()));
      zeros = all_zero;
      ones = all_one;
    }
    ways.push_back({byte, bits(byte, byte + 1), here[byte], zeros, ones});
  }
  return ways;
}

// A part of a word of memory that a load moved to the low end, with zeros or its sign above.
std::vector<Spoken> part_of_word(Circuit& c, const Wires& w, const Linear& speaks, const Signal& zero) {
  const auto loads = [&](const char* name, Control control) {
    return circuit::and_(c, name,
                         {speaks, w.control_bit(control), w.control_bit(Control::Load), w.lane_executes});
  };
  const Signal byte_loaded = loads("loads_byte", Control::LoadByte),
               half_loaded = loads("loads_half", Control::LoadHalf);
  const Linear with_sign = w.control_bit(Control::LoadSigned);
  const Word place = slice(w.address, 0, 2);
  const auto loaded = [&](std::size_t byte) { return slice(w.loaded, static_cast<int>(8 * byte), 8); };
  std::vector<Spoken> ways;
  for (std::size_t p = 0; p < 4; ++p) {
    const Signal here = circuit::and_(c, fmt::format("byte[{}]", p), {byte_loaded, match(place, p)});
    const Signal negative =
        circuit::and_(c, fmt::format("byte_negative[{}]", p), {here, with_sign, loaded(p)[7]});
    ways.push_back({0, loaded(p), here, 1 - Linear(negative), negative});
  }
  for (std::size_t h = 0; h < 2; ++h) {
    const Word low = loaded(2 * h), high = loaded(2 * h + 1);
    const auto named = [h](const char* name) { return fmt::format("half.{}[{}]", name, h); };
    const Signal here = circuit::and_(c, named("here"), {half_loaded, match(slice(place, 1, 1), h)});
    const Signal first = circuit::and_(c, named("first"), {here, w.next_byte[0]}),
                 second = circuit::and_(c, named("second"), {here, w.next_byte[1]});
    const Signal low_empty = c.bus(named("low_empty")), both_empty = c.bus(named("empty"));
    c.add(low_empty, 1, first - circuit::sum(low));
    c.add(both_empty, 1, first - circuit::sum(low) - circuit::sum(high));
    c.add(zero, 1, first - circuit::sum(low) - circuit::sum(high));
    const Signal high_zero = c.bus(named("high_zero")), high_ones = c.bus(named("high_ones"));
    c.add(high_zero, 1, here - circuit::sum(high));
    c.add(high_ones, 1, both(here, with_sign) + circuit::sum(high) - 8);
    ways.push_back({0, low, first - Linear(low_empty), high_zero, high_ones});
    const Signal negative = circuit::and_(c, named("negative"), {here, with_sign, high[7]});
    ways.push_back({1, high, low_empty - Linear(both_empty) + second, 1 - Linear(negative), negative});
  }
  return ways;
}

// The next byte of a row, or of the new word of an atomic operation.
void speak_value(Circuit& c, Wires& w, const Speech& s, const Linear& speaks_old, const Linear& speaks_new,
                 const Linear& speaks_all) {
  const auto scope = c.scope("value");
  Word word;
  for (int i = 0; i < word_bits; ++i)
    word.push_back(w.result[at(i)] + Linear(w.old[at(i)]) + Linear(w.loaded[at(i)]) + Linear(w.shown[at(i)]));
  const Signal zero = c.bus("zero");  // the whole word is 0
  const Signal part = circuit::and_(
      c, "part", {w.control_bit(Control::LoadByte) + w.control_bit(Control::LoadHalf), w.lane_executes});
  std::vector<Spoken> ways =
      whole_word(c, w, word, speaks_old + speaks_new + speaks_all - Linear(part), zero);
  for (Spoken& way : part_of_word(c, w, speaks_old + speaks_all, zero)) ways.push_back(std::move(way));

  for (const Spoken& way : ways) {
    speak_digit(c, s.value_digits.low, slice(way.value, 0, 4), way.here);
    speak_digit(c, s.value_digits.high, slice(way.value, 4, 4), way.here);
    const auto say = [&](const Signals& more, const Signals& zeros, const Signals& ones,
                         const Linear& speaks) {
      const Linear here = both(way.here, speaks);
      c.add(zeros[way.byte], 1, both(here, way.zeros));
      if (way.byte == 3) return;
      c.add(ones[way.byte], 1, both(here, way.ones));
      c.add(more[way.byte], 1, here - way.zeros - way.ones);
    };
    for (std::size_t l = 0; l < lanes; ++l) {
      say(s.value[l], s.last_value[l], s.ones_value[l], both(w.select[l], speaks_old));
      say(s.new_value[l], s.last_new_value[l], s.ones_new_value[l], both(w.select[l], speaks_new));
    }
    say(s.all_value, s.last_all_value, s.ones_all_value, speaks_all);
  }
  c.add(s.value_digits.low[0], 1, zero);
  c.add(s.value_digits.high[0], 1, zero);
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(s.last_value[l][0], 1, all({zero, w.select[l], speaks_old}));
    c.add(s.last_new_value[l][0], 1, all({zero, w.select[l], speaks_new}));
  }
  c.add(s.last_all_value[0], 1, both(zero, speaks_all));
}

}  // namespace

void build_speech(Circuit& c, Wires& w, const Speech& s) {
  const auto scope = c.scope("say");
  const TokenInputs& t = w.token;
  const Word differs = differences(c, w);
  speak_op(c, w, s, differs);

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
    c.add(s.fault[static_cast<std::size_t>(isa::Fault::MisalignedAddress)][l], 1,
          both(w.first_bad[l], w.misaligned[l]));
    c.add(s.fault[static_cast<std::size_t>(isa::Fault::IllegalAddress)][l], 1,
          w.first_bad[l] - Linear(w.misaligned[l]));
    c.add(s.store[l], 1, t.want_store[l] - fault);
    if (l > 0) c.add(s.store[l], 1, both(following[l], t.store));
    c.add(s.copy[l], 1, t.want_copy[l] - fault);
    if (l > 0) c.add(s.copy[l], 1, both(following[l], t.copy));
  }
  c.add(s.fault[static_cast<std::size_t>(isa::Fault::IllegalInstruction)][0], 1, t.want_illegal);

  // <C> is followed by <KEEP> if a lane sits out.
  const Linear keep = w.control_bit(Control::Keep);
  c.add(s.operand_c, 1, t.want_c - fault);
  c.add(s.keep, 1, t.want_keep - fault);
  c.add(s.keep, 1, both(t.operand_c, keep));
  const Signal speaks_old = c.bus("value_wanted"), speaks_new = c.bus("new_value_wanted"),
               speaks_all = c.bus("all_values_wanted");
  c.add(speaks_old, 1, t.want_value - fault - w.turn - w.uniform);
  c.add(speaks_all, 1, t.want_all_values);
  c.add(speaks_all, 1, w.uniform);
  c.add(speaks_old, 1, t.operand_c - keep);
  c.add(speaks_new, 1, t.want_new_value);
  c.add(speaks_new, 1, w.turn);
  speak_value(c, w, s, speaks_old, speaks_new, speaks_all);
  for (std::size_t l = 1; l < lanes; ++l) c.add(s.read[l], 1, t.want_read[l]);

  // want_next is decided by the token alone, except after the last <ST>, <CP>, when lane 3 of an atomic
  // operation has its turn, and after the address of a fault.
  Signal finished = c.bus("finished");
  c.add(finished, 1, memory_token - more);
  const Signal abandoned = circuit::and_(c, "abandoned", {t.row_end, w.control_bit(Control::Faulted)});
  c.add(finished, 1, t.want_next - w.turn - abandoned);
  c.add(s.system, 1, abandoned);
  speak_next(c, w, s, speak_entry(c, w, s, finished, differs));
  speak_wait(c, w, s);
  c.add(s.release_barrier, 1, t.want_release_barrier);

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

// The integer data path: operands a, b, c of the selected lane -> result. Its units are silent (their columns
// 0) unless the control word of the op turns them on.
#include <fmt/format.h>

#include "machine/adder.h"
#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::bus_word;
using circuit::match;
using circuit::slice;

void build_move_and_logic(Circuit& c, Wires& w) {
  const auto scope = c.scope("logic");
  const Linear move = w.control_bit(Control::Move), select = w.control_bit(Control::Select);
  const Linear op_and = w.control_bit(Control::And), op_or = w.control_bit(Control::Or),
               op_xor = w.control_bit(Control::Xor);
  for (int i = 0; i < word_bits; ++i) {
    const Signal out = w.result[at(i)];
    const Linear a = w.a[at(i)], b = w.b[at(i)];
    c.add(out, 1, both(move, b));
    c.add(out, 1, all({op_and, a, b}));
    c.add(out, 1, both(op_or, a));
    c.add(out, 1, all({op_or, b, 1 - a}));
    c.add(out, 1, all({op_xor, a, 1 - b}));
    c.add(out, 1, all({op_xor, b, 1 - a}));
    c.add(out, 1, all({select, a, w.chosen}));
    c.add(out, 1, all({select, b, 1 - Linear(w.chosen)}));
  }
}

// a + addend + carry for IADD, ISUB and addresses.
void build_sum(Circuit& c, Wires& w) {
  const auto scope = c.scope("sum");
  const Linear subtract = both(w.control_bit(Control::SubtractB), w.lane_executes);
  const Linear increments = both(w.control_bit(Control::Increment), w.renews()),
               decrements = both(w.control_bit(Control::Decrement), w.renews());
  const Signals addend = bus_word(c, "addend", word_bits);
  for (int i = 0; i < word_bits; ++i) {
    c.add(addend[at(i)], 1, both(w.control_bit(Control::AddB), w.b[at(i)]));
    c.add(addend[at(i)], 1, both(w.offset[at(i)], w.lane_executes) - w.renews());
    c.add(addend[at(i)], 1, both(subtract, 1 - Linear(w.b[at(i)])));
    c.add(addend[at(i)], 1, decrements);
  }
  const Signal carry = c.bus("carry_in");
  c.add(carry, 1, subtract - w.control_bit(Control::Carry));
  c.add(carry, 1, both(w.chosen, w.lane_executes) - w.control_bit(Control::Select));
  c.add(carry, 1, increments);
  const ConditionalSum sum = conditional_sum(c, "adder", w.a, addend, carry);
  add_sum(c, sum, w.control_bit(Control::Sum), w.result);
  // INC and DEC count only where the word is in range, which min_max finds out.
  add_sum(c, sum, w.counts, w.result);

  // Memory is accessed by executing lanes of loads, at <ST> and <CP>, and where a new word is complete.
  w.address_used = c.bus("address_used");
  c.add(w.address_used, 1, both(w.control_bit(Control::Load), w.lane_executes) - w.renews() - w.token.commit);
  c.add(w.address_used, 1, w.token.store);
  c.add(w.address_used, 1, w.token.copy);
  c.add(w.address_used, 1, w.token.commit);
  w.address = bus_word(c, "address", 18);
  add_sum(c, sum, w.address_used, w.address);
  w.in_shared = c.bus("in_shared");
  add_sum(c, sum, shared_bit, w.address_used, {w.in_shared});
}

// What the selected lane's word of memory becomes, beyond what other units compute of it and b.
void build_renewal(Circuit& c, Wires& w) {
  const auto scope = c.scope("renewal");
  // The units that do the work are turned on only now: before, A is the address.
  for (const auto& [use, unit] : {std::pair{Control::NewSum, Control::Sum},
                                  {Control::NewSum, Control::AddB},
                                  {Control::NewMove, Control::Move},
                                  {Control::NewAnd, Control::And},
                                  {Control::NewOr, Control::Or},
                                  {Control::NewXor, Control::Xor},
                                  {Control::NewMinMax, Control::MinMax},
                                  {Control::NewFloatSum, Control::FloatAdd}})
    c.add(w.control_bit(unit), 1, both(w.renews(), w.control_bit(use)));

  // ST.8 and ST.16: the place in the word, from the low bits of address and offset.
  const Signal byte = circuit::and_(c, "merges_byte", {w.control_bit(Control::MergeByte), w.renews()}),
               half = circuit::and_(c, "merges_half", {w.control_bit(Control::MergeHalf), w.renews()});
  const Linear merges = both(w.control_bit(Control::Merge), w.renews());
  const Linear place = circuit::number(Word(w.address_low)) + circuit::number(slice(w.offset, 0, 2));
  Signals bytes, halves;
  for (int k = 0; k < 4; ++k)
    bytes.push_back(circuit::pwl(
        c, fmt::format("byte[{}]", k), place, 0, 6, [k](int n) { return n % 4 == k; }, byte));
  for (int k = 0; k < 2; ++k)
    halves.push_back(circuit::pwl(
        c, fmt::format("half[{}]", k), place, 0, 6, [k](int n) { return n / 2 % 2 == k; }, half));
  for (int i = 0; i < word_bits; ++i) {
    const Signal out = w.result[at(i)];
    c.add(out, 1, both(bytes[at(i / 8)], w.b[at(i % 8)]));
    c.add(out, 1, both(halves[at(i / 16)], w.b[at(i % 16)]));
    c.add(out, 1, both(merges, w.a[at(i)]) - bytes[at(i / 8)] - halves[at(i / 16)]);
  }
}

// Minimum and maximum, and the atomic operations that depend on an order: CAS, INC, DEC.
void build_min_max(Circuit& c, Wires& w) {
  const auto scope = c.scope("min_max");
  const Linear used = w.control_bit(Control::MinMax);
  const auto renews = [&](const char* name, Control control) {
    return circuit::and_(c, name, {w.control_bit(control), w.renews()});
  };
  const Signal swap = renews("swap", Control::CompareAndSwap),
               increment = renews("increment", Control::Increment),
               decrement = renews("decrement", Control::Decrement);
  const Linear any = used + swap + increment + decrement;
  // The comparison works on copies that are 0 unless it is wanted.
  const Signals a = circuit::gate(c, "a", any, Word(w.a)), b = circuit::gate(c, "b", any, Word(w.b));
  const Comparison order = compare(c, "compare", a, b, w.control_bit(Control::Signed));
  const Signal less = circuit::threshold(c, "less", order.order, 1);
  const Signal take_a = c.bus("take_a"), equal = c.bus("equal");
  c.add(take_a, 1, both(w.control_bit(Control::Min), less));
  c.add(take_a, 1, w.control_bit(Control::Max) - Linear(less));
  c.add(equal, 1, swap - order.differs);
  for (int i = 0; i < word_bits; ++i) {
    c.add(w.result[at(i)], 1, all({used, a[at(i)], take_a}));
    c.add(w.result[at(i)], 1, both(used, b[at(i)]) - Linear(take_a));
    c.add(w.result[at(i)], 1, both(equal, w.c[at(i)]));
    c.add(w.result[at(i)], 1, both(swap, a[at(i)]) - Linear(equal));
  }
  // DEC: b if the word is 0 or above b. Where INC and DEC stay in range, the adder counts.
  const Signal zero = c.bus("zero"), above = circuit::threshold(c, "above", -order.order, 1),
               wraps = c.bus("wraps");
  c.add(zero, 1, decrement - circuit::sum(Word(a)));
  c.add(wraps, 1, zero);
  c.add(wraps, 1, both(decrement, above));
  for (int i = 0; i < word_bits; ++i) c.add(w.result[at(i)], 1, both(wraps, b[at(i)]));
  w.counts = c.bus("counts");
  c.add(w.counts, 1, both(increment, less));
  c.add(w.counts, 1, decrement - Linear(wraps));
}

// a * b + c: the number of ones in each of 64 columns is one signal (a bus that every partial product adds
// to); counts become binary digits, which are counted again, until two rows are left for an adder.
void build_multiply(Circuit& c, Wires& w) {
  const auto scope = c.scope("multiply");
  const Linear used = w.control_bit(Control::Multiply);
  const Signals a = circuit::gate(c, "a", used, Word(w.a)), b = circuit::gate(c, "b", used, Word(w.b));
  constexpr int width = 2 * word_bits;

  // Signed factors (Baugh and Wooley): the products of one top bit with the other factor's lower bits count
  // inverted, and two ones are added, at 2^32 and 2^63. `negative` stands for 'signed, and this lane
  // executes'.
  const Linear negative = all({w.control_bit(Control::SignedProduct), w.lane_executes});
  std::vector<int> heights(width);
  Signals count;
  std::vector<int> inverted(width);
  for (int k = 0; k < width; ++k) {
    const int products = k < word_bits ? k + 1 : width - 1 - k;
    inverted[at(k)] = k >= word_bits - 1 && k < width - 2 ? 2 : 0;
    heights[at(k)] = products + (k < word_bits ? 1 : 0) + (k == 32 || k == width - 1 ? 1 : 0);
    count.push_back(c.bus(fmt::format("count[{}]", k), {0, static_cast<double>(heights[at(k)])}));
  }
  for (int i = 0; i < word_bits; ++i)
    for (int j = 0; j < word_bits; ++j) {
      const Signal column = count[at(i + j)];
      c.add(column, 1, both(a[at(i)], b[at(j)]));
      if ((i == word_bits - 1) != (j == word_bits - 1)) {
        c.add(column, -2, all({a[at(i)], b[at(j)], negative}));
        c.add(column, 1, negative);
      }
    }
  c.add(count[32], 1, negative);
  c.add(count[width - 1], 1, negative);
  for (int k = 0; k < word_bits; ++k) c.add(count[at(k)], 1, w.c[at(k)]);

  // One round: digits of the counts, counted by their weight.
  const auto compress = [&](const std::string& name, const Signals& in, std::vector<int>& most) {
    std::vector<int> next(width);
    for (int k = 0; k < width; ++k)
      for (int d = 0; most[at(k)] >> d != 0; ++d)
        if (k + d < width) ++next[at(k + d)];
    Signals out;
    for (int k = 0; k < width; ++k)
      out.push_back(c.bus(fmt::format("{}[{}]", name, k), {0, static_cast<double>(next[at(k)])}));
    for (int k = 0; k < width; ++k)
      for (int d = 0; most[at(k)] >> d != 0; ++d)
        if (k + d < width)
          circuit::add_pwl(c, out[at(k + d)], in[at(k)], 0, most[at(k)], [d](int n) { return n >> d & 1; });
    most = next;
    return out;
  };
  const Signals second = compress("second", count, heights);
  const Signals third = compress("third", second, heights);

  Word sums, carries = {0};
  for (int k = 0; k < width; ++k) {
    const int most = heights[at(k)];
    sums.push_back(
        circuit::pwl(c, fmt::format("sum[{}]", k), third[at(k)], 0, most, [](int n) { return n & 1; }));
    if (most > 1 && k + 1 < width)
      carries.push_back(
          circuit::pwl(c, fmt::format("carry[{}]", k), third[at(k)], 0, most, [](int n) { return n >> 1; }));
    else if (k + 1 < width)
      carries.push_back(0);
  }
  const ConditionalSum product = conditional_sum(c, "adder", sums, carries, 0);
  add_sum(c, product, 0, w.control_bit(Control::MultiplyLow), w.result);
  add_sum(c, product, word_bits, w.control_bit(Control::MultiplyHigh), w.result);
}

}  // namespace

void build_integer(Circuit& c, Wires& w) {
  const auto scope = c.scope("integer");
  build_move_and_logic(c, w);
  build_renewal(c, w);
  build_min_max(c, w);
  build_sum(c, w);
  build_multiply(c, w);
}

}  // namespace qwengpu::machine

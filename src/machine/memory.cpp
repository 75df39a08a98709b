// Global and shared memory: 32-bit cells over many layers, and the check of all four addresses before any
// lane commits.
#include <fmt/format.h>

#include "machine/adder.h"
#include "machine/units.h"

namespace qwengpu::machine {

using circuit::match;
using circuit::slice;

void build_address_check(Circuit& c, Wires& w) {
  const auto scope = c.scope("address_check");
  const TokenInputs& t = w.token;
  const Word immediate = w.field(isa::field::immediate);
  const Signals offset = circuit::gate(c, "offset", t.check, immediate);
  // Compare tokens put A on the same columns; their sums are not looked at.
  // Address bits that must be 0.
  const Control alignments[] = {Control::Align2, Control::Align4, Control::Align8, Control::Align16};
  Word aligned;
  for (const Control alignment : alignments)
    aligned.push_back(
        circuit::and_(c, std::string(control_name(alignment)), {w.control_bit(alignment), t.check}));
  w.bad = circuit::bus_word(c, "bad", lanes);
  w.misaligned = circuit::bus_word(c, "misaligned", lanes);
  w.first_bad = circuit::bus_word(c, "first_bad", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    const auto lane = c.scope(fmt::format("lane{}", l));
    const ConditionalSum sum = conditional_sum(c, "adder", w.a_lanes[l], offset, 0);
    const Signals address = circuit::bus_word(c, "address", word_bits);
    add_sum(c, sum, t.check, address);

    Linear low_bits = 0;
    for (std::size_t i = 0; i < aligned.size(); ++i)
      low_bits += circuit::and_(c, fmt::format("misaligned[{}]", i), {aligned[i], address[i]});
    const Signal shared = address[shared_bit];
    Linear beyond = 0;
    for (std::size_t i = 18; i < word_bits; ++i)
      if (i != shared_bit) beyond += address[i];
    const Word page = slice(address, 8, 10);
    const auto below = [&](const std::string& name, const Signals& limit) {
      return circuit::threshold(c, "below_" + name, compare(c, name, page, limit, 0).order, 1);
    };
    const Signal below_limit = below("limit", w.limit), below_shared = below("shared_limit", w.shared_limit);
    const Signal null_page = c.bus("null_page"), outside = c.bus("outside");
    c.add(null_page, 1, t.check - circuit::sum(page) - beyond - Linear(w.system) - Linear(shared));
    c.add(outside, 1, t.check - Linear(below_limit) - Linear(shared));
    c.add(outside, 1, both(t.check, shared) - Linear(below_shared));

    // Reasons to refuse; at most 1 of each counts once the sum is cut off at 1.
    const Linear reasons = low_bits + beyond + null_page + outside;
    add_positive(c, w.bad[l], reasons, w.executing[l]);
    add_positive(c, w.misaligned[l], low_bits, w.executing[l]);
  }
  // The lanes' addresses are one when their registers are.
  const Signal differs = c.bus("differs", {0, (lanes - 1) * word_bits});
  for (std::size_t l = 1; l < lanes; ++l)
    for (int i = 0; i < word_bits; ++i) {
      c.add(differs, 1, w.a_lanes[l][at(i)] - w.a_lanes[0][at(i)]);
      c.add(differs, 1, w.a_lanes[0][at(i)] - w.a_lanes[l][at(i)]);
    }
  w.uniform = c.bus("uniform");
  c.add(w.uniform, 1, t.may_broadcast - Linear(differs) - circuit::sum(Word(w.bad)));
  const Word source = w.field(isa::field::b_source);  // an immediate or a constant
  c.add(w.uniform, 1, all({t.may_be_number, source[0], 1 - source[1]}));
  c.add(w.uniform, 1, all({t.may_be_number, 1 - source[0], source[1]}));

  Linear lower = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(w.first_bad[l], 1, w.bad[l] - lower);
    lower += w.bad[l];
  }
}

void build_memory(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("memory");
  const TokenInputs& t = w.token;
  const Word address(w.address);
  const Linear used = w.address_used,
               loads = both(w.control_bit(Control::Load), w.lane_executes) - w.renews() - Linear(t.commit);
  const Linear writes = t.store + t.copy + t.commit;

  // Byte address: word of the line 2..3, key 4..10, group of four heads 11..12, layer 13..17 of global or of
  // shared memory.
  const SplitOneHot key = split_decode(c, "key", slice(address, 4, 7), 4, used);
  Signals group, write_word, read_head;
  // The head of a layer that holds the word: group and word.
  const auto is_head = [&](std::size_t i) {
    return both(match(slice(address, 11, 2), i / 4), match(slice(address, 2, 2), i % 4));
  };
  for (std::size_t i = 0; i < 16; ++i)
    read_head.push_back(circuit::and_(c, fmt::format("read_head[{}]", i), {loads, is_head(i)}));
  c.exclusive(read_head);
  for (std::size_t i = 0; i < 4; ++i) {
    group.push_back(circuit::and_(c, fmt::format("group[{}]", i), {used, match(slice(address, 11, 2), i)}));
    write_word.push_back(c.bus(fmt::format("write_word[{}]", i)));
    c.add(write_word.back(), 1, both(t.store + t.commit, match(slice(address, 2, 2), i)));
    c.add(write_word.back(), 1, t.copy);
  }
  c.exclusive(group);
  Signals data = circuit::bus_word(c, "data", row_bits);
  for (int i = 0; i < row_bits; ++i) {
    c.add(data[at(i)], 1, both(t.store, w.b[at(i % word_bits)]));
    c.add(data[at(i)], 1, both(t.commit, w.stored[at(i % word_bits)]));
    c.add(data[at(i)], 1, both(t.copy, w.host_line[at(i)]));
  }

  w.loaded = circuit::bus_word(c, "loaded", word_bits);
  bool first = true;
  const auto build_space = [&](const std::string& space, const std::vector<int>& layers, const Linear& here,
                               const Linear& clear) {
    const auto is_layer = [&](std::size_t i) { return both(match(slice(address, 13, 5), i), here); };
    Signals read_layer;
    for (std::size_t i = 0; i < layers.size(); ++i)
      read_layer.push_back(
          circuit::and_(c, fmt::format("{}.read_layer[{}]", space, i), {loads, is_layer(i)}));
    c.exclusive(read_layer);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      // Selected by the MLP just before, so that few columns stay on the residual stream.
      const auto late = c.not_before(layers[layer] - 1);
      const Signal write =
          circuit::and_(c, fmt::format("{}.write_layer[{}]", space, layer), {writes, is_layer(layer)});
      for (std::size_t g = 0; g < 4; ++g)
        for (std::size_t word = 0; word < 4; ++word) {
          HeadSpec head{.name = fmt::format("{}{}.{}.{}", space, layer, g, word), .layer = layers[layer]};
          head.key = head.query = key.rows();
          head.value = circuit::rows(slice(data, word_bits * static_cast<int>(word), word_bits));
          head.write_enable = circuit::write_when(all({write, group[g], write_word[word]}));
          head.clear = clear;
          // One column selects the rows of z. The first layer comes too early for the product of two
          // one-hots.
          const Linear both_say = first ? all({loads, is_layer(0), is_head(4 * g + word)})
                                        : both(read_layer[layer], read_head[4 * g + word]);
          head.z = circuit::same_rows(
              circuit::and_(c, fmt::format("{}.read{}.{}.{}", space, layer, g, word), {both_say}), word_bits);
          for (int i = 0; i < word_bits; ++i) head.outputs.push_back({i, w.loaded[at(i)]});
          c.head(std::move(head));
        }
      first = false;
    }
  };
  build_space("shared", plan.shared, w.in_shared, t.run);
  build_space("global", plan.global, 1 - Linear(w.in_shared), 0);
}

}  // namespace qwengpu::machine

// Global memory: 32-bit cells over many layers, and the check of all four addresses before any lane commits.
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
  const Linear lines = both(w.control_bit(Control::CopyHost), t.check);
  w.bad = circuit::bus_word(c, "bad", lanes);
  w.misaligned = circuit::bus_word(c, "misaligned", lanes);
  w.first_bad = circuit::bus_word(c, "first_bad", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    const auto lane = c.scope(fmt::format("lane{}", l));
    const ConditionalSum sum = conditional_sum(c, "adder", w.a_lanes[l], offset, 0);
    const Signals address = circuit::bus_word(c, "address", word_bits);
    add_sum(c, sum, t.check, address);

    Linear low_bits = Linear(address[0]) + Linear(address[1]);
    for (std::size_t i = 2; i < 4; ++i)
      low_bits += circuit::and_(c, fmt::format("line[{}]", i), {lines, address[i]});
    Linear beyond = 0;
    for (std::size_t i = 18; i < word_bits; ++i) beyond += address[i];
    const Word page = slice(address, 8, 10);
    const Comparison order = compare(c, "limit", page, w.limit, 0);
    const Signal below_limit = circuit::threshold(c, "below_limit", order.order, 1);
    const Signal null_page = c.bus("null_page");
    c.add(null_page, 1, t.check - circuit::sum(page) - beyond - Linear(w.system));

    // Reasons to refuse; at most 1 of each counts once the sum is cut off at 1.
    const Linear reasons = low_bits + beyond + null_page + (t.check - Linear(below_limit));
    add_positive(c, w.bad[l], reasons, w.executing[l]);
    add_positive(c, w.misaligned[l], low_bits, w.executing[l]);
  }
  Linear lower = 0;
  for (std::size_t l = 0; l < lanes; ++l) {
    c.add(w.first_bad[l], 1, w.bad[l] - lower);
    lower += w.bad[l];
  }
}

void build_global(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("global");
  const TokenInputs& t = w.token;
  const Word address(w.address);
  const Linear used = w.address_used, loads = both(w.control_bit(Control::Load), w.lane_executes);
  const Linear writes = t.store + t.copy;

  // Byte address: word of the line 2..3, key 4..10, group of four heads 11..12, layer 13..17.
  const SplitOneHot key = split_decode(c, "key", slice(address, 4, 7), 4, used);
  Signals group, write_word, read_head, read_layer;
  // The head of a layer that holds the word: group and word.
  const auto is_head = [&](std::size_t i) {
    return both(match(slice(address, 11, 2), i / 4), match(slice(address, 2, 2), i % 4));
  };
  const auto is_layer = [&](std::size_t i) { return match(slice(address, 13, 5), i); };
  for (std::size_t i = 0; i < 16; ++i)
    read_head.push_back(circuit::and_(c, fmt::format("read_head[{}]", i), {loads, is_head(i)}));
  c.exclusive(read_head);
  for (std::size_t i = 0; i < plan.global.size(); ++i)
    read_layer.push_back(circuit::and_(c, fmt::format("read_layer[{}]", i), {loads, is_layer(i)}));
  c.exclusive(read_layer);
  for (std::size_t i = 0; i < 4; ++i) {
    group.push_back(circuit::and_(c, fmt::format("group[{}]", i), {used, match(slice(address, 11, 2), i)}));
    write_word.push_back(c.bus(fmt::format("write_word[{}]", i)));
    c.add(write_word.back(), 1, both(t.store, match(slice(address, 2, 2), i)));
    c.add(write_word.back(), 1, t.copy);
  }
  c.exclusive(group);
  Signals data = circuit::bus_word(c, "data", row_bits);
  for (int i = 0; i < row_bits; ++i) {
    c.add(data[static_cast<std::size_t>(i)], 1, both(t.store, w.b[static_cast<std::size_t>(i % word_bits)]));
    c.add(data[static_cast<std::size_t>(i)], 1, both(t.copy, w.host_line[static_cast<std::size_t>(i)]));
  }

  w.loaded = circuit::bus_word(c, "loaded", word_bits);
  for (std::size_t layer = 0; layer < plan.global.size(); ++layer) {
    // Selected by the MLP just before, so that few columns stay on the residual stream.
    const auto late = c.not_before(plan.global[layer] - 1);
    const Signal write = circuit::and_(c, fmt::format("write_layer[{}]", layer), {writes, is_layer(layer)});
    for (std::size_t g = 0; g < 4; ++g)
      for (std::size_t word = 0; word < 4; ++word) {
        HeadSpec head{.name = fmt::format("cells{}.{}.{}", layer, g, word), .layer = plan.global[layer]};
        head.key = head.query = key.rows();
        head.value = circuit::rows(slice(data, word_bits * static_cast<int>(word), word_bits));
        head.write_enable = circuit::write_when(all({write, group[g], write_word[word]}));
        // One column selects the rows of z. The first layer comes too early for the product of two one-hots.
        const Linear both_say = layer == 0 ? all({loads, is_layer(0), is_head(4 * g + word)})
                                           : both(read_layer[layer], read_head[4 * g + word]);
        head.z = circuit::same_rows(circuit::and_(c, fmt::format("read{}.{}.{}", layer, g, word), {both_say}), word_bits);
        for (int i = 0; i < word_bits; ++i) head.outputs.push_back({i, w.loaded[static_cast<std::size_t>(i)]});
        c.head(std::move(head));
      }
  }
}

}  // namespace qwengpu::machine

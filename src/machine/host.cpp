// Host staging: what came in with the prompt, 4096 lines of 16 bytes. Read a word at a time by LDH, a line at a time at <CP>.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {

using circuit::match;
using circuit::slice;

void build_host(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("host");
  const TokenInputs& t = w.token;
  const Signal load = c.bus("load"), used = c.bus("used");
  const Linear loads = both(w.control_bit(Control::LoadHost), w.lane_executes);
  c.add(load, 1, loads);
  c.add(used, 1, loads);
  c.add(used, 1, t.copy);

  // Byte address b: word bits 2..3, key 4..10, head 11..14, layer 15.
  const SplitOneHot key = split_decode(c, "key", slice(w.b, 4, 7), 4, used);
  Signals head_at, layer_at, word_at;
  for (std::size_t i = 0; i < 16; ++i) head_at.push_back(circuit::and_(c, fmt::format("head[{}]", i), {used, match(slice(w.b, 11, 4), i)}));
  for (std::size_t i = 0; i < 2; ++i) layer_at.push_back(circuit::and_(c, fmt::format("layer[{}]", i), {used, match(slice(w.b, 15, 1), i)}));
  for (std::size_t i = 0; i < 4; ++i) {
    word_at.push_back(c.bus(fmt::format("word[{}]", i)));
    c.add(word_at.back(), 1, both(load, match(slice(w.b, 2, 2), i)));
    c.add(word_at.back(), 1, t.copy);
  }

  w.host_line = circuit::bus_word(c, "line", row_bits);
  const Linear written = both(t.row_end, w.control_bit(Control::ToHost));
  for (std::size_t layer = 0; layer < plan.host.size(); ++layer)
    for (std::size_t h = 0; h < 16; ++h) {
      HeadSpec head{.name = fmt::format("bank{}", 16 * layer + h), .layer = plan.host[layer]};
      head.clear = t.begins_prompt;
      head.key = circuit::rows(w.number_low);
      head.query = key.rows();
      head.value = circuit::rows(w.staged);
      head.write_enable = circuit::write_when(both(written, w.number_high[16 * layer + h]));
      for (int i = 0; i < row_bits; ++i) {
        head.z.push_back({i, all({head_at[h], layer_at[layer], word_at[static_cast<std::size_t>(i / word_bits)]})});
        head.outputs.push_back({i, w.host_line[static_cast<std::size_t>(i)]});
      }
      c.head(std::move(head));
    }
  for (int i = 0; i < row_bits; ++i)
    c.add(w.result[static_cast<std::size_t>(i % word_bits)], 1, both(load, w.host_line[static_cast<std::size_t>(i)]));
}

}  // namespace qwengpu::machine

// What threads show to their warp: a word (SHFL.PUT) or a predicate (VOTE.PUT) a thread. A head a lane and
// half of the quads; the word of a quad has 32 bits, and a vote in one of eight more, by the quad's place in
// its warp, so that one query reads the votes of all eight.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {

using circuit::match;
using circuit::slice;

void build_warp(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("warp");
  const TokenInputs& t = w.token;
  constexpr int quads = Parameters::warp_lanes / lanes;
  const Signal get_word = executes(c, w, Control::GetWord), get_vote = executes(c, w, Control::GetVote);

  // Thread number a: lane 0..1, quad 2..9. Votes: the quads of the warp, 8 keys at once.
  const SplitOneHot query{circuit::bus_word(c, "query.high", 8), circuit::bus_word(c, "query.low", 16)};
  c.exclusive(query.high);
  for (std::size_t i = 0; i < query.high.size(); ++i) {
    c.add(query.high[i], 1, both(get_word, match(slice(w.a, 6, 3), i)));
    c.add(query.high[i], 1, both(get_vote, match(slice(w.warp_bits, 1, 3), i)));
  }
  for (std::size_t i = 0; i < query.low.size(); ++i) {
    c.add(query.low[i], 1, both(get_word, match(slice(w.a, 2, 4), i)));
    c.add(query.low[i], 1, both(get_vote, match(slice(w.warp_bits, 0, 1), i / quads)));
  }

  const Signal word = circuit::and_(c, "word", {t.puts, w.control_bit(Control::PutWord)}),
               vote = circuit::and_(c, "vote", {t.puts, w.control_bit(Control::PutVote)});
  w.shown = circuit::bus_word(c, "result", word_bits);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (std::size_t half = 0; half < 2; ++half) {
      const int h = static_cast<int>(half);
      HeadSpec head{.name = fmt::format("shown{}.{}", lane, half), .layer = plan.warp};
      head.key = w.quad_key.rows();
      head.query = query.rows();
      for (int i = 0; i < word_bits; ++i) head.value.push_back({i, both(word, w.b_lanes[lane][at(i)])});
      for (int q = 0; q < quads; ++q)
        head.value.push_back(
            {word_bits + q,
             all({vote, w.source_q[lane], match(slice(w.quad_bits, 0, 3), static_cast<std::uint64_t>(q))})});
      head.write_enable = circuit::write_when(all({t.puts, w.executing[lane], w.in_half(h), w.user()}));
      const auto selected = [&](const char* name, const Word& conditions) {
        return circuit::and_(c, fmt::format("{}{}.{}", name, lane, half), conditions);
      };
      head.z = circuit::same_rows(
          selected("get_word", {get_word, match(slice(w.a, 0, 2), lane), match(slice(w.a, 9, 1), half)}),
          word_bits);
      const Signal votes = selected("get_vote", {get_vote, match(slice(w.warp_bits, 4, 1), half)});
      for (int i = 0; i < word_bits; ++i) head.outputs.push_back({i, w.shown[at(i)]});
      for (int q = 0; q < quads; ++q) {
        head.z.push_back({word_bits + q, votes});
        head.outputs.push_back({word_bits + q, w.shown[at(lanes * q) + lane]});
      }
      c.head(std::move(head));
    }
}

}  // namespace qwengpu::machine

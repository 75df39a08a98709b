// Which lanes of the quad live, wait or run, and whether it is the last one of its block or warp.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

// Lanes that live: they exist and have not ended. [4]
Signals living_lanes(Circuit& c, Wires& w) {
  const Linear used = w.token.use_pcs;
  Linear differs = 0;  // from the quad of the block's last thread
  for (std::size_t i = 0; i < 8; ++i)
    differs += circuit::xor_(c, circuit::indexed("differs", static_cast<int>(i)), w.quad_bits[i],
                             w.last_thread[2 + i]);
  w.last_quad = c.bus("last_quad");
  c.add(w.last_quad, 1, used - differs - Linear(w.system));
  const Linear last_of_warp = all({w.quad_bits[0], w.quad_bits[1], w.quad_bits[2]});
  w.warp_end = c.bus("warp_end");
  c.add(w.warp_end, 1, w.last_quad);
  c.add(w.warp_end, 1, last_of_warp - Linear(w.last_quad));

  // Lanes of the last quad after the last thread do not exist.
  const Linear low = w.last_thread[0], high = w.last_thread[1];
  const Signal missing1 = c.bus("missing[1]"), missing2 = c.bus("missing[2]"), missing3 = c.bus("missing[3]");
  c.add(missing1, 1, w.last_quad - low - high);
  c.add(missing2, 1, w.last_quad - high);
  c.add(missing3, 1, w.last_quad - high);
  c.add(missing3, 1, all({w.last_quad, high, 1 - low}));
  const Linear missing[lanes] = {0, missing1, missing2, missing3};

  const Signals alive = circuit::bus_word(c, "alive", lanes);
  for (std::size_t l = 0; l < lanes; ++l) c.add(alive[l], 1, used - w.dead[l] - missing[l]);
  return alive;
}

}  // namespace

void build_scheduler(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("scheduler");
  const TokenInputs& t = w.token;
  const Signals alive = living_lanes(c, w);

  // A mask a quad for each kind of waiting.
  w.quad_key = split_decode(c, "quad", circuit::slice(w.quad_bits, 0, 7), 4, both(t.use_pcs, w.user()));
  Signals read;  // of each half of the quads
  for (int h = 0; h < 2; ++h)
    read.push_back(circuit::and_(c, circuit::indexed("read", h), {t.use_pcs, w.in_half(h), w.user()}));
  for (std::size_t k = 0; k < w.waiting.size(); ++k) {
    const std::string name = fmt::format("waiting.{}", isa::wait_letters[k]);
    w.waiting[k] = circuit::bus_word(c, name, lanes);
    for (int h = 0; h < 2; ++h) {
      HeadSpec head{.name = fmt::format("{}.{}", name, h), .layer = plan.warp};
      head.key = head.query = w.quad_key.rows();
      head.value = circuit::rows(t.mask);
      head.write_enable = circuit::write_when(all({t.waiting[k], w.in_half(h), w.user()}));
      head.z = circuit::same_rows(read[at(h)], lanes);
      head.clear = t.run;
      for (int lane = 0; lane < lanes; ++lane) head.outputs.push_back({lane, w.waiting[k][at(lane)]});
      c.head(std::move(head));
    }
  }

  w.runnable = circuit::bus_word(c, "runnable", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    Linear waits = 0;
    for (const Signals& kind : w.waiting) waits += kind[l];
    c.add(w.runnable[l], 1, alive[l] - waits);
  }
}

}  // namespace qwengpu::machine

// Which lanes of the quad live, and whether it is the block's last quad.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {

void build_scheduler(Circuit& c, Wires& w) {
  const auto scope = c.scope("scheduler");
  const Linear used = w.token.use_pcs;

  Linear differs = 0;  // from the quad of the block's last thread
  for (std::size_t i = 0; i < 8; ++i)
    differs += circuit::xor_(c, circuit::indexed("differs", static_cast<int>(i)), w.quad_bits[i], w.last_thread[2 + i]);
  w.last_quad = c.bus("last_quad");
  c.add(w.last_quad, 1, used - differs - Linear(w.system));

  // Lanes of the last quad after the last thread do not exist.
  const Linear low = w.last_thread[0], high = w.last_thread[1];
  const Signal missing1 = c.bus("missing[1]"), missing2 = c.bus("missing[2]"), missing3 = c.bus("missing[3]");
  c.add(missing1, 1, w.last_quad - low - high);
  c.add(missing2, 1, w.last_quad - high);
  c.add(missing3, 1, w.last_quad - high);
  c.add(missing3, 1, all({w.last_quad, high, 1 - low}));
  const Linear missing[lanes] = {0, missing1, missing2, missing3};

  w.alive = circuit::bus_word(c, "alive", lanes);
  for (std::size_t l = 0; l < lanes; ++l)
    c.add(w.alive[l], 1, used - w.dead[l] - missing[l]);
}

}  // namespace qwengpu::machine

// Predicates: a head for each of P0 .. P6 and half of the quads, the word of a quad is its mask; one head for the firmware.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {
namespace {

using circuit::match;

// P[n], n read from a field of the instruction; PT reads 1. [4]
Signals multiplex(Circuit& c, const Wires& w, const std::string& name, isa::Field field, const Linear& when) {
  Signals out = circuit::bus_word(c, name, lanes);
  const Word number = w.field(field);
  for (int lane = 0; lane < lanes; ++lane) {
    const auto l = static_cast<std::size_t>(lane);
    for (std::size_t p = 0; p < w.predicates.size(); ++p)
      c.add(out[l], 1, all({when, match(number, p), w.predicates[p][l]}));
    c.add(out[l], 1, both(when, match(number, isa::pt)));
  }
  return out;
}

Signals negate_if(Circuit& c, const std::string& name, const Signals& bits, const Linear& negated, const Linear& when) {
  Signals out = circuit::bus_word(c, name, lanes);
  for (std::size_t l = 0; l < bits.size(); ++l) {
    c.add(out[l], 1, bits[l] - negated);
    c.add(out[l], 1, all({when, negated, 1 - Linear(bits[l])}));
  }
  return out;
}

}  // namespace

void build_predicates(Circuit& c, Wires& w, const FloorPlan& plan) {
  const auto scope = c.scope("predicates");
  const TokenInputs& t = w.token;

  for (int p = 0; p < Parameters::predicates; ++p) {
    Signals& mask = w.predicates[static_cast<std::size_t>(p)];
    mask = circuit::bus_word(c, fmt::format("P{}", p), lanes);
    for (int h = 0; h < 2; ++h) {
      HeadSpec head{.name = fmt::format("P{}.{}", p, h), .layer = plan.predicates};
      head.key = head.query = circuit::rows(w.quad_low);
      head.value = circuit::rows(t.mask);
      head.write_enable = circuit::write_when(all({t.predicate[static_cast<std::size_t>(p)], w.in_half(h), w.user()}));
      head.z = circuit::same_rows(all({t.use_predicates, w.in_half(h), w.user()}), lanes);
      head.clear = t.run;
      for (int lane = 0; lane < lanes; ++lane) head.outputs.push_back({lane, mask[static_cast<std::size_t>(lane)]});
      c.head(std::move(head));
    }
  }

  HeadSpec head{.name = "firmware", .layer = plan.predicates};
  head.clear = t.go;
  Linear any = 0;
  for (int p = 0; p < Parameters::predicates; ++p) {
    const Signal written = t.predicate[static_cast<std::size_t>(p)];
    any += written;
    head.key.push_back({p, written});
    head.query.push_back({p, t.use_predicates});
    for (int lane = 0; lane < lanes; ++lane) {
      const int dim = lanes * p + lane;
      head.value.push_back({dim, both(written, t.mask[static_cast<std::size_t>(lane)])});
      head.z.push_back({dim, both(t.use_predicates, w.system)});
      head.outputs.push_back({dim, w.predicates[static_cast<std::size_t>(p)][static_cast<std::size_t>(lane)]});
    }
  }
  head.write_enable = circuit::write_when(both(any, w.system));
  c.head(std::move(head));

  const auto bit = [&w](isa::Field field) { return w.field(field).front(); };
  w.guard = multiplex(c, w, "guard", isa::field::guard, t.pc);
  const Signals q = multiplex(c, w, "q", isa::field::pa, t.predicate_sources);
  const Signals r = multiplex(c, w, "r", isa::field::pb, t.predicate_sources);
  w.source_q = negate_if(c, "source_q", q, bit(isa::field::pa_negated), t.predicate_sources);
  w.source_r = negate_if(c, "source_r", r, bit(isa::field::pb_negated), t.predicate_sources);
  w.old_predicate = multiplex(c, w, "old", isa::field::pd, t.writes_predicate);
}

}  // namespace qwengpu::machine

// ISETP and PLOP: every lane at once, so that the new predicate is one token.
#include <fmt/format.h>

#include "machine/adder.h"
#include "machine/units.h"

namespace qwengpu::machine {

void build_compare(Circuit& c, Wires& w) {
  const auto scope = c.scope("compare");
  const TokenInputs& t = w.token;
  const Linear less_counts = both(w.control_bit(Control::Less), t.compare),
               equal_counts = both(w.control_bit(Control::Equal), t.compare);
  const Linear op_and = w.control_bit(Control::PredicateAnd), op_or = w.control_bit(Control::PredicateOr),
               op_xor = w.control_bit(Control::PredicateXor);
  w.new_predicate = circuit::bus_word(c, "new", lanes);
  for (std::size_t l = 0; l < lanes; ++l) {
    // Of the compare tokens only: at address checks operand A is on its columns as well.
    const Comparison order =
        compare(c, fmt::format("lane{}", l), w.a_lanes[l], w.b_lanes[l], w.control_bit(Control::Signed));
    const Signal less = circuit::threshold(c, fmt::format("less[{}]", l), order.order, 1);
    const Signal equal = c.bus(fmt::format("equal[{}]", l));
    c.add(equal, 1, t.compare - order.differs);
    const Signal out = w.new_predicate[l];
    c.add(out, 1, both(less_counts, less));
    c.add(out, 1, both(equal_counts, equal));
    const Linear q = w.source_q[l], r = w.source_r[l];
    c.add(out, 1, all({op_and, q, r}));
    c.add(out, 1, both(op_or, q));
    c.add(out, 1, all({op_or, r, 1 - q}));
    c.add(out, 1, all({op_xor, q, 1 - r}));
    c.add(out, 1, all({op_xor, r, 1 - q}));
  }
}

}  // namespace qwengpu::machine

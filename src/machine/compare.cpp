// ISETP, FSETP and PLOP: every lane at once, so that the new predicate is one token.
#include <fmt/format.h>

#include "machine/adder.h"
#include "machine/float_compare.h"
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
  const Signal floats = circuit::and_(c, "floats", {t.compare, w.control_bit(Control::FloatCompare)});
  for (std::size_t l = 0; l < lanes; ++l) {
    // Counted at compare tokens only: at address checks operand A is on its columns as well.
    const Comparison order =
        compare(c, fmt::format("lane{}", l), w.a_lanes[l], w.b_lanes[l], w.control_bit(Control::Signed));
    const Signal less = circuit::threshold(c, fmt::format("less[{}]", l), order.order, 1);
    const Signal equal = c.bus(fmt::format("equal[{}]", l));
    c.add(equal, 1, t.compare - order.differs);
    const Signal out = w.new_predicate[l];
    c.add(out, 1, both(less_counts, less));
    c.add(out, 1, both(equal_counts, equal));
    const Word a = with_sign(c, fmt::format("sign_a[{}]", l), w.a_lanes[l], w.absolute_a, w.negate_a, floats);
    const Word b = with_sign(c, fmt::format("sign_b[{}]", l), w.b_lanes[l], w.absolute_b, w.negate_b, floats);
    const FloatOrder numbers = float_order(c, fmt::format("float{}", l), a, b, w.flush, floats);
    c.add(out, 1, both(w.control_bit(Control::FloatLess), numbers.less));
    c.add(out, 1, both(w.control_bit(Control::FloatEqual), numbers.equal));
    c.add(out, 1, both(w.control_bit(Control::FloatUnordered), numbers.unordered));
    c.add(out, 1, both(floats, w.control_bit(Control::FloatGreater)) - numbers.less - numbers.equal - numbers.unordered);
    const Linear q = w.source_q[l], r = w.source_r[l];
    c.add(out, 1, all({op_and, q, r}));
    c.add(out, 1, both(op_or, q));
    c.add(out, 1, all({op_or, r, 1 - q}));
    c.add(out, 1, all({op_xor, q, 1 - r}));
    c.add(out, 1, all({op_xor, r, 1 - q}));
  }
}

}  // namespace qwengpu::machine

#include "circuit/gates.h"

#include <fmt/format.h>

#include <algorithm>

namespace qwengpu::circuit {

namespace {

Range join(Range a, Range b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

double count(const Word& bits) { return static_cast<double>(bits.size()); }

// g(lo) = 0:  g(s) = sum over t of (second difference at t) * relu(s - t)
int add_from_left(Circuit* c, Signal bus, const Linear& form, int lo, int hi,
                  const std::function<int(int)>& g, const Linear& when) {
  int neurons = 0;
  int slope = 0;
  for (int t = lo; t < hi; ++t) {
    const int next = g(t + 1) - g(t);
    if (next == slope) continue;
    if (c != nullptr) c->add(bus, next - slope, form - t, when);
    slope = next;
    ++neurons;
  }
  return neurons;
}

// A function that is not 0 at its left end takes one neuron more, f(lo) * relu(lo + 1 - s), which is on at s
// = lo alone. (A constant would be a neuron that fires at every token.) Returns the number of neurons; c may
// be null to count only.
int add_with_start(Circuit* c, Signal bus, const Linear& form, int lo, int hi,
                   const std::function<int(int)>& f, const Linear& when) {
  if (lo == hi) {
    if (c != nullptr) c->add(bus, f(lo), when);
    return 1;
  }
  const int start = f(lo);
  if (start == 0) return add_from_left(c, bus, form, lo, hi, f, when);
  if (c != nullptr) c->add(bus, start, lo + 1 - form, when);
  return 1 + add_from_left(
                 c, bus, form, lo, hi, [&](int s) { return s == lo ? 0 : f(s); }, when);
}

}  // namespace

std::string indexed(const std::string& name, int i) { return fmt::format("{}[{}]", name, i); }

// --- Bits
// ------------------------------------------------------------------------------------------------------------------

Signal and_(Circuit& c, const std::string& name, const Word& bits) {
  const Signal out = c.bus(name);
  c.add(out, 1, sum(bits) - (count(bits) - 1));
  return out;
}

Signal nor_(Circuit& c, const std::string& name, const Word& bits) {
  const Signal out = c.bus(name);
  c.add(out, 1, 1 - sum(bits));
  return out;
}

Signal or_(Circuit& c, const std::string& name, const Word& bits) { return threshold(c, name, sum(bits), 1); }

Signal xor_(Circuit& c, const std::string& name, const Linear& a, const Linear& b) {
  return parity(c, name, {a, b});
}

Signal parity(Circuit& c, const std::string& name, const Word& bits) {
  const Signal out = c.bus(name);
  c.add(out, 0, 0);  // the parity of no bits is 0
  add_from_left(
      &c, out, sum(bits), 0, static_cast<int>(bits.size()), [](int s) { return s & 1; }, 1);
  return out;
}

Linear match(const Word& bits, std::uint64_t value) {
  if (bits.size() < 64 && value >> bits.size() != 0) return 0;  // no assignment of the bits spells it
  Linear form = 1;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if ((value >> i & 1) != 0) {
      form += bits[i] - 1;
    } else {
      form -= bits[i];
    }
  }
  return form;
}

Signal equal_const(Circuit& c, const std::string& name, const Word& bits, std::uint64_t value) {
  const Signal out = c.bus(name);
  c.add(out, 1, match(bits, value));
  return out;
}

Signals decode(Circuit& c, const std::string& name, const Word& bits) {
  if (bits.size() > 12) throw Error(fmt::format("decode \"{}\" of {} bits: at most 12", name, bits.size()));
  Signals out;
  for (int i = 0; i < 1 << bits.size(); ++i) {
    out.push_back(equal_const(c, indexed(name, i), bits, static_cast<std::uint64_t>(i)));
  }
  c.exclusive(out);
  return out;
}

// --- Integers
// --------------------------------------------------------------------------------------------------------------

Signal relu(Circuit& c, const std::string& name, const Linear& form) {
  const Signal out = c.bus(name, inferred);
  c.add(out, 1, form);
  return out;
}

Signal threshold(Circuit& c, const std::string& name, const Linear& form, int t) {
  const Signal out = c.bus(name);
  c.add(out, 1, form - (t - 1));
  if (c.range(form).hi > t) c.add(out, -1, form - t);  // else the form never exceeds t
  return out;
}

Signal equal(Circuit& c, const std::string& name, const Linear& form, int value) {
  const Signal out = c.bus(name);
  const Range r = c.range(form);
  if (!r.contains(value)) {
    c.add(out, 0, 0);  // never
  } else if (r.hi == value) {
    c.add(out, 1, form - (value - 1));
  } else if (r.lo == value) {
    c.add(out, 1, value + 1 - form);
  } else {
    c.add(out, 1, form - (value - 1));
    c.add(out, -2, form - value);
    if (r.hi > value + 1) c.add(out, 1, form - (value + 1));
  }
  return out;
}

Signal product(Circuit& c, const std::string& name, const Linear& a, const Linear& b) {
  const Range ra = c.range(a);
  const Range rb = c.range(b);
  const auto [lo, hi] = std::minmax({ra.lo * rb.lo, ra.lo * rb.hi, ra.hi * rb.lo, ra.hi * rb.hi});
  const Signal out = c.bus(name, {lo, hi});
  c.add(out, 1, a, b);
  if (ra.lo < 0) c.add(out, -1, -a, b);
  return out;
}

void add_pwl(Circuit& c, Signal bus, const Linear& form, int lo, int hi, const std::function<int(int)>& f,
             const Linear& when) {
  if (lo > hi) throw Error(fmt::format("pwl \"{}\": the interval {} .. {} is empty", c.name(bus), lo, hi));
  // The same function seen from its right end, s' = -s, may need fewer neurons.
  const auto mirrored = [&](int s) { return f(-s); };
  const int left = add_with_start(nullptr, bus, form, lo, hi, f, when);
  const int right = add_with_start(nullptr, bus, -form, -hi, -lo, mirrored, when);
  c.add(bus, 0, 0);
  if (left <= right) {
    add_with_start(&c, bus, form, lo, hi, f, when);
  } else {
    add_with_start(&c, bus, -form, -hi, -lo, mirrored, when);
  }
}

Signal pwl(Circuit& c, const std::string& name, const Linear& form, int lo, int hi,
           const std::function<int(int)>& f, const Linear& when) {
  Range range{static_cast<double>(f(lo)), static_cast<double>(f(lo))};
  for (int s = lo; s <= hi; ++s) range = join(range, {static_cast<double>(f(s)), static_cast<double>(f(s))});
  if (when != Linear(1)) range = join(range, {0, 0});
  const Signal out = c.bus(name, range);
  add_pwl(c, out, form, lo, hi, f, when);
  return out;
}

Signals pwl_bits(Circuit& c, const std::string& name, const Linear& form, int hi) {
  Signals out;
  for (int k = 0; hi >> k > 0; ++k) {
    const Signal digit = c.bus(indexed(name, k));
    // Always from the left, so that the digits share relu(form - t).
    add_from_left(
        &c, digit, form, 0, hi, [k](int s) { return s >> k & 1; }, 1);
    out.push_back(digit);
  }
  return out;
}

// --- Routing
// ---------------------------------------------------------------------------------------------------------------

Signal gate(Circuit& c, const std::string& name, const Linear& condition, const Linear& value) {
  return select(c, name, std::vector<Choice>{{condition, value}});
}

Signals gate(Circuit& c, const std::string& name, const Linear& condition, const Word& values) {
  Signals out;
  for (const Linear& value : values) {
    out.push_back(gate(c, indexed(name, static_cast<int>(out.size())), condition, value));
  }
  return out;
}

Signal select(Circuit& c, const std::string& name, const std::vector<Choice>& choices) {
  Range range{0, 0};
  for (const Choice& choice : choices) range = join(range, c.range(choice.value));
  const Signal out = c.bus(name, range);
  c.add(out, 0, 0);
  for (const Choice& choice : choices) {
    // relu(condition) * constant is better written with the constant outside: neurons are then shared.
    if (choice.value.is_constant()) {
      c.add(out, choice.value.constant(), choice.condition);
    } else {
      c.add(out, 1, choice.condition, choice.value);
    }
  }
  return out;
}

Signals select(Circuit& c, const std::string& name, const std::vector<WordChoice>& choices) {
  std::size_t width = 0;
  for (const WordChoice& choice : choices) width = std::max(width, choice.value.size());
  Signals out;
  for (std::size_t i = 0; i < width; ++i) {
    std::vector<Choice> column;
    for (const WordChoice& choice : choices) {
      if (i < choice.value.size()) column.push_back({choice.condition, choice.value[i]});
    }
    out.push_back(select(c, indexed(name, static_cast<int>(i)), column));
  }
  return out;
}

Signal mux(Circuit& c, const std::string& name, const Linear& condition, const Linear& a, const Linear& b) {
  return select(c, name, std::vector<Choice>{{condition, a}, {1 - condition, b}});
}

Signals mux(Circuit& c, const std::string& name, const Linear& condition, const Word& a, const Word& b) {
  return select(c, name, std::vector<WordChoice>{{condition, a}, {1 - condition, b}});
}

Signal copy(Circuit& c, const std::string& name, const Linear& form) {
  const Range range = c.range(form);
  const Signal out = c.bus(name, range);
  c.add(out, 1, form);
  if (range.lo < 0) c.add(out, -1, -form);
  return out;
}

Signals copy(Circuit& c, const std::string& name, const Word& word) {
  Signals out;
  for (const Linear& form : word) out.push_back(copy(c, indexed(name, static_cast<int>(out.size())), form));
  return out;
}

Signal delay(Circuit& c, const std::string& name, const Linear& form, int layer) {
  const auto guard = c.not_before(layer);
  return copy(c, name, form);
}

// --- Words
// -----------------------------------------------------------------------------------------------------------------

Signals input_word(Circuit& c, const std::string& name, int width) {
  Signals out;
  for (int i = 0; i < width; ++i) out.push_back(c.input(indexed(name, i)));
  return out;
}

Signals bus_word(Circuit& c, const std::string& name, int width, Range range) {
  Signals out;
  for (int i = 0; i < width; ++i) out.push_back(c.bus(indexed(name, i), range));
  return out;
}

void keep(Circuit& c, const Signals& signals) {
  for (const Signal s : signals) c.keep(s);
}

}  // namespace qwengpu::circuit

#include "circuit/linear.h"

#include <algorithm>

namespace qwengpu::circuit {

Linear::Linear(Signal signal) {
  if (!signal.valid())
    throw Error("a formula uses a signal that was never made (a default-constructed Signal)");
  terms_.push_back({signal.id, 1});
}

double Linear::coef(Signal signal) const {
  const auto at = std::lower_bound(terms_.begin(), terms_.end(), signal.id,
                                   [](const Term& t, SignalId id) { return t.signal < id; });
  return at != terms_.end() && at->signal == signal.id ? at->coef : 0;
}

Linear& Linear::operator*=(double factor) {
  if (factor == 0) terms_.clear();
  for (Term& term : terms_) term.coef *= factor;
  constant_ *= factor;
  return *this;
}

Linear& Linear::accumulate(const Linear& other, double factor) {
  if (this == &other) return *this *= 1 + factor;
  constant_ += factor * other.constant_;
  if (factor == 0 || other.terms_.empty()) return *this;
  // Sums are usually written in the order the signals were made: append without merging.
  if (terms_.empty() || terms_.back().signal < other.terms_.front().signal) {
    for (const Term& t : other.terms_) terms_.push_back({t.signal, factor * t.coef});
    return *this;
  }
  std::vector<Term> merged;
  merged.reserve(terms_.size() + other.terms_.size());
  auto a = terms_.begin();
  auto b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    if (b == other.terms_.end() || (a != terms_.end() && a->signal < b->signal)) {
      merged.push_back(*a++);
    } else if (a == terms_.end() || b->signal < a->signal) {
      merged.push_back({b->signal, factor * b->coef});
      ++b;
    } else {
      const double coef = a->coef + factor * b->coef;
      if (coef != 0) merged.push_back({a->signal, coef});
      ++a, ++b;
    }
  }
  terms_ = std::move(merged);
  return *this;
}

Linear sum(const Word& word) {
  Linear total;
  for (const Linear& form : word) total += form;
  return total;
}

Linear number(const Word& word) {
  Linear total;
  double weight = 1;
  for (const Linear& form : word) {
    total.accumulate(form, weight);
    weight *= 2;
  }
  return total;
}

Word slice(const Word& word, int first, int count) {
  Word out;
  for (int i = first; i < first + count; ++i) {
    out.push_back(i >= 0 && i < static_cast<int>(word.size()) ? word[static_cast<std::size_t>(i)]
                                                              : Linear(0));
  }
  return out;
}

Word constant_word(std::uint64_t value, int width) {
  Word out;
  for (int i = 0; i < width; ++i) out.emplace_back(i < 64 ? static_cast<double>(value >> i & 1) : 0.0);
  return out;
}

}  // namespace qwengpu::circuit

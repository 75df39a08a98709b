// Linear forms over signals. A form costs nothing: it is folded into the projection that reads it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace qwengpu::circuit {

// Everything this library refuses is an Error whose message says what to change.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using SignalId = std::uint32_t;

// A handle on one column of the residual stream (for the time the signal lives). Made by a Circuit.
struct Signal {
  static constexpr SignalId none = 0xffffffffu;
  SignalId id = none;
  bool valid() const { return id != none; }
  bool operator==(const Signal&) const = default;
};

// The integers a signal or a form can take. `inferred` asks the compiler to add up the contributions instead.
struct Range {
  double lo = 0;
  double hi = 1;
  bool contains(double x) const { return lo <= x && x <= hi; }
  double magnitude() const { return -lo > hi ? -lo : hi; }  // largest |x|, for lo <= hi
  bool operator==(const Range&) const = default;
};
inline constexpr Range bit{0, 1};
inline constexpr Range inferred{1, 0};  // empty, hence never a real range

// sum of coefficient * signal + constant; terms sorted by signal, coefficients non-zero.
class Linear {
 public:
  struct Term {
    SignalId signal;
    double coef;
    bool operator==(const Term&) const = default;
  };

  Linear() = default;
  Linear(double constant)
      : constant_(constant) {}  // NOLINT(google-explicit-constructor): formulas read as formulas
  Linear(Signal signal);        // NOLINT(google-explicit-constructor)

  const std::vector<Term>& terms() const { return terms_; }
  double constant() const { return constant_; }
  bool is_constant() const { return terms_.empty(); }
  double coef(Signal signal) const;  // 0 when absent

  Linear& operator+=(const Linear& other) { return accumulate(other, 1); }
  Linear& operator-=(const Linear& other) { return accumulate(other, -1); }
  Linear& operator*=(double factor);
  // *this += factor * other; cheap when the signals of `other` are newer than all of ours.
  Linear& accumulate(const Linear& other, double factor);

  bool operator==(const Linear&) const = default;

 private:
  std::vector<Term> terms_;
  double constant_ = 0;
};

inline Linear operator+(Linear a, const Linear& b) { return a += b, a; }
inline Linear operator-(Linear a, const Linear& b) { return a -= b, a; }
inline Linear operator-(Linear a) { return a *= -1, a; }
inline Linear operator*(double k, Linear a) { return a *= k, a; }
inline Linear operator*(Linear a, double k) { return a *= k, a; }

using Signals = std::vector<Signal>;

// A vector of forms, least significant bit first where it is a number. Signals convert to it.
class Word : public std::vector<Linear> {
 public:
  using std::vector<Linear>::vector;
  Word(const Signals& signals) : std::vector<Linear>(signals.begin(), signals.end()) {}  // NOLINT
};

Linear sum(const Word& word);
// sum of 2^i * word[i]
Linear number(const Word& word);
// bits [first, first + count) of a word; positions outside it are the constant 0
Word slice(const Word& word, int first, int count);
// the `width` low bits of a constant
Word constant_word(std::uint64_t value, int width);

}  // namespace qwengpu::circuit

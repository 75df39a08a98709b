#include "circuit/linear.h"

#include <gtest/gtest.h>

namespace qwengpu::circuit {
namespace {

const Signal a{0}, b{1}, c{2};

TEST(Linear, FormulasReadAsFormulas) {
  const Linear f = 2 * (a - b) + 3 - c + b;
  EXPECT_EQ(f.coef(a), 2);
  EXPECT_EQ(f.coef(b), -1);
  EXPECT_EQ(f.coef(c), -1);
  EXPECT_EQ(f.constant(), 3);
}

TEST(Linear, TermsThatCancelDisappear) {
  const Linear f = a + b - a;
  ASSERT_EQ(f.terms().size(), 1u);
  EXPECT_EQ(f, Linear(b));
  EXPECT_TRUE((f - b).is_constant());
}

TEST(Linear, TheOrderOfTermsDoesNotMatter) { EXPECT_EQ(c + a + b, a + b + c); }

TEST(Linear, AFormCanBeAddedToItself) {
  Linear f = a + 1;
  f += f;
  EXPECT_EQ(f, 2 * a + 2);
}

TEST(Linear, NumberWeighsBitsByPowersOfTwo) {
  EXPECT_EQ(number(Signals{a, b, c}), a + 2 * b + 4 * c);
  EXPECT_EQ(number(constant_word(5, 4)), Linear(5));
}

TEST(Linear, ASliceOutsideTheWordIsZero) {
  const Word w = slice(Signals{a, b}, 1, 3);
  ASSERT_EQ(w.size(), 3u);
  EXPECT_EQ(w[0], Linear(b));
  EXPECT_EQ(w[1], Linear(0));
}

TEST(Linear, ASignalThatWasNeverMadeIsRefused) { EXPECT_THROW(Linear(Signal{}), Error); }

}  // namespace
}  // namespace qwengpu::circuit

// The interpreter refuses what would break a promise made to the compiler. (What it computes is tested with
// the gates and in testing/.)
#include "circuit/evaluate.h"

#include <gtest/gtest.h>

#include "circuit/gates.h"
#include "circuit/memory.h"

namespace qwengpu::circuit {
namespace {

TEST(Evaluator, RefusesABrokenPromise) {
  Circuit c({});
  const Signals in = input_word(c, "in", 2);
  const Signal both = c.bus("both");  // said to be a bit, but reaches 2
  c.add(both, 1, in[0]);
  c.add(both, 1, in[1]);
  Evaluator e(c);
  e.step();
  e.set(in[0], 0, 1);
  e.set(in[1], 0, 1);
  try {
    e.step();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "evaluation: signal \"both\" is 2, outside its range [0, 1]");
  }
}

TEST(Evaluator, RefusesExclusiveSignalsThatMeet) {
  Circuit c({});
  const Signals in = input_word(c, "in", 2);
  c.exclusive(in);
  Evaluator e(c);
  e.set(in[0], 0, 1);
  e.step();
  e.set(in[1], 0, 1);
  EXPECT_THROW(e.step(), Error);
}

// A head on which every broken promise is one input away.
struct BadHead {
  BadHead() : c({}), in(input_word(c, "in", 6)) {
    HeadSpec head;
    head.name = "ram";
    head.key = {{0, in[0]}, {1, in[1]}};
    head.query = {{0, in[0] + in[2]}, {1, in[1] + in[2]}};
    head.value = {{0, in[3]}, {1, in[3] + in[4]}};
    head.z = {{0, 1}};
    head.write_enable = 1 - in[5];
    head.outputs = {{0, c.bus("out")}};
    c.head(head);
  }
  std::string step(unsigned inputs) {
    Evaluator e(c);
    // words 0 and 1 share dimension 1
    for (const unsigned before : {0b010001u, 0b010010u, inputs}) {
      for (std::size_t i = 0; i < in.size(); ++i) e.set(in[i], 0, static_cast<float>(before >> i & 1));
      try {
        e.step();
      } catch (const Error& error) {
        return error.what();
      }
    }
    return "";
  }
  Circuit c;
  Signals in;
};

TEST(Evaluator, RefusesWhatAHeadCannotDo) {
  BadHead head;
  EXPECT_EQ(head.step(0b001001), "");
  EXPECT_EQ(head.step(0b000011), "evaluation: head \"ram\": 2 words are written at once; a key is one-hot");
  EXPECT_EQ(head.step(0b011001), "evaluation: head \"ram\": value row 1 is 2, it may not exceed 1");
  EXPECT_EQ(head.step(0b000100), "evaluation: head \"ram\": words read together share value dimensions");
  EXPECT_EQ(head.step(0b100000),
            "evaluation: head \"ram\": write_enable is 0; it must be >= 1 (write) or <= -1");
}

TEST(Evaluator, LanesAreIndependentRuns) {
  Circuit c({});
  const Signal write = c.input("write");
  LatchSpec spec;
  spec.name = "latch";
  spec.write = write;
  spec.data = Word{1};
  const Signals q = latch(c, spec);
  Evaluator e(c, 3);
  e.set(write, 1, 1);
  e.step();
  e.set(write, 1, 0);
  e.step();
  EXPECT_EQ(e.get(q[0], 0), 0);
  EXPECT_EQ(e.get(q[0], 1), 1);
  EXPECT_EQ(e.get(q[0], 2), 0);
  e.reset();
  e.step();
  EXPECT_EQ(e.get(q[0], 1), 0);
}

}  // namespace
}  // namespace qwengpu::circuit

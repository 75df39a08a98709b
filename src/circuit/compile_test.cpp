// Refusals by their messages, determinism, and what the report and the placement say.
#include "circuit/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "circuit/gates.h"
#include "circuit/memory.h"
#include "qwen/bf16.h"

namespace qwengpu::circuit {
namespace {

qwen::Geometry geometry(int layers, int hidden = 256, int intermediate = 256) {
  qwen::Geometry g;
  g.layers = layers;
  g.hidden = hidden;
  g.intermediate = intermediate;
  return g;
}

const TokenTable one_token{{"step"}, -1, -1};

template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(accepted)";
}
std::string compile_refusal(const Circuit& c) {
  return refusal([&] { compile(c, one_token); });
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

// n gates in a row
Signal chain(Circuit& c, const std::string& name, Signal from, int n) {
  for (int i = 0; i < n; ++i) from = copy(c, indexed(name, i), from);
  return from;
}

TEST(Refusal, AHeadThatReadsASignalTooEarlyPrintsTheCriticalPath) {
  Circuit c(geometry(8));
  const Signal in = c.input("in");
  LatchSpec spec;
  spec.name = "late";
  spec.layer = 2;
  spec.write = chain(c, "step", in, 4);
  spec.data = Word{in};
  keep(c, latch(c, spec));
  EXPECT_EQ(compile_refusal(c),
            "head \"late\" of layer 2 reads signal \"step[3]\", ready only after MLP 3; a mixer of layer 2 "
            "sees what MLP 1 "
            "and earlier sublayers wrote. Critical path: in (embedding) -> step[0] (MLP 0) -> step[1] (MLP "
            "1) -> step[2] "
            "(MLP 2) -> step[3] (MLP 3)");
}

TEST(Refusal, TooFewLayersPrintsTheCriticalPath) {
  Circuit c(geometry(4));
  c.keep(chain(c, "step", c.input("in"), 6));
  const std::string message = compile_refusal(c);
  EXPECT_SAYS(message, "needs 6 layers and the model has 4");
  EXPECT_SAYS(message, "in (embedding) -> step[0] (MLP 0)");
}

TEST(Refusal, TheCriticalPathSaysWhyASignalWaited) {
  Circuit c(geometry(4, 256, 10));
  const Signals in = input_word(c, "in", 4);
  const Signal all =
      relu(c, "all", number(decode(c, "line", in)));  // waits for the last of 16 lines, 10 a layer
  const auto later = c.not_before(4);
  c.keep(chain(c, "step", all, 1));
  const std::string message = compile_refusal(c);
  EXPECT_SAYS(message, "line[10] (MLP 1, the MLPs before it are full)");
  EXPECT_SAYS(message, "step[0] (MLP 4, not_before(4))");
}

TEST(Refusal, ASignalWithoutADriver) {
  Circuit c(geometry(4));
  c.keep(copy(c, "reader", c.bus("floating")));
  EXPECT_SAYS(compile_refusal(c),
              "signal \"floating\" is read by a gate of \"reader\" but nothing drives it");
}

TEST(Refusal, ACombinationalCycleIsPrinted) {
  Circuit c(geometry(4));
  const Signal a = c.bus("a");
  const Signal b = copy(c, "b", a);
  c.add(a, 1, copy(c, "d", b));
  c.keep(a);
  EXPECT_SAYS(compile_refusal(c), "combinational cycle: a <- d <- b <- a");
}

TEST(Refusal, TooManyColumnsListsTheWidestGroups) {
  Circuit c(geometry(8, 64));
  const Signals in = input_word(c, "in", 6);
  const Signals line = [&] {
    const auto s = c.scope("decoder");
    return decode(c, "line", in);
  }();
  keep(c, line);
  const std::string message = compile_refusal(c);
  EXPECT_SAYS(message, "columns are needed after");
  EXPECT_SAYS(message, "and 62 are there");
  EXPECT_SAYS(message, "The widest groups alive: decoder/line 64");
}

TEST(Refusal, TooManyHeadsInALayer) {
  qwen::Geometry g = geometry(4);
  g.gdn_heads = 2;
  Circuit c(g);
  const Signal in = c.input("in");
  for (int i = 0; i < 3; ++i) {
    LatchSpec spec;
    spec.name = fmt::format("latch{}", i);
    spec.layer = 1;
    spec.write = in;
    spec.data = Word{in};
    keep(c, latch(c, spec));
  }
  EXPECT_SAYS(compile_refusal(c), "layer 1 has 2 heads, and head \"latch2\" is one too many");
}

TEST(Refusal, HeadsThatCannotBe) {
  Circuit c(geometry(8));
  const Signal in = c.input("in");
  HeadSpec head;
  head.name = "h";
  const auto said = [&](const auto& change) {
    HeadSpec bad = head;
    change(bad);
    return refusal([&] { c.head(bad); });
  };
  EXPECT_SAYS(said([](HeadSpec& h) { h.layer = 3; }), "layer 3 is an attention layer");
  EXPECT_SAYS(said([](HeadSpec& h) { h.name = "g", h.layer = 8; }), "layer 8 does not exist");
  EXPECT_SAYS(said([&](HeadSpec& h) { h.name = "i", h.key = {{128, in}}; }), "key dimension 128 is outside");
  EXPECT_SAYS(said([&](HeadSpec& h) {
                h.name = "j", h.z = {{1, in}, {1, in}};
              }),
              "z dimension 1 is given twice");
  EXPECT_SAYS(said([](HeadSpec& h) { h.name = "j"; }), "name is taken");
}

TEST(Refusal, ARowThatMayExceedOne) {
  Circuit c(geometry(4));
  const Signals in = input_word(c, "in", 2);
  LatchSpec spec;
  spec.name = "latch";
  spec.write = 1;
  spec.data = Word{in[0] + in[1]};
  keep(c, latch(c, spec));
  EXPECT_SAYS(compile_refusal(c),
              "head \"latch\", value row 0 in mixer 0 can be 2, and a row may not exceed 1 (its signals: "
              "in[0], in[1])");
  c.exclusive(in);
  EXPECT_EQ(compile_refusal(c), "(accepted)");
}

TEST(Refusal, AWeightThatBf16CannotHold) {
  Circuit c(geometry(4));
  const Signal in = c.input("in");
  const Signal wide = c.bus("wide");
  c.add(wide, 1, 257 * in - 256);
  c.keep(wide);
  EXPECT_SAYS(compile_refusal(c),
              "a gate of \"wide\" in MLP 0, coefficient 257 of signal \"in\", needs the weight");
}

TEST(Refusal, AnEmbeddingThatBf16CannotHold) {
  Circuit c(geometry(4));
  const Signal in = c.input("in", {0, 10});
  c.embed(0, in, 257.0 / 128);
  c.keep(in);
  EXPECT_SAYS(compile_refusal(c), "the embedding of signal \"in\" in token 0 needs the weight 2.0078125");
}

TEST(Refusal, AGateThatIsNotAnInteger) {
  Circuit c(geometry(4));
  const Signal in = c.input("in");
  c.keep(relu(c, "half", 0.5 * in));
  EXPECT_SAYS(compile_refusal(c),
              "a gate of \"half\" in MLP 0: the gate is a multiple of 0.5, not an integer");
}

TEST(Refusal, ASumTooLargeForFp32) {
  Circuit c(geometry(4, 2048));
  const Signal in = c.input("in", {0, 100});
  c.keep(threshold(c, "large", 131072 * in + 131072 * c.input("more", {0, 100}), 1));
  EXPECT_SAYS(compile_refusal(c), "not exact in fp32: a gate of \"large\" (gate) in MLP 0 can reach");
}

TEST(Refusal, MoreEnergyThanTheNormAbsorbs) {
  Circuit c(geometry(4, 2048));
  Signals in;
  for (int i = 0; i < 20; ++i) in.push_back(c.input(indexed("big", i), {0, 128}));
  keep(c, in);
  const std::string message = compile_refusal(c);
  EXPECT_SAYS(message, "the signals can have energy 327681 at the norm before mixer 0, and from 262144 on");
  EXPECT_SAYS(message, "The largest: big[0] 16384");
  c.exclusive(in);
  EXPECT_EQ(compile_refusal(c), "(accepted)");
}

TEST(Refusal, ANonBitBesideReadsOfHeads) {
  Circuit c(geometry(4));
  const Signals in = input_word(c, "in", 3);
  LatchSpec spec;
  spec.name = "latch";
  spec.write = in[0];
  spec.data = Word{in[1]};
  const Signals q = latch(c, spec);
  c.add(q[0], 1, in[1] + in[2]);
  keep(c, q);
  EXPECT_SAYS(compile_refusal(c),
              "signal \"latch[0]\" collects reads of heads, so every other contribution must be 0 or 1");
}

TEST(Refusal, ADeclaredRangeThatCannotBe) {
  Circuit c(geometry(4));
  const Signal in = c.input("in");
  const Signal out = c.bus("out", {5, 9});
  c.add(out, 1, in);
  c.keep(out);
  EXPECT_SAYS(compile_refusal(c),
              "its contributions add up to [0, 1], which has nothing in common with its declared range "
              "[5, 9]");
}

TEST(Refusal, Names) {
  Circuit c(geometry(4));
  c.input("a");
  EXPECT_SAYS(refusal([&] { c.bus("a"); }), "signal \"a\" is defined twice");
  const auto s = c.scope("unit");
  c.bus("a");
  EXPECT_TRUE(c.find("unit/a").valid());
  EXPECT_FALSE(c.find("unit/b").valid());
}

TEST(Refusal, GeometriesWithoutAnExactNorm) {
  Circuit c(geometry(4, 1536));
  EXPECT_SAYS(compile_refusal(c), "hidden size 1536");
  qwen::Geometry tied = geometry(4);
  tied.tie_embeddings = true;
  Circuit d(tied);
  EXPECT_SAYS(compile_refusal(d), "tie_embeddings must be false");
}

TEST(Refusal, TokensOutsideTheTable) {
  Circuit c(geometry(4));
  const Signal in = c.input("in");
  c.embed(0, in, 1);
  c.unembed(3, in);
  EXPECT_SAYS(compile_refusal(c), "unembed() names token 3, the token table has 1");
}

void build_mixture(Circuit& c) {
  const Signals in = input_word(c, "in", 6);
  const auto s = c.scope("unit");
  RamSpec spec;
  spec.name = "ram";
  spec.write_address = spec.read_address = decoded_rows(slice(in, 0, 3));
  spec.data = slice(in, 3, 3);
  const Signals q = ram(c, spec);
  c.unembed(0, number(pwl_bits(c, "count", sum(in) + q[0], 7)));
  keep(c, decode(c, "line", Signals{q[0], q[1], q[2], in[5]}));
}

TEST(Compile, TheSameCircuitGivesTheSameCheckpoint) {
  Circuit a(geometry(8)), b(geometry(8));
  build_mixture(a);
  build_mixture(b);
  const Compiled x = compile(a, one_token), y = compile(b, one_token);
  EXPECT_EQ(x.checkpoint.tensors, y.checkpoint.tensors);
  EXPECT_EQ(x.checkpoint.hash(), y.checkpoint.hash());
  EXPECT_EQ(to_text(x.report), to_text(y.report));
}

TEST(Compile, WhatNothingReadsIsRemoved) {
  Circuit c(geometry(4));
  const Signals in = input_word(c, "in", 4);
  c.keep(and_(c, "used", in));
  or_(c, "unused", Signals{parity(c, "also_unused", in)});
  const Compiled compiled = compile(c, one_token);
  EXPECT_EQ(compiled.report.neurons, 1);
  EXPECT_EQ(compiled.report.removed, (std::vector<std::string>{"also_unused", "unused"}));
  EXPECT_SAYS(refusal([&] { compiled.placement.signal("unused"); }), "was removed: nothing reads it");
  EXPECT_SAYS(refusal([&] { compiled.placement.signal("nobody"); }), "there is no signal \"nobody\"");
}

TEST(Compile, GatesWithEqualFormulasShareANeuron) {
  Circuit c(geometry(4));
  const Signals in = input_word(c, "in", 2);
  keep(c, {and_(c, "a", in), and_(c, "b", in), xor_(c, "c", in[0], in[1])});
  EXPECT_EQ(compile(c, one_token).report.neurons, 2);
}

TEST(Compile, ADecoderReadLateIsMadeLate) {
  Circuit c(geometry(16));
  const Signals in = input_word(c, "in", 5);
  const Signals line = decode(c, "line", in);
  const Signal late = chain(c, "step", in[0], 10);
  const Signal table = c.bus("table", {0, 31});
  for (int i = 0; i < 32; ++i) c.add(table, i, line[static_cast<std::size_t>(i)] + late - 1);
  c.keep(table);
  const Compiled compiled = compile(c, one_token);
  EXPECT_EQ(compiled.placement.signal("line[7]").ready, mlp_of(9));
  EXPECT_EQ(compiled.report.depth, 11);
  EXPECT_EQ(compiled.report.critical_path.size(), 12u);
}

TEST(Compile, TheReportNamesUnitsAndHeads) {
  Circuit c(geometry(8));
  build_mixture(c);
  const Report report = compile(c, one_token).report;
  EXPECT_EQ(report.heads, 1);
  ASSERT_EQ(report.layers[0].heads.size(), 1u);
  EXPECT_EQ(report.layers[0].heads[0], "unit/ram");
  EXPECT_EQ(report.layers[0].restores, 3);
  EXPECT_EQ(report.layers[0].energy, 512 + 6 + 1);
  const std::string text = to_text(report);
  EXPECT_SAYS(text, "exact in fp32: largest sum");
  EXPECT_SAYS(text, "unit/ram");
}

TEST(Compile, TheCertificateListsWhatBf16CannotHold) {
  Circuit c(geometry(4, 2048));
  const Signals in = input_word(c, "in", 10);
  c.keep(threshold(c, "large", number(in), 512));
  const Certificate certificate = compile(c, one_token).report.certificate;
  ASSERT_FALSE(certificate.bf16.empty());
  EXPECT_EQ(certificate.bf16[0].what, "a gate of \"large\" (gate)");
  EXPECT_EQ(certificate.bf16[0].magnitude, 1023 - 511);
}

TEST(Compile, LargeDeadValuesAreZeroedWhenTheirEnergyIsTooMuch) {
  Circuit c(geometry(24, 2048));
  const Signals in = input_word(c, "in", 7);
  Signal previous = in[0];
  for (int i = 0; i < 10; ++i) {  // each up to 127: ten of them exceed the limit, two do not
    const Signal big = gate(c, indexed("big", i), previous, number(in));
    previous = threshold(c, indexed("odd", i), big, 65);
  }
  c.keep(previous);
  EXPECT_EQ(compile_refusal(c), "(accepted)");
}

TEST(Compile, EveryWeightIsExactInBf16AndNoProjectionReadsTheBallast) {
  Circuit c(geometry(8));
  build_mixture(c);
  const qwen::Checkpoint checkpoint = compile(c, one_token).checkpoint;
  const std::uint32_t ballast = 255;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    for (const qwen::Entry& e : tensor.entries) {
      EXPECT_TRUE(qwen::exactly_representable(e.value)) << name;
      const bool reads = name.find("_proj") != std::string::npos &&
                         name.find("out_proj") == std::string::npos &&
                         name.find("down_proj") == std::string::npos;
      if (reads || name == "lm_head.weight") {
        EXPECT_NE(e.col, ballast) << name;
      }
    }
  }
}

TEST(Compile, ThirtyThousandNeuronsInSeconds) {
  Circuit c(geometry(45, 2048, 6144));
  const Signals in = input_word(c, "in", 256);
  Signals now = in;
  for (int stage = 0; stage < 40; ++stage) {
    Signals next;
    for (std::size_t i = 0; i < 256; ++i) {
      next.push_back(
          parity(c, fmt::format("s{}[{}]", stage, i), {now[i], now[(i + 7) % 256], now[(i + 31) % 256]}));
    }
    now = next;
  }
  keep(c, now);
  EXPECT_GE(c.neurons().size(), 30000u);
  const auto start = std::chrono::steady_clock::now();
  compile(c, one_token);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20);  // about half a second when nothing else runs
  RecordProperty("seconds", fmt::format("{:.2f}", seconds.count()));
}

}  // namespace
}  // namespace qwengpu::circuit

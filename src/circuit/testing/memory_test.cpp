// Memory heads in the real forward pass: random traffic against a plain array, in one layer and over several.
#include "circuit/memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "circuit/gates.h"
#include "circuit/testing/harness.h"

namespace qwengpu::circuit {
namespace {

constexpr int words = 128;

// One RAM of 20-bit words with binary addresses.
struct Ram {
  explicit Ram(Circuit& c)
      : write_address(input_word(c, "write_address", 7)),
        read_address(input_word(c, "read_address", 7)),
        data(input_word(c, "data", 20)),
        write(c.input("write")),
        read(c.input("read")),
        clear(c.input("clear")) {
    RamSpec spec;
    spec.name = "ram";
    spec.write_address = decoded_rows(write_address);
    spec.read_address = decoded_rows(read_address);
    spec.data = data;
    spec.write = write;
    spec.read = read;
    spec.clear = clear;
    out = ram(c, spec);
    keep(c, out);
  }
  Signals write_address, read_address, data;
  Signal write, read, clear;
  Signals out;
};

void random_traffic(EngineKind kind, int steps, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Circuit c(small_geometry(4));
  const Ram ram(c);
  Harness h(c, {{"step"}, -1, -1}, kind);
  std::mt19937_64 random(seed);
  std::array<std::uint64_t, words> expected{};
  for (int step = 0; step < steps; ++step) {
    const auto at = static_cast<std::size_t>(random() % words);
    // half the reads go to the word written by the same token
    const auto from = random() % 2 == 0 ? at : static_cast<std::size_t>(random() % words);
    const std::uint64_t value = random() % 8 == 0 ? 0 : random() & 0xfffff;
    const bool write = random() % 4 != 0, read = random() % 4 != 0, clear = random() % 50 == 0;
    h.set_number(ram.write_address, at);
    h.set_number(ram.read_address, from);
    h.set_number(ram.data, value);
    h.set(ram.write, write);
    h.set(ram.read, read);
    h.set(ram.clear, clear);
    h.step();
    if (clear) expected.fill(0);
    if (write) expected[at] = value;
    ASSERT_EQ(h.get_number(ram.out), read ? expected[from] : 0) << "step " << step;
  }
}

TEST(Memory, RandomReadsWritesAndClears) { random_traffic(EngineKind::sparse, 4000, 11); }
TEST(Memory, TheSameInTheReferenceEngine) { random_traffic(EngineKind::reference, 500, 12); }

TEST(Memory, TheInterpreterAgrees) {
  Circuit c(small_geometry(4));
  const Ram ram(c);
  compare_with_evaluator(c, 2000, 13, [&](std::mt19937_64& random, const auto& set) {
    for (SignalId s = 0; s < c.signals().size(); ++s) {
      if (c.signals()[s].is_input) set(Signal{s}, static_cast<double>(random() & 1));
    }
    set(ram.clear, random() % 64 == 0);
  });
}

// 1,024 words in 8 heads over three layers and one output: a bank is chosen by beta for the write and by z
// for the read.
TEST(Memory, ABankOverSeveralLayersReadsIntoOneBus) {
  Circuit c(small_geometry(8));
  const Signals address = input_word(c, "address", 10);
  const Signals data = input_word(c, "data", 16);
  const Signal write = c.input("write"), other = c.input("other");
  const Signals line = decode(c, "line", slice(address, 0, 7));
  const Signals bank = decode(c, "bank", slice(address, 7, 3));
  const Signals out = bus_word(c, "out", 16);
  for (int b = 0; b < 8; ++b) {
    RamSpec spec;
    spec.name = fmt::format("bank{}", b);
    spec.layer = std::array{2, 2, 2, 4, 4, 5, 5, 5}[static_cast<std::size_t>(b)];
    spec.write_address = spec.read_address = rows(line);
    spec.data = data;
    const Linear here = bank[static_cast<std::size_t>(b)];
    spec.write = and_(c, fmt::format("write{}", b), {here, write});
    spec.read = here - write;  // a row is on at 1: reads when nothing is written
    ram_into(c, spec, out);
  }
  c.add(out[3], 1, other + write - 1);  // an exact contribution beside the reads
  keep(c, out);
  Harness h(c);
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> expected(1024);
  for (int step = 0; step < 6000; ++step) {
    const auto at = static_cast<std::size_t>(random() % 1024) & 0x3c7;  // few words, all banks
    const std::uint64_t value = random() & 0xffff;
    const bool is_write = random() % 2 == 0, is_other = random() % 4 == 0;
    h.set_number(address, at);
    h.set_number(data, value);
    h.set(write, is_write);
    h.set(other, is_other);
    h.step();
    if (is_write) expected[at] = value;
    const std::uint64_t seen = is_write ? (is_other ? 8 : 0) : expected[at];
    ASSERT_EQ(h.get_number(out), seen) << "step " << step;
  }
}

TEST(Memory, ALatchHoldsUntilItIsWrittenOrCleared) {
  Circuit c(small_geometry(4, 512));
  const Signals data = input_word(c, "data", 128);
  const Signal write = c.input("write"), clear = c.input("clear");
  LatchSpec spec;
  spec.name = "latch";
  spec.write = write;
  spec.data = data;
  spec.clear = clear;
  const Signals q = latch(c, spec);
  keep(c, q);
  Harness h(c);
  std::mt19937_64 random(19);
  std::uint64_t low = 0, high = 0;
  for (int step = 0; step < 1500; ++step) {
    // from one bit set to all of them: the amplitude of a read depends on the number of ones
    const std::uint64_t a = random() & random() & (step % 3 == 0 ? random() & random() : ~0ull);
    const std::uint64_t b = step % 5 == 0 ? ~0ull : step % 7 == 0 ? 0 : random();
    const bool is_write = random() % 3 == 0, is_clear = random() % 20 == 0;
    h.set_number(Signals(data.begin(), data.begin() + 64), a);
    h.set_number(Signals(data.begin() + 64, data.end()), b);
    h.set(write, is_write);
    h.set(clear, is_clear);
    h.step();
    if (is_clear) low = high = 0;
    if (is_write) low = a, high = b;
    ASSERT_EQ(h.get_number(Signals(q.begin(), q.begin() + 64)), low);
    ASSERT_EQ(h.get_number(Signals(q.begin() + 64, q.end())), high);
  }
}

// A word that holds its own one-hot: 128 flags with single-bit writes, all read at once by a query on every
// word.
TEST(Memory, DiagonalWordsMakeABitmap) {
  Circuit c(small_geometry(4));
  const Signals index = input_word(c, "index", 7);
  const Signal write = c.input("write"), value = c.input("value");
  HeadSpec head;
  head.name = "bitmap";
  head.key = decoded_rows(index, write);
  head.value = decoded_rows(index, value);
  for (int i = 0; i < words; ++i) {
    head.query.push_back({i, 1});
    head.z.push_back({i, 1});
    head.outputs.push_back({i, c.bus(indexed("flag", i))});
    c.keep(head.outputs.back().signal);
  }
  c.head(head);
  Harness h(c);
  std::mt19937_64 random(23);
  std::array<bool, words> expected{};
  for (int step = 0; step < 800; ++step) {
    const auto at = static_cast<std::size_t>(random() % words);
    const bool is_write = random() % 4 != 0, bit_value = random() % 3 != 0;
    h.set_number(index, at);
    h.set(write, is_write);
    h.set(value, bit_value);
    h.step();
    if (is_write) expected[at] = bit_value;
    for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(h.get(head.outputs[i].signal), expected[i]);
  }
}

// What was read feeds gates and further memories in later layers, also through a freed and reused column.
TEST(Memory, ReadsFeedLaterMemories) {
  Circuit c(small_geometry(12, 64));
  const Signals data = input_word(c, "data", 6), address = input_word(c, "address", 4);
  const Signal write = c.input("write");
  RamSpec first;
  first.name = "first";
  first.write_address = first.read_address = decoded_rows(address);
  first.data = data;
  first.write = write;
  const Signals a = ram(c, first);
  const Signals sum = pwl_bits(c, "sum", circuit::sum(a) + data[0], 7);
  RamSpec second;
  second.name = "second";
  second.write_address = decoded_rows(sum, write);
  second.read_address = decoded_rows(sum);
  second.data = Signals{address[0], address[1], address[2], address[3]};
  const Signals b = ram(c, second);
  const Signals digits = decode(c, "digit", Signals{b[0], b[1], b[2]});
  keep(c, digits);
  compare_with_evaluator(c, 3000, 29);
}

TEST(Memory, HeadsFindTheFirstLayerWithRoom) {
  Circuit c(small_geometry(8));  // 4 heads a layer
  const Signals in = input_word(c, "in", 4);
  for (int i = 0; i < 9; ++i) {
    LatchSpec spec;
    spec.name = fmt::format("latch{}", i);
    spec.write = in[0];
    spec.data = Signals{in[1], in[2], in[3]};
    keep(c, latch(c, spec));
  }
  const Compiled compiled = compile(c, {{"step"}, -1, -1});
  EXPECT_EQ(compiled.placement.head("latch0").layer, 0);
  EXPECT_EQ(compiled.placement.head("latch3").head, 3);
  EXPECT_EQ(compiled.placement.head("latch4").layer, 1);
  EXPECT_EQ(compiled.placement.head("latch8").layer, 2);
  compare_with_evaluator(c, 300, 31);
}

TEST(Memory, AResetEmptiesTheMemories) {
  Circuit c(small_geometry(4));
  const Signal write = c.input("write");
  LatchSpec spec;
  spec.name = "latch";
  spec.write = write;
  spec.data = Word{1, 0, 1};
  const Signals q = latch(c, spec);
  keep(c, q);
  Harness h(c);
  h.set(write, 1);
  h.step();
  h.set(write, 0);
  h.step();
  EXPECT_EQ(h.get_number(q), 5u);
  h.reset();
  h.step();
  EXPECT_EQ(h.get_number(q), 0u);
}

}  // namespace
}  // namespace qwengpu::circuit

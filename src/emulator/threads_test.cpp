#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <stdexcept>

#include "emulator/emulator.h"
#include "emulator/grammar.h"
#include "emulator/random_kernel.h"
#include "emulator/test_bits.h"
#include "emulator/test_floats.h"
#include "emulator/test_threads.h"
#include "emulator/test_transcript.h"

namespace qwengpu::emulator {
namespace {

using isa::BSource;
using isa::Instruction;
using isa::Op;

struct Thread {
  std::array<std::uint32_t, 3> tid{}, ntid{}, ctaid{}, nctaid{};
  std::uint32_t number = 0;  // in the block
  std::array<std::uint32_t, 128> r{};
  std::array<bool, 7> p{};
  int pc = 0;
};

// Signed views by way of 64 bits.
std::int64_t s64(std::uint32_t x) {
  return x < 0x80000000u ? std::int64_t{x} : std::int64_t{x} - 0x100000000;
}

class ThreadRunner {
 public:
  ThreadRunner(const Case& launch, const std::vector<std::uint32_t>& words, ThreadsResult& result)
      : code_(launch.kernel.code), words_(words), result_(result) {}

  // The fault, or 0.
  int run(Thread t) {
    while (true) {
      if (t.pc >= static_cast<int>(code_.size())) return 715;
      const Instruction& i = code_[static_cast<std::size_t>(t.pc++)];
      if (i.op == Op::Illegal) return 715;
      if (!predicate(t, i.guard)) continue;
      if (i.op == Op::Exit) return 0;
      if (i.op == Op::Bra)
        t.pc = i.target;
      else if (const int fault = execute(t, i))
        return fault;
    }
  }

 private:
  static bool predicate(const Thread& t, isa::PredicateOperand o) {
    const bool value = o.index == 7 || t.p[static_cast<std::size_t>(o.index)];
    return value != o.negated;
  }
  static std::uint32_t reg(const Thread& t, int n) { return n == 128 ? 0 : t.r[static_cast<std::size_t>(n)]; }

  std::uint32_t b_of(const Thread& t, const Instruction& i) const {
    const std::uint32_t n = i.immediate;
    if (i.b_source == BSource::Register) return reg(t, i.rb);
    if (i.b_source == BSource::Immediate) return n;
    if (i.b_source == BSource::Constant) {
      if (n < 12) return t.ntid[n / 4];
      if (n >= 16 && n < 28) return t.nctaid[(n - 16) / 4];
      if (n >= 32 && n < 44) return t.ctaid[(n - 32) / 4];
      return n >= 64 && (n - 64) / 4 < words_.size() ? words_[(n - 64) / 4] : 0;
    }
    switch (n) {
      case 0:
      case 1:
      case 2:
        return t.tid[n];
      case 3:
        return t.number % 32;
      case 4:
        return t.number / 32;
      case 5:
        return t.number % 4;
      default:
        return 0;
    }
  }

  int execute(Thread& t, const Instruction& i) {
    const std::uint32_t a = reg(t, i.ra), b = b_of(t, i), c = reg(t, i.rc);
    if (i.op == Op::Ldg || i.op == Op::Stg) {
      const std::uint32_t at = a + i.immediate;
      if (at & 3) return 716;
      if (at < 256 || at >= result_.limit) return 700;
      if (i.op == Op::Stg)
        result_.global[at / 4] = reg(t, i.rb);
      else
        t.r[static_cast<std::size_t>(i.rd)] = result_.global[at / 4];
      return 0;
    }
    if (const auto value = word(t, i, a, b, c)) {
      t.r[static_cast<std::size_t>(i.rd)] = *value;
      return 0;
    }
    t.p[static_cast<std::size_t>(i.pd)] = truth(t, i, a, b);
    return 0;
  }

  static std::optional<std::uint32_t> word(const Thread& t, const Instruction& i, std::uint32_t a,
                                           std::uint32_t b, std::uint32_t c) {
    const std::uint64_t product = std::uint64_t{a} * b;
    const auto low = [](std::int64_t x) { return static_cast<std::uint32_t>(x & 0xffffffff); };
    switch (i.op) {
      case Op::Mov:
        return b;
      case Op::Iadd:
        return low(s64(a) + s64(b));
      case Op::Isub:
        return low(s64(a) - s64(b));
      case Op::Imul:
        return low(s64(a) * s64(b));
      case Op::ImulHiU:
        return static_cast<std::uint32_t>(product >> 32);
      case Op::ImulHiS:
        return low((s64(a) * s64(b)) >> 32);
      case Op::Imad:
        return static_cast<std::uint32_t>((product + c) & 0xffffffff);
      case Op::IminS:
        return s64(a) < s64(b) ? a : b;
      case Op::ImaxS:
        return s64(a) < s64(b) ? b : a;
      case Op::IminU:
        return a < b ? a : b;
      case Op::ImaxU:
        return a < b ? b : a;
      case Op::Shl:
        return b > 31 ? 0 : static_cast<std::uint32_t>(std::uint64_t{a} << b);
      case Op::ShrU:
        return b > 31 ? 0 : a >> b;
      case Op::ShrS:
        return low(s64(a) >> (b > 31 ? 31 : b));
      case Op::And:
        return a & b;
      case Op::Or:
        return a | b;
      case Op::Xor:
        return a ^ b;
      case Op::Sel:
        return predicate(t, i.pa) ? a : b;
      case Op::Fadd:
      case Op::Fmul:
      case Op::Ffma:
      case Op::Fmin:
      case Op::Fmax:
      case Op::I2fS:
      case Op::I2fU:
      case Op::F2iS:
      case Op::F2iU:
      case Op::Frnd:
        return HostFloat(i).word(a, b, c);
      case Op::Popc:
      case Op::Clz:
      case Op::BfindS:
      case Op::BfindU:
      case Op::Brev:
      case Op::BfeS:
      case Op::BfeU:
      case Op::Bfi:
      case Op::Prmt:
      case Op::Lop3:
      case Op::ShfL:
      case Op::ShfR:
        return bits_one_by_one(i, a, b, c);
      default:
        return std::nullopt;
    }
  }

  static bool truth(const Thread& t, const Instruction& i, std::uint32_t a, std::uint32_t b) {
    const bool q = predicate(t, i.pa), r = predicate(t, i.pb);
    switch (i.op) {
      case Op::SetpEq:
        return a == b;
      case Op::SetpNe:
        return a != b;
      case Op::SetpLtS:
        return s64(a) < s64(b);
      case Op::SetpLeS:
        return s64(a) <= s64(b);
      case Op::SetpGtS:
        return s64(a) > s64(b);
      case Op::SetpGeS:
        return s64(a) >= s64(b);
      case Op::SetpLtU:
        return a < b;
      case Op::SetpLeU:
        return a <= b;
      case Op::SetpGtU:
        return a > b;
      case Op::SetpGeU:
        return a >= b;
      case Op::PlopAnd:
        return q && r;
      case Op::PlopOr:
        return q || r;
      case Op::PlopXor:
        return q != r;
      default:
        return HostFloat(i).truth(a, b);  // throws for what is no comparison
    }
  }

  const std::vector<Instruction>& code_;
  const std::vector<std::uint32_t>& words_;
  ThreadsResult& result_;
};

}  // namespace

ThreadsResult run_threads(const Case& launch) {
  ThreadsResult result;
  result.global.resize(168 * 1024 / 4);
  std::vector<std::uint32_t> addresses;
  for (const CaseBuffer& buffer : launch.buffers) {
    const std::uint64_t end = result.limit + (std::uint64_t{buffer.bytes} + 255) / 256 * 256;
    if (end > 168 * 1024) {
      result.launch_status = 2;
      return result;
    }
    addresses.push_back(buffer.bytes == 0 ? 0 : result.limit);
    result.limit = static_cast<std::uint32_t>(end);
  }
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    for (std::size_t n = 0; n < launch.buffers[b].data.size(); ++n)
      result.global[addresses[b] / 4 + n] = launch.buffers[b].data[n];
  std::vector<std::uint32_t> words;
  for (const CaseArgument& argument : launch.arguments)
    words.push_back(argument.is_buffer ? addresses[argument.value] : argument.value);

  const auto& g = launch.grid;
  const auto& k = launch.block;
  const std::uint64_t threads = std::uint64_t{k[0]} * k[1] * k[2];
  if (g[0] < 1 || g[0] > 0x7fffffff || g[1] < 1 || g[1] > 65535 || g[2] < 1 || g[2] > 65535 || k[0] < 1 ||
      k[1] < 1 || k[2] < 1 || k[0] > 1024 || k[1] > 1024 || k[2] > 64 || threads > 1024) {
    result.launch_status = 9;
    return result;
  }
  if ((threads + 3) / 4 * static_cast<std::uint64_t>(launch.kernel.registers) > 8192) {
    result.launch_status = 701;
    return result;
  }
  ThreadRunner runner(launch, words, result);
  Thread t;
  t.ntid = k;
  t.nctaid = g;
  for (t.ctaid[2] = 0; t.ctaid[2] < g[2]; ++t.ctaid[2])
    for (t.ctaid[1] = 0; t.ctaid[1] < g[1]; ++t.ctaid[1])
      for (t.ctaid[0] = 0; t.ctaid[0] < g[0]; ++t.ctaid[0]) {
        t.number = 0;
        for (t.tid[2] = 0; t.tid[2] < k[2]; ++t.tid[2])
          for (t.tid[1] = 0; t.tid[1] < k[1]; ++t.tid[1])
            for (t.tid[0] = 0; t.tid[0] < k[0]; ++t.tid[0], ++t.number)
              if (const int fault = runner.run(t)) result.faults.insert(fault);
        if (!result.faults.empty()) return result;
      }
  return result;
}

namespace {

// The words that cudaMemcpyDeviceToHost has to speak.
std::vector<std::uint32_t> expected_results(const Case& launch, const ThreadsResult& threads) {
  std::vector<std::uint32_t> words;
  std::uint32_t address = 256;
  for (const CaseBuffer& buffer : launch.buffers) {
    if (buffer.copy_out)
      for (std::uint32_t n = 0; n < (buffer.bytes + 3) / 4; ++n)
        words.push_back(threads.global[address / 4 + n]);
    address += (buffer.bytes + 255) / 256 * 256;
  }
  return words;
}

// Empty when the emulator does what the threads do one by one.
std::string disagreement(const Case& launch) {
  const ThreadsResult threads = run_threads(launch);
  const std::vector<int> prompt = prompt_of(launch);
  Emulator emulator(prompt);
  Grammar grammar;
  std::vector<int> transcript;
  while (const auto token = emulator.next()) {
    grammar.accept(*token);
    transcript.push_back(*token);
    if (transcript.size() > 5'000'000) return "does not end";
  }
  if (!grammar.ended()) return "transcript has no end";
  const std::vector<Spoken> instructions = instructions_of(transcript);
  const int status = status_of(instructions);
  if (threads.launch_status != 0 || !threads.faults.empty()) {
    const bool fits =
        threads.launch_status != 0 ? status == threads.launch_status : threads.faults.contains(status);
    if (!fits) return "status " + std::to_string(status);
    return results_of(instructions).empty() ? "" : "results in spite of an error";
  }
  if (status != 0) return "status " + std::to_string(status);
  for (std::uint32_t address = 256; address < threads.limit; address += 4)
    if (emulator.state().global[address / 4] != threads.global[address / 4])
      return "memory at " + std::to_string(address);
  if (results_of(instructions) != expected_results(launch, threads)) return "spoken results";
  return "";
}

TEST(EmulatorTest, RandomKernelsEqualThreadsRunOneByOne) {
  int faults = 0, refused = 0;
  std::set<Op> ops;
  std::set<std::array<int, 3>> modifiers;  // rounding, .FTZ, .SAT of FADD
  std::set<std::array<bool, 5>> signs;     // of FFMA
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    const Case launch = random_case(seed);
    ASSERT_EQ(disagreement(launch), "") << "seed " << seed << "\n" << text_of(launch);
    const ThreadsResult threads = run_threads(launch);
    faults += !threads.faults.empty();
    refused += threads.launch_status != 0;
    for (const Instruction& i : launch.kernel.code) {
      ops.insert(i.op);
      if (i.op == Op::Fadd) modifiers.insert({static_cast<int>(i.rounding), i.flush, i.saturate});
      if (i.op == Op::Ffma) signs.insert({i.negate_a, i.absolute_a, i.negate_b, i.absolute_b, i.negate_c});
    }
  }
  // The generator does what it is for.
  EXPECT_GT(faults, 20);
  EXPECT_LT(faults, 400);
  EXPECT_GT(refused, 20);
  EXPECT_LT(refused, 200);
  for (const isa::OpInfo& op : isa::op_table) EXPECT_EQ(ops.contains(op.op), !op.privileged()) << op.mnemonic;
  EXPECT_EQ(modifiers.size(), 16u);
  EXPECT_EQ(signs.size(), 32u);
}

TEST(EmulatorTest, LargeBlocksAndLongKernelsEqualThreadsRunOneByOne) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Case launch =
        random_case(seed, {.instructions = 300, .quads = 20, .faults = false, .bad_launches = false});
    ASSERT_EQ(disagreement(launch), "") << "seed " << seed << "\n" << text_of(launch);
  }
}

}  // namespace
}  // namespace qwengpu::emulator

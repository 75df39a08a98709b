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
  bool ended = false;
  std::uint32_t put = 0;  // what it shows when the others have come too
  bool vote = false, puts = false;
};

// Signed views by way of 64 bits.
std::int64_t s64(std::uint32_t x) {
  return x < 0x80000000u ? std::int64_t{x} : std::int64_t{x} - 0x100000000;
}

class ThreadRunner {
 public:
  ThreadRunner(const Case& launch, const std::vector<std::uint32_t>& words, std::uint32_t local,
               std::uint32_t shared_bytes, ThreadsResult& result)
      : code_(launch.kernel.code),
        words_(words),
        local_(local),
        shared_limit_((shared_bytes + 255) / 256 * 256),
        result_(result) {}

  void run_block(std::vector<Thread> threads) {
    shared_.assign(48 * 1024, 0);
    bool lives = true;
    while (lives) {
      lives = false;
      for (Thread& t : threads) {
        if (t.ended) continue;
        if (const int fault = run(t)) {
          result_.faults.insert(fault);
          t.ended = true;
        }
        lives |= !t.ended;
      }
      for (Thread& t : threads) {
        if (!t.puts) continue;
        shown_words_[t.number] = t.put;
        shown_votes_[t.number] = t.vote;
        t.puts = false;
      }
    }
  }

 private:
  // As far as a barrier or a put or its end. The fault, or 0.
  int run(Thread& t) {
    while (true) {
      if (t.pc >= static_cast<int>(code_.size())) return 715;
      const Instruction& i = code_[static_cast<std::size_t>(t.pc++)];
      if (i.op == Op::Illegal) return 715;
      if (!predicate(t, i.guard)) continue;
      switch (i.op) {
        case Op::Exit:
          t.ended = true;
          return 0;
        case Op::Bra:
          t.pc = i.target;
          break;
        case Op::Bar:
          return 0;
        case Op::ShflPut:
        case Op::VotePut:
          t.puts = true;
          t.put = i.op == Op::ShflPut ? b_of(t, i) : 0;
          t.vote = i.op == Op::VotePut && predicate(t, i.pa);
          return 0;
        case Op::Warpsync:
        case Op::Yield:
          break;
        default:
          if (const int fault = execute(t, i)) return fault;
      }
    }
  }

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
      if (n == 48) return local_;
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
      case 7:
        return t.number;
      default:
        return 0;
    }
  }

  // Bytes that an access covers: only the first word of a wide one.
  static std::uint32_t width_of(const std::string_view name) {
    return name.ends_with("8") && !name.ends_with("128") ? 1 : name.ends_with("16") ? 2 : 4;
  }

  int access(Thread& t, const Instruction& i) {
    const std::string_view name = isa::info(i.op).mnemonic;
    const std::uint32_t width = width_of(name);
    const std::uint32_t at = reg(t, i.ra) + i.immediate, b = reg(t, i.rb), c = reg(t, i.rc);
    const std::uint32_t multiple = name.ends_with("64") ? 8 : name.ends_with("128") ? 16 : width;
    if (at % multiple != 0) return 716;
    std::uint8_t* place = nullptr;
    if (at >= 256 && at < result_.limit) place = &result_.global[at];
    if (at >= 0x1000000 && at - 0x1000000 < shared_limit_) place = &shared_[at - 0x1000000];
    if (place == nullptr) return 700;
    std::uint32_t old = 0;
    for (std::uint32_t n = width; n-- > 0;) old = old << 8 | place[n];
    if (name.starts_with("LD")) {
      const std::uint32_t sign = 1u << (8 * width - 1);
      if (name.starts_with("LD.S") && (old & sign) != 0) old -= 2 * sign;  // modulo 2^32
    }
    if (i.rd != 128) t.r[static_cast<std::size_t>(i.rd)] = old;
    if (name.starts_with("LD")) return 0;
    const std::uint32_t updated =
        name.starts_with("ST") ? b : update(i, name.substr(name.find('.') + 1), old, b, c);
    for (std::uint32_t n = 0; n < width; ++n) place[n] = static_cast<std::uint8_t>(updated >> 8 * n);
    return 0;
  }

  static std::uint32_t update(const Instruction& i, std::string_view function, std::uint32_t old,
                              std::uint32_t b, std::uint32_t c) {
    Instruction same;  // on registers
    same.flush = i.flush;
    const auto of = [&](Op op) {
      same.op = op;
      return *word({}, same, old, b, 0);
    };
    if (function == "INC") return old < b ? old + 1 : 0;
    if (function == "DEC") return old >= 1 && old <= b ? old - 1 : b;
    if (function == "EXCH") return b;
    if (function == "CAS") return old == b ? c : old;
    for (const auto& [name, op] :
         std::initializer_list<std::pair<std::string_view, Op>>{{"ADD", Op::Iadd},
                                                                {"MIN.S32", Op::IminS},
                                                                {"MAX.S32", Op::ImaxS},
                                                                {"MIN.U32", Op::IminU},
                                                                {"MAX.U32", Op::ImaxU},
                                                                {"AND", Op::And},
                                                                {"OR", Op::Or},
                                                                {"XOR", Op::Xor},
                                                                {"FADD", Op::Fadd}})
      if (function == name) return of(op);
    throw std::logic_error("not an atomic operation");
  }

  int execute(Thread& t, const Instruction& i) {
    if (isa::info(i.op).has('m')) return access(t, i);
    const std::uint32_t a = reg(t, i.ra), b = b_of(t, i), c = reg(t, i.rc);
    if (i.op == Op::ShflGet) {
      t.r[static_cast<std::size_t>(i.rd)] = shown_words_[a % 1024];
      return 0;
    }
    if (i.op == Op::VoteGet) {
      std::uint32_t votes = 0;
      for (std::uint32_t n = 0; n < 32; ++n) votes |= shown_votes_[t.number / 32 * 32 + n] ? 1u << n : 0;
      t.r[static_cast<std::size_t>(i.rd)] = votes;
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
      case Op::IaddX:
        return low(s64(a) + s64(b) + (predicate(t, i.pa) ? 1 : 0));
      case Op::IsubX:
        return low(s64(a) - s64(b) - (predicate(t, i.pa) ? 0 : 1));
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
  std::uint32_t local_, shared_limit_;
  ThreadsResult& result_;
  std::vector<std::uint8_t> shared_;
  std::array<std::uint32_t, 1024> shown_words_{};
  std::array<bool, 1024> shown_votes_{};
};

}  // namespace

ThreadsResult run_threads(const Case& launch) {
  constexpr std::uint32_t memory = 120 * 1024;
  ThreadsResult result;
  result.global.resize(memory);
  std::vector<std::uint32_t> addresses;
  for (const CaseBuffer& buffer : launch.buffers) {
    const std::uint64_t end = result.limit + (std::uint64_t{buffer.bytes} + 255) / 256 * 256;
    if (end > memory) {
      result.launch_status = 2;
      return result;
    }
    addresses.push_back(buffer.bytes == 0 ? 0 : result.limit);
    result.limit = static_cast<std::uint32_t>(end);
  }
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    for (std::size_t n = 0; n < 4 * launch.buffers[b].data.size(); ++n)
      result.global[addresses[b] + n] =
          static_cast<std::uint8_t>(launch.buffers[b].data[n / 4] >> 8 * (n % 4));
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
  const std::uint64_t shared = static_cast<std::uint64_t>(launch.kernel.shared_bytes) + launch.dynamic_shared;
  if ((threads + 3) / 4 * static_cast<std::uint64_t>(launch.kernel.registers) > 8192 || shared > 48 * 1024) {
    result.launch_status = 701;
    return result;
  }
  const std::uint32_t local = launch.kernel.local_bytes > 0 ? result.limit : 0;
  const std::uint64_t end = result.limit + threads * static_cast<std::uint64_t>(launch.kernel.local_bytes);
  if (end > memory) {
    result.launch_status = 2;
    return result;
  }
  result.limit = static_cast<std::uint32_t>((end + 255) / 256 * 256);

  ThreadRunner runner(launch, words, local, static_cast<std::uint32_t>(shared), result);
  Thread t;
  t.ntid = k;
  t.nctaid = g;
  for (t.ctaid[2] = 0; t.ctaid[2] < g[2]; ++t.ctaid[2])
    for (t.ctaid[1] = 0; t.ctaid[1] < g[1]; ++t.ctaid[1])
      for (t.ctaid[0] = 0; t.ctaid[0] < g[0]; ++t.ctaid[0]) {
        std::vector<Thread> block;
        for (t.tid[2] = 0; t.tid[2] < k[2]; ++t.tid[2])
          for (t.tid[1] = 0; t.tid[1] < k[1]; ++t.tid[1])
            for (t.tid[0] = 0; t.tid[0] < k[0]; ++t.tid[0]) {
              t.number = static_cast<std::uint32_t>(block.size());
              block.push_back(t);
            }
        runner.run_block(std::move(block));
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
        words.push_back(word_in(threads.global, address + 4 * n));
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
    if (emulator.state().global[address / 4] != word_in(threads.global, address))
      return "memory at " + std::to_string(address);
  if (results_of(instructions) != expected_results(launch, threads)) return "spoken results";
  return "";
}

std::string report(std::uint64_t seed, const Case& launch) {
  return "seed " + std::to_string(seed) + "\n" + text_of(launch);
}

TEST(EmulatorTest, RandomKernelsEqualThreadsRunOneByOne) {
  int faults = 0, refused = 0;
  std::set<Op> ops;
  std::set<std::array<int, 3>> modifiers;  // rounding, .FTZ, .SAT of FADD
  std::set<std::array<bool, 5>> signs;     // of FFMA
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    const Case launch = random_case(seed, {.races = false});
    ASSERT_EQ(disagreement(launch), "") << report(seed, launch);
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
  EXPECT_GT(faults, 60);
  EXPECT_LT(faults, 1000);
  EXPECT_GT(refused, 60);
  EXPECT_LT(refused, 500);
  for (const isa::OpInfo& op : isa::op_table)
    EXPECT_EQ(ops.contains(op.op), !op.privileged() && op.op != Op::BarNamed) << op.mnemonic;
  EXPECT_EQ(modifiers.size(), 16u);
  EXPECT_EQ(signs.size(), 32u);
}

TEST(EmulatorTest, LargeBlocksAndLongKernelsEqualThreadsRunOneByOne) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Case launch = random_case(
        seed, {.instructions = 1000, .quads = 256, .faults = false, .bad_launches = false, .races = false});
    ASSERT_EQ(disagreement(launch), "") << report(seed, launch);
  }
}

}  // namespace
}  // namespace qwengpu::emulator

#include "random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <random>

namespace qwengpu {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

namespace {

bool runs(const Step& step, const Thread& t) {
  return step.guard < 0 || t.p[static_cast<std::size_t>(step.guard)] != step.negated;
}

void execute(const std::vector<Step>& steps, Thread& t) {
  for (const Step& step : steps) {
    if (step.rounds > 0) {
      for (int k = 0; k < step.rounds; ++k) execute(step.inside, t);
    } else if (runs(step, t)) {
      if (step.meaning) step.meaning(t);
      execute(step.inside, t);
    }
  }
}

// Widths as types, so that one generator serves 16, 32 and 64 bits.
template <class U>
struct Width;
template <>
struct Width<u16> {
  using S = s16;
  static constexpr const char* bits = "16";
  static constexpr const char* name = "%h";
  static constexpr std::size_t count = 5;
  static u16& reg(Thread& t, std::size_t n) { return t.h[n]; }
};
template <>
struct Width<u32> {
  using S = s32;
  static constexpr const char* bits = "32";
  static constexpr const char* name = "%r";
  static constexpr std::size_t count = 8;
  static u32& reg(Thread& t, std::size_t n) { return t.r[n]; }
};
template <>
struct Width<u64> {
  using S = s64;
  static constexpr const char* bits = "64";
  static constexpr const char* name = "%d";
  static constexpr std::size_t count = 6;
  static u64& reg(Thread& t, std::size_t n) { return t.d[n]; }
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::vector<Step> steps(int count, int depth) {
    std::vector<Step> result;
    for (int n = 0; n < count; ++n) {
      if (depth < 3 && below(12) == 0) {
        Step block;
        if (below(2) == 0) {
          block.rounds = 1 + static_cast<int>(below(3));
        } else {
          block.guard = static_cast<int>(below(10));
          block.negated = below(2) != 0;
        }
        block.inside = steps(2 + static_cast<int>(below(6)), depth + 1);
        result.push_back(std::move(block));
      } else {
        Step step = instruction();
        if (below(8) == 0) {
          step.guard = static_cast<int>(below(10));
          step.negated = below(2) != 0;
        }
        result.push_back(std::move(step));
      }
    }
    return result;
  }

 private:
  u32 below(u32 bound) { return static_cast<u32>(random_()) % bound; }

  template <class U>
  struct Source {
    std::string text;
    std::function<U(Thread&)> value;
  };

  u64 constant() {
    static constexpr u64 edges[] = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    15,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    255,
                                    0xffff,
                                    0x7fff,
                                    0x8000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    ~u64{0},
                                    ~u64{0} - 3};
    return below(3) == 0 ? (u64{below(0xffffffff)} << 32 | below(0xffffffff)) >> below(64)
                         : edges[below(std::size(edges))];
  }

  template <class U>
  Source<U> source(bool allow_constant = true) {
    using W = Width<U>;
    if (allow_constant && below(3) == 0) {
      const U value = static_cast<U>(constant());
      const auto text =
          below(2) == 0 ? fmt::format("{}", static_cast<typename W::S>(value)) : fmt::format("0x{:x}", value);
      return {text, [value](Thread&) { return value; }};
    }
    const std::size_t n = below(W::count);
    return {fmt::format("{}{}", W::name, n), [n](Thread& t) { return W::reg(t, n); }};
  }

  template <class U>
  Step binary(const std::string& opcode, std::function<U(U, U)> f) {
    using W = Width<U>;
    const std::size_t d = below(W::count);
    const auto a = source<U>(below(8) == 0), b = source<U>();
    return make(fmt::format("{} {}{}, {}, {};", opcode, W::name, d, a.text, b.text),
                [=](Thread& t) { W::reg(t, d) = f(a.value(t), b.value(t)); });
  }

  template <class U>
  Step unary(const std::string& opcode, std::function<U(U)> f) {
    using W = Width<U>;
    const std::size_t d = below(W::count);
    const auto a = source<U>(false);
    return make(fmt::format("{} {}{}, {};", opcode, W::name, d, a.text),
                [=](Thread& t) { W::reg(t, d) = f(a.value(t)); });
  }

  static Step make(std::string text, std::function<void(Thread&)> meaning) {
    Step step;
    step.text = std::move(text);
    step.meaning = std::move(meaning);
    return step;
  }

  // ---- One width ----

  template <class U>
  static U shift(U a, u32 n, char kind) {
    constexpr u32 bits = sizeof(U) * 8;
    using S = typename Width<U>::S;
    if (kind == 's') return static_cast<U>(static_cast<S>(a) >> std::min(n, bits - 1));
    if (n >= bits) return 0;
    return static_cast<U>(kind == 'l' ? a << n : a >> n);
  }

  template <class U>
  Step arithmetic() {
    using W = Width<U>;
    using S = typename W::S;
    const std::string bits = W::bits;
    switch (below(18)) {
      case 0:
        return binary<U>("add.u" + bits, [](U a, U b) { return static_cast<U>(a + b); });
      case 1:
        return binary<U>("sub.s" + bits, [](U a, U b) { return static_cast<U>(a - b); });
      case 2:
        return binary<U>("mul.lo.s" + bits, [](U a, U b) { return static_cast<U>(u64{a} * b); });
      case 3:
        return binary<U>("and.b" + bits, [](U a, U b) { return static_cast<U>(a & b); });
      case 4:
        return binary<U>("or.b" + bits, [](U a, U b) { return static_cast<U>(a | b); });
      case 5:
        return binary<U>("xor.b" + bits, [](U a, U b) { return static_cast<U>(a ^ b); });
      case 6:
        return binary<U>("min.s" + bits,
                         [](U a, U b) { return static_cast<S>(a) < static_cast<S>(b) ? a : b; });
      case 7:
        return binary<U>("max.u" + bits, [](U a, U b) { return std::max(a, b); });
      case 8:
        return unary<U>("not.b" + bits, [](U a) { return static_cast<U>(~a); });
      case 9:
        return unary<U>("neg.s" + bits, [](U a) { return static_cast<U>(0 - a); });
      case 10:
        return unary<U>("abs.s" + bits,
                        [](U a) { return static_cast<S>(a) < 0 ? static_cast<U>(0 - a) : a; });
      case 11:
      case 12: {
        const char* names[] = {"shl.b", "shr.u", "shr.s"};
        const char kinds[] = {'l', 'u', 's'};
        const u32 which = below(3);
        const std::size_t d = below(W::count);
        const auto a = source<U>(false);
        const auto n = source<u32>();
        const bool small = below(2) == 0;
        const u32 fixed = below(70);
        const char kind = kinds[which];
        if (small)
          return make(fmt::format("{}{} {}{}, {}, {};", names[which], bits, W::name, d, a.text, fixed),
                      [=](Thread& t) { W::reg(t, d) = shift<U>(a.value(t), fixed, kind); });
        return make(fmt::format("{}{} {}{}, {}, {};", names[which], bits, W::name, d, a.text, n.text),
                    [=](Thread& t) { W::reg(t, d) = shift<U>(a.value(t), n.value(t), kind); });
      }
      case 13: {
        const std::size_t d = below(W::count);
        const auto a = source<U>();
        return make(fmt::format("mov.b{} {}{}, {};", bits, W::name, d, a.text),
                    [=](Thread& t) { W::reg(t, d) = a.value(t); });
      }
      case 14: {
        const std::size_t d = below(W::count), p = below(10);
        const auto a = source<U>(), b = source<U>();
        return make(fmt::format("selp.b{} {}{}, {}, {}, %p{};", bits, W::name, d, a.text, b.text, p),
                    [=](Thread& t) { W::reg(t, d) = t.p[p] ? a.value(t) : b.value(t); });
      }
      case 15: {
        const std::size_t d = below(W::count);
        const auto a = source<U>(false), b = source<U>(), c = source<U>();
        return make(
            fmt::format("mad.lo.u{} {}{}, {}, {}, {};", bits, W::name, d, a.text, b.text, c.text),
            [=](Thread& t) { W::reg(t, d) = static_cast<U>(u64{a.value(t)} * b.value(t) + c.value(t)); });
      }
      default:
        return compare<U>();
    }
  }

  template <class U>
  Step compare() {
    using W = Width<U>;
    using S = typename W::S;
    static constexpr const char* names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    const u32 which = below(6);
    const bool is_signed = below(2) == 0;
    const auto a = source<U>(below(6) == 0), b = source<U>();
    const std::size_t p = below(10), q = (p + 1 + below(9)) % 10, c = below(10);
    const u32 combination = below(4);  // 3: none
    const bool two = below(3) == 0, not_c = below(2) == 0;
    static constexpr const char* combinations[] = {".and", ".or", ".xor", ""};
    const auto holds = [=](Thread& t) {
      const U x = a.value(t), y = b.value(t);
      const auto less = is_signed ? static_cast<S>(x) < static_cast<S>(y) : x < y;
      switch (which) {
        case 0:
          return x == y;
        case 1:
          return x != y;
        case 2:
          return less;
        case 3:
          return less || x == y;
        case 4:
          return !less && x != y;
        default:
          return !less;
      }
    };
    const auto combine = [=](bool x, bool y) {
      return combination == 0 ? (x && y) : combination == 1 ? (x || y) : combination == 2 ? x != y : x;
    };
    std::string text = fmt::format("setp.{}{}.{}{} %p{}", names[which], combinations[combination],
                                   is_signed ? "s" : "u", W::bits, p);
    if (two) text += fmt::format("|%p{}", q);
    text += fmt::format(", {}, {}", a.text, b.text);
    if (combination < 3) text += fmt::format(", {}%p{}", not_c ? "!" : "", c);
    return make(text + ";", [=](Thread& t) {
      const bool result = holds(t), third = t.p[c] != not_c;
      t.p[p] = combine(result, third);
      if (two) t.p[q] = combine(!result, third);
    });
  }

  // ---- Between widths, and 32-bit operations ----

  template <class To, class From>
  Step convert(const std::string& to, const std::string& from, std::function<To(From)> f) {
    using W = Width<To>;
    const std::size_t d = below(W::count);
    const auto a = source<From>(false);
    return make(fmt::format("cvt.{}.{} {}{}, {};", to, from, W::name, d, a.text),
                [=](Thread& t) { W::reg(t, d) = f(a.value(t)); });
  }

  Step conversion() {
    switch (below(12)) {
      case 0:
        return convert<u64, u32>("u64", "u32", [](u32 a) { return u64{a}; });
      case 1:
        return convert<u64, u32>("s64", "s32", [](u32 a) { return static_cast<u64>(static_cast<s32>(a)); });
      case 2:
        return convert<u32, u64>("u32", "u64", [](u64 a) { return static_cast<u32>(a); });
      case 3:
        return convert<u16, u32>("u16", "u32", [](u32 a) { return static_cast<u16>(a); });
      case 4:
        return convert<u32, u16>("s32", "s16", [](u16 a) { return static_cast<u32>(static_cast<s16>(a)); });
      case 5:
        return convert<u32, u16>("u32", "u16", [](u16 a) { return u32{a}; });
      case 6:
        return convert<u32, u32>("s32", "s8",
                                 [](u32 a) { return static_cast<u32>(static_cast<std::int8_t>(a)); });
      case 7:
        return convert<u32, u32>("u32", "u8", [](u32 a) { return a & 255; });
      case 8:
        return convert<u16, u16>("s16", "s8",
                                 [](u16 a) { return static_cast<u16>(static_cast<std::int8_t>(a)); });
      case 9:
        return convert<u64, u16>("s64", "s16", [](u16 a) { return static_cast<u64>(static_cast<s16>(a)); });
      case 10:
        return convert<u16, u64>("u16", "u64", [](u64 a) { return static_cast<u16>(a); });
      default:
        return convert<u64, u64>("s64", "s8",
                                 [](u64 a) { return static_cast<u64>(static_cast<std::int8_t>(a)); });
    }
  }

  Step wide() {
    const std::size_t d = below(6), c = below(6);
    const auto a = source<u32>(false), b = source<u32>();
    const bool is_signed = below(2) == 0, sum = below(2) == 0;
    const auto product = [=](Thread& t) {
      return is_signed ? static_cast<u64>(s64{static_cast<s32>(a.value(t))} * static_cast<s32>(b.value(t)))
                       : u64{a.value(t)} * b.value(t);
    };
    const char kind = is_signed ? 's' : 'u';
    if (sum)
      return make(fmt::format("mad.wide.{}32 %d{}, {}, {}, %d{};", kind, d, a.text, b.text, c),
                  [=](Thread& t) { t.d[d] = product(t) + t.d[c]; });
    return make(fmt::format("mul.wide.{}32 %d{}, {}, {};", kind, d, a.text, b.text),
                [=](Thread& t) { t.d[d] = product(t); });
  }

  Step special() {
    switch (below(14)) {
      case 0:
        return binary<u32>("mul.hi.u32", [](u32 a, u32 b) { return static_cast<u32>((u64{a} * b) >> 32); });
      case 1:
        return binary<u32>("mul.hi.s32", [](u32 a, u32 b) {
          return static_cast<u32>((s64{static_cast<s32>(a)} * static_cast<s32>(b)) >> 32);
        });
      // Division by zero is what routines.h says.
      case 2:
        return binary<u32>("div.u32", [](u32 a, u32 b) { return b == 0 ? 0xffffffff : a / b; });
      case 3:
        return binary<u32>("rem.u32", [](u32 a, u32 b) { return b == 0 ? a : a % b; });
      case 4:
        return binary<u32>("div.s32", [](u32 a, u32 b) {
          if (b == 0) return static_cast<s32>(a) < 0 ? 1u : 0xffffffff;
          return static_cast<u32>(s64{static_cast<s32>(a)} / static_cast<s32>(b));
        });
      case 5:
        return binary<u32>("rem.s32", [](u32 a, u32 b) {
          return b == 0 ? a : static_cast<u32>(s64{static_cast<s32>(a)} % static_cast<s32>(b));
        });
      case 6:
        return unary<u32>("popc.b32", [](u32 a) { return static_cast<u32>(std::popcount(a)); });
      case 7:
        return unary<u32>("clz.b32", [](u32 a) { return static_cast<u32>(std::countl_zero(a)); });
      case 8:
        return unary<u32>("brev.b32", [](u32 a) {
          u32 r = 0;
          for (int k = 0; k < 32; ++k) r = r << 1 | ((a >> k) & 1);
          return r;
        });
      case 9: {
        const std::size_t d = below(8);
        const auto a = source<u32>(false), b = source<u32>(false), n = source<u32>();
        const bool left = below(2) == 0, wrap = below(2) == 0;
        return make(
            fmt::format("shf.{}.{}.b32 %r{}, {}, {}, {};", left ? "l" : "r", wrap ? "wrap" : "clamp", d,
                        a.text, b.text, n.text),
            [=](Thread& t) {
              const u64 both = u64{b.value(t)} << 32 | a.value(t);
              const u32 amount = wrap ? n.value(t) & 31 : std::min(n.value(t), 32u);
              t.r[d] = static_cast<u32>(left ? (amount == 0 ? both : both << amount) >> 32 : both >> amount);
            });
      }
      case 10: {
        const std::size_t d = below(8);
        const auto a = source<u32>(false), b = source<u32>(), c = source<u32>();
        const u32 table = below(256);
        return make(
            fmt::format("lop3.b32 %r{}, {}, {}, {}, {};", d, a.text, b.text, c.text, table), [=](Thread& t) {
              u32 result = 0;
              for (int k = 0; k < 32; ++k) {
                const u32 index =
                    ((a.value(t) >> k) & 1) << 2 | ((b.value(t) >> k) & 1) << 1 | ((c.value(t) >> k) & 1);
                result |= ((table >> index) & 1) << k;
              }
              t.r[d] = result;
            });
      }
      case 11: {
        const std::size_t d = below(8);
        const auto a = source<u32>(false);
        const u32 position = below(40), length = below(40);
        const bool is_signed = below(2) == 0;
        return make(
            fmt::format("bfe.{}32 %r{}, {}, {}, {};", is_signed ? 's' : 'u', d, a.text, position, length),
            [=](Thread& t) {
              const u32 x = a.value(t), top = std::min(position + length, 32u);
              const bool sign = is_signed && length != 0 && ((x >> (top - 1)) & 1) != 0;
              u32 result = 0;
              for (u32 k = 0; k < 32; ++k) {
                const bool bit = k < length && position + k < 32 ? ((x >> (position + k)) & 1) != 0 : sign;
                result |= u32{bit} << k;
              }
              t.r[d] = result;
            });
      }
      case 12: {
        const std::size_t d = below(8);
        const auto a = source<u32>(false), b = source<u32>(false);
        const u32 position = below(33), length = below(34);
        return make(fmt::format("bfi.b32 %r{}, {}, {}, {}, {};", d, a.text, b.text, position, length),
                    [=](Thread& t) {
                      u32 result = b.value(t);
                      for (u32 k = 0; k < length && position + k < 32; ++k)
                        result = (result & ~(1u << (position + k))) | ((a.value(t) >> k) & 1)
                                                                          << (position + k);
                      t.r[d] = result;
                    });
      }
      default: {
        const std::size_t d = below(6);
        const auto a = source<u64>(false), b = source<u64>();
        const bool is_signed = below(2) == 0;
        return make(fmt::format("mul.hi.{}64 %d{}, {}, {};", is_signed ? 's' : 'u', d, a.text, b.text),
                    [=](Thread& t) {
                      __extension__ using u128 = unsigned __int128;
                      __extension__ using s128 = __int128;
                      t.d[d] =
                          is_signed
                              ? static_cast<u64>(
                                    (s128{static_cast<s64>(a.value(t))} * static_cast<s64>(b.value(t))) >> 64)
                              : static_cast<u64>((u128{a.value(t)} * b.value(t)) >> 64);
                    });
      }
    }
  }

  Step predicates() {
    static constexpr const char* names[] = {"and", "or", "xor"};
    const u32 which = below(4);
    const std::size_t p = below(10), a = below(10), b = below(10);
    if (which == 3)
      return make(fmt::format("not.pred %p{}, %p{};", p, a), [=](Thread& t) { t.p[p] = !t.p[a]; });
    return make(fmt::format("{}.pred %p{}, %p{}, %p{};", names[which], p, a, b), [=](Thread& t) {
      t.p[p] = which == 0 ? t.p[a] && t.p[b] : which == 1 ? t.p[a] || t.p[b] : t.p[a] != t.p[b];
    });
  }

  Step halves() {
    const std::size_t d = below(6), a = below(8), b = below(8);
    if (below(2) == 0)
      return make(fmt::format("mov.b64 %d{}, {{%r{}, %r{}}};", d, a, b),
                  [=](Thread& t) { t.d[d] = u64{t.r[b]} << 32 | t.r[a]; });
    if (a == b) return arithmetic<u32>();
    return make(fmt::format("mov.b64 {{%r{}, %r{}}}, %d{};", a, b, d), [=](Thread& t) {
      t.r[a] = static_cast<u32>(t.d[d]);
      t.r[b] = static_cast<u32>(t.d[d] >> 32);
    });
  }

  Step instruction() {
    const u32 kind = below(20);
    if (kind < 8) return arithmetic<u32>();
    if (kind < 11) return arithmetic<u64>();
    if (kind < 13) return arithmetic<u16>();
    if (kind < 15) return conversion();
    if (kind < 16) return wide();
    if (kind < 17) return predicates();
    if (kind < 18) return halves();
    return special();
  }

  std::mt19937 random_;
};

void print(const std::vector<Step>& steps, int& labels, int depth, std::string& text) {
  for (const Step& step : steps) {
    if (step.rounds > 0) {
      const int label = labels++;
      text += fmt::format("\tmov.u32 %count{}, 0;\nL{}:\n", depth, label);
      print(step.inside, labels, depth + 1, text);
      text += fmt::format(
          "\tadd.u32 %count{0}, %count{0}, 1;\n\tsetp.lt.u32 %again, %count{0}, {1};\n\t@%again bra L{2};\n",
          depth, step.rounds, label);
    } else if (!step.inside.empty()) {
      const int label = labels++;
      text += fmt::format("\t@{}%p{} bra L{};\n", step.negated ? "" : "!", step.guard, label);
      print(step.inside, labels, depth + 1, text);
      text += fmt::format("L{}:\n", label);
    } else {
      const std::string guard =
          step.guard < 0 ? "" : fmt::format("@{}%p{} ", step.negated ? "!" : "", step.guard);
      text += "\t" + guard + step.text + "\n";
    }
  }
}

// The first values of the registers, from the input words.
Thread initial(const std::vector<u32>& input) {
  Thread t;
  for (std::size_t n = 0; n < 8; ++n) t.r[n] = input[n];
  for (std::size_t n = 0; n < 6; ++n) t.d[n] = u64{input[n + 1]} << 32 | input[n];
  for (std::size_t n = 0; n < 5; ++n) t.h[n] = static_cast<u16>(input[n]);
  for (std::size_t n = 0; n < 10; ++n) t.p[n] = (input[7] >> n) & 1;
  return t;
}

}  // namespace

std::vector<u32> RandomProgram::expected(const std::vector<u32>& input) const {
  Thread t = initial(input);
  execute(steps, t);
  std::vector<u32> words(t.r.begin(), t.r.end());
  for (const u64 d : t.d) {
    words.push_back(static_cast<u32>(d));
    words.push_back(static_cast<u32>(d >> 32));
  }
  for (const u16 h : t.h) words.push_back(h);
  u32 bits = 0;
  for (std::size_t n = 0; n < 10; ++n) bits |= u32{t.p[n]} << n;
  words.push_back(bits);
  return words;
}

RandomProgram random_program(unsigned seed) {
  RandomProgram program;
  Generator generator(seed);
  program.steps = generator.steps(10 + static_cast<int>(seed % 40), 0);
  std::string& text = program.ptx;
  text =
      ".version 6.3\n.target sm_70\n.address_size 64\n"
      ".visible .entry random(.param .u64 in, .param .u64 out)\n{\n"
      "\t.reg .b32 %r<8>, %t<12>, %count<4>;\n\t.reg .b64 %d<6>, %a<4>;\n\t.reg .b16 %h<5>;\n\t.reg .pred "
      "%p<10>, %again;\n"
      "\tmov.u32 %t0, %tid.x;\n\tld.param.u64 %a0, [in];\n\tld.param.u64 %a1, [out];\n";
  text += fmt::format(
      "\tmul.wide.u32 %a2, %t0, {};\n\tadd.s64 %a0, %a0, %a2;\n\tmad.wide.u32 %a1, %t0, {}, %a1;\n",
      4 * RandomProgram::input_words, 4 * RandomProgram::output_words);
  for (int n = 0; n < 8; ++n) text += fmt::format("\tld.global.u32 %r{}, [%a0+{}];\n", n, 4 * n);
  for (int n = 0; n < 6; ++n) text += fmt::format("\tmov.b64 %d{}, {{%r{}, %r{}}};\n", n, n, n + 1);
  for (int n = 0; n < 5; ++n) text += fmt::format("\tcvt.u16.u32 %h{0}, %r{0};\n", n);
  for (int n = 0; n < 10; ++n)
    text += fmt::format("\tand.b32 %t1, %r7, {};\n\tsetp.ne.u32 %p{}, %t1, 0;\n", 1 << n, n);
  int labels = 0;
  print(program.steps, labels, 0, text);
  for (int n = 0; n < 8; ++n) text += fmt::format("\tst.global.u32 [%a1+{}], %r{};\n", 4 * n, n);
  for (int n = 0; n < 6; ++n) text += fmt::format("\tst.global.u64 [%a1+{}], %d{};\n", 32 + 8 * n, n);
  for (int n = 0; n < 5; ++n)
    text += fmt::format("\tcvt.u32.u16 %t2, %h{};\n\tst.global.u32 [%a1+{}], %t2;\n", n, 80 + 4 * n);
  text += "\tmov.u32 %t3, 0;\n";
  for (int n = 0; n < 10; ++n)
    text += fmt::format("\tselp.u32 %t4, {}, 0, %p{};\n\tor.b32 %t3, %t3, %t4;\n", 1 << n, n);
  text += "\tst.global.u32 [%a1+100], %t3;\n\tret;\n}\n";
  return program;
}

}  // namespace qwengpu

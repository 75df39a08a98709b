// Single PTX instructions and short sequences, on random words and edges, against their meaning in C++.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "launch.h"
#include "ptx/module.h"

namespace qwengpu {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

// What a thread reads: %a, %b, %c are 32 bits wide, %x, %y, %z 64. It leaves its result in %o, or in %r (32
// bits).
struct Input {
  u32 a, b, c;
  u64 x, y, z;
};
struct Operation {
  const char* statements;
  u64 (*meaning)(const Input&);
};
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.statements; }

u128 join(u64 high, u64 low) { return u128{high} << 64 | low; }
u64 mixed(u128 value) { return static_cast<u64>(value) ^ static_cast<u64>(value >> 64) * 3; }
u32 byte(u32 word, u32 n) { return word >> 8 * n & 255; }
u32 permuted(u32 a, u32 b, u32 selector) {
  const u64 bytes = u64{b} << 32 | a;
  u32 result = 0;
  for (u32 n = 0; n < 4; ++n) result |= static_cast<u32>(bytes >> 8 * (selector >> 4 * n & 7) & 255) << 8 * n;
  return result;
}
u32 permuted(const Input& i, const u32 (&selectors)[4]) { return permuted(i.a, i.b, selectors[i.c % 4]); }
s32 low24(u32 value) { return static_cast<s32>(value << 8) >> 8; }

const Operation operations[] = {
    // 64-bit sums word by word, and 128-bit ones.
    {"mov.b64 {%t1, %t2}, %x; mov.b64 {%t3, %t4}, %y; add.cc.u32 %t1, %t1, %t3; addc.u32 %t2, %t2, %t4; "
     "mov.b64 %o, {%t1, %t2};",
     [](const Input& i) { return i.x + i.y; }},
    {"mov.b64 {%t1, %t2}, %x; mov.b64 {%t3, %t4}, %y; sub.cc.u32 %t1, %t1, %t3; subc.s32 %t2, %t2, %t4; "
     "mov.b64 %o, {%t1, %t2};",
     [](const Input& i) { return i.x - i.y; }},
    {"add.cc.u64 %w1, %x, %y; addc.u64 %w2, %y, %z; mad.lo.u64 %o, %w2, 3, 0; xor.b64 %o, %o, %w1;",
     [](const Input& i) { return mixed(join(i.y, i.x) + join(i.z, i.y)); }},
    {"sub.cc.s64 %w1, %x, %y; subc.u64 %w2, %y, %z; mul.lo.u64 %o, %w2, 3; xor.b64 %o, %o, %w1;",
     [](const Input& i) { return mixed(join(i.y, i.x) - join(i.z, i.y)); }},
    // Carries that go through: three words.
    {"add.cc.u32 %t1, %a, %b; addc.cc.u32 %t2, %b, %c; addc.u32 %t3, %c, %a; mov.b64 %o, {%t2, %t3}; "
     "cvt.u64.u32 %w1, %t1; "
     "mul.lo.u64 %w1, %w1, 7; add.u64 %o, %o, %w1;",
     [](const Input& i) {
       const u128 sum = (u128{i.c} << 64 | u64{i.b} << 32 | i.a) + (u128{i.a} << 64 | u64{i.c} << 32 | i.b);
       return static_cast<u64>(sum >> 32) + static_cast<u32>(sum) * u64{7};
     }},
    {"sub.cc.u32 %t1, %a, %b; subc.cc.u32 %t2, %b, %c; subc.u32 %t3, %c, %a; mov.b64 %o, {%t2, %t3}; "
     "cvt.u64.u32 %w1, %t1; "
     "mul.lo.u64 %w1, %w1, 7; add.u64 %o, %o, %w1;",
     [](const Input& i) {
       const u128 sum = (u128{i.c} << 64 | u64{i.b} << 32 | i.a) - (u128{i.a} << 64 | u64{i.c} << 32 | i.b);
       return static_cast<u64>(sum >> 32) + static_cast<u32>(sum) * u64{7};
     }},
    {"mad.lo.cc.u32 %t1, %a, %b, %c; madc.hi.u32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) { return u64{i.a} * i.b + (u64{i.c} << 32 | i.c); }},
    {"mad.lo.cc.s32 %t1, %a, %b, %c; madc.hi.s32 %t2, %a, %b, 0; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       return static_cast<u64>(s64{static_cast<s32>(i.a)} * static_cast<s32>(i.b)) + i.c;
     }},
    {"mad.lo.cc.u64 %w1, %x, %y, %z; madc.hi.cc.u64 %w2, %x, %y, %z; addc.u32 %t1, 0, 0; mul.lo.u64 %o, %w2, "
     "3; xor.b64 %o, %o, %w1; "
     "cvt.u64.u32 %w3, %t1; add.u64 %o, %o, %w3;",
     [](const Input& i) {
       const u128 product = u128{i.x} * i.y, sum = product + join(i.z, i.z);
       return mixed(sum) + (sum < product);
     }},
    // Division.
    {"div.u64 %o, %x, %y;", [](const Input& i) { return i.y == 0 ? ~u64{0} : i.x / i.y; }},
    {"rem.u64 %o, %x, %y;", [](const Input& i) { return i.y == 0 ? i.x : i.x % i.y; }},
    {"div.s64 %o, %x, %y;",
     [](const Input& i) {
       const s64 x = static_cast<s64>(i.x), y = static_cast<s64>(i.y);
       return y == 0 ? (x < 0 ? 1 : ~u64{0}) : y == -1 ? 0 - i.x : static_cast<u64>(x / y);
     }},
    {"rem.s64 %o, %x, %y;",
     [](const Input& i) {
       const s64 x = static_cast<s64>(i.x), y = static_cast<s64>(i.y);
       return y == 0 ? i.x : y == -1 ? 0 : static_cast<u64>(x % y);
     }},
    {"div.u64 %w1, %x, 10; rem.u64 %w2, %x, 64; mad.lo.u64 %o, %w1, 64, %w2;",
     [](const Input& i) { return i.x / 10 * 64 + i.x % 64; }},
    {"cvt.u16.u32 %h1, %a; cvt.u16.u32 %h2, %b; or.b16 %h2, %h2, 1; div.u16 %h3, %h1, %h2; rem.u16 %h4, %h1, "
     "%h2; mov.b32 %r, {%h3, %h4};",
     [](const Input& i) {
       const u32 x = i.a & 0xffff, y = (i.b & 0xffff) | 1;
       return u64{x / y | (x % y) << 16};
     }},
    {"cvt.u16.u32 %h1, %a; cvt.u16.u32 %h2, %b; or.b16 %h2, %h2, 1; div.s16 %h3, %h1, %h2; rem.s16 %h4, %h1, "
     "%h2; mov.b32 %r, {%h3, %h4};",
     [](const Input& i) {
       const int x = static_cast<s16>(i.a), y = static_cast<s16>(i.b | 1);
       return u64{static_cast<u16>(x / y) | static_cast<u32>(x % y) << 16};
     }},
    // 24 bits, distances, sums of products.
    {"mul24.lo.s32 %t1, %a, %b; mad24.hi.s32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       const s64 product = s64{low24(i.a)} * low24(i.b);
       return u64{static_cast<u32>(product >> 16) + i.c} << 32 | static_cast<u32>(product);
     }},
    {"mul24.hi.u32 %t1, %a, %b; mad24.lo.u32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       const u64 product = u64{i.a & 0xffffff} * (i.b & 0xffffff);
       return u64{static_cast<u32>(product) + i.c} << 32 | static_cast<u32>(product >> 16);
     }},
    {"sad.s32 %t1, %a, %b, %c; sad.u32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       const u32 x = static_cast<s32>(i.a) < static_cast<s32>(i.b) ? i.b - i.a : i.a - i.b;
       const u32 y = i.a < i.b ? i.b - i.a : i.a - i.b;
       return u64{y + i.c} << 32 | (x + i.c);
     }},
    {"sad.s64 %o, %x, %y, %z;",
     [](const Input& i) {
       return (static_cast<s64>(i.x) < static_cast<s64>(i.y) ? i.y - i.x : i.x - i.y) + i.z;
     }},
    {"dp4a.s32.s32 %t1, %a, %b, %c; dp4a.u32.s32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       u32 x = i.c, y = i.c;
       for (u32 n = 0; n < 4; ++n) {
         const int b = static_cast<s8>(byte(i.b, n));
         x += static_cast<u32>(static_cast<s8>(byte(i.a, n)) * b);
         y += static_cast<u32>(static_cast<int>(byte(i.a, n)) * b);
       }
       return u64{y} << 32 | x;
     }},
    {"dp2a.lo.u32.u32 %t1, %a, %b, %c; dp2a.hi.s32.s32 %t2, %a, %b, %c; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       u32 x = i.c, y = i.c;
       for (u32 n = 0; n < 2; ++n) {
         x += (i.a >> 16 * n & 0xffff) * byte(i.b, n);
         y += static_cast<u32>(static_cast<s16>(i.a >> 16 * n) * static_cast<s8>(byte(i.b, n + 2)));
       }
       return u64{y} << 32 | x;
     }},
    {"cvt.u16.u32 %h1, %a; cvt.u16.u32 %h2, %b; mul.wide.s16 %t1, %h1, %h2; mad.wide.u16 %t2, %h1, %h2, %c; "
     "mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       const u32 x = static_cast<u32>(static_cast<s16>(i.a) * static_cast<s16>(i.b));
       return u64{(i.a & 0xffff) * (i.b & 0xffff) + i.c} << 32 | x;
     }},
    {"mul.hi.s64 %w1, %x, %y; mul.hi.u64 %w2, %x, %y; sub.u64 %o, %w1, %w2;",
     [](const Input& i) {
       const u64 low = static_cast<u64>((s128{static_cast<s64>(i.x)} * static_cast<s64>(i.y)) >> 64);
       return low - static_cast<u64>((u128{i.x} * i.y) >> 64);
     }},
    // Bytes.
    {"prmt.b32 %r, %a, %b, 0x7142;", [](const Input& i) { return u64{permuted(i.a, i.b, 0x7142)}; }},
    {"prmt.b32.f4e %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0x3210, 0x4321, 0x5432, 0x6543})};
     }},
    {"prmt.b32.b4e %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0x5670, 0x6701, 0x7012, 0x0123})};
     }},
    {"prmt.b32.rc8 %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0, 0x1111, 0x2222, 0x3333})};
     }},
    {"prmt.b32.ecl %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0x3210, 0x3211, 0x3222, 0x3333})};
     }},
    {"prmt.b32.ecr %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0x0000, 0x1110, 0x2210, 0x3210})};
     }},
    {"prmt.b32.rc16 %r, %a, %b, %c;",
     [](const Input& i) {
       return u64{permuted(i, {0x1010, 0x3232, 0x1010, 0x3232})};
     }},
    // Bits of 64.
    {"popc.b64 %t1, %x; clz.b64 %t2, %x; mad.lo.u32 %r, %t1, 100, %t2;",
     [](const Input& i) { return static_cast<u64>(std::popcount(i.x) * 100 + std::countl_zero(i.x)); }},
    {"bfind.u64 %t1, %x; bfind.shiftamt.u64 %t2, %x; mov.b64 %o, {%t1, %t2};",
     [](const Input& i) {
       const u32 highest = static_cast<u32>(63 - std::countl_zero(i.x));
       return u64{i.x == 0 ? ~0u : 63 - highest} << 32 | highest;
     }},
    {"bfind.s64 %r, %x;",
     [](const Input& i) {
       const u64 x = static_cast<s64>(i.x) < 0 ? ~i.x : i.x;
       return u64{static_cast<u32>(63 - std::countl_zero(x))};
     }},
    {"brev.b64 %w1, %x; brev.b64 %w2, %w1; shr.u64 %w1, %w1, 63; and.b64 %w3, %x, 1; sub.u64 %w1, %w1, %w3; "
     "add.u64 %o, %w1, %w2;",
     [](const Input& i) {
       u64 r = 0;
       for (int k = 0; k < 64; ++k) r = r << 1 | (i.x >> k & 1);
       return (r >> 63) - (i.x & 1) + i.x;
     }},
    {"min.s64 %w1, %x, %y; max.u64 %w2, %x, %y; xor.b64 %o, %w1, %w2;",
     [](const Input& i) {
       return static_cast<u64>(std::min(static_cast<s64>(i.x), static_cast<s64>(i.y))) ^ std::max(i.x, i.y);
     }},
    {"abs.s64 %w1, %x; neg.s64 %w2, %y; add.s64 %o, %w1, %w2;",
     [](const Input& i) { return (static_cast<s64>(i.x) < 0 ? 0 - i.x : i.x) - i.y; }},
    // 16 bits.
    {"cvt.u16.u32 %h1, %a; cvt.u16.u32 %h2, %b; min.s16 %h3, %h1, %h2; max.u16 %h4, %h1, %h2; setp.lt.s16 "
     "%p1, %h1, %h2; "
     "@%p1 sub.s16 %h3, %h3, %h4; abs.s16 %h1, %h1; shl.b16 %h2, %h2, 3; add.s16 %h4, %h4, %h1; sub.u16 %h4, "
     "%h4, %h2; mov.b32 %r, {%h3, %h4};",
     [](const Input& i) {
       const s16 x = static_cast<s16>(i.a), y = static_cast<s16>(i.b);
       const u16 most = std::max(static_cast<u16>(x), static_cast<u16>(y));
       u16 low = static_cast<u16>(std::min(x, y));
       if (x < y) low = static_cast<u16>(low - most);
       const u16 high = static_cast<u16>(most + (x < 0 ? -x : x) - (y << 3));
       return u64{u32{high} << 16 | low};
     }},
    {"mov.b64 {%h1, %h2, %h3, %h4}, %x; mov.b32 {%h5, %h6}, %a; mov.b64 %o, {%h4, %h5, %h1, %h6};",
     [](const Input& i) {
       return i.x >> 48 | (i.a & 0xffff) << 16 | (i.x & 0xffff) << 32 | u64{i.a >> 16} << 48;
     }},
    {"slct.s32.s32 %t1, %a, %b, %c; mov.b32 %f1, %c; slct.u64.f32 %w1, %x, %y, %f1; cvt.s64.s32 %w2, %t1; "
     "add.s64 %o, %w1, %w2;",
     [](const Input& i) {
       const float c = std::bit_cast<float>(i.c);
       return (c >= 0 ? i.x : i.y) +
              static_cast<u64>(s64{static_cast<s32>(static_cast<s32>(i.c) >= 0 ? i.a : i.b)});
     }},
    // A word in shared memory, in parts.
    {".shared .align 8 .b8 room[512]; mov.u32 %t1, %tid.x; shl.b32 %t1, %t1, 3; mov.u32 %t2, room; add.u32 "
     "%t1, %t1, %t2; "
     "st.shared.v2.u32 [%t1], {%a, %b}; st.shared.u8 [%t1+3], %c; st.shared.v2.u8 [%t1+4], {%c, %a}; "
     "ld.shared.s16 %t3, [%t1+2]; ld.shared.u64 %o, [%t1]; cvt.s64.s32 %w1, %t3; add.s64 %o, %o, %w1;",
     [](const Input& i) {
       const u32 low = (i.a & 0xffffff) | i.c << 24,
                 high = (i.b & 0xffff0000) | (i.a & 255) << 8 | (i.c & 255);
       return (u64{high} << 32 | low) + static_cast<u64>(s64{static_cast<s16>(low >> 16)});
     }},
    {".shared .align 8 .b8 room[512]; mov.u32 %t1, %tid.x; shl.b32 %t1, %t1, 3; cvt.u64.u32 %w1, %t1; "
     "mov.u64 %w2, room; "
     "cvta.shared.u64 %w2, %w2; add.u64 %w1, %w1, %w2; st.v4.u16 [%w1], {%h1, %h2, %h1, %h2}; st.u32 "
     "[%w1+4], %a; "
     "cvta.to.shared.u64 %w3, %w1; ld.shared.v4.s8 {%t1, %t2, %t3, %t4}, [%w3+4]; add.s32 %t1, %t1, %t4; "
     "mad.lo.s32 %r, %t2, %t3, %t1;",
     [](const Input& i) {
       const auto part = [&](u32 n) { return static_cast<s8>(byte(i.a, n)); };
       return u64{static_cast<u32>(part(1) * part(2) + part(0) + part(3))};
     }},
};

std::string text_of(const Operation& operation) {
  std::string statements = operation.statements;
  const bool wide = statements.find("%o") != std::string::npos;
  return fmt::format(
      ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "
      "out)\n{{\n"
      ".reg .b32 %a, %b, %c, %r, %t<9>; .reg .b64 %x, %y, %z, %o, %w<9>, %in, %out; .reg .f32 %f<9>; .reg "
      ".b16 %h<9>; .reg "
      ".pred %p<9>;\n"
      "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t0, %tid.x;\n"
      "mad.wide.u32 %in, %t0, 40, %in; mad.wide.u32 %out, %t0, 8, %out;\n"
      "ld.global.v2.u32 {{%a, %b}}, [%in]; ld.global.u32 %c, [%in+8]; ld.global.u64 %x, [%in+16]; "
      "ld.global.u64 %y, [%in+24];\n"
      "ld.global.u64 %z, [%in+32];\n{}\n{}st.global.u64 [%out], %o;\nret;\n}}\n",
      statements, wide ? "" : "cvt.u64.u32 %o, %r;\n");
}

class OnePtxOperation : public testing::TestWithParam<Operation> {};

TEST_P(OnePtxOperation, ComputesWhatItMeans) {
  const isa::Kernel kernel = ptx::Module(text_of(GetParam()), "operation.ptx").compile("k");
  static constexpr u64 edges[] = {
      0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, u64{1} << 63, ~u64{0}};
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] {
      return random() % 3 == 0 ? edges[random() % std::size(edges)] : random() >> random() % 64;
    };
    const u32 threads = 61;
    Words in;
    std::vector<Input> inputs;
    for (u32 t = 0; t < threads; ++t) {
      const Input i{static_cast<u32>(number()),
                    static_cast<u32>(number()),
                    static_cast<u32>(number()),
                    number(),
                    number(),
                    number()};
      inputs.push_back(i);
      for (const u32 word : {i.a, i.b, i.c, 0u}) in.push_back(word);
      for (const u64 word : {i.x, i.y, i.z}) {
        in.push_back(static_cast<u32>(word));
        in.push_back(static_cast<u32>(word >> 32));
      }
    }
    const auto result =
        Launch(kernel, {1, 1, 1}, {threads, 1, 1}).buffer(in).buffer(Words(2 * threads)).run();
    ASSERT_EQ(result.status, 0);
    for (u32 t = 0; t < threads; ++t) {
      const Input& i = inputs[t];
      ASSERT_EQ(u64{result.buffers[1][2 * t + 1]} << 32 | result.buffers[1][2 * t], GetParam().meaning(i))
          << fmt::format("a {:#x} b {:#x} c {:#x} x {:#x} y {:#x} z {:#x}, seed {}\n", i.a, i.b, i.c, i.x,
                         i.y, i.z, seed)
          << ptx::listing(kernel);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnePtxOperation, testing::ValuesIn(operations));

}  // namespace
}  // namespace qwengpu

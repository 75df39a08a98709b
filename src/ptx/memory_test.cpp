#include <gtest/gtest.h>

#include <algorithm>

#include "isa/parameters.h"
#include "isa/request.h"
#include "ptx/test_compile.h"

namespace qwengpu::ptx {
namespace {

using isa::Op;

isa::Kernel compile_with(const std::string& variables, const std::string& statements) {
  return Module(head + variables + kernel_text(statements).substr(head.size()), "t.ptx").compile("k");
}

int count(const isa::Kernel& kernel, Op op) {
  return static_cast<int>(std::count_if(kernel.code.begin(), kernel.code.end(),
                                        [&](const isa::Instruction& i) { return i.op == op; }));
}

TEST(CompileMemory, TheFirstWordOfAWideAccessChecksItsAlignment) {
  EXPECT_EQ(code(R"(
	ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%a+16];
	st.global.v2.u32 [%b], {%r4, %r3};
	st.global.u64 [%b+8], %a;
	st.global.v2.u16 [%b+16], {%r1, %r2};
	st.global.u8 [%b+21], %r1;
	ld.global.s16 %r5, [%a+2];
	st.global.u32 [%b+24], %r5;
)"),
            "MOV R0, c[0x40]\nLD.128 R1, [R0+0x10]\nLD R2, [R0+0x14]\nLD R3, [R0+0x18]\nLD R4, "
            "[R0+0x1c]\nMOV R5, c[0x48]\n"
            "ST.64 [R5], R4\nST [R5+0x4], R3\nST.64 [R5+0x8], R0\nMOV R4, c[0x44]\nST [R5+0xc], R4\nBFI R4, "
            "R2, 0x1010, R1\n"
            "ST [R5+0x10], R4\nST.8 [R5+0x15], R1\nLD.S16 R4, [R0+0x2]\nST [R5+0x18], R4\nEXIT\n");
}

TEST(CompileMemory, SharedMemoryStandsInItsWindow) {
  const isa::Kernel kernel = compile(R"(
	.shared .align 4 .b8 first[5];
	.shared .align 8 .b8 second[8];
	mov.u32 %r1, %tid.x;
	st.shared.u8 [first+4], %r1;
	mov.u32 %r2, second;
	add.u32 %r2, %r2, %r1;
	ld.shared.u8 %r3, [%r2+1];
	mov.u64 %d1, second;
	cvta.shared.u64 %d2, %d1;
	st.u32 [%d2], %r3;
)");
  EXPECT_EQ(code(kernel),
            "MOV R0, SR_TID.X\nST.8 [0x1000004], R0\nLD.U8 R0, [R0+0x1000009]\nST [0x1000008], R0\nEXIT\n");
  EXPECT_EQ(kernel.shared_bytes, 16);
}

TEST(CompileMemory, DynamicSharedMemoryBeginsBehindTheRest) {
  const isa::Kernel kernel = compile_with(".extern .shared .align 4 .b8 rest[];\n", R"(
	.shared .align 4 .b8 first[5];
	st.shared.u32 [first], %n;
	st.shared.u32 [rest+4], %n;
)");
  EXPECT_EQ(kernel.shared_bytes, 16);
  EXPECT_EQ(code(kernel), "MOV R0, c[0x50]\nST [0x1000000], R0\nST [0x1000014], R0\nEXIT\n");
}

TEST(CompileMemory, EveryThreadHasLocalMemory) {
  const isa::Kernel kernel = compile(R"(
	.local .align 4 .b8 depot[20];
	.reg .b64 %SP, %SPL;
	mov.u64 %SPL, depot;
	cvta.local.u64 %SP, %SPL;
	st.local.u32 [%SPL+4], %n;
	ld.u32 %r1, [%SP+8];
	st.global.u32 [%a], %r1;
)");
  EXPECT_EQ(kernel.local_bytes, 32);
  EXPECT_EQ(code(kernel),
            "MOV R0, SR_THREAD\nSHL R0, R0, 5\nIADD R1, R0, c[0x30]\nMOV R0, c[0x50]\nST [R1+0x4], R0\n"
            "LD R1, [R1+0x8]\nMOV R0, c[0x40]\nST [R0], R1\nEXIT\n");
}

TEST(CompileMemory, VariablesAndTheirInitialValues) {
  const isa::Kernel kernel = compile_with(R"(
.global .align 4 .u32 unused[100];
.global .u16 half = 0x1234;
.visible .global .align 8 .u64 addresses[3] = {generic(half)+1, numbers, 0};
.const .align 4 .f32 numbers[4] = {1.5, 0f40000000, -3};
.global .align 2 .u8 rows[2][3] = {{1}, {2, 0xff, -2}};
.global .v2 .u16 vectors[] = {{1, 2}, {3, 4}};
.global .align 4 .b8 parts[4] = {0xFF(rows), 0xFF00(rows), 7};
)",
                                          R"(
	mov.u64 %d1, addresses+8;
	ld.global.u64 %d2, [%d1];
	ld.global.u8 %r1, [rows+4];
	ld.global.u16 %r2, [vectors];
	ld.global.u8 %r3, [parts];
	add.u32 %r1, %r1, %r2;
	add.u32 %r1, %r1, %r3;
	st.global.u32 [%d2], %r1;
)");
  const std::uint32_t first = isa::Parameters::first_allocation;
  // numbers, addresses, half, rows, vectors, parts.
  const std::uint32_t numbers = first, addresses = first + 16, half = addresses + 24, rows = half + 2,
                      vectors = rows + 6, parts = vectors + 8;
  ASSERT_EQ(kernel.variables.size(), parts + 4 - first);
  const auto word = [&](std::uint32_t address, int bytes) {
    std::uint64_t value = 0;
    for (int n = bytes; n-- > 0;)
      value = value << 8 | kernel.variables[address - first + static_cast<std::uint32_t>(n)];
    return value;
  };
  EXPECT_EQ(word(numbers, 8), 0x400000003fc00000u);
  EXPECT_EQ(word(numbers + 8, 8), 0xc0400000u);
  EXPECT_EQ(word(addresses, 8), half + 1);
  EXPECT_EQ(word(addresses + 8, 8), numbers);
  EXPECT_EQ(word(half, 2), 0x1234u);
  EXPECT_EQ(word(rows, 6), 0xfeff02000001u);
  EXPECT_EQ(word(vectors, 8), 0x0004000300020001u);
  EXPECT_EQ(word(parts, 4), (rows & 0xff) | (rows >> 8) << 8 | 7 << 16);
}

TEST(CompileMemory, WrongVariablesAreToldApart) {
  for (const char* variables :
       {".global .u32 v[2] = {1, 2, 3};", ".global .u32 v = {{1}};", ".global .u32 v = other;",
        ".global .f32 v = here;", ".extern .global .u32 v;", ".global .u32 v[2] = {1, ;",
        ".global .u32 v = generic(v;", ".global .align 3 .u32 v;"})
    EXPECT_THROW(
        compile_with(std::string(variables) + "\n.shared .u32 here;\n", "\tld.global.u32 %r1, [v];\n"),
        SyntaxError)
        << variables;
  for (const char* variables : {".global .u32 v[40000];", ".shared .b8 v[50000];", ".local .b8 v[200000];"})
    EXPECT_THROW(compile_with(std::string(variables) + "\n", "\tmov.u64 %d1, v;\n"), TooLarge) << variables;
  EXPECT_NO_THROW(compile_with(".global .u32 v[40000];\n", ""));  // not used
}

TEST(CompileMemory, AtomicOperationsWithoutAReaderAreReductions) {
  EXPECT_EQ(
      code(R"(
	atom.global.add.u32 %r1, [%a], %n;
	atom.global.exch.b32 %r2, [%a+4], %n;
	atom.global.max.s32 %r3, [%a+8], %n;
	red.global.and.b32 [%a+12], %n;
	atom.global.inc.u32 %r4, [%a+16], %n;
	st.global.u32 [%a+20], %r4;
	mov.b32 %f1, %n;
	red.shared.add.f32 [%n], %f1;
	red.global.add.f32 [%a+24], %f1;
	atom.global.cas.b32 %r5, [%a+28], %n, 3;
)"),
      "MOV R0, c[0x40]\nMOV R1, c[0x50]\nRED.ADD [R0], R1\nST [R0+0x4], R1\nRED.MAX.S32 [R0+0x8], R1\n"
      "RED.AND [R0+0xc], R1\nATOM.INC R2, [R0+0x10], R1\nST [R0+0x14], R2\nRED.FADD [R1+0x1000000], R1\n"
      "RED.FADD.FTZ [R0+0x18], R1\nMOV R2, 3\nATOM.CAS R2, [R0+0x1c], R1, R2\nEXIT\n");
}

TEST(CompileMemory, LoadsStayWhereTheyAre) {
  EXPECT_EQ(code(R"(
	ld.global.u32 %r1, [%a];
	st.global.u32 [%b], %r1;
	ld.global.u32 %r2, [%a];
	ld.volatile.global.u32 %r3, [%a];
	bar.sync 0;
	ld.global.u32 %r4, [%a];
	add.u32 %r2, %r2, %r4;
	st.global.u32 [%b], %r2;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nMOV R2, c[0x48]\nST [R2], R1\nLD R3, [R0]\nLD R1, [R0]\nBAR\nLD "
            "R1, [R0]\n"
            "IADD R1, R3, R1\nST [R2], R1\nEXIT\n");
}

// Though it is only kept in memory.
TEST(CompileMemory, AParameterThatIsConvertedIsAPointer) {
  const isa::Kernel kernel = compile("\tcvta.to.global.u64 %d1, %b;\n\tst.global.u64 [%a], %d1;\n");
  EXPECT_TRUE(kernel.parameters[0].pointer);
  EXPECT_TRUE(kernel.parameters[1].pointer);
  EXPECT_FALSE(compile("\tst.global.u64 [%a], %b;\n").parameters[1].pointer);
}

TEST(CompileMemory, TexturesAreNotSupported) {
  EXPECT_THROW(compile_with(".global .texref image;\n", "\tmov.u64 %d1, image;\n"), Unsupported);
}

TEST(CompileMemory, BarriersByNumberHaveATable) {
  EXPECT_EQ(compile("\tbar.sync 0;\n\tbarrier.sync.aligned 0;\n").named_barriers, 0u);
  const isa::Kernel kernel = compile_with(".global .u32 v = 1;\n", R"(
	ld.global.u32 %r1, [v];
	st.global.u32 [%a], %r1;
	bar.sync 0;
	bar.arrive 3, 64;
)");
  EXPECT_EQ(kernel.named_barriers, isa::Parameters::first_allocation + 16u);
  EXPECT_EQ(kernel.variables.size(), 16u + 16 * isa::request::barriers);
  EXPECT_EQ(count(kernel, Op::Bar), 0);
  EXPECT_EQ(count(kernel, Op::BarNamed), 1);
  EXPECT_THROW(compile("\tbar.sync 16, 64;\n"), SyntaxError);
  EXPECT_THROW(compile("\tbar.arrive 1;\n"), SyntaxError);
}

}  // namespace
}  // namespace qwengpu::ptx

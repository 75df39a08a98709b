#include "ptx/parse.h"

#include <gtest/gtest.h>

namespace qwengpu::ptx {
namespace {

using Kind = syntax::Operand::Kind;

const std::string head = ".version 6.3\n.target sm_70, debug\n.address_size 64\n";

syntax::Module body(const std::string& statements) {
  return parse(head + ".visible .entry k(.param .u64 a, .param .align 4 .b8 s[12])\n{\n" + statements + "}\n",
               "t.ptx");
}

// Line, column and message of the error in a text.
void expect_error(const std::string& text, int line, int column, const std::string& message) {
  try {
    parse(text, "t.ptx");
    FAIL() << "accepted: " << text;
  } catch (const SyntaxError& error) {
    EXPECT_EQ(error.where().line, line) << error.what();
    EXPECT_EQ(error.where().column, column) << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("t.ptx:"), 0u) << error.what();
  }
}

TEST(Parse, ModuleWithEverythingThatCompilersWrite) {
  const syntax::Module module = parse(head + R"(
	// .globl	k
.file	1 "/tmp/a b.cu"
.file	2 "x.h", 1700000000, 12
.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.global .align 1 .b8 text[4] = {37, 100, 10, 0};
.global .align 8 .u64 table[2] = {generic(text), 0};
.const .align 4 .f32 scale = 0f3F800000;
.visible .shared .align 4 .b8 buffer[];
.weak .func (.param .b32 r) helper(.param .b32 x) .noreturn
{
	ret;
}
.visible .entry k(
	.param .u64 .ptr .global .align 4 k_param_0,
	.param .align 4 .b8 k_param_1[12]
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred %p<2>;
	.loc 1 10 3
	ld.param.u64 %rd1, [k_param_0]; /* a
	comment */
	.loc	2 5 1, function_name $L__info_string0, inlined_at 1 12 5
	.pragma "nounroll";
	.reg .b64 %rd<4>;
	.reg .v4 .f32 %v;
	ret;
}
	.section .debug_str { .b8 1,2
	x: .b8 3 }
)",
                                      "t.ptx");
  EXPECT_EQ(module.version, "6.3");
  EXPECT_EQ(module.target, "sm_70");
  EXPECT_EQ(module.files.at(1), "/tmp/a b.cu");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_FALSE(module.functions[0].defined);
  ASSERT_EQ(module.variables.size(), 4u);
  EXPECT_EQ(module.variables[0].elements, 4u);
  EXPECT_EQ(module.variables[3].space, "shared");
  const syntax::Function& kernel = module.functions[2];
  EXPECT_TRUE(kernel.entry);
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_TRUE(kernel.parameters[0].pointer);
  EXPECT_EQ(kernel.parameters[1].elements, 12u);
  EXPECT_EQ(kernel.parameters[1].alignment, 4);
}

TEST(Parse, Operands) {
  const auto module = body(R"(
	.reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred p, q;
	.reg .f32 %f;
L_1: @!p setp.lt.and.s32 p|q, %r1, -0x10, !q;
	ld.global.v2.u32 {%r1, _}, [%d1+-8];
	mov.f32 %f, 0fBF800000;
	mov.u32 %r2, %tid.x;
	add.u32 %r3, %r2, 017;
	add.u32 %r3, %r2, 0b101U;
	st.global.u32 [%d1 - 4], %r3;
	bra.uni L_1;
)");
  const auto& code = module.functions[0].body;
  ASSERT_EQ(code.size(), 8u);
  EXPECT_EQ(code[0].text(), "setp.lt.and.s32");
  ASSERT_TRUE(code[0].guard);
  EXPECT_TRUE(code[0].guard->negated);
  ASSERT_EQ(code[0].operands.size(), 4u);
  EXPECT_EQ(code[0].operands[0].kind, Kind::Pair);
  EXPECT_EQ(code[0].operands[2].value, static_cast<std::uint64_t>(-16));
  EXPECT_TRUE(code[0].operands[3].negated);
  EXPECT_EQ(code[1].operands[0].kind, Kind::Vector);
  EXPECT_EQ(code[1].operands[0].elements[1].kind, Kind::Sink);
  EXPECT_EQ(code[1].operands[1].value, static_cast<std::uint64_t>(-8));
  EXPECT_EQ(code[2].operands[1].kind, Kind::Float);
  EXPECT_EQ(code[2].operands[1].value, 0xBF800000u);
  EXPECT_EQ(code[3].operands[1].name, "%tid.x");
  EXPECT_EQ(code[4].operands[2].value, 15u);
  EXPECT_EQ(code[5].operands[2].value, 5u);
  EXPECT_EQ(code[6].operands[0].value, static_cast<std::uint64_t>(-4));
  EXPECT_EQ(module.functions[0].find_label("L_1", 0), 0u);
}

TEST(Parse, InnerScopesHideOuterNames) {
  const auto module = body(R"(
	.reg .b32 x;
	mov.u32 x, 1;
L:	{
	.reg .b64 x;
	mov.u64 x, 2;
L:	bra L;
	}
	mov.u32 x, 3;
	bra L;
)");
  const syntax::Function& f = module.functions[0];
  EXPECT_EQ(f.registers[static_cast<std::size_t>(f.body[1].operands[0].index)].type, "b64");
  EXPECT_EQ(f.body[0].operands[0].index, f.body[3].operands[0].index);
  EXPECT_EQ(f.find_label("L", f.body[2].scope), 2u);
  EXPECT_EQ(f.find_label("L", f.body[4].scope), 1u);
}

TEST(Parse, SourceLines) {
  const auto module =
      body("\t.reg .b32 %r<3>;\n\t.loc 1 7 2\n\tmov.u32 %r1, 0;\n\t.loc 1 0 2\n\tmov.u32 %r1, 0;\n");
  EXPECT_EQ(module.functions[0].body[0].loc_line, 7);
  EXPECT_EQ(module.functions[0].body[1].loc_line, 7);  // line 0 has no line of its own
  EXPECT_EQ(module.functions[0].body[0].where.line, 8);
}

TEST(Parse, ErrorsSayWhere) {
  expect_error("hello", 1, 1, "expected the directive .version");
  expect_error(head + ".entry k(\n{ }", 5, 1, "')'");
  const std::string open = head + ".entry k()\n{\n\t.reg .b32 %r<4>;\n";
  expect_error(open + "\tadd.u32 %r1, %r2 %r3;\n}\n", 7, 19, "expected an operand or ';' before '%r3;'");
  expect_error(open + "\tadd.u32 %r1, %r2, ;\n}\n", 7, 18, "expected an operand or ';'");
  expect_error(open + "\t@%p1 bra L;\n}\n", 7, 3, "register %p1 is not declared");
  expect_error(open + "\t.reg .b32 %r<5>;\n}\n", 7, 12, "declared twice");
  expect_error(open + "L:\nL:\n}\n", 8, 1, "label L is declared twice");
  expect_error(open + "\tld.global.u32 %r1, [%r2;\n}\n", 7, 25, "']'");
  expect_error(open, 7, 1, "expected a statement or '}' before the end of the text");
  expect_error(head + ".entry k() { }\n.entry k() { }\n", 5, 12, "defined twice");
  expect_error(open + "\tmov.u32 %r1, 99999999999999999999;\n}\n", 7, 15, "not a 64-bit integer");
}

// None of these may take unusual time, memory or stack.
TEST(Parse, HostileTexts) {
  const std::string open = head + ".entry k()\n{\n";
  EXPECT_THROW(parse(open + std::string(1'000'000, '{'), "t"), SyntaxError);
  EXPECT_THROW(parse(open + "add.u32 " + std::string(1'000'000, '('), "t"), SyntaxError);
  EXPECT_THROW(parse(open + "add.u32 " + std::string(1'000'000, '{'), "t"), SyntaxError);
  EXPECT_THROW(parse(open + "add" + std::string(1'000'000, '.'), "t"), SyntaxError);
  EXPECT_THROW(parse(head + "/*" + std::string(1'000'000, '*'), "t"), SyntaxError);
  EXPECT_THROW(parse(head + ".global .b8 x[4000000000][4000000000][4000000000];", "t"), SyntaxError);
  std::string operands = open + ".reg .b32 %r<4000000000>;\nadd.u32 ";
  for (int n = 0; n < 100'000; ++n) operands += "%r1, ";
  EXPECT_THROW(parse(operands + "%r1; }", "t"), SyntaxError);
  EXPECT_NO_THROW(parse(open + ".reg .b32 %r<4000000000>; mov.u32 %r3999999999, 0; }", "t"));
  EXPECT_NO_THROW(parse(open + "}" + std::string(1, '\0'), "t"));
}

}  // namespace
}  // namespace qwengpu::ptx

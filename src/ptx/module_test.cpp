#include "ptx/module.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "isa/parameters.h"
#include "ptx/process.h"
#include "ptx/test_compile.h"

namespace qwengpu::ptx {
namespace {

TEST(Compile, ConstantsAreOperands) {
  EXPECT_EQ(code(R"(
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d1, %r1, 4;
	cvta.to.global.u64 %d2, %a;
	add.s64 %d3, %d2, %d1;
	ld.global.u32 %r2, [%d3];
	add.u32 %r3, %n, %r2;
	st.global.u32 [%d3+4], %r3;
)"),
            "MOV R0, SR_TID.X\nSHL R0, R0, 2\nIADD R1, R0, c[0x40]\nLD R0, [R1]\nIADD R0, R0, c[0x50]\n"
            "ST [R1+0x4], R0\nEXIT\n");
}

TEST(Compile, FoldsWhatIsKnown) {
  EXPECT_EQ(code(R"(
	mov.u32 %r1, 6;
	mul.lo.u32 %r2, %r1, 7;
	sub.u32 %r3, %r2, %r1;
	setp.gt.u32 %p1, %r3, 40;
	@%p1 bra L;
	selp.u32 %r4, 1, 0, %p1;
	add.u32 %r2, %r2, %r4;
	st.global.u32 [%b], %r2;
L:
)"),
            "MOV R0, 42\nMOV R1, c[0x48]\nST [R1], R0\nEXIT\n");
}

TEST(Compile, CopiesAndUnusedValuesGoAway) {
  EXPECT_EQ(code(R"(
	ld.global.u32 %r1, [%a];
	ld.global.u32 %r9, [%b];
	mov.u32 %r2, %r1;
	mov.u32 %r3, %r2;
	not.b32 %r4, %r3;
	st.global.u32 [%a], %r3;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nST [R0], R1\nEXIT\n");
}

TEST(Compile, AProductAndASumAreOneInstruction) {
  EXPECT_EQ(code(R"(
	ld.global.u32 %r1, [%a];
	ld.global.u32 %r2, [%a+4];
	mad.lo.u32 %r3, %r1, 5, %r2;
	st.global.u32 [%a], %r3;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nLD R2, [R0+0x4]\nIMAD R2, R1, 5, R2\nST [R0], R2\nEXIT\n");
}

TEST(Compile, OneInstructionThatIsBranchedAroundIsGuarded) {
  EXPECT_EQ(code(R"(
	ld.global.u32 %r1, [%a];
	setp.eq.u32 %p1, %r1, 3;
	@!%p1 bra L;
	add.u32 %r1, %r1, 9;
L:	st.global.u32 [%a], %r1;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nISETP.EQ P0, R1, 3\n@P0 IADD R1, R1, 9\nST [R0], R1\nEXIT\n");
}

// 64-bit sums that only their low word is needed of are 32-bit ones.
TEST(Compile, WideValuesKeepTheHalvesThatAreNeeded) {
  EXPECT_EQ(code(R"(
	ld.global.u64 %d1, [%a];
	add.s64 %d2, %d1, 1;
	cvt.u32.u64 %r1, %d2;
	st.global.u32 [%a], %r1;
)"),
            "MOV R0, c[0x40]\nLD.64 R1, [R0]\nIADD R1, R1, 1\nST [R0], R1\nEXIT\n");
}

// The lowest program counter runs: where lanes meet again has to stand behind both ways, and a loop's exit
// behind the loop.
TEST(Compile, BlocksStandInTopologicalOrder) {
  const isa::Kernel kernel = compile(R"(
	ld.global.u32 %r1, [%a];
	bra.uni TEST;
EXIT:	st.global.u32 [%b], %r1;
	ret;
BODY:	setp.gt.s32 %p2, %r1, 50;
	@%p2 bra HIGH;
	st.global.u32 [%b+4], %r1;
	add.u32 %r1, %r1, 3;
	bra.uni TEST;
HIGH:	st.global.u32 [%b+8], %r1;
	sub.u32 %r1, %r1, 7;
TEST:	setp.ne.u32 %p1, %r1, %n;
	@%p1 bra BODY;
	bra.uni EXIT;
)");
  // Only the loop's own branch goes back.
  int back = 0;
  for (std::size_t pc = 0; pc < kernel.code.size(); ++pc)
    back += kernel.code[pc].op == isa::Op::Bra && kernel.code[pc].target <= static_cast<int>(pc);
  EXPECT_LE(back, 2) << listing(kernel);
  EXPECT_EQ(kernel.code.back().op, isa::Op::Exit);
  EXPECT_EQ(kernel.code[kernel.code.size() - 2].op, isa::Op::St) << listing(kernel);
}

TEST(Compile, Parameters) {
  const Module module(
      head +
          R"(.visible .entry k(.param .u8 small, .param .u16 half, .param .align 8 .b8 block[12], .param .u64 out)
{
	.reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b64 %d<9>;
	ld.param.s8 %r1, [small];
	ld.param.u16 %h1, [half];
	cvt.u32.u16 %r2, %h1;
	ld.param.u32 %r3, [block+8];
	ld.param.u64 %d1, [out];
	add.u32 %r4, %r1, %r2;
	add.u32 %r4, %r4, %r3;
	st.global.u32 [%d1], %r4;
	ret;
})",
      "t.ptx");
  const isa::Kernel kernel = module.compile("k");
  ASSERT_EQ(kernel.parameters.size(), 4u);
  EXPECT_EQ(kernel.parameters[1].offset, 2);
  EXPECT_EQ(kernel.parameters[2].offset, 8);
  EXPECT_EQ(kernel.parameters[2].ptx_type, "b8[12]");
  EXPECT_EQ(kernel.parameters[3].offset, 24);
  EXPECT_TRUE(kernel.parameters[3].pointer);
  EXPECT_FALSE(kernel.parameters[2].pointer);
  EXPECT_EQ(kernel.parameter_bytes, 32);
}

TEST(Compile, EverythingUnsupportedIsToldAtOnce) {
  try {
    compile(R"(
	.loc 1 12 1
	.reg .f64 %g<4>;
	add.f64 %g1, %g2, %g3;
	mbarrier.init.shared.b64 [%a], 1;
	fma.rn.f64 %g1, %g2, %g3, %g1;
	atom.global.add.f64 %g1, [%a], %g2;
	atom.global.cas.b16 %h1, [%a], %h2, %h3;
	atom.global.add.noftz.f16x2 %r1, [%a], %r2;
	mov.u32 %r1, %clock;
	add.sat.s32 %r1, %r1, %r1;
	cvt.rn.f64.s32 %g1, %r1;
	add.u32 %r1, %r1, 1;
)");
    FAIL();
  } catch (const Unsupported& unsupported) {
    ASSERT_EQ(unsupported.diagnostics().size(), 9u) << unsupported.what();
    EXPECT_EQ(unsupported.diagnostics()[0].construct, "add.f64");
    EXPECT_EQ(unsupported.diagnostics()[0].reason, "floating point of type .f64 not supported");
    EXPECT_EQ(unsupported.diagnostics()[1].reason, "asynchronous barriers not supported");
    EXPECT_EQ(unsupported.diagnostics()[3].reason, "atomic operations of type .f64 not supported");
    EXPECT_EQ(unsupported.diagnostics()[4].reason, "16-bit atomic operations not supported");
    EXPECT_EQ(unsupported.diagnostics()[5].reason, "atomic operations of type .f16x2 not supported");
    EXPECT_EQ(unsupported.diagnostics()[7].reason, ".sat not supported");
    EXPECT_NE(std::string(unsupported.what())
                  .find("t.ptx:18:2: mbarrier.init.shared.b64: asynchronous barriers not supported"),
              std::string::npos)
        << unsupported.what();
  }
}

TEST(CompileFloat, SignsAndConstantsArePartOfTheInstruction) {
  EXPECT_EQ(code(R"(
	ld.global.f32 %f1, [%a];
	ld.global.f32 %f2, [%a+4];
	neg.f32 %f3, %f1;
	abs.f32 %f4, %f2;
	sub.rz.f32 %f5, %f3, %f4;
	fma.rn.ftz.sat.f32 %f6, %f4, 0fC0000000, %f3;
	mul.f32 %f7, %f5, %f6;
	st.global.f32 [%b], %f7;
	abs.f32 %f8, %f7;
	neg.f32 %f8, %f8;
	max.f32 %f8, 1.5, %f8;
	setp.ltu.and.f32 %p1|%p2, %f8, %f1, %p3;
	@%p1 st.global.f32 [%b+4], %f8;
	@%p2 st.global.f32 [%b+8], %f8;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nLD R0, [R0+0x4]\nFADD.RZ R2, -R1, -|R0|\n"
            "FFMA.FTZ.SAT R0, |R0|, -2.0, -R1\nFMUL R0, R2, R0\nMOV R2, c[0x48]\nST [R2], R0\n"
            "FMAX R0, -|R0|, 1.5\nFSETP.LTU P2, R0, R1\nPLOP.AND P0, P2, P1\nPLOP.AND P1, !P2, P1\n"
            "@P0 ST [R2+0x4], R0\n@!P1 EXIT\nST [R2+0x8], R0\nEXIT\n");
}

TEST(CompileFloat, Conversions) {
  EXPECT_EQ(code(R"(
	ld.global.f32 %f1, [%a];
	cvt.rzi.s32.f32 %r1, %f1;
	cvt.rn.f32.s32 %f2, %r1;
	cvt.rmi.f32.f32 %f3, %f2;
	cvt.sat.f32.f32 %f4, %f3;
	cvt.rni.u8.f32 %r2, %f4;
	st.global.u32 [%a], %r2;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nF2I.S32.RZ R1, R1\nI2F.S32 R1, R1\nFRND.RM R1, R1\n"
            "FADD.SAT R1, R1, -0.0\nF2I.U32 R1, R1\nIMIN.U32 R1, R1, 255\nST [R0], R1\nEXIT\n");
}

TEST(CompileFloat, WrongFormsAreToldApart) {
  for (const char* statement :
       {"div.f32 %f1, %f2, %f3;", "rcp.f32 %f1, %f2;", "rsqrt.rn.f32 %f1, %f2;", "setp.f32 %p1, %f1, %f2;",
        "add.f32 %f1, %f2, %d3;", "setp.ltu.s32 %p1, %r1, %r2;"})
    EXPECT_THROW(compile(std::string("\t") + statement + "\n"), SyntaxError) << statement;
  for (const char* statement : {"div.rz.f32 %f1, %f2, %f3;", "sqrt.rp.f32 %f1, %f2;",
                                "cvt.rn.f16.f32 %h1, %f2;", "min.xorsign.abs.f32 %f1, %f2, %f3;"})
    EXPECT_THROW(compile(std::string("\t") + statement + "\n"), Unsupported) << statement;
}

TEST(Compile, BitInstructions) {
  EXPECT_EQ(
      code(R"(
	ld.global.u32 %r1, [%a];
	popc.b32 %r2, %r1;
	clz.b32 %r3, %r2;
	bfind.s32 %r4, %r3;
	brev.b32 %r5, %r4;
	bfe.s32 %r6, %r5, 3, 5;
	bfi.b32 %r7, %r6, %r1, 4, 8;
	prmt.b32 %r8, %r7, %r1, 0x5410;
	lop3.b32 %r9, %r8, %r7, %r1, 0x96;
	shf.l.wrap.b32 %r10, %r9, %r8, 7;
	bfe.u32 %r11, %r10, %r9, 5;
	st.global.u32 [%a], %r11;
)"),
      "MOV R0, c[0x40]\nLD R1, [R0]\nPOPC R2, R1\nCLZ R2, R2\nBFIND.S32 R2, R2\nBREV R2, R2\n"
      "BFE.S32 R2, R2, 0x503\nBFI R3, R2, 0x804, R1\nPRMT R2, R3, 0x5410, R1\nLOP3 R1, R2, R3, R1, 0x96\n"
      "SHF.L R3, R1, 7, R2\nMOV R2, 5\nBFI R2, R2, 0x808, R1\nBFE.U32 R2, R3, R2\nST [R0], R2\nEXIT\n");
}

TEST(Compile, AnotherKernelsConstructsDoNotMatter) {
  const Module module(kernel_text("\tmbarrier.init.shared.b64 [%a], 1;\n", "bad") +
                          kernel_text("", "good").substr(head.size()),
                      "t.ptx");
  EXPECT_NO_THROW(module.compile("good"));
  EXPECT_THROW(module.compile("bad"), Unsupported);
}

TEST(Compile, WrongOperandsAreSyntaxErrors) {
  for (const char* statement :
       {"add.u32 %r1, %r2;", "add.u32 %d1, %r2, %r3;", "add.u64 %d1, %r2, %d3;", "mov.u32 %p1, 0;",
        "setp.lt.s32 %r1, %r2, %r3;", "bra nowhere;", "ld.global.u32 %r1, [nothing];",
        "mov.u32 %r1, nothing;", "@%r1 bra L; L:", "add %r1, %r2, %r3;", "ld.param.u32 %r1, [pn+4];",
        "setp.s32 %p1, %r1, %r2;", "mov.u32 7, %r1;", "selp.u32 %r1, %r2, %r3, %r4;",
        "shl.b32 %r1, %r2, %d3;", "ld.global.v2.u32 %r1, [%a];", "ld.global.v2.u32 {%r1, %r2, %r3}, [%a];"})
    EXPECT_THROW(compile(std::string("\t") + statement + "\n"), SyntaxError) << statement;
}

TEST(Compile, RegistersArePickedByClassAndRunOut) {
  const auto live = [](int count) {
    std::string text;
    for (int n = 0; n < count; ++n)
      text += "\tld.global.u32 %r" + std::to_string(n) + ", [%a+" + std::to_string(4 * n) + "];\n";
    for (int n = 0; n < count; ++n)
      text += "\tst.global.u32 [%b+" + std::to_string(4 * n) + "], %r" + std::to_string(n) + ";\n";
    return text;
  };
  EXPECT_EQ(compile(live(14)).registers, 16);
  EXPECT_EQ(compile(live(30)).registers, 32);
  EXPECT_EQ(compile(live(60)).registers, 64);
  EXPECT_EQ(compile(live(90)).registers, 128);
  std::string text = kernel_text(live(140));
  text.replace(text.find("%r<99>"), 6, "%r<999>");
  EXPECT_THROW(Module(text, "t.ptx").compile("k"), TooLarge);
}

// More predicates than the machine has: some live in registers.
TEST(Compile, PredicatesSpill) {
  std::string text;
  for (int n = 0; n < 20; ++n)
    text += "\tld.global.u32 %r1, [%a+" + std::to_string(4 * n) + "];\n\tsetp.lt.u32 %p" + std::to_string(n) +
            ", %r1, %n;\n";
  for (int n = 0; n < 20; ++n)
    text += "\t@%p" + std::to_string(n) + " st.global.u32 [%b+" + std::to_string(4 * n) + "], %n;\n";
  for (const isa::Instruction& i : compile(text).code) {
    EXPECT_LT(i.pd, isa::Parameters::predicates);
    EXPECT_NO_THROW(isa::encode(i));
  }
}

TEST(Compile, TooManyInstructions) {
  std::string text;
  for (int n = 0; n < 2100; ++n) text += "\tst.global.u32 [%a+" + std::to_string(4 * n) + "], %n;\n";
  EXPECT_THROW(compile(text), TooLarge);
  text.clear();
  for (int n = 0; n < 40'000; ++n) text += "\tdiv.u32 %r1, %r1, %n;\n";
  EXPECT_THROW(compile(text), TooLarge);
}

TEST(Names, MangledDemangledAndPlain) {
  const Module module(kernel_text("", "_Z3addPKiPii") + kernel_text("", "_Z3addPKfPfi").substr(head.size()) +
                          kernel_text("", "_ZN2ns5scaleIiEEvPT_i").substr(head.size()) +
                          kernel_text("", "plain").substr(head.size()),
                      "t.ptx");
  ASSERT_EQ(module.names().size(), 4u);
  EXPECT_EQ(module.names()[2].demangled, "void ns::scale<int>(int*, int)");
  EXPECT_EQ(module.find("plain").mangled, "plain");
  EXPECT_EQ(module.find("scale").mangled, "_ZN2ns5scaleIiEEvPT_i");
  EXPECT_EQ(module.find("ns::scale").mangled, "_ZN2ns5scaleIiEEvPT_i");
  EXPECT_EQ(module.find("add(int const*, int*, int)").mangled, "_Z3addPKiPii");
  EXPECT_EQ(module.find("_Z3addPKfPfi").demangled, "add(float const*, float*, int)");
  EXPECT_THROW(module.find("add"), NameError);  // two
  EXPECT_THROW(module.find(""), NameError);     // four
  try {
    module.find("mul");
    FAIL();
  } catch (const NameError& error) {
    EXPECT_NE(std::string(error.what()).find("void ns::scale<int>(int*, int)"), std::string::npos);
  }
  EXPECT_EQ(Module(kernel_text(""), "t.ptx").find("").mangled, "k");
  EXPECT_THROW(Module(head, "t.ptx").find(""), NameError);
}

// Random damage to a text: an exception or a kernel, never anything worse.
TEST(Hostile, DamagedTexts) {
  const std::string variables =
      ".const .align 4 .u32 t[2][2] = {{1, 2}, {3}};\n.global .u64 q[2] = {generic(t)+4, 0xFF(t)};\n"
      ".extern .shared .b8 d[];\n";
  const std::string text = head + variables +
                           kernel_text(R"(
	.local .align 8 .b8 depot[24]; .shared .v2 .u32 s[4];
L0:	mov.u32 %r1, %tid.x;
	{ .reg .b32 t; mad.lo.s32 t, %r1, %n, 7; mov.u32 %r2, t; }
	setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p3;
	@%p1 bra L1;
	div.s32 %r2, %r2, %r1;
	ld.global.v2.u32 {%r3, %r4}, [%a+8];
	mul.wide.s32 %d1, %r3, 4;
	add.s64 %d2, %d1, %a;
	@!%p2 st.global.u64 [%d2], %d1;
	bra.uni L0;
L1:	shf.l.wrap.b32 %r3, %r4, %r2, 7;
	selp.b32 %r1, %r3, -5, %p1;
	st.global.u32 [%b], %r1;
	mov.u64 %d3, depot+8; st.local.v2.u16 [%d3], {%h1, %h2}; ld.const.u8 %r5, [t+5]; mov.u64 %d4, q;
	atom.shared.cas.b64 %d5, [s+8], %d3, 7; atom.add.u64 %d6, [%d4], 1; red.global.min.s32 [%a], %r5;
	shfl.sync.down.b32 %r6|%p4, %r5, 3, 0x1f, -1; vote.sync.ballot.b32 %r7, %p4, 255; match.any.sync.b32 %r8, %r7, -1;
	bar.sync 1, 64; bar.red.popc.u32 %r9, 2, %p4; redux.sync.add.u32 %r10, %r9, -1; activemask.b32 %r11;
	add.cc.u64 %d7, %d5, %d6; addc.u32 %r12, %r10, %r11; div.s64 %d8, %d7, %d6; st.shared.u64 [d+8], %d8;
	dp4a.s32.u32 %r13, %r12, %r8, 1; st.v4.u32 [%a], {%r13, %r12, %r6, %r7};
)")
                               .substr(head.size());
  EXPECT_NO_THROW(Module(text, "t.ptx").compile("k"));
  std::mt19937 random(1);
  int compiled = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string damaged = text;
    for (unsigned n = 0; n <= random() % 3; ++n) {
      const std::size_t at = random() % damaged.size(), other = random() % text.size(),
                        length = 1 + random() % 12;
      switch (random() % 8) {
        case 0:
          damaged.erase(at, length);
          break;
        case 1:
          damaged.insert(at, text.substr(other, length));
          break;
        case 2:
          damaged.replace(at, length, text.substr(other, length));
          break;
        case 3:
          damaged[at] = static_cast<char>(random() % 256);
          break;
        default:  // another register, number or width
          if (const auto digit = damaged.find_first_of("0123456789", at); digit != std::string::npos)
            damaged[digit] = static_cast<char>('0' + random() % 10);
      }
      if (damaged.empty()) damaged = text;
    }
    try {
      const Module module(damaged, "t.ptx");
      for (const KernelName& name : module.names())
        for (const isa::Instruction& i : module.compile(name.mangled).code) isa::encode(i);
      ++compiled;
    } catch (const SyntaxError&) {
    } catch (const Unsupported&) {
    } catch (const TooLarge&) {
    }
  }
  EXPECT_GT(compiled, 100);
}

class Files : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = directory_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string error_of(const std::string& path, const CompileOptions& options = {}) {
    try {
      load(path, options);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "no error";
  }
  TemporaryDirectory directory_;
};

TEST_F(Files, CudaWithAHostProgram) {
  const std::string path = write("sum.cu", R"(#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
#include "shift.h"
__global__ void shifted(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = shift(i);
}
int main() {
  std::vector<int> host(32);
  int* device;
  cudaMalloc(&device, 128);
  shifted<<<dim3(1), 32>>>(device, 32);
  cudaMemcpy(host.data(), device, 128, cudaMemcpyDeviceToHost);
  for (int x : host) printf("%d\n", x);
  cudaFree(device);
}
)");
  write("shift.h", "__device__ inline int shift(int x) { return min(x + AMOUNT, 30); }\n");
  CompileOptions options;
  options.flags = {"-DAMOUNT=7"};
  const Module module = load(path, options);
  ASSERT_EQ(module.names().size(), 1u);
  EXPECT_EQ(module.names()[0].plain, "shifted");
  const isa::Kernel kernel = module.compile("shifted");
  ASSERT_EQ(kernel.lines.size(), kernel.code.size());
  EXPECT_EQ(kernel.lines[0].file, path);
  EXPECT_EQ(kernel.lines[0].line, 6);
  EXPECT_TRUE(kernel.parameters[0].pointer);
  EXPECT_NE(listing(kernel).find("sum.cu:7"), std::string::npos) << listing(kernel);
}

TEST_F(Files, SmallArraysBecomeRegisters) {
  const Module module = load(write("array.cu", R"(__global__ void reverse(int* p) {
  int t[4];
  for (int k = 0; k < 4; ++k) t[k] = p[k];
  for (int k = 0; k < 4; ++k) p[k] = t[3 - k];
})"));
  EXPECT_NO_THROW(module.compile("reverse"));
}

TEST_F(Files, Errors) {
  EXPECT_NE(error_of(directory_.path() + "/none.cu").find("no such file"), std::string::npos);
  EXPECT_NE(error_of(directory_.path()).find("not a file"), std::string::npos);
  const std::string wrong = error_of(write("wrong.cu", "__global__ void k() {\n  int x = y;\n}\n"));
  EXPECT_NE(wrong.find("wrong.cu:2:11: error: use of undeclared identifier 'y'"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("could not compile it"), std::string::npos) << wrong;
  CompileOptions options;
  options.compiler = "no-such-compiler";
  EXPECT_NE(error_of(write("good.cu", "__global__ void k() {}\n"), options)
                .find("there is no compiler no-such-compiler"),
            std::string::npos);
  EXPECT_NE(error_of(write("picture.png", std::string("\x89PNG\0\0", 6))).find("neither CUDA C++ nor PTX"),
            std::string::npos);
}

TEST_F(Files, PtxByNameAndByContent) {
  EXPECT_EQ(load(write("k.ptx", kernel_text(""))).names().size(), 1u);
  EXPECT_EQ(load(write("noname", "// a comment\n\n" + kernel_text(""))).names().size(), 1u);
}

TEST_F(Files, TemporaryFilesGoAway) {
  std::string path;
  {
    const TemporaryDirectory temporary;
    path = temporary.path();
    std::ofstream(path + "/file") << "x";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace qwengpu::ptx

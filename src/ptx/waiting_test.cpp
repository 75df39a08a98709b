#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/test_compile.h"

namespace qwengpu::ptx {
namespace {

int yields(const std::string& statements) {
  const isa::Kernel kernel = compile(statements);
  return static_cast<int>(std::count_if(kernel.code.begin(), kernel.code.end(),
                                        [](const isa::Instruction& i) { return i.op == isa::Op::Yield; }));
}

TEST(Waiting, ALoopThatWaitsForAnotherThreadYields) {
  EXPECT_EQ(code(R"(
L:	ld.volatile.global.u32 %r1, [%a];
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra L;
)"),
            "MOV R0, c[0x40]\nLD R1, [R0]\nISETP.EQ P0, R1, 0\n@!P0 EXIT\nYIELD\nBRA 1\n");
  for (const char* wait : {"ld.relaxed.gpu.global.u32 %r1, [%a];", "ld.acquire.gpu.u32 %r1, [%a];",
                           "ld.global.u32 %r1, [%a]; membar.gl;", "atom.global.exch.b32 %r1, [%a], 1;",
                           "atom.global.cas.b64 %d1, [%a], 0, 1; cvt.u32.u64 %r1, %d1;",
                           "atom.shared.or.b32 %r2, [%n], 0; mad.lo.u32 %r1, %r2, 3, 1;"})
    EXPECT_EQ(yields(std::string("L:\t") + wait + "\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra L;\n"), 1)
        << wait;
}

TEST(Waiting, WhetherABranchIsTakenCanEndALoop) {
  EXPECT_EQ(yields(R"(
	mov.u32 %r2, 0;
L:	atom.global.cas.b32 %r1, [%a], 0, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra M;
	st.global.u32 [%b], %n;
	atom.global.exch.b32 %r3, [%a], 0;
	mov.u32 %r2, 1;
M:	setp.eq.u32 %p2, %r2, 0;
	@%p2 bra L;
)"),
            1);
}

TEST(Waiting, AVoteOnWhatAnAtomicGave) {
  EXPECT_EQ(yields(R"(
L:	atom.global.cas.b32 %r1, [%a], 0, 1;
	setp.eq.u32 %p1, %r1, 0;
	vote.sync.all.pred %p2, %p1, -1;
	@!%p2 bra L;
)"),
            1);
}

TEST(Waiting, OrdinaryLoopsDoNotYield) {
  // A histogram.
  EXPECT_EQ(yields(R"(
	mov.u32 %r1, %tid.x;
L:	mul.wide.u32 %d1, %r1, 4;
	add.u64 %d1, %a, %d1;
	ld.global.u32 %r2, [%d1];
	and.b32 %r2, %r2, 60;
	cvt.u64.u32 %d2, %r2;
	add.u64 %d2, %b, %d2;
	atom.global.add.u32 %r3, [%d2], 1;
	add.u32 %r1, %r1, 32;
	setp.lt.u32 %p1, %r1, %n;
	@%p1 bra L;
)"),
            0);
  // What an atomic operation gave is stored only.
  EXPECT_EQ(yields(R"(
	mov.u32 %r1, 0;
L:	atom.global.add.u32 %r3, [%a], 1;
	setp.gt.u32 %p2, %r3, 5;
	@%p2 st.global.u32 [%b], %r3;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p1, %r1, %n;
	@%p1 bra L;
)"),
            0);
  // A list, and a bound in memory that the loop does not wait for.
  EXPECT_EQ(yields(R"(
L:	ld.global.u64 %d1, [%a];
	mov.u64 %a, %d1;
	setp.ne.u64 %p1, %d1, 0;
	@%p1 bra L;
	mov.u32 %r1, 0;
M:	st.global.u32 [%b+4], %r1;
	add.u32 %r1, %r1, 1;
	ld.global.u32 %r2, [%b];
	setp.lt.u32 %p1, %r1, %r2;
	@%p1 bra M;
)"),
            0);
  EXPECT_EQ(yields("\tbar.sync 1, 64;\n\tdiv.u64 %d1, %a, %b;\n\tst.global.u64 [%a], %d1;\n"), 0);
}

// Only those that may have voted.
int meetings(const std::string& statements) {
  const isa::Kernel kernel = compile(statements);
  return static_cast<int>(std::count_if(kernel.code.begin(), kernel.code.end(),
                                        [](const isa::Instruction& i) { return i.op == isa::Op::Warpsync; }));
}

TEST(Waiting, TheWarpMeetsAtTheEndOfARoundWhereSomeLanesPassByAPlaceToMeet) {
  const auto loop = [](const std::string& body) {
    return "\tmov.u32 %r1, 0;\n\tmov.u32 %r2, %laneid;\n\tsetp.lt.u32 %p1, %r2, 16;\nL:\n" + body +
           "\tadd.u32 %r1, %r1, 1;\n\tsetp.lt.u32 %p2, %r1, %n;\n\t@%p2 bra L;\n";
  };
  EXPECT_EQ(meetings(loop("\tbar.warp.sync -1;\n\tbar.warp.sync -1;\n")), 2);
  EXPECT_EQ(meetings(loop("\tbar.warp.sync -1;\n\t@!%p1 bra M;\n\tbar.warp.sync 0xffff;\nM:\n")), 3);
  EXPECT_EQ(meetings(loop("\tbar.warp.sync -1;\n\t@!%p1 bra M;\n\tadd.u32 %r1, %r1, 1;\nM:\n")), 1);
}

TEST(Waiting, LanesTakeTheirVotesBackWhenTheyEnd) {
  EXPECT_EQ(code(R"(
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, %n;
	@%p1 exit;
	setp.eq.u32 %p2, %r1, 3;
	vote.sync.ballot.b32 %r2, %p2, 0xff;
	st.global.u32 [%a], %r2;
)"),
            "MOV R0, SR_TID.X\nISETP.GE.U32 P0, R0, c[0x50]\n@P0 EXIT\nISETP.EQ P0, R0, 3\nVOTE.PUT "
            "P0\nVOTE.GET R0\nWARPSYNC\n"
            "AND R1, R0, 255\nMOV R0, c[0x40]\nST [R0], R1\nSHFL.PUT 0\nEXIT\n");
}

}  // namespace
}  // namespace qwengpu::ptx

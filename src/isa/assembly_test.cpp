#include "isa/assembly.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "isa/parameters.h"

namespace qwengpu::isa {
namespace {

Instruction one(std::string_view text) {
  const std::vector<Instruction> code = assemble(text);
  EXPECT_EQ(code.size(), 1u) << text;
  return code.at(0);
}

std::string error_of(std::string_view text) {
  try {
    assemble(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(AssemblyTest, OperandsOfEveryKind) {
  const Instruction add = one("@!P0 IADD R1, R2, 0x10");
  EXPECT_EQ(add.op, Op::Iadd);
  EXPECT_EQ(add.guard, (PredicateOperand{0, true}));
  EXPECT_EQ(add.rd, 1);
  EXPECT_EQ(add.ra, 2);
  EXPECT_EQ(add.b_source, BSource::Immediate);
  EXPECT_EQ(add.immediate, 16u);

  const Instruction constant = one("MOV R1, c[0x40]");
  EXPECT_EQ(constant.b_source, BSource::Constant);
  EXPECT_EQ(constant.immediate, 0x40u);

  const Instruction special = one("MOV R0, SR_TID.X");
  EXPECT_EQ(special.b_source, BSource::Special);
  EXPECT_EQ(special.immediate, static_cast<std::uint32_t>(Special::TidX));

  const Instruction load = one("LD R1, [R2+0x8]");
  EXPECT_EQ(load.ra, 2);
  EXPECT_EQ(load.immediate, 8u);
  EXPECT_EQ(one("LD R1, [R2-4]").immediate, 0xfffffffcu);
  EXPECT_EQ(one("LD R1, [0x100]").ra, rz);

  const Instruction store = one("ST [R2], R3");
  EXPECT_EQ(store.b_source, BSource::Register);
  EXPECT_EQ(store.rb, 3);

  const Instruction set = one("ISETP.LT.S32 P0, R1, R2");
  EXPECT_EQ(set.op, Op::SetpLtS);
  EXPECT_EQ(set.pd, 0);

  const Instruction select = one("SEL R1, !P2, R3, R4");
  EXPECT_EQ(select.pa, (PredicateOperand{2, true}));
  EXPECT_EQ(select.ra, 3);
  EXPECT_EQ(select.rb, 4);

  const Instruction plop = one("PLOP.AND P0, P1, !PT");
  EXPECT_EQ(plop.pa, (PredicateOperand{1, false}));
  EXPECT_EQ(plop.pb, (PredicateOperand{pt, true}));

  const Instruction mad = one("IMAD R1, R2, -1, RZ");
  EXPECT_EQ(mad.immediate, 0xffffffffu);
  EXPECT_EQ(mad.rc, rz);
}

TEST(AssemblyTest, ModifiersOfFloatingPoint) {
  const Instruction add = one("FADD.RZ.FTZ.SAT R1, -R2, |R3|");
  EXPECT_EQ(add.op, Op::Fadd);
  EXPECT_EQ(add.rounding, Rounding::TowardZero);
  EXPECT_TRUE(add.flush && add.saturate);
  EXPECT_TRUE(add.negate_a && !add.absolute_a && !add.negate_b && add.absolute_b && !add.negate_c);
  EXPECT_EQ(one("FADD.SAT.RZ.FTZ R1, -R2, |R3|"), add);  // in any order
  EXPECT_EQ(disassemble(add), "FADD.RZ.FTZ.SAT R1, -R2, |R3|");

  const Instruction fma = one("FFMA.RM R1, -|R2|, -|R3|, -R4");
  EXPECT_EQ(fma.rounding, Rounding::Down);
  EXPECT_TRUE(fma.negate_a && fma.absolute_a && fma.negate_b && fma.absolute_b && fma.negate_c);

  // Dots of mnemonics are not modifiers.
  EXPECT_EQ(one("FSETP.LTU.FTZ P0, R1, R2").op, Op::FsetpLtu);
  EXPECT_TRUE(one("FSETP.LTU.FTZ P0, R1, R2").flush);
  EXPECT_EQ(one("I2F.S32.RP R1, R2").rounding, Rounding::Up);
  EXPECT_EQ(one("SHF.L R1, R2, R3, R4").op, Op::ShfL);
}

TEST(AssemblyTest, SignsAndNumbersOfOperandB) {
  const Instruction constant = one("FMUL R1, R2, -c[0x40]");
  EXPECT_EQ(constant.b_source, BSource::Constant);
  EXPECT_EQ(constant.immediate, 0x40u);
  EXPECT_TRUE(constant.negate_b && !constant.absolute_b);
  EXPECT_TRUE(one("FMUL R1, R2, |c[0x40]|").absolute_b);

  const auto immediate = [](std::string_view text) {
    const Instruction i = one(text);
    EXPECT_EQ(i.b_source, BSource::Immediate) << text;
    EXPECT_FALSE(i.negate_b || i.absolute_b) << text;
    return i.immediate;
  };
  EXPECT_EQ(immediate("FMUL R1, R2, 1.5"), 0x3fc00000u);
  EXPECT_EQ(immediate("FMUL R1, R2, -1.5"), 0xbfc00000u);
  EXPECT_EQ(immediate("FMUL R1, R2, -0.0"), 0x80000000u);
  EXPECT_EQ(immediate("FMUL R1, R2, 1e-3"), 0x3a83126fu);
  EXPECT_EQ(immediate("FMUL R1, R2, 2.5E+1"), 0x41c80000u);
  EXPECT_EQ(immediate("FMUL R1, R2, 1."), 0x3f800000u);
  EXPECT_EQ(immediate("FMUL R1, R2, 0x3f800000"), 0x3f800000u);
  EXPECT_EQ(immediate("FMUL R1, R2, 0x1e5"), 0x1e5u);
  EXPECT_EQ(immediate("FMUL R1, R2, -1"), 0xffffffffu);
  EXPECT_EQ(immediate("half = 0x3f000000\nFMUL R1, R2, half"), 0x3f000000u);
  EXPECT_EQ(immediate("F2I.S32 R1, 2.5"), 0x40200000u);
  EXPECT_EQ(immediate("MOV R1, 2.5"), 0x40200000u);
  EXPECT_TRUE(one("x = R5\nFMUL R1, R2, -x").negate_b);

  const Instruction negated = one("FMUL R1, R2, -(1.5)");
  EXPECT_EQ(negated.immediate, 0x3fc00000u);
  EXPECT_TRUE(negated.negate_b && !negated.absolute_b);
  const Instruction both = one("FMUL R1, R2, -|-1.5|");
  EXPECT_EQ(both.immediate, 0xbfc00000u);
  EXPECT_TRUE(both.negate_b && both.absolute_b);

  // What is printed: decimal numbers where they are short.
  const auto printed = [](std::uint32_t bits) {
    return disassemble({.op = Op::Frnd, .rd = 1, .b_source = BSource::Immediate, .immediate = bits});
  };
  EXPECT_EQ(printed(0x3f800000), "FRND R1, 1.0");
  EXPECT_EQ(printed(0xbe000000), "FRND R1, -0.125");
  EXPECT_EQ(printed(0), "FRND R1, 0.0");
  EXPECT_EQ(printed(0x80000000), "FRND R1, -0.0");
  EXPECT_EQ(printed(0x7f7fffff), "FRND R1, 3.4028235e+38");
  EXPECT_EQ(printed(1), "FRND R1, 0x1");
  EXPECT_EQ(printed(0xff800000), "FRND R1, 0xff800000");
}

TEST(AssemblyTest, LookUpTables) {
  const Instruction lop = one("LOP3 R1, R2, 0xff00, R4, 0x96");
  EXPECT_EQ(lop.table, 0x96);
  EXPECT_EQ(lop.rc, 4);
  EXPECT_EQ(disassemble(lop), "LOP3 R1, R2, 0xff00, R4, 0x96");
  EXPECT_EQ(one("LOP3 R1, R2, R3, R4, 1").table, 1);
}

TEST(AssemblyTest, LabelsNamesAndComments) {
  const auto code = assemble(R"(
    ; a loop
    count = 10
    offset = count + 0x10 - 2
    counter = R7
    more = P3
        MOV counter, count       // ten times
    top: IADD counter, counter, -1
        ISETP.NE more, counter, 0
    @more BRA top
        BRA end
        MOV R1, offset
    end:
        EXIT
  )");
  ASSERT_EQ(code.size(), 7u);
  EXPECT_EQ(code[0].immediate, 10u);
  EXPECT_EQ(code[0].rd, 7);
  EXPECT_EQ(code[3].target, 1);
  EXPECT_EQ(code[3].guard, (PredicateOperand{3, false}));
  EXPECT_EQ(code[4].target, 6);
  EXPECT_EQ(code[5].immediate, 24u);
  EXPECT_EQ(assemble("MOV R1, size", {{"size", 5}}).at(0).immediate, 5u);
}

TEST(AssemblyTest, ErrorsNameTheLineAndTheCause) {
  EXPECT_EQ(error_of("EXIT\nFROB R1\n"), "line 2: no instruction is called 'FROB'");
  EXPECT_EQ(error_of("IADD R1, R2"), "line 1: expected ',' before ''");
  EXPECT_EQ(error_of("IADD R1, R2, R3, R4"), "line 1: unexpected ', R4'");
  EXPECT_EQ(error_of("\nMOV R128, 1"), "line 2: register R128 does not exist: R0 to R127, RZ");
  EXPECT_EQ(error_of("MOV RZ, 1"), "line 1: RZ cannot be written");
  EXPECT_EQ(error_of("ISETP.EQ PT, R1, R2"), "line 1: only P0 to P6 can be written");
  EXPECT_EQ(error_of("@P7 EXIT"), "line 1: expected a predicate (P0 to P6, PT), not 'P7'");
  EXPECT_EQ(error_of("EXIT\n\nBRA nowhere"), "line 3: no label 'nowhere'");
  EXPECT_EQ(error_of("a:\na: EXIT"), "line 2: label 'a' stands twice");
  EXPECT_EQ(error_of("3: EXIT"), "line 1: this is instruction 0, not 3");
  EXPECT_EQ(error_of("MOV R1, c[0x42]"), "line 1: constant address 0x42 is not a multiple of 4 below 0x800");
  EXPECT_EQ(error_of("MOV R1, 0x100000000"), "line 1: 0x100000000 does not fit in 32 bits");
  EXPECT_EQ(error_of("MOV R1, 12ab"), "line 1: '12ab' is not a number");
  EXPECT_EQ(error_of("ST [R1], 5"), "line 1: expected a register before '5'");
  EXPECT_EQ(error_of("MOV R1, nothing"), "line 1: 'nothing' is not a register, number or name");
  EXPECT_EQ(error_of("IADD.RZ R1, R2, R3"), "line 1: IADD has no modifier .RZ");
  EXPECT_EQ(error_of("FSETP.LT.RZ P0, R1, R2"), "line 1: FSETP.LT has no modifier .RZ");
  EXPECT_EQ(error_of("FMIN.SAT R1, R2, R3"), "line 1: FMIN has no modifier .SAT");
  EXPECT_EQ(error_of("I2F.S32.FTZ R1, R2"), "line 1: I2F.S32 has no modifier .FTZ");
  EXPECT_EQ(error_of("F2I.S32.SAT R1, R2"), "line 1: F2I.S32 has no modifier .SAT");
  EXPECT_EQ(error_of("FADD.RN R1, R2, R3"), "line 1: FADD has no modifier .RN");
  EXPECT_EQ(error_of("FADD. R1, R2, R3"), "line 1: FADD has no modifier .");
  EXPECT_EQ(error_of("FADD.FTZ.FTZ R1, R2, R3"), "line 1: .FTZ stands twice");
  EXPECT_EQ(error_of("FADD.RZ.RP R1, R2, R3"), "line 1: .RP is a second rounding");
  EXPECT_EQ(error_of("FSETP.XY P0, R1, R2"), "line 1: no instruction is called 'FSETP.XY'");
  EXPECT_EQ(error_of("IADD R1, -R2, R3"), "line 1: expected a register before '-R2, R3'");
  EXPECT_EQ(error_of("IADD R1, R2, -R3"), "line 1: 'R3' is not a register, number or name");
  EXPECT_EQ(error_of("IADD R1, R2, 1.5"), "line 1: '1.5' is not a number");
  EXPECT_EQ(error_of("FFMA R1, R2, R3, |R4|"), "line 1: expected a register before '|R4|'");
  EXPECT_EQ(error_of("FADD R1, |R2, R3"), "line 1: expected '|' before ', R3'");
  EXPECT_EQ(error_of("FADD R1, R2, 1.5x"), "line 1: '1.5x' is not a number");
  EXPECT_EQ(error_of("FADD R1, R2, 1e50"), "line 1: 1e50 is not a binary32 number");
  EXPECT_EQ(error_of("LOP3 R1, R2, R3, R4, 0x100"), "line 1: table 0x100 does not fit in 8 bits");
  EXPECT_EQ(error_of("@P0 ILLEGAL"), "line 1: ILLEGAL is the empty word: it has no guard");
}

// An instruction with random operands where the op has any, defaults elsewhere.
Instruction random_instruction(const OpInfo& op, std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto reg = [&] { return below(5) == 0 ? rz : below(Parameters::max_registers); };
  const auto predicate = [&] { return PredicateOperand{below(Parameters::predicates + 1), below(2) == 1}; };
  const auto number = [&] { return static_cast<std::uint32_t>(random()) >> below(32); };
  Instruction i;
  i.op = op.op;
  if (op.op != Op::Illegal && below(2) == 0) i.guard = predicate();
  for (char kind : op.operands) switch (kind) {
      case 'd':
        i.rd = below(Parameters::max_registers);
        break;
      case 'a':
        i.ra = reg();
        break;
      case 'c':
        i.rc = reg();
        break;
      case 'p':
        i.pd = below(Parameters::predicates);
        break;
      case 'q':
        i.pa = predicate();
        break;
      case 'r':
        i.pb = predicate();
        break;
      case 't':
        i.target = below(Parameters::instructions);
        break;
      case 'm':
        i.ra = reg();
        i.immediate = below(2) == 0 ? number() : 0u - number();
        break;
      case 'b':
        i.b_source = op.has('m') ? BSource::Register : static_cast<BSource>(below(4));
        switch (i.b_source) {
          case BSource::Register:
            i.rb = reg();
            break;
          case BSource::Immediate:
            i.immediate = below(2) == 0 ? number() : 0u - number();
            break;
          case BSource::Constant:
            i.immediate = 4 * static_cast<std::uint32_t>(below(Parameters::constant_bytes / 4));
            break;
          case BSource::Special:
            i.immediate = static_cast<std::uint32_t>(below(static_cast<int>(special_table.size())));
            break;
        }
        break;
      case 'l':
        i.table = below(256);
        break;
      case 'F': {
        const Modifiers allowed = modifiers_of(op);
        if (allowed.rounding) i.rounding = static_cast<Rounding>(below(4));
        i.flush = allowed.flush && below(2) == 0;
        i.saturate = allowed.saturate && below(2) == 0;
        break;
      }
      case 'N':
        i.negate_a = below(2) == 0, i.absolute_a = below(2) == 0;
        i.negate_b = below(2) == 0, i.absolute_b = below(2) == 0;
        i.negate_c = op.has('c') && below(2) == 0;
        break;
      default:
        ADD_FAILURE() << kind;
    }
  return i;
}

TEST(AssemblyTest, DisassemblyAndEncodingRoundTripForEveryOp) {
  constexpr std::uint64_t seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (const OpInfo& op : op_table)
    for (int n = 0; n < 500; ++n) {
      const Instruction i = random_instruction(op, random);
      const std::string text = disassemble(i);
      ASSERT_EQ(one(text), i) << text;
      ASSERT_EQ(decode(encode(i)), i) << text;
    }
}

TEST(AssemblyTest, ListingAssemblesToTheSameCode) {
  const auto code = assemble("top: MOV R1, 5\n@P0 BRA end\nBRA top\nend: EXIT");
  EXPECT_EQ(listing(code),
            "    0:  MOV R1, 5                                ; from 2\n"
            "    1:  @P0 BRA 3\n"
            "    2:  BRA 0\n"
            "    3:  EXIT                                     ; from 1\n");
  EXPECT_EQ(assemble(listing(code)), code);
}

TEST(AssemblyTest, HostileTextIsRefusedOrAssembled) {
  constexpr std::uint64_t seed = 99;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::string_view alphabet = "RPZTc[]+-!@|(),:;= \n0123456789xeMOVFIADSETPBRAEXIT.";
  for (int n = 0; n < 20000; ++n) {
    std::string text;
    for (auto length = random() % 40; length > 0; --length) text += alphabet[random() % alphabet.size()];
    try {
      assemble(text);
    } catch (const std::invalid_argument&) {
    }
  }
}

}  // namespace
}  // namespace qwengpu::isa

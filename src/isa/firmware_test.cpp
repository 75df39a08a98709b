// The firmware's shape. What it does is tested where it can be executed, in src/emulator.
#include "isa/firmware.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/assembly.h"
#include "isa/parameters.h"

namespace qwengpu::isa {
namespace {

TEST(FirmwareTest, FitsItsMemoryAndStaysWithinIt) {
  const auto& code = firmware();
  EXPECT_LE(code.size(), static_cast<std::size_t>(Parameters::firmware_instructions));
  for (const Instruction& i : code) {
    EXPECT_LT(i.target, static_cast<int>(code.size())) << disassemble(i);
    EXPECT_NE(i.op, Op::Exit);
    EXPECT_NE(i.op, Op::Illegal);
    EXPECT_EQ(decode(encode(i)), i);
  }
  EXPECT_EQ(code.back().op, Op::Halt);
}

TEST(FirmwareTest, MakesEveryApiCallAndUsesEveryPrivilegedInstruction) {
  for (const OpInfo& op : op_table) {
    const auto is_op = [&](const Instruction& i) { return i.op == op.op; };
    if (!op.privileged()) continue;
    EXPECT_TRUE(std::any_of(firmware().begin(), firmware().end(), is_op)) << op.mnemonic;
  }
}

TEST(FirmwareTest, ListingAssemblesToTheSameCode) { EXPECT_EQ(assemble(listing(firmware())), firmware()); }

}  // namespace
}  // namespace qwengpu::isa

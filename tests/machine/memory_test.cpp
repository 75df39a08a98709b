// Memory of every width, shared memory and atomic operations: the model writes what the emulator writes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model_under_test.h"

namespace qwengpu {
namespace {

const std::vector<std::uint32_t> words = {
    0x80ff7f01, 0x00000000, 0xfffe0080, 0x12340000, 0x00007fff, 0xffffffff, 0x3f800000, 0xbf000000,
    1,          2,          3,          0x80000000, 0,          0,          0,          0};

// R0 is the thread, R1 the address of the buffer of these 16 words, R2 the address of the thread's own word
// of it.
Launch on_words(const std::string& text, std::uint32_t threads = 4) {
  return {.assembly = "MOV R0, SR_THREAD\nMOV R1, c[0x40]\nIMAD R2, R0, 4, R1\n" + text + "\nEXIT",
          .block = {threads, 1, 1},
          .buffers = {in_buffer(words)},
          .arguments = {buffer_argument(0)},
          .shared_bytes = 1024};
}

TEST(Memory, LoadsOfEveryWidthAtEveryPlace) {
  std::string text;
  for (int at = 0; at < 12; ++at) {
    text += fmt::format("LD.U8 R3, [R2+{}]\nLD.S8 R4, [R2+{}]\n", at, at);
    if (at % 2 == 0) text += fmt::format("LD.U16 R5, [R2+{}]\nLD.S16 R6, [R2+{}]\n", at, at);
  }
  run(on_words(
      text +
          "LD.64 R3, [R1+8]\nLD.128 R4, [R1+16]\nST.64 [R1+40], R3\nST.128 [R1+48], R4\n@P0 LD.S8 R4, [R1]\n"
          "ISETP.EQ P0, R0, 2\n@P0 LD.S8 R4, [R1]\n@P0 LD.U16 R4, [R1+6]",
      7));
}

TEST(Memory, StoresOfPartsOfAWord) {
  run(on_words(
      "IADD R3, R1, R0\nIMUL R4, R0, 0x01234567\nST.8 [R3+17], R4\nST.16 [R2+32], R4\nST.16 [R2+34], R0\n"
      "ISETP.LT.U32 P0, R0, 3\n@P0 ST.8 [R3], R4\n@!P0 ST.8 [R1+3], R4\nLD R5, [R2]"));
}

TEST(Memory, WideAccessesMustBeAligned) {
  for (const char* access : {"LD.U16 R3, [R1+1]", "LD.S16 R3, [R1+3]", "ST.16 [R1+5], R0", "LD.64 R3, [R1+4]",
                             "ST.64 [R1+12], R0", "LD.128 R3, [R1+8]", "ST.128 [R1+4], R0", "LD R3, [R1+2]",
                             "RED.ADD [R1+1], R0", "ATOM.CAS R3, [R1+2], R0, R0"})
    EXPECT_TRUE(says(run(on_words(access)), "<FAULT misaligned-address 0>")) << access;
}

TEST(Memory, SharedMemoryHasItsWindowAndItsLimit) {
  const std::string prologue =
      "SHL R3, R0, 2\nIADD R4, R3, 0x1000000\nST [R4+0x3f0], R2\nLD R5, [R4+0x3f0]\nST.8 [R4+0x101], R0\nLD "
      "R6, [R4+0x100]\n";
  run(on_words(prologue, 4));
  EXPECT_TRUE(says(run(on_words(prologue + "LD R5, [R4+0x3f4]")), "<FAULT illegal-address 3>"));
  EXPECT_TRUE(says(run(on_words("LD R5, [R1+0x2000000]")), "<FAULT illegal-address 0>"));
  EXPECT_TRUE(says(run(on_words("LD R5, [R1+0x40000]")), "<FAULT illegal-address 0>"));
  Launch none = on_words("LD R5, [RZ+0x1000000]");
  none.shared_bytes = 0;
  EXPECT_TRUE(says(run(none), "<FAULT illegal-address 0>"));
  Launch most = on_words(
      "MOV R3, 0x100bffc\nST [R3], R3\nLD R4, [R3]\nLD R4, [R3-0xbffc]\nADDRESS = 0x1002000\nST "
      "[RZ+ADDRESS], R3\nLD R4, [RZ+0x100a000]",
      1);
  most.shared_bytes = 48 * 1024;
  run(most);
  most.shared_bytes += 4;
  EXPECT_TRUE(says(run(most), "<3.0 bd>"));  // 701, cudaErrorLaunchOutOfResources
}

TEST(Memory, SharedMemoryIsClearedBetweenBlocks) {
  Launch launch = on_words("IMAD R4, R0, 4, R3\nLD R5, [R0+0x1000000]\nST [R0+0x1000000], R1", 1);
  launch.grid = {3, 1, 1};
  run(launch);
}

TEST(Memory, EveryAtomicOperation) {
  for (const char* op : {"ADD", "MIN.S32", "MAX.S32", "MIN.U32", "MAX.U32", "AND", "OR", "XOR", "INC", "DEC",
                         "FADD", "FADD.FTZ"})
    for (const char* address : {"R2+8", "R1+4", "R1+20"}) {
      SCOPED_TRACE(fmt::format("{} {}", op, address));
      run(
          on_words(fmt::format("LD R3, [R2+16]\nATOM.{0} R4, [{1}], R3\nRED.{0} [{1}], R0\nISETP.GT.U32 P1, "
                               "R0, 1\n@P1 ATOM.{0} R4, [{1}], R1\n"
                               "@P1 RED.{0} [{1}], R3\n@!P1 RED.{0} [{1}+4], R3\nRED.{0} [RZ+0x1000000], "
                               "R3\nATOM.{0} R5, [RZ+0x1000000], R0",
                               op, address)));
    }
}

TEST(Memory, CompareAndSwapAndExchange) {
  run(
      on_words("IADD R3, R0, 1\nATOM.CAS R4, [R1+4], R0, R3\nATOM.CAS R5, [R1+16], R1, R3\nATOM.EXCH R6, "
               "[R1+8], R0\nATOM.EXCH R7, [R2], R4\n"
               "ISETP.EQ P0, R0, 1\n@P0 ATOM.CAS R8, [R1+32], R0, R1\n@!P0 ATOM.EXCH R8, [R1+32], R3"));
}

TEST(Memory, CarriesAndThreadNumbers) {
  run(
      on_words("LD R3, [R2+8]\nLD R4, [R2+20]\nIADD R5, R3, R4\nISETP.LT.U32 P2, R5, R3\nIADD.X R6, R3, R4, "
               "P2\nISUB R7, R3, R4\nISETP.GE.U32 P3, R3, R4\n"
               "ISUB.X R8, R3, R4, P3\n@P2 IADD.X R9, R0, -1, !P2\n@!P3 ISUB.X R9, R0, R4, PT\nIADD.X R10, "
               "R0, SR_THREAD, PT",
               270));
}

}  // namespace
}  // namespace qwengpu

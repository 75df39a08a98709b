// A launch as long as one likes that never repeats itself: two warps and a half work on shared and global
// memory, exchange words, take part in barriers and atomic operations, in integers and binary32.
#pragma once

#include "model_under_test.h"
#include "state_check.h"

namespace qwengpu {

inline constexpr StateExtent long_launch_extent = {
    .quads = 20, .registers = 16, .constant_lines = 8, .global_words = 512, .shared_words = 96};

inline Launch long_launch(std::uint32_t rounds) {
  constexpr int threads = 78;
  Launch launch{.assembly = R"(
        thread = R0
        own    = R1   ; address of the thread's word
        x      = R2   ; a random number of the thread
        round  = R3
        near   = R4   ; address of a word in shared memory
        MOV     thread, SR_THREAD
        MOV     own, c[0x40]
        IMAD    own, thread, 4, own
        MOV     x, c[0x48]
        IMAD    x, thread, 0x9e3779b1, x
 again: XOR     R5, x, round
        SHL     R6, x, 13
        XOR     x, x, R6
        SHR.U32 R6, x, 17
        XOR     x, x, R6
        SHL     R6, x, 5
        XOR     x, x, R6
        AND     near, x, 0x7c
        IADD    near, near, 0x1000000
        RED.ADD [near], x
        ATOM.MAX.U32 R7, [near+4], x
        BAR
        LD      R8, [near]
        SHFL.PUT R8
        XOR     R9, thread, 7
        SHFL.GET R9, R9
        WARPSYNC
        I2F.S32 R10, R9
        FFMA    R10, R10, 0.37, R8
        AND     R11, x, 3
        ISETP.EQ P0, R11, 0
   @P0  BRA     skip
        ISETP.GT.S32 P1, x, R8
   @P1  FMUL    R10, R10, -1.25
        ST      [own], R10
        ST.8    [own+0x203], x
        VOTE.PUT P1
        VOTE.GET R12
   @P1  LD.S16  R13, [own+2]
 skip:  WARPSYNC
        IMAD    x, x, 5, R12
        IADD    round, round, 1
        ISETP.LT.U32 P2, round, c[0x44]
   @P2  BRA     again
        EXIT
)",
                .block = {threads, 1, 1},
                .buffers = {out_buffer(256)},
                .arguments = {buffer_argument(0), word_argument(rounds), word_argument(0x12345679)},
                .shared_bytes = 256};
  return launch;
}

}  // namespace qwengpu

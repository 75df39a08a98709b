// Layout of the launch request in host staging: what the launch tool writes and the firmware reads
// (docs/machine.md, Launch request). Byte addresses; every field is one 32-bit little-endian word.
#pragma once

#include "isa/parameters.h"

namespace qwengpu::isa::request {

constexpr int instructions = 0x00;  // of the kernel
constexpr int registers = 0x04;     // a thread: 16, 32, 64 or 128
constexpr int static_shared = 0x08;
constexpr int device = 0x0c;
constexpr int grid = 0x10;  // x, y, z, one word each
constexpr int dynamic_shared = 0x1c;
constexpr int block = 0x20;  // x, y, z, 0
constexpr int buffers = 0x30;
constexpr int parameter_lines = 0x34;
constexpr int local_bytes = 0x38;     // of a thread, a multiple of 16
constexpr int named_barriers = 0x3c;  // device address of their table, 0 when the kernel has none
// The table has one line for each of 16 barriers: lanes that arrived, lanes it waits for, times it was passed, 0. The last word of
// the last line counts how often a block has gone on because some barrier was passed.
constexpr int barriers = 16, barrier_arrived = 0, barrier_expected = 4, barrier_passed = 8;
constexpr int barriers_resumed = 16 * barriers - 4;

// One descriptor a buffer.
constexpr int descriptors = 0x40;
constexpr int descriptor_bytes = 16;
constexpr int max_buffers = 59;
namespace descriptor {
constexpr int bytes = 0, flags = 4, host_address = 8, lifetime = 12;
}
constexpr int copy_in = 1, copy_out = 2;  // flags
// Lifetime: 0 for memory of this launch alone. AGAIN: an earlier launch kept it at the same number. KEEP: it
// stays for later launches.
constexpr unsigned keep = 1u << 30, again = 1u << 31;
// In the null page, behind the addresses of the buffers: the last byte of what is kept, 0 when nothing is.
constexpr int watermark = 4 * max_buffers;

// One entry a parameter line: its four words, then their four kinds.
constexpr int parameters = 0x400;
constexpr int parameter_entry_bytes = 32;
constexpr int parameter_kinds = 16;  // offset within the entry
constexpr int max_parameter_lines = 124;
constexpr int kind_word = 0;                               // the word itself
constexpr int kind_address = 1;                            // the address of buffer word / 4
constexpr int parameter_line = constant::parameters / 16;  // constant line of parameter line 0

constexpr int data = 0x1400;  // of the buffers, each padded with zeros to a multiple of 16
constexpr int data_bytes = Parameters::host_bytes - data;

static_assert(descriptors + max_buffers * descriptor_bytes <= parameters);
static_assert(parameters + max_parameter_lines * parameter_entry_bytes <= data);
static_assert(parameter_line + max_parameter_lines == Parameters::constant_lines);
static_assert(watermark + 4 + 16 <= Parameters::first_allocation,
              "the firmware keeps the addresses, the watermark and four words of scratch in the null page");

}  // namespace qwengpu::isa::request

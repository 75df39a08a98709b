#include "isa/firmware.h"

#include <stdexcept>

#include "isa/assembly.h"
#include "isa/instructions.h"
#include "isa/parameters.h"
#include "isa/request.h"

namespace qwengpu::isa {
namespace {

// The lanes of S are not threads but the four fields of an API row: a guard by lane treats them differently,
// and an API call speaks 0 for the lanes that its guard leaves out. BRA is taken when any lane executes it.
// Tokens are time, so code that runs once a line, quad or block is written for few and short values.
constexpr std::string_view text = R"(
any   = P0   ; a condition in any lane
lane0 = P1
lane1 = P2
lane2 = P3
lane3 = P4
some  = P5   ; written in some lanes only, false in the others
skip  = P6   ; written in lane 3 only, false in the others

lane    = R0   ; 0, 1, 2, 3; later thread index x of the quad
lane4   = R1   ; 4 * lane
lane16  = R2   ; 16 * lane
row     = R3   ; what an API call speaks
sync    = R4   ; row of cudaStreamSynchronize: 1, 0, 0, status
module  = R5   ; instructions, registers, static shared bytes, device
count4  = R6   ; 4 * number of buffers
buffer4 = R7   ; 4 * buffer: also where the null page keeps its address. After a loop: 4 * buffers that are allocated
mark    = R8   ; the watermark's last byte: watermark - 1
fields  = R9   ; host address of a field of descriptor 0, for each field of the row
at      = R10  ; host address
last    = R11  ; end of a loop or of an allocation
bit     = R12
to      = R13  ; device address of a line, by lane
from    = R14  ; host or device address, by lane
end     = R15  ; device address behind a buffer
bound   = R16  ; device address from which fewer than four lines remain
line    = R17  ; of the constant bank
kind    = R18
grid    = R19  ; gridDim
block   = R20  ; blockDim
x       = R21  ; blockDim.x, all lanes
y       = R22
z       = R23
threads = R24  ; of a block
quads   = R25
rows    = R26
regs    = R27
quad    = R28
tid_y   = R29  ; thread index y of the quad
tid_yz  = R30  ; thread indices y << 10 | z << 20
carry   = R31  ; what the carry from y to z adds to tid_yz
index   = R32  ; blockIdx
freed   = R33  ; row of cudaFree: buffer, 0, address, 0
two     = R34
shared  = R35  ; bytes of shared memory a block
shares  = R36  ; row of allocateShared and freeShared: bytes, 0, address, 0
local   = R37  ; row of localMemory: bytes a thread, bytes, address, 0
barrier = R38  ; address of a line of the table of named barriers
arrived = R39
wanted  = R40
passed  = R41
passes  = R42  ; 1 in lanes that found a barrier to pass
sharing = P5   ; from the launch on: blocks have shared memory
behind  = R43  ; address behind the table of named barriers
lasting = R44  ; not 0 in lane 3 when a buffer is there already or stays
stays   = R45  ; what a buffer that stays has in lane 3 of its row
kept    = R46  ; address behind the last buffer that stays, or 1
scratch = 240  ; null page, behind the addresses and the watermark: takes a value from one lane to all

; Lane predicates and constants.
        MOV      lane, SR_QUADLANE
        ISETP.EQ lane0, lane, 0
        ISETP.EQ lane1, lane, 1
        ISETP.EQ lane2, lane, 2
        ISETP.EQ lane3, lane, 3
        SHL      lane4, lane, 2
        SHL      lane16, lane, 4
@lane0  MOV      sync, 1
        LIMIT    first_allocation

; Device, stream, module.
        LDH      row, request_device
@lane0  cudaSetDevice row
@lane0  cudaStreamCreate 1
        LDH      module, lane4
@!lane3 cuModuleLoadData module

; cudaMalloc. The lanes have bytes, bytes, bytes, lifetime of the buffer. Memory that stayed ends at the watermark.
        LDH      count4, request_buffers
        SHL      count4, count4, 2
        MOV      fields, descriptors+descriptor_lifetime
@!lane3 MOV      fields, descriptors+descriptor_bytes_field
        LD       mark, [watermark]
        OR       mark, mark, first_allocation-1
        ISETP.EQ any, count4, 0
@any    BRA      malloc_done
malloc:
        IMAD     at, buffer4, 4, fields
        LDH      row, at
fits:
        IADD     last, row, mark
        ISETP.GT.U32 any, row, global_bytes          ; so that the sum did not wrap, and any lifetime
@!any   ISETP.GE.U32 any, last, global_bytes
@lane2  ISETP.NE some, row, 0
@some   IADD     row, mark, 1                        ; the address; a buffer of 0 bytes keeps 0
@lane0  SHR.U32  row, buffer4, 2
@any    BRA      not_plain
        OR       mark, last, allocation_alignment-1
        cudaMalloc row
@lane2  ST      [buffer4], row
malloc_next:
        IADD     buffer4, buffer4, 4
        ISETP.LT.U32 any, buffer4, count4
@any    BRA      malloc
malloc_done:
        IADD     mark, mark, 1
        LIMIT    mark

; cudaMemcpyHostToDevice. The lanes have bytes, host address, bytes, flags of the buffer; lane 0 then the address.
@lane1  MOV      fields, descriptors+descriptor_host_address
@lane3  MOV      fields, descriptors+descriptor_flags
        ISETP.EQ any, count4, 0
@any    BRA      copy_in_done
        MOV      buffer4, 0
copy_in:
        IMAD     at, buffer4, 4, fields
        LDH      row, at
        AND      bit, row, flag_copy_in
@lane3  ISETP.EQ skip, bit, 0
@skip   BRA      copy_in_next
@lane0  LD      row, [buffer4]
@!lane3 cudaMemcpyHostToDevice row
        ST      [lane4+scratch], row
        LD      to, [scratch]
        LD      from, [scratch+4]
        LD      end, [scratch+8]
        IADD     end, to, end
        IADD     to, to, lane16
        IADD     from, from, lane16
        ISETP.LT.U32 any, to, end
copy_in_lines:
@any    CPH      to, from
        IADD     to, to, 64
        IADD     from, from, 64
        ISETP.LT.U32 any, to, end
@any    BRA      copy_in_lines
copy_in_next:
        IADD     buffer4, buffer4, 4
        ISETP.LT.U32 any, buffer4, count4
@any    BRA      copy_in
copy_in_done:

; Kernel parameters: words, and addresses by way of the null page.
        LDH      last, request_parameter_lines
        SHL      row, last, 2
@lane0  kernelParameters row
        MOV      line, first_parameter_line
        IADD     last, last, line
        ISETP.GE.U32 any, line, last
@any    BRA      parameters_done
        IADD     at, lane4, parameters
parameter:
        LDH      row, at
        IADD     at, at, parameter_kinds
        LDH      kind, at
        ISETP.NE any, kind, kind_word
@any    LD      row, [row]
        STC      line, row
        IADD     line, line, 1
        ISETP.GE.U32 any, line, last
@any    BRA      parameters_done
        IADD     at, at, parameter_entry_bytes-parameter_kinds
        BRA      parameter
parameters_done:

; gridDim: none is 0, x is below 2^31, y and z are below 2^16.
        IADD     at, lane4, request_grid
@!lane3 LDH      grid, at
        ISETP.LE.S32 any, grid, 0
        PLOP.AND any, any, !lane3
@any    BRA      bad_grid
@!lane0 ISETP.GT.U32 some, grid, max_grid_yz
@some   BRA      bad_grid
        gridDim  grid
        STC      sync, grid

; blockDim: none is 0, x and y are at most 1024, z is at most 64, and so many threads at most 1024.
        IADD     at, at, request_block-request_grid
        LDH      block, at
        ISETP.GT.U32 any, block, max_block_xy
@lane2  ISETP.GT.U32 any, block, max_block_z
@any    BRA      bad_block
@!lane3 ISETP.EQ some, block, 0
@some   BRA      bad_block
        LDH      x, request_block
        LDH      y, request_block+4
        LDH      z, request_block+8
        IMUL     threads, x, y
        IMUL     threads, threads, z
        ISETP.GT.U32 any, threads, max_threads
@any    BRA      bad_block
        blockDim block
        STC      RZ, block

; Register rows and class.
        LDH      regs, request_registers
        IADD     quads, threads, 3
        SHR.U32  quads, quads, 2
        IMUL     rows, quads, regs
        SEL      row, lane0, regs, threads
@lane2  MOV      row, rows
        ISETP.GT.U32 any, rows, register_rows
@any    BRA      out_of_resources
        LDH      last, request_dynamic_shared
        LDH      shared, request_static_shared
        ISETP.GT.U32 any, last, shared_bytes         ; so that the sum does not wrap
        IADD     shared, shared, last
@!any   ISETP.GT.U32 any, shared, shared_bytes
@any    BRA      out_of_resources
@!lane3 resources row
        SHR.U32  regs, regs, 5                       ; 16, 32, 64, 128 -> 0, 1, 2, 4
        IMIN.U32 regs, regs, 3
        RCLS     regs

; Local memory lies behind the buffers, the bytes of one thread after those of the other.
        LDH      last, request_local_bytes
        ISETP.EQ any, last, 0
@any    BRA      no_local
        IMUL     bit, last, threads
        SEL      local, lane0, last, bit
@lane2  MOV      local, mark
        IADD     bit, bit, mark
        ISETP.GT.U32 any, last, global_bytes
@!any   ISETP.GT.U32 any, bit, global_bytes
@any    BRA      out_of_local
@!lane3 localMemory local
        MOV      line, local_line
        STC      line, mark
        IADD     mark, bit, allocation_alignment-1
        LIMIT    mark
no_local:

; cudaLaunchKernel.
@lane2  cudaLaunchKernel shared
        ISETP.NE sharing, shared, 0
@lane0  MOV      shares, shared
@lane2  MOV      shares, shared_window
        IADD     shared, shared, allocation_alignment-1

; Thread indices. When x is the only dimension they are the thread numbers, and quads are done by four.
        ISETP.NE any, x, threads
@any    BRA      spatial
        IADD     last, quads, -3
        ISETP.GE.S32 any, quad, last
@any    BRA      linear
linear_by_four:
        TIDX     quad, lane
        IADD     quad, quad, 1
        IADD     lane, lane, 4
        TIDX     quad, lane
        IADD     quad, quad, 1
        IADD     lane, lane, 4
        TIDX     quad, lane
        IADD     quad, quad, 1
        IADD     lane, lane, 4
        TIDX     quad, lane
        IADD     quad, quad, 1
        IADD     lane, lane, 4
        ISETP.LT.S32 any, quad, last
@any    BRA      linear_by_four
linear:
        ISETP.GE.U32 any, quad, quads
@any    BRA      blocks
        TIDX     quad, lane
        IADD     quad, quad, 1
        IADD     lane, lane, 4
        BRA      linear

; Otherwise x counts on by four, and carries into y, and y into z.
spatial:
        IMUL     carry, y, -1024
        IADD     carry, carry, 0x100000
spatial_carry:
        ISETP.GE.U32 any, lane, x
@any    BRA      carry_x
        OR       row, lane, tid_yz
        TIDX     quad, row
        IADD     quad, quad, 1
        ISETP.GE.U32 any, quad, quads
@any    BRA      blocks
        IADD     lane, lane, 4
        BRA      spatial_carry
carry_x:
@any    ISUB     lane, lane, x
@any    IADD     tid_y, tid_y, 1
@any    IADD     tid_yz, tid_yz, 0x400
        ISETP.GE.U32 any, tid_y, y
@any    ISUB     tid_y, tid_y, y
@any    IADD     tid_yz, tid_yz, carry
        BRA      spatial_carry

; The blocks in grid order.
blocks:
        MOV      two, ctaid_line
        IADD     last, threads, -1
run:
        STC      two, index
@sharing BRA     allocate
start:
        RUN      last
stopped:
        ISETP.NE any, RZ, SR_FAULT
@any    BRA      faulted
@sharing BRA     release
next:
@lane0  IADD     index, index, 1
@lane0  ISETP.LT.U32 any, index, grid
@any    BRA      run
@lane0  MOV      index, 0
@lane1  IADD     index, index, 1
@lane1  ISETP.LT.U32 any, index, grid
@any    BRA      run
@lane1  MOV      index, 0
@lane2  IADD     index, index, 1
@lane2  ISETP.LT.U32 any, index, grid
@any    BRA      run
        BRA      synchronize

; Shared memory of a block.
allocate:
        allocateShared shares
        LIMIT.SHARED shared
        BRA      start
release:
        freeShared shares
        LIMIT.SHARED RZ
        BRA      next

; All lanes wait at named barriers. Four barriers at a time: those are passed where as many lanes have arrived as are expected.
stuck:
        LDH      barrier, request_named_barriers
        ISETP.EQ any, barrier, 0
@any    BRA      deadlock
        IADD     barrier, barrier, lane16
        IADD     behind, barrier, barriers_bytes
        MOV      passes, 0
four_barriers:
        LD       wanted, [barrier+barrier_expected]
        LD       arrived, [barrier]
        ISETP.GE.U32 any, arrived, wanted
@any    ISETP.NE any, wanted, 0
@any    ISUB     arrived, arrived, wanted
@any    ST       [barrier], arrived
@any    LD       passed, [barrier+barrier_passed]
@any    IADD     passed, passed, 1
@any    ST       [barrier+barrier_passed], passed
@any    MOV      passes, 1
        IADD     barrier, barrier, 64
        ISETP.LT.U32 any, barrier, behind
@any    BRA      four_barriers
        ISETP.NE any, passes, 0
@any    BRA      passing
        BRA      deadlock
passing:
@lane0  LD       passed, [barrier+barriers_resumed-barriers_bytes]
@lane0  IADD     passed, passed, 1
@lane0  ST       [barrier+barriers_resumed-barriers_bytes], passed
        RESUME
        BRA      stopped

; A buffer whose row has a lifetime: what is there already is not allocated again; other rows go on without.
not_plain:
@lane3  ISETP.EQ skip, row, 0
@skip   BRA      out_of_memory
@lane3  MOV      lasting, 1
@lane3  ISETP.LT.S32 skip, row, 0                    ; again, its uppermost bit
@skip   BRA      malloc_next
        LDH      row, at
@lane3  MOV      row, 0
        BRA      fits

; Errors: the row that has the status, then cudaStreamSynchronize with the same.
out_of_memory:
@lane2  MOV      row, 0
@lane3  MOV      row, error_memory_allocation
        cudaMalloc row
@lane3  MOV      sync, error_memory_allocation
        BRA      synchronize
bad_grid:
@lane3  MOV      grid, error_invalid_configuration
        gridDim  grid
        BRA      invalid_configuration
bad_block:
@lane3  MOV      block, error_invalid_configuration
        blockDim block
invalid_configuration:
@lane3  MOV      sync, error_invalid_configuration
        BRA      synchronize
out_of_resources:
@lane3  MOV      row, error_launch_out_of_resources
        resources row
@lane3  MOV      sync, error_launch_out_of_resources
        BRA      synchronize
out_of_local:
@lane2  MOV      local, 0
@lane3  MOV      local, error_memory_allocation
        localMemory local
@lane3  MOV      sync, error_memory_allocation
        BRA      synchronize
deadlock:
@lane3  MOV      sync, error_launch_timeout
        BRA      synchronize
faulted:
        MOV      bit, SR_FAULT
        ISETP.EQ any, bit, stuck_code
@any    BRA      stuck
@lane3  MOV      sync, bit

synchronize:
        cudaStreamSynchronize sync
        ISETP.GT.U32 any, sync, 1                    ; no status is 1, the stream's number
@any    BRA      free_all

; cudaMemcpyDeviceToHost. The lanes have address, buffer, bytes, flags.
        ISETP.EQ any, count4, 0
@any    BRA      copy_out_done
        MOV      buffer4, 0
copy_out:
        IMAD     at, buffer4, 4, fields
        LDH      row, at
@lane3  ISETP.LT.U32 skip, row, flag_copy_out        ; flags: 2, or 3 with copy in
@skip   BRA      copy_out_next
@lane0  LD      row, [buffer4]
@lane1  SHR.U32  row, buffer4, 2
@!lane3 cudaMemcpyDeviceToHost row
        ST      [lane4+scratch], row
        LD      from, [scratch]
        LD      end, [scratch+8]
        IADD     end, end, from
        IADD     bound, end, -48
        IADD     from, from, lane4
copy_out_by_four:
        ISETP.GE.S32 any, from, bound                ; signed: a null buffer of 0 bytes has the bound -48
@any    BRA      copy_out_tail
        OUT      [from]
        OUT      [from+16]
        OUT      [from+32]
        OUT      [from+48]
        IADD     from, from, 64
        BRA      copy_out_by_four
copy_out_tail:
        ISETP.LT.U32 any, from, end
@any    BRA      copy_out_rest
        BRA      copy_out_next
copy_out_rest:
@any    OUT      [from]
        ISUB     end, end, from
        ISETP.GT.S32 any, end, 16
@any    OUT      [from+16]
        ISETP.GT.S32 any, end, 32
@any    OUT      [from+32]
        ISETP.GT.S32 any, end, 48
@any    OUT      [from+48]
copy_out_next:
        IADD     buffer4, buffer4, 4
        ISETP.LT.U32 any, buffer4, count4
@any    BRA      copy_out

copy_out_done:
@lane0  ST       [watermark], RZ

; cudaFree of what is allocated, last first.
free_all:
        ISETP.EQ any, buffer4, 0
@any    BRA      free_done
        ISETP.NE any, lasting, 0
@any    BRA      free_some
free:
        IADD     buffer4, buffer4, -4
@lane0  SHR.U32  freed, buffer4, 2
@lane2  LD       freed, [buffer4]
        cudaFree freed
        ISETP.NE any, buffer4, 0
@any    BRA      free
        BRA      free_done

; The same when some stay: those that are to be kept, and after an error those that were there already.
free_some:
        MOV      stays, lifetime_keep
        ISETP.GT.U32 any, sync, 1
@any    MOV      stays, lifetime_again
@lane3  MOV      fields, descriptors+descriptor_lifetime
        MOV      kept, 1
free_or_keep:
        IADD     buffer4, buffer4, -4
        IMAD     at, buffer4, 4, fields
        LDH      row, at
        AND      bit, row, stays
@lane3  ISETP.NE skip, bit, 0
@skip   BRA      keep
@lane0  SHR.U32  freed, buffer4, 2
@lane2  LD       freed, [buffer4]
        cudaFree freed
        BRA      free_next
keep:
        LD       to, [buffer4]
        IADD     end, to, row
        IMAX.U32 kept, kept, end
free_next:
        ISETP.NE any, buffer4, 0
@any    BRA      free_or_keep
        ISETP.GT.U32 any, sync, 1                    ; then the watermark is what it was
@any    BRA      free_done
        IADD     kept, kept, -1
@lane0  ST       [watermark], kept
free_done:
@lane0  cudaStreamDestroy 1
        HALT
)";

Constants firmware_constants() {
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  return {
      {"request_registers", number(request::registers)},
      {"request_device", number(request::device)},
      {"request_grid", number(request::grid)},
      {"request_dynamic_shared", number(request::dynamic_shared)},
      {"request_block", number(request::block)},
      {"request_static_shared", number(request::static_shared)},
      {"request_local_bytes", number(request::local_bytes)},
      {"request_named_barriers", number(request::named_barriers)},
      {"barriers_bytes", number(16 * request::barriers)},
      {"barriers_resumed", number(request::barriers_resumed)},
      {"barrier_expected", number(request::barrier_expected)},
      {"barrier_passed", number(request::barrier_passed)},
      {"local_line", number(constant::local / 16)},
      {"shared_bytes", number(Parameters::shared_bytes)},
      {"shared_window", number(Parameters::shared_window)},
      {"stuck_code", number(stuck_code)},
      {"error_launch_timeout", number(Status::LaunchTimeout)},
      {"request_buffers", number(request::buffers)},
      {"watermark", number(request::watermark)},
      {"request_parameter_lines", number(request::parameter_lines)},
      {"descriptors", number(request::descriptors)},
      {"descriptor_bytes_field", number(request::descriptor::bytes)},
      {"descriptor_flags", number(request::descriptor::flags)},
      {"descriptor_host_address", number(request::descriptor::host_address)},
      {"descriptor_lifetime", number(request::descriptor::lifetime)},
      {"lifetime_keep", request::keep},
      {"lifetime_again", request::again},
      {"flag_copy_in", number(request::copy_in)},
      {"flag_copy_out", number(request::copy_out)},
      {"parameters", number(request::parameters)},
      {"parameter_entry_bytes", number(request::parameter_entry_bytes)},
      {"parameter_kinds", number(request::parameter_kinds)},
      {"kind_word", number(request::kind_word)},
      {"first_parameter_line", number(request::parameter_line)},
      {"ctaid_line", number(constant::ctaid / 16)},
      {"first_allocation", number(Parameters::first_allocation)},
      {"allocation_alignment", number(Parameters::allocation_alignment)},
      {"global_bytes", number(Parameters::global_bytes)},
      {"register_rows", number(Parameters::register_rows)},
      {"max_threads", number(Parameters::max_threads)},
      {"max_block_xy", number(Parameters::max_block_x)},
      {"max_block_z", number(Parameters::max_block_z)},
      {"max_grid_yz", number(Parameters::max_grid_y)},
      {"error_memory_allocation", number(Status::MemoryAllocation)},
      {"error_invalid_configuration", number(Status::InvalidConfiguration)},
      {"error_launch_out_of_resources", number(Status::LaunchOutOfResources)},
  };
}

// What the text takes for granted.
static_assert(request::instructions == 0 && request::registers == 4 && request::static_shared == 8,
              "the module row is read with lane addresses 0, 4, 8");
static_assert(request::descriptor_bytes == 16 && request::descriptor::bytes == 0,
              "buffer4 * 4 is a descriptor's offset");
static_assert(request::keep > Parameters::global_bytes && request::again == 1u << 31,
              "a lifetime is found where the size is checked, and 'again' by its sign");
static_assert(Parameters::first_allocation == Parameters::allocation_alignment,
              "the watermark's last byte is had by an OR of the last byte of what is kept, or of 0");
static_assert(constant::ntid == 0 && constant::nctaid == 16,
              "their lines are written with RZ and lane 0 of sync");
static_assert(Parameters::max_block_x == Parameters::max_block_y &&
              Parameters::max_grid_y == Parameters::max_grid_z);
static_assert(Parameters::max_grid_x == 0x7fffffff, "a grid's x is checked by its sign");

}  // namespace

const std::vector<Instruction>& firmware() {
  static const std::vector<Instruction> code = [] {
    std::vector<Instruction> result = assemble(text, firmware_constants());
    if (result.size() > Parameters::firmware_instructions) throw std::logic_error("the firmware is too long");
    return result;
  }();
  return code;
}

}  // namespace qwengpu::isa

// The instruction table. Assembler, encoder, emulator, control words of the model, tokens and documentation all expand this one list.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace qwengpu::isa {

// What carries an instruction out.
enum class Unit {
  Illegal,
  Move,        // d = B
  Add,         // d = A + B
  Subtract,    // d = A - B
  Multiply,    // d = low or high half of A * B
  MultiplyAdd, // d = low(A * B) + C
  MinMax,
  Shift,
  Logic,
  Select,      // d = P ? A : B
  Compare,     // p = A ? B, every lane at once
  Predicate,   // p = q ? r
  Load,        // d = global[A + imm]
  Store,       // global[A + imm] = B
  Branch,
  Exit,
  // Launch firmware only.
  LoadHost,       // d = host[B]
  CopyHost,       // line global[A] = line host[B]
  CopyOut,        // speaks global[A + imm]; this is how results leave the machine
  StoreConstant,  // constant line A = row B
  ThreadIndex,    // thread indices of quad A = row B
  RegisterClass,  // registers a thread = 16 << B
  Limit,          // first address that is not allocated = B
  Run,            // starts a block of B + 1 threads
  Tell,           // speaks row B: an API call with its fields
  Halt,
};

// Variant within a unit.
enum class Mode {
  None,
  Low, HighSigned, HighUnsigned,                                                    // Multiply
  MinSigned, MaxSigned, MinUnsigned, MaxUnsigned,                                   // MinMax
  Left, RightUnsigned, RightSigned,                                                 // Shift
  And, Or, Xor,                                                                     // Logic, Predicate
  Equal, NotEqual,                                                                  // Compare
  LessSigned, LessEqualSigned, GreaterSigned, GreaterEqualSigned,
  LessUnsigned, LessEqualUnsigned, GreaterUnsigned, GreaterEqualUnsigned,
};

// X(name, "MNEMONIC", unit, mode, "operands", "meaning")
//   operands of the assembly text, in order: d register written, a register, b register, immediate, c[address] or special
//   register, c register, p predicate written, q and r predicates read, m memory [a + immediate], t branch target.
#define QWENGPU_INSTRUCTIONS(X)                                                                              \
  X(Illegal, "ILLEGAL", Illegal, None, "", "an empty instruction word: cudaErrorIllegalInstruction")         \
  X(Mov, "MOV", Move, None, "db", "d = b (PTX mov, ld.param, special registers)")                            \
  X(Iadd, "IADD", Add, None, "dab", "d = a + b (PTX add.s32)")                                               \
  X(Isub, "ISUB", Subtract, None, "dab", "d = a - b (PTX sub.s32)")                                          \
  X(Imul, "IMUL", Multiply, Low, "dab", "d = low 32 bits of a * b (PTX mul.lo)")                             \
  X(ImulHiS, "IMUL.HI.S32", Multiply, HighSigned, "dab", "d = high 32 bits of signed a * b (PTX mul.hi.s32)")\
  X(ImulHiU, "IMUL.HI.U32", Multiply, HighUnsigned, "dab", "d = high 32 bits of a * b (PTX mul.hi.u32)")     \
  X(Imad, "IMAD", MultiplyAdd, Low, "dabc", "d = low 32 bits of a * b, plus c (PTX mad.lo)")                 \
  X(IminS, "IMIN.S32", MinMax, MinSigned, "dab", "d = min(a, b), signed")                                    \
  X(ImaxS, "IMAX.S32", MinMax, MaxSigned, "dab", "d = max(a, b), signed")                                    \
  X(IminU, "IMIN.U32", MinMax, MinUnsigned, "dab", "d = min(a, b), unsigned")                                \
  X(ImaxU, "IMAX.U32", MinMax, MaxUnsigned, "dab", "d = max(a, b), unsigned")                                \
  X(Shl, "SHL", Shift, Left, "dab", "d = a << b, 0 from b = 32 on (PTX shl.b32)")                            \
  X(ShrU, "SHR.U32", Shift, RightUnsigned, "dab", "d = a >> b, 0 from b = 32 on (PTX shr.u32)")              \
  X(ShrS, "SHR.S32", Shift, RightSigned, "dab", "d = a >> b with the sign, amounts above 31 count as 31 (PTX shr.s32)") \
  X(And, "AND", Logic, And, "dab", "d = a & b")                                                              \
  X(Or, "OR", Logic, Or, "dab", "d = a | b")                                                                 \
  X(Xor, "XOR", Logic, Xor, "dab", "d = a ^ b")                                                              \
  X(Sel, "SEL", Select, None, "dqab", "d = q ? a : b (PTX selp)")                                            \
  X(SetpEq, "ISETP.EQ", Compare, Equal, "pab", "p = a == b")                                                 \
  X(SetpNe, "ISETP.NE", Compare, NotEqual, "pab", "p = a != b")                                              \
  X(SetpLtS, "ISETP.LT.S32", Compare, LessSigned, "pab", "p = a < b, signed")                                \
  X(SetpLeS, "ISETP.LE.S32", Compare, LessEqualSigned, "pab", "p = a <= b, signed")                          \
  X(SetpGtS, "ISETP.GT.S32", Compare, GreaterSigned, "pab", "p = a > b, signed")                             \
  X(SetpGeS, "ISETP.GE.S32", Compare, GreaterEqualSigned, "pab", "p = a >= b, signed")                       \
  X(SetpLtU, "ISETP.LT.U32", Compare, LessUnsigned, "pab", "p = a < b, unsigned")                            \
  X(SetpLeU, "ISETP.LE.U32", Compare, LessEqualUnsigned, "pab", "p = a <= b, unsigned")                      \
  X(SetpGtU, "ISETP.GT.U32", Compare, GreaterUnsigned, "pab", "p = a > b, unsigned")                         \
  X(SetpGeU, "ISETP.GE.U32", Compare, GreaterEqualUnsigned, "pab", "p = a >= b, unsigned")                   \
  X(PlopAnd, "PLOP.AND", Predicate, And, "pqr", "p = q & r")                                                 \
  X(PlopOr, "PLOP.OR", Predicate, Or, "pqr", "p = q | r")                                                    \
  X(PlopXor, "PLOP.XOR", Predicate, Xor, "pqr", "p = q ^ r")                                                 \
  X(Ldg, "LDG", Load, None, "dm", "d = the 32-bit word at global address m (PTX ld.global.b32)")             \
  X(Stg, "STG", Store, None, "mb", "the 32-bit word at global address m = register b (PTX st.global.b32)")   \
  X(Bra, "BRA", Branch, None, "t", "lanes that execute go on at t (PTX bra)")                                \
  X(Exit, "EXIT", Exit, None, "", "lanes that execute end (PTX exit, ret)")                                  \
  X(Ldh, "LDH", LoadHost, None, "db", "d = the 32-bit word at host staging address b")                       \
  X(Cph, "CPH", CopyHost, None, "ab", "16 bytes at global address a = 16 bytes at host staging address b")   \
  X(Out, "OUT", CopyOut, None, "m", "speaks the 32-bit word at global address m: device to host")            \
  X(Stc, "STC", StoreConstant, None, "ab", "line a (of lane 0) of the constant bank = row b")                \
  X(Tidx, "TIDX", ThreadIndex, None, "ab", "thread indices of quad a (of lane 0) = row b, x | y << 10 | z << 20") \
  X(Rcls, "RCLS", RegisterClass, None, "b", "threads have 16 << b registers")                                \
  X(Limit, "LIMIT", Limit, None, "b", "global addresses from b on are not allocated (a multiple of 256)")    \
  X(Run, "RUN", Run, None, "b", "clears registers, predicates and program counters and starts a block of b + 1 threads") \
  X(Halt, "HALT", Halt, None, "", "the launch is over")                                                      \
  X(SetDevice, "cudaSetDevice", Tell, None, "b", "device, -, -, status")                                     \
  X(StreamCreate, "cudaStreamCreate", Tell, None, "b", "stream, -, -, status")                               \
  X(ModuleLoad, "cuModuleLoadData", Tell, None, "b", "instructions, registers, shared bytes, status")        \
  X(Malloc, "cudaMalloc", Tell, None, "b", "buffer, bytes, address, status")                                 \
  X(CopyIn, "cudaMemcpyHostToDevice", Tell, None, "b", "address, host address, bytes, status")               \
  X(Arguments, "kernelParameters", Tell, None, "b", "words, -, -, status")                                   \
  X(Grid, "gridDim", Tell, None, "b", "x, y, z, status")                                                     \
  X(Block, "blockDim", Tell, None, "b", "x, y, z, status")                                                   \
  X(Resources, "resources", Tell, None, "b", "registers a thread, threads, register rows, status")           \
  X(LaunchKernel, "cudaLaunchKernel", Tell, None, "b", "-, -, shared bytes, status")                         \
  X(Synchronize, "cudaStreamSynchronize", Tell, None, "b", "stream, -, -, status")                           \
  X(CopyBack, "cudaMemcpyDeviceToHost", Tell, None, "b", "address, buffer, bytes, status")                   \
  X(Free, "cudaFree", Tell, None, "b", "buffer, -, address, status")                                         \
  X(StreamDestroy, "cudaStreamDestroy", Tell, None, "b", "stream, -, -, status")

enum class Op {
#define X(name, mnemonic, unit, mode, operands, meaning) name,
  QWENGPU_INSTRUCTIONS(X)
#undef X
};

struct OpInfo {
  Op op;
  std::string_view mnemonic;
  Unit unit;
  Mode mode;
  std::string_view operands;
  std::string_view meaning;

  constexpr bool has(char operand) const { return operands.find(operand) != std::string_view::npos; }
  constexpr bool reads_a() const { return has('a') || has('m'); }
  constexpr bool reads_b() const { return has('b'); }
  constexpr bool reads_c() const { return has('c'); }
  constexpr bool writes_register() const { return has('d'); }
  constexpr bool writes_predicate() const { return has('p'); }
  // Speaks a row of four values after its header.
  constexpr bool speaks_row() const {
    return writes_register() || unit == Unit::Tell || unit == Unit::CopyOut || unit == Unit::StoreConstant ||
           unit == Unit::ThreadIndex;
  }
  // Accesses global memory, four lanes at once for the address check.
  constexpr bool accesses_global() const {
    return unit == Unit::Load || unit == Unit::Store || unit == Unit::CopyOut || unit == Unit::CopyHost;
  }
  // Allowed to the launch firmware only.
  constexpr bool privileged() const { return unit >= Unit::LoadHost; }
};

inline constexpr std::array op_table = {
#define X(name, mnemonic, unit, mode, operands, meaning) \
  OpInfo{Op::name, mnemonic, Unit::unit, Mode::mode, operands, meaning},
    QWENGPU_INSTRUCTIONS(X)
#undef X
};
inline constexpr int op_count = static_cast<int>(op_table.size());
static_assert(op_count <= 128, "an opcode has 7 bits");

constexpr const OpInfo& info(Op op) { return op_table[static_cast<std::size_t>(op)]; }
std::optional<Op> find_op(std::string_view mnemonic);

// Sources of the B operand.
enum class BSource { Register = 0, Immediate = 1, Constant = 2, Special = 3 };

// X(name, "SPELLING", "meaning"): special registers, a B source.
#define QWENGPU_SPECIAL_REGISTERS(X)                                       \
  X(TidX, "SR_TID.X", "threadIdx.x (PTX %tid.x)")                          \
  X(TidY, "SR_TID.Y", "threadIdx.y")                                       \
  X(TidZ, "SR_TID.Z", "threadIdx.z")                                       \
  X(LaneId, "SR_LANEID", "lane of the 32-thread warp (PTX %laneid)")       \
  X(WarpId, "SR_WARPID", "warp of the block (PTX %warpid)")                \
  X(QuadLane, "SR_QUADLANE", "lane of the quad, 0 to 3")                   \
  X(Fault, "SR_FAULT", "CUDA error of the block that ran last, 0 if none")

enum class Special {
#define X(name, spelling, meaning) name,
  QWENGPU_SPECIAL_REGISTERS(X)
#undef X
};
struct SpecialInfo {
  Special special;
  std::string_view spelling;
  std::string_view meaning;
};
inline constexpr std::array special_table = {
#define X(name, spelling, meaning) SpecialInfo{Special::name, spelling, meaning},
    QWENGPU_SPECIAL_REGISTERS(X)
#undef X
};

// Faults a kernel can raise, with CUDA's codes (driver_types.h, cudaError).
#define QWENGPU_FAULTS(X)                                                      \
  X(IllegalAddress, "illegal-address", 700, "cudaErrorIllegalAddress")         \
  X(MisalignedAddress, "misaligned-address", 716, "cudaErrorMisalignedAddress") \
  X(IllegalInstruction, "illegal-instruction", 715, "cudaErrorIllegalInstruction")

enum class Fault {
#define X(name, spelling, code, cuda) name,
  QWENGPU_FAULTS(X)
#undef X
};
struct FaultInfo {
  Fault fault;
  std::string_view spelling;
  int code;
  std::string_view cuda_name;
};
inline constexpr std::array fault_table = {
#define X(name, spelling, code, cuda) FaultInfo{Fault::name, spelling, code, cuda},
    QWENGPU_FAULTS(X)
#undef X
};

// CUDA status codes that the firmware writes (driver_types.h).
enum class Status {
  Success = 0,
  MemoryAllocation = 2,
  InvalidConfiguration = 9,
  LaunchOutOfResources = 701,
};
// "cudaSuccess", ...; "cudaError(N)" for a code this machine does not write.
std::string_view status_name(int code);

}  // namespace qwengpu::isa

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
  FloatArithmetic,  // d = A + B, A * B, A * B + C in binary32
  FloatMinMax,
  FloatCompare,     // p = A ? B, every lane at once
  ConvertToFloat,   // d = binary32 of the integer B
  ConvertToInteger, // d = integer of the binary32 B
  RoundToIntegral,  // d = integral binary32 next to B
  BitCount,         // population count, leading zeros, highest set bit
  BitReverse,
  BitField,         // extract, insert
  Permute,          // bytes of A and C selected by B
  LookUp,           // any function of three bits, bit by bit
  FunnelShift,
  Load,        // d = memory[A + imm]
  Store,       // memory[A + imm] = B
  Atomic,      // d = memory[A + imm], which then becomes a function of itself, B and C; lane after lane
  Branch,
  Exit,
  Wait,        // lanes wait until others come
  Put,         // the same, and B or P is shown to the warp
  GetWord,     // d = what thread A put
  GetVote,     // d = the predicates that the warp put, a bit a lane
  // Launch firmware only.
  LoadHost,       // d = host[B]
  CopyHost,       // line global[A] = line host[B]
  CopyOut,        // speaks memory[A + imm]; this is how results leave the machine
  StoreConstant,  // constant line A = row B
  ThreadIndex,    // thread indices of quad A = row B
  RegisterClass,  // registers a thread = 16 << B
  Limit,          // first address that is not allocated = B, of global or of shared memory
  Run,            // starts a block of B + 1 threads
  Resume,         // goes on with a block whose lanes all wait
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
  Sum, Product, MultiplyAdd,                                                        // FloatArithmetic
  Minimum, Maximum,                                                                 // FloatMinMax
  Less, LessEqual, Greater, GreaterEqual,                                           // FloatCompare: false when unordered,
  EqualOrUnordered, NotEqualOrUnordered, LessOrUnordered, LessEqualOrUnordered,     // true when unordered
  GreaterOrUnordered, GreaterEqualOrUnordered, Ordered, Unordered,
  Signed, Unsigned,                                                                 // conversions, BitField
  Population, LeadingZeros, HighestSigned, HighestUnsigned,                         // BitCount
  Insert,                                                                           // BitField
  Carry,                                                                            // Add, Subtract
  Word, Byte, SignedByte, Half, SignedHalf, Word64, Word128,                        // Load, Store
  FloatSum, Exchange, CompareAndSwap, Increment, Decrement, StoreByte, StoreHalf,   // Atomic
  Barrier, NamedBarrier, Warp, Yield,                                               // Wait
  Vote,                                                                             // Put
  Global, Shared,                                                                   // Limit
};

// X(name, "MNEMONIC", unit, mode, "operands", "meaning")
//   operands of the assembly text, in order: d register written, a register, b register, immediate, c[address] or special
//   register, c register, p predicate written, q and r predicates read, m memory [a + immediate], t branch target, l 8-bit
//   look-up table. F: may be rounded (.RZ .RM .RP), flushed (.FTZ) and saturated (.SAT); N: register operands may be negated
//   and absolute (-R1, |R1|).
#define QWENGPU_INSTRUCTIONS(X)                                                                              \
  X(Illegal, "ILLEGAL", Illegal, None, "", "an empty instruction word: cudaErrorIllegalInstruction") \
  X(Mov, "MOV", Move, None, "db", "d = b (PTX mov, ld.param, special registers)") \
  X(Iadd, "IADD", Add, None, "dab", "d = a + b (PTX add.s32)") \
  X(Isub, "ISUB", Subtract, None, "dab", "d = a - b (PTX sub.s32)") \
  X(Imul, "IMUL", Multiply, Low, "dab", "d = low 32 bits of a * b (PTX mul.lo)") \
  X(ImulHiS, "IMUL.HI.S32", Multiply, HighSigned, "dab", "d = high 32 bits of signed a * b (PTX mul.hi.s32)") \
  X(ImulHiU, "IMUL.HI.U32", Multiply, HighUnsigned, "dab", "d = high 32 bits of a * b (PTX mul.hi.u32)") \
  X(Imad, "IMAD", MultiplyAdd, Low, "dabc", "d = low 32 bits of a * b, plus c (PTX mad.lo)") \
  X(IminS, "IMIN.S32", MinMax, MinSigned, "dab", "d = min(a, b), signed") \
  X(ImaxS, "IMAX.S32", MinMax, MaxSigned, "dab", "d = max(a, b), signed") \
  X(IminU, "IMIN.U32", MinMax, MinUnsigned, "dab", "d = min(a, b), unsigned") \
  X(ImaxU, "IMAX.U32", MinMax, MaxUnsigned, "dab", "d = max(a, b), unsigned") \
  X(Shl, "SHL", Shift, Left, "dab", "d = a << b, 0 from b = 32 on (PTX shl.b32)") \
  X(ShrU, "SHR.U32", Shift, RightUnsigned, "dab", "d = a >> b, 0 from b = 32 on (PTX shr.u32)") \
  X(ShrS, "SHR.S32", Shift, RightSigned, "dab", "d = a >> b with the sign, amounts above 31 count as 31 (PTX shr.s32)") \
  X(And, "AND", Logic, And, "dab", "d = a & b") \
  X(Or, "OR", Logic, Or, "dab", "d = a | b") \
  X(Xor, "XOR", Logic, Xor, "dab", "d = a ^ b") \
  X(Sel, "SEL", Select, None, "dqab", "d = q ? a : b (PTX selp)") \
  X(SetpEq, "ISETP.EQ", Compare, Equal, "pab", "p = a == b") \
  X(SetpNe, "ISETP.NE", Compare, NotEqual, "pab", "p = a != b") \
  X(SetpLtS, "ISETP.LT.S32", Compare, LessSigned, "pab", "p = a < b, signed") \
  X(SetpLeS, "ISETP.LE.S32", Compare, LessEqualSigned, "pab", "p = a <= b, signed") \
  X(SetpGtS, "ISETP.GT.S32", Compare, GreaterSigned, "pab", "p = a > b, signed") \
  X(SetpGeS, "ISETP.GE.S32", Compare, GreaterEqualSigned, "pab", "p = a >= b, signed") \
  X(SetpLtU, "ISETP.LT.U32", Compare, LessUnsigned, "pab", "p = a < b, unsigned") \
  X(SetpLeU, "ISETP.LE.U32", Compare, LessEqualUnsigned, "pab", "p = a <= b, unsigned") \
  X(SetpGtU, "ISETP.GT.U32", Compare, GreaterUnsigned, "pab", "p = a > b, unsigned") \
  X(SetpGeU, "ISETP.GE.U32", Compare, GreaterEqualUnsigned, "pab", "p = a >= b, unsigned") \
  X(PlopAnd, "PLOP.AND", Predicate, And, "pqr", "p = q & r") \
  X(PlopOr, "PLOP.OR", Predicate, Or, "pqr", "p = q | r") \
  X(PlopXor, "PLOP.XOR", Predicate, Xor, "pqr", "p = q ^ r") \
  X(Fadd, "FADD", FloatArithmetic, Sum, "dabFN", "d = a + b (PTX add.f32; sub.f32 with -b)") \
  X(Fmul, "FMUL", FloatArithmetic, Product, "dabFN", "d = a * b (PTX mul.f32)") \
  X(Ffma, "FFMA", FloatArithmetic, MultiplyAdd, "dabcFN", "d = a * b + c, rounded once (PTX fma.f32)") \
  X(Fmin, "FMIN", FloatMinMax, Minimum, "dabFN", "d = the smaller of a and b, the number if one is NaN (PTX min.f32)") \
  X(Fmax, "FMAX", FloatMinMax, Maximum, "dabFN", "d = the larger of a and b, the number if one is NaN (PTX max.f32)") \
  X(FsetpEq, "FSETP.EQ", FloatCompare, Equal, "pabFN", "p = a == b and neither is NaN (PTX setp.eq.f32)") \
  X(FsetpNe, "FSETP.NE", FloatCompare, NotEqual, "pabFN", "p = a != b and neither is NaN") \
  X(FsetpLt, "FSETP.LT", FloatCompare, Less, "pabFN", "p = a < b and neither is NaN") \
  X(FsetpLe, "FSETP.LE", FloatCompare, LessEqual, "pabFN", "p = a <= b and neither is NaN") \
  X(FsetpGt, "FSETP.GT", FloatCompare, Greater, "pabFN", "p = a > b and neither is NaN") \
  X(FsetpGe, "FSETP.GE", FloatCompare, GreaterEqual, "pabFN", "p = a >= b and neither is NaN") \
  X(FsetpEqu, "FSETP.EQU", FloatCompare, EqualOrUnordered, "pabFN", "p = a == b or one is NaN (PTX setp.equ.f32)") \
  X(FsetpNeu, "FSETP.NEU", FloatCompare, NotEqualOrUnordered, "pabFN", "p = a != b or one is NaN") \
  X(FsetpLtu, "FSETP.LTU", FloatCompare, LessOrUnordered, "pabFN", "p = a < b or one is NaN") \
  X(FsetpLeu, "FSETP.LEU", FloatCompare, LessEqualOrUnordered, "pabFN", "p = a <= b or one is NaN") \
  X(FsetpGtu, "FSETP.GTU", FloatCompare, GreaterOrUnordered, "pabFN", "p = a > b or one is NaN") \
  X(FsetpGeu, "FSETP.GEU", FloatCompare, GreaterEqualOrUnordered, "pabFN", "p = a >= b or one is NaN") \
  X(FsetpNum, "FSETP.NUM", FloatCompare, Ordered, "pabFN", "p = neither a nor b is NaN") \
  X(FsetpNan, "FSETP.NAN", FloatCompare, Unordered, "pabFN", "p = a or b is NaN") \
  X(I2fS, "I2F.S32", ConvertToFloat, Signed, "dbF", "d = binary32 of the signed integer b (PTX cvt.rn.f32.s32)") \
  X(I2fU, "I2F.U32", ConvertToFloat, Unsigned, "dbF", "d = binary32 of the unsigned integer b (PTX cvt.rn.f32.u32)") \
  X(F2iS, "F2I.S32", ConvertToInteger, Signed, "dbF", "d = signed integer of b, clamped, NaN 0 (PTX cvt.rni.s32.f32)") \
  X(F2iU, "F2I.U32", ConvertToInteger, Unsigned, "dbF", "d = unsigned integer of b, clamped, NaN 0 (PTX cvt.rni.u32.f32)") \
  X(Frnd, "FRND", RoundToIntegral, None, "dbF", "d = b rounded to an integral binary32 (PTX cvt.rni.f32.f32)") \
  X(Popc, "POPC", BitCount, Population, "db", "d = number of ones in b (PTX popc.b32)") \
  X(Clz, "CLZ", BitCount, LeadingZeros, "db", "d = number of zeros above the highest one of b (PTX clz.b32)") \
  X(BfindS, "BFIND.S32", BitCount, HighestSigned, "db", "d = position of the highest bit that is not the sign, or -1 (PTX bfind.s32)") \
  X(BfindU, "BFIND.U32", BitCount, HighestUnsigned, "db", "d = position of the highest one, or -1 (PTX bfind.u32)") \
  X(Brev, "BREV", BitReverse, None, "db", "d = b with its bits in reverse order (PTX brev.b32)") \
  X(BfeS, "BFE.S32", BitField, Signed, "dab", "d = bits of a from b & 255 on, b >> 8 & 255 of them, with sign (PTX bfe.s32)") \
  X(BfeU, "BFE.U32", BitField, Unsigned, "dab", "d = bits of a from b & 255 on, b >> 8 & 255 of them (PTX bfe.u32)") \
  X(Bfi, "BFI", BitField, Insert, "dabc", "d = c with its bits from b & 255 on, b >> 8 & 255 of them, taken from a (PTX bfi.b32)") \
  X(Prmt, "PRMT", Permute, None, "dabc", "d = bytes of a (0..3) and c (4..7) selected by b (PTX prmt.b32 d, a, c, b)") \
  X(Lop3, "LOP3", LookUp, None, "dabcl", "d = the function of a, b and c whose table is l (PTX lop3.b32)") \
  X(ShfL, "SHF.L", FunnelShift, Left, "dabc", "d = high word of c:a << (b & 31) (PTX shf.l.wrap.b32 d, a, c, b)") \
  X(ShfR, "SHF.R", FunnelShift, RightUnsigned, "dabc", "d = low word of c:a >> (b & 31) (PTX shf.r.wrap.b32 d, a, c, b)") \
  X(IaddX, "IADD.X", Add, Carry, "dabq", "d = a + b + q (PTX addc)") \
  X(IsubX, "ISUB.X", Subtract, Carry, "dabq", "d = a - b - 1 + q (PTX subc: q says that nothing is borrowed)") \
  X(Ld, "LD", Load, Word, "dm", "d = the 32-bit word at address m (PTX ld.b32)") \
  X(LdU8, "LD.U8", Load, Byte, "dm", "d = the byte at m (PTX ld.u8)") \
  X(LdS8, "LD.S8", Load, SignedByte, "dm", "d = the byte at m with its sign (PTX ld.s8)") \
  X(LdU16, "LD.U16", Load, Half, "dm", "d = the 16-bit word at m (PTX ld.u16)") \
  X(LdS16, "LD.S16", Load, SignedHalf, "dm", "d = the 16-bit word at m with its sign (PTX ld.s16)") \
  X(Ld64, "LD.64", Load, Word64, "dm", "d = the 32-bit word at m, a multiple of 8: the first of a 64-bit access") \
  X(Ld128, "LD.128", Load, Word128, "dm", "d = the 32-bit word at m, a multiple of 16: the first of a 128-bit access") \
  X(St, "ST", Store, Word, "mb", "the 32-bit word at m = register b (PTX st.b32)") \
  X(St64, "ST.64", Store, Word64, "mb", "the same at a multiple of 8: the first word of a 64-bit access") \
  X(St128, "ST.128", Store, Word128, "mb", "the same at a multiple of 16: the first word of a 128-bit access") \
  X(St8, "ST.8", Atomic, StoreByte, "mb", "the byte at m = the low byte of register b (PTX st.b8)") \
  X(St16, "ST.16", Atomic, StoreHalf, "mb", "the 16-bit word at m = the low half of register b (PTX st.b16)") \
  X(RedAdd, "RED.ADD", Atomic, Sum, "mb", "the word at m += b (PTX red)") \
  X(RedMinS, "RED.MIN.S32", Atomic, MinSigned, "mb", "the word at m = min(word, b), signed (PTX red)") \
  X(RedMaxS, "RED.MAX.S32", Atomic, MaxSigned, "mb", "the word at m = max(word, b), signed (PTX red)") \
  X(RedMinU, "RED.MIN.U32", Atomic, MinUnsigned, "mb", "the word at m = min(word, b) (PTX red)") \
  X(RedMaxU, "RED.MAX.U32", Atomic, MaxUnsigned, "mb", "the word at m = max(word, b) (PTX red)") \
  X(RedAnd, "RED.AND", Atomic, And, "mb", "the word at m &= b (PTX red)") \
  X(RedOr, "RED.OR", Atomic, Or, "mb", "the word at m |= b (PTX red)") \
  X(RedXor, "RED.XOR", Atomic, Xor, "mb", "the word at m ^= b (PTX red)") \
  X(RedInc, "RED.INC", Atomic, Increment, "mb", "the word at m = word >= b ? 0 : word + 1 (PTX red)") \
  X(RedDec, "RED.DEC", Atomic, Decrement, "mb", "the word at m = word == 0 or word > b ? b : word - 1 (PTX red)") \
  X(RedFAdd, "RED.FADD", Atomic, FloatSum, "mbF", "the word at m += b in binary32 (PTX red)") \
  X(AtomAdd, "ATOM.ADD", Atomic, Sum, "dmb", "d = the word at m, then word += b (PTX atom)") \
  X(AtomMinS, "ATOM.MIN.S32", Atomic, MinSigned, "dmb", "d = the word at m, then word min(word, b), signed (PTX atom)") \
  X(AtomMaxS, "ATOM.MAX.S32", Atomic, MaxSigned, "dmb", "d = the word at m, then word max(word, b), signed (PTX atom)") \
  X(AtomMinU, "ATOM.MIN.U32", Atomic, MinUnsigned, "dmb", "d = the word at m, then word min(word, b) (PTX atom)") \
  X(AtomMaxU, "ATOM.MAX.U32", Atomic, MaxUnsigned, "dmb", "d = the word at m, then word max(word, b) (PTX atom)") \
  X(AtomAnd, "ATOM.AND", Atomic, And, "dmb", "d = the word at m, then word &= b (PTX atom)") \
  X(AtomOr, "ATOM.OR", Atomic, Or, "dmb", "d = the word at m, then word |= b (PTX atom)") \
  X(AtomXor, "ATOM.XOR", Atomic, Xor, "dmb", "d = the word at m, then word ^= b (PTX atom)") \
  X(AtomInc, "ATOM.INC", Atomic, Increment, "dmb", "d = the word at m, then word word >= b ? 0 : word + 1 (PTX atom)") \
  X(AtomDec, "ATOM.DEC", Atomic, Decrement, "dmb", "d = the word at m, then word word == 0 or word > b ? b : word - 1 (PTX atom)") \
  X(AtomFAdd, "ATOM.FADD", Atomic, FloatSum, "dmbF", "d = the word at m, then word += b in binary32 (PTX atom)") \
  X(AtomExch, "ATOM.EXCH", Atomic, Exchange, "dmb", "d = the word at m, then word b (PTX atom)") \
  X(AtomCas, "ATOM.CAS", Atomic, CompareAndSwap, "dmbc", "d = the word at m, then word = word == b ? c : word (PTX atom.cas)") \
  X(Bra, "BRA", Branch, None, "t", "lanes that execute go on at t (PTX bra)") \
  X(Exit, "EXIT", Exit, None, "", "lanes that execute end (PTX exit, ret)") \
  X(Bar, "BAR", Wait, Barrier, "", "lanes wait until all lanes of the block do or have ended (PTX bar.sync 0)") \
  X(BarNamed, "BAR.NAMED", Wait, NamedBarrier, "", "the same, and the launch firmware decides when they go on") \
  X(Warpsync, "WARPSYNC", Wait, Warp, "", "lanes wait for the other lanes of the warp (PTX bar.warp.sync)") \
  X(Yield, "YIELD", Wait, Yield, "", "lanes wait until all other lanes of the block had their turn") \
  X(ShflPut, "SHFL.PUT", Put, Word, "b", "shows b to the warp and waits like WARPSYNC") \
  X(VotePut, "VOTE.PUT", Put, Vote, "q", "shows q to the warp and waits like WARPSYNC") \
  X(ShflGet, "SHFL.GET", GetWord, None, "da", "d = what thread a of the block showed last with SHFL.PUT") \
  X(VoteGet, "VOTE.GET", GetVote, None, "d", "d = what the lanes of the warp showed last with VOTE.PUT, a bit a lane") \
  X(Ldh, "LDH", LoadHost, None, "db", "d = the 32-bit word at host staging address b") \
  X(Cph, "CPH", CopyHost, None, "ab", "16 bytes at global address a = 16 bytes at host staging address b") \
  X(Out, "OUT", CopyOut, None, "m", "speaks the 32-bit word at global address m: device to host") \
  X(Stc, "STC", StoreConstant, None, "ab", "line a (of lane 0) of the constant bank = row b") \
  X(Tidx, "TIDX", ThreadIndex, None, "ab", "thread indices of quad a (of lane 0) = row b, x | y << 10 | z << 20") \
  X(Rcls, "RCLS", RegisterClass, None, "b", "threads have 16 << b registers") \
  X(Limit, "LIMIT", Limit, Global, "b", "global addresses from b on are not allocated (a multiple of 256)") \
  X(SharedLimit, "LIMIT.SHARED", Limit, Shared, "b", "shared addresses from b on are not allocated (a multiple of 256)") \
  X(Run, "RUN", Run, None, "b", "clears registers, predicates, program counters and shared memory and starts a block of b + 1 threads") \
  X(Resume, "RESUME", Resume, None, "", "the lanes that wait at a barrier go on") \
  X(Halt, "HALT", Halt, None, "", "the launch is over") \
  X(SetDevice, "cudaSetDevice", Tell, None, "b", "device, -, -, status") \
  X(StreamCreate, "cudaStreamCreate", Tell, None, "b", "stream, -, -, status") \
  X(ModuleLoad, "cuModuleLoadData", Tell, None, "b", "instructions, registers, shared bytes, status") \
  X(Malloc, "cudaMalloc", Tell, None, "b", "buffer, bytes, address, status") \
  X(CopyIn, "cudaMemcpyHostToDevice", Tell, None, "b", "address, host address, bytes, status") \
  X(Arguments, "kernelParameters", Tell, None, "b", "words, -, -, status") \
  X(Grid, "gridDim", Tell, None, "b", "x, y, z, status") \
  X(Block, "blockDim", Tell, None, "b", "x, y, z, status") \
  X(Resources, "resources", Tell, None, "b", "registers a thread, threads, register rows, status") \
  X(LocalMemory, "localMemory", Tell, None, "b", "bytes a thread, bytes, address, status") \
  X(LaunchKernel, "cudaLaunchKernel", Tell, None, "b", "-, -, shared bytes, status") \
  X(SharedAllocate, "allocateShared", Tell, None, "b", "bytes, -, address, status") \
  X(SharedFree, "freeShared", Tell, None, "b", "bytes, -, address, status") \
  X(Synchronize, "cudaStreamSynchronize", Tell, None, "b", "stream, -, -, status") \
  X(CopyBack, "cudaMemcpyDeviceToHost", Tell, None, "b", "address, buffer, bytes, status") \
  X(Free, "cudaFree", Tell, None, "b", "buffer, -, address, status") \
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
           unit == Unit::ThreadIndex || unit == Unit::Atomic;
  }
  // Accesses memory: the addresses of all four lanes are checked at once.
  constexpr bool accesses_memory() const {
    return unit == Unit::Load || unit == Unit::Store || unit == Unit::Atomic || unit == Unit::CopyOut ||
           unit == Unit::CopyHost;
  }
  // The executing lanes wait from then on.
  constexpr bool waits() const { return unit == Unit::Wait || unit == Unit::Put; }
  // Bytes that its address is a multiple of.
  constexpr int alignment() const {
    if (unit == Unit::CopyHost || mode == Mode::Word128) return 16;
    if (mode == Mode::Word64) return 8;
    if (mode == Mode::Half || mode == Mode::SignedHalf || mode == Mode::StoreHalf) return 2;
    return mode == Mode::Byte || mode == Mode::SignedByte || mode == Mode::StoreByte ? 1 : 4;
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
static_assert(op_count <= 256, "an opcode has 8 bits");

// The modifiers that an op may have (docs/machine.md, Floating point).
struct Modifiers {
  bool rounding = false, flush = false, saturate = false;
};
Modifiers modifiers_of(const OpInfo& op);

constexpr const OpInfo& info(Op op) { return op_table[static_cast<std::size_t>(op)]; }
std::optional<Op> find_op(std::string_view mnemonic);

// Sources of the B operand.
enum class BSource { Register = 0, Immediate = 1, Constant = 2, Special = 3 };

// X(name, "SPELLING", "meaning"): special registers, a B source.
#define QWENGPU_SPECIAL_REGISTERS(X)                                       \
  X(TidX, "SR_TID.X", "threadIdx.x (PTX %tid.x)") \
  X(TidY, "SR_TID.Y", "threadIdx.y") \
  X(TidZ, "SR_TID.Z", "threadIdx.z") \
  X(LaneId, "SR_LANEID", "lane of the 32-thread warp (PTX %laneid)") \
  X(WarpId, "SR_WARPID", "warp of the block (PTX %warpid)") \
  X(QuadLane, "SR_QUADLANE", "lane of the quad, 0 to 3") \
  X(Fault, "SR_FAULT", "CUDA error of the block that ran last, 0 if none") \
  X(Thread, "SR_THREAD", "number of the thread in its block")

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
  X(IllegalAddress, "illegal-address", 700, "cudaErrorIllegalAddress") \
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
  // It is that of an address, which is spoken after it.
  constexpr bool has_address() const { return fault != Fault::IllegalInstruction; }
};
inline constexpr std::array fault_table = {
#define X(name, spelling, code, cuda) FaultInfo{Fault::name, spelling, code, cuda},
    QWENGPU_FAULTS(X)
#undef X
};

// What SR_FAULT holds when a block has stopped because its lanes wait at named barriers: no CUDA error.
inline constexpr int stuck_code = 1023;

// What a lane can wait for.
enum class WaitKind { Barrier, Warp, Yield };
inline constexpr std::string_view wait_letters = "BWY";  // their names in tokens
constexpr WaitKind wait_kind(const OpInfo& op) {
  if (op.unit == Unit::Put || op.mode == Mode::Warp) return WaitKind::Warp;
  return op.mode == Mode::Yield ? WaitKind::Yield : WaitKind::Barrier;
}

// CUDA status codes that the firmware writes (driver_types.h).
enum class Status {
  Success = 0,
  MemoryAllocation = 2,
  InvalidConfiguration = 9,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
};
// "cudaSuccess", ...; "cudaError(N)" for a code this machine does not write.
std::string_view status_name(int code);

}  // namespace qwengpu::isa

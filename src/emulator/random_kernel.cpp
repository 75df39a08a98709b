#include "emulator/random_kernel.h"

#include <algorithm>
#include <random>

#include "isa/assembly.h"
#include "isa/parameters.h"

namespace qwengpu::emulator {
namespace {

using isa::BSource;
using isa::Instruction;
using isa::Op;
using isa::Parameters;
using isa::PredicateOperand;

// Registers with a purpose; the others are data.
constexpr int thread_id = 0;  // number of the thread in the grid
constexpr int first_counter = 1, max_loop_depth = 3;
constexpr int address = 4;
constexpr int first_data = 5;

// Arguments: constant bank addresses.
constexpr std::uint32_t input_argument = 0x40, output_argument = 0x44, state_argument = 0x48,
                        first_scalar = 0x4c;
constexpr int scalars = 5;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  // 0 .. count - 1. Not std::uniform_int_distribution: a seed means the same everywhere.
  int below(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomOptions& options) : random_(seed), options_(options) {}

  Case run() {
    choose_launch();
    choose_registers();
    prologue();
    if (options_.faults && random_.chance(6)) fault_at_ = random_.below(options_.instructions);
    const int size = random_.between(options_.instructions / 4, options_.instructions);
    while (static_cast<int>(code_.size()) < prologue_size_ + size) statement(0);
    epilogue();
    launch_.kernel.code = code_;
    launch_.kernel.registers = registers_;
    launch_.kernel.name = "random";
    launch_.kernel.parameter_bytes = 4 * static_cast<int>(launch_.arguments.size());
    if (options_.bad_launches && random_.chance(4)) spoil_launch();
    return launch_;
  }

 private:
  void choose_launch() {
    const int threads = random_.chance(4) ? random_.between(1, 40 * Parameters::lanes)
                                          : random_.between(1, options_.quads * Parameters::lanes);
    launch_.block = split(threads);
    launch_.grid = split(random_.chance(60) ? 1 : random_.between(1, 4));
    slot_words_ = random_.between(1, 4);
    input_words_ = 1 << random_.between(2, 5);

    CaseBuffer input{4u * static_cast<std::uint32_t>(input_words_), true, random_.chance(20), {}};
    for (int i = 0; i < input_words_; ++i) input.data.push_back(value());
    const std::uint32_t words = static_cast<std::uint32_t>(slot_words_) * launched_threads();
    CaseBuffer output{4 * words, false, true, {}};
    CaseBuffer state{4 * words, true, random_.chance(50), {}};
    for (std::uint32_t i = 0; i < words; ++i) state.data.push_back(value());
    launch_.buffers = {input, output, state};
    if (random_.chance(20))
      launch_.buffers.push_back(
          {static_cast<std::uint32_t>(random_.below(40)), false, random_.chance(50), {}});
    launch_.arguments = {{0, true}, {1, true}, {2, true}};
    for (int i = 0; i < scalars; ++i) launch_.arguments.push_back({value(), false});
  }

  // Three dimensions whose product is at most COUNT and more than half of it.
  std::array<std::uint32_t, 3> split(int count) {
    if (random_.chance(50)) return {static_cast<std::uint32_t>(count), 1, 1};
    const int x = random_.between(1, count);
    const int y = random_.between(1, count / x);
    const int z = std::min(count / x / y, 64);
    return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
  }

  std::uint32_t launched_threads() const {
    std::uint32_t threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) threads *= launch_.grid[axis] * launch_.block[axis];
    return threads;
  }

  void choose_registers() {
    registers_ = isa::registers_of_class(random_.below(Parameters::register_classes));
    for (int n = random_.between(4, 9); n > 0; --n)
      data_.push_back(random_.between(first_data, registers_ - 1));
    data_.push_back(registers_ - 1);
  }

  // Small numbers, edges and random words, integers and binary32.
  std::uint32_t value() {
    static const std::vector<std::uint32_t> edges = {
        0,      1,       31,         32,         33,         0xff,       0x100,
        0xffff, 0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
    switch (random_.below(6)) {
      case 0:
        return random_.of(edges);
      case 1:
        return random_.word();
      case 2:
      case 3:
        return float_value();
      case 4:
        return 0u - static_cast<std::uint32_t>(random_.below(40));
      default:
        return static_cast<std::uint32_t>(random_.below(70));
    }
  }

  // Corners of binary32, few bits, and numbers whose sums and products meet.
  std::uint32_t float_value() {
    static const std::vector<std::uint32_t> corners = {
        0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x33800000, 0x3effffff, 0x3f000000,
        0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x4affffff, 0x4b000001,
        0x4f000000, 0x4f7fffff, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
    const std::uint32_t sign = random_.chance(50) ? 0x80000000 : 0, fraction = random_.word() & 0x7fffff;
    const auto exponent = [&](int low, int high) {
      return static_cast<std::uint32_t>(random_.between(low, high)) << 23;
    };
    switch (random_.below(5)) {
      case 0:
        return sign | random_.of(corners);
      case 1:
        return sign | exponent(0, 255) | (fraction & fraction << random_.below(23));
      case 2:
        return sign | exponent(127, 150) | (fraction & 0x700000);  // half integers among them
      default:
        return sign | exponent(117, 160) | fraction;
    }
  }

  // Operands
  int source() { return random_.chance(8) ? isa::rz : random_.chance(8) ? thread_id : random_.of(data_); }
  int destination() { return random_.of(data_); }
  PredicateOperand any_predicate() {
    return {random_.chance(10) ? isa::pt : random_.below(Parameters::predicates), random_.chance(50)};
  }
  PredicateOperand guard() { return random_.chance(25) ? any_predicate() : PredicateOperand{}; }
  void choose_b(Instruction& i) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        i.b_source = BSource::Immediate;
        i.immediate = value();
        return;
      case 3:
        i.b_source = BSource::Constant;
        i.immediate = random_constant();
        return;
      case 4:
        i.b_source = BSource::Special;
        i.immediate = static_cast<std::uint32_t>(random_.below(static_cast<int>(isa::Special::QuadLane) + 1));
        return;
      default:
        i.rb = source();
    }
  }
  std::uint32_t random_constant() {
    static const std::vector<std::uint32_t> geometry = {0x0, 0x4, 0x8, 0x10, 0x14, 0x18, 0x20, 0x24, 0x28};
    return random_.chance(50) ? random_.of(geometry)
                              : first_scalar + 4 * static_cast<std::uint32_t>(random_.below(scalars));
  }

  // Instructions
  int here() const { return static_cast<int>(code_.size()); }
  Instruction& emit(const Instruction& instruction) { return code_.emplace_back(instruction); }
  Instruction& emit(Op op, int d, int a, BSource source, std::uint32_t immediate, int c = isa::rz) {
    Instruction i;
    i.op = op, i.rd = d, i.ra = a, i.rc = c, i.b_source = source, i.immediate = immediate;
    return emit(i);
  }
  // A branch whose target is set later.
  std::size_t emit_branch(PredicateOperand when, int target = 0) {
    Instruction i;
    i.op = Op::Bra, i.guard = when, i.target = target;
    emit(i);
    return code_.size() - 1;
  }
  void land(std::size_t branch) { code_[branch].target = here(); }
  // An op of a kernel whose table entry FITS.
  template <typename Fits>
  Op random_op(Fits fits) {
    while (true) {
      const auto& info = isa::op_table[static_cast<std::size_t>(random_.below(isa::op_count))];
      if (!info.privileged() && fits(info)) return info.op;
    }
  }

  // thread_id = the thread's number in the grid
  void prologue() {
    const int block = address;
    emit(Op::Mov, block, isa::rz, BSource::Constant, 0x28);
    emit(Op::Mov, thread_id, isa::rz, BSource::Constant, 0x24);
    emit(Op::Imad, block, block, BSource::Constant, 0x14, thread_id);
    emit(Op::Mov, thread_id, isa::rz, BSource::Constant, 0x20);
    emit(Op::Imad, block, block, BSource::Constant, 0x10, thread_id);  // number of the block
    // ((block * ntid.z + tid.z) * ntid.y + tid.y) * ntid.x + tid.x
    for (std::uint32_t axis : {2u, 1u, 0u}) {
      emit(Op::Mov, thread_id, isa::rz, BSource::Special, axis);
      emit(Op::Imad, block, block, BSource::Constant, 4 * axis, thread_id);
    }
    Instruction copy;
    copy.op = Op::Mov, copy.rd = thread_id, copy.rb = block;
    emit(copy);
    prologue_size_ = here();
  }

  void epilogue() {
    for (int n = 0; n < slot_words_; ++n) {
      own_address(output_argument);
      store(n, PredicateOperand{});
    }
    if (options_.faults && random_.chance(1)) return;  // runs into the empty words behind the kernel
    Instruction exit;
    exit.op = Op::Exit;
    emit(exit);
  }

  void statement(int depth) {
    if (fault_at_ >= 0 && here() - prologue_size_ >= fault_at_) {
      fault_at_ = -1;
      return faulting_statement();
    }
    const int kind = random_.below(100);
    if (kind < 45) return arithmetic();
    if (kind < 58) return predicate_statement();
    if (kind < 68) return load();
    if (kind < 76) return store_statement();
    if (kind < 77 && depth > 0) return exit_statement();
    if (kind < 88 && nesting_ < 4) return if_statement(depth);
    if (loop_depth_ < max_loop_depth && nesting_ < 4) return loop_statement(depth);
    arithmetic();
  }

  void block(int depth) {
    ++nesting_;
    for (int n = random_.between(1, 5); n > 0; --n) statement(depth + 1);
    --nesting_;
  }

  void arithmetic() {
    Instruction i;
    i.op = random_op(
        [](const isa::OpInfo& info) { return info.writes_register() && info.unit != isa::Unit::Load; });
    i.guard = guard();
    i.rd = destination();
    i.ra = source();
    choose_b(i);
    i.rc = source();
    i.pa = any_predicate();
    choose_modifiers(i);
    prepare_float(i);
    canonical(i);
    emit(i);
  }

  void predicate_statement() {
    Instruction i;
    i.op = random_op([](const isa::OpInfo& info) { return info.writes_predicate(); });
    i.guard = guard();
    i.pd = random_.below(Parameters::predicates);
    i.ra = source();
    choose_b(i);
    i.pa = any_predicate();
    i.pb = any_predicate();
    choose_modifiers(i);
    prepare_float(i);
    canonical(i);
    emit(i);
  }

  // What integer ops leave behind is a subnormal number or a NaN nearly always: operands of floating point
  // are made more interesting now and then.
  void prepare_float(Instruction& i) {
    if (!isa::info(i.op).has('N')) return;
    if (i.b_source == BSource::Immediate && random_.chance(60)) i.immediate = float_value();
    for (int number : {i.ra, i.rb, i.rc}) {
      if (number < first_data || number >= isa::rz || random_.chance(60)) continue;
      if (random_.chance(40)) {
        emit(Op::Mov, number, isa::rz, BSource::Immediate, float_value());
      } else {
        Instruction convert;
        convert.op = Op::I2fS, convert.rd = number, convert.rb = random_.chance(50) ? number : source();
        emit(convert);
      }
    }
  }

  void choose_modifiers(Instruction& i) {
    const isa::OpInfo& info = isa::info(i.op);
    const isa::Modifiers allowed = isa::modifiers_of(info);
    if (allowed.rounding && random_.chance(60)) i.rounding = static_cast<isa::Rounding>(random_.below(4));
    i.flush = allowed.flush && random_.chance(30);
    i.saturate = allowed.saturate && random_.chance(20);
    if (info.has('N')) {
      i.negate_a = random_.chance(30), i.absolute_a = random_.chance(20);
      i.negate_b = random_.chance(30), i.absolute_b = random_.chance(20);
      i.negate_c = info.has('c') && random_.chance(40);
    }
    if (info.has('l')) i.table = random_.below(256);
    // Fields and selectors of random words are out of range nearly always.
    if ((info.unit == isa::Unit::BitField || info.unit == isa::Unit::Permute) &&
        i.b_source == BSource::Immediate && random_.chance(70)) {
      const auto digit = [&](int count) { return static_cast<std::uint32_t>(random_.below(count)); };
      i.immediate = info.unit == isa::Unit::BitField ? digit(34) | digit(34) << 8 : digit(0x10000);
    }
  }

  // Fields that the instruction has no operand for keep their defaults, as the assembler leaves them.
  static void canonical(Instruction& i) {
    const isa::OpInfo& info = isa::info(i.op);
    const Instruction blank;
    if (!info.has('a')) i.ra = blank.ra;
    if (!info.has('b')) i.rb = blank.rb, i.b_source = blank.b_source, i.immediate = blank.immediate;
    if (!info.has('c')) i.rc = blank.rc;
    if (!info.has('q')) i.pa = blank.pa;
    if (!info.has('r')) i.pb = blank.pb;
  }

  void load() {
    if (random_.chance(60)) {
      Instruction pick;
      pick.op = Op::And, pick.rd = address, pick.ra = source(), pick.b_source = BSource::Immediate;
      pick.immediate = static_cast<std::uint32_t>(input_words_ - 1);
      emit(pick);
      emit(Op::Shl, address, address, BSource::Immediate, 2);
      emit(Op::Iadd, address, address, BSource::Constant, input_argument);
      return emit_load(0);
    }
    own_address(random_.chance(50) ? output_argument : state_argument);
    emit_load(random_.below(slot_words_));
  }
  void emit_load(int word) {
    Instruction i;
    i.op = Op::Ldg, i.guard = guard(), i.rd = destination(), i.ra = address,
    i.immediate = 4 * static_cast<std::uint32_t>(word);
    emit(i);
  }

  // The first of the thread's own words of a buffer.
  void own_address(std::uint32_t argument) {
    emit(Op::Imul, address, thread_id, BSource::Immediate, 4 * static_cast<std::uint32_t>(slot_words_));
    emit(Op::Iadd, address, address, BSource::Constant, argument);
  }
  void store_statement() {
    own_address(random_.chance(50) ? output_argument : state_argument);
    store(random_.below(slot_words_), guard());
  }
  void store(int word, PredicateOperand when) {
    Instruction i;
    i.op = Op::Stg, i.guard = when, i.ra = address, i.rb = source(),
    i.immediate = 4 * static_cast<std::uint32_t>(word);
    emit(i);
  }

  void exit_statement() {
    Instruction i;
    i.op = Op::Exit, i.guard = any_predicate();
    emit(i);
  }

  void if_statement(int depth) {
    if (random_.chance(60)) predicate_statement();
    const std::size_t skip = emit_branch(any_predicate());
    block(depth);
    if (random_.chance(40)) {
      const std::size_t end = emit_branch({});
      land(skip);
      block(depth);
      land(end);
    } else {
      land(skip);
    }
  }

  // counter = 1 to 4; do { ... break ... continue ... } while (--counter != 0)
  void loop_statement(int depth) {
    const int counter = first_counter + loop_depth_;
    if (random_.chance(50)) {
      emit(Op::Mov, counter, isa::rz, BSource::Immediate, static_cast<std::uint32_t>(random_.between(1, 4)));
    } else {
      emit(Op::And, counter, source(), BSource::Immediate, 3);  // the threads' own
      emit(Op::Iadd, counter, counter, BSource::Immediate, 1);
    }
    ++loop_depth_;
    const int top = here();
    std::vector<std::size_t> breaks, continues;
    for (int part = random_.between(1, 2); part > 0; --part) {
      block(depth);
      if (random_.chance(30)) breaks.push_back(emit_branch(any_predicate()));
      if (random_.chance(30)) continues.push_back(emit_branch(any_predicate()));
    }
    for (std::size_t branch : continues) land(branch);
    emit(Op::Iadd, counter, counter, BSource::Immediate, 0xffffffff);
    Instruction test;
    test.op = Op::SetpNe, test.pd = random_.below(Parameters::predicates), test.ra = counter,
    test.b_source = BSource::Immediate;
    emit(test);
    emit_branch({test.pd, false}, top);
    for (std::size_t branch : breaks) land(branch);
    --loop_depth_;
  }

  void faulting_statement() {
    static const std::vector<std::uint32_t> bad = {0, 4, 252, 0xfffffffc, 0x7ffffffc, 0x2a000, 0x29ffc};
    Instruction i;
    i.guard = guard();
    switch (random_.below(4)) {
      case 0:  // Addresses outside, by lane.
        emit(Op::Mov, address, isa::rz, BSource::Immediate, random_.of(bad));
        break;
      case 1:  // Misaligned
        own_address(state_argument);
        emit(Op::Iadd, address, address, BSource::Immediate,
             static_cast<std::uint32_t>(random_.between(1, 3)));
        break;
      case 2:  // Far outside, aligned or not as the data have it
        emit(Op::Or, address, source(), BSource::Immediate, 0x80000000);
        break;
      default:
        i.guard = {};
        emit(i);  // ILLEGAL
        return;
    }
    i.op = random_.chance(50) ? Op::Ldg : Op::Stg;
    i.ra = address;
    (i.op == Op::Ldg ? i.rd : i.rb) = destination();
    emit(i);
  }

  // A launch that CUDA refuses.
  void spoil_launch() {
    static const std::vector<std::array<std::uint32_t, 3>> grids = {
        {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 65536, 1}, {0x80000000, 1, 1}, {1, 1, 65536}};
    static const std::vector<std::array<std::uint32_t, 3>> blocks = {
        {0, 1, 1}, {1, 1, 0}, {1025, 1, 1}, {1, 1, 65}, {32, 33, 1}, {65536, 65536, 1}, {1, 0xffffffff, 1}};
    switch (random_.below(4)) {
      case 0:
        launch_.grid = random_.of(grids);
        return;
      case 1:
        launch_.block = random_.of(blocks);
        return;
      case 2:
        launch_.kernel.registers = 128;
        launch_.block = {static_cast<std::uint32_t>(random_.between(257, 1024)), 1, 1};
        return;
      default: {
        static const std::vector<std::uint32_t> sizes = {0x29e00, 0x2a001, 0x80000000, 0xfffffff0,
                                                         0xffffffff};
        CaseBuffer& buffer = random_.chance(50) ? launch_.buffers.emplace_back() : launch_.buffers[1];
        buffer.bytes = random_.of(sizes);  // the least does not fit beside the other buffers
      }
    }
  }

  Random random_;
  RandomOptions options_;
  Case launch_;
  std::vector<Instruction> code_;
  std::vector<int> data_;  // registers
  int registers_ = 16, slot_words_ = 1, input_words_ = 4, prologue_size_ = 0, fault_at_ = -1;
  int loop_depth_ = 0, nesting_ = 0;
};

}  // namespace

Case random_case(std::uint64_t seed, const RandomOptions& options) { return Generator(seed, options).run(); }

}  // namespace qwengpu::emulator

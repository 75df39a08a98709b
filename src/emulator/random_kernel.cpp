#include "emulator/random_kernel.h"

#include <algorithm>
#include <bit>

#include "emulator/random_values.h"
#include "isa/parameters.h"

namespace qwengpu::emulator {
namespace {

using isa::BSource;
using isa::Instruction;
using isa::Op;
using isa::Parameters;
using isa::PredicateOperand;
using isa::Special;

// Registers with a purpose; the others are data.
constexpr int thread_id = 0;  // number of the thread in the grid
constexpr int first_counter = 1, max_loop_depth = 3;
constexpr int address = 4, index = 5, other = 6;
constexpr int first_data = 7;

// Constant bank addresses of the arguments.
constexpr std::uint32_t input_argument = 0x40, output_argument = 0x44, state_argument = 0x48,
                        parts_argument = 0x4c, sums_argument = 0x50, common_argument = 0x54,
                        first_scalar = 0x58;
constexpr int scalars = 4;

// Words that several threads update, each by one op that gives the same in every order.
struct Sum {
  Op op;
  std::uint32_t first;
};
constexpr std::array sums{Sum{Op::RedAdd, 5},          Sum{Op::RedMinS, 100}, Sum{Op::RedMaxS, 0x80000000},
                          Sum{Op::RedMinU, 0xfffffff}, Sum{Op::RedMaxU, 0},   Sum{Op::RedAnd, 0xffffffff},
                          Sum{Op::RedOr, 0},           Sum{Op::RedXor, 77},   Sum{Op::RedInc, 3},
                          Sum{Op::RedDec, 4},          Sum{Op::RedFAdd, 0}};
constexpr std::uint32_t sum_bytes = 64;  // of shared memory, too; what is exchanged lies behind

// Of the words that all threads access at any time; a lock and a flag lie behind.
constexpr std::uint32_t common_bytes = 64, lock_offset = common_bytes, flag_offset = common_bytes + 4;

constexpr std::uint32_t named_table = Parameters::first_allocation;  // it is the first buffer

class Generator {
 public:
  Generator(std::uint64_t seed, const RandomOptions& options) : random_(seed), options_(options) {}

  Case run() {
    choose_launch();
    choose_registers();
    prologue();
    size_ = 2 * random_.between(options_.instructions / 4, options_.instructions);
    if (launched_quads() > 6) size_ = std::max(6, size_ * 6 / launched_quads());
    if (options_.faults && random_.chance(6)) fault_at_ = random_.below(std::max(1, size_ / 2));
    cost_ = 0;
    while (cost_ < size_) statement(0);
    epilogue();
    launch_.kernel.code = code_;
    launch_.kernel.registers = registers_;
    launch_.kernel.name = "random";
    launch_.kernel.parameter_bytes = 4 * static_cast<int>(launch_.arguments.size());
    if (uses_local_) launch_.kernel.local_bytes = local_bytes_;
    if (uses_shared_) {
      launch_.dynamic_shared =
          random_.chance(50) ? static_cast<std::uint32_t>(random_.below(shared_size() + 1)) : 0;
      launch_.kernel.shared_bytes = shared_size() - static_cast<int>(launch_.dynamic_shared);
    }
    if (has_named_ && random_.chance(90)) launch_.kernel.named_barriers = named_table;
    if (options_.bad_launches && random_.chance(4)) spoil_launch();
    return launch_;
  }

 private:
  // The launch
  void choose_launch() {
    const int most = Parameters::lanes * options_.quads;
    const bool many = random_.chance(2);
    const int threads = many                 ? random_.between(1, Parameters::max_threads)
                        : random_.chance(55) ? random_.between(1, std::min(most, 3 * Parameters::lanes))
                                             : random_.between(1, most);
    launch_.block = split(threads);
    launch_.grid = split(threads > 400 || random_.chance(60) ? 1 : random_.between(1, 4));
    slot_words_ = threads > 400 ? random_.between(1, 2) : random_.of(std::vector{1, 2, 3, 4, 4});
    local_bytes_ = 16 * random_.between(1, 3);
    input_words_ = 1 << random_.between(2, 5);
    shared_words_ = static_cast<int>(std::bit_ceil(block_threads()));
    has_named_ = options_.races && random_.chance(30);

    const auto add = [&](const CaseBuffer& buffer) {
      launch_.arguments.push_back({static_cast<std::uint32_t>(launch_.buffers.size()), true});
      launch_.buffers.push_back(buffer);
    };
    const auto fill = [&](CaseBuffer buffer) {
      for (std::uint32_t n = 0; n < buffer.bytes / 4; ++n) buffer.data.push_back(random_.value());
      return buffer;
    };
    if (has_named_) launch_.buffers.push_back({256, false, random_.chance(20), {}});
    const std::uint32_t slots = 4 * static_cast<std::uint32_t>(slot_words_) * launched_threads();
    add(fill({4u * static_cast<std::uint32_t>(input_words_), true, random_.chance(20), {}}));
    add({slots, false, true, {}});
    add(fill({slots, true, random_.chance(50), {}}));
    add({3 * launched_threads(), false, random_.chance(50), {}});
    CaseBuffer summed{4 * sums.size(), true, random_.chance(50), {}};
    for (const Sum& sum : sums) summed.data.push_back(sum.first);
    add(summed);
    CaseBuffer common{common_bytes + 8, true, random_.chance(50), {}};
    for (std::uint32_t n = 0; n < common_bytes / 4; ++n) common.data.push_back(random_.value());
    common.data.resize(common.bytes / 4);
    if (options_.races)
      add(common);
    else
      launch_.arguments.push_back({0, false});
    if (random_.chance(20))
      launch_.buffers.push_back(
          {static_cast<std::uint32_t>(random_.below(40)), false, random_.chance(50), {}});
    for (int i = 0; i < scalars; ++i) launch_.arguments.push_back({random_.value(), false});
  }

  // Three dimensions whose product is at most COUNT and more than half of it.
  std::array<std::uint32_t, 3> split(int count) {
    if (random_.chance(50)) return {static_cast<std::uint32_t>(count), 1, 1};
    const int x = random_.between(1, count);
    const int y = random_.between(1, count / x);
    const int z = std::min(count / x / y, 64);
    return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
  }

  static std::uint32_t product(const std::array<std::uint32_t, 3>& d) { return d[0] * d[1] * d[2]; }
  std::uint32_t block_threads() const { return product(launch_.block); }
  std::uint32_t launched_threads() const { return product(launch_.grid) * block_threads(); }
  int launched_quads() const {
    return static_cast<int>(product(launch_.grid) *
                            ((block_threads() + Parameters::lanes - 1) / Parameters::lanes));
  }
  int shared_size() const { return static_cast<int>(sum_bytes) + 4 * shared_words_; }

  void choose_registers() {
    int most = Parameters::register_classes;  // that fit
    while (static_cast<int>((block_threads() + 3) / 4) * isa::registers_of_class(most - 1) >
           Parameters::register_rows)
      --most;
    registers_ = isa::registers_of_class(random_.below(most));
    for (int n = random_.between(4, 9); n > 0; --n)
      data_.push_back(random_.between(first_data, registers_ - 1));
    data_.push_back(registers_ - 1);
  }

  // Operands
  int source() { return random_.chance(8) ? isa::rz : random_.chance(8) ? thread_id : random_.of(data_); }
  int destination() { return random_.of(data_); }
  PredicateOperand any_predicate() {
    return {random_.chance(10) ? isa::pt : random_.below(Parameters::predicates), random_.chance(50)};
  }
  PredicateOperand guard() { return random_.chance(25) ? any_predicate() : PredicateOperand{}; }
  // Of an instruction that other threads rely on.
  PredicateOperand racing_guard() { return options_.races ? guard() : PredicateOperand{}; }
  void choose_b(Instruction& i) {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        i.b_source = BSource::Immediate;
        i.immediate = random_.value();
        return;
      case 3:
        i.b_source = BSource::Constant;
        i.immediate = random_constant();
        return;
      case 4:
        i.b_source = BSource::Special;
        i.immediate = static_cast<std::uint32_t>(random_.below(static_cast<int>(isa::special_table.size())));
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
  Instruction& emit(const Instruction& instruction) {
    cost_ += times_;
    return code_.emplace_back(instruction);
  }
  Instruction& emit(Op op, int d, int a, BSource source, std::uint32_t immediate, int c = isa::rz) {
    Instruction i;
    i.op = op, i.rd = d, i.ra = a, i.rc = c, i.b_source = source, i.immediate = immediate;
    return emit(i);
  }
  Instruction& emit_immediate(Op op, int d, int a, std::uint32_t b) {
    return emit(op, d, a, BSource::Immediate, b);
  }
  Instruction& emit_registers(Op op, int d, int a, int b) {
    Instruction& i = emit(op, d, a, BSource::Register, 0);
    i.rb = b;
    return i;
  }
  Instruction& emit_memory(Op op, int d, int base, std::uint32_t offset, int b = isa::rz, int c = isa::rz) {
    Instruction& i = emit_registers(op, d, base, b);
    i.immediate = offset, i.rc = c;
    return i;
  }
  Instruction& emit_special(int d, Special special) {
    return emit(Op::Mov, d, isa::rz, BSource::Special, static_cast<std::uint32_t>(special));
  }
  void emit_argument(int d, std::uint32_t argument) {
    emit(Op::Mov, d, isa::rz, BSource::Constant, argument);
  }
  Instruction& emit_plain(Op op, PredicateOperand when = {}) {
    Instruction i;
    i.op = op, i.guard = when;
    return emit(i);
  }
  // A predicate that tells whether A is not (or is) equal to register B.
  PredicateOperand emit_test(Op op, int a, int b) {
    Instruction i;
    i.op = op, i.pd = random_.below(Parameters::predicates), i.ra = a, i.rb = b;
    emit(i);
    return {i.pd, false};
  }
  // A branch whose target is set later.
  std::size_t emit_branch(PredicateOperand when, int target = 0) {
    emit_plain(Op::Bra, when).target = target;
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
    if (random_.chance(50)) {
      emit_immediate(Op::Imul, block, block, block_threads());
      emit(Op::Iadd, thread_id, block, BSource::Special, static_cast<std::uint32_t>(Special::Thread));
    } else {
      // ((block * ntid.z + tid.z) * ntid.y + tid.y) * ntid.x + tid.x
      for (std::uint32_t axis : {2u, 1u, 0u}) {
        emit(Op::Mov, thread_id, isa::rz, BSource::Special, axis);
        emit(Op::Imad, block, block, BSource::Constant, 4 * axis, thread_id);
      }
      emit_registers(Op::Mov, thread_id, isa::rz, block);
    }
  }

  void epilogue() {
    own_slot(output_argument);
    for (int n = 0; n < slot_words_; ++n)
      emit_memory(Op::St, isa::rz, address, 4 * static_cast<std::uint32_t>(n), source());
    if (options_.faults && random_.chance(1)) return;  // runs into the empty words behind the kernel
    emit_plain(Op::Exit);
  }

  void statement(int depth) {
    if (fault_at_ >= 0 && cost_ >= fault_at_) {
      fault_at_ = -1;
      return faulting_statement();
    }
    const int kind = random_.below(100);
    if (kind < 38) return arithmetic();
    if (kind < 48) return predicate_statement();
    if (kind < 63) return memory_statement();
    if (kind < 76) return waiting_statement();
    if (kind < 77 && depth > 0) return exit_statement();
    if (kind < 88 && nesting_ < 4) return if_statement(depth);
    if (loop_depth_ < max_loop_depth && nesting_ < 4 && cost_ + 8 * times_ < size_)
      return divergent_ == 0 && random_.chance(50) ? uniform_loop(depth) : loop_statement(depth);
    arithmetic();
  }

  void block(int depth) {
    ++nesting_;
    for (int n = random_.between(1, 5); n > 0 && cost_ < size_ + 3 * times_; --n) statement(depth + 1);
    --nesting_;
  }
  void divergent_block(int depth) {
    ++divergent_;
    block(depth);
    --divergent_;
  }

  // Arithmetic
  void arithmetic() {
    Instruction i;
    i.op = random_op(
        [](const isa::OpInfo& info) { return info.writes_register() && info.unit < isa::Unit::Load; });
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
    if (i.b_source == BSource::Immediate && random_.chance(60)) i.immediate = random_.float_value();
    for (int number : {i.ra, i.rb, i.rc}) {
      if (number < first_data || number >= isa::rz || random_.chance(60)) continue;
      if (random_.chance(40))
        emit_immediate(Op::Mov, number, isa::rz, random_.float_value());
      else
        emit_registers(Op::I2fS, number, isa::rz, random_.chance(50) ? number : source());
    }
  }

  void choose_modifiers(Instruction& i) {
    const isa::OpInfo& info = isa::info(i.op);
    const isa::Modifiers allowed = isa::modifiers_of(info);
    if (allowed.rounding && random_.chance(60)) i.rounding = static_cast<isa::Rounding>(random_.below(4));
    i.flush = allowed.flush && random_.chance(30);
    i.saturate = allowed.saturate && random_.chance(20);
    if (info.has('N')) {
      i.negate_a = random_.chance(40), i.absolute_a = random_.chance(30);
      i.negate_b = random_.chance(40), i.absolute_b = random_.chance(30);
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
    if (!info.has('d')) i.rd = blank.rd;
    if (!info.reads_a()) i.ra = blank.ra;
    if (!info.has('b')) i.rb = blank.rb, i.b_source = blank.b_source;
    if (!info.has('b') && !info.has('m')) i.immediate = blank.immediate;
    if (!info.has('c')) i.rc = blank.rc;
    if (!info.has('q')) i.pa = blank.pa;
    if (!info.has('r')) i.pb = blank.pb;
  }

  // Memory
  void memory_statement() {
    switch (random_.below(options_.races ? 13 : 9)) {
      case 0:
      case 1: {
        const Op op = access_op([](const isa::OpInfo& info) { return info.unit == isa::Unit::Load; });
        within(4 * static_cast<std::uint32_t>(input_words_), isa::info(op).alignment());
        emit(Op::Iadd, address, address, BSource::Constant, input_argument);
        return access(op, 0);
      }
      case 2:
      case 3:
      case 4: {
        own_slot(random_.chance(50) ? output_argument : state_argument);
        const int bytes = 4 * slot_words_;
        const Op op = access_op([&](const isa::OpInfo& info) { return bytes % info.alignment() == 0; });
        return access(op, random_offset(bytes, isa::info(op).alignment()));
      }
      case 5:
      case 6: {
        uses_local_ = true;
        emit_special(index, Special::Thread);
        emit_immediate(Op::Imul, address, index, static_cast<std::uint32_t>(local_bytes_));
        emit(Op::Iadd, address, address, BSource::Constant, isa::constant::local);
        const Op op = access_op([](const isa::OpInfo&) { return true; });
        return access(op, random_offset(local_bytes_, isa::info(op).alignment()));
      }
      case 7: {  // a half and a byte for each thread: neighbours in one word
        const int width = random_.between(1, 2);
        const Op op = access_op([&](const isa::OpInfo& info) { return info.alignment() == width; });
        if (width == 2)
          emit_immediate(Op::Shl, address, thread_id, 1);
        else
          emit_immediate(Op::Iadd, address, thread_id, 2 * launched_threads());
        emit(Op::Iadd, address, address, BSource::Constant, parts_argument);
        return access(op, 0);
      }
      case 8:
        emit_argument(address, sums_argument);
        return add_to_sum(random_.below(static_cast<int>(sums.size())), address, 0);
      case 9:
      case 10: {
        uses_shared_ = true;
        const Op op = access_op([](const isa::OpInfo&) { return true; });
        within(4 * static_cast<std::uint32_t>(shared_words_), isa::info(op).alignment());
        return access(op, Parameters::shared_window + sum_bytes);
      }
      default: {
        const Op op = access_op([](const isa::OpInfo&) { return true; });
        within(common_bytes, isa::info(op).alignment());
        emit(Op::Iadd, address, address, BSource::Constant, common_argument);
        return access(op, 0);
      }
    }
  }

  // address = any multiple of ALIGNMENT below BYTES, a power of two
  void within(std::uint32_t bytes, int alignment) {
    emit_immediate(Op::And, address, source(), bytes - static_cast<std::uint32_t>(alignment));
  }
  // address = the first of the thread's own words of a buffer
  void own_slot(std::uint32_t argument) {
    emit_immediate(Op::Imul, address, thread_id, 4 * static_cast<std::uint32_t>(slot_words_));
    emit(Op::Iadd, address, address, BSource::Constant, argument);
  }
  std::uint32_t random_offset(int bytes, int alignment) {
    return static_cast<std::uint32_t>(alignment * random_.below(bytes / alignment));
  }

  template <typename Fits>
  Op access_op(Fits fits) {
    // As many loads and stores as atomic operations, of which there are more kinds.
    const bool atomic = random_.chance(45);
    return random_op([&](const isa::OpInfo& info) {
      const bool part = info.op == Op::St8 || info.op == Op::St16;
      return info.accesses_memory() && fits(info) &&
             ((info.unit == isa::Unit::Atomic && !part) == atomic || info.alignment() < 4 ||
              !fits(isa::info(Op::RedAdd)));
    });
  }
  // At address + OFFSET.
  void access(Op op, std::uint32_t offset) {
    const isa::OpInfo& info = isa::info(op);
    Instruction i;
    i.op = op, i.guard = guard(), i.rd = destination(), i.ra = address, i.rb = source(), i.rc = source();
    i.immediate = offset;
    i.flush = isa::modifiers_of(info).flush && random_.chance(30);
    if (info.has('F') && i.rb >= first_data && i.rb < isa::rz && random_.chance(70))
      emit_immediate(Op::Mov, i.rb, isa::rz, random_.float_value());
    canonical(i);
    emit(i);
  }

  // Sum n, at base + offset + 4 n. FADD adds small integers, INC and DEC have one b: the order does not
  // matter.
  void add_to_sum(int n, int base, std::uint32_t offset) {
    const Op op = sums[static_cast<std::size_t>(n)].op;
    int b = source();
    if (op == Op::RedFAdd) {
      emit_immediate(Op::And, index, b, 15);
      emit_registers(Op::I2fS, index, isa::rz, index);
      b = index;
    } else if (op == Op::RedInc || op == Op::RedDec) {
      emit_immediate(Op::Mov, index, isa::rz, 9);
      b = index;
    }
    Instruction& i = emit_memory(op, isa::rz, base, offset + 4 * static_cast<std::uint32_t>(n), b);
    i.guard = guard();
    i.flush = op == Op::RedFAdd && random_.chance(30);
  }

  // Waiting
  void waiting_statement() {
    const bool together = divergent_ == 0;  // all living threads of the block come here
    const bool apart = options_.races && random_.chance(30);
    switch (random_.below(options_.races ? 13 : 8)) {
      case 0:
        emit_plain(Op::Yield, guard());
        return;
      case 1:
        return some_wait(guard());
      case 2:
        emit_plain(together || apart ? Op::Bar : Op::Yield, racing_guard());
        return;
      case 3:
      case 4:
        return together || apart ? exchange() : memory_statement();
      case 5:
        return together || apart ? exchange_sum() : memory_statement();
      case 6:
      case 7:
        return together || options_.races ? shuffle() : arithmetic();
      case 8:
      case 9:
        return lock_statement();
      case 10:
        return spin_statement();
      default:
        return has_named_ && (together || apart) ? named_barrier() : shuffle();
    }
  }

  // A lane that comes round a loop meets before one that waits further on in it: not together with a put in
  // that loop.
  void some_wait(PredicateOperand when) {
    emit_plain(options_.races || uniform_loops_ == 0 ? Op::Warpsync : Op::Yield, when);
  }

  // All threads, or with races now and then only the warp, or nobody, wait for one another.
  void meet() {
    if (!options_.races || random_.chance(70))
      emit_plain(Op::Bar);
    else if (random_.chance(70))
      emit_plain(Op::Warpsync);
  }

  // Each thread changes its word of shared memory, then reads that of another.
  void exchange() {
    uses_shared_ = true;
    const auto small = [](const isa::OpInfo& info) { return info.alignment() <= 4; };
    constexpr std::uint32_t words = Parameters::shared_window + sum_bytes;
    emit_special(index, Special::Thread);
    emit_immediate(Op::Shl, address, index, 2);
    const Op change =
        access_op([&](const isa::OpInfo& info) { return small(info) && info.unit != isa::Unit::Load; });
    access(change, words + random_offset(4, isa::info(change).alignment()));
    meet();
    const Op read =
        access_op([&](const isa::OpInfo& info) { return small(info) && info.unit == isa::Unit::Load; });
    within(4 * static_cast<std::uint32_t>(shared_words_), 4);
    access(read, words + random_offset(4, isa::info(read).alignment()));
    meet();
  }

  // All threads add to a sum in shared memory, then read it.
  void exchange_sum() {
    uses_shared_ = true;
    const int n = random_.below(static_cast<int>(sums.size()));
    add_to_sum(n, isa::rz, Parameters::shared_window);
    meet();
    emit_memory(Op::Ld, destination(), isa::rz, Parameters::shared_window + 4 * static_cast<std::uint32_t>(n))
        .guard = guard();
    meet();
  }

  void shuffle() {
    if (random_.chance(30)) {  // so that they do not come at once
      emit_immediate(Op::And, index, thread_id, random_.of(std::vector<std::uint32_t>{1, 2, 4, 7, 8, 16}));
      const PredicateOperand some = emit_test(Op::SetpEq, index, isa::rz);
      some_wait({some.index, random_.chance(50)});
      if (random_.chance(50)) emit_plain(Op::Yield, {some.index, random_.chance(50)});
    }
    Instruction put;
    put.op = random_.chance(50) ? Op::ShflPut : Op::VotePut;
    put.guard = racing_guard();
    choose_b(put);
    put.pa = any_predicate();
    canonical(put);
    emit(put);
    for (int n = random_.below(3); n > 0; --n) arithmetic();
    for (int n = random_.between(1, 2); n > 0; --n) {
      if (random_.chance(30) == (put.op == Op::ShflPut)) {
        emit_registers(Op::VoteGet, destination(), isa::rz, isa::rz).guard = guard();
        continue;
      }
      int from = source();
      if (!options_.races || random_.chance(70)) {  // of the same warp
        emit_immediate(Op::And, index, from, Parameters::warp_lanes - 1);
        emit_special(other, Special::Thread);
        emit_immediate(Op::And, other, other, 0u - Parameters::warp_lanes);
        emit_registers(Op::Or, index, index, other);
        from = index;
      }
      emit_registers(Op::ShflGet, destination(), from, isa::rz).guard = guard();
    }
    if (!options_.races || random_.chance(70)) emit_plain(Op::Warpsync);
  }

  // One thread at a time; nobody waits while it has the lock.
  void lock_statement() {
    const int top = here();
    emit_immediate(Op::Mov, index, isa::rz, 1);
    emit_argument(address, common_argument);
    emit_memory(Op::AtomCas, other, address, lock_offset, isa::rz, index);
    const PredicateOperand taken = emit_test(Op::SetpNe, other, isa::rz);
    emit_plain(Op::Yield, taken);
    emit_branch(taken, top);
    for (int n = random_.between(1, 3); n > 0; --n) random_.chance(50) ? arithmetic() : memory_statement();
    emit_argument(address, common_argument);
    emit_memory(random_.chance(50) ? Op::AtomExch : Op::AtomAnd, other, address, lock_offset);
  }

  // Waits some turns for a flag that another thread may set.
  void spin_statement() {
    if (random_.chance(40)) {
      emit_argument(address, common_argument);
      emit_memory(Op::St, isa::rz, address, flag_offset, source()).guard = guard();
      return;
    }
    emit_immediate(Op::Mov, other, isa::rz, static_cast<std::uint32_t>(random_.between(1, 4)));
    const int top = here();
    emit_plain(Op::Yield, guard());
    emit_argument(address, common_argument);
    emit_memory(Op::Ld, index, address, flag_offset);
    emit_immediate(Op::Iadd, other, other, 0xffffffff);
    emit_immediate(Op::IminU, index, index, 1);
    emit_immediate(Op::Xor, index, index, 1);  // 1: not set
    emit_registers(Op::IminU, index, index, other);
    emit_branch(emit_test(Op::SetpNe, index, isa::rz), top);
  }

  // The protocol of docs/machine.md, Waiting: mostly for all threads of the block, sometimes for fewer.
  void named_barrier() {
    const auto number = static_cast<std::uint32_t>(random_.below(3));
    emit_immediate(Op::Mov, address, isa::rz, named_table + 16 * number);
    emit_memory(Op::Ld, other, address, 8);
    const auto threads = static_cast<int>(block_threads());
    emit_immediate(Op::Mov, index, isa::rz,
                   static_cast<std::uint32_t>(random_.chance(70) ? threads : random_.between(1, threads)));
    emit_memory(Op::St, isa::rz, address, 4, index);
    emit_immediate(Op::Mov, index, isa::rz, 1);
    emit_memory(Op::RedAdd, isa::rz, address, 0, index);
    const int top = here();
    emit_plain(Op::BarNamed);
    emit_memory(Op::Ld, index, address, 8);
    emit_branch(emit_test(Op::SetpEq, index, other), top);
  }

  // Control flow
  void exit_statement() { emit_plain(Op::Exit, any_predicate()); }

  void if_statement(int depth) {
    if (random_.chance(60)) predicate_statement();
    const std::size_t skip = emit_branch(any_predicate());
    divergent_block(depth);
    if (random_.chance(40)) {
      const std::size_t end = emit_branch({});
      land(skip);
      divergent_block(depth);
      land(end);
    } else {
      land(skip);
    }
  }

  // counter = 1 to 4; do { ... break ... continue ... } while (--counter != 0)
  void loop_statement(int depth) {
    const int counter = first_counter + loop_depth_;
    if (random_.chance(50)) {
      emit_immediate(Op::Mov, counter, isa::rz, static_cast<std::uint32_t>(random_.between(1, 4)));
    } else {
      emit_immediate(Op::And, counter, source(), 3);  // the threads' own
      emit_immediate(Op::Iadd, counter, counter, 1);
    }
    const int top = begin_loop();
    std::vector<std::size_t> breaks, continues;
    for (int part = random_.between(1, 2); part > 0; --part) {
      divergent_block(depth);
      if (random_.chance(30)) breaks.push_back(emit_branch(any_predicate()));
      if (random_.chance(30)) continues.push_back(emit_branch(any_predicate()));
    }
    for (std::size_t branch : continues) land(branch);
    end_loop(counter, top);
    for (std::size_t branch : breaks) land(branch);
  }

  // All threads go round as often.
  void uniform_loop(int depth) {
    const int counter = first_counter + loop_depth_;
    emit_immediate(Op::Mov, counter, isa::rz, static_cast<std::uint32_t>(random_.between(1, 3)));
    ++uniform_loops_;
    const int top = begin_loop();
    block(depth);
    end_loop(counter, top);
    --uniform_loops_;
  }

  int begin_loop() {
    ++loop_depth_;
    times_ *= 2;
    return here();
  }
  void end_loop(int counter, int top) {
    emit_immediate(Op::Iadd, counter, counter, 0xffffffff);
    emit_branch(emit_test(Op::SetpNe, counter, isa::rz), top);
    --loop_depth_;
    times_ /= 2;
  }

  // What goes wrong
  void faulting_statement() {
    static const std::vector<std::uint32_t> bad = {0,          4,         252,       0xfffffffc,
                                                   0x7ffffffc, 0x1e000,   0x3ff00,   0xfffffc,
                                                   0x100c000,  0x2000000, 0x5000000, 0x81000000};
    if (random_.chance(15)) {
      emit_plain(Op::Illegal);
      return;
    }
    const Op op = access_op([](const isa::OpInfo&) { return true; });
    std::uint32_t offset = 0;
    switch (random_.below(4)) {
      case 0:  // Addresses outside.
        emit_immediate(Op::Mov, address, isa::rz, random_.of(bad));
        break;
      case 1:  // The first one that is not shared memory.
        emit_immediate(Op::Mov, address, isa::rz,
                       (static_cast<std::uint32_t>(shared_size()) + 255) / 256 * 256);
        offset = Parameters::shared_window;
        break;
      case 2:  // Misaligned, in some lanes.
        own_slot(state_argument);
        emit_immediate(Op::And, index, source(), isa::info(op).alignment() == 2 ? 1 : 3);
        emit_registers(Op::Iadd, address, address, index);
        break;
      default:  // Far outside, aligned or not as the data have it.
        emit_immediate(Op::Or, address, source(), 0x80000000);
    }
    access(op, offset);
  }

  // A launch that CUDA refuses.
  void spoil_launch() {
    static const std::vector<std::array<std::uint32_t, 3>> grids = {
        {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1, 65536, 1}, {0x80000000, 1, 1}, {1, 1, 65536}};
    static const std::vector<std::array<std::uint32_t, 3>> blocks = {
        {0, 1, 1}, {1, 1, 0}, {1025, 1, 1}, {1, 1, 65}, {32, 33, 1}, {65536, 65536, 1}, {1, 0xffffffff, 1}};
    switch (random_.below(6)) {
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
      case 3:
        launch_.kernel.shared_bytes = 4 * random_.between(1, 100);
        launch_.dynamic_shared =
            random_.of(std::vector<std::uint32_t>{0xc000, 0xbffd, 0x80000000, 0xfffffff0, 0xffffffff});
        return;
      case 4:
        launch_.kernel.local_bytes = random_.of(std::vector{0x1dff0, 0x1e000, 0x1e010, 0x7ffffff0});
        return;
      default: {
        static const std::vector<std::uint32_t> sizes = {0x1df00, 0x1e001, 0x80000000, 0xfffffff0,
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
  int registers_ = 16, slot_words_ = 1, input_words_ = 4, shared_words_ = 1, local_bytes_ = 16;
  int fault_at_ = -1;
  int size_ = 0, cost_ = 0,
      times_ = 1;  // instructions that are executed, about: to be, so far, of each one that comes now
  bool uses_shared_ = false, uses_local_ = false, has_named_ = false;
  int loop_depth_ = 0, nesting_ = 0;
  int divergent_ = 0,
      uniform_loops_ = 0;  // constructs around that some threads leave out, that all go through
};

}  // namespace

Case random_case(std::uint64_t seed, const RandomOptions& options) { return Generator(seed, options).run(); }

std::vector<Case> random_sequence(std::uint64_t seed, int launches, const RandomOptions& options) {
  const Case launch = random_case(seed, options);
  Random random(seed);
  std::vector<Case> sequence;
  std::vector<bool> kept(launch.buffers.size());
  for (int n = 0; n < launches; ++n) {
    Case next = launch;
    for (std::size_t b = 0; b < kept.size(); ++b) {
      CaseBuffer& buffer = next.buffers[b];
      buffer.again = kept[b];
      buffer.keep = kept[b] = random.chance(60);
      const bool has_lock = buffer.bytes == common_bytes + 8;  // which has to be open at first
      if (!buffer.again || has_lock || random.chance(30)) continue;
      buffer.copy_in = false;
      buffer.data.clear();
    }
    sequence.push_back(next);
  }
  return sequence;
}

}  // namespace qwengpu::emulator

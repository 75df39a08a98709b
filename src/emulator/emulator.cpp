#include "emulator/emulator.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/arithmetic.h"
#include "isa/firmware.h"
#include "isa/rows.h"

namespace qwengpu::emulator {
namespace {

using isa::Unit;

constexpr int all_lanes = (1 << lanes) - 1;
constexpr std::uint32_t limit_bits = 0x3ff00;  // that LIMIT takes: a multiple of 256 below 256 KiB
constexpr int quads_of_warp = Parameters::warp_lanes / lanes;

constexpr bool in(int mask, std::size_t lane) { return (mask >> lane & 1) != 0; }

std::uint32_t word_at(const std::vector<Row>& lines, std::uint32_t address) {
  return lines[address / 16 % lines.size()][address / 4 % 4];
}

}  // namespace

std::vector<Emulator::Decoded> Emulator::decode_all(const std::vector<isa::Instruction>& code) {
  std::vector<Decoded> result;
  for (const isa::Instruction& instruction : code) {
    result.push_back({instruction, isa::info(instruction.op)});
    // The guard field of the empty word is 0, which is P0: so says the op token that precedes its fault.
    if (instruction.op == isa::Op::Illegal) result.back().instruction.guard = {0, false};
  }
  return result;
}

Emulator::Emulator(std::span<const int> prompt)
    : prompt_(parse_prompt(prompt)),
      kernel_(decode_all(prompt_.code)),
      firmware_(decode_all(isa::firmware())) {
  state_.host = prompt_.host;
  firmware_.resize(Parameters::firmware_instructions, decode_all({isa::Instruction{}}).front());
  say(ids_.system);
}

void Emulator::next_launch(std::span<const int> prompt) {
  if (!halted_ || taken_ != spoken_)
    throw std::invalid_argument("a prompt stands before the <END> of the launch before it");
  prompt_ = parse_prompt(prompt);
  kernel_ = decode_all(prompt_.code);
  state_.host = prompt_.host;
  state_.system_registers = {};
  state_.system_predicates = {};
  state_.system_pc = 0;
  halted_ = false;
  spoken_ = taken_ = 0;
  say(ids_.system);
}

void Emulator::step() {
  spoken_ = taken_ = 0;
  if (system()) {
    const int pc = state_.system_pc;
    say(ids_.firmware_pc[static_cast<std::size_t>(pc)]);
    return execute(firmware_[static_cast<std::size_t>(pc)], all_lanes);
  }
  const int runnable = runnable_lanes(state_.quad);
  if (runnable == 0) return leave_quad();
  const QuadState& quad = state_.quads[static_cast<std::size_t>(state_.quad)];
  const int pc = lowest_pc(quad, runnable);
  int mask = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (in(runnable, lane) && quad.pc[lane] == pc) mask |= 1 << lane;
  say(ids_.pc[static_cast<std::size_t>(pc)]);
  execute(kernel_[static_cast<std::size_t>(pc)], mask);
}

int Emulator::lowest_pc(const QuadState& quad, int mask) {
  int lowest = Parameters::instructions;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (in(mask, lane)) lowest = std::min(lowest, quad.pc[lane]);
  return lowest;
}

int Emulator::living_lanes(int number) const {
  const QuadState& quad = state_.quads[static_cast<std::size_t>(number)];
  int living = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (!quad.dead[lane] && lanes * number + static_cast<int>(lane) <= state_.last_thread)
      living |= 1 << lane;
  return living;
}

int Emulator::runnable_lanes(int number) const {
  int runnable = living_lanes(number);
  for (const int waiting : state_.quads[static_cast<std::size_t>(number)].waits) runnable &= ~waiting;
  return runnable;
}

void Emulator::execute(const Decoded& decoded, int mask) {
  const isa::Instruction& i = decoded.instruction;
  const Unit unit = decoded.info.unit;
  const int exec = mask & predicate(i.guard);
  say(ids_.op[static_cast<std::size_t>(i.op)][static_cast<std::size_t>(mask)]
             [static_cast<std::size_t>(exec)]);
  advance(i, mask, exec);
  if (unit == Unit::Illegal) return raise(isa::Fault::IllegalInstruction, 0);
  if (exec == 0) return;

  const Row a = read_register(i.ra);
  const Row b = read_b(i);
  Row address = a;
  if (decoded.info.has('m'))
    for (std::uint32_t& lane_address : address) lane_address += i.immediate;
  if (decoded.info.accesses_memory() && !check_addresses(decoded, exec, address)) return;

  switch (unit) {
    case Unit::Branch:
    case Unit::Exit:
      return;  // advance() has done it
    case Unit::Compare:
    case Unit::FloatCompare:
    case Unit::Predicate: {
      const int q = predicate(i.pa), r = predicate(i.pb);
      int result = decoded.info.mode == isa::Mode::And  ? q & r
                   : decoded.info.mode == isa::Mode::Or ? q | r
                                                        : q ^ r;
      if (unit != Unit::Predicate) {
        result = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane)
          if (compare(i, a[lane], b[lane])) result |= 1 << lane;
      }
      const auto pd = static_cast<std::size_t>(i.pd);
      int& written = system() ? state_.system_predicates[pd]
                              : state_.quads[static_cast<std::size_t>(state_.quad)].predicates[pd];
      written = (result & exec) | (written & ~exec);
      return say(ids_.predicate[pd][static_cast<std::size_t>(written)]);
    }
    case Unit::Store:
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!in(exec, lane)) continue;
        memory(address[lane]) = b[lane];
        say(ids_.store[lane]);
      }
      return;
    case Unit::CopyHost:
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!in(exec, lane)) continue;
        for (std::uint32_t word = 0; word < 4; ++word)
          memory(address[lane] + 4 * word) = state_.host[b[lane] / 16 % state_.host.size()][word];
        say(ids_.copy[lane]);
      }
      return;
    case Unit::RegisterClass:
      state_.register_class = static_cast<int>(b[0] & 3);
      return say(ids_.register_class[b[0] & 3]);
    case Unit::Limit:
      (decoded.info.mode == isa::Mode::Shared ? state_.shared_limit : state_.limit) = b[0] & limit_bits;
      return;
    case Unit::Wait:
    case Unit::Put:
      return wait(decoded, exec);
    case Unit::Atomic:
      return execute_atomic(decoded, exec, address, b);
    case Unit::Resume:
      state_.fault_code = 0;
      return release(isa::WaitKind::Barrier);
    case Unit::Run:
      return run_block(b[0]);
    case Unit::Halt:
      halted_ = true;
      return say(ids_.end);
    case Unit::StoreConstant:
    case Unit::ThreadIndex:
    case Unit::CopyOut:
    case Unit::Tell: {
      Row row{};
      for (std::size_t lane = 0; lane < lanes; ++lane)
        if (in(exec, lane)) row[lane] = unit == Unit::CopyOut ? memory(address[lane]) : b[lane];
      if (unit == Unit::StoreConstant) {
        const std::uint32_t line = a[0] % Parameters::constant_lines;
        state_.constants[line] = row;
        say(ids_.constant_line[line]);
      } else if (unit == Unit::ThreadIndex) {
        const std::uint32_t quad = a[0] % Parameters::max_quads;
        state_.thread_indices[quad] = row;
        say(ids_.thread_index[quad]);
      }
      return say_row(row);
    }
    default:
      return execute_register_write(decoded, exec, address, b);
  }
}

// A is the address for a load.
void Emulator::execute_register_write(const Decoded& decoded, int exec, const Row& a, const Row& b) {
  const isa::Instruction& i = decoded.instruction;
  const Row c = decoded.info.reads_c() ? read_register(i.rc) : Row{};
  const int selected = predicate(i.pa);
  if (decoded.info.reads_c()) say(ids_.operand_c);
  if (exec != all_lanes) say(ids_.keep);
  Row row = read_register(i.rd);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!in(exec, lane)) continue;
    switch (decoded.info.unit) {
      case Unit::Load:
        row[lane] = load(decoded.info.mode, a[lane]);
        break;
      case Unit::GetWord:
        row[lane] = state_.put[a[lane] % Parameters::max_threads];
        break;
      case Unit::GetVote:
        row[lane] = votes_of_warp();
        break;
      case Unit::LoadHost:
        row[lane] = word_at(state_.host, b[lane]);
        break;
      default:
        row[lane] = calculate(i, a[lane], b[lane], c[lane], in(selected, lane));
    }
  }
  write_register(i.rd, row);
  if (exec == all_lanes && is_uniform(decoded, a))
    say_word(ids_.all_value, 0, row[0]);
  else
    say_row(row);
}

// All lanes get the same word, and that is known before it is: a number, or one address.
bool Emulator::is_uniform(const Decoded& decoded, const Row& address) {
  const isa::BSource source = decoded.instruction.b_source;
  if (decoded.info.unit == Unit::Move)
    return source == isa::BSource::Immediate || source == isa::BSource::Constant;
  return decoded.info.unit == Unit::Load &&
         std::all_of(address.begin(), address.end(), [&](std::uint32_t lane) { return lane == address[0]; });
}

std::uint32_t& Emulator::memory(std::uint32_t address) {
  std::vector<std::uint32_t>& words =
      (address & Parameters::shared_window) != 0 ? state_.shared : state_.global;
  return words.at((address & (Parameters::shared_window - 1)) / 4);
}

std::uint32_t Emulator::load(isa::Mode mode, std::uint32_t address) {
  const std::uint32_t part = memory(address) >> 8 * (address & 3);
  switch (mode) {
    case isa::Mode::Byte:
      return part & 0xff;
    case isa::Mode::SignedByte:
      return static_cast<std::uint32_t>(static_cast<std::int8_t>(part));
    case isa::Mode::Half:
      return part & 0xffff;
    case isa::Mode::SignedHalf:
      return static_cast<std::uint32_t>(static_cast<std::int16_t>(part));
    default:
      return part;
  }
}

// A row like that of a load, but an executing lane's word is followed by what it becomes.
void Emulator::execute_atomic(const Decoded& decoded, int exec, const Row& address, const Row& b) {
  const isa::Instruction& i = decoded.instruction;
  const Row c = decoded.info.reads_c() ? read_register(i.rc) : Row{};
  const bool writes = decoded.info.writes_register();
  if (decoded.info.reads_c()) say(ids_.operand_c);
  if (writes && exec != all_lanes) say(ids_.keep);
  Row row = writes ? read_register(i.rd) : Row{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (in(exec, lane)) row[lane] = memory(address[lane]);
    say_word(ids_.value, lane, row[lane]);
    if (!in(exec, lane)) continue;
    std::uint32_t& word = memory(address[lane]);
    word = update(i, address[lane], word, b[lane], c[lane]);
    say_word(ids_.new_value, lane, word);
    if (lane + 1 < lanes) say(ids_.read[lane + 1]);
  }
  if (writes) write_register(i.rd, row);
}

bool Emulator::check_addresses(const Decoded& decoded, int exec, const Row& addresses) {
  const auto alignment = static_cast<std::uint32_t>(decoded.info.alignment());
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!in(exec, lane)) continue;
    const std::uint32_t address = addresses[lane], offset = address & ~Parameters::shared_window;
    const bool shared = address != offset;
    const bool null_page = offset < Parameters::first_allocation && !shared && !system();
    if (address % alignment != 0)
      raise(isa::Fault::MisalignedAddress, lane, address);
    else if (null_page || offset >= (shared ? state_.shared_limit : state_.limit))
      raise(isa::Fault::IllegalAddress, lane, address);
    else
      continue;
    return false;
  }
  return true;
}

std::uint32_t Emulator::votes_of_warp() const {
  std::uint32_t bits = 0;
  const int first = lanes * (state_.quad - state_.quad % quads_of_warp);
  for (int i = 0; i < Parameters::warp_lanes; ++i)
    if (state_.votes[static_cast<std::size_t>(first + i)]) bits |= 1u << i;
  return bits;
}

void Emulator::wait(const Decoded& decoded, int exec) {
  const isa::Instruction& i = decoded.instruction;
  const isa::WaitKind kind = isa::wait_kind(decoded.info);
  if (decoded.info.unit == Unit::Put) {
    const Row b = read_b(i);
    const int votes = predicate(i.pa);
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!in(exec, lane)) continue;
      const std::size_t thread = lanes * static_cast<std::size_t>(state_.quad) + lane;
      const bool word = decoded.info.mode == isa::Mode::Word;
      state_.put[thread] = word ? b[lane] : 0;
      state_.votes[thread] = !word && in(votes, lane);
    }
  }
  if (kind == isa::WaitKind::Yield) state_.yield_waits = state_.warp_yields = true;
  if (kind == isa::WaitKind::Barrier) {
    state_.barrier_waits = true;
    if (decoded.info.mode == isa::Mode::NamedBarrier) state_.named_waits = true;
  }
  int& waiting = state_.quads[static_cast<std::size_t>(state_.quad)].waits[static_cast<std::size_t>(kind)];
  waiting |= exec;
  say(ids_.wait[static_cast<std::size_t>(kind)][static_cast<std::size_t>(waiting)]);
}

void Emulator::leave_quad() {
  const QuadState& quad = state_.quads[static_cast<std::size_t>(state_.quad)];
  const int waiting = quad.waits[static_cast<std::size_t>(isa::WaitKind::Warp)];
  if (waiting != 0 && lowest_pc(quad, waiting) < state_.meet.value_or(Parameters::instructions)) {
    state_.meet = lowest_pc(quad, waiting);
    say(ids_.meet[static_cast<std::size_t>(*state_.meet)]);
  }
  const bool last = state_.quad == state_.last_thread / lanes;
  if (!last && state_.quad % quads_of_warp != quads_of_warp - 1) return enter_quad(state_.quad + 1);
  if (state_.meet && !state_.warp_yields) return enter_quad(state_.quad - state_.quad % quads_of_warp);
  if (state_.meet) say(ids_.meet_none);
  state_.meet.reset();
  if (last)
    leave_block();
  else
    enter_quad(state_.quad + 1);
}

void Emulator::leave_block() {
  if (state_.yield_waits) return release(isa::WaitKind::Yield);
  if (state_.barrier_waits && !state_.named_waits) return release(isa::WaitKind::Barrier);
  if (state_.barrier_waits) {
    say(ids_.stuck);
    state_.fault_code = isa::stuck_code;
  }
  say(ids_.system);
  state_.quad = State::system;
}

void Emulator::release(isa::WaitKind kind) {
  say(ids_.release_kind[static_cast<std::size_t>(kind)]);
  state_.released_kind = kind;
  if (kind == isa::WaitKind::Yield)
    state_.yield_waits = false;
  else
    state_.barrier_waits = state_.named_waits = false;
  enter_quad(0);
}

void Emulator::enter_quad(int quad) {
  state_.quad = quad;
  say(ids_.quad[static_cast<std::size_t>(quad)]);
  if (quad % quads_of_warp == 0) {
    state_.warp_yields = false;
    state_.released.reset();
    if (state_.meet) say(ids_.release[static_cast<std::size_t>(*state_.meet)]);
    std::swap(state_.released, state_.meet);
  }
  wake_lanes();
}

void Emulator::wake_lanes() {
  QuadState& quad = state_.quads[static_cast<std::size_t>(state_.quad)];
  if (!state_.released && !state_.released_kind) return;
  const isa::WaitKind kind = state_.released ? isa::WaitKind::Warp : *state_.released_kind;
  int& waiting = quad.waits[static_cast<std::size_t>(kind)];
  int stay = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (in(waiting, lane) && state_.released && quad.pc[lane] != *state_.released) stay |= 1 << lane;
  if (stay == waiting) return;
  waiting = stay;
  say(ids_.wait[static_cast<std::size_t>(kind)][static_cast<std::size_t>(stay)]);
}

// The program counters after an op token.
void Emulator::advance(const isa::Instruction& i, int mask, int exec) {
  const bool branch = isa::info(i.op).unit == Unit::Branch;
  const bool exit = isa::info(i.op).unit == Unit::Exit;
  if (system()) {
    state_.system_pc =
        (branch && exec != 0 ? i.target : state_.system_pc + 1) % Parameters::firmware_instructions;
    return;
  }
  QuadState& quad = state_.quads[static_cast<std::size_t>(state_.quad)];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!in(mask, lane)) continue;
    quad.pc[lane] = branch && in(exec, lane) ? i.target : (quad.pc[lane] + 1) % Parameters::instructions;
    quad.dead[lane] = exit && in(exec, lane);
  }
}

void Emulator::raise(isa::Fault fault, std::size_t lane, std::uint32_t address) {
  const isa::FaultInfo& info = isa::fault_table[static_cast<std::size_t>(fault)];
  say(ids_.fault[static_cast<std::size_t>(fault)][lane]);
  if (info.has_address()) {
    Row row{};
    row[lane] = address;
    say_row(row);
  }
  say(ids_.system);
  state_.fault_code = info.code;
  state_.quad = State::system;
}

void Emulator::run_block(std::uint32_t last_thread) {
  state_.last_thread = static_cast<int>(last_thread % Parameters::max_threads);
  std::fill_n(state_.registers.begin(), used_rows_, Row{});
  std::fill(state_.quads.begin(), state_.quads.end(), QuadState{});
  used_rows_ = 0;
  std::fill(state_.shared.begin(), state_.shared.end(), 0);
  state_.fault_code = 0;
  state_.meet.reset();
  state_.released.reset();
  state_.released_kind.reset();
  state_.barrier_waits = state_.named_waits = state_.yield_waits = state_.warp_yields = false;
  enter_quad(0);
}

int Emulator::predicate(int index) const {
  if (index == isa::pt) return all_lanes;
  const auto p = static_cast<std::size_t>(index);
  return system() ? state_.system_predicates[p]
                  : state_.quads[static_cast<std::size_t>(state_.quad)].predicates[p];
}

int Emulator::predicate(isa::PredicateOperand operand) const {
  return operand.negated ? ~predicate(operand.index) & all_lanes : predicate(operand.index);
}

std::size_t Emulator::register_index(int quad, int index) const {
  return static_cast<std::size_t>(quad * isa::registers_of_class(state_.register_class) + index) %
         Parameters::register_rows;
}

Row Emulator::read_register(int index) const {
  if (index == isa::rz) return {};
  return system() ? state_.system_registers[static_cast<std::size_t>(index)]
                  : register_row(state_.quad, index);
}

void Emulator::write_register(int index, const Row& row) {
  if (index == isa::rz) return;
  if (system()) {
    state_.system_registers[static_cast<std::size_t>(index)] = row;
    return;
  }
  const std::size_t at = register_index(state_.quad, index);
  state_.registers[at] = row;
  used_rows_ = std::max(used_rows_, at + 1);
}

Row Emulator::read_b(const isa::Instruction& i) const {
  const auto uniform = [](std::uint32_t value) { return Row{value, value, value, value}; };
  switch (i.b_source) {
    case isa::BSource::Register:
      return read_register(i.rb);
    case isa::BSource::Immediate:
      return uniform(i.immediate);
    case isa::BSource::Constant:
      return uniform(word_at(state_.constants, i.immediate));
    case isa::BSource::Special:
      break;
  }
  Row row;
  for (int lane = 0; lane < lanes; ++lane)
    row[static_cast<std::size_t>(lane)] = special(static_cast<isa::Special>(i.immediate), lane);
  return row;
}

std::uint32_t Emulator::special(isa::Special which, int lane) const {
  const int quad = system() ? 0 : state_.quad;  // S uses only SR_QUADLANE and SR_FAULT
  const std::uint32_t packed =
      state_.thread_indices[static_cast<std::size_t>(quad)][static_cast<std::size_t>(lane)];
  const int thread = lanes * quad + lane;
  switch (which) {
    case isa::Special::TidX:
      return packed & 0x3ff;
    case isa::Special::TidY:
      return packed >> 10 & 0x3ff;
    case isa::Special::TidZ:
      return packed >> 20;
    case isa::Special::LaneId:
      return static_cast<std::uint32_t>(thread % Parameters::warp_lanes);
    case isa::Special::WarpId:
      return static_cast<std::uint32_t>(thread / Parameters::warp_lanes);
    case isa::Special::QuadLane:
      return static_cast<std::uint32_t>(lane);
    case isa::Special::Fault:
      return static_cast<std::uint32_t>(state_.fault_code);
    case isa::Special::Thread:
      return static_cast<std::uint32_t>(thread);
  }
  return 0;
}

void Emulator::say_row(const Row& row) {
  for (std::size_t lane = 0; lane < lanes; ++lane) say_word(ids_.value, lane, row[lane]);
}

void Emulator::say_word(const decltype(TokenIds::value)& ids, std::size_t lane, std::uint32_t word) {
  isa::spell_word(word, [&](int byte, int value, isa::Ending ending) {
    say(ids[lane][static_cast<std::size_t>(byte)][static_cast<std::size_t>(ending)]
           [static_cast<std::size_t>(value)]);
  });
}

}  // namespace qwengpu::emulator

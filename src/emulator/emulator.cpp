#include "emulator/emulator.h"

#include <algorithm>
#include <stdexcept>

#include "emulator/arithmetic.h"
#include "isa/firmware.h"

namespace qwengpu::emulator {
namespace {

using isa::Unit;

constexpr int all_lanes = (1 << lanes) - 1;

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

void Emulator::step() {
  spoken_ = taken_ = 0;
  if (system()) {
    const int pc = state_.system_pc;
    say(ids_.firmware_pc[static_cast<std::size_t>(pc)]);
    return execute(firmware_[static_cast<std::size_t>(pc)], all_lanes);
  }
  const int living = living_lanes(state_.quad);
  if (living == 0) {
    const bool last = state_.quad == state_.last_thread / lanes;
    state_.quad = last ? State::system : state_.quad + 1;
    return say(last ? ids_.system : ids_.quad[static_cast<std::size_t>(state_.quad)]);
  }
  const QuadState& quad = state_.quads[static_cast<std::size_t>(state_.quad)];
  int pc = Parameters::instructions, mask = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!in(living, lane) || quad.pc[lane] > pc) continue;
    if (quad.pc[lane] < pc) mask = 0;
    pc = quad.pc[lane];
    mask |= 1 << lane;
  }
  say(ids_.pc[static_cast<std::size_t>(pc)]);
  execute(kernel_[static_cast<std::size_t>(pc)], mask);
}

int Emulator::living_lanes(int number) const {
  const QuadState& quad = state_.quads[static_cast<std::size_t>(number)];
  int living = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (!quad.dead[lane] && lanes * number + static_cast<int>(lane) <= state_.last_thread)
      living |= 1 << lane;
  return living;
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
  if (decoded.info.accesses_global() && !check_addresses(decoded, exec, address)) return;

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
        state_.global[address[lane] / 4] = b[lane];
        say(ids_.store[lane]);
      }
      return;
    case Unit::CopyHost:
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        if (!in(exec, lane)) continue;
        for (std::uint32_t word = 0; word < 4; ++word)
          state_.global[address[lane] / 4 + word] = state_.host[b[lane] / 16 % state_.host.size()][word];
        say(ids_.copy[lane]);
      }
      return;
    case Unit::RegisterClass:
      state_.register_class = static_cast<int>(b[0] & 3);
      return say(ids_.register_class[b[0] & 3]);
    case Unit::Limit:
      state_.limit = b[0];
      return;
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
        if (in(exec, lane)) row[lane] = unit == Unit::CopyOut ? state_.global[address[lane] / 4] : b[lane];
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
        row[lane] = state_.global[a[lane] / 4];
        break;
      case Unit::LoadHost:
        row[lane] = word_at(state_.host, b[lane]);
        break;
      default:
        row[lane] = calculate(i, a[lane], b[lane], c[lane], in(selected, lane));
    }
  }
  write_register(i.rd, row);
  say_row(row);
}

bool Emulator::check_addresses(const Decoded& decoded, int exec, const Row& addresses) {
  const std::uint32_t alignment = decoded.info.unit == Unit::CopyHost ? 16 : 4;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    if (!in(exec, lane)) continue;
    const std::uint32_t address = addresses[lane];
    const bool null_page = address < Parameters::first_allocation && !system();
    if (address % alignment != 0)
      raise(isa::Fault::MisalignedAddress, static_cast<int>(lane));
    else if (null_page || address >= state_.limit)
      raise(isa::Fault::IllegalAddress, static_cast<int>(lane));
    else
      continue;
    return false;
  }
  return true;
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

void Emulator::raise(isa::Fault fault, int lane) {
  say(ids_.fault[static_cast<std::size_t>(fault)][static_cast<std::size_t>(lane)]);
  say(ids_.system);
  state_.fault_code = isa::fault_table[static_cast<std::size_t>(fault)].code;
  state_.quad = State::system;
}

void Emulator::run_block(std::uint32_t last_thread) {
  state_.last_thread = static_cast<int>(last_thread % Parameters::max_threads);
  std::fill_n(state_.registers.begin(), used_rows_, Row{});
  std::fill(state_.quads.begin(), state_.quads.end(), QuadState{});
  used_rows_ = 0;
  state_.fault_code = 0;
  state_.quad = 0;
  say(ids_.quad[0]);
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
  }
  return 0;
}

void Emulator::say_row(const Row& row) {
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::uint32_t rest = row[lane];
    for (std::size_t byte = 0;; ++byte, rest >>= 8) {
      const bool last = rest < 256;
      say(ids_.value[lane][byte][last][rest & 255]);
      if (last) break;
    }
  }
}

}  // namespace qwengpu::emulator

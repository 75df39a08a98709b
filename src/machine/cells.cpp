#include "machine/cells.h"

#include <fmt/format.h>

namespace qwengpu::machine {
namespace {
constexpr int keys = 128;  // words of a head
constexpr float stored_one = 128;

Cell memory_word(const char* space, std::uint32_t address) {
  return {fmt::format("memory/{}{}.{}.{}", space, address >> 13, address >> 11 & 3, address >> 2 & 3),
          static_cast<int>(address >> 4 & 127), 0, word_bits};
}
}  // namespace

Cell register_row(int row) { return {fmt::format("registers/bank{}", row / keys), row % keys, 0, row_bits}; }

Cell firmware_register_row(int number) { return {"firmware_registers/rows", number, 0, row_bits}; }

Cell predicate(int quad, int number) {
  return {fmt::format("predicates/P{}.{}", number, quad / keys), quad % keys, 0, lanes};
}

Cell firmware_predicate(int number) { return {"predicates/firmware", number, lanes * number, lanes}; }

Cell program_counter(int quad, int lane) {
  return {fmt::format("pc/lane{}.{}", lane, quad / keys), quad % keys, 0, 12};
}

Cell firmware_program_counter() { return {"pc/firmware", 0, 0, 11}; }

Cell thread_indices(int quad) {
  return {fmt::format("special/thread_indices{}", quad / keys), quad % keys, 0, row_bits};
}

Cell constant_word(int address) {
  return {fmt::format("constants/word{}", address / 4 % 4), address / 16, 0, word_bits};
}

Cell instruction_word(int number) {
  return {fmt::format("fetch/instructions{}", number / keys), number % keys, 0, row_bits};
}

Cell host_line(int number) { return {fmt::format("host/bank{}", number / keys), number % keys, 0, row_bits}; }

Cell global_word(std::uint32_t address) { return memory_word("global", address); }
Cell shared_word(std::uint32_t offset) { return memory_word("shared", offset); }

Cell waiting_lanes(int quad, isa::WaitKind kind) {
  return {
      fmt::format("scheduler/waiting.{}.{}", isa::wait_letters[static_cast<std::size_t>(kind)], quad / keys),
      quad % keys, 0, lanes};
}

Cell shown_word(int thread) {
  const int quad = thread / lanes;
  return {fmt::format("warp/shown{}.{}", thread % lanes, quad / keys), quad % keys, 0, word_bits};
}

Cell shown_vote(int thread) {
  Cell cell = shown_word(thread);
  cell.dim = word_bits + thread / lanes % (Parameters::warp_lanes / lanes);
  cell.bits = 1;
  return cell;
}

std::vector<bool> read_cell(const circuit::Placement& placement, const StateReader& state, const Cell& cell) {
  const circuit::HeadPlace& place = placement.head(cell.head);
  const std::span<const float> values = state(place.layer, place.head);
  std::vector<bool> bits;
  for (int i = 0; i < cell.bits; ++i) {
    const float value = values[static_cast<std::size_t>(cell.key * keys + cell.dim + i)];
    if (value != 0 && value != stored_one)
      throw circuit::Error(
          fmt::format("head {} (layer {}, head {}), key {}, dimension {} holds {}, neither 0 nor {}",
                      cell.head, place.layer, place.head, cell.key, cell.dim + i, value, stored_one));
    bits.push_back(value != 0);
  }
  return bits;
}

isa::Row read_row(const circuit::Placement& placement, const StateReader& state, const Cell& cell) {
  const std::vector<bool> bits = read_cell(placement, state, cell);
  isa::Row row{};
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) row[i / word_bits] |= 1u << (i % word_bits);
  return row;
}

std::uint32_t read_word(const circuit::Placement& placement, const StateReader& state, const Cell& cell) {
  return read_row(placement, state, cell)[0];
}

}  // namespace qwengpu::machine

#include "launch/block_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "isa/firmware.h"
#include "launch/source_line.h"
#include "launch/text.h"

namespace qwengpu::launch {
namespace {

constexpr int quads_of_warp = isa::Parameters::warp_lanes / isa::Parameters::lanes;

// "quad 3", "quads 0-3,5"
std::string quads_text(const std::vector<int>& quads) {
  std::string text = quads.size() == 1 ? "quad " : "quads ";
  for (std::size_t i = 0; i < quads.size();) {
    std::size_t last = i;
    while (last + 1 < quads.size() && quads[last + 1] == quads[last] + 1) ++last;
    if (i > 0) text += ",";
    text += last == i ? fmt::format("{}", quads[i]) : fmt::format("{}-{}", quads[i], quads[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

BlockState::Quad& BlockState::quad_of(const Step& step) {
  const auto quad = static_cast<std::size_t>(step.quad);
  if (quad >= quads_.size()) quads_.resize(quad + 1);
  return quads_[quad];
}

void BlockState::push(const Step& step) {
  if (step.firmware && step.op == isa::Op::Run) quads_.clear();
  if (step.event == Event::StillWaiting)
    for (std::size_t lane = 0; lane < isa::Parameters::lanes; ++lane) {
      std::optional<Wait>& wait = quad_of(step).waits[lane];
      if (wait && wait->kind == step.wait_kind && (*step.waiting >> lane & 1) == 0) wait.reset();
    }
  if (!step.instruction()) return;
  if (step.info().waits() && step.waiting)
    for (int lane = 0; lane < isa::Parameters::lanes; ++lane)
      if (step.executes(lane))
        quad_of(step).waits[static_cast<std::size_t>(lane)] = Wait{step.wait_kind, step.pc};
  if (step.op == isa::Op::Exit) quad_of(step).ended |= step.executing;
  const isa::Instruction* const known = instruction(step);
  if (!known || !step.row || !step.info().writes_register() || known->rd == isa::rz) return;
  Registers& registers = step.firmware ? firmware_registers_ : quad_of(step).registers;
  registers[static_cast<std::size_t>(known->rd)] = *step.row;
}

const isa::Instruction* BlockState::instruction(const Step& step) const {
  const std::vector<isa::Instruction>& code = step.firmware ? isa::firmware() : kernel_.code;
  if (static_cast<std::size_t>(step.pc) >= code.size()) return nullptr;
  const isa::Instruction& found = code[static_cast<std::size_t>(step.pc)];
  return found.op == step.op ? &found : nullptr;
}

std::uint32_t BlockState::register_word(const Step& step, int reg, int lane) const {
  const auto quad = static_cast<std::size_t>(step.quad);
  if (reg == isa::rz || (!step.firmware && quad >= quads_.size())) return 0;
  const Registers& registers = step.firmware ? firmware_registers_ : quads_[quad].registers;
  return registers[static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)];
}

std::uint32_t BlockState::address(const Step& step, int lane) const {
  const isa::Instruction* const known = instruction(step);
  if (!known) return 0;
  return register_word(step, known->ra, lane) + (step.info().has('m') ? known->immediate : 0);
}

std::vector<BlockState::Waiting> BlockState::waiting() const {
  std::vector<Waiting> result;
  std::size_t warp_begin = 0;  // in result
  for (std::size_t quad = 0; quad < quads_.size(); ++quad) {
    const int number = static_cast<int>(quad);
    if (number % quads_of_warp == 0) warp_begin = result.size();
    std::map<std::pair<int, isa::WaitKind>, int> masks;  // by pc
    for (std::size_t lane = 0; lane < isa::Parameters::lanes; ++lane)
      if (const auto& wait = quads_[quad].waits[lane]) masks[{wait->pc, wait->kind}] |= 1 << lane;
    for (const auto& [place, mask] : masks) {
      Waiting group{number / quads_of_warp, {}, place.first, mask, place.second};
      const auto same = std::find_if(
          result.begin() + static_cast<std::ptrdiff_t>(warp_begin), result.end(), [&](const Waiting& other) {
            return other.pc == group.pc && other.mask == group.mask && other.kind == group.kind;
          });
      if (same != result.end()) {
        same->quads.push_back(number);
      } else {
        group.quads = {number};
        result.push_back(group);
      }
    }
  }
  return result;
}

int BlockState::ended_threads() const {
  int ended = 0;
  for (const Quad& quad : quads_) ended += std::popcount(static_cast<unsigned>(quad.ended));
  return ended;
}

std::string BlockState::waiting_text() const {
  std::string text;
  for (const Waiting& group : waiting()) {
    const auto pc = static_cast<std::size_t>(group.pc);
    text += fmt::format("{}  warp {} {}: pc {} [{}]", text.empty() ? "" : "\n", group.warp,
                        quads_text(group.quads), group.pc, mask_text(group.mask));
    if (pc < kernel_.code.size()) text += fmt::format(" {}", isa::info(kernel_.code[pc].op).mnemonic);
    if (const std::string line = source_line(kernel_, group.pc); !line.empty()) text += ", " + line;
  }
  if (const int ended = ended_threads(); ended > 0)
    text += fmt::format("{}  {} {} ended", text.empty() ? "" : "\n", ended,
                        ended == 1 ? "thread has" : "threads have");
  return text;
}

}  // namespace qwengpu::launch

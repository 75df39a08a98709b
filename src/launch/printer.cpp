#include "launch/printer.h"

#include <fmt/format.h>

#include "isa/assembly.h"
#include "isa/firmware.h"
#include "launch/source_line.h"
#include "launch/text.h"

namespace qwengpu::launch {
namespace {

constexpr int effect_column = 34;  // where the values of an instruction start

// What TEXT_OF says of each lane, "3 | 4 | . | 12", and . for a lane that sits out.
template <typename F>
std::string lanes_text(int executing, F&& text_of) {
  std::string text;
  for (int lane = 0; lane < isa::Parameters::lanes; ++lane) {
    if (lane > 0) text += " | ";
    text += (executing >> lane & 1) != 0 ? text_of(lane) : ".";
  }
  return text;
}

std::string word_text(std::uint32_t word) { return fmt::format("{}", static_cast<std::int32_t>(word)); }

std::string values_text(const isa::Row& row, int executing) {
  return lanes_text(executing, [&](int lane) { return word_text(row[static_cast<std::size_t>(lane)]); });
}

// "[0x100]", "shared[0x40]"
std::string place_text(std::uint32_t address) {
  const std::string text = address_text(address);
  return text.ends_with(']') ? text : fmt::format("[{}]", text);
}

std::string_view waits_for(isa::WaitKind kind) {
  switch (kind) {
    case isa::WaitKind::Barrier:
      return "the barrier";
    case isa::WaitKind::Warp:
      return "the warp";
    case isa::WaitKind::Yield:
      return "their next turn";
  }
  return "";
}

}  // namespace

std::string Printer::api_line(const Step& step) const {
  const isa::Row& f = *step.row;
  std::string text;
  switch (step.op) {
    case isa::Op::SetDevice:
      text = fmt::format("cudaSetDevice({})", f[0]);
      break;
    case isa::Op::StreamCreate:
      text = fmt::format("cudaStreamCreate() = stream {}", f[0]);
      break;
    case isa::Op::ModuleLoad:
      text = fmt::format("cuModuleLoadData({} instructions, {} registers a thread, {} shared bytes)", f[0],
                         f[1], f[2]);
      break;
    case isa::Op::Malloc:
      text = fmt::format("cudaMalloc(buffer {}, {} bytes) = 0x{:x}", f[0], f[1], f[2]);
      break;
    case isa::Op::CopyIn:
      text = fmt::format("cudaMemcpyHostToDevice(0x{:x}, host 0x{:x}, {} bytes)", f[0], f[1], f[2]);
      break;
    case isa::Op::Arguments:
      text = fmt::format("kernelParameters({} words)", f[0]);
      break;
    case isa::Op::Grid:
      text = fmt::format("gridDim = ({},{},{})", f[0], f[1], f[2]);
      break;
    case isa::Op::Block:
      text = fmt::format("blockDim = ({},{},{})", f[0], f[1], f[2]);
      break;
    case isa::Op::Resources:
      text = fmt::format("resources: {} registers a thread, {} threads, {} of {} register rows", f[0], f[1],
                         f[2], isa::Parameters::register_rows);
      break;
    case isa::Op::LocalMemory:
      text = fmt::format("localMemory({} bytes a thread, {} bytes) = 0x{:x}", f[0], f[1], f[2]);
      break;
    case isa::Op::LaunchKernel:
      text = fmt::format("cudaLaunchKernel({}, {} shared bytes)",
                         kernel_.name.empty() ? "kernel" : kernel_.name, f[2]);
      break;
    case isa::Op::SharedAllocate:
      text = fmt::format("allocateShared({} bytes) = {}", f[0], address_text(f[2]));
      break;
    case isa::Op::SharedFree:
      text = fmt::format("freeShared({} bytes at {})", f[0], address_text(f[2]));
      break;
    case isa::Op::Synchronize:
      text = fmt::format("cudaStreamSynchronize(stream {})", f[0]);
      break;
    case isa::Op::CopyBack:
      text = fmt::format("cudaMemcpyDeviceToHost(buffer {}, 0x{:x}, {} bytes)", f[1], f[0], f[2]);
      break;
    case isa::Op::Free:
      text = fmt::format("cudaFree(buffer {} at 0x{:x})", f[0], f[2]);
      break;
    case isa::Op::StreamDestroy:
      text = fmt::format("cudaStreamDestroy(stream {})", f[0]);
      break;
    default:
      text = fmt::format("{}({}, {}, {})", step.info().mnemonic, f[0], f[1], f[2]);
  }
  return fmt::format("{}  {}", text, isa::status_name(step.status()));
}

// What a store writes is in registers that the model spoke before.
std::string Printer::stored_text(const Step& step, const isa::Instruction& instruction) const {
  return lanes_text(step.stored, [&](int lane) {
    return fmt::format("{} = {}", place_text(state_.address(step, lane)),
                       word_text(state_.register_word(step, instruction.rb, lane)));
  });
}

// What an atomic operation makes of a word of memory, and ST.8 and ST.16 of a part of it.
std::string Printer::updated_text(const Step& step) const {
  const isa::Mode mode = step.info().mode;
  const std::uint32_t part = mode == isa::Mode::StoreByte   ? 0xff
                             : mode == isa::Mode::StoreHalf ? 0xffff
                                                            : ~0u;
  return lanes_text(step.executing, [&](int lane) {
    const std::uint32_t address = state_.address(step, lane);
    const auto value = [&](const isa::Row& row) {
      const std::uint32_t word = row[static_cast<std::size_t>(lane)];
      return word_text(part == ~0u ? word : word >> 8 * (address & 3) & part);
    };
    return fmt::format("{} {} -> {}", place_text(address), value(*step.row), value(*step.updated));
  });
}

std::string Printer::effect(const Step& step, const isa::Instruction& instruction) const {
  if (step.executing == 0) return "no lane executes";
  if (step.fault) return "";
  if (step.predicate) return fmt::format("= {}", mask_text(*step.predicate));
  if (step.waiting) return fmt::format("waits {}", mask_text(*step.waiting));
  if (step.updated) return (step.info().writes_register() ? "= " : "") + updated_text(step);
  if (step.row) return "= " + values_text(*step.row, step.executing);
  if (step.info().unit == isa::Unit::Store) return stored_text(step, instruction);
  return "";
}

std::string Printer::instruction_line(const Step& step) const {
  const isa::Instruction* const known = state_.instruction(step);
  const std::size_t code_size = step.firmware ? isa::firmware().size() : kernel_.code.size();
  const std::string pc = fmt::format("pc {:<{}}", step.pc, fmt::formatted_size("{}", code_size));
  const std::string where = step.firmware
                                ? fmt::format("firmware  {}", pc)
                                : fmt::format("block {} quad {}  {}", text_of(step.block), step.quad, pc);
  std::string text = known ? isa::disassemble(*known) : std::string(step.info().mnemonic);
  const std::string result = effect(step, known ? *known : isa::Instruction{});
  // Lanes at this instruction, and those that execute it when the guard stops some.
  const std::string lanes = step.mask == step.executing || step.executing == 0
                                ? mask_text(step.mask)
                                : fmt::format("{}/{}", mask_text(step.executing), mask_text(step.mask));
  if (!result.empty()) text = fmt::format("{:<{}} {}", text, effect_column, result);
  if (step.fault) {
    const isa::FaultInfo& fault = isa::fault_table[static_cast<std::size_t>(step.fault->kind)];
    text = fmt::format("{:<{}} {} in step {}, lane {}", text, effect_column, fault.cuda_name, step.number,
                       step.fault->lane);
    if (known && step.info().accesses_memory())
      text += fmt::format(", address {}", address_text(step.fault->address));
  }
  const std::string source = step.firmware ? "" : source_line(kernel_, step.pc);
  if (verbose_ && !source.empty()) text += "  ; " + source;
  return fmt::format("{} [{}]  {}", where, lanes, text);
}

std::string Printer::event_line(const Step& step) const {
  const std::string block = fmt::format("block {}", text_of(step.block));
  const std::string warp =
      fmt::format("{} warp {}", block, step.quad * isa::Parameters::lanes / isa::Parameters::warp_lanes);
  switch (step.event) {
    case Event::Instruction:
      break;
    case Event::WarpReleased:
      return fmt::format("{}  released at pc {}", warp, step.pc);
    case Event::BarrierPassed:
      return fmt::format("{}  the barrier is passed", block);
    case Event::YieldOver:
      return fmt::format("{}  the lanes that yielded go on", block);
    case Event::Stuck:
      return fmt::format("{}  all lanes wait, some of them at named barriers", block);
    case Event::StillWaiting:
      if (!verbose_) return "";
      return fmt::format("{} quad {}  still waiting for {}: {}", block, step.quad, waits_for(step.wait_kind),
                         mask_text(*step.waiting));
    case Event::Meet:
      return verbose_ ? fmt::format("{}  to meet at pc {}", warp, step.pc) : "";
    case Event::MeetPutOff:
      return verbose_ ? fmt::format("{}  to meet in a later round", warp) : "";
  }
  return "";
}

std::string Printer::describe(const Step& step) const {
  if (!step.instruction()) return event_line(step);
  if (!step.firmware) return instruction_line(step);
  if (step.api()) {
    if (!step.row) return "";
    const bool waiting =
        step.op == isa::Op::Synchronize && step.status() == static_cast<int>(isa::Status::LaunchTimeout);
    return api_line(step) + (waiting ? "\n" + state_.waiting_text() : "");
  }
  if (verbose_ || step.fault) return instruction_line(step);
  if (step.op == isa::Op::Out && step.row) return "  spoken " + values_text(*step.row, step.executing);
  return "";
}

std::string Printer::line(const Step& step) {
  std::string text = describe(step);
  state_.push(step);
  return text;
}

}  // namespace qwengpu::launch

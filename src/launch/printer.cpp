#include "launch/printer.h"

#include <fmt/format.h>

#include "isa/assembly.h"
#include "isa/firmware.h"
#include "launch/source_line.h"

namespace qwengpu::launch {
namespace {

constexpr int effect_column = 34;  // where the values of an instruction start

std::string mask_text(int mask) {
  std::string text;
  for (int lane = 0; lane < isa::Parameters::lanes; ++lane) text += (mask >> lane & 1) != 0 ? '1' : '0';
  return text;
}

// "3 | 4 | -5 | 12", and . for a lane that sits out.
std::string values_text(const isa::Row& row, int executing) {
  std::string text;
  for (int lane = 0; lane < isa::Parameters::lanes; ++lane) {
    if (lane > 0) text += " | ";
    text += (executing >> lane & 1) != 0
                ? fmt::format("{}", static_cast<std::int32_t>(row[static_cast<std::size_t>(lane)]))
                : ".";
  }
  return text;
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
    case isa::Op::LaunchKernel:
      text = fmt::format("cudaLaunchKernel({}, {} shared bytes)",
                         kernel_.name.empty() ? "kernel" : kernel_.name, f[2]);
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

const isa::Instruction* Printer::instruction(const Step& step) const {
  const std::vector<isa::Instruction>& code = step.firmware ? isa::firmware() : kernel_.code;
  if (static_cast<std::size_t>(step.pc) >= code.size()) return nullptr;
  const isa::Instruction& found = code[static_cast<std::size_t>(step.pc)];
  return found.op == step.op ? &found : nullptr;
}

std::string Printer::effect(const Step& step, const isa::Instruction& instruction) const {
  if (step.executing == 0) return "no lane executes";
  if (step.predicate) return fmt::format("= {}", mask_text(*step.predicate));
  if (step.row) return "= " + values_text(*step.row, step.executing);
  if (step.info().unit == isa::Unit::Store && !step.firmware) {
    // The address and the value are in registers that the model spoke before.
    std::string text;
    const auto quad = static_cast<std::size_t>(step.quad);
    const auto word = [&](int reg, int lane) -> std::uint32_t {
      if (reg == isa::rz || quad >= registers_.size()) return 0;
      return registers_[quad][static_cast<std::size_t>(reg)][static_cast<std::size_t>(lane)];
    };
    for (int lane = 0; lane < isa::Parameters::lanes; ++lane) {
      if (lane > 0) text += " | ";
      text += (step.stored >> lane & 1) == 0
                  ? "."
                  : fmt::format("[0x{:x}] = {}", word(instruction.ra, lane) + instruction.immediate,
                                static_cast<std::int32_t>(word(instruction.rb, lane)));
    }
    return text;
  }
  return "";
}

std::string Printer::instruction_line(const Step& step) const {
  const isa::Instruction* const known = instruction(step);
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
    text += fmt::format("  {} in lane {}", fault.cuda_name, step.fault->lane);
  }
  const std::string source = step.firmware ? "" : source_line(kernel_, step.pc);
  if (verbose_ && !source.empty()) text += "  ; " + source;
  return fmt::format("{} [{}]  {}", where, lanes, text);
}

void Printer::remember(const Step& step) {
  if (step.firmware) {
    if (step.op == isa::Op::Run) registers_.clear();
    return;
  }
  const isa::Instruction* const known = instruction(step);
  if (!known || !step.row || !step.info().writes_register() || known->rd == isa::rz) return;
  const auto quad = static_cast<std::size_t>(step.quad);
  if (quad >= registers_.size()) registers_.resize(quad + 1);
  registers_[quad][static_cast<std::size_t>(known->rd)] = *step.row;
}

std::string Printer::line(const Step& step) {
  remember(step);
  if (!step.firmware) return instruction_line(step);
  if (step.api()) return step.row ? api_line(step) : "";
  if (verbose_ || step.fault) return instruction_line(step);
  if (step.op == isa::Op::Out && step.row) return "  spoken " + values_text(*step.row, step.executing);
  return "";
}

}  // namespace qwengpu::launch

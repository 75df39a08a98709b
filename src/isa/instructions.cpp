#include "isa/instructions.h"

namespace qwengpu::isa {

std::optional<Op> find_op(std::string_view mnemonic) {
  for (const OpInfo& op : op_table)
    if (op.mnemonic == mnemonic) return op.op;
  return std::nullopt;
}

Modifiers modifiers_of(const OpInfo& op) {
  switch (op.unit) {
    case Unit::FloatArithmetic:
      return {.rounding = true, .flush = true, .saturate = true};
    case Unit::FloatMinMax:
    case Unit::FloatCompare:
      return {.flush = true};
    case Unit::ConvertToFloat:
      return {.rounding = true};
    case Unit::ConvertToInteger:
    case Unit::RoundToIntegral:
      return {.rounding = true, .flush = true};
    case Unit::Atomic:
      return {.flush = op.mode == Mode::FloatSum};
    default:
      return {};
  }
}

std::string_view status_name(int code) {
  switch (static_cast<Status>(code)) {
    case Status::Success: return "cudaSuccess";
    case Status::MemoryAllocation: return "cudaErrorMemoryAllocation";
    case Status::InvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case Status::LaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
    case Status::LaunchTimeout: return "cudaErrorLaunchTimeout";
  }
  for (const FaultInfo& fault : fault_table)
    if (fault.code == code) return fault.cuda_name;
  return "cudaErrorUnknown";
}

}  // namespace qwengpu::isa

#include "ptx/arithmetic.h"

namespace qwengpu::ptx::ir {

using isa::Op;
using isa::Unit;

Op swapped(Op op) {
  switch (op) {
    case Op::SetpLtS:
      return Op::SetpGtS;
    case Op::SetpLeS:
      return Op::SetpGeS;
    case Op::SetpGtS:
      return Op::SetpLtS;
    case Op::SetpGeS:
      return Op::SetpLeS;
    case Op::SetpLtU:
      return Op::SetpGtU;
    case Op::SetpLeU:
      return Op::SetpGeU;
    case Op::SetpGtU:
      return Op::SetpLtU;
    case Op::SetpGeU:
      return Op::SetpLeU;
    case Op::FsetpLt:
      return Op::FsetpGt;
    case Op::FsetpLe:
      return Op::FsetpGe;
    case Op::FsetpGt:
      return Op::FsetpLt;
    case Op::FsetpGe:
      return Op::FsetpLe;
    case Op::FsetpLtu:
      return Op::FsetpGtu;
    case Op::FsetpLeu:
      return Op::FsetpGeu;
    case Op::FsetpGtu:
      return Op::FsetpLtu;
    case Op::FsetpGeu:
      return Op::FsetpLeu;
    default:
      return op;
  }
}

bool commutes(Op op) {
  switch (isa::info(op).unit) {
    case Unit::Add:
    case Unit::Multiply:
    case Unit::MultiplyAdd:
    case Unit::MinMax:
    case Unit::Logic:
    case Unit::FloatArithmetic:
    case Unit::FloatMinMax:
      return true;
    default:
      return false;
  }
}

Op without_result(Op op) {
  const isa::OpInfo& info = isa::info(op);
  if (info.unit != Unit::Atomic || !info.writes_register()) return op;
  if (op == Op::AtomExch) return Op::St;
  for (const isa::OpInfo& other : isa::op_table)
    if (other.unit == Unit::Atomic && other.mode == info.mode && !other.writes_register()) return other.op;
  return op;
}

}  // namespace qwengpu::ptx::ir

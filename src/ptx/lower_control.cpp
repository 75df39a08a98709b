// Control flow (PTX ISA 9.7.12). These handlers use the instruction's guard themselves.
#include "ptx/lower.h"

namespace qwengpu::ptx {
namespace {

using syntax::Instruction;

void bra(Lowering& l, const Instruction&, Modifiers& m) {
  m.take("uni");
  const int target = l.block_of_label(l.operand(0));
  if (const auto guard = l.guard()) {
    const int next = l.emit().new_block();
    l.emit().branch(*guard, target, next);
    l.emit().start(next);
  } else {
    l.emit().jump(target);
    l.start_unreachable();
  }
}

// A kernel's ret is an exit.
void exit(Lowering& l, const Instruction&, Modifiers& m) {
  m.take("uni");
  if (const auto guard = l.guard()) {
    const int end = l.emit().new_block(), next = l.emit().new_block();
    l.emit().branch(*guard, end, next);
    l.emit().start(end);
    l.emit().exit();
    l.emit().start(next);
  } else {
    l.emit().exit();
    l.start_unreachable();
  }
}

}  // namespace

const HandlerTable& control_handlers() {
  static const HandlerTable table = {{"bra", bra}, {"ret", exit}, {"exit", exit}};
  return table;
}

}  // namespace qwengpu::ptx

#include "ptx/pointers.h"

#include <algorithm>
#include <map>
#include <string>

#include "isa/parameters.h"

namespace qwengpu::ptx {

using ir::Instruction;
using ir::Value;
using isa::Op;

// Goes back from the addresses of loads and stores through copies, sums and selections to the parameters they
// start from. What was scaled is an index and no address.
void mark_pointers(const ir::Function& function, std::vector<isa::KernelParameter>& parameters) {
  std::vector<std::vector<const Instruction*>> writers(static_cast<std::size_t>(function.registers));
  std::vector<Value> work;
  for (const ir::Block& block : function.blocks)
    for (const Instruction& i : block.code) {
      if (i.d != ir::none) writers[static_cast<std::size_t>(i.d)].push_back(&i);
      if (i.info().accesses_memory()) work.push_back(i.a);
    }
  std::vector<char> seen(writers.size());
  while (!work.empty()) {
    const Value value = work.back();
    work.pop_back();
    if (value.kind == Value::Kind::Constant) {
      for (isa::KernelParameter& parameter : parameters)
        if (isa::constant::parameters + parameter.offset == static_cast<int>(value.number) &&
            parameter.bytes == 8)
          parameter.pointer = true;
    }
    if (!value.is_register() || seen[value.number]) continue;
    seen[value.number] = 1;
    for (const Instruction* i : writers[value.number]) {
      switch (i->op) {
        case Op::Mov:
          work.push_back(i->b);
          break;
        case Op::Iadd:
        case Op::Sel:
        case Op::IminU:
        case Op::ImaxU:
          work.push_back(i->a);
          work.push_back(i->b);
          break;
        case Op::Isub:
        case Op::And:
          work.push_back(i->a);
          break;
        default:
          break;
      }
    }
  }
}

// ld.param.u64 r, [parameter]; ... cvta.to.global.u64 d, r;
void mark_converted(const syntax::Function& kernel, std::vector<isa::KernelParameter>& parameters) {
  using Kind = syntax::Operand::Kind;
  std::map<int, std::string> loaded;
  for (const syntax::Instruction& i : kernel.body) {
    if (i.operands.size() != 2) continue;
    const syntax::Operand &target = i.operands[0], &source = i.operands[1];
    const auto has = [&](const char* modifier) {
      return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
    };
    if (i.opcode == "ld" && has("param") && target.kind == Kind::Register && source.kind == Kind::Address &&
        source.value == 0)
      loaded[target.index] = source.elements.front().name;
    const auto found = loaded.find(source.index);
    if (i.opcode != "cvta" || source.kind != Kind::Register || found == loaded.end()) continue;
    for (isa::KernelParameter& parameter : parameters)
      if (parameter.name == found->second && parameter.bytes == 8) parameter.pointer = true;
  }
}

}  // namespace qwengpu::ptx

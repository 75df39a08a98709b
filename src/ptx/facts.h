// What is known about values without running the kernel.
#pragma once

#include "ptx/flow.h"

namespace qwengpu::ptx::ir {

class Facts {
 public:
  Facts(const Function& function, const Flow& flow, const Definitions& definitions)
      : function_(function), flow_(flow), definitions_(definitions) {}

  // The only instruction that writes the register, if the value is such a register.
  const Instruction* source(const Value& value) const;
  const Instruction* source(const Predicate& predicate) const;
  // Bits that may be one.
  std::uint32_t possible_ones(const Value& value, int depth = 0) const;
  // Whether a value that was read at `from` is still the same at `to`, which `from` reaches.
  bool available(const Value& value, Site from, Site to) const;
  bool available(const Predicate& predicate, Site from, Site to) const;
  bool is_single(const Value& value) const;
  Site site(const Value& reg) const { return definitions_.registers[reg.number].site; }

 private:
  bool written_between(const Value& value, Site from, Site to) const;

  const Function& function_;
  const Flow& flow_;
  const Definitions& definitions_;
};

}  // namespace qwengpu::ptx::ir

// PTX statements to machine code, for tests.
#pragma once

#include <map>
#include <string>

#include "isa/assembly.h"
#include "ptx/module.h"

namespace qwengpu::ptx {

inline const std::string head = ".version 6.3\n.target sm_70\n.address_size 64\n";

// A kernel with two pointer parameters and a number; %a and %b hold the pointers, %n the number.
inline std::string kernel_text(const std::string& statements, const std::string& name = "k") {
  return head + ".visible .entry " + name +
         "(.param .u64 pa, .param .u64 pb, .param .u32 pn)\n{\n"
         "\t.reg .b32 %r<99>, %n;\n\t.reg .b64 %d<99>, %a, %b;\n\t.reg .b16 %h<9>;\n\t.reg .pred "
         "%p<99>;\n\t.reg .f32 %f<9>;\n"
         "\tld.param.u64 %a, [pa];\n\tld.param.u64 %b, [pb];\n\tld.param.u32 %n, [pn];\n" +
         statements + "\tret;\n}\n";
}

inline isa::Kernel compile(const std::string& statements) {
  return Module(kernel_text(statements), "t.ptx").compile("k");
}

// The code as assembly text, a line an instruction, with registers numbered in the order in which they occur.
inline std::string code(const isa::Kernel& kernel) {
  std::string text;
  std::map<int, int> numbers;
  for (isa::Instruction i : kernel.code) {
    for (int* reg : {&i.rd, &i.ra, &i.rb, &i.rc})
      if (*reg != isa::rz) *reg = numbers.emplace(*reg, static_cast<int>(numbers.size())).first->second;
    text += isa::disassemble(i) + "\n";
  }
  return text;
}
inline std::string code(const std::string& statements) { return code(compile(statements)); }

}  // namespace qwengpu::ptx

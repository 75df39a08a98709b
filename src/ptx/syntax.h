// A PTX module as it is written: what the parser makes. Names of registers and labels are resolved by scope
// already.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ptx/diagnostics.h"

namespace qwengpu::ptx::syntax {

struct Operand {
  enum class Kind {
    Register,  // index: number in Function::registers
    Symbol,    // name: special register, parameter, variable (+ value), label or function
    Integer,   // value
    Float,     // value: the bits; bits: 32 or 64
    Address,   // [base + value]: elements[0] is the base (Register, Symbol or Integer)
    Vector,    // {elements}
    List,      // (elements), of calls
    Pair,      // elements[0] | elements[1], two destinations
    Sink,      // _
  };
  Kind kind = Kind::Sink;
  bool negated = false;  // !p
  int index = 0;
  int bits = 64;
  std::uint64_t value = 0;
  std::string name;
  std::vector<Operand> elements;
};

struct Guard {
  int predicate = 0;  // register
  bool negated = false;
};

struct Instruction {
  std::optional<Guard> guard;
  std::string opcode;                  // "ld"
  std::vector<std::string> modifiers;  // "param", "u32"
  std::vector<Operand> operands;
  int scope = 0;
  Location where;    // in the PTX (file left empty)
  int loc_file = 0;  // of the last .loc; 0: none
  int loc_line = 0;
  std::string text() const;  // "ld.param.u32"
};

struct Register {
  std::string name;
  std::string type;  // "b32", "pred", ...
};

struct Scope {
  int parent = -1;
};

// One element of an initialised variable.
struct Initial {
  std::uint64_t element = 0;  // number in the variable
  enum class Kind { Integer, Float, Address } kind = Kind::Integer;
  int bits = 64;            // Float: 32 or 64
  std::uint64_t value = 0;  // the number, or what is added to the address
  std::string name;         // Address: of a variable
  std::uint64_t mask = 0;   // Address: only these bits, moved down; 0: all
};

struct Variable {
  std::string space;  // "param", "shared", "global", "const", "local"
  std::string type;
  std::string name;
  int alignment = 0;  // 0: that of the type
  std::uint64_t elements =
      1;  // product of the array's bounds and the vector's width; 0: [] without an initialiser
  std::vector<std::uint64_t> bounds;  // of the array, then of the vector; 0: []
  int vector = 1;
  bool array = false;
  bool external = false;
  std::vector<Initial> initial;
  bool pointer = false;  // .ptr
  Location where;
};

struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;
  std::vector<Variable> parameters;
  std::vector<Register> registers;
  std::vector<Scope> scopes;
  std::map<std::pair<int, std::string>, std::size_t>
      labels;  // scope and name -> the instruction it stands before
  std::vector<Instruction> body;
  std::vector<Variable> variables;  // declared inside
  Location where;

  // The instruction that the label of this name which is visible in the scope stands before.
  std::optional<std::size_t> find_label(const std::string& label, int scope) const;
};

struct Module {
  std::string version, target;
  int address_size = 64;
  std::map<int, std::string> files;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

}  // namespace qwengpu::ptx::syntax

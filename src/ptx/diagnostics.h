// What can be wrong with a program.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace qwengpu::ptx {

struct Location {
  std::string file;
  int line = 0, column = 0;  // 0: unknown
  bool operator==(const Location&) const = default;
};
// "file:line:column", as far as known.
std::string to_string(const Location& location);

// PTX text that the grammar does not accept, or a name that is declared twice or not at all.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(Location where, const std::string& what);
  const Location& where() const { return where_; }

 private:
  Location where_;
};

// One construct that the machine does not have.
struct Diagnostic {
  Location where;         // the source line where the PTX tells it, else the line of the PTX
  std::string construct;  // as it stands in the PTX
  std::string reason;
  bool operator==(const Diagnostic&) const = default;
};

// Everything in a kernel that is not supported, at once.
class Unsupported : public std::runtime_error {
 public:
  Unsupported(const std::string& kernel, std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// A kernel that needs more than the machine has: registers, instructions, parameter bytes.
class TooLarge : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A kernel name that fits no kernel of the file, or several.
class NameError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace qwengpu::ptx

#include "emulator/shrink.h"

#include <algorithm>

namespace qwengpu::emulator {
namespace {

// Removes instructions [first, first + count); branches into the gap lead behind it.
void remove_instructions(std::vector<isa::Instruction>& code, int first, int count) {
  code.erase(code.begin() + first, code.begin() + first + count);
  for (isa::Instruction& instruction : code)
    if (instruction.target > first) instruction.target = std::max(first, instruction.target - count);
}

class Shrinker {
 public:
  Shrinker(Case launch, const std::function<bool(const Case&)>& fails, int attempts)
      : best_(std::move(launch)), fails_(fails), attempts_(attempts) {}

  Case run() {
    bool progress = true;
    while (progress && attempts_ > 0) {
      progress = false;
      progress |= shrink_geometry();
      progress |= remove_code();
      progress |= simplify_instructions();
      progress |= simplify_data();
    }
    return best_;
  }

 private:
  template <typename Change>
  bool attempt(Change change) {
    if (attempts_ <= 0) return false;
    Case candidate = best_;
    change(candidate);
    --attempts_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool shrink_geometry() {
    bool progress = false;
    for (auto dimensions : {&Case::grid, &Case::block})
      for (std::size_t axis = 0; axis < 3; ++axis)
        while (true) {
          const std::uint32_t old = (best_.*dimensions)[axis];
          if (old <= 1) break;
          const auto set = [&](std::uint32_t value) {
            return attempt([&](Case& c) { (c.*dimensions)[axis] = value; });
          };
          if (!set(1) && !set(old / 2) && !set(old - 1)) break;
          progress = true;
        }
    for (auto bytes : {&isa::Kernel::shared_bytes, &isa::Kernel::local_bytes})
      if (best_.kernel.*bytes > 0) progress |= attempt([&](Case& c) { c.kernel.*bytes = 0; });
    if (best_.dynamic_shared > 0) progress |= attempt([](Case& c) { c.dynamic_shared = 0; });
    if (best_.kernel.named_barriers != 0) progress |= attempt([](Case& c) { c.kernel.named_barriers = 0; });
    while (best_.kernel.registers > 16 && attempt([](Case& c) { c.kernel.registers /= 2; })) progress = true;
    return progress;
  }

  bool remove_code() {
    bool progress = false;
    for (int count = static_cast<int>(best_.kernel.code.size()) / 2; count > 0; count /= 2)
      for (int first = static_cast<int>(best_.kernel.code.size()) - count; first >= 0; first -= count) {
        if (first + count > static_cast<int>(best_.kernel.code.size())) continue;
        progress |= attempt([&](Case& c) { remove_instructions(c.kernel.code, first, count); });
      }
    return progress;
  }

  bool simplify_instructions() {
    bool progress = false;
    for (std::size_t n = 0; n < best_.kernel.code.size(); ++n) {
      const auto change = [&](auto edit) {
        isa::Instruction edited = best_.kernel.code[n];
        edit(edited);
        if (edited != best_.kernel.code[n]) progress |= attempt([&](Case& c) { c.kernel.code[n] = edited; });
      };
      change([](isa::Instruction& i) { i.guard = {}; });
      change([](isa::Instruction& i) { i.rounding = {}; });
      change([](isa::Instruction& i) { i.flush = i.saturate = false; });
      change([](isa::Instruction& i) {
        i.negate_a = i.negate_b = i.negate_c = i.absolute_a = i.absolute_b = false;
      });
      for (std::uint32_t value : {0u, 1u, best_.kernel.code[n].immediate / 2})
        change([&](isa::Instruction& i) {
          if (i.b_source == isa::BSource::Immediate && value < i.immediate) i.immediate = value;
        });
      change([](isa::Instruction& i) {
        if (isa::info(i.op).has('m')) i.immediate = 0;
      });
      change([](isa::Instruction& i) {
        if (i.op == isa::Op::BarNamed) i.op = isa::Op::Bar;
      });
    }
    return progress;
  }

  bool simplify_data() {
    bool progress = false;
    for (std::size_t b = 0; b < best_.buffers.size(); ++b) {
      if (best_.buffers[b].copy_out) progress |= attempt([&](Case& c) { c.buffers[b].copy_out = false; });
      if (best_.buffers[b].copy_in)
        progress |= attempt([&](Case& c) {
          c.buffers[b].copy_in = false;
          c.buffers[b].data.clear();
        });
      if (best_.buffers[b].bytes > 256)
        progress |= attempt([&](Case& c) {
          c.buffers[b].bytes = 256;
          c.buffers[b].data.resize(std::min<std::size_t>(c.buffers[b].data.size(), 64));
        });
      for (std::size_t n = 0; n < best_.buffers[b].data.size(); ++n)
        if (best_.buffers[b].data[n] != 0) progress |= attempt([&](Case& c) { c.buffers[b].data[n] = 0; });
    }
    for (std::size_t n = 0; n < best_.arguments.size(); ++n)
      if (!best_.arguments[n].is_buffer && best_.arguments[n].value != 0)
        progress |= attempt([&](Case& c) { c.arguments[n].value = 0; });
    // The last buffer and the last argument, when nothing names them.
    const auto names = [&](std::size_t b) {
      return std::any_of(best_.arguments.begin(), best_.arguments.end(),
                         [&](const CaseArgument& a) { return a.is_buffer && a.value == b; });
    };
    while (!best_.buffers.empty() && !names(best_.buffers.size() - 1) &&
           attempt([](Case& c) { c.buffers.pop_back(); }))
      progress = true;
    while (!best_.arguments.empty() && attempt([](Case& c) { c.arguments.pop_back(); })) progress = true;
    return progress;
  }

  Case best_;
  const std::function<bool(const Case&)>& fails_;
  int attempts_;
};

}  // namespace

Case shrink(Case launch, const std::function<bool(const Case&)>& fails, int attempts) {
  return Shrinker(std::move(launch), fails, attempts).run();
}

}  // namespace qwengpu::emulator

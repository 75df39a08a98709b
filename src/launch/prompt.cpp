#include "launch/prompt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/parameters.h"
#include "isa/request.h"
#include "isa/tokens.h"

namespace qwengpu::launch {
namespace {

namespace request = isa::request;
constexpr std::uint32_t line_bytes = 16;

constexpr std::uint32_t number(auto value) { return static_cast<std::uint32_t>(value); }

constexpr std::uint64_t whole_lines(std::uint64_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

// Host staging: 64 KiB of lines that start at zero.
class Staging {
 public:
  void word(std::size_t address, std::uint32_t value) {
    std::memcpy(&bytes_.at(address), &value, sizeof value);
  }
  void data(std::size_t address, const std::vector<std::uint8_t>& bytes) {
    std::memcpy(bytes_.data() + address, bytes.data(), bytes.size());
  }
  // Lines that are all zero need no tokens.
  void append(std::vector<int>& tokens) const {
    for (int line = 0; line < isa::Parameters::host_lines; ++line) {
      isa::Row row;
      std::memcpy(row.data(), bytes_.data() + line * static_cast<int>(line_bytes), line_bytes);
      if (row == isa::Row{}) continue;
      tokens.push_back(isa::token_id({isa::TokenKind::HostLine, line}));
      isa::append_row(tokens, row);
    }
  }

 private:
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(isa::Parameters::host_bytes);
};

void check_kernel(const isa::Kernel& kernel) {
  if (kernel.code.size() > isa::Parameters::instructions)
    throw UsageError(fmt::format(
        "kernel {} has {} instructions; the machine's instruction memory holds {}: split the kernel "
        "or unroll its loops less",
        kernel.name, kernel.code.size(), isa::Parameters::instructions));
  for (std::size_t n = 0; n < kernel.code.size(); ++n)
    if (isa::info(kernel.code[n].op).privileged())
      throw UsageError(fmt::format("kernel {}, instruction {}: {} belongs to the launch firmware",
                                   kernel.name, n, isa::info(kernel.code[n].op).mnemonic));
  if (kernel.parameter_bytes > request::max_parameter_lines * static_cast<int>(line_bytes))
    throw UsageError(fmt::format(
        "kernel {} has {} bytes of parameters; the machine takes {}: pass a pointer to them instead",
        kernel.name, kernel.parameter_bytes, request::max_parameter_lines * static_cast<int>(line_bytes)));
}

// The buffers of a launch by number. Those that earlier launches keep have theirs; those that are to be kept
// get the lowest of the others.
class Buffers {
 public:
  Buffers(const Description& description, const isa::Kernel& kernel, const Kept& kept)
      : kernel_(kernel), kept_(kept), placed_(kept.buffers.size()) {
    for (std::size_t b = 0; b < placed_.size(); ++b)
      if (kept.buffers[b])
        placed_[b] =
            Placed{kept.buffers[b]->shape.bytes(), 0, request::again | request::keep, {}, kept.buffers[b]};
    place_variables(description);
    const auto place_all = [&](auto belongs) {
      for (std::size_t n = 0; n < description.arguments.size(); ++n) {
        const Argument& argument = description.arguments[n];
        if (argument.buffer() && belongs(argument)) arguments_.push_back(place(n, argument));
      }
    };
    place_all([](const Argument& a) { return a.earlier(); });
    place_all([](const Argument& a) { return a.lifetime == Argument::Lifetime::Keep; });
    place_all([](const Argument& a) { return a.lifetime == Argument::Lifetime::Launch; });
    std::sort(arguments_.begin(), arguments_.end(),
              [](const auto& a, const auto& b) { return a.argument < b.argument; });
    check_capacity();
  }

  std::uint32_t count() const { return number(placed_.size()); }
  const std::vector<Prompt::Buffer>& arguments() const { return arguments_; }

  Kept kept() const {
    Kept result{{}, kept_.variable_bytes};
    for (const auto& buffer : placed_)
      result.buffers.push_back(buffer && (buffer->lifetime & request::keep) != 0 ? buffer->kept
                                                                                 : std::nullopt);
    while (!result.buffers.empty() && !result.buffers.back()) result.buffers.pop_back();
    return result;
  }

  // Descriptors, and the data one after another. A number that is free below others is a buffer of 0 bytes.
  void write(Staging& host) const {
    std::uint32_t data = request::data;
    for (std::size_t b = 0; b < placed_.size(); ++b) {
      if (!placed_[b]) continue;
      const std::size_t at = request::descriptors + std::size_t{request::descriptor_bytes} * b;
      host.word(at + request::descriptor::bytes, number(placed_[b]->bytes));
      host.word(at + request::descriptor::flags, number(placed_[b]->flags));
      host.word(at + request::descriptor::lifetime, placed_[b]->lifetime);
      if ((placed_[b]->flags & request::copy_in) == 0) continue;
      host.word(at + request::descriptor::host_address, data);
      host.data(data, placed_[b]->data);
      data += number(whole_lines(placed_[b]->bytes));
    }
  }

 private:
  struct Placed {
    std::uint64_t bytes = 0;
    int flags = 0;
    std::uint32_t lifetime = 0;
    std::vector<std::uint8_t> data;  // of what is copied in
    std::optional<Kept::Buffer> kept;
  };

  void place_variables(const Description& description) {
    const bool any_kept = !kept_.buffers.empty();
    const bool keeps = std::any_of(description.arguments.begin(), description.arguments.end(),
                                   [](const Argument& a) { return a.lifetime == Argument::Lifetime::Keep; });
    if (!any_kept && keeps && kept_.variable_bytes > 0) {
      const Shape room{Type::U8, {kept_.variable_bytes}};
      placed_.push_back(Placed{room.bytes(), 0, request::keep, {}, Kept::Buffer{"", room}});
    } else if (!any_kept && !kernel_.variables.empty()) {
      placed_.push_back(Placed{kernel_.variables.size(), 0, 0, {}, {}});
    }
    if (kernel_.variables.empty()) return;
    const bool has_room = placed_[0] && placed_[0]->bytes >= kernel_.variables.size() &&
                          (!placed_[0]->kept || placed_[0]->kept->name.empty());
    if (!has_room)
      throw UsageError(
          fmt::format("kernel {} has variables of its module, which have to stand where earlier launches "
                      "keep memory: free that "
                      "memory first, or pass the variables as a buffer",
                      kernel_.name));
    placed_[0]->flags = request::copy_in;
    placed_[0]->data = kernel_.variables;
  }

  Prompt::Buffer place(std::size_t n, const Argument& argument) {
    const int flags =
        (argument.copied_in() ? request::copy_in : 0) | (argument.copied_out() ? request::copy_out : 0);
    if (argument.earlier()) {
      const std::size_t b = find(n, argument);
      placed_[b]->flags |= flags;
      if (argument.copied_in()) placed_[b]->data = argument.data.bytes;
      if (argument.lifetime == Argument::Lifetime::Free) placed_[b]->lifetime = request::again;
      return {n, number(b), placed_[b]->kept->shape};
    }
    Placed placed{argument.shape.bytes(), flags, 0, argument.data.bytes, {}};
    if (argument.lifetime == Argument::Lifetime::Keep) {
      if (number_of(argument.name))
        throw UsageError(fmt::format(
            "argument {}: {} is kept already; use:{} is that memory, another one needs another name", n,
            argument.name, argument.name));
      placed.lifetime = request::keep;
      placed.kept = Kept::Buffer{argument.name, argument.shape};
    }
    const auto vacant = std::find(placed_.begin(), placed_.end(), std::nullopt);
    const auto b = static_cast<std::size_t>(vacant - placed_.begin());
    if (vacant == placed_.end()) placed_.emplace_back();
    placed_[b] = std::move(placed);
    return {n, number(b), argument.shape};
  }

  std::optional<std::size_t> number_of(const std::string& name) const {
    for (std::size_t b = 0; b < placed_.size(); ++b)
      if (placed_[b] && placed_[b]->kept && placed_[b]->kept->name == name) return b;
    return std::nullopt;
  }

  // The number of memory that an earlier launch keeps.
  std::size_t find(std::size_t n, const Argument& argument) const {
    const auto b = number_of(argument.name);
    if (!b) {
      std::string names;
      for (const auto& buffer : kept_.buffers)
        if (buffer && !buffer->name.empty()) names += (names.empty() ? "" : ", ") + buffer->name;
      throw UsageError(fmt::format(
          "argument {}: no earlier launch keeps {}; kept {}", n, argument.name,
          names.empty() ? "is nothing: say keep:NAME: in a launch before this one" : "are: " + names));
    }
    const Placed& placed = *placed_[*b];
    if (argument.has_shape() && argument.shape != placed.kept->shape)
      throw UsageError(fmt::format("argument {}: {} is {}, but what is kept has {}", n, argument.name,
                                   argument.shape.text(), placed.kept->shape.text()));
    if (argument.copied_in() && (placed.flags & request::copy_in) != 0)
      throw UsageError(fmt::format("argument {}: {} gets contents twice", n, argument.name));
    return *b;
  }

  void check_capacity() const {
    std::uint64_t data = 0;
    for (const auto& buffer : placed_)
      if (buffer && (buffer->flags & request::copy_in) != 0) data += whole_lines(buffer->bytes);
    const std::string variables =
        kernel_.variables.empty()
            ? ""
            : fmt::format(" (the module's variables, {} bytes, are one of them)", kernel_.variables.size());
    if (placed_.size() > request::max_buffers)
      throw UsageError(fmt::format(
          "the launch has {} buffers{}{}; the machine takes {}: join some of them{}", placed_.size(),
          variables, kept_.buffers.empty() ? "" : ", those included that earlier launches keep",
          request::max_buffers, kept_.buffers.empty() ? "" : ", or free: what is no longer needed"));
    const std::uint64_t room = request::data_bytes;
    if (data > room)
      throw UsageError(fmt::format(
          "the buffers that are copied in have {} bytes{}; host staging holds {}: use smaller arrays, "
          "and out: for buffers whose contents do not matter",
          data, variables, room));
  }

  const isa::Kernel& kernel_;
  const Kept& kept_;
  std::vector<std::optional<Placed>> placed_;
  std::vector<Prompt::Buffer> arguments_;
};

// Dynamic shared memory begins at a multiple of 16 behind the static one.
std::uint32_t static_shared_bytes(const Description& description, const isa::Kernel& kernel) {
  constexpr auto alignment = number(isa::Parameters::dynamic_shared_alignment);
  const auto bytes = number(kernel.shared_bytes);
  return description.shared_bytes == 0 ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Prompt make_prompt(const Description& description, const isa::Kernel& kernel, const Kept& kept) {
  check_arguments(description, kernel);
  check_kernel(kernel);
  const Buffers buffers(description, kernel, kept);

  Staging host;
  host.word(request::instructions, number(kernel.code.size()));
  host.word(request::registers, number(kernel.registers));
  host.word(request::static_shared, static_shared_bytes(description, kernel));
  host.word(request::device, description.device);
  host.word(request::grid, description.grid.x);
  host.word(request::grid + 4, description.grid.y);
  host.word(request::grid + 8, description.grid.z);
  host.word(request::dynamic_shared, description.shared_bytes);
  host.word(request::block, description.block.x);
  host.word(request::block + 4, description.block.y);
  host.word(request::block + 8, description.block.z);
  host.word(request::local_bytes, number(kernel.local_bytes));
  host.word(request::named_barriers, kernel.named_barriers);

  buffers.write(host);

  std::vector<std::uint8_t> parameters(whole_lines(number(kernel.parameter_bytes)));
  std::vector<std::uint32_t> kinds(parameters.size() / 4, number(request::kind_word));
  for (std::size_t n = 0; n < description.arguments.size(); ++n) {
    const Argument& argument = description.arguments[n];
    if (!argument.buffer())
      std::memcpy(&parameters.at(static_cast<std::size_t>(kernel.parameters[n].offset)),
                  argument.data.bytes.data(), argument.data.bytes.size());
  }
  for (const Prompt::Buffer& buffer : buffers.arguments()) {
    const auto offset = static_cast<std::size_t>(kernel.parameters[buffer.argument].offset);
    // The upper half of a 64-bit pointer stays 0.
    const std::uint32_t word = 4 * buffer.number;
    std::memcpy(&parameters.at(offset), &word, sizeof word);
    kinds.at(offset / 4) = number(request::kind_address);
  }

  host.word(request::buffers, buffers.count());
  host.word(request::parameter_lines, number(parameters.size() / line_bytes));
  for (std::size_t word = 0; word < kinds.size(); ++word) {
    const std::size_t at = request::parameters + word / 4 * request::parameter_entry_bytes + word % 4 * 4;
    std::uint32_t value;
    std::memcpy(&value, &parameters[4 * word], sizeof value);
    host.word(at, value);
    host.word(at + request::parameter_kinds, kinds[word]);
  }

  Prompt prompt{{}, buffers.arguments(), buffers.kept()};
  for (std::size_t n = 0; n < kernel.code.size(); ++n) {
    prompt.tokens.push_back(isa::token_id({isa::TokenKind::Instruction, static_cast<int>(n)}));
    isa::append_row(prompt.tokens, isa::encode(kernel.code[n]));
  }
  host.append(prompt.tokens);
  prompt.tokens.push_back(isa::token_id({isa::TokenKind::Go}));
  return prompt;
}

}  // namespace qwengpu::launch

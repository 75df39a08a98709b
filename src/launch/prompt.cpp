#include "launch/prompt.h"

#include <fmt/format.h>

#include <cstring>

#include "isa/parameters.h"
#include "isa/request.h"
#include "isa/tokens.h"

namespace qwengpu::launch {
namespace {

namespace request = isa::request;
constexpr std::uint32_t line_bytes = 16;

std::uint32_t number(auto value) { return static_cast<std::uint32_t>(value); }

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

void check_capacity(const Description& description, const isa::Kernel& kernel) {
  if (kernel.code.size() > isa::Parameters::instructions)
    throw UsageError(fmt::format(
        "kernel {} has {} instructions; the machine's instruction memory holds {}: split the kernel "
        "or unroll its loops less",
        kernel.name, kernel.code.size(), isa::Parameters::instructions));
  for (std::size_t n = 0; n < kernel.code.size(); ++n)
    if (isa::info(kernel.code[n].op).privileged())
      throw UsageError(fmt::format("kernel {}, instruction {}: {} belongs to the launch firmware",
                                   kernel.name, n, isa::info(kernel.code[n].op).mnemonic));
  if (kernel.shared_bytes + static_cast<std::int64_t>(description.shared_bytes) > 0)
    throw UsageError(fmt::format(
        "kernel {} needs {} bytes of shared memory, which this machine does not have yet: use global "
        "memory",
        kernel.name, kernel.shared_bytes + static_cast<std::int64_t>(description.shared_bytes)));
  if (kernel.parameter_bytes > request::max_parameter_lines * static_cast<int>(line_bytes))
    throw UsageError(fmt::format(
        "kernel {} has {} bytes of parameters; the machine takes {}: pass a pointer to them instead",
        kernel.name, kernel.parameter_bytes, request::max_parameter_lines * static_cast<int>(line_bytes)));
  std::size_t buffers = 0;
  std::uint64_t data = 0;
  for (const Argument& argument : description.arguments) {
    if (!argument.buffer()) continue;
    ++buffers;
    if (argument.copied_in()) data += (argument.data.bytes.size() + line_bytes - 1) / line_bytes * line_bytes;
  }
  if (buffers > request::max_buffers)
    throw UsageError(fmt::format("the launch has {} buffers; the machine takes {}: join some of them",
                                 buffers, request::max_buffers));
  const std::uint64_t room = request::data_bytes;
  if (data > room)
    throw UsageError(fmt::format(
        "the buffers that are copied in have {} bytes; host staging holds {}: use smaller arrays, "
        "and out: for buffers whose contents do not matter",
        data, room));
}

}  // namespace

Prompt make_prompt(const Description& description, const isa::Kernel& kernel) {
  check_arguments(description, kernel);
  check_capacity(description, kernel);

  Staging host;
  host.word(request::instructions, number(kernel.code.size()));
  host.word(request::registers, number(kernel.registers));
  host.word(request::static_shared, number(kernel.shared_bytes));
  host.word(request::device, description.device);
  host.word(request::grid, description.grid.x);
  host.word(request::grid + 4, description.grid.y);
  host.word(request::grid + 8, description.grid.z);
  host.word(request::dynamic_shared, description.shared_bytes);
  host.word(request::block, description.block.x);
  host.word(request::block + 4, description.block.y);
  host.word(request::block + 8, description.block.z);

  Prompt prompt;
  std::vector<std::uint8_t> parameters((static_cast<std::size_t>(kernel.parameter_bytes) + line_bytes - 1) /
                                       line_bytes * line_bytes);
  std::vector<std::uint32_t> kinds(parameters.size() / 4, number(request::kind_word));
  std::uint32_t next_data = request::data;
  for (std::size_t n = 0; n < description.arguments.size(); ++n) {
    const Argument& argument = description.arguments[n];
    const auto offset = static_cast<std::size_t>(kernel.parameters[n].offset);
    if (!argument.buffer()) {
      std::memcpy(&parameters.at(offset), argument.data.bytes.data(), argument.data.bytes.size());
      continue;
    }
    const auto buffer = number(prompt.arguments.size());
    const std::size_t at = request::descriptors + std::size_t{request::descriptor_bytes} * buffer;
    host.word(at + request::descriptor::bytes, number(argument.shape.bytes()));
    host.word(at + request::descriptor::flags, number((argument.copied_in() ? request::copy_in : 0) |
                                                      (argument.copied_out() ? request::copy_out : 0)));
    if (argument.copied_in()) {
      host.word(at + request::descriptor::host_address, next_data);
      host.data(next_data, argument.data.bytes);
      next_data += (number(argument.data.bytes.size()) + line_bytes - 1) / line_bytes * line_bytes;
    }
    // The upper half of a 64-bit pointer stays 0.
    const std::uint32_t word = 4 * buffer;
    std::memcpy(&parameters.at(offset), &word, sizeof word);
    kinds.at(offset / 4) = number(request::kind_address);
    prompt.arguments.push_back(n);
  }

  host.word(request::buffers, number(prompt.arguments.size()));
  host.word(request::parameter_lines, number(parameters.size() / line_bytes));
  for (std::size_t word = 0; word < kinds.size(); ++word) {
    const std::size_t at = request::parameters + word / 4 * request::parameter_entry_bytes + word % 4 * 4;
    std::uint32_t value;
    std::memcpy(&value, &parameters[4 * word], sizeof value);
    host.word(at, value);
    host.word(at + request::parameter_kinds, kinds[word]);
  }

  for (std::size_t n = 0; n < kernel.code.size(); ++n) {
    prompt.tokens.push_back(isa::token_id({isa::TokenKind::Instruction, static_cast<int>(n)}));
    isa::append_row(prompt.tokens, isa::encode(kernel.code[n]));
  }
  host.append(prompt.tokens);
  prompt.tokens.push_back(isa::token_id({isa::TokenKind::Go}));
  return prompt;
}

}  // namespace qwengpu::launch

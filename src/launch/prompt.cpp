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
  if (kernel.parameter_bytes > request::max_parameter_lines * static_cast<int>(line_bytes))
    throw UsageError(fmt::format(
        "kernel {} has {} bytes of parameters; the machine takes {}: pass a pointer to them instead",
        kernel.name, kernel.parameter_bytes, request::max_parameter_lines * static_cast<int>(line_bytes)));
  std::size_t buffers = kernel.variables.empty() ? 0 : 1;
  std::uint64_t data = whole_lines(kernel.variables.size());
  for (const Argument& argument : description.arguments) {
    if (!argument.buffer()) continue;
    ++buffers;
    if (argument.copied_in()) data += whole_lines(argument.data.bytes.size());
  }
  const std::string variables =
      kernel.variables.empty()
          ? ""
          : fmt::format(" (the module's variables, {} bytes, are one of them)", kernel.variables.size());
  if (buffers > request::max_buffers)
    throw UsageError(fmt::format("the launch has {} buffers{}; the machine takes {}: join some of them",
                                 buffers, variables, request::max_buffers));
  const std::uint64_t room = request::data_bytes;
  if (data > room)
    throw UsageError(fmt::format(
        "the buffers that are copied in have {} bytes{}; host staging holds {}: use smaller arrays, "
        "and out: for buffers whose contents do not matter",
        data, variables, room));
}

// The buffers of a launch: their descriptors, and their data one after another.
class Buffers {
 public:
  explicit Buffers(Staging& host) : host_(host) {}

  // Its number. DATA may be null where nothing is copied in.
  std::uint32_t add(std::uint64_t bytes, int flags, const std::vector<std::uint8_t>* data) {
    const std::size_t at = request::descriptors + std::size_t{request::descriptor_bytes} * count_;
    host_.word(at + request::descriptor::bytes, number(bytes));
    host_.word(at + request::descriptor::flags, number(flags));
    if (data != nullptr) {
      host_.word(at + request::descriptor::host_address, next_data_);
      host_.data(next_data_, *data);
      next_data_ += number(whole_lines(data->size()));
    }
    return count_++;
  }
  std::uint32_t count() const { return count_; }

 private:
  Staging& host_;
  std::uint32_t count_ = 0, next_data_ = request::data;
};

// Dynamic shared memory begins at a multiple of 16 behind the static one.
std::uint32_t static_shared_bytes(const Description& description, const isa::Kernel& kernel) {
  constexpr auto alignment = number(isa::Parameters::dynamic_shared_alignment);
  const auto bytes = number(kernel.shared_bytes);
  return description.shared_bytes == 0 ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Prompt make_prompt(const Description& description, const isa::Kernel& kernel) {
  check_arguments(description, kernel);
  check_capacity(description, kernel);

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

  Prompt prompt;
  Buffers buffers(host);
  if (!kernel.variables.empty()) {
    buffers.add(kernel.variables.size(), request::copy_in, &kernel.variables);
    prompt.first_buffer = buffers.count();
  }
  std::vector<std::uint8_t> parameters(whole_lines(number(kernel.parameter_bytes)));
  std::vector<std::uint32_t> kinds(parameters.size() / 4, number(request::kind_word));
  for (std::size_t n = 0; n < description.arguments.size(); ++n) {
    const Argument& argument = description.arguments[n];
    const auto offset = static_cast<std::size_t>(kernel.parameters[n].offset);
    if (!argument.buffer()) {
      std::memcpy(&parameters.at(offset), argument.data.bytes.data(), argument.data.bytes.size());
      continue;
    }
    const std::uint32_t buffer = buffers.add(
        argument.shape.bytes(),
        (argument.copied_in() ? request::copy_in : 0) | (argument.copied_out() ? request::copy_out : 0),
        argument.copied_in() ? &argument.data.bytes : nullptr);
    // The upper half of a 64-bit pointer stays 0.
    const std::uint32_t word = 4 * buffer;
    std::memcpy(&parameters.at(offset), &word, sizeof word);
    kinds.at(offset / 4) = number(request::kind_address);
    prompt.arguments.push_back(n);
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

  for (std::size_t n = 0; n < kernel.code.size(); ++n) {
    prompt.tokens.push_back(isa::token_id({isa::TokenKind::Instruction, static_cast<int>(n)}));
    isa::append_row(prompt.tokens, isa::encode(kernel.code[n]));
  }
  host.append(prompt.tokens);
  prompt.tokens.push_back(isa::token_id({isa::TokenKind::Go}));
  return prompt;
}

}  // namespace qwengpu::launch

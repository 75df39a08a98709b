#include "emulator/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "isa/assembly.h"
#include "isa/request.h"
#include "isa/tokens.h"

namespace qwengpu::emulator {
namespace {

namespace request = isa::request;
using isa::Parameters;

class Staging {
 public:
  void put(int address, std::uint32_t value) {
    if (address < 0 || address >= Parameters::host_bytes) throw std::invalid_argument("host staging is full");
    const auto line = static_cast<std::size_t>(address / 16);
    if (line >= lines_.size()) lines_.resize(line + 1);
    lines_[line][static_cast<std::size_t>(address / 4 % 4)] = value;
  }
  std::vector<isa::Row> take() { return std::move(lines_); }

 private:
  std::vector<isa::Row> lines_;
};

}  // namespace

std::vector<isa::Row> host_lines(const Case& launch) {
  const auto number = [](auto value) { return static_cast<std::uint32_t>(value); };
  const int lines = static_cast<int>((launch.arguments.size() + 3) / 4);
  if (lines > request::max_parameter_lines) throw std::invalid_argument("too many kernel parameters");
  if (launch.buffers.size() > request::max_buffers) throw std::invalid_argument("too many buffers");

  Staging staging;
  staging.put(request::instructions, number(launch.kernel.code.size()));
  staging.put(request::registers, number(launch.kernel.registers));
  staging.put(request::static_shared, number(launch.kernel.shared_bytes));
  staging.put(request::device, launch.device);
  staging.put(request::dynamic_shared, launch.dynamic_shared);
  for (int axis = 0; axis < 3; ++axis) {
    staging.put(request::grid + 4 * axis, launch.grid[static_cast<std::size_t>(axis)]);
    staging.put(request::block + 4 * axis, launch.block[static_cast<std::size_t>(axis)]);
  }
  staging.put(request::buffers, number(launch.buffers.size()));
  staging.put(request::parameter_lines, number(lines));
  staging.put(request::local_bytes, number(launch.kernel.local_bytes));
  staging.put(request::named_barriers, launch.kernel.named_barriers);

  int data = request::data;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const CaseBuffer& buffer = launch.buffers[b];
    const int at = request::descriptors + request::descriptor_bytes * static_cast<int>(b);
    staging.put(at + request::descriptor::bytes, buffer.bytes);
    staging.put(at + request::descriptor::flags,
                number((buffer.copy_in ? request::copy_in : 0) | (buffer.copy_out ? request::copy_out : 0)));
    staging.put(at + request::descriptor::host_address, number(data));
    staging.put(at + request::descriptor::lifetime,
                (buffer.keep ? request::keep : 0) | (buffer.again ? request::again : 0));
    for (std::uint32_t word : buffer.data) {
      staging.put(data, word);
      data += 4;
    }
    data = (data + 15) / 16 * 16;
  }
  for (std::size_t n = 0; n < launch.arguments.size(); ++n) {
    const CaseArgument& argument = launch.arguments[n];
    const int at = request::parameters + request::parameter_entry_bytes * static_cast<int>(n / 4) +
                   4 * static_cast<int>(n % 4);
    staging.put(at, argument.is_buffer ? 4 * argument.value : argument.value);
    staging.put(at + request::parameter_kinds,
                number(argument.is_buffer ? request::kind_address : request::kind_word));
  }
  return staging.take();
}

std::vector<int> prompt_of(const Case& launch) {
  std::vector<int> tokens;
  for (std::size_t n = 0; n < launch.kernel.code.size(); ++n) {
    tokens.push_back(isa::token_id({isa::TokenKind::Instruction, static_cast<int>(n)}));
    isa::append_row(tokens, isa::encode(launch.kernel.code[n]));
  }
  const std::vector<isa::Row> lines = host_lines(launch);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    if (lines[n] == isa::Row{}) continue;  // staging starts at 0
    tokens.push_back(isa::token_id({isa::TokenKind::HostLine, static_cast<int>(n)}));
    isa::append_row(tokens, lines[n]);
  }
  tokens.push_back(isa::token_id({isa::TokenKind::Go}));
  return tokens;
}

std::string text_of(const Case& launch) {
  std::string text =
      fmt::format("grid {} block {} registers {} shared {} + {} local {} named barriers {:#x}\n",
                  fmt::join(launch.grid, ","), fmt::join(launch.block, ","), launch.kernel.registers,
                  launch.kernel.shared_bytes, launch.dynamic_shared, launch.kernel.local_bytes,
                  launch.kernel.named_barriers);
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    text += fmt::format("buffer {}: {} bytes{}{}{}{} [{}]\n", b, launch.buffers[b].bytes,
                        launch.buffers[b].copy_in ? ", in" : "", launch.buffers[b].copy_out ? ", out" : "",
                        launch.buffers[b].again ? ", again" : "", launch.buffers[b].keep ? ", keep" : "",
                        fmt::join(launch.buffers[b].data, " "));
  for (std::size_t n = 0; n < launch.arguments.size(); ++n)
    text += fmt::format("c[{:#x}] = {}{}\n", isa::constant::parameters + 4 * static_cast<int>(n),
                        launch.arguments[n].is_buffer ? "buffer " : "", launch.arguments[n].value);
  return text + isa::listing(launch.kernel.code);
}

}  // namespace qwengpu::emulator

#include "launch/results.h"

#include <fmt/format.h>

#include <algorithm>

namespace qwengpu::launch {

void ResultCollector::push(const Step& step) {
  if (step.fault && !step.firmware) fault_ = step;
  if (step.event == Event::Stuck) stuck_ = step;
  if (step.event == Event::BarrierPassed) stuck_.reset();  // the firmware found a barrier to pass
  if (step.api() && step.row) {
    current_ = nullptr;
    if (step.status() != 0 && failed_call_.empty()) failed_call_ = step.info().mnemonic;
    if (step.op == isa::Op::Synchronize) {
      synchronized_ = true;
      status_ = step.status();
    } else if (step.op == isa::Op::CopyBack && step.status() == 0) {
      const isa::Row& row = *step.row;  // address, buffer, bytes, status
      current_ = &copies_[row[1]];
      *current_ = {row[2], {}};
    }
  } else if (step.op == isa::Op::Out && step.row) {
    if (!current_) throw TranscriptError("the transcript speaks results before any cudaMemcpyDeviceToHost");
    for (int lane = 0; lane < isa::Parameters::lanes; ++lane) {
      if (!step.executes(lane)) continue;
      const std::uint32_t word = (*step.row)[static_cast<std::size_t>(lane)];
      // The last word of a buffer counts as far as the buffer goes.
      const auto missing = current_->bytes - static_cast<std::uint32_t>(current_->spoken.size());
      if (missing == 0) throw TranscriptError("the transcript speaks more results than the buffer has bytes");
      for (std::uint32_t byte = 0; byte < std::min<std::uint32_t>(4, missing); ++byte)
        current_->spoken.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
    }
  }
}

std::vector<Result> ResultCollector::results(const Description& description, const Prompt& prompt) const {
  if (!synchronized_)
    throw TranscriptError("the transcript ends before cudaStreamSynchronize: there are no results");
  if (status_ != 0)
    throw TranscriptError(
        fmt::format("the launch failed with {}: there are no results", isa::status_name(status_)));
  std::vector<Result> results;
  for (const auto& [n, number, shape] : prompt.buffers) {
    if (!description.arguments[n].copied_out()) continue;
    const auto copy = copies_.find(number);
    const std::uint64_t bytes = shape.bytes();
    if (bytes != 0 && (copy == copies_.end() || copy->second.spoken.size() != bytes))
      throw TranscriptError(fmt::format("the transcript speaks {} of the {} bytes of argument {}",
                                        copy == copies_.end() ? 0 : copy->second.spoken.size(), bytes, n));
    results.push_back({n, {shape, bytes == 0 ? std::vector<std::uint8_t>{} : copy->second.spoken}});
  }
  return results;
}

}  // namespace qwengpu::launch

// The results of a launch: the words the model speaks between a cudaMemcpyDeviceToHost and the next API call,
// and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launch/prompt.h"
#include "launch/steps.h"

namespace qwengpu::launch {

struct Result {
  std::size_t argument = 0;
  Array array;
};

class ResultCollector {
 public:
  // Throws TranscriptError when more is spoken than a buffer holds.
  void push(const Step& step);

  bool synchronized() const { return synchronized_; }
  int status() const { return status_; }  // of the launch, by cudaStreamSynchronize
  // The first API call whose status is not 0, for the message: "gridDim", ...
  const std::string& failed_call() const { return failed_call_; }
  const std::optional<Step>& fault() const { return fault_; }  // of the kernel
  // The block whose threads wait for each other, when the launch ended with cudaErrorLaunchTimeout for that.
  const std::optional<Step>& stuck() const { return stuck_; }

  // Throws TranscriptError unless the launch succeeded and every buffer that is copied out was spoken whole.
  std::vector<Result> results(const Description& description, const Prompt& prompt) const;

 private:
  struct Copy {
    std::uint32_t bytes = 0;
    std::vector<std::uint8_t> spoken;
  };
  std::map<std::uint32_t, Copy> copies_;  // by buffer
  Copy* current_ = nullptr;
  bool synchronized_ = false;
  int status_ = 0;
  std::string failed_call_;
  std::optional<Step> fault_, stuck_;
};

}  // namespace qwengpu::launch

// From a wrong token to the place in the model: the first signal of the last token whose value on the residual stream is not
// what the circuit, interpreted without layers and weights, says it is.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "qwen/checkpoint.h"

namespace qwengpu {

// TOKENS: the prompt and the transcript up to the token before the wrong one. A text for a person: sublayer, signal, both values; or
// that all signals are as the circuit says, so that the circuit itself is to blame. Takes some milliseconds a token.
std::string locate(const qwen::Checkpoint& checkpoint, std::span<const int> tokens,
                   const std::function<void(std::size_t done)>& progress = {});

}  // namespace qwengpu

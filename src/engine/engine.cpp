#include "engine/engine.h"

#include <fmt/format.h>

#include <stdexcept>

namespace qwengpu::engine {

void Engine::prefill(std::span<const int> tokens) {
  for (const int token : tokens) check_token(token);
  for (const int token : tokens) append(token);
}

void Engine::check_token(int token) const {
  if (token < 0 || token >= geometry_.vocab) {
    throw std::invalid_argument(
        fmt::format("token {} is outside the vocabulary of {} tokens", token, geometry_.vocab));
  }
}

void Engine::check_embedding(std::span<const float> hidden) const {
  if (hidden.size() != static_cast<std::size_t>(geometry_.hidden)) {
    throw std::invalid_argument(fmt::format("the embedding has {} values, the model has {} columns",
                                            hidden.size(), geometry_.hidden));
  }
}

void Engine::check_head(int layer, int head) const {
  if (layer < 0 || layer >= geometry_.layers || geometry_.is_attention(layer)) {
    throw std::invalid_argument(
        fmt::format("layer {} of {} has no recurrent state", layer, geometry_.layers));
  }
  if (head < 0 || head >= geometry_.gdn_heads) {
    throw std::invalid_argument(fmt::format("head {} of {} does not exist", head, geometry_.gdn_heads));
  }
}

void Engine::check_not_empty() const {
  if (position() == 0) throw std::logic_error("the sequence is empty: append a token first");
}

}  // namespace qwengpu::engine

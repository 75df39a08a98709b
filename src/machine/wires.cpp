#include "machine/wires.h"

#include <fmt/format.h>

namespace qwengpu::machine {

Signal executes(Circuit& c, const Wires& w, Control control) {
  return circuit::and_(c, std::string(control_name(control)), {w.control_bit(control), w.lane_executes});
}

std::vector<HeadSpec::Row> SplitOneHot::rows() const {
  std::vector<HeadSpec::Row> rows;
  for (std::size_t i = 0; i < high.size() * low.size(); ++i)
    rows.push_back({static_cast<int>(i), both(high[i / low.size()], low[i % low.size()])});
  return rows;
}

SplitOneHot split_decode(Circuit& c, const std::string& name, const Word& bits, int low_bits, const Linear& enable) {
  SplitOneHot result;
  const auto decode = [&](const Word& part, const std::string& half) {
    Signals outputs;
    for (std::size_t value = 0; value < std::size_t{1} << part.size(); ++value) {
      outputs.push_back(c.bus(fmt::format("{}/{}[{}]", name, half, value)));
      c.add(outputs.back(), 1, both(circuit::match(part, value), enable));
    }
    c.exclusive(outputs);
    return outputs;
  };
  const int width = static_cast<int>(bits.size());
  result.low = decode(slice(bits, 0, low_bits), "low");
  result.high = decode(slice(bits, low_bits, width - low_bits), "high");
  return result;
}

}  // namespace qwengpu::machine

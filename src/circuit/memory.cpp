#include "circuit/memory.h"

#include <fmt/format.h>

#include "circuit/gates.h"

namespace qwengpu::circuit {

namespace {

bool is_zero(const Linear& form) { return form == Linear(0); }

// The condition folded into a 0/1 row: relu(form + when - 1).
Linear both(const Linear& form, const Linear& when) { return when == Linear(1) ? form : form + when - 1; }

}  // namespace

std::vector<HeadSpec::Row> rows(const Word& forms, int first_dim) {
  std::vector<HeadSpec::Row> out;
  int dim = first_dim;
  for (const Linear& form : forms) {
    if (!is_zero(form)) out.push_back({dim, form});
    ++dim;
  }
  return out;
}

std::vector<HeadSpec::Row> decoded_rows(const Word& address, const Linear& when) {
  if (address.size() > 7)
    throw Error(fmt::format("an address of {} bits; a head has 128 words", address.size()));
  std::vector<HeadSpec::Row> out;
  for (int i = 0; i < 1 << address.size(); ++i) {
    out.push_back({i, both(match(address, static_cast<std::uint64_t>(i)), when)});
  }
  return out;
}

std::vector<HeadSpec::Row> same_rows(const Linear& form, int count, int first_dim) {
  std::vector<HeadSpec::Row> out;
  for (int i = 0; i < count; ++i) out.push_back({first_dim + i, form});
  return out;
}

Signals latch(Circuit& c, const LatchSpec& spec) {
  RamSpec one_word;
  one_word.name = spec.name;
  one_word.layer = spec.layer;
  one_word.write_address = {{0, spec.write}};  // no key, no write: beta can stay 1
  one_word.read_address = {{0, Linear(1)}};
  one_word.data = spec.data;
  one_word.read = spec.read;
  one_word.clear = spec.clear;
  return ram(c, one_word);
}

void ram_into(Circuit& c, const RamSpec& spec, const Signals& outputs) {
  HeadSpec head;
  head.name = spec.name;
  head.layer = spec.layer;
  head.key = spec.write_address;
  head.query = spec.read_address;
  head.value = rows(spec.data);
  head.z = same_rows(spec.read, static_cast<int>(outputs.size()));
  if (spec.write != Linear(1)) head.write_enable = write_when(spec.write);
  head.clear = spec.clear;
  for (std::size_t i = 0; i < outputs.size(); ++i) head.outputs.push_back({static_cast<int>(i), outputs[i]});
  c.head(head);
}

Signals ram(Circuit& c, const RamSpec& spec) {
  const Signals outputs = bus_word(c, spec.name, static_cast<int>(spec.data.size()));
  ram_into(c, spec, outputs);
  return outputs;
}

}  // namespace qwengpu::circuit

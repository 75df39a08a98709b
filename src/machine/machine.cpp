#include "machine/machine.h"

#include "isa/firmware.h"
#include "isa/tokens.h"

namespace qwengpu::machine {

Machine make_machine() {
  qwen::Geometry geometry;
  geometry.vocab = isa::vocabulary_size();
  Machine m;
  m.circuit = std::make_unique<Circuit>(geometry);
  Circuit& c = *m.circuit;
  Wires& w = m.wires;
  w.token = make_token_inputs(c);
  m.speech = make_speech(c);
  build_latches(c, w, m.plan);
  build_fetch(c, w, m.plan, isa::firmware());
  build_predicates(c, w, m.plan);
  build_program_counters(c, w, m.plan);
  build_registers(c, w, m.plan);
  build_operands(c, w, m.plan);
  build_scheduler(c, w, m.plan);
  build_warp(c, w, m.plan);
  build_integer(c, w);
  build_floating(c, w);
  build_bit_units(c, w);
  build_compare(c, w);
  build_host(c, w, m.plan);
  build_address_check(c, w);
  build_memory(c, w, m.plan);
  build_speech(c, w, m.speech);
  embed_vocabulary(c, w.token);
  unembed_vocabulary(c, m.speech);
  return m;
}

circuit::Compiled compile(const Machine& machine) {
  circuit::TokenTable table;
  for (int id = 0; id < isa::vocabulary_size(); ++id) table.spellings.push_back(isa::spelling(id));
  table.eos = isa::token_id({isa::TokenKind::End});
  table.pad = isa::token_id({isa::TokenKind::Pad});
  return circuit::compile(*machine.circuit, table);
}

}  // namespace qwengpu::machine

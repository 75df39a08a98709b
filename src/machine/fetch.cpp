// Instruction memory: 2048 words in the 16 heads of one GDN layer, and the firmware, a read-only memory of one neuron a word.
#include <fmt/format.h>

#include "machine/units.h"

namespace qwengpu::machine {

void build_fetch(Circuit& c, Wires& w, const FloorPlan& plan, const std::vector<isa::Instruction>& firmware) {
  const auto scope = c.scope("fetch");
  const TokenInputs& t = w.token;
  w.instruction = circuit::bus_word(c, "instruction", row_bits);

  for (int bank = 0; bank < Parameters::instructions / 128; ++bank) {
    const auto b = static_cast<std::size_t>(bank);
    HeadSpec head{.name = fmt::format("instructions{}", bank), .layer = plan.instructions};
    head.clear = t.begins_prompt;
    head.key = circuit::rows(w.number_low);
    head.value = circuit::rows(w.staged);
    head.write_enable =
        circuit::write_when(all({t.row_end, w.control_bit(Control::ToInstruction), w.number_high[b]}));
    head.query = circuit::rows(w.pc_low);
    // One column selects the 128 rows of z: a product inside the projection would touch those of all banks.
    const Signal read = circuit::and_(c, fmt::format("read{}", bank),
                                      {t.use_instruction, w.pc_high[b], 1 - Linear(w.firmware)});
    head.z = circuit::same_rows(read, row_bits);
    for (int bit = 0; bit < row_bits; ++bit) head.outputs.push_back({bit, w.instruction[static_cast<std::size_t>(bit)]});
    c.head(std::move(head));
  }

  const auto rom = c.scope("firmware");
  if (firmware.size() > Parameters::firmware_instructions)
    throw circuit::Error(fmt::format("the firmware has {} instructions, the machine holds {}", firmware.size(),
                                     Parameters::firmware_instructions));
  Signals bank;  // of 128 words; pc_low is 0 unless an instruction is wanted
  for (std::size_t i = 0; i < Parameters::firmware_instructions / 128; ++i)
    bank.push_back(circuit::and_(c, circuit::indexed("bank", static_cast<int>(i)), {w.firmware, w.pc_high[i]}));
  for (std::size_t pc = 0; pc < firmware.size(); ++pc) {
    const Linear here = both(bank[pc / 128], w.pc_low[pc % 128]);
    const isa::Row word = isa::encode(firmware[pc]);
    for (int bit = 0; bit < row_bits; ++bit)
      if (word[static_cast<std::size_t>(bit / 32)] >> (bit % 32) & 1)
        c.add(w.instruction[static_cast<std::size_t>(bit)], 1, here);
  }
}

}  // namespace qwengpu::machine

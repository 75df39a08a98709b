#include "machine/vocabulary.h"

#include <fmt/format.h>

#include "isa/tokens.h"

namespace qwengpu::machine {
namespace {

using isa::Op;
using isa::Token;
using isa::TokenKind;
using isa::Unit;

Signals one_hot_inputs(Circuit& c, const std::string& name, int count) {
  Signals signals = circuit::input_word(c, name, count);
  c.exclusive(signals);
  return signals;
}

// Sets the inputs of one token.
class Embedder {
 public:
  Embedder(Circuit& c, const TokenInputs& t, int id) : c_(c), t_(t), id_(id), token_(isa::token_of(id)) {}

  void embed() {
    const Token& k = token_;
    if (k.kind != TokenKind::Value && !(k.kind == TokenKind::LastValue && k.a < lanes - 1)) set(t_.use_state);
    switch (k.kind) {
      case TokenKind::Pad:
      case TokenKind::End: break;
      case TokenKind::Go: set(t_.want_system); break;
      case TokenKind::Instruction: index(); controls({Control::ToInstruction}); break;
      case TokenKind::HostLine: index(); controls({Control::ToHost}); break;
      case TokenKind::Quad:
        number(8);
        set(t_.quad);
        next();
        break;
      case TokenKind::System: set(t_.system); next(); break;
      case TokenKind::FirmwarePc: set(t_.firmware_pc); [[fallthrough]];
      case TokenKind::Pc:
        number(11);
        set(t_.pc);
        set(t_.use_instruction);
        set(t_.use_predicates);
        set(t_.use_pcs);
        set(t_.reads_register);
        break;
      case TokenKind::Op: op(); break;
      case TokenKind::OperandC:
        set(t_.operand_c);
        set(t_.use_instruction);
        set(t_.reads_register);
        set(t_.use_control);
        speak_from(0, 0);
        break;
      case TokenKind::Keep:
        set(t_.keep);
        set(t_.use_instruction);
        set(t_.reads_register);
        set(t_.use_control);
        set(t_.want_value);
        speak_from(0, 0);
        break;
      case TokenKind::Value:
      case TokenKind::LastValue: value(); break;
      case TokenKind::Predicate:
        set(t_.predicate, k.a);
        bits(t_.mask, k.b);
        next();
        break;
      case TokenKind::Store: set(t_.store); memory_lane(); break;
      case TokenKind::Copy: set(t_.copy); memory_lane(); break;
      case TokenKind::ThreadIndex:
      case TokenKind::ConstantLine:
        index();
        set(t_.use_control);
        set(t_.want_value);
        speak_from(0, 0);
        break;
      case TokenKind::RegisterClass:
        set(t_.register_class, k.a);
        set(t_.sets_register_class);
        next();
        break;
      case TokenKind::Fault:
        bits(t_.fault_code, isa::fault_table[static_cast<std::size_t>(k.a)].code);
        set(t_.sets_fault);
        set(t_.want_system);
        break;
    }
  }

 private:
  void set(Signal input) { c_.embed(id_, input, 1); }
  void set(const Signals& one_hot, int position) { set(one_hot.at(static_cast<std::size_t>(position))); }
  void bits(const Signals& word, int value) {
    for (std::size_t i = 0; i < word.size(); ++i)
      if (value >> i & 1) set(word[i]);
  }
  void controls(const std::vector<Control>& word) {
    set(t_.sets_control);
    for (Control control : word) set(t_.control, static_cast<int>(control));
  }
  void number(int binary_bits) {
    set(t_.number_low, token_.a % 128);
    set(t_.number_high, token_.a / 128);
    for (int i = 0; i < binary_bits; ++i)
      if (token_.a >> i & 1) set(t_.number_bits, i);
  }
  void index() {
    set(t_.number_low, token_.a % 128);
    set(t_.number_high, token_.a / 128);
    set(t_.index);
  }
  void next() {
    set(t_.want_next);
    set(t_.use_pcs);
  }
  void speak_from(int lane, int byte) {
    set(t_.select, lane);
    set(t_.next_byte, byte);
  }

  void value() {
    const auto [kind, lane, byte, value] = token_;
    const bool last = kind == TokenKind::LastValue;
    set(t_.lane, lane);
    set(t_.byte, byte);
    bits(t_.value, value);
    for (int b = byte; b < (last ? 4 : byte + 1); ++b) set(t_.stage, b);
    set(t_.use_control);
    if (last && lane == lanes - 1) {
      set(t_.row_end);
      set(t_.use_instruction);
      next();
    } else {
      set(t_.want_value);
      speak_from(last ? lane + 1 : lane, last ? 0 : byte + 1);
    }
  }

  void memory_lane() {
    set(t_.select, token_.a);
    set(t_.use_control);
    set(t_.use_instruction);
    set(t_.use_pcs);
  }

  void op() {
    const isa::OpInfo& op = isa::info(static_cast<Op>(token_.a));
    const int x = token_.c;
    set(t_.op);
    bits(t_.at, token_.b);
    bits(t_.executing, x);
    set(t_.use_control);
    if (op.unit == Unit::Illegal) {
      set(t_.want_illegal);
      controls({});
      return;
    }
    set(t_.use_pcs);
    set(t_.use_instruction);
    if (x == 0) {
      set(t_.want_next);
      controls({});
      return;
    }
    controls(control_word(op, x));
    if (op.reads_b()) set(t_.reads_b);
    if (op.unit == Unit::Load || op.unit == Unit::CopyOut) set(t_.b_is_offset);
    const int first = x & 1 ? 0 : x & 2 ? 1 : x & 4 ? 2 : 3;
    if (op.accesses_global()) set(t_.check);

    switch (op.unit) {
      case Unit::Store: set(t_.want_store, first); return;
      case Unit::CopyHost: set(t_.want_copy, first); return;
      case Unit::Compare:
      case Unit::FloatCompare:
        set(t_.compare);
        set(t_.writes_predicate);
        set(t_.use_predicates);
        return;
      case Unit::Predicate:
        set(t_.writes_predicate);
        set(t_.predicate_sources);
        set(t_.use_predicates);
        return;
      case Unit::Branch: set(t_.branch); set(t_.want_next); return;
      case Unit::Exit: set(t_.exit); set(t_.want_next); return;
      case Unit::Limit: set(t_.limit); set(t_.want_next); return;
      case Unit::Run: set(t_.run); set(t_.sets_fault); set(t_.want_first_quad); return;
      case Unit::Halt: set(t_.want_end); return;
      case Unit::RegisterClass: set(t_.select, 0); set(t_.want_class); return;
      case Unit::StoreConstant: set(t_.select, 0); set(t_.want_constant); return;
      case Unit::ThreadIndex: set(t_.select, 0); set(t_.want_thread_index); return;
      default: break;
    }
    // What is left speaks a row.
    if (op.unit == Unit::Select) {
      set(t_.select_op);
      set(t_.predicate_sources);
      set(t_.use_predicates);
    }
    if (op.reads_c()) {
      set(t_.want_c);
    } else if (op.writes_register() && x != 15) {
      set(t_.want_keep);
    } else {
      set(t_.want_value);
      speak_from(0, 0);
    }
  }

  Circuit& c_;
  const TokenInputs& t_;
  int id_;
  const Token& token_;
};

}  // namespace

TokenInputs make_token_inputs(Circuit& c) {
  const auto scope = c.scope("token");
  TokenInputs t;
  t.number_low = one_hot_inputs(c, "number_low", 128);
  t.number_high = one_hot_inputs(c, "number_high", 32);
  t.number_bits = circuit::input_word(c, "number_bits", 11);
  t.value = circuit::input_word(c, "value", 8);
  t.lane = one_hot_inputs(c, "lane", lanes);
  t.byte = one_hot_inputs(c, "byte", 4);
  t.stage = circuit::input_word(c, "stage", 4);
  t.predicate = one_hot_inputs(c, "predicate", Parameters::predicates);
  t.mask = circuit::input_word(c, "mask", lanes);
  t.at = circuit::input_word(c, "at", lanes);
  t.executing = circuit::input_word(c, "executing", lanes);
  for (int i = 0; i < control_count; ++i)
    t.control.push_back(c.input(fmt::format("control.{}", control_name(static_cast<Control>(i)))));
  t.register_class = one_hot_inputs(c, "register_class", Parameters::register_classes);
  t.fault_code = circuit::input_word(c, "fault_code", 10);
  t.select = one_hot_inputs(c, "select", lanes);
  t.next_byte = one_hot_inputs(c, "next_byte", 4);
  t.want_store = one_hot_inputs(c, "want_store", lanes);
  t.want_copy = one_hot_inputs(c, "want_copy", lanes);
  const std::pair<const char*, Signal*> flags[] = {
      {"quad", &t.quad}, {"system", &t.system}, {"pc", &t.pc}, {"firmware_pc", &t.firmware_pc}, {"index", &t.index},
      {"op", &t.op}, {"operand_c", &t.operand_c}, {"keep", &t.keep}, {"store", &t.store}, {"copy", &t.copy},
      {"row_end", &t.row_end}, {"sets_control", &t.sets_control}, {"sets_register_class", &t.sets_register_class},
      {"sets_fault", &t.sets_fault}, {"use_state", &t.use_state}, {"use_control", &t.use_control},
      {"use_instruction", &t.use_instruction}, {"use_predicates", &t.use_predicates}, {"use_pcs", &t.use_pcs},
      {"reads_register", &t.reads_register}, {"reads_b", &t.reads_b}, {"b_is_offset", &t.b_is_offset},
      {"check", &t.check}, {"compare", &t.compare}, {"writes_predicate", &t.writes_predicate},
      {"predicate_sources", &t.predicate_sources}, {"select_op", &t.select_op}, {"branch", &t.branch},
      {"exit", &t.exit}, {"run", &t.run}, {"limit", &t.limit}, {"want_next", &t.want_next}, {"want_c", &t.want_c},
      {"want_keep", &t.want_keep}, {"want_value", &t.want_value}, {"want_thread_index", &t.want_thread_index},
      {"want_constant", &t.want_constant}, {"want_class", &t.want_class}, {"want_end", &t.want_end},
      {"want_system", &t.want_system}, {"want_first_quad", &t.want_first_quad}, {"want_illegal", &t.want_illegal}};
  for (const auto& [name, signal] : flags) *signal = c.input(name);
  // A token is of one kind; what only op tokens set excludes what other kinds set.
  c.exclusive({t.quad, t.system, t.pc, t.index, t.op, t.operand_c, t.keep, t.store, t.copy, t.row_end,
               t.sets_register_class});
  c.exclusive({t.reads_register, t.reads_b, t.b_is_offset});
  c.exclusive({t.compare, t.check, t.predicate_sources, t.branch, t.exit, t.run, t.limit});
  c.exclusive({t.sets_register_class, t.sets_fault, t.quad, t.system, t.pc, t.index});
  Signals wants = {t.want_next, t.want_c, t.want_keep, t.want_value, t.want_thread_index, t.want_constant,
                   t.want_class, t.want_end, t.want_system, t.want_first_quad, t.want_illegal, t.operand_c};
  wants.insert(wants.end(), t.want_store.begin(), t.want_store.end());
  wants.insert(wants.end(), t.want_copy.begin(), t.want_copy.end());
  c.exclusive(wants);
  return t;
}

void embed_vocabulary(Circuit& c, const TokenInputs& t) {
  for (int id = 0; id < isa::vocabulary_size(); ++id) Embedder(c, t, id).embed();
}

Speech make_speech(Circuit& c) {
  const auto scope = c.scope("speech");
  Speech s;
  const auto family = [&c](const std::string& name, int count) {
    Signals signals = circuit::bus_word(c, name, count);
    c.exclusive(signals);
    return signals;
  };
  const auto digits = [&family](const std::string& name) {
    return Digits{family(name + ".high", 16), family(name + ".low", 16)};
  };
  s.pc_digits = digits("pc_digits");
  s.value_digits = digits("value_digits");
  s.digits = digits("digits");
  Signals masks;
  for (int at = 1; at < 1 << lanes; ++at) {
    s.masks[static_cast<std::size_t>(at)].resize(1 << lanes);
    for (int executing = 0; executing < 1 << lanes; ++executing) {
      if ((executing & ~at) != 0) continue;
      masks.push_back(c.bus(fmt::format("masks[{}][{}]", at, executing)));
      s.masks[static_cast<std::size_t>(at)][static_cast<std::size_t>(executing)] = masks.back();
    }
  }
  c.exclusive(masks);
  s.pc = family("pc", Parameters::instructions / 128);
  s.firmware_pc = family("firmware_pc", Parameters::firmware_instructions / 128);
  for (const isa::OpInfo& op : isa::op_table) s.op.push_back(c.bus(fmt::format("op.{}", op.mnemonic)));
  c.exclusive(s.op);
  s.predicate = family("predicate", Parameters::predicates);
  s.quad = c.bus("quad");
  s.system = c.bus("system");
  for (int lane = 0; lane < lanes; ++lane) {
    s.value[static_cast<std::size_t>(lane)] = family(fmt::format("value{}", lane), 3);
    s.last_value[static_cast<std::size_t>(lane)] = family(fmt::format("last_value{}", lane), 4);
  }
  s.store = family("store", lanes);
  s.copy = family("copy", lanes);
  s.thread_index = c.bus("thread_index");
  s.constant_line = c.bus("constant_line");
  s.register_class = family("register_class", Parameters::register_classes);
  for (const isa::FaultInfo& fault : isa::fault_table)
    s.fault[static_cast<std::size_t>(fault.fault)] = family(
        fmt::format("fault.{}", fault.spelling), fault.fault == isa::Fault::IllegalInstruction ? 1 : lanes);
  s.operand_c = c.bus("operand_c");
  s.keep = c.bus("keep");
  s.end = c.bus("end");
  return s;
}

void unembed_vocabulary(Circuit& c, const Speech& s) {
  // Logit units: wide gaps, so that sampling at temperature 1 would pick the same tokens.
  constexpr double class_weight = 32, digit_weight = 16;
  for (int id = 0; id < isa::vocabulary_size(); ++id) {
    const Token& t = isa::token_of(id);
    const auto say = [&](Signal token_class, const std::vector<Signal>& parts = {}) {
      Linear logit = class_weight * Linear(token_class);
      for (const Signal part : parts) logit += digit_weight * Linear(part);
      c.unembed(id, logit);
    };
    const auto spell = [](const Digits& digits, int high, int low) {
      return std::vector{digits.high.at(static_cast<std::size_t>(high)), digits.low.at(static_cast<std::size_t>(low))};
    };
    const auto a = static_cast<std::size_t>(t.a), b = static_cast<std::size_t>(t.b);
    switch (t.kind) {
      case TokenKind::Pad:
      case TokenKind::Go:
      case TokenKind::Instruction:
      case TokenKind::HostLine: break;  // prompt only
      case TokenKind::End: say(s.end); break;
      case TokenKind::Quad: say(s.quad, spell(s.digits, t.a >> 4, t.a & 15)); break;
      case TokenKind::System: say(s.system); break;
      case TokenKind::Pc: say(s.pc[a / 128], spell(s.pc_digits, t.a >> 4 & 7, t.a & 15)); break;
      case TokenKind::FirmwarePc: say(s.firmware_pc[a / 128], spell(s.pc_digits, t.a >> 4 & 7, t.a & 15)); break;
      case TokenKind::Op: say(s.op[a], {s.masks[b][static_cast<std::size_t>(t.c)]}); break;
      case TokenKind::OperandC: say(s.operand_c); break;
      case TokenKind::Keep: say(s.keep); break;
      case TokenKind::Value: say(s.value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::LastValue: say(s.last_value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::Predicate: say(s.predicate[a], {s.digits.high[b]}); break;
      case TokenKind::Store: say(s.store[a]); break;
      case TokenKind::Copy: say(s.copy[a]); break;
      case TokenKind::ThreadIndex: say(s.thread_index, spell(s.digits, t.a >> 4, t.a & 15)); break;
      case TokenKind::ConstantLine: say(s.constant_line, spell(s.digits, t.a >> 4, t.a & 15)); break;
      case TokenKind::RegisterClass: say(s.register_class[a]); break;
      case TokenKind::Fault:
        if (static_cast<isa::Fault>(t.a) == isa::Fault::IllegalInstruction && t.b != 0) break;  // always told by lane 0
        say(s.fault[a][b]);
        break;
    }
  }
}

}  // namespace qwengpu::machine

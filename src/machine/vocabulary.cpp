#include "machine/vocabulary.h"

#include <fmt/format.h>

#include "isa/rows.h"
#include "isa/tokens.h"

namespace qwengpu::machine {
namespace {

using isa::Ending;
using isa::Op;
using isa::Said;
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
    const auto said = isa::said_byte(k);
    const bool last_of_row = said && said->ending != Ending::More && (said->what == Said::AllWords || k.a == lanes - 1);
    const bool in_row = k.kind == TokenKind::Read || (said && !last_of_row);
    if (!in_row) set(t_.use_state);
    switch (k.kind) {
      case TokenKind::Pad:
      case TokenKind::End: break;
      case TokenKind::Go: set(t_.go); set(t_.want_system); break;
      case TokenKind::Instruction:
        if (k.a == 0) set(t_.begins_prompt);
        index();
        controls({Control::ToInstruction});
        break;
      case TokenKind::HostLine: index(); controls({Control::ToHost}); break;
      case TokenKind::Quad:
        number(8);
        set(t_.quad);
        set(t_.enters);
        if (k.a % (Parameters::warp_lanes / lanes) == 0) set(t_.first_quad);
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
      case TokenKind::LastValue:
      case TokenKind::OnesValue: value(); break;
      case TokenKind::AllValue:
      case TokenKind::LastAllValue:
      case TokenKind::OnesAllValue: value_of_all(); break;
      case TokenKind::NewValue:
      case TokenKind::LastNewValue:
      case TokenKind::OnesNewValue: new_value(); break;
      case TokenKind::Read:
        set(t_.use_control);
        set(t_.want_value);
        speak_from(k.a, 0);
        break;
      case TokenKind::Wait:
        set(t_.waiting, k.a);
        bits(t_.mask, k.b);
        next();
        break;
      case TokenKind::Meet:
        set(t_.meet);
        bits(t_.number_bits, k.a);
        next();
        break;
      case TokenKind::MeetNone: set(t_.meet_none); next(); break;
      case TokenKind::Release:
        set(t_.release);
        bits(t_.number_bits, k.a);
        next();
        break;
      case TokenKind::ReleaseKind:
        set(static_cast<isa::WaitKind>(k.a) == isa::WaitKind::Yield ? t_.release_yield : t_.release_barrier);
        set(t_.want_first_quad);
        break;
      case TokenKind::Stuck:
        bits(t_.fault_code, isa::stuck_code);
        set(t_.sets_fault);
        set(t_.want_system);
        break;
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
        if (isa::fault_table[static_cast<std::size_t>(k.a)].has_address())
          fault_address(k.b);
        else
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
    set(t_.begins_row);
  }
  void next() {
    set(t_.want_next);
    set(t_.use_pcs);
  }
  void speak_from(int lane, int byte) {
    set(t_.select, lane);
    set(t_.next_byte, byte);
  }

  Ending ending() const { return isa::said_byte(token_)->ending; }

  // The bits that the token says, and the bytes that it says them of.
  void say_bits() {
    const std::uint32_t word = isa::spoken_bits(token_);
    for (int i = 0; i < word_bits; ++i)
      if (word >> i & 1) set(t_.said, i);
    const int end = ending() == Ending::Ones ? 4 : token_.b + 1;
    for (int b = token_.b; b < end; ++b) set(t_.stage, b);
    set(t_.use_control);
  }

  void value() {
    const int lane = token_.a, byte = token_.b;
    say_bits();
    set(t_.lane, lane);
    if (ending() == Ending::More) {
      set(t_.want_value);
      speak_from(lane, byte + 1);
      return;
    }
    set(t_.last_value);
    if (lane < lanes - 1) {
      set(t_.recall, lane);
      set(t_.want_value);
      speak_from(lane + 1, 0);
    } else {
      set(t_.row_end);
      set(t_.use_instruction);
      next();
    }
  }

  void value_of_all() {
    say_bits();
    set(t_.of_all);
    if (ending() == Ending::More) {
      set(t_.want_all_values);
      speak_from(0, token_.b + 1);
    } else {
      set(t_.row_end);
      set(t_.use_instruction);
      next();
    }
  }

  void new_value() {
    const int lane = token_.a, byte = token_.b;
    say_bits();
    set(t_.renewed);
    set(t_.select, lane);
    if (ending() == Ending::More) {
      set(t_.renewing);
      set(t_.recall, lane);
      set(t_.want_new_value);
      set(t_.next_byte, byte + 1);
      return;
    }
    set(t_.commit);
    if (lane == lanes - 1)
      next();
    else
      set(t_.want_read, lane + 1);
  }

  // From now on the op is one that adds A and the offset in that lane and speaks the sum.
  void fault_address(int lane) {
    controls({Control::UseA, Control::AddImmediate, Control::Sum, Control::Faulted});
    bits(t_.executing, 1 << lane);
    set(t_.sets_offset);
    set(t_.use_control);
    set(t_.use_instruction);
    set(t_.want_value);
    speak_from(0, 0);
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
    set(t_.begins_row);
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
    if (op.unit == Unit::Store || op.unit == Unit::Atomic) set(t_.sets_offset);
    const int first = x & 1 ? 0 : x & 2 ? 1 : x & 4 ? 2 : 3;
    if (op.accesses_memory()) set(t_.check);
    if (op.unit == Unit::Load && x == 15) set(t_.may_broadcast);
    if (op.unit == Unit::Move && x == 15) set(t_.may_be_number);

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
      case Unit::Limit:
        set(op.mode == isa::Mode::Shared ? t_.shared_limit : t_.limit);
        set(t_.want_next);
        return;
      case Unit::Put:
        set(t_.puts);
        if (op.mode == isa::Mode::Vote) {
          set(t_.predicate_sources);
          set(t_.use_predicates);
        }
        [[fallthrough]];
      case Unit::Wait:
        set(t_.wait_for, static_cast<int>(isa::wait_kind(op)));
        if (op.mode == isa::Mode::NamedBarrier) set(t_.named_barrier);
        return;
      case Unit::Resume: set(t_.sets_fault); set(t_.want_release_barrier); return;
      case Unit::Run: set(t_.run); set(t_.sets_fault); set(t_.want_first_quad); return;
      case Unit::Halt: set(t_.want_end); return;
      case Unit::RegisterClass: set(t_.select, 0); set(t_.want_class); return;
      case Unit::StoreConstant: set(t_.select, 0); set(t_.want_constant); return;
      case Unit::ThreadIndex: set(t_.select, 0); set(t_.want_thread_index); return;
      default: break;
    }
    // What is left speaks a row.
    if (op.has('q')) {
      set(t_.sets_choice);
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
  t.said = circuit::input_word(c, "said", word_bits);
  t.lane = one_hot_inputs(c, "lane", lanes);
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
  t.recall = one_hot_inputs(c, "recall", lanes);
  t.waiting = one_hot_inputs(c, "waiting", static_cast<int>(isa::wait_letters.size()));
  t.wait_for = one_hot_inputs(c, "wait_for", static_cast<int>(isa::wait_letters.size()));
  t.want_read = one_hot_inputs(c, "want_read", lanes);
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
      {"predicate_sources", &t.predicate_sources}, {"sets_choice", &t.sets_choice}, {"puts", &t.puts},
      {"last_value", &t.last_value}, {"renewed", &t.renewed}, {"of_all", &t.of_all}, {"may_broadcast", &t.may_broadcast},
      {"may_be_number", &t.may_be_number}, {"want_all_values", &t.want_all_values}, {"begins_prompt", &t.begins_prompt}, {"go", &t.go}, {"begins_row", &t.begins_row}, {"renewing", &t.renewing}, {"commit", &t.commit},
      {"named_barrier", &t.named_barrier}, {"meet", &t.meet}, {"meet_none", &t.meet_none},
      {"release", &t.release}, {"release_barrier", &t.release_barrier}, {"release_yield", &t.release_yield},
      {"first_quad", &t.first_quad}, {"enters", &t.enters}, {"sets_offset", &t.sets_offset},
      {"shared_limit", &t.shared_limit}, {"want_new_value", &t.want_new_value},
      {"want_release_barrier", &t.want_release_barrier}, {"branch", &t.branch},
      {"exit", &t.exit}, {"run", &t.run}, {"limit", &t.limit}, {"want_next", &t.want_next}, {"want_c", &t.want_c},
      {"want_keep", &t.want_keep}, {"want_value", &t.want_value}, {"want_thread_index", &t.want_thread_index},
      {"want_constant", &t.want_constant}, {"want_class", &t.want_class}, {"want_end", &t.want_end},
      {"want_system", &t.want_system}, {"want_first_quad", &t.want_first_quad}, {"want_illegal", &t.want_illegal}};
  for (const auto& [name, signal] : flags) *signal = c.input(name);
  // A token is of one kind; what only op tokens set excludes what other kinds set.
  c.exclusive({t.quad, t.system, t.pc, t.index, t.op, t.operand_c, t.keep, t.store, t.copy, t.row_end,
               t.sets_register_class, t.renewing, t.commit, t.meet, t.meet_none, t.release, t.release_barrier,
               t.release_yield, t.waiting[0], t.waiting[1], t.waiting[2]});
  c.exclusive({t.reads_register, t.reads_b, t.b_is_offset});
  c.exclusive({t.compare, t.check, t.predicate_sources, t.branch, t.exit, t.run, t.limit, t.shared_limit});
  c.exclusive({t.compare, t.check, t.sets_choice, t.puts, t.branch, t.exit, t.run, t.limit, t.shared_limit});
  c.exclusive({t.compare, t.check, t.wait_for[0], t.wait_for[1], t.wait_for[2], t.branch, t.exit, t.run});
  c.exclusive({t.sets_register_class, t.sets_fault, t.quad, t.system, t.pc, t.index});
  for (const Signal waits : {t.wait_for[0], t.named_barrier})
    for (const Signal enters : {t.enters, t.first_quad})
      c.exclusive({waits, t.wait_for[1], t.wait_for[2], enters, t.meet, t.meet_none, t.release, t.release_barrier, t.release_yield,
                   t.run});
  c.exclusive({t.lane[0], t.lane[1], t.lane[2], t.lane[3], t.of_all});
  c.exclusive({t.recall[0], t.recall[1], t.recall[2], t.recall[3], t.row_end});
  Signals wants = {t.want_next, t.want_c, t.want_keep, t.want_value, t.want_thread_index, t.want_constant,
                   t.want_class, t.want_end, t.want_system, t.want_first_quad, t.want_illegal, t.want_new_value, t.want_all_values, t.want_release_barrier, t.operand_c};
  wants.insert(wants.end(), t.want_read.begin(), t.want_read.end());
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
    s.ones_value[static_cast<std::size_t>(lane)] = family(fmt::format("ones_value{}", lane), 3);
    s.ones_new_value[static_cast<std::size_t>(lane)] = family(fmt::format("ones_new_value{}", lane), 3);
    s.new_value[static_cast<std::size_t>(lane)] = family(fmt::format("new_value{}", lane), 3);
    s.last_new_value[static_cast<std::size_t>(lane)] = family(fmt::format("last_new_value{}", lane), 4);
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
  s.all_value = family("all_value", 3);
  s.last_all_value = family("last_all_value", 4);
  s.ones_all_value = family("ones_all_value", 3);
  s.read = family("read", lanes);
  s.wait = family("wait", static_cast<int>(isa::wait_letters.size()));
  s.meet = family("meet", Parameters::instructions / 128);
  s.release = family("release", Parameters::instructions / 128);
  s.meet_none = c.bus("meet_none");
  s.release_barrier = c.bus("release_barrier");
  s.release_yield = c.bus("release_yield");
  s.stuck = c.bus("stuck");
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
      case TokenKind::AllValue: say(s.all_value[b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::LastAllValue: say(s.last_all_value[b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::OnesAllValue: say(s.ones_all_value[b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::OnesValue: say(s.ones_value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::OnesNewValue: say(s.ones_new_value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::NewValue: say(s.new_value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::LastNewValue: say(s.last_new_value[a][b], spell(s.value_digits, t.c >> 4, t.c & 15)); break;
      case TokenKind::Read: say(s.read[a]); break;
      case TokenKind::Wait: say(s.wait[a], {s.digits.high[b]}); break;
      case TokenKind::Meet: say(s.meet[a / 128], spell(s.pc_digits, t.a >> 4 & 7, t.a & 15)); break;
      case TokenKind::MeetNone: say(s.meet_none); break;
      case TokenKind::Release: say(s.release[a / 128], spell(s.pc_digits, t.a >> 4 & 7, t.a & 15)); break;
      case TokenKind::ReleaseKind:
        say(static_cast<isa::WaitKind>(t.a) == isa::WaitKind::Yield ? s.release_yield : s.release_barrier);
        break;
      case TokenKind::Stuck: say(s.stuck); break;
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

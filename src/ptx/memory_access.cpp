#include "ptx/memory_access.h"

namespace qwengpu::ptx {

using ir::Pair;
using ir::Value;
using isa::Op;
using Place = ir::Emitter::Place;

// Caches and orders mean nothing to the machine: its memory operations happen one after another.
Access take_access(Modifiers& m) {
  Access access;
  const std::string order =
      m.take_any({"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
  m.take("mmio");  // .mmio.relaxed
  access.is_volatile = !order.empty() && order != "weak";
  m.take("relaxed");
  m.take_any({"cta", "cluster", "gpu", "sys"});
  m.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  m.take("nc");
  m.take_any(
      {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
  m.take_any({"L2::64B", "L2::128B", "L2::256B"});
  m.take_any({"L2::evict_normal", "L2::evict_last", "L2::evict_first"});
  const std::string space = m.take_any({"global", "param", "param::entry", "const", "shared", "shared::cta",
                                        "shared::cluster", "local", "param::func"});
  if (!space.empty()) access.space = space.substr(0, space.find(':'));
  return access;
}

namespace {

// The first word of an access of so many bytes; the address of the others follows from its.
Op first_load(std::uint32_t bytes) { return bytes >= 16 ? Op::Ld128 : bytes == 8 ? Op::Ld64 : Op::Ld; }
Op first_store(std::uint32_t bytes) { return bytes >= 16 ? Op::St128 : bytes == 8 ? Op::St64 : Op::St; }

}  // namespace

std::vector<Pair> load(Lowering& l, Place place, std::size_t count, Type type, bool is_volatile) {
  ir::Emitter& e = l.emit();
  const std::uint32_t size = static_cast<std::uint32_t>(type.bits) / 8,
                      bytes = size * static_cast<std::uint32_t>(count);
  std::vector<Pair> result;
  if (count == 1 && size < 4) {
    const Op op =
        size == 1 ? (type.is_signed() ? Op::LdS8 : Op::LdU8) : (type.is_signed() ? Op::LdS16 : Op::LdU16);
    result.push_back({e.load(op, place, is_volatile), {}});
    return result;
  }
  std::vector<Value> words;
  if (bytes == 2) words.push_back(e.load(Op::LdU16, place, is_volatile));
  for (std::uint32_t at = 0; at + 4 <= bytes; at += 4)
    words.push_back(e.load(at == 0 ? first_load(bytes) : Op::Ld, place + at, is_volatile));
  for (std::uint32_t at = 0; at < bytes; at += size) {
    const Value word = words[at / 4];
    if (size == 8) {
      result.push_back({word, words[at / 4 + 1]});
    } else if (size == 4) {
      result.push_back({word, {}});
    } else {
      const std::uint32_t field = 8 * (at % 4) | static_cast<std::uint32_t>(type.bits) << 8;
      result.push_back({e.op(type.is_signed() ? Op::BfeS : Op::BfeU, word, Value::imm(field)), {}});
    }
  }
  return result;
}

void store(Lowering& l, Place place, const std::vector<Pair>& values, Type type) {
  ir::Emitter& e = l.emit();
  const std::uint32_t size = static_cast<std::uint32_t>(type.bits) / 8,
                      bytes = size * static_cast<std::uint32_t>(values.size());
  if (values.size() == 1 && size < 4) return e.store(size == 1 ? Op::St8 : Op::St16, place, values[0].lo);
  std::vector<Value> words;
  for (std::size_t n = 0; n < values.size(); ++n) {
    const std::uint32_t at = size * static_cast<std::uint32_t>(n);
    if (at % 4 == 0 || size >= 4)
      words.push_back(values[n].lo);
    else
      words.back() =
          e.op(Op::Bfi, values[n].lo, Value::imm(8 * (at % 4) | static_cast<std::uint32_t>(type.bits) << 8),
               words.back());
    if (size == 8) words.push_back(values[n].hi);
  }
  if (bytes == 2) return e.store(Op::St16, place, words[0]);
  for (std::size_t n = 0; n < words.size(); ++n)
    e.store(n == 0 ? first_store(bytes) : Op::St, place + static_cast<std::uint32_t>(4 * n), words[n]);
}

}  // namespace qwengpu::ptx

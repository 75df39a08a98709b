#include "ptx/interference.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "ptx/flow.h"

namespace qwengpu::ptx::ir {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Set {
 public:
  explicit Set(std::size_t size = 0) : words_((size + 63) / 64) {}
  bool has(std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void add(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void remove(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  bool merge(const Set& other) {
    std::uint64_t fresh = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      fresh |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return fresh != 0;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
        visit(64 * w + static_cast<std::size_t>(std::countr_zero(rest)));
  }

 private:
  std::vector<std::uint64_t> words_;
};

template <class Operands>
class Colourer {
 public:
  explicit Colourer(const Function& function) : function_(function), flow_(function) { number_nodes(); }

  Colouring run() {
    find_liveness();
    find_interference();
    coalesce();
    return paint();
  }

 private:
  // Dense numbers for what occurs.
  void number_nodes() {
    node_.assign(at(Operands::count(function_)), none);
    const auto see = [&](int index) {
      if (node_[at(index)] == none) node_[at(index)] = nodes_++;
    };
    for (const int b : flow_.reverse_post_order()) {
      for (const Instruction& i : block(b).code) {
        Operands::uses(i, see);
        if (Operands::definition(i) != none) see(Operands::definition(i));
      }
      Operands::end_uses(block(b).end, see);
    }
  }

  const Block& block(int b) const { return function_.blocks[at(b)]; }
  std::size_t node(int index) const { return at(node_[at(index)]); }

  // Steps backwards over an instruction; `written` is called between the write and the reads.
  template <class Written>
  void step(Set& live, const Instruction& i, Written written) const {
    const int d = Operands::definition(i);
    if (d != none) {
      written(node(d));
      if (!i.guarded()) live.remove(node(d));
    }
    Operands::uses(i, [&](int index) { live.add(node(index)); });
    // For the lanes of which the guard does not hold the old value stays.
    if (d != none && i.guarded()) live.add(node(d));
  }

  Set live_out(int b) const {
    Set live(at(nodes_));
    for (const int successor : block(b).successors()) live.merge(live_in_[at(successor)]);
    Operands::end_uses(block(b).end, [&](int index) { live.add(node(index)); });
    return live;
  }

  void find_liveness() {
    live_in_.assign(function_.blocks.size(), Set(at(nodes_)));
    const auto& order = flow_.reverse_post_order();
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = order.rbegin(); b != order.rend(); ++b) {
        Set live = live_out(*b);
        const auto& code = block(*b).code;
        for (auto i = code.rbegin(); i != code.rend(); ++i) step(live, *i, [](std::size_t) {});
        changed |= live_in_[at(*b)].merge(live);
      }
    }
  }

  void find_interference() {
    neighbours_.assign(at(nodes_), Set(at(nodes_)));
    for (const int b : flow_.reverse_post_order()) {
      Set live = live_out(b);
      const auto& code = block(b).code;
      for (auto i = code.rbegin(); i != code.rend(); ++i)
        step(live, *i, [&](std::size_t written) {
          const int source = Operands::move_source(*i);
          live.for_each([&](std::size_t other) {
            if (other != written && (source == none || other != node(source))) connect(written, other);
          });
        });
    }
  }

  void connect(std::size_t a, std::size_t b) {
    neighbours_[a].add(b);
    neighbours_[b].add(a);
  }

  int representative(int n) {
    while (parent_[at(n)] != n) n = parent_[at(n)] = parent_[at(parent_[at(n)])];
    return n;
  }

  // The copies of the innermost loops first.
  void coalesce() {
    parent_.resize(at(nodes_));
    std::iota(parent_.begin(), parent_.end(), 0);
    struct Move {
      int depth, a, b;
    };
    std::vector<Move> moves;
    for (const int b : flow_.reverse_post_order())
      for (const Instruction& i : block(b).code)
        if (const int source = Operands::move_source(i); source != none)
          moves.push_back({flow_.depth(b), node_[at(Operands::definition(i))], node_[at(source)]});
    std::stable_sort(moves.begin(), moves.end(),
                     [](const Move& x, const Move& y) { return x.depth > y.depth; });
    for (const Move& move : moves) {
      const int a = representative(move.a), b = representative(move.b);
      if (a == b || neighbours_[at(a)].has(at(b))) continue;
      parent_[at(b)] = a;
      neighbours_[at(b)].for_each([&](std::size_t other) {
        neighbours_[other].remove(at(b));
        connect(at(a), other);
      });
    }
  }

  // Takes away the node with the fewest neighbours, again and again; in the opposite order each gets the
  // lowest colour that is free.
  Colouring paint() {
    std::vector<int> degree(at(nodes_)), order, colour(at(nodes_), none);
    std::vector<int> rest;
    for (int n = 0; n < nodes_; ++n) {
      if (representative(n) != n) continue;
      rest.push_back(n);
      neighbours_[at(n)].for_each([&](std::size_t other) {
        degree[at(n)] += representative(static_cast<int>(other)) == static_cast<int>(other);
      });
    }
    const std::vector<int> full_degree = degree;
    while (!rest.empty()) {
      const auto lowest = std::min_element(rest.begin(), rest.end(),
                                           [&](int a, int b) { return degree[at(a)] < degree[at(b)]; });
      const int n = *lowest;
      rest.erase(lowest);
      order.push_back(n);
      neighbours_[at(n)].for_each([&](std::size_t other) { --degree[other]; });
    }
    Colouring result;
    for (auto n = order.rbegin(); n != order.rend(); ++n) {
      std::vector<char> used(at(result.colours) + 1);
      neighbours_[at(*n)].for_each([&](std::size_t other) {
        if (colour[other] != none) used[at(colour[other])] = 1;
      });
      const int c = static_cast<int>(std::find(used.begin(), used.end(), 0) - used.begin());
      colour[at(*n)] = c;
      result.colours = std::max(result.colours, c + 1);
    }
    result.colour.assign(node_.size(), none);
    result.degree.assign(node_.size(), 0);
    for (std::size_t index = 0; index < node_.size(); ++index) {
      if (node_[index] == none) continue;
      const int n = representative(node_[index]);
      result.colour[index] = colour[at(n)];
      result.degree[index] = full_degree[at(n)];
    }
    return result;
  }

  const Function& function_;
  Flow flow_;
  int nodes_ = 0;
  std::vector<int> node_, parent_;
  std::vector<Set> live_in_, neighbours_;
};

}  // namespace

template <class Operands>
Colouring colour(const Function& function) {
  return Colourer<Operands>(function).run();
}
template Colouring colour<RegisterOperands>(const Function&);
template Colouring colour<PredicateOperands>(const Function&);

}  // namespace qwengpu::ptx::ir

// The numeric certificate. Every value of the machine is an integer times a power of two (its grid). If all
// partial sums of a form, sum |coef| * max |x|, stay below 2^24 grid units, then no order of summation in
// fp32 rounds, and the form is exact in any engine. The norm is exactly x * 2^-16 while the energy of the
// signals is lost beside the ballast. bf16 keeps 8 bits of every activation: what exceeds 2^8 is listed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "circuit/bounds.h"
#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

constexpr double fp32_limit = 16777216;  // 2^24
constexpr double bf16_limit = 256;       // 2^8
// A read of a head: n ones arrive as 2 sqrt(128 / n), so their squares add up to 512 whatever n is.
constexpr double energy_of_read = 512;

class Certifier {
 public:
  explicit Certifier(const Plan& plan) : plan_(plan), circuit_(plan.circuit) {}

  Certificate run(std::vector<double>& energy_by_sublayer) {
    neurons();
    heads();
    for (const auto& [token, form] : circuit_.unembeds()) {
      exact(bound(form), plan_.end, [&, t = token] { return fmt::format("the logit of token {}", t); });
    }
    signals();
    energy(energy_by_sublayer);
    std::stable_sort(result_.bf16.begin(), result_.bf16.end(),
                     [](const auto& a, const auto& b) { return a.magnitude > b.magnitude; });
    return std::move(result_);
  }

 private:
  Bound bound(const Linear& form) const {
    return bound_of(form, circuit_.signals(), plan_.ranges, plan_.grids);
  }

  template <typename Describe>
  void exact(double magnitude, double grid, int sublayer, const Describe& describe) {
    if (grid == 0) return;
    const double units = magnitude / grid;
    if (units > result_.fp32.magnitude) result_.fp32 = {describe(), sublayer, units, fp32_limit};
    if (units >= fp32_limit) {
      throw Error(fmt::format(
          "not exact in fp32: {} in {} can reach {:.0f} units of its grid {}, the limit is 2^24 = "
          "{:.0f}; reduce the ranges or declare exclusive() signals",
          describe(), sublayer_name(sublayer), units, grid, fp32_limit));
    }
  }
  template <typename Describe>
  void exact(const Bound& b, int sublayer, const Describe& describe) {
    exact(b.magnitude, b.grid, sublayer, describe);
  }
  template <typename Describe>
  void in_bf16(double magnitude, double grid, int sublayer, const Describe& describe) {
    if (grid == 0 || magnitude / grid <= bf16_limit) return;
    result_.bf16.push_back({describe(), sublayer, magnitude / grid, bf16_limit});
  }

  void neurons() {
    for (std::uint32_t n = 0; n < circuit_.neurons().size(); ++n) {
      if (!plan_.live_neuron[n]) continue;
      const auto& neuron = circuit_.neurons()[n];
      const int at = plan_.neuron_at[n];
      const Bound g = bound(neuron.gate);
      const Bound u = bound(neuron.up);
      const auto named = [&](const char* part) {
        return [this, n, part] { return fmt::format("{} ({})", plan_.describe_neuron(n), part); };
      };
      if (g.grid != 0 && g.grid < 1) {
        throw Error(
            fmt::format("{} in {}: the gate is a multiple of {}, not an integer, and SiLU is exact only on "
                        "integers; scale the formula",
                        plan_.describe_neuron(n), sublayer_name(at), g.grid));
      }
      const double fires = std::max(0.0, g.range.hi);
      exact(g, at, named("gate"));
      exact(u, at, named("factor"));
      exact(fires * u.range.magnitude(), g.grid * u.grid, at, named("product"));
      in_bf16(fires, g.grid, at, named("gate"));
      in_bf16(u.range.magnitude(), u.grid, at, named("factor"));
      in_bf16(fires * u.range.magnitude(), g.grid * u.grid, at, named("product"));
    }
  }

  void heads() {
    for (std::uint32_t h = 0; h < circuit_.heads().size(); ++h) {
      if (!plan_.live_head[h]) continue;
      const HeadSpec& head = circuit_.heads()[h];
      const int at = plan_.head_at[h];
      const auto check_rows = [&](const std::vector<HeadSpec::Row>& rows, const char* what) {
        for (const HeadSpec::Row& row : rows) {
          const Bound b = bound(row.form);
          const auto describe = [&] {
            return fmt::format("head \"{}\", {} row {}", head.name, what, row.dim);
          };
          exact(b, at, describe);
          if (b.grid != 0 && b.grid < 1) {
            throw Error(fmt::format("{} in {} is a multiple of {}, not an integer", describe(),
                                    sublayer_name(at), b.grid));
          }
          if (b.range.hi > 1) {
            throw Error(
                fmt::format("{} in {} can be {}, and a row may not exceed 1 (its signals: {}); declare "
                            "exclusive() signals or a narrower range",
                            describe(), sublayer_name(at), b.range.hi, names(row.form)));
          }
        }
      };
      check_rows(head.key, "key");
      check_rows(head.query, "query");
      check_rows(head.value, "value");
      check_rows(head.z, "z");
      exact(bound(head.write_enable), at,
            [&] { return fmt::format("head \"{}\", write_enable", head.name); });
      const Bound clear = bound(head.clear);
      exact(clear, at, [&] { return fmt::format("head \"{}\", clear", head.name); });
      if (clear.range.lo < 0 || clear.range.hi > 1) {
        throw Error(fmt::format("head \"{}\": clear is in [{}, {}], it must be 0 or 1", head.name,
                                clear.range.lo, clear.range.hi));
      }
    }
  }

  std::string names(const Linear& form) const {
    std::vector<std::string> list;
    for (const Linear::Term& t : form.terms()) {
      if (list.size() == 4) {
        list.emplace_back("...");
        break;
      }
      list.push_back(plan_.name(t.signal));
    }
    return fmt::format("{}", fmt::join(list, ", "));
  }

  // The column itself: what it can have collected after any part of its contributions, in any order.
  void signals() {
    std::vector<double> collected(circuit_.signals().size());
    for (const Circuit::Embed& e : circuit_.embeds()) {
      collected[e.signal] = std::max(collected[e.signal], std::abs(e.value));
    }
    for (std::uint32_t n = 0; n < circuit_.neurons().size(); ++n) {
      if (!plan_.live_neuron[n]) continue;
      const double product = plan_.products[n].magnitude();
      for (const auto& out : circuit_.neurons()[n].outputs)
        collected[out.signal] += std::abs(out.coef) * product;
    }
    for (SignalId s = 0; s < collected.size(); ++s) {
      if (!plan_.live_signal[s]) continue;
      const auto describe = [&] { return fmt::format("signal \"{}\"", plan_.name(s)); };
      const double total = std::max(collected[s], plan_.ranges[s].magnitude());
      exact(total, plan_.grids[s], plan_.ready[s], describe);
      in_bf16(plan_.ranges[s].magnitude(), plan_.grids[s], plan_.ready[s], describe);
    }
  }

  // What a signal can be in the input of sublayer t, when only a part of its contributions has arrived.
  double partial_magnitude(SignalId s, int t) const {
    Range r{0, 0};
    Range rest{0, 0};  // of what is still to come; the total is promised to be in the signal's range
    const auto& info = circuit_.signals()[s];
    if (info.is_input) r = plan_.ranges[s];
    for (const auto& c : info.contributions) {
      const Range part = scaled(plan_.products[c.neuron], c.coef);
      Range& sum = plan_.neuron_at[c.neuron] >= t ? rest : r;
      sum.lo += part.lo;
      sum.hi += part.hi;
    }
    double restored = 0;
    double raw_to_come = 0;
    // A read that is still raw is in the energy of its head; those of earlier layers are bits by now.
    for (const auto& read : info.raw_reads) {
      (plan_.head_at[read.head] + 1 >= t ? raw_to_come : restored) = 1;
    }
    r.hi += restored;
    rest.hi += raw_to_come;
    r.lo = std::max(r.lo, plan_.ranges[s].lo - rest.hi);
    r.hi = std::min(r.hi, plan_.ranges[s].hi - rest.lo);
    return r.magnitude();
  }

  void energy(std::vector<double>& total) {
    total.assign(static_cast<std::size_t>(plan_.end) + 1, 1);  // 1: the column `one`
    if (plan_.constants.one_low >= 0) std::fill(total.begin(), total.end(), 2);
    // [sublayer][group]: the largest member
    std::vector<std::vector<double>> grouped(total.size(), std::vector<double>(circuit_.groups().size()));
    for (SignalId s = 0; s < circuit_.signals().size(); ++s) {
      if (!plan_.live_signal[s]) continue;
      const int last = std::min(plan_.cleared_at[s], plan_.end);
      const double magnitude = plan_.ranges[s].magnitude();
      const auto& groups = circuit_.signals()[s].groups;
      for (int t = plan_.first_write[s] + 1; t <= last; ++t) {
        const auto at = static_cast<std::size_t>(t);
        if (t <= plan_.ready[s]) {
          const double m = partial_magnitude(s, t);
          total[at] += m * m;
        } else if (groups.empty()) {
          total[at] += magnitude * magnitude;
        } else {
          double& largest = grouped[at][groups.front()];
          largest = std::max(largest, magnitude * magnitude);
        }
      }
    }
    for (std::uint32_t h = 0; h < circuit_.heads().size(); ++h) {
      if (plan_.live_head[h]) total[static_cast<std::size_t>(plan_.head_at[h]) + 1] += energy_of_read;
    }
    for (std::size_t t = 0; t < total.size(); ++t) {
      for (const double e : grouped[t]) total[t] += e;
      const auto where = static_cast<int>(t);
      if (total[t] > result_.energy.magnitude) {
        result_.energy = {where == plan_.end ? "the final norm" : "the norm before " + sublayer_name(where),
                          where, total[t], plan_.constants.energy_limit};
      }
    }
  }

  const Plan& plan_;
  const Circuit& circuit_;
  Certificate result_;
};

}  // namespace

Certificate certify(const Plan& plan, std::vector<double>& energy_by_sublayer) {
  return Certifier(plan).run(energy_by_sublayer);
}

void refuse_energy(const Plan& plan, const Certificate& certificate) {
  const Certificate::Worst& worst = certificate.energy;
  if (worst.magnitude < worst.limit) return;
  std::vector<std::pair<double, SignalId>> largest;
  for (SignalId s = 0; s < plan.live_signal.size(); ++s) {
    if (plan.live_signal[s] && plan.first_write[s] < worst.sublayer && worst.sublayer <= plan.cleared_at[s]) {
      largest.emplace_back(-plan.ranges[s].magnitude() * plan.ranges[s].magnitude(), s);
    }
  }
  std::sort(largest.begin(), largest.end());
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < largest.size() && i < 8; ++i) {
    shown.push_back(fmt::format("{} {:.0f}", plan.name(largest[i].second), -largest[i].first));
  }
  throw Error(fmt::format(
      "not exact in fp32: the signals can have energy {:.0f} at {}, and from {:.0f} on it shows beside "
      "the ballast. The largest: {}. Use smaller numbers, or declare exclusive() signals",
      worst.magnitude, worst.what, worst.limit, fmt::join(shown, ", ")));
}

}  // namespace qwengpu::circuit

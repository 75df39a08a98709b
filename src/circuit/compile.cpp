#include "circuit/compile.h"

#include <fmt/format.h>

#include "circuit/plan.h"

namespace qwengpu::circuit {

namespace {

Placement place(const Plan& plan) {
  Placement placement;
  const Circuit& c = plan.circuit;
  for (SignalId s = 0; s < c.signals().size(); ++s) {
    SignalPlace at;
    if (plan.live_signal[s]) {
      at = {plan.column[s], plan.ready[s],
            plan.cleared_at[s] == never ? plan.end - 1 : plan.cleared_at[s] - 1};
    }
    placement.signals.emplace(plan.name(s), at);
  }
  for (std::uint32_t h = 0; h < c.heads().size(); ++h) {
    HeadPlace at;
    if (plan.live_head[h]) at = {layer_of(plan.head_at[h]), plan.head_index[h]};
    placement.heads.emplace(c.heads()[h].name, at);
  }
  for (const int column : plan.constants.ballast_columns) {
    placement.constant_columns.emplace_back(column, static_cast<float>(plan.constants.ballast));
  }
  placement.constant_columns.emplace_back(plan.constants.one, 1.0f);
  if (plan.constants.one_low >= 0) placement.constant_columns.emplace_back(plan.constants.one_low, 1.0f);
  return placement;
}

}  // namespace

const SignalPlace& Placement::signal(const std::string& name) const {
  const auto found = signals.find(name);
  if (found == signals.end()) throw Error(fmt::format("there is no signal \"{}\"", name));
  if (found->second.column < 0) {
    throw Error(fmt::format(
        "signal \"{}\" was removed: nothing reads it, or it is always 0; keep() it to see it", name));
  }
  return found->second;
}

const HeadPlace& Placement::head(const std::string& name) const {
  const auto found = heads.find(name);
  if (found == heads.end()) throw Error(fmt::format("there is no head \"{}\"", name));
  if (found->second.layer < 0)
    throw Error(fmt::format("head \"{}\" was removed: nothing reads its outputs", name));
  return found->second;
}

Compiled compile(const Circuit& circuit, const TokenTable& tokens, const CompileOptions& options) {
  Plan plan(circuit);
  analyse(plan);
  schedule(plan, options);

  // Dead columns are left as they are until they are reused. Where their energy is too much for a norm, zero
  // the large ones first.
  Certificate certificate;
  std::vector<double> energy;
  for (const double eager_clear : {static_cast<double>(never), 8.0, 1.0, 0.0}) {
    allocate_columns(plan, eager_clear);
    certificate = certify(plan, energy);
    if (certificate.energy.magnitude < certificate.energy.limit) break;
  }
  refuse_energy(plan, certificate);

  Compiled result;
  result.checkpoint = write_weights(plan, tokens);
  result.placement = place(plan);
  result.report = make_report(plan, result.checkpoint, energy);
  result.report.certificate = std::move(certificate);
  return result;
}

}  // namespace qwengpu::circuit

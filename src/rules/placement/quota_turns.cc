#include "rules/placement/quota_turns.h"

#include <algorithm>

namespace trainyard::placement {

const JobLabel* QuotaTurns::Before(const Gang& gang, const QuotaDemand& demand) const {
  const auto first = std::ranges::find_if(
      waited_for_, [&](const auto& one) { return gate_.Draws(gang, demand, one.first); });
  return first == waited_for_.end() ? nullptr : &first->second;
}

std::optional<Shortage> QuotaTurns::Ask(const Gang& gang, const QuotaDemand& demand) {
  std::optional<QuotaGate::Refusal> refusal = gate_.Check(gang, demand);
  if (!refusal) return std::nullopt;
  if (!refusal->is_final) waited_for_.emplace_back(std::move(refusal->key), LabelOf(gang));
  return std::move(refusal->shortage);
}

}  // namespace trainyard::placement

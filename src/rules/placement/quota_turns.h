#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "rules/placement/gang.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"

namespace trainyard::placement {

/// The gate, for gangs that ask in the queue's order: one that a quota holds back holds back those after it
/// that draw on the same quota, so that a big one gets its turn. One that asks for more than the quota holds
/// back nobody. For one walk of the queue; the gate outlives it. Pure.
class QuotaTurns {
 public:
  explicit QuotaTurns(QuotaGate& gate) : gate_(gate) {}

  /// The first of those before that waits for a quota which the gang would draw on; null: there is none.
  /// Valid until Ask.
  [[nodiscard]] const JobLabel* Before(const Gang& gang, const QuotaDemand& demand) const;
  /// Of a gang with nobody before it: what it waits for; nothing: it may have its room.
  [[nodiscard]] std::optional<Shortage> Ask(const Gang& gang, const QuotaDemand& demand);
  /// It has got it.
  void Take(const Gang& gang, const QuotaDemand& demand) { gate_.Take(gang, demand); }
  /// Whether no gang ever waits.
  [[nodiscard]] bool is_open() const noexcept { return gate_.is_open(); }

 private:
  QuotaGate& gate_;
  std::vector<std::pair<QuotaGate::Key, JobLabel>> waited_for_;  ///< and by whom
};

}  // namespace trainyard::placement

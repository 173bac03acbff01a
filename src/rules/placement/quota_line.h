#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules/placement/gang.h"
#include "rules/placement/queue.h"
#include "rules/placement/quota_gate.h"
#include "rules/placement/wait.h"

namespace trainyard::placement {

/// The gangs that quotas hold back from an engine that orders its gangs itself, in the order of Queue. One
/// thread.
class QuotaLine {
 public:
  /// `gate` outlives it, and counts all gangs that use quotas. `naming`: for the reasons.
  QuotaLine(QuotaGate& gate, Naming naming) : gate_(gate), naming_(naming) {}

  [[nodiscard]] bool empty() const noexcept { return held_.empty(); }
  /// Adds a gang whose uid is not in the line. What it waits for is not known before the next call of Go.
  void Add(Gang gang, QuotaDemand demand);
  /// Removes the gang; no effect if it is not in the line.
  void Remove(std::int64_t uid);
  /// Removes and returns the gangs that may go now, in the queue's order; they are counted by their quotas
  /// already.
  [[nodiscard]] std::vector<std::int64_t> Go();
  /// The gangs that wait for something different than at the last call. In a long line, gangs of which only
  /// the position has changed are left out.
  [[nodiscard]] std::vector<std::int64_t> Changed();
  /// What the gang waits for, with its position in the line. Nullopt: Go was not called since Add. The gang
  /// must be in the line.
  [[nodiscard]] std::optional<Wait> WaitOf(std::int64_t uid) const;

 private:
  struct Held {
    QuotaDemand demand;
    std::optional<Shortage> shortage{};  ///< it holds back gangs that use the same quota
    std::optional<JobLabel> before{};    ///< it is held back by this one
    std::optional<std::string>
        said{};  ///< the reason at the last call of Changed; empty if it waits only for its turn
  };

  QuotaGate& gate_;
  Naming naming_;
  Queue queue_;
  std::map<std::int64_t, Held> held_;  ///< the gangs of the queue, by uid
};

}  // namespace trainyard::placement

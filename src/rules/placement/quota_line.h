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

/// The gangs that quotas hold before an engine that orders its gangs itself, in the order of Queue. One
/// thread.
class QuotaLine {
 public:
  /// `gate` outlives it, and lists all that draw. `naming`: in reasons.
  QuotaLine(QuotaGate& gate, Naming naming) : gate_(gate), naming_(naming) {}

  [[nodiscard]] bool empty() const noexcept { return held_.empty(); }
  /// A gang whose uid is not in the line. Nobody knows what it waits for before the next call of Go.
  void Add(Gang gang, QuotaDemand demand);
  /// Nothing if it is not in the line.
  void Remove(std::int64_t uid);
  /// Takes those out that go now, in the queue's order; they draw on their quotas already.
  [[nodiscard]] std::vector<std::int64_t> Go();
  /// Those that wait for something else than at the last call. Of a long line, those whose turn alone has
  /// moved are not named.
  [[nodiscard]] std::vector<std::int64_t> Changed();
  /// The position counts those in the line. Nothing: nobody has looked at the gang yet. It is in the line.
  [[nodiscard]] std::optional<Wait> WaitOf(std::int64_t uid) const;

 private:
  struct Held {
    QuotaDemand demand;
    std::optional<Shortage> shortage{};  ///< it holds back those that draw on the same quota
    std::optional<JobLabel> before{};    ///< it is held back by this one
    std::optional<std::string> said{};   ///< the reason that Changed saw last; empty for a turn
  };

  QuotaGate& gate_;
  Naming naming_;
  Queue queue_;
  std::map<std::int64_t, Held> held_;  ///< those of the queue, by uid
};

}  // namespace trainyard::placement

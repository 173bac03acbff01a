#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/placement/gang.h"
#include "rules/placement/quota.h"
#include "rules/placement/wait.h"

namespace trainyard::placement {

/// A gang's demand for each resource that quotas limit, except the number of running jobs.
using QuotaDemand = std::map<std::string, std::int64_t>;

/// Checks the quotas of projects and principals for gangs on one engine: the quotas of GPUs and of running
/// jobs. A value. Pure.
class QuotaGate {
 public:
  /// Nothing is limited.
  QuotaGate() = default;
  /// `quotas` outlives the gate and its copies. `engine`: the name in quotas.
  QuotaGate(const Quotas& quotas, std::string_view engine, Naming naming);

  /// Whether it limits nothing.
  [[nodiscard]] bool is_open() const noexcept { return quotas_ == nullptr; }

  /// Counts a gang that has got its resources.
  void Take(const Gang& gang, const QuotaDemand& demand);
  /// Ends the counting of this gang.
  void Return(const Gang& gang, const QuotaDemand& demand);

  /// A subject and a resource.
  using Key = std::pair<std::string, std::string>;
  struct Refusal {
    Shortage shortage;
    Key key;
    bool is_final = false;  ///< it requests more than the quota: it cannot start even when other jobs end
  };
  /// The first quota that the gang would exceed.
  [[nodiscard]] std::optional<Refusal> Check(const Gang& gang, const QuotaDemand& demand) const;
  /// Whether the gang would use that quota.
  [[nodiscard]] bool Draws(const Gang& gang, const QuotaDemand& demand, const Key& key) const;

 private:
  struct Held {
    std::int64_t amount = 0;
    std::map<JobLabel, int>
        jobs;  ///< the jobs that use it, with their number of gangs: a tuning job has several
  };
  [[nodiscard]] const Held& HeldOf(const Key& key) const;
  void Take(const Gang& gang, Key key, std::int64_t amount);
  void Return(const Gang& gang, const Key& key, std::int64_t amount);
  [[nodiscard]] std::optional<Refusal> CheckOne(const Gang& gang, const Key& key, std::int64_t asked) const;

  const Quotas* quotas_ = nullptr;  ///< null: nothing is limited
  std::string engine_;
  Naming naming_;
  std::map<Key, Held> held_;
};

/// Applies the gate to gangs in the queue's order: a gang that is held back by a quota also holds back later
/// gangs that use the same quota, so that a big one gets its turn. A gang that requests more than the quota
/// does not hold back others. For one iteration over the queue; the gate outlives it. Pure.
class QuotaTurns {
 public:
  explicit QuotaTurns(QuotaGate& gate) : gate_(gate) {}

  /// The first earlier gang that waits for a quota which this gang would use; null: there is none. Valid
  /// until the next call of Ask.
  [[nodiscard]] const JobLabel* Before(const Gang& gang, const QuotaDemand& demand) const;
  /// For a gang without such an earlier one: what it waits for; nullopt: it may get its resources.
  [[nodiscard]] std::optional<Shortage> Ask(const Gang& gang, const QuotaDemand& demand);
  /// The gang has got its resources.
  void Take(const Gang& gang, const QuotaDemand& demand) { gate_.Take(gang, demand); }
  /// Whether no gang ever waits.
  [[nodiscard]] bool is_open() const noexcept { return gate_.is_open(); }

 private:
  QuotaGate& gate_;
  std::vector<std::pair<QuotaGate::Key, JobLabel>>
      waited_for_;  ///< quotas that earlier gangs wait for, and these gangs
};

}  // namespace trainyard::placement

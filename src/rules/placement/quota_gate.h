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

/// What a gang takes of each resource that quotas limit, other than a place among the jobs.
using QuotaDemand = std::map<std::string, std::int64_t>;

/// Whether gangs may have room on one engine by the quotas of their projects and principals: those of GPUs
/// and of jobs that have room. A value. Pure.
class QuotaGate {
 public:
  /// Nothing is limited.
  QuotaGate() = default;
  /// `quotas` outlives the gate and its copies. `engine`: as quotas name it.
  QuotaGate(const Quotas& quotas, std::string_view engine, Naming naming);

  /// Whether it never stands in the way.
  [[nodiscard]] bool is_open() const noexcept { return quotas_ == nullptr; }

  /// The gang has room.
  void Take(const Gang& gang, const QuotaDemand& demand);
  /// The same gang has it no more.
  void Return(const Gang& gang, const QuotaDemand& demand);

  /// A subject and a resource.
  using Key = std::pair<std::string, std::string>;
  struct Refusal {
    Shortage shortage;
    Key key;
    bool is_final = false;  ///< it asks for more than the quota: no end of a job lets it start
  };
  /// The first quota that the gang would exceed.
  [[nodiscard]] std::optional<Refusal> Check(const Gang& gang, const QuotaDemand& demand) const;
  /// Whether the gang would draw on that quota.
  [[nodiscard]] bool Draws(const Gang& gang, const QuotaDemand& demand, const Key& key) const;

 private:
  struct Held {
    std::int64_t amount = 0;
    std::map<JobLabel, int> jobs;  ///< that hold it, with the number of their gangs: a tuning job has several
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

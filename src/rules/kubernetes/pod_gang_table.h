#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "rules/kubernetes/pod_gang.h"

namespace trainyard::kubernetes {

/// Gangs by their keys, with their stages and due times. A value; one thread.
class PodGangTable {
 public:
  using Map = std::map<GangKey, PodGang>;

  [[nodiscard]] Map& all() noexcept { return gangs_; }
  [[nodiscard]] const Map& all() const noexcept { return gangs_; }
  /// The gang if the submission is its latest one; else null.
  [[nodiscard]] PodGang* Find(const Submission& submission);
  [[nodiscard]] const PodGang* Find(const Submission& submission) const;
  /// Calls `each` for `count` gangs from that key on; returns the key of the next one; nullopt: there is
  /// none.
  std::optional<GangKey> ForSome(const GangKey& from, int count,
                                 const std::function<void(const GangKey&, const PodGang&)>& each) const;
  /// Removes the gang.
  void Erase(const GangKey& key);

  /// Keeps what is known of a pod. False: its submission is not the latest of a gang.
  bool See(const SlotName& name, Pod pod);
  /// The same for a pod that exists no more.
  bool SeeGone(const SlotName& name, Pod pod);
  /// A list that was requested at `asked` has the pods of these slots only. The gang's others are gone, if
  /// the list can have all of them.
  static void SeeOnly(PodGang& gang, const std::set<int>& listed, SysTime asked);

  /// Whether a pod of it has not been seen for kUnseenMax although it was created: only a list can tell now.
  /// Otherwise the gang is due when that time is over.
  bool MissesPods(const GangKey& key, PodGang& gang, SysTime now);

  /// It has no due time afterwards.
  void Enter(const GangKey& key, PodGang& gang, PodStage stage, SysTime now);
  void SetDue(const GangKey& key, PodGang& gang, std::optional<SysTime> due);
  /// Makes it due no later than that.
  void SetDueBy(const GangKey& key, PodGang& gang, SysTime due);
  /// A gang that is due, which is not due any more; nullopt: none is.
  [[nodiscard]] std::optional<GangKey> TakeDue(SysTime now);
  [[nodiscard]] std::optional<SysTime> NextDue() const;
  /// How many are kCreating.
  [[nodiscard]] int creating() const noexcept { return creating_; }

 private:
  Map gangs_;
  std::set<std::pair<SysTime, GangKey>> due_;
  int creating_ = 0;
};

}  // namespace trainyard::kubernetes

#pragma once

#include <chrono>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/kubernetes/placing_turns.h"
#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/pod_gang.h"
#include "rules/kubernetes/pod_gang_table.h"
#include "rules/kubernetes/quota_waits.h"
#include "rules/placement/gang_rules.h"
#include "rules/placement/wait.h"

namespace trainyard::kubernetes {

// Actions for the caller, besides those of placement::GangRules.
/// Record the submission and create its objects; report the result with OnCreated or OnNotCreated. The same
/// submission may be asked for again, with the same ticket, if the answer was lost.
struct Create {
  Submission submission;
  friend bool operator==(const Create&, const Create&) = default;
};
/// Delete the Secret of the submission, and so its pods; report with OnRemoved once it is known to be
/// deleted.
struct Remove {
  Submission submission;
  /// It waits in a queue or for nodes: what the queue has for it is given back, too. Pods that run keep that
  /// until they have ended.
  bool waits = false;
  friend bool operator==(const Remove&, const Remove&) = default;
};
/// Find out whether an autoscaler adds nodes for the pod; if so report it with OnScaleUp.
struct LookForScaleUp {
  Submission submission;
  std::string pod;
  friend bool operator==(const LookForScaleUp&, const LookForScaleUp&) = default;
};
/// Find out why the queue has not admitted the submission; report it with OnQueueWords.
struct AskQueue {
  Submission submission;
  friend bool operator==(const AskQueue&, const AskQueue&) = default;
};
/// List all pods again, and report them with OnListed.
struct ListPods {
  friend bool operator==(const ListPods&, const ListPods&) = default;
};
using GangAction = std::variant<Create, Remove, LookForScaleUp, AskQueue, ListPods, placement::VoidTicket,
                                placement::GiveRoom, placement::TakeBack, placement::NothingLives,
                                placement::SayWait, placement::Forget>;

/// The gangs with their places in line, and what is to be done for them. Each function keeps these
/// consistent. A value; one thread.
struct PodGangBook {
  std::string installation;
  PlacingLimits limits;
  PodGangTable gangs{};
  PlacingTurns turns{};
  QuotaWaits over_quota{};
  std::set<GangKey> to_look_at{};  ///< something of them has changed
  std::vector<GangAction> actions{};

  /// It waits for its turn.
  void Wait(const GangKey& key, const PodGang& gang);
  /// It has its turn.
  void Take(const GangKey& key, const PodGang& gang);
  /// It leaves the line, and that of the quota.
  void Leave(const GangKey& key, const PodGang& gang);
  /// Sets what it waits for.
  void Say(const GangKey& key, PodGang& gang, placement::Shortage words);
  void Erase(const GangKey& key);

  [[nodiscard]] Remove RemoveOf(const GangKey& key, const PodGang& gang) const;
  /// Deletes what exists of the submission; a new one is created after the pause.
  void CreateAgain(const GangKey& key, PodGang& gang, placement::Shortage words, SysTime now,
                   std::chrono::milliseconds pause);
  /// Nothing of it is left, and it is wanted again.
  void BeginAnew(const GangKey& key, PodGang& gang, placement::Shortage words, SysTime now);
  /// It loses its resources, or the chance to get them.
  void TakeRoomBack(const GangKey& key, PodGang& gang, PodEnd end, SysTime now);
};

}  // namespace trainyard::kubernetes

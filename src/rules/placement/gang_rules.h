#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "rules/placement/submission.h"
#include "rules/placement/wait.h"

/// What the rules of every cluster decide about gangs, and what they are told about agents.
namespace trainyard::placement {

// Actions for the engine.
/// End the submission's agents, and accept no further ones.
struct VoidTicket {
  Submission submission;
  friend bool operator==(const VoidTicket&, const VoidTicket&) = default;
};
struct GiveRoom {
  Submission submission;
  friend bool operator==(const GiveRoom&, const GiveRoom&) = default;
};
/// Revoke the gang's resources; after GiveRoom, or instead of it.
struct TakeBack {
  GangKey gang;
  RoomEnd kind = RoomEnd::kLost;
  std::string reason;  ///< one sentence
  friend bool operator==(const TakeBack&, const TakeBack&) = default;
};
/// All of a submission that had its resources has ended in the cluster.
struct NothingLives {
  Submission submission;
  friend bool operator==(const NothingLives&, const NothingLives&) = default;
};
struct SayWait {
  GangKey gang;
  friend bool operator==(const SayWait&, const SayWait&) = default;
};
/// Nothing of the gang is in the cluster any more.
struct Forget {
  GangKey gang;
  friend bool operator==(const Forget&, const Forget&) = default;
};

/// The part of a cluster's rules that an engine uses whatever the cluster is. A value with state; one thread.
/// Implementations: slurm::Gangs, kubernetes::PodGangs.
class GangRules {
 public:
  GangRules() = default;
  GangRules(const GangRules&) = default;
  GangRules(GangRules&&) = default;
  GangRules& operator=(const GangRules&) = default;
  GangRules& operator=(GangRules&&) = default;
  virtual ~GangRules() = default;

  /// The gang needs no resources any more. Forget follows once the cluster has nothing of it.
  virtual void Release(const GangKey& key, SysTime now) = 0;
  virtual void OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now) = 0;
  /// The agent's connection has ended. `closed`: the agent closed it, so it is dead or will reconnect soon;
  /// otherwise it was silent, and the network may be down.
  virtual void OnDetached(const Submission& submission, int slot, bool closed, SysTime now) = 0;
  /// An agent of the submission was asked to end its attempt, and does not answer: the cluster ends all that
  /// it has of the submission. `reason`: one sentence.
  virtual void OnUnheard(const Submission& submission, std::string reason, SysTime now) = 0;
  /// The submission's agents end because the cluster's time limit is near: this is the reason if they end
  /// now.
  virtual void OnTimeLimit(const Submission& submission) = 0;

  /// When there is something to do without a new event; nullopt: never.
  [[nodiscard]] virtual std::optional<SysTime> WakeAt() const = 0;
  /// What the gang waits for; nullopt for a gang that has its resources, or that is unknown.
  [[nodiscard]] virtual std::optional<Wait> WaitOf(const GangKey& key) const = 0;
  /// Whether agents of the submission may connect.
  [[nodiscard]] virtual bool IsCurrent(const Submission& submission) const = 0;
  /// Whether something of the submission may be in the cluster.
  [[nodiscard]] virtual bool MayLive(const Submission& submission) const = 0;
};

}  // namespace trainyard::placement

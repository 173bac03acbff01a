#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "rules/kubernetes/object_name.h"
#include "rules/kubernetes/pod.h"
#include "rules/kubernetes/pod_gang_book.h"
#include "rules/placement/gang_rules.h"
#include "rules/placement/wait.h"

namespace trainyard::kubernetes {

/// The most gangs whose objects are created at the same time.
inline constexpr int kCreatingMax = 4;
/// The most gangs, and pods of a list, that one call of Next looks at; the others are left to the next call.
inline constexpr int kLooksMax = 1'000;
/// Agents whose resources are released end by themselves within this time; after it their pods are deleted.
inline constexpr std::chrono::seconds kLeaveMax{15};
/// A deletion is asked for again after this time while pods are still there.
inline constexpr std::chrono::seconds kRemoveAgain{30};

/// A gang that an engine wants pods for.
struct WantedPods {
  GangKey key;
  int slots = 0;
  int priority = 0;                       ///< of the job; higher ones get the turn first
  std::string line{};                     ///< gangs of one line take turns: those that fit the same nodes
  int last_submission = 0;                ///< recorded by a previous server; 0: none
  bool granted = false;                   ///< a previous server has granted its resources
  bool may_have_run = false;              ///< as `granted`, but its resources were released, or nobody knows
  std::map<int, std::string> attached{};  ///< if `granted`: slots whose agents had connected; their nodes
};
/// Why a submission was not created, or not wholly.
enum class NotCreated {
  kLater,     ///< a quota, or a server that is busy
  kMistake,   ///< refused as it is
  kNever,     ///< the cluster cannot hold it
  kNoAnswer,  ///< it may have been created: the same submission is tried again, for one turn
};

/// A list of all pods that is being read.
struct PodsListed {
  struct Event {
    Pod pod;
    bool is_gone = false;
  };
  std::vector<Pod> pods;
  SysTime asked;          ///< when it was asked for
  bool was_away = false;  ///< the API server had not answered before
  std::size_t next = 0;
  std::map<GangKey, std::set<int>> slots{};  ///< that were read
  std::vector<Event> later{};                ///< what has happened since, to be read after it
};

/// Maps pods to gangs and decides what to do next. A gang of several replicas is placed as a whole: while it
/// has its turn its pods exist and wait for nodes, and no other gang of the same line does; if not all of
/// them get nodes in time, all are deleted and the turn passes on, so that half a gang never holds room for
/// long. Where the cluster has a scheduler or a queue for gangs (GangScheduler), they need no turns. A value
/// with state; one thread. docs/adr/0103-kubernetes.md.
class PodGangs final : public placement::GangRules {
 public:
  /// `installation`: as in PodName.
  PodGangs(std::string installation, PlacingLimits limits)
      : book_{.installation = std::move(installation), .limits = limits} {}

  /// A gang that was released, and is not forgotten yet, is created anew once nothing of it is left.
  void Want(WantedPods wanted, SysTime now);
  void Release(const GangKey& key, SysTime now) override;

  void OnCreated(const Submission& submission, SysTime now);
  void OnNotCreated(const Submission& submission, NotCreated why, placement::Shortage words, SysTime now);
  void OnRemoved(const Submission& submission);
  void OnScaleUp(const Submission& submission, SysTime now);
  /// `words`: the queue's; empty: it says nothing.
  void OnQueueWords(const Submission& submission, const std::string& words);

  /// All pods of the installation; `asked`: when the request began. They are read by the next calls of Next.
  void OnListed(std::vector<Pod> pods, SysTime asked, SysTime now);
  void OnPod(Pod pod, SysTime now) { OnEvent(std::move(pod), false, now); }
  /// The pod exists no more; its last state.
  void OnPodGone(Pod pod, SysTime now) { OnEvent(std::move(pod), true, now); }
  /// The API server does not answer. `words`: one sentence.
  void OnListFailed(const std::string& words, SysTime now);

  void OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now) override;
  void OnDetached(const Submission&, int, bool, SysTime) override {}  // its pod's end says that it is dead
  void OnUnheard(const Submission& submission, std::string reason, SysTime now) override;
  void OnTimeLimit(const Submission& submission) override;

  /// The actions to perform now, each only once. If more remains to do, WakeAt is in the past afterwards.
  [[nodiscard]] std::vector<GangAction> Next(SysTime now);
  [[nodiscard]] std::optional<SysTime> WakeAt() const override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(const GangKey& key) const override;
  [[nodiscard]] bool IsCurrent(const Submission& submission) const override;
  [[nodiscard]] bool MayLive(const Submission& submission) const override;
  /// The node of the slot's pod; empty: it has none, or the pod is not there.
  [[nodiscard]] std::string NodeOf(const Submission& submission, int slot) const;
  /// Whether the slot's pod is being deleted, has ended or is gone.
  [[nodiscard]] bool IsLeaving(const Submission& submission, int slot) const;

 private:
  void OnDue(const GangKey& key, SysTime now);
  void CreateSome(SysTime now);
  void Look(const GangKey& key, PodGang& gang, SysTime now);
  void LookAtPlacing(const GangKey& key, PodGang& gang, SysTime now);
  void LookAtEnding(const GangKey& key, PodGang& gang, SysTime now);
  void OnEvent(Pod pod, bool is_gone, SysTime now);
  void Take(const SlotName& name, Pod pod, bool is_gone, SysTime now);
  void ReadList(SysTime now);

  PodGangBook book_;
  std::optional<PodsListed> list_{};
  bool is_listed_ = false;  ///< the pods are known
  bool is_list_wanted_ = false;
  std::optional<std::string> no_answer_{};
  /// This gang and those after it have not been told yet what all wait for.
  std::optional<GangKey> say_from_{};
};

}  // namespace trainyard::kubernetes

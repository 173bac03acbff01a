#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "base/clock.h"
#include "rules/kubernetes/object_name.h"
#include "rules/kubernetes/pod.h"
#include "rules/placement/wait.h"

/// One gang in Kubernetes, and what its pods mean for it. Pure: any thread.
namespace trainyard::kubernetes {

/// Agents connect within this time from when all of their pods run.
inline constexpr std::chrono::minutes kAttachMax{5};
/// Pods that were created are seen within this time; after it all pods are listed again.
inline constexpr std::chrono::seconds kUnseenMax{5};
/// The first pause after a gang could not be created; doubles each time.
inline constexpr std::chrono::seconds kCreatePause{2};
inline constexpr std::chrono::seconds kCreatePauseMax{300};
/// A turn that is shorter does not end before the scheduler has said why a pod has no node, or this time is
/// over: a busy scheduler may take longer for one gang than a turn lasts.
inline constexpr std::chrono::seconds kVerdictMax{60};
/// A turn lasts this long, from its beginning, once an autoscaler adds nodes for it.
inline constexpr std::chrono::minutes kScaleUpMax{15};
/// A gang that holds nothing while it waits makes way for others of a crowded line after this time.
inline constexpr std::chrono::minutes kUnplacedTurn{5};
/// A queue of the cluster is asked this long after the pods were created why it has not admitted them, and
/// again after each further pause.
inline constexpr std::chrono::seconds kAskQueueFirst{2};
inline constexpr std::chrono::seconds kAskQueuePause{30};

enum class PodStage {
  kWaiting,   ///< for its turn, or until `due`
  kCreating,  ///< its objects are being created
  kPlacing,   ///< its pods exist, and wait for nodes, images and their agents
  kGranted,
  kEnding,  ///< being deleted until no pod is there
};

struct PodGang {
  int slots = 0;
  int priority = 0;
  std::string line{};
  PodStage stage = PodStage::kWaiting;
  int number = 0;                       ///< of its submission; 0: none yet
  SysTime since;                        ///< begin of the stage
  SysTime open;                         ///< since when its pods are not behind gates of a queue
  std::optional<SysTime> part_since{};  ///< since when some of its pods have nodes
  std::optional<SysTime> due{};
  std::chrono::seconds pause = kCreatePause;
  std::map<int, Pod> pods{};                ///< of its submission, by slot, as last seen
  std::set<int> gone{};                     ///< slots whose pods exist no more
  std::map<int, std::string> attached{};    ///< slots whose agents have connected, and their nodes
  std::optional<SysTime> created{};         ///< lists requested since then have all of its pods
  std::optional<SysTime> all_placed{};      ///< since when all of its pods have nodes
  std::optional<SysTime> all_run{};         ///< since when none of them waits for its image or node
  std::optional<SysTime> removed{};         ///< when its deletion was last asked for
  std::optional<SysTime> may_live_until{};  ///< kEnding: until then its agents may end by themselves
  std::optional<SysTime> queue_asked{};     ///< when its queue was last asked why it waits
  std::string queue_words{};                ///< what the queue said then; empty: nothing
  bool is_answered = true;                  ///< false: a request to create it is under way
  bool is_removed = false;                  ///< its Secret is known to be deleted
  bool may_hold_part = false;               ///< its pods may get nodes one by one, and hold these meanwhile
  bool over_quota = false;
  bool scales_up = false;  ///< an autoscaler adds nodes for it
  bool asked_for_scale_up = false;
  bool at_time_limit = false;  ///< its agents end because its time limit is near
  bool had_room = false;
  bool released = false;
  bool wanted_again = false;  ///< after its release
  bool lives = true;
  placement::Wait wait{};
};

/// How the first of its pods that has ended or is gone did so; nullopt: all are there. A cause is preferred
/// to a mere loss.
[[nodiscard]] std::optional<PodEnd> FirstEnd(const PodGang& gang);
/// Whether processes of the gang may live. Its creation was answered.
[[nodiscard]] bool HasLivingPods(const PodGang& gang);
/// Whether a pod of it has no node, as far as is known: it will never run once it is deleted.
[[nodiscard]] bool HasUnplacedPods(const PodGang& gang);
/// Whether a pod of it was never seen although it was created.
[[nodiscard]] bool HasUnseenPods(const PodGang& gang);

/// The node of the slot's pod; empty: it has none, or the pod is not there or being deleted.
[[nodiscard]] std::string NodeOfSlot(const PodGang& gang, int slot);
/// Whether the slot's pod is being deleted, has ended or is gone: its agent has to end.
[[nodiscard]] bool IsLeaving(const PodGang& gang, int slot);

/// The scheduler of gangs: it prevents that two of them hold each other up, each with a part of the nodes
/// that both need.
enum class GangScheduler {
  kTurns,      ///< this server: one gang after the other
  kQueue,      ///< a queue of the cluster (Kueue) admits one after the other, behind gates
  kPodGroups,  ///< the cluster's scheduler: all pods of a PodGroup get nodes at once, or none does
};

struct PlacingLimits {
  GangScheduler scheduler = GangScheduler::kTurns;
  std::string queue{};  ///< the name of kQueue's
  std::chrono::seconds turn{60};
  std::chrono::seconds pull_max{1'800};
};
/// It waits on. `look_at`: when its limits have to be looked at again, without an event.
struct StillPlacing {
  placement::Shortage words;
  std::optional<SysTime> look_at{};
  std::string unplaced_pod{};  ///< for this one an autoscaler may add nodes: to be asked now; empty: not now
  bool asks_queue = false;     ///< its queue is to be asked now why it waits
};
/// All pods have nodes, and their agents are awaited.
struct StillStarting {
  placement::Shortage words;
  SysTime look_at;
};
struct AllThere {};
/// Its pods are deleted and created again: after its turn, or after its own pause.
struct GivesWay {
  placement::Shortage words;
  bool after_turn = false;
};
using PlacingVerdict = std::variant<StillPlacing, StillStarting, AllThere, GivesWay, PodEnd>;
/// Whether no other gang of its line may be placed at the same time.
[[nodiscard]] bool NeedsTurn(const PodGang& gang, const PlacingLimits& limits) noexcept;

/// Judges a gang that is kPlacing; sets all_placed and all_run. `is_crowded`: see PlacingTurns.
[[nodiscard]] PlacingVerdict JudgePlacing(PodGang& gang, const PlacingLimits& limits, bool is_crowded,
                                          SysTime now);

}  // namespace trainyard::kubernetes

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/placement/wait.h"
#include "rules/slurm/job_list.h"

/// One gang's job in Slurm, and what a list means for it. Values and a pure rule: any thread.
/// docs/adr/0057-slurm.md.

namespace trainyard::slurm {

/// The reason of a pending job (%r) in plain words. One that is not known is shown as Slurm says it.
/// `partition`: empty: the default one. Pure: any thread. Source: docs/slurm.md, "Why jobs wait"; squeue(1),
/// "JOB REASON CODES".
[[nodiscard]] placement::Shortage MeaningOf(std::string_view reason, std::string_view partition);

/// A job that is absent from two lists this long apart is lost: a controller that was killed forgets young
/// jobs, and one that has just started may not know all of them yet.
inline constexpr std::chrono::seconds kSettle{10};
/// From the start of a job in Slurm until all its agents have come.
inline constexpr std::chrono::seconds kAttachMax{120};
/// An agent that closed its connection and did not come back is dead.
inline constexpr std::chrono::seconds kAgentAbsenceMax{30};
/// Agents of a previous server that do not come to this one within it are taken for closed.
inline constexpr std::chrono::minutes kAgentReturnMax{5};
/// Agents whose room is given back end by themselves within it, and the job is COMPLETED; then it is
/// cancelled.
inline constexpr std::chrono::seconds kLeaveMax{15};
/// Between two submissions of a gang that failed: the first pause, doubled each time.
inline constexpr std::chrono::seconds kResubmitPause{2};
inline constexpr std::chrono::seconds kResubmitPauseMax{300};

enum class GangStage {
  kToSubmit,    ///< from `due` on
  kSubmitting,  ///< sbatch runs
  kUncertain,   ///< sbatch did not answer, or a previous server did not see it answer
  kThere,       ///< it is in Slurm, or was a moment ago
  kGranted,
  kEnding,  ///< cancelled until a list has nothing of it
};

struct SlurmGang {
  int slots = 0;
  std::string partition;
  GangStage stage = GangStage::kToSubmit;
  int submission = 0;
  SysTime since;  ///< of the stage
  std::optional<SysTime> due;
  std::chrono::seconds pause = kResubmitPause;
  std::vector<std::int64_t> ids;          ///< that live, as of the last list
  std::map<int, std::string> attached;    ///< slots whose agents came, and their nodes
  std::map<int, SysTime> closed;          ///< slots whose agents closed their connections
  std::optional<SysTime> complete;        ///< when the last agent came
  std::optional<SysTime> running;         ///< since when a list says so
  std::optional<SysTime> missing;         ///< since when lists have it not
  std::optional<SysTime> may_live_until;  ///< while it is kEnding: it leaves by itself
  bool at_time_limit = false;             ///< its agents end because Slurm's limit for it is near
  bool had_room = false;
  bool released = false;
  bool lives = true;  ///< as far as is known
  placement::Wait wait;
  std::string waits_because{};  ///< Slurm's reason, if `wait` is its meaning
};

/// The agent of a slot has come. True: with it all have.
bool NoteAgent(SlurmGang& gang, int slot, const std::string& node, SysTime now);
/// Of the submission before: none of its agents counts any more.
void ForgetAgents(SlurmGang& gang);

/// What a list says of one gang.
struct Sight {
  std::span<const ListedJob> found;  ///< its jobs: one for each component
  SysTime asked;                     ///< when the question began
  SysTime answering_since;           ///< the controller
  SysTime now;
};

/// What follows from it; nothing: std::monostate.
struct LookSoon {};
struct KeepWaiting {
  placement::Shortage words;
  std::string because{};  ///< Slurm's reason, if that is what they mean
};
struct HasRoom {};
struct Resubmit {
  placement::Shortage words;
  bool at_once = false;  ///< it is not the gang's fault: the pauses begin anew
};
struct LosesRoom {
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};
using Verdict = std::variant<std::monostate, LookSoon, KeepWaiting, HasRoom, Resubmit, LosesRoom>;

/// The list says of it what the last one said: it waits, and for the same reason; and its agents are not
/// there.
[[nodiscard]] bool IsNothingNew(const SlurmGang& gang, std::span<const ListedJob> found);

/// Of a gang that is kUncertain, kThere or kGranted. Notes in it what the list says: `running`, `missing`.
[[nodiscard]] Verdict Judge(SlurmGang& gang, const Sight& sight);

}  // namespace trainyard::slurm

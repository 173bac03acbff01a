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

/// One gang's job in Slurm, and the rule for reading a list of jobs for it. Values and a pure function: any
/// thread. docs/adr/0057-slurm.md.

namespace trainyard::slurm {

/// The reason of a pending job (%r) in plain words. An unknown one is shown unchanged. `partition`: empty:
/// the default one. Pure: any thread. Source: docs/slurm.md, "Why jobs wait"; squeue(1), "JOB REASON CODES".
[[nodiscard]] placement::Shortage MeaningOf(std::string_view reason, std::string_view partition);

/// A job that is missing in two lists this long apart is lost. A controller that was killed forgets young
/// jobs, and one that has just started may not know all jobs yet.
inline constexpr std::chrono::seconds kSettle{10};
/// The maximum time from the start of a Slurm job until all its agents have connected.
inline constexpr std::chrono::seconds kAttachMax{120};
/// An agent that closed its connection and did not reconnect within this time is dead.
inline constexpr std::chrono::seconds kAgentAbsenceMax{30};
/// Agents of a previous server that do not connect to this one within this time count as closed.
inline constexpr std::chrono::minutes kAgentReturnMax{5};
/// Agents whose resources are released end by themselves within this time, and the job is COMPLETED; after it
/// the job is cancelled.
inline constexpr std::chrono::seconds kLeaveMax{15};
/// The first pause after a failed submission of a gang; doubles each time.
inline constexpr std::chrono::seconds kResubmitPause{2};
inline constexpr std::chrono::seconds kResubmitPauseMax{300};

enum class GangStage {
  kToSubmit,    ///< will be submitted at `due`
  kSubmitting,  ///< sbatch runs
  kUncertain,   ///< sbatch did not respond, or a previous server did not see its response
  kThere,       ///< it is in Slurm, or was a moment ago
  kGranted,
  kEnding,  ///< being cancelled until a list has no job of it
};

struct SlurmGang {
  int slots = 0;
  std::string partition;
  GangStage stage = GangStage::kToSubmit;
  int submission = 0;
  SysTime since;  ///< begin of the stage
  std::optional<SysTime> due;
  std::chrono::seconds pause = kResubmitPause;
  std::vector<std::int64_t> ids;          ///< of its live jobs, from the last list
  std::map<int, std::string> attached;    ///< slots whose agents have connected, and their nodes
  std::map<int, SysTime> closed;          ///< slots whose agents closed their connections
  std::optional<SysTime> complete;        ///< when the last agent connected
  std::optional<SysTime> running;         ///< since when lists show it as running
  std::optional<SysTime> missing;         ///< since when it is missing in lists
  std::optional<SysTime> may_live_until;  ///< during kEnding: until then it may end by itself
  bool at_time_limit = false;             ///< its agents end because Slurm's time limit is near
  bool had_room = false;
  bool released = false;
  bool wanted_again = false;  ///< after its release: it is submitted anew once nothing is left in Slurm
  bool is_answered = true;    ///< false: sbatch has not responded
  bool lives = true;          ///< according to the latest information
  placement::Wait wait;
  std::string waits_because{};  ///< Slurm's reason, if `wait` is its meaning
};

/// Records that the agent of a slot has connected. True: now all agents have.
bool NoteAgent(SlurmGang& gang, int slot, const std::string& node, SysTime now);
/// Removes the agents of the previous submission.
void ForgetAgents(SlurmGang& gang);

/// The part of a list about one gang.
struct Sight {
  std::span<const ListedJob> found;  ///< the gang's jobs: one for each component
  SysTime asked;                     ///< when the request began
  SysTime answering_since;           ///< since when the controller responds
  SysTime now;
};

/// The consequence of a list for a gang; std::monostate: none.
struct LookSoon {};
struct KeepWaiting {
  placement::Shortage words;
  std::string because{};  ///< Slurm's reason, if `words` explain it
};
struct HasRoom {};
struct Resubmit {
  placement::Shortage words;
  bool at_once = false;  ///< it is not the gang's fault: the pauses start over
};
struct LosesRoom {
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
};
using Verdict = std::variant<std::monostate, LookSoon, KeepWaiting, HasRoom, Resubmit, LosesRoom>;

/// Whether the list has no news about the gang: it still waits, for the same reason, and no agents have
/// connected.
[[nodiscard]] bool IsNothingNew(const SlurmGang& gang, std::span<const ListedJob> found);

/// Judges a gang that is kUncertain, kThere or kGranted. Updates `running` and `missing` of the gang from the
/// list.
[[nodiscard]] Verdict Judge(SlurmGang& gang, const Sight& sight);

}  // namespace trainyard::slurm

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rules/slurm/claims.h"
#include "rules/slurm/gangs.h"
#include "rules/slurm/testing/gangs_key.h"

namespace trainyard::slurm {

/// What can go wrong in a model, each at most once in a history. Bits of a mask.
enum ClusterFault : unsigned {
  kServerCrash = 1U << 0U,      ///< the server's memory is lost; Slurm and the agents go on
  kAnswerLost = 1U << 1U,       ///< sbatch does not respond; Slurm takes the job, does not, or does so later
  kRefused = 1U << 2U,          ///< Slurm takes no more jobs for now
  kListFails = 1U << 3U,        ///< squeue does not respond
  kListIncomplete = 1U << 4U,   ///< a job is missing in a list
  kListDoubled = 1U << 5U,      ///< a list names each job twice
  kListLate = 1U << 6U,         ///< a list takes up to 20 s
  kSubmitLate = 1U << 7U,       ///< sbatch takes up to 20 s
  kCancelLost = 1U << 8U,       ///< scancel has no effect
  kRequeued = 1U << 9U,         ///< a job that runs begins anew
  kCancelledThere = 1U << 10U,  ///< somebody cancels a job in Slurm
  kNodeLost = 1U << 11U,        ///< a node is lost; its agents may live on, cut off
  kTimeLimit = 1U << 12U,       ///< a job reaches its time limit
  kForgotten = 1U << 13U,       ///< a controller that was killed forgets a job and gives its id away again
  kAgentKilled = 1U << 14U,     ///< an agent ends with all that it started
  kAgentCut = 1U << 15U,        ///< an agent's connection breaks
  kAgentSilent = 1U << 16U,     ///< an agent is silent for too long, and may come back later
  kAgentTwice = 1U << 17U,      ///< a node starts an agent twice
  kAgentLate = 1U << 18U,       ///< an agent comes late
  kUserCancels = 1U << 19U,     ///< a user cancels a job that waits
  kWantedAgain = 1U << 20U,     ///< a drain that took a job's room ends, and the job wants room again
};
inline constexpr int kClusterFaults = 21;

/// A step of a history.
struct ClusterStep {
  enum class Kind : std::uint8_t {
    kWant,          ///< a job begins to wait for its gang's room
    kReturn,        ///< a job needs no room any more
    kRecordGrant,   ///< the job's record has the grant
    kIssue,         ///< a submission is stored
    kTake,          ///< Slurm takes a job from sbatch
    kAnswerSubmit,  ///< sbatch's answer arrives
    kSeeJobs,       ///< squeue reads Slurm's jobs
    kAnswerList,    ///< squeue's answer arrives
    kStart,         ///< Slurm starts a job
    kCome,          ///< an agent connects
    kLeave,         ///< an agent that was released ends
    kDie,           ///< an agent that Slurm or a node ends has ended
    kEnd,           ///< Slurm notices that all processes of a job have ended
    kTakeLate,      ///< Slurm takes a job from an sbatch that nobody waits for
    kDropLate,      ///< such an sbatch gives up
    kCancel,        ///< scancel reaches Slurm
    kNodeBack,
    kTimePasses,
    kFault,
  };
  Kind kind = Kind::kTimePasses;
  std::int8_t what = 0;    ///< the gang, the job or the question
  std::int8_t who = 0;     ///< the agent, or the variant of a fault
  bool is_urgent = false;  ///< time does not pass before it
  unsigned fault = 0;
};

/// A server with two gangs, of two slots and of one, and a Slurm with two nodes of one slot each, as a value.
/// The server's rules are the real ones: Gangs and Claims. For exhaustive tests of the rules.
struct ModelCluster {
  static constexpr int kNodes = 2;

  /// An agent as a process. Two agents of a job may claim one slot.
  struct Agent {
    enum class Stage : std::uint8_t { kNone, kComes, kAttached, kAway, kEnded };
    Stage stage = Stage::kNone;
    int instance = 0;
    bool is_told_to_leave = false;
    bool is_late = false;
    bool is_dying = false;    ///< Slurm or its node ends it
    bool is_cut_off = false;  ///< its node is lost for Slurm
    bool was_in = false;      ///< it has had its slot
    [[nodiscard]] bool lives() const { return stage != Stage::kNone && stage != Stage::kEnded; }
  };
  static constexpr int kAgentsMax = 3;  ///< one for each slot, and another one for slot 0
  struct Job {
    std::int64_t id = 0;
    Submission whose{};
    int ticket = 0;
    JobState state = JobState::kPending;
    JobState ends_as = JobState::kOver;  ///< during kEnding
    bool is_known = true;                ///< to Slurm
    int starts = 0;
    std::array<int, 2> nodes{-1, -1};  ///< by slot
    std::array<Agent, kAgentsMax> agents{};
  };
  /// What a list says of a job.
  struct Seen {
    std::int64_t id = 0;
    Submission whose{};
    JobState state = JobState::kPending;
    std::array<int, 2> nodes{-1, -1};
  };
  struct Cancel {
    GangKey gang{};
    std::vector<std::int64_t> ids{};
  };
  struct Question {
    std::optional<std::int64_t> id{};
    SysTime asked{};
    std::optional<std::vector<Seen>> seen{};
    bool is_late = false;
  };
  /// A call of sbatch.
  struct Call {
    enum class Stage : std::uint8_t { kNone, kToIssue, kCalls, kTaken };
    Stage stage = Stage::kNone;
    Submission whose{};
    int ticket = 0;
    std::int64_t id = 0;
    SysTime began{};
    bool is_late = false;
  };
  /// What the server has stored about a gang: AgentBook, and the grant in the job's record.
  struct Record {
    bool is_wanted = false;
    bool is_granted = false;
    int submission = 0;            ///< 0: none
    int ticket = 0;                ///< which agents of the submission may use; 0: none
    std::array<int, 2> holders{};  ///< instances by slot; 0: none
    std::array<int, 2> nodes{-1, -1};
    friend bool operator==(const Record&, const Record&) = default;
  };
  struct GangState {
    int slots = 1;
    bool is_begun = false;
    std::int64_t next_id = 1;  ///< of a job in Slurm
    bool is_over = false;      ///< its room was returned
    bool had_room = false;     ///< as far as the job knows
    bool lost_room = false;
    bool grant_is_told = false;  ///< and not recorded yet
    bool loss_is_told = false;   ///< and the job has not returned the room yet
    bool is_forgotten = false;
    Record record{};  ///< in memory
    Record disk{};    ///< durable: what is written without waiting comes one step later
    Call call{};
    std::optional<Call> lost_call{};  ///< sbatch without anybody who waits for it
  };

  /// `slots`: of each gang.
  explicit ModelCluster(const std::vector<int>& slots);

  [[nodiscard]] GangState& Of(const GangKey& key) { return gangs[static_cast<std::size_t>(key.job_uid - 1)]; }
  [[nodiscard]] const GangState& Of(const GangKey& key) const {
    return gangs[static_cast<std::size_t>(key.job_uid - 1)];
  }
  [[nodiscard]] bool Happened(ClusterFault fault) const { return (faults & fault) != 0; }
  void Break(std::string what);

  Gangs rules;
  Claims claims;
  SysTime now{std::chrono::hours(1'000)};
  std::vector<GangState> gangs;
  std::vector<Question> questions;
  std::vector<Cancel> cancels;
  std::vector<Job> jobs;
  std::int64_t free_id = 0;          ///< that a controller forgot, and gives to the next job; 0: none
  unsigned up = (1U << kNodes) - 1;  ///< nodes
  unsigned faults = 0;
  std::string broken;  ///< the invariant that does not hold any more; empty: all hold
};

/// All steps that are possible now, with those faults that have not happened yet.
[[nodiscard]] std::vector<ClusterStep> StepsOf(const ModelCluster& world);
void Do(ModelCluster& world, const ClusterStep& step);
/// Whether all gangs had their room or were refused it, the rules have forgotten them, and nothing of them is
/// left in Slurm.
[[nodiscard]] bool IsOver(const ModelCluster& world);
/// Equal keys have equal futures.
[[nodiscard]] std::string KeyOf(const ModelCluster& world);
// For messages: a step, and the truth of everything.
[[nodiscard]] std::string Describe(const ClusterStep& step);
[[nodiscard]] std::string Describe(const ModelCluster& world);

// These are the parts of a step: the server's are in model_cluster.cc.
/// Does what the rules say.
void Act(ModelCluster& world);
/// Breaks the invariant that a job is being cancelled, or was, if its gang is forgotten and sbatch has
/// answered. After some faults such a job is left to its agents, which are refused.
void CheckForgotten(ModelCluster& world);
void Want(ModelCluster& world, int g);
void Return(ModelCluster& world, int g);
void Issue(ModelCluster& world, ModelCluster::GangState& gang);
void AnswerSubmit(ModelCluster& world, ModelCluster::GangState& gang);
void LoseAnswer(ModelCluster& world, ModelCluster::GangState& gang, int variant);
void AnswerList(ModelCluster& world, int q);
/// The next server begins at once, with what was stored. `with_unsaved`: everything that was written is
/// durable; otherwise what nobody has waited for is not.
void CrashServer(ModelCluster& world, bool with_unsaved);
void Come(ModelCluster& world, ModelCluster::Job& job, int a);
/// Whether the agent would have its slot if it came now: like SlurmEngine::TakeSlot. Asks Slurm about the one
/// job if no list has shown it yet. Changes `claims`.
enum class Entry : std::uint8_t { kWaits, kIsIn, kIsRefused };
[[nodiscard]] Entry TryToEnter(const ModelCluster& world, const ModelCluster::Job& job, int a,
                               Claims& claims);
/// When something happens without an event; nullopt: never.
[[nodiscard]] std::optional<SysTime> NextTime(const ModelCluster& world);

// The parts of Slurm and of the agents are in model_slurm.cc.
void TakeJob(ModelCluster& world, ModelCluster::Call& call);
void SeeJobs(const ModelCluster& world, ModelCluster::Question& question, int without, bool twice);
void EndAgent(ModelCluster& world, ModelCluster::Job& job, int a);

[[nodiscard]] inline GangKey GangKeyOf(int g) { return {.job_uid = g + 1, .try_number = 1}; }
/// The slot that a job's agent claims.
[[nodiscard]] inline int SlotOf(int a) { return a == 2 ? 0 : a; }

}  // namespace trainyard::slurm

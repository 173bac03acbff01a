#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/placement/gang_rules.h"
#include "rules/placement/wait.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/gang_table.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/job_name.h"
#include "rules/slurm/questions.h"
#include "rules/slurm/reading.h"

namespace trainyard::slurm {

/// The maximum number of concurrent calls of sbatch.
inline constexpr int kSubmittingMax = 4;
/// The maximum number of gangs that one call processes: the rest of a long list, or of many due gangs, is
/// left to the next call.
inline constexpr int kLooksMax = 1'000;

// Actions for the caller.
/// Store the submission, then submit it; report the result with OnSubmitted or OnNotSubmitted.
struct Submit {
  Submission submission;
  friend bool operator==(const Submit&, const Submit&) = default;
};
/// Call squeue for all jobs or for one; report the result with OnListed or OnListFailed.
struct AskList {
  std::optional<std::int64_t> id{};
  friend bool operator==(const AskList&, const AskList&) = default;
};
/// Cancel jobs. Needs no report: jobs that survive are cancelled again. Only cancel ids with this name,
/// because an id may belong to another job by now.
struct CancelJobs {
  std::string name;  ///< JobName
  std::vector<std::int64_t> ids;
  friend bool operator==(const CancelJobs&, const CancelJobs&) = default;
};
using placement::Forget;
using placement::GiveRoom;
using placement::NothingLives;
using placement::SayWait;
using placement::TakeBack;
using placement::VoidTicket;
using GangAction =
    std::variant<Submit, AskList, CancelJobs, VoidTicket, GiveRoom, TakeBack, NothingLives, SayWait, Forget>;

/// Maps Slurm jobs to gangs and decides what to do next. Slurm is not trusted: a submission without a
/// response may exist, an id may belong to another job by now, a job may be forgotten, or start twice. Only
/// the jobs with our names in a list count. A value with state; one thread. docs/adr/0057-slurm.md.
class Gangs final : public placement::GangRules {
 public:
  /// `installation`: as in JobName.
  explicit Gangs(std::string installation) : installation_(std::move(installation)) {}

  struct GangRequest {
    GangKey key;
    int slots = 0;
    std::string partition{};    ///< for messages
    int last_submission = 0;    ///< stored by a previous server; 0: none
    bool granted = false;       ///< a previous server has granted its resources
    bool may_have_run = false;  ///< as `granted`, but its resources were released, or nobody knows
    std::map<int, std::string> attached{};  ///< if `granted`: slots whose agents had connected; their nodes
    std::vector<std::int64_t> cancelled{};  ///< ids of its jobs that previous servers have cancelled
  };
  /// A gang that was released, and is not forgotten yet, is submitted anew once nothing of it is in Slurm.
  void Want(GangRequest wanted, SysTime now);
  void Release(const GangKey& key, SysTime now) override;

  void OnSubmitted(const Submission& submission, std::int64_t id, SysTime now);
  /// `words`: one sentence from Slurm.
  void OnNotSubmitted(const Submission& submission, Failure failure, const std::string& words, SysTime now);
  /// `asked`: when the request began. With `id` the list has only that job. `ours`: the installation's jobs.
  void OnListed(std::optional<std::int64_t> id, SysTime asked, OurJobs ours, SysTime now);
  void OnListFailed(std::optional<std::int64_t> id, const std::string& words, SysTime now);
  void OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now) override;
  void OnDetached(const Submission& submission, int slot, bool closed, SysTime now) override;
  void OnUnheard(const Submission& submission, std::string reason, SysTime now) override;
  void OnTimeLimit(const Submission& submission) override;

  /// The actions to perform now, each only once. If more remains to do, WakeAt is in the past afterwards.
  [[nodiscard]] std::vector<GangAction> Next(SysTime now);
  [[nodiscard]] std::optional<SysTime> WakeAt() const override;
  [[nodiscard]] std::optional<placement::Wait> WaitOf(const GangKey& key) const override;
  [[nodiscard]] bool IsCurrent(const Submission& submission) const override;
  [[nodiscard]] bool MayLive(const Submission& submission) const override;
  [[nodiscard]] std::size_t size() const noexcept { return gangs_.all().size(); }

 private:
  void Enter(const GangKey& key, SlurmGang& gang, GangStage stage, SysTime now);
  void Say(const GangKey& key, SlurmGang& gang, placement::Shortage words);
  void ReadOn(SysTime now);
  void Look(const GangKey& key, SlurmGang& gang, std::span<ListedJob> found, Sight sight);
  void LookAtEnding(const GangKey& key, SlurmGang& gang, const Sight& sight);
  void SubmitAgain(const GangKey& key, SlurmGang& gang, placement::Shortage words, SysTime now);
  void BeginAnew(const GangKey& key, SlurmGang& gang, SysTime now);
  void TakeRoomBack(const GangKey& key, SlurmGang& gang, LosesRoom why, const Sight& sight);
  void SayDead(const GangKey& key, SlurmGang& gang);
  void CancelAll(const GangKey& key, SlurmGang& gang, SysTime now);
  void Cancel(const std::string& name, std::vector<std::int64_t> ids, SysTime now);
  void CancelStrangers(Strangers strangers, SysTime now);
  void OnDue(const GangKey& key);
  void AskForSome();
  void SubmitSome(SysTime now);
  void Erase(const GangKey& key);

  std::string installation_;
  GangTable gangs_;
  std::deque<GangKey> to_submit_;
  Questions questions_;
  std::optional<ListReading> reading_;
  std::optional<SysTime> answering_since_;  ///< when the controller began to respond; nullopt: it does not
  OwnCancels own_cancels_;
  std::vector<GangAction> actions_;
};

}  // namespace trainyard::slurm

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "rules/placement/wait.h"
#include "rules/slurm/commands.h"
#include "rules/slurm/gang.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/job_name.h"
#include "rules/slurm/questions.h"
#include "rules/slurm/reading.h"

namespace trainyard::slurm {

/// Calls of sbatch at once.
inline constexpr int kSubmittingMax = 4;
/// Gangs that one call looks at: the rest of a long list, or of much that is due, is left to the next call.
inline constexpr int kLooksMax = 1'000;

// What is to be done next.
/// To be written down, and then to be submitted; answered by OnSubmitted or OnNotSubmitted.
struct Submit {
  Submission submission;
  friend bool operator==(const Submit&, const Submit&) = default;
};
/// squeue is to be asked, for all or for one; answered by OnListed or OnListFailed.
struct AskList {
  std::optional<std::int64_t> id{};
  friend bool operator==(const AskList&, const AskList&) = default;
};
/// Needs no answer: what lives on is cancelled again. Only those of the name: an id may be another's by now.
struct CancelJobs {
  std::string name;  ///< JobName
  std::vector<std::int64_t> ids;
  friend bool operator==(const CancelJobs&, const CancelJobs&) = default;
};
/// Its agents have to end, and no other one may come.
struct VoidTicket {
  Submission submission;
  friend bool operator==(const VoidTicket&, const VoidTicket&) = default;
};
struct GiveRoom {
  Submission submission;
  friend bool operator==(const GiveRoom&, const GiveRoom&) = default;
};
/// After GiveRoom, or instead of it.
struct TakeBack {
  GangKey gang;
  placement::RoomEnd kind = placement::RoomEnd::kLost;
  std::string reason;  ///< one sentence
  friend bool operator==(const TakeBack&, const TakeBack&) = default;
};
/// Of a submission that had room: Slurm has ended all of it.
struct NothingLives {
  Submission submission;
  friend bool operator==(const NothingLives&, const NothingLives&) = default;
};
struct SayWait {
  GangKey gang;
  friend bool operator==(const SayWait&, const SayWait&) = default;
};
/// Nothing of it is in Slurm any more.
struct Forget {
  GangKey gang;
  friend bool operator==(const Forget&, const Forget&) = default;
};
using GangAction =
    std::variant<Submit, AskList, CancelJobs, VoidTicket, GiveRoom, TakeBack, NothingLives, SayWait, Forget>;

/// Which jobs of Slurm stand for which gangs, and what to do about it. Slurm is not trusted: a submission
/// that was not answered may exist, an id may be somebody else's by now, a job may be forgotten, or start
/// twice. What counts is what a list says under our names. A value with a memory; one thread.
/// docs/adr/0057-slurm.md.
class Gangs {
 public:
  /// `installation`: as JobName has it.
  explicit Gangs(std::string installation) : installation_(std::move(installation)) {}

  struct Wanted {
    GangKey key;
    int slots = 0;
    std::string partition{};                ///< for words
    int last_submission = 0;                ///< written down by a previous server; 0: none
    bool granted = false;                   ///< a previous server has given it room
    std::map<int, std::string> attached{};  ///< slots whose agents came then, and their nodes
  };
  void Want(Wanted wanted, SysTime now);
  /// It needs no room any more. Forget follows once Slurm has nothing of it.
  void Release(const GangKey& key, SysTime now);

  void OnSubmitted(const Submission& submission, std::int64_t id, SysTime now);
  /// `words`: one sentence of Slurm's.
  void OnNotSubmitted(const Submission& submission, Failure failure, const std::string& words, SysTime now);
  /// `asked`: when the question began. With `id` the list is of that job alone. `ours`: of the installation.
  void OnListed(std::optional<std::int64_t> id, SysTime asked, OurJobs ours, SysTime now);
  void OnListFailed(std::optional<std::int64_t> id, const std::string& words, SysTime now);
  void OnAttached(const Submission& submission, int slot, const std::string& node, SysTime now);
  /// The agent's connection is gone. `closed`: by its end, so that it is dead or will be back soon; else it
  /// was silent, and its network may be.
  void OnDetached(const Submission& submission, int slot, bool closed, SysTime now);

  /// Its agents end because Slurm's time limit for it is near: what ends now ends for that.
  void OnTimeLimit(const Submission& submission);

  /// What is to be done now; each action is said once. WakeAt is past while there is more than one call does.
  [[nodiscard]] std::vector<GangAction> Next(SysTime now);
  /// When Next has something to do though nothing happens; nothing: never.
  [[nodiscard]] std::optional<SysTime> WakeAt() const;

  /// Nothing for a gang that has room, or that is not wanted.
  [[nodiscard]] std::optional<placement::Wait> WaitOf(const GangKey& key) const;
  /// Agents of it may come.
  [[nodiscard]] bool IsCurrent(const Submission& submission) const;
  /// Something of it may be in Slurm.
  [[nodiscard]] bool MayLive(const Submission& submission) const;
  [[nodiscard]] std::size_t size() const noexcept { return gangs_.size(); }

 private:
  void Enter(const GangKey& key, SlurmGang& gang, GangStage stage, SysTime now);
  void SetDue(const GangKey& key, SlurmGang& gang, std::optional<SysTime> due);
  void Say(const GangKey& key, SlurmGang& gang, placement::Shortage words);
  void ReadOn(SysTime now);
  void Look(const GangKey& key, SlurmGang& gang, std::span<ListedJob> found, Sight sight);
  void LookAtEnding(const GangKey& key, SlurmGang& gang, const Sight& sight);
  void SubmitAgain(const GangKey& key, SlurmGang& gang, placement::Shortage words, SysTime now);
  void TakeRoomBack(const GangKey& key, SlurmGang& gang, placement::RoomEnd kind, std::string why,
                    SysTime now);
  void SayDead(const GangKey& key, SlurmGang& gang);
  void CancelAll(const GangKey& key, SlurmGang& gang, SysTime now);
  void Cancel(const std::string& name, std::vector<std::int64_t> ids, SysTime now);
  void CancelStrangers(Strangers strangers, SysTime now);
  void OnDue(const GangKey& key);
  void AskForSome();
  void SubmitSome(SysTime now);
  void CountStage(GangStage stage, int change);
  void Erase(const GangKey& key);

  std::string installation_;
  std::map<GangKey, SlurmGang> gangs_;
  std::set<std::pair<SysTime, GangKey>> due_;
  std::deque<GangKey> to_submit_;
  int submitting_ = 0;
  int waiting_ = 0;  ///< gangs for which lists are asked often
  Questions questions_;
  std::optional<ListReading> reading_;
  std::optional<SysTime> answering_since_;  ///< the controller; nothing: it does not, or was not asked
  OwnCancels own_cancels_;
  std::vector<GangAction> actions_;
};

}  // namespace trainyard::slurm

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>

#include "rules/slurm/gangs.h"

/// Random schedules with a Slurm that forgets jobs, starts them twice and does not respond: the invariants
/// must still be true.
namespace trainyard::slurm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Job {
  ListedJob listed;
  SysTime submitted;
  int slots = 0;
};

/// A cluster with a controller that is killed now and then.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {}

  void Want(int uid, int slots) {
    const GangKey key{.job_uid = uid, .try_number = 1};
    slots_[key] = slots;
    gangs_.Want({.key = key, .slots = slots}, now_);
  }
  void Release(int uid) {
    gangs_.Release({.job_uid = uid, .try_number = 1}, now_);
    released_.insert({.job_uid = uid, .try_number = 1});
  }

  void Step(bool treacherous) {
    now_ += milliseconds(200 + Below(600));
    if (treacherous && Below(100) < 4) Kill();
    if (down_ && Below(100) < 10) down_ = false;
    StartSome();
    for (const GangAction& action : gangs_.Next(now_))
      std::visit([this](const auto& one) { Do(one); }, action);
    Answer();
  }

  [[nodiscard]] int Living() const {
    int living = 0;
    for (const auto& [id, job] : jobs_) living += HasEnded(job.listed.state) ? 0 : 1;
    return living;
  }
  std::map<GangKey, int> granted_;  ///< how often
  std::map<GangKey, int> taken_back_;
  std::set<GangKey> forgotten_;
  Gangs gangs_{"1f3a"};

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// Jobs younger than five seconds are forgotten, although their agents may run already; ids are reused.
  void Kill() {
    down_ = true;
    std::erase_if(jobs_, [this](const auto& entry) {
      if (entry.second.submitted + seconds(5) < now_) return false;
      if (entry.second.listed.state == JobState::kRunning || Below(3) == 0) orphans_.push_back(entry.second);
      return true;
    });
    next_id_ = jobs_.empty() ? 1 : jobs_.rbegin()->first + 1;
  }

  void StartSome() {
    for (auto& [id, job] : jobs_) {
      if (down_ || job.listed.state != JobState::kPending || Below(4) > 0) continue;
      job.listed.state = JobState::kRunning;
      Attach(job);
      if (Below(10) == 0) Attach(job);  // started twice
    }
    for (const Job& orphan : std::exchange(orphans_, {})) Attach(orphan);
  }

  /// The server's rule for agents: the first agent of a slot wins, and only for the current submission.
  void Attach(const Job& job) {
    const auto submission = ParseNames("1f3a", job.listed.name, job.listed.comment);
    for (int slot = 0; slot < job.slots; ++slot) {
      if (!gangs_.IsCurrent(*submission) || !admitted_.insert({*submission, slot}).second) continue;
      gangs_.OnAttached(*submission, slot, "n", now_);
    }
  }

  void Do(const Submit& submit) {
    const bool arrives = !down_ && Below(20) > 0;
    const bool answers = arrives && Below(10) > 0;
    std::int64_t id = 0;
    if (arrives) {
      id = next_id_++;
      jobs_[id] = {.listed = {.id = id,
                              .name = JobName("1f3a", submit.submission.gang),
                              .comment = Comment(submit.submission),
                              .state = JobState::kPending,
                              .state_text = "PENDING",
                              .reason = "Resources"},
                   .submitted = now_,
                   .slots = slots_.at(submit.submission.gang)};
    }
    if (answers) {
      gangs_.OnSubmitted(submit.submission, id, now_);
    } else {
      gangs_.OnNotSubmitted(submit.submission, Failure::kNoAnswer, "Socket timed out", now_);
    }
  }
  void Do(const AskList& ask) { asked_.push_back({ask, now_}); }
  void Do(const CancelJobs& cancel) {
    if (down_) return;
    for (const std::int64_t id : cancel.ids)
      if (const auto job = jobs_.find(id); job != jobs_.end() && job->second.listed.name == cancel.name)
        job->second.listed.state = JobState::kCancelled;
  }
  void Do(const VoidTicket& ticket) { EXPECT_FALSE(gangs_.IsCurrent(ticket.submission)); }
  void Do(const GiveRoom& room) {
    EXPECT_TRUE(gangs_.IsCurrent(room.submission));
    EXPECT_FALSE(released_.contains(room.submission.gang));
    for (int slot = 0; slot < slots_.at(room.submission.gang); ++slot)
      EXPECT_TRUE(admitted_.contains({room.submission, slot})) << "an agent is missing";
    ++granted_[room.submission.gang];
  }
  void Do(const TakeBack& back) {
    EXPECT_GT(granted_[back.gang], 0) << back.reason;
    ++taken_back_[back.gang];
    Release(static_cast<int>(back.gang.job_uid));
  }
  void Do(const NothingLives& dead) {
    for (const auto& [id, job] : jobs_) {
      if (ParseNames("1f3a", job.listed.name, job.listed.comment) == dead.submission)
        EXPECT_TRUE(HasEnded(job.listed.state));
    }
  }
  void Do(const SayWait&) {}
  void Do(const Forget& forget) { EXPECT_TRUE(forgotten_.insert(forget.gang).second); }

  void Answer() {
    for (const auto& [ask, when] : std::exchange(asked_, {})) {
      if (down_) {
        gangs_.OnListFailed(ask.id, "Unable to contact slurm controller", now_);
        continue;
      }
      std::vector<ListedJob> listed;
      for (const auto& [id, job] : jobs_)
        if (!ask.id || id == *ask.id) listed.push_back(job.listed);
      gangs_.OnListed(ask.id, when, OursOf("1f3a", std::move(listed)), now_);
    }
  }

  std::mt19937 random_;
  SysTime now_{std::chrono::hours(1'000)};
  bool down_ = false;
  std::int64_t next_id_ = 1;
  std::map<std::int64_t, Job> jobs_;
  std::vector<Job> orphans_;
  std::map<GangKey, int> slots_;
  std::set<std::pair<Submission, int>> admitted_;
  std::set<GangKey> released_;
  std::vector<std::pair<AskList, SysTime>> asked_;
};

TEST(Treachery, EveryGangGetsRoomOnceAndNothingIsLeft) {
  constexpr int kGangs = 8;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    World world(seed);
    for (int uid = 1; uid <= kGangs; ++uid) world.Want(uid, 1 + uid % 3);
    for (int step = 0; step < 400; ++step) world.Step(true);
    for (int step = 0; step < 1'500; ++step) world.Step(false);
    for (int uid = 1; uid <= kGangs; ++uid) {
      const GangKey key{.job_uid = uid, .try_number = 1};
      EXPECT_EQ(world.granted_[key], 1) << uid << " was taken back " << world.taken_back_[key];
    }
    for (int uid = 1; uid <= kGangs; ++uid) world.Release(uid);
    for (int step = 0; step < 400; ++step) world.Step(false);
    EXPECT_EQ(world.Living(), 0);
    EXPECT_EQ(world.forgotten_.size(), static_cast<std::size_t>(kGangs));
    EXPECT_EQ(world.gangs_.size(), 0U);
  }
}

}  // namespace
}  // namespace trainyard::slurm

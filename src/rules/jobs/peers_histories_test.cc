#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "rules/jobs/decide.h"
#include "rules/jobs/peers.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/testing/simulated_job.h"

/// Generated histories of a collective job: its replicas are stopped, killed, lost and fail, and whoever
/// loses a peer fails as well. No such job restarts for ever, and none fails for another's fault.
namespace trainyard::jobs {
namespace {

using ml::v1::Job;
using replica::v1::ExitRecord;
using std::chrono::milliseconds;

constexpr char kCollective[] =
    "region: 'us-central1' scale_tier: CUSTOM master_type: 'n1-standard-4' worker_type: 'n1-standard-4' "
    "worker_count: 2 evaluator_type: 'n1-standard-4' evaluator_count: 1";
constexpr int kPeers = 3;  ///< positions 0 to 2; the evaluator is 3
constexpr milliseconds kTrainingTime{90'000};
/// How long a program may need to notice that it has lost a peer, so that kPeerWindow covers it.
constexpr int kNoticeMostMs = 40'000;

/// One history: the job, its programs, and what befalls them.
class History {
 public:
  History(unsigned seed, bool own_fault) : random_(seed), job_(kCollective), own_fault_(own_fault) {
    job_.Admit();
    const int faults = Below(kRetriesMax) + (own_fault ? 0 : 1);
    for (int i = 0; i < faults; ++i) At(milliseconds(Below(200'000)), [this] { Disturb(); });
  }

  /// Runs the job to its end, or for at most so many steps.
  void Run() {
    constexpr int kStepsMax = 2'000;
    for (int step = 0; step < kStepsMax && !job_.ended(); ++step) {
      job_.Settle();
      Follow();
      Advance();
    }
  }

  [[nodiscard]] const SimulatedJob& job() const { return job_; }

 private:
  struct Program {
    int attempt = 0;     ///< the one that events are scheduled for
    bool ended = false;  ///< really; the server may not have heard of it
    bool stopping = false;
    bool runs = false;
    bool together = false;  ///< it found all of its peers when it began
  };

  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  void At(milliseconds delay, std::function<void()> what) {
    events_.emplace(job_.now() + delay, std::move(what));
  }
  /// Like At, unless the replica's attempt is over by then.
  void AtOf(int replica, milliseconds delay, std::function<void()> what) {
    At(delay, [this, replica, attempt = programs_[replica].attempt, what = std::move(what)] {
      if (programs_[replica].attempt == attempt && !programs_[replica].ended) what();
    });
  }

  /// The program ends now; the server hears of it a little later, in any order.
  void End(int replica, ExitRecord::Cause cause, int status) {
    Program& program = programs_[replica];
    program.ended = true;
    program.runs = false;
    const milliseconds late(Below(4'000));
    At(late, [this, replica, cause, status, late, attempt = program.attempt] {
      if (job_.job().replicas(replica).attempt() == attempt && job_.IsAlive(replica))
        job_.End(replica, cause, status, late);
    });
    if (replica >= kPeers) return;
    for (int peer = 0; peer < kPeers; ++peer) LosePeer(peer);
  }

  /// As collective operations do: an exception, an abort, or a wait that only a stop ends.
  void LosePeer(int replica) {
    if (programs_[replica].ended) return;
    programs_[replica].together = false;
    const int how = Below(8);
    if (how == 7) return;
    AtOf(replica, milliseconds(Below(kNoticeMostMs)), [this, replica, how] {
      if (how >= 5) return End(replica, ExitRecord::SIGNALED, 6);
      End(replica, ExitRecord::EXITED, how == 4 ? 255 : 1);
    });
  }

  void Disturb() {
    const int replica = Below(kPeers + 1);
    switch (Below(4)) {
      case 0: return job_.Maintain(replica);
      case 1:
        if (programs_[replica].runs) End(replica, ExitRecord::SIGNALED, 9);
        return;
      case 2:
        if (programs_[replica].runs) End(replica, ExitRecord::SHUT_DOWN, 15);
        return;
      default: return LoseRoom();
    }
  }

  void LoseRoom() {
    if (!job_.job().reserved() || job_.job().retrying()) return;
    for (int replica = 0; replica <= kPeers; ++replica) programs_[replica].ended = true;
    job_.Revoke("A node is lost.");
    At(milliseconds(1'000), [this] { job_.Admit(); });
  }

  /// Programs follow what the server has ordered.
  void Follow() {
    for (int replica = 0; replica <= kPeers; ++replica) {
      Program& program = programs_[replica];
      const int attempt = job_.job().replicas(replica).attempt();
      if (job_.IsAlive(replica) && attempt != program.attempt) {
        program = {.attempt = attempt};
        AtOf(replica, milliseconds(Below(2'000)),
             [this, replica] { job_.Reach(replica, replica::v1::READY); });
      }
      if (program.ended || !job_.IsAlive(replica)) continue;
      if (job_.IsStopping(replica) && !std::exchange(program.stopping, true))
        AtOf(replica, milliseconds(Below(5'000)), [this, replica] { End(replica, ExitRecord::STOPPED, 0); });
      if (job_.IsOpen(replica) && !program.runs) Begin(replica);
    }
  }

  void Begin(int replica) {
    programs_[replica].runs = true;
    job_.Reach(replica, replica::v1::RUNNING);
    if (replica >= kPeers) return;
    // A replica that comes back alone finds peers that belong to an older cluster.
    bool together = true;
    for (int peer = 0; peer < kPeers; ++peer) {
      const Program& other = programs_[peer];
      if (peer != replica && (other.ended || (other.runs && !other.together))) together = false;
    }
    programs_[replica].together = together && job_.job().replicas(replica).restarts() == 0 &&
                                  !job_.job().replicas(replica).has_former();
    if (!programs_[replica].together) return LosePeer(replica);
    if (replica == 0 && own_fault_) AtOf(0, milliseconds(30'000), [this] { End(0, ExitRecord::EXITED, 1); });
    if (replica == 0)
      AtOf(0, kTrainingTime, [this] {
        if (programs_[0].together) End(0, ExitRecord::EXITED, 0);
      });
  }

  /// To the next event, or the time at which the rules want to look again.
  void Advance() {
    const auto wake = job_.wake_time();
    constexpr std::chrono::hours kPatience{1};
    if (events_.empty() && (!wake || *wake - job_.now() > kPatience)) {
      // All programs hang, which no rule can know; a person stops one of them.
      if (!job_.ended()) job_.Maintain(Below(kPeers));
      return;
    }
    if (events_.empty() || (wake && *wake < events_.begin()->first)) return job_.Pass(*wake - job_.now());
    job_.Pass(events_.begin()->first - job_.now());
    const auto what = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    what();
  }

  std::mt19937 random_;
  SimulatedJob job_;
  bool own_fault_;
  std::map<int, Program> programs_;
  std::multimap<SysTime, std::function<void()>> events_;
};

/// A hundred thousand in both tests together under ./dev test --long.
int Histories() { return std::getenv("TRAINYARD_LONG") != nullptr ? 50'000 : 1'000; }

TEST(Histories, NoJobFailsForAnothersFault) {
  for (int seed = 0; seed < Histories(); ++seed) {
    History history(static_cast<unsigned>(seed), false);
    history.Run();
    ASSERT_TRUE(history.job().ended()) << "seed " << seed << ": it restarts for ever";
    ASSERT_EQ(history.job().job().job().state(), Job::SUCCEEDED)
        << "seed " << seed << ": " << history.job().job().job().error_message();
  }
}

TEST(Histories, AFaultOfItsOwnFailsTheJob) {
  for (int seed = 0; seed < Histories(); ++seed) {
    History history(static_cast<unsigned>(seed), true);
    history.Run();
    ASSERT_TRUE(history.job().ended()) << "seed " << seed << ": it restarts for ever";
    ASSERT_EQ(history.job().job().job().state(), Job::FAILED) << "seed " << seed;
    ASSERT_LE(history.job().job().try_number(), 1 + kRetriesMax) << "seed " << seed;
  }
}

}  // namespace
}  // namespace trainyard::jobs

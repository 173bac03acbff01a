#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/overloaded.h"
#include "rules/kubernetes/pod_gangs.h"

/// Random histories of some gangs on a small cluster whose answers get lost, with servers that are killed.
/// The rules are the real ones.
namespace trainyard::kubernetes::pod_gangs_model_test {
namespace {

using std::chrono::seconds;

constexpr const char* kInstallation = "1f3a";
constexpr int kRoom = 4;  ///< pods that nodes have room for
constexpr int kJobs = 5;  ///< the first kStuck of them never fit
constexpr int kStuck = 2;

/// What the next server knows.
struct Record {
  int number = 0;
  bool is_void = false;
  std::map<int, std::string> holders{};
};
struct Job {
  int slots = 1;
  int try_number = 1;
  bool is_wanted = false;
  bool is_granted = false;  ///< durably
  int granted_number = 0;   ///< of this server or a former one; 0: none
};
struct Message {
  bool is_list = false;
  bool is_gone = false;
  SysTime asked{};
  std::vector<Pod> pods;
};
/// A request of the server that was not answered yet.
struct Making {
  Submission submission;
  int slots = 0;
  int done = -1;  ///< pods; -1: the Secret is not there yet
};

class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {
    for (int i = 0; i < kJobs; ++i) jobs_.push_back({.slots = i < kStuck ? kRoom + 1 : 1 + (i % 3)});
    List();
  }

  void Chaos(int steps) {
    for (int i = 0; i < steps && broken_.empty(); ++i) {
      Step(Draw(14), true);
      Act();
    }
  }
  /// No faults any more; jobs that have their pods end after a while.
  void Calm() {
    if (!watches_) List();
    quota_ = kRoom * 4;
    for (Job& job : jobs_)
      if (!job.is_wanted) Want(job);
    for (int i = 0; i < 4'000 && broken_.empty() && !AreServed(); ++i) CalmStep();
    if (!AreServed()) Break("a job that fits waits for ever: " + Waiting());
    for (Job& job : jobs_)
      if (job.is_wanted) Release(job);
    for (int i = 0; i < 4'000 && broken_.empty() && !IsEmpty(); ++i) CalmStep();
    if (!IsEmpty()) Break("something is left in the cluster, or was not forgotten");
  }
  [[nodiscard]] const std::string& broken() const { return broken_; }

 private:
  GangKey KeyOf(const Job& job) const {
    return {.job_uid = &job - jobs_.data() + 1, .try_number = job.try_number};
  }
  Job& JobOf(const GangKey& key) { return jobs_.at(static_cast<std::size_t>(key.job_uid - 1)); }
  unsigned Draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  void Break(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }
  std::string Waiting() {
    std::string text;
    for (const Job& job : jobs_)
      if (job.slots <= kRoom && job.is_wanted && !served_.contains(&job - jobs_.data()))
        text += std::to_string(KeyOf(job).job_uid) + ": " +
                gangs_->WaitOf(KeyOf(job)).value_or(placement::Wait{.reason = "no wait"}).reason + "; ";
    return text;
  }
  bool AreServed() {
    for (const Job& job : jobs_)
      if (job.slots <= kRoom && !served_.contains(&job - jobs_.data())) return false;
    return true;
  }
  bool IsEmpty() { return secrets_.empty() && pods_.empty() && records_.empty() && making_.empty(); }

  // --- the server

  void Want(Job& job) {
    job.is_wanted = true;
    WantedPods wanted{.key = KeyOf(job), .slots = job.slots, .granted = job.is_granted};
    if (job.is_granted) wanted.last_submission = job.granted_number;
    if (const auto known = records_.find(wanted.key); known != records_.end()) {
      wanted.last_submission = known->second.number;
      wanted.attached = known->second.holders;
    }
    gangs_->Want(std::move(wanted), now_);
  }
  void Release(Job& job) {
    job.is_wanted = job.is_granted = false;
    job.granted_number = 0;
    gangs_->Release(KeyOf(job), now_);
  }
  void Restart() {
    gangs_.emplace(kInstallation, PlacingLimits{.turn = seconds(60)});
    making_.clear();
    removing_.clear();
    messages_.clear();
    here_.clear();
    watches_ = false;
    for (Job& job : jobs_)
      if (job.is_wanted) Want(job);
    for (const auto& [key, record] : records_) {
      if (JobOf(key).is_wanted && KeyOf(JobOf(key)) == key) continue;
      gangs_->Want(
          {.key = key, .slots = JobOf(key).slots, .last_submission = record.number, .may_have_run = true},
          now_);
      gangs_->Release(key, now_);
    }
  }
  void Act() {
    do {
      for (const GangAction& action : gangs_->Next(now_))
        std::visit([this](const auto& one) { Do(one); }, action);
    } while (gangs_->WakeAt() && *gangs_->WakeAt() == SysTime());
  }
  void Do(const Create& action) {
    Record& record = records_[action.submission.gang];
    if (record.number != action.submission.number) record = {.number = action.submission.number};
    making_.push_back({.submission = action.submission, .slots = JobOf(action.submission.gang).slots});
  }
  void Do(const Remove& action) { removing_.insert(action.submission); }
  void Do(const LookForScaleUp&) {}
  void Do(const AskQueue&) {}
  void Do(const ListPods&) { watches_ = false; }
  void Do(const placement::SayWait&) {}
  void Do(const placement::VoidTicket& action) {
    const auto found = records_.find(action.submission.gang);
    if (found != records_.end() && found->second.number == action.submission.number)
      found->second.is_void = true;
  }
  void Do(const placement::GiveRoom& action) {
    Job& job = JobOf(action.submission.gang);
    if (!job.is_wanted || KeyOf(job) != action.submission.gang) return;
    if (job.granted_number != 0) Break("a gang got its room twice");
    const Record& record = records_.at(action.submission.gang);
    if (record.number != action.submission.number || record.is_void) Break("room without a ticket");
    if (std::ssize(record.holders) != job.slots) Break("room without all agents");
    for (int slot = 0; slot < job.slots; ++slot)
      if (!here_.contains(PodName(kInstallation, action.submission, slot))) Break("room without an agent");
    job.granted_number = action.submission.number;
    served_.insert(&job - jobs_.data());
    job.is_granted = true;
  }
  void Do(const placement::TakeBack& action) {
    Job& job = JobOf(action.gang);
    if (!job.is_wanted || KeyOf(job) != action.gang) return;
    Release(job);
    ++job.try_number;
    Want(job);
  }
  void Do(const placement::NothingLives& action) {
    for (const auto& [name, pod] : pods_)
      if (ParsePodName(kInstallation, name)->submission == action.submission && !pod.has_ended())
        Break("it is said to be dead and lives: " + name);
  }
  void Do(const placement::Forget& action) {
    const int number = records_.contains(action.gang) ? records_.at(action.gang).number : 0;
    records_.erase(action.gang);
    for (const std::string& secret : secrets_)
      if (ParseSecretName(kInstallation, secret)->gang == action.gang) Break("its Secret is left: " + secret);
    // The Secrets of former submissions are gone, so the cluster deletes their pods.
    for (const auto& [name, pod] : pods_)
      if (ParsePodName(kInstallation, name)->submission == Submission{action.gang, number} &&
          !pod.has_ended())
        Break("its pod is left: " + name);
  }

  // --- the cluster

  void Tell(const Pod& pod, bool is_gone) {
    if (watches_) messages_.push_back({.is_gone = is_gone, .pods = {pod}});
  }
  void List() {
    watches_ = true;
    Message list{.is_list = true, .asked = now_};
    for (const auto& [name, pod] : pods_) list.pods.push_back(pod);
    messages_.push_back(std::move(list));
  }
  int Placed() const {
    int placed = 0;
    for (const auto& [name, pod] : pods_) placed += pod.has_node() && !pod.has_ended() ? 1 : 0;
    return placed;
  }
  Pod* AnyPod() {
    if (pods_.empty()) return nullptr;
    return &std::next(pods_.begin(), Draw(static_cast<unsigned>(pods_.size())))->second;
  }
  void Vanish(const Pod& pod) {
    Tell(pod, true);
    pods_.erase(std::string(pod.name));
  }
  void EndPod(Pod& pod) {
    pod.phase = Pod::Phase::kFailed;
    pod.terminated = Pod::Terminated{.exit_code = 1, .reason = "Error"};
    Tell(pod, false);
  }

  /// One step of a creation; its answer may be lost.
  void MakeSome(bool faults) {
    if (making_.empty()) return;
    const auto at = making_.begin() + Draw(static_cast<unsigned>(making_.size()));
    Making& making = *at;
    const auto end = [&](std::optional<NotCreated> why) {
      const Submission submission = making.submission;
      making_.erase(at);
      if (why)
        gangs_->OnNotCreated(submission, *why, {.reason = "not created"}, now_);
      else
        gangs_->OnCreated(submission, now_);
    };
    if (!gangs_->IsCurrent(making.submission) && making.done < 0) return end(NotCreated::kLater);
    if (faults && Draw(12) == 0) return end(NotCreated::kNoAnswer);  // not carried out
    if (making.done < 0) {
      secrets_.insert(SecretName(kInstallation, making.submission));
    } else if (making.done < making.slots) {
      if (std::ssize(pods_) >= quota_) return end(NotCreated::kLater);
      const std::string name = PodName(kInstallation, making.submission, making.done);
      if (pods_.emplace(name, Pod{.name = name, .uid = "u"}).second) Tell(pods_.at(name), false);
    }
    if (++making.done > making.slots) return end({});
    if (faults && Draw(12) == 0) end(NotCreated::kNoAnswer);  // carried out
  }
  void RemoveSome(bool faults) {
    if (removing_.empty() || (faults && Draw(3) == 0)) return;
    const Submission submission =
        *std::next(removing_.begin(), Draw(static_cast<unsigned>(removing_.size())));
    secrets_.erase(SecretName(kInstallation, submission));
    if (faults && Draw(4) == 0) return;  // without an answer: sent again
    removing_.erase(submission);
    gangs_->OnRemoved(submission);
  }
  void CollectGarbage() {
    for (auto& [name, pod] : pods_) {
      if (secrets_.contains(SecretName(kInstallation, ParsePodName(kInstallation, name)->submission)))
        continue;
      if (std::exchange(pod.is_deleted, true)) return Vanish(Pod(pod));
      return Tell(pod, false);
    }
  }
  void Place() {
    if (Placed() >= kRoom) return;
    std::vector<Pod*> waiting;
    for (auto& [name, pod] : pods_)
      if (!pod.has_node() && !pod.is_deleted && !pod.has_ended()) waiting.push_back(&pod);
    if (waiting.empty()) return;
    Pod& pod = *waiting[Draw(static_cast<unsigned>(waiting.size()))];
    pod.node = "n";
    pod.phase = Pod::Phase::kRunning;
    Tell(pod, false);
  }
  /// Agents of running pods connect, also after a restart of the server.
  void Connect() {
    for (const auto& [name, pod] : pods_) {
      const SlotName slot = *ParsePodName(kInstallation, name);
      if (!pod.has_node() || pod.has_ended() || pod.is_deleted) continue;
      const auto record = records_.find(slot.submission.gang);
      if (record == records_.end() || record->second.number != slot.submission.number ||
          record->second.is_void)
        continue;
      if (!gangs_->IsCurrent(slot.submission) || gangs_->NodeOf(slot.submission, slot.slot) != pod.node)
        continue;
      record->second.holders.emplace(slot.slot, pod.node);
      here_.insert(name);
      gangs_->OnAttached(slot.submission, slot.slot, pod.node, now_);
    }
  }
  void Deliver() {
    if (messages_.empty()) return;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    if (message.is_list) return gangs_->OnListed(std::move(message.pods), message.asked, now_);
    if (message.is_gone) return gangs_->OnPodGone(std::move(message.pods[0]), now_);
    gangs_->OnPod(std::move(message.pods[0]), now_);
  }
  void ChangeJob() {
    Job& job = jobs_.at(Draw(kJobs));
    if (job.is_wanted) return Release(job);
    if (Draw(2) == 0) ++job.try_number;
    Want(job);
  }
  void Disturb() {
    switch (Draw(6)) {
      case 0:
        if (Pod* pod = AnyPod()) EndPod(*pod);
        return;
      case 1:
        if (Pod* pod = AnyPod()) Vanish(Pod(*pod));
        return;
      case 2: return Restart();
      case 3: watches_ = false; return;
      case 4:
        watches_ = false;
        gangs_->OnListFailed("no answer", now_);
        return;
      default: quota_ = static_cast<int>(Draw(3 * kRoom)); return;
    }
  }
  void Step(unsigned what, bool faults) {
    now_ += std::chrono::milliseconds(1);
    switch (what) {
      case 0:
      case 1:
      case 2: return MakeSome(faults);
      case 3: return RemoveSome(faults);
      case 4: return CollectGarbage();
      case 5:
      case 6: return Place();
      case 7: return Connect();
      case 8:
      case 9: return Deliver();
      case 10: now_ += seconds(Draw(40)); return;
      case 11:
        if (!watches_) List();
        return;
      case 12: return faults ? ChangeJob() : void();
      default: return faults && Draw(3) == 0 ? Disturb() : void();
    }
  }
  void CalmStep() {
    if (!watches_) List();
    while (!removing_.empty()) RemoveSome(false);
    for (int i = 0; i < 30 && !making_.empty(); ++i) MakeSome(false);
    for (int i = 0; i < kRoom; ++i) Place();
    Connect();
    for (std::size_t i = 2 * pods_.size(); i > 0; --i) CollectGarbage();
    while (!messages_.empty()) Deliver();
    for (Job& job : jobs_)
      if (job.granted_number != 0 && Draw(4) == 0) EndJob(job);
    Act();
    now_ += seconds(15);
    if (Draw(50) == 0) List();
  }
  /// Its agents leave.
  void EndJob(Job& job) {
    for (auto& [name, pod] : pods_)
      if (ParsePodName(kInstallation, name)->submission.gang == KeyOf(job) && !pod.has_ended()) EndPod(pod);
    Release(job);
  }

  std::mt19937 random_;
  SysTime now_ = SysTime() + std::chrono::hours(1'000);
  std::optional<PodGangs> gangs_{std::in_place, kInstallation, PlacingLimits{.turn = seconds(60)}};
  std::vector<Job> jobs_;
  std::map<GangKey, Record> records_;
  std::vector<Making> making_;
  std::set<Submission> removing_;
  std::set<std::string> secrets_;
  std::map<std::string, Pod> pods_;
  std::set<std::string> here_;  ///< pods whose agents have connected to this server
  std::set<std::ptrdiff_t> served_;
  std::deque<Message> messages_;
  bool watches_ = false;
  int quota_ = kRoom * 4;
  std::string broken_;
};

TEST(KubernetesGangsModel, KeepsItsPromisesInRandomHistories) {
  const unsigned seeds = std::getenv("TRAINYARD_LONG") != nullptr ? 2'000 : 50;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    Model model(seed);
    model.Chaos(static_cast<int>(seed % 300));
    if (model.broken().empty()) model.Calm();
    ASSERT_EQ(model.broken(), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace trainyard::kubernetes::pod_gangs_model_test

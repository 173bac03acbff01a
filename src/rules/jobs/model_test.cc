#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <iostream>
#include <map>
#include <span>
#include <unordered_map>

#include "rules/jobs/testing/model_job.h"

/// A model of the protocol of jobs and attempts, complete in small bounds: every history of two jobs (a
/// master with a worker, and a master) on two machines of one slot each, with any order of all steps and
/// some faults. The rules are the real ones.
namespace trainyard::jobs {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kJobsMax = 2;
constexpr unsigned kAllMachines = (1U << ModelJob::kMachines) - 1;

/// Values of jobs, each once, with their steps.
class JobTable {
 public:
  using Id = std::uint32_t;
  struct Move {
    std::string label;
    unsigned fault = 0;
    unsigned needs_up = 0;
    unsigned needs_free = 0;
    Id next = 0;
    std::string broken;
  };
  struct Entry {
    explicit Entry(ModelJob value)
        : job(std::move(value)), held(job.Held()), living(job.Living()), ended(job.ended()) {}
    ModelJob job;
    unsigned held;
    unsigned living;
    bool ended;
    std::optional<std::vector<Move>> moves{};
    std::optional<std::vector<Move>> faults{};
    std::optional<Id> after_crash{};
    std::array<std::optional<Id>, ModelJob::kMachines> after_loss{};
    std::optional<std::optional<nanoseconds>> until_wake{};
    std::map<nanoseconds, Id> after_passing{};
  };

  Id Add(ModelJob job) {
    const auto [found, is_new] = ids_.emplace(job.Key(), static_cast<Id>(entries_.size()));
    if (is_new) entries_.push_back(std::make_unique<Entry>(std::move(job)));
    return found->second;
  }
  [[nodiscard]] Entry& At(Id id) { return *entries_[id]; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  const std::vector<Move>& Moves(Id id) {
    Entry& entry = At(id);
    if (!entry.moves) entry.moves = Known(StepsOf(entry.job));
    return *entry.moves;
  }
  const std::vector<Move>& Faults(Id id) {
    Entry& entry = At(id);
    if (!entry.faults) entry.faults = Known(FaultsOf(entry.job));
    return *entry.faults;
  }
  Id AfterCrash(Id id) {
    std::optional<Id>& next = At(id).after_crash;
    if (!next) next = Add(jobs::AfterServerCrash(At(id).job));
    return *next;
  }
  Id AfterLoss(Id id, int machine) {
    std::optional<Id>& next = At(id).after_loss[static_cast<std::size_t>(machine)];
    if (!next) next = Add(AfterMachineLoss(At(id).job, machine));
    return *next;
  }
  std::optional<nanoseconds> UntilWake(Id id) {
    Entry& entry = At(id);
    if (!entry.until_wake) entry.until_wake = jobs::UntilWake(entry.job);
    return *entry.until_wake;
  }
  Id AfterPassing(Id id, nanoseconds time) {
    Entry& entry = At(id);
    const auto found = entry.after_passing.find(time);
    if (found != entry.after_passing.end()) return found->second;
    return entry.after_passing[time] = Add(jobs::AfterPassing(entry.job, time));
  }

 private:
  std::vector<Move> Known(std::vector<ModelStep> steps) {
    std::vector<Move> moves;
    for (ModelStep& step : steps) {
      const Id next = Add(std::move(step.next));
      moves.push_back({step.label, step.fault, step.needs_up, step.needs_free, next, step.broken});
    }
    return moves;
  }

  std::unordered_map<std::string, Id> ids_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

/// All of the small world at one moment.
struct Moment {
  std::array<JobTable::Id, kJobsMax> jobs{};  ///< of these, only the first Explorer::count_ count
  unsigned up = kAllMachines;
  unsigned faults = 0;  ///< that have happened
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct MomentHash {
  std::size_t operator()(const Moment& moment) const noexcept {
    std::uint64_t hash = moment.jobs[0] * 0x9E3779B97F4A7C15U ^ moment.jobs[1] * 0xC2B2AE3D27D4EB4FU;
    hash ^= (std::uint64_t{moment.up} << 32U | moment.faults) * 0x165667B19E3779F9U;
    return static_cast<std::size_t>(hash ^ hash >> 29U);
  }
};

class Explorer {
 public:
  /// @param workers  how many each job has beside its master
  Explorer(const std::vector<int>& workers, int faults_max)
      : count_(workers.size()), faults_max_(faults_max) {
    Moment first;
    for (std::size_t j = 0; j < count_; ++j) first.jobs[j] = table_.Add(ModelJob(workers[j]));
    Find(first, 0, "");
  }

  /// Visits every moment; stops at the first that breaks an invariant.
  void Explore() {
    for (std::size_t at = 0; at < moments_.size() && broken_.empty(); ++at) {
      const Moment here = moments_[at];
      ForEachNext(here, [&](const Moment& next, bool is_fault, const std::string& label) {
        ++moves_;
        const std::uint32_t to = Find(next, static_cast<std::uint32_t>(at), label);
        if (!is_fault) ways_back_.emplace_back(to, static_cast<std::uint32_t>(at));
      });
    }
  }

  /// How many moments there are from which not all jobs can end without another fault.
  std::size_t CountStuck() {
    std::ranges::sort(ways_back_);
    std::vector<bool> ends(moments_.size());
    std::vector<std::uint32_t> reached;
    const auto reach = [&ends, &reached](std::uint32_t at) {
      if (!ends[at]) reached.push_back(at);
      ends[at] = true;
    };
    for (std::uint32_t at = 0; at < moments_.size(); ++at)
      if (IsOver(moments_[at])) reach(at);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto ways = std::ranges::equal_range(ways_back_, reached[i], {}, &WayBack::first);
      for (const auto& [to, from] : ways) reach(from);
    }
    const auto stuck = std::ranges::find(ends, false);
    if (stuck != ends.end()) story_ = Story(static_cast<std::size_t>(stuck - ends.begin()));
    return moments_.size() - reached.size();
  }

  [[nodiscard]] const std::string& broken() const { return broken_; }
  [[nodiscard]] const std::string& story() const { return story_; }
  [[nodiscard]] std::size_t moments() const { return moments_.size(); }
  [[nodiscard]] std::size_t moves() const { return moves_; }
  [[nodiscard]] std::size_t values() const { return table_.size(); }

 private:
  struct Way {
    std::uint32_t from = 0;
    std::string label;
  };
  using WayBack = std::pair<std::uint32_t, std::uint32_t>;  ///< to, from

  template <class M>
  [[nodiscard]] auto Jobs(M& moment) const {
    return std::span(moment.jobs.data(), count_);
  }

  bool IsOver(const Moment& moment) {
    return std::ranges::all_of(Jobs(moment), [this](JobTable::Id id) { return table_.At(id).ended; });
  }

  template <class Visit>
  void ForEachNext(const Moment& here, const Visit& visit) {
    for (std::size_t j = 0; j < count_; ++j) VisitSteps(here, j, visit);
    VisitTime(here, visit);
    for (int machine = 0; machine < ModelJob::kMachines; ++machine) {
      Moment next = here;
      next.up ^= 1U << machine;
      if ((next.up & 1U << machine) != 0) {
        visit(next, false, "machine " + std::to_string(machine) + " is back");
      } else if (IsAllowed(here, kMachineLoss)) {
        next.faults |= kMachineLoss;
        for (JobTable::Id& id : Jobs(next)) id = table_.AfterLoss(id, machine);
        visit(next, true, "machine " + std::to_string(machine) + " is lost");
      }
    }
    if (!IsAllowed(here, kServerCrash)) return;
    Moment next = here;
    next.faults |= kServerCrash;
    for (JobTable::Id& id : Jobs(next)) id = table_.AfterCrash(id);
    visit(next, true, "the server is killed and starts again");
  }

  template <class Visit>
  void VisitSteps(const Moment& here, std::size_t j, const Visit& visit) {
    for (const JobTable::Move& move : table_.Moves(here.jobs[j])) VisitMove(here, j, move, visit);
    if (std::popcount(here.faults) >= faults_max_) return;
    for (const JobTable::Move& move : table_.Faults(here.jobs[j])) {
      if (IsAllowed(here, move.fault)) VisitMove(here, j, move, visit);
    }
  }

  template <class Visit>
  void VisitMove(const Moment& here, std::size_t j, const JobTable::Move& move, const Visit& visit) {
    const unsigned held = count_ > 1 ? table_.At(here.jobs[1 - j]).held : 0;
    if ((move.needs_up & ~here.up) != 0 || (move.needs_free & held) != 0) return;
    Moment next = here;
    next.jobs[j] = move.next;
    next.faults |= move.fault;
    const std::string label = "job " + std::to_string(j) + ": " + move.label;
    if (!move.broken.empty() && broken_.empty()) {
      broken_ = move.broken;
      story_ = Story(ids_.at(here)) + label + "\n";
    }
    visit(next, move.fault != 0, label);
  }

  template <class Visit>
  void VisitTime(const Moment& here, const Visit& visit) {
    std::optional<nanoseconds> until;
    for (const JobTable::Id id : Jobs(here)) {
      const auto own = table_.UntilWake(id);
      if (own && (!until || *own < *until)) until = own;
    }
    if (!until || *until == nanoseconds(0)) return;
    Moment next = here;
    for (JobTable::Id& id : Jobs(next)) id = table_.AfterPassing(id, *until);
    visit(next, false, "time passes");
  }

  [[nodiscard]] bool IsAllowed(const Moment& here, unsigned fault) const {
    return (here.faults & fault) == 0 && std::popcount(here.faults) < faults_max_;
  }

  std::uint32_t Find(const Moment& moment, std::uint32_t from, const std::string& label) {
    const auto [found, is_new] = ids_.emplace(moment, static_cast<std::uint32_t>(moments_.size()));
    if (!is_new) return found->second;
    moments_.push_back(moment);
    ways_.push_back({from, label});
    const bool share =
        count_ > 1 && (table_.At(moment.jobs[0]).living & table_.At(moment.jobs[1]).living) != 0;
    if (share && broken_.empty()) {
      broken_ = "two attempts share a slot";
      story_ = Story(moments_.size() - 1);
    }
    return found->second;
  }

  std::string Story(std::size_t at) {
    std::string story;
    for (std::size_t id = at; id != 0; id = ways_[id].from) story = ways_[id].label + "\n" + story;
    for (const JobTable::Id id : Jobs(moments_[at])) story += "  " + table_.At(id).job.Describe() + "\n";
    return story;
  }

  std::size_t count_;
  int faults_max_;
  JobTable table_;
  std::vector<Moment> moments_;
  std::vector<Way> ways_;
  std::vector<WayBack> ways_back_;  ///< of steps without a fault
  std::unordered_map<Moment, std::uint32_t, MomentHash> ids_;
  std::size_t moves_ = 0;
  std::string broken_;
  std::string story_;
};

/// Every history of these jobs with at most so many different faults.
void ExploreAll(const std::vector<int>& workers, int faults_max) {
  Explorer explorer(workers, faults_max);
  explorer.Explore();
  ASSERT_EQ(explorer.broken(), "") << explorer.story();
  const std::size_t stuck = explorer.CountStuck();
  EXPECT_EQ(stuck, 0U) << "jobs that can never end, the first of them after:\n" << explorer.story();
  std::cout << explorer.moments() << " moments, " << explorer.moves() << " moves, " << explorer.values()
            << " values of a job\n";
}

bool IsLong() { return std::getenv("TRAINYARD_LONG") != nullptr; }

TEST(Model, OneReplicaMeetsAnyTwoFaults) { ExploreAll({0}, IsLong() ? 4 : 2); }

TEST(Model, AGangMeetsAnyFault) { ExploreAll({1}, IsLong() ? 2 : 1); }

TEST(Model, TwoJobsShareTwoMachines) { ExploreAll({1, 0}, IsLong() ? 1 : 0); }

}  // namespace
}  // namespace trainyard::jobs

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "rules/placement/project_use.h"
#include "rules/placement/queue.h"

/// The order between projects.
namespace trainyard::placement {
namespace {

using testing::ElementsAre;

Gang Make(std::int64_t uid, const std::string& project, int priority = 0) {
  return {.uid = uid,
          .project = project,
          .job_id = "job_" + std::to_string(uid),
          .priority = priority,
          .create_time = SysTime(std::chrono::seconds(uid)),
          .replicas = {}};
}

std::vector<std::int64_t> Uids(const Queue& queue) {
  std::vector<std::int64_t> uids;
  for (const Gang* gang : queue.InOrder()) uids.push_back(gang->uid);
  return uids;
}

const SysTime kNow{std::chrono::seconds(1'000)};
const double kCharge = ProjectUses::ChargeOf(1);

TEST(FairOrder, EqualProjectsTakeTurnsAndAgeDecidesWhoBegins) {
  Queue queue;
  for (std::int64_t uid : {1, 2, 3}) queue.Add(Make(uid, "a"));
  for (std::int64_t uid : {4, 5}) queue.Add(Make(uid, "b"));
  EXPECT_THAT(Uids(queue), ElementsAre(1, 4, 2, 5, 3));
}

TEST(FairOrder, WhoUsedLessGoesFirstUntilItHasCaughtUp) {
  Queue queue;
  for (std::int64_t uid : {1, 2}) queue.Add(Make(uid, "a"));
  for (std::int64_t uid : {4, 5, 6, 7}) queue.Add(Make(uid, "b"));
  queue.SetStandings({{"a", {.score = 2.5 * kCharge}}}, kNow);
  EXPECT_THAT(Uids(queue), ElementsAre(4, 5, 6, 1, 7, 2));
}

TEST(FairOrder, AWeightCountsAsSoManyTimesTheMachine) {
  Queue queue;
  for (std::int64_t uid : {1, 2, 3}) queue.Add(Make(uid, "a"));
  for (std::int64_t uid : {4, 5, 6, 7}) queue.Add(Make(uid, "b"));
  queue.SetStandings({{"b", {.weight = 2}}}, kNow);
  EXPECT_THAT(Uids(queue), ElementsAre(1, 4, 5, 2, 6, 7, 3));
}

TEST(FairOrder, PriorityIsWithinAProject) {
  Queue queue;
  queue.Add(Make(1, "a"));
  queue.Add(Make(2, "b", 5));
  queue.Add(Make(3, "b", 9));
  queue.Add(Make(4, "a", 9));
  EXPECT_THAT(Uids(queue), ElementsAre(3, 4, 1, 2)) << "each project's own order, in turn";
}

TEST(FairOrder, WhoWaitsForAWeekGoesFirst) {
  Queue queue;
  queue.Add(Make(1, "a"));
  queue.Add(Make(2, "b"));
  const Standing used{.score = 1e9};
  queue.SetStandings({{"a", used}}, kNow);
  EXPECT_THAT(Uids(queue), ElementsAre(2, 1));
  queue.SetStandings({{"a", used}, {"b", {.last_admitted = kNow}}}, kNow + kPatience);
  EXPECT_THAT(Uids(queue), ElementsAre(1, 2));
  EXPECT_TRUE(queue.IsOverdue("a"));
  Standing admitted = used;
  admitted.last_admitted = kNow + kPatience;
  queue.SetStandings({{"a", admitted}, {"b", {.last_admitted = kNow}}}, kNow + kPatience);
  EXPECT_THAT(Uids(queue), ElementsAre(2, 1));
}

TEST(FairOrder, TurnsNameOnlyWhatTheViewerMaySee) {
  Queue queue;
  queue.Add(Make(1, "a"));
  queue.Add(Make(2, "b"));
  EXPECT_EQ(queue.TurnOf(*queue.Find(2), "x").reason,
            "Waiting for its turn: 1 job before it, job_1 is next.");
  EXPECT_EQ(queue.TurnOf(*queue.Find(2), "x", {.others = false}).reason,
            "Waiting for its turn: 1 job before it, a job of another project is next.");
}

/// Compares with sorting all gangs by the same rule.
TEST(FairOrder, PositionsAreThoseOfTheOrder) {
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    Queue queue;
    std::map<std::string, Standing> standings;
    for (std::int64_t uid = 1; uid <= 120; ++uid) {
      if (random() % 4 == 0) queue.Take(static_cast<std::int64_t>(random() % 120));
      Gang gang = Make(uid, "p" + std::to_string(random() % 7), static_cast<int>(random() % 3));
      gang.line = static_cast<int>(random() % 3);
      gang.share = static_cast<double>(random() % 100) / 100;
      queue.Add(std::move(gang));
      if (random() % 8 != 0) continue;
      standings["p" + std::to_string(random() % 7)] = {
          .score = static_cast<double>(random() % 5) * kCharge,
          .weight = 1 + static_cast<double>(random() % 3),
          .last_admitted = SysTime(std::chrono::hours(random() % 300))};
      queue.SetStandings(standings, SysTime(std::chrono::hours(300)));
    }
    std::map<int, std::vector<const Gang*>> lines;
    for (const Gang* gang : queue.InOrder()) {
      lines[gang->line].push_back(gang);
      EXPECT_EQ(queue.PositionOf(*gang), static_cast<std::int64_t>(lines[gang->line].size()));
    }
    for (const auto& [line, gangs] : lines) EXPECT_EQ(&queue.FirstOf(*gangs.back()), gangs.front());
  }
}

/// One slot, endless jobs of projects with random lengths, and a last project with much recorded use. It is
/// admitted before the others have used more than it did, plus what a job may use beyond its turn; and in any
/// case within kPatience plus the turns of the other projects.
TEST(FairOrder, NobodyStarves) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const int others = 1 + static_cast<int>(random() % 6);
    ProjectUses uses({.cpus = 1});
    Queue queue;
    std::int64_t uid = 0;
    SysTime now{std::chrono::hours(1'000)};
    const double head_start = static_cast<double>(random() % 400) * 3'600;
    uses.Restore("late", {.accelerator_seconds = 0, .cpu_seconds = head_start, .last_admitted = {}}, now);
    const auto add = [&](const std::string& project) {
      Gang gang = Make(++uid, project);
      gang.create_time = now;
      queue.Add(std::move(gang));
      return uid;
    };
    for (int other = 0; other < others; ++other) add("p" + std::to_string(other));
    const std::int64_t late = add("late");
    const SysTime began = now;
    constexpr std::chrono::hours kLongest{12};
    while (queue.Find(late) != nullptr) {
      std::map<std::string, Standing> standings;
      for (const std::string& project : queue.Projects())
        standings[project] = {.score = uses.ScoreOf(project, now),
                              .last_admitted = uses.Of(project, now).last_admitted};
      queue.SetStandings(standings, now);
      const Gang gang = *queue.Take(queue.InOrder().front()->uid);
      uses.Start(gang.uid, gang.project, {.cpus = 1}, now);
      now += std::chrono::minutes(1 + random() % std::chrono::minutes(kLongest).count());
      uses.Stop(gang.uid, now);
      if (gang.project != "late") add(gang.project);
      const double hours = std::chrono::duration<double, std::ratio<3600>>(now - began).count();
      const double by_use = (head_start / 3'600 + 12) * others + 12;
      const double by_patience = (kPatience.count() * 24.0) + 12.0 * (others + 1);
      ASSERT_LE(hours, std::min(by_use, by_patience)) << "seed " << seed << ", " << others << " others";
    }
  }
}

/// A gang that needs the whole machine, among a stream of small gangs of others: at the head of the queue it
/// blocks all later gangs (PlanAdmissions), so it starts when the running ones have ended.
TEST(FairOrder, ABigGangStartsAmongSmallOnes) {
  constexpr Capacity kStrict{.mode = Capacity::Mode::kStrict, .cpus = 4, .memory_bytes = 100};
  const auto sized = [](Gang gang, double cpus) {
    gang.replicas.push_back({.machine_type = "m", .cpus = cpus, .memory_bytes = 1});
    gang.share = cpus / 4;
    return gang;
  };
  ProjectUses uses({.cpus = 4});
  Queue queue;
  std::vector<std::pair<Gang, SysTime>> running;  // with the end
  SysTime now{std::chrono::hours(1)};
  std::int64_t uid = 0;
  std::mt19937 random(3);
  const auto add = [&](const std::string& project, double cpus) {
    Gang gang = sized(Make(++uid, project), cpus);
    gang.create_time = now;
    queue.Add(std::move(gang));
    return uid;
  };
  for (int i = 0; i < 8; ++i) add("small_" + std::to_string(i % 2), 1);
  const std::int64_t big = add("big", 4);
  for (int admissions = 0; queue.Find(big) != nullptr; ++admissions) {
    ASSERT_LT(admissions, 12);
    std::erase_if(running, [&](const auto& one) {
      if (one.second <= now) uses.Stop(one.first.uid, now);
      return one.second <= now;
    });
    std::map<std::string, Standing> standings;
    for (const std::string& project : queue.Projects())
      standings[project] = {.score = uses.ScoreOf(project, now)};
    queue.SetStandings(standings, now);
    std::vector<Gang> gangs;
    for (const auto& [gang, end] : running) gangs.push_back(gang);
    const Plan plan = PlanAdmissions(kStrict, gangs, queue.Walk(), {}, {});
    for (const Plan::Admission& admitted : plan.admitted) {
      Gang gang = *queue.Take(admitted.uid);
      uses.Start(gang.uid, gang.project, {.cpus = gang.share * 4}, now);
      if (gang.uid != big) add(gang.project, 1);
      running.emplace_back(std::move(gang), now + std::chrono::minutes(10 + random() % 60));
    }
    now += std::chrono::minutes(10);
  }
}

}  // namespace
}  // namespace trainyard::placement

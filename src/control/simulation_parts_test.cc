#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "control/testing/coverage.h"
#include "control/testing/job_ledger.h"
#include "control/testing/schedule.h"
#include "control/testing/shrink.h"

/// The parts of the simulation that can be wrong without any server.
namespace trainyard::control::simulation_parts_test {
namespace {

using std::chrono::seconds;

std::vector<int> NumbersOf(const Schedule& schedule) {
  std::vector<int> numbers;
  for (const PlannedAction& planned : schedule.actions) numbers.push_back(planned.number);
  return numbers;
}

TEST(ScheduleTest, AShorterOneIsTheBeginningOfALongerOne) {
  const Schedule shorter = MakeSchedule(7, 10);
  const Schedule longer = MakeSchedule(7, 20);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(shorter.actions[i].seed, longer.actions[i].seed);
    EXPECT_EQ(shorter.actions[i].action, longer.actions[i].action);
    EXPECT_EQ(shorter.actions[i].steps, longer.actions[i].steps);
  }
}

TEST(ScheduleTest, ASelectionIsReadAsItIsPrinted) {
  const Schedule whole = MakeSchedule(7, 20);
  Schedule selected = Select(whole, "3,9:2,12");
  EXPECT_EQ(NumbersOf(selected), (std::vector<int>{3, 9, 12}));
  EXPECT_EQ(selected.actions[0].steps, whole.actions[3].steps);
  EXPECT_EQ(selected.actions[1].steps, 2);
  selected.actions[1].steps = whole.actions[9].steps + 1;
  EXPECT_EQ(PrintSelection(whole, selected), "3,9:" + std::to_string(whole.actions[9].steps + 1) + ",12");
  EXPECT_EQ(NumbersOf(Select(whole, "")), std::vector<int>());
  EXPECT_EQ(NumbersOf(Select(whole, "99,x,-1,5")), std::vector<int>{5});
}

TEST(ScheduleTest, APickDoesNotChangeWithTheOthers) {
  const std::vector<std::string> all = {"a", "b", "c", "d", "e"};
  const std::string picked = ActionRandom(3).Pick(all);
  for (const std::string& other : all) {
    std::vector<std::string> fewer = all;
    std::erase(fewer, other);
    if (other != picked) EXPECT_EQ(ActionRandom(3).Pick(fewer), picked);
  }
  EXPECT_EQ(ActionRandom(3).Pick({}), "");
}

TEST(ShrinkTest, LeavesWhatIsNeededAndNothingElse) {
  const auto fails = [](const Schedule& schedule) {
    bool has_eleven = false;
    bool has_four = false;
    for (const PlannedAction& planned : schedule.actions) {
      has_four |= planned.number == 4;
      has_eleven |= planned.number == 11 && planned.steps >= 3;
    }
    return has_four && has_eleven;
  };
  Schedule failing = MakeSchedule(5, 40);
  failing.actions[11].steps = 50;
  ASSERT_TRUE(fails(failing));
  const Schedule shrunk = Shrink(failing, fails);
  EXPECT_EQ(NumbersOf(shrunk), (std::vector<int>{4, 11}));
  EXPECT_EQ(shrunk.actions[0].steps, 0);
  EXPECT_LT(shrunk.actions[1].steps, 6);
  EXPECT_TRUE(fails(shrunk));
}

TEST(ExpectedValueTest, ASuccessEndsWhatWasThereBefore) {
  ExpectedValue value;
  EXPECT_TRUE(value.MayBe(""));
  const std::set<std::string> first = value.Begin("a");
  EXPECT_TRUE(value.MayBe("") && value.MayBe("a")) << "the call is not over";
  value.Succeed(first);
  value.End("a");
  EXPECT_FALSE(value.MayBe(""));
  std::ignore = value.Begin("b");
  value.End("b");
  EXPECT_TRUE(value.MayBe("a") && value.MayBe("b")) << "it may have been done";
  const std::set<std::string> third = value.Begin("c");
  const std::set<std::string> fourth = value.Begin("d");
  value.Succeed(fourth);
  EXPECT_TRUE(value.MayBe("c") && value.MayBe("d")) << "they were under way together";
  EXPECT_FALSE(value.MayBe("a") || value.MayBe("b"));
  value.Succeed(third);
  EXPECT_TRUE(value.MayBe("c") && value.MayBe("d"));
}

/// The violations of a job whose attempt wrote three lines, of which the log must have one.
std::vector<std::string> ViolationsWith(const std::vector<std::string>& lines) {
  JobOutcome outcome{.record = v1::JobRecord(), .lines = lines};
  outcome.record->mutable_job()->mutable_end_time();
  outcome.record->mutable_job()->set_state(ml::v1::Job::FAILED);
  outcome.history.record = *outcome.record;
  outcome.outputs["7-master-replica-0-1"] = {.written = 3, .promised = 1};
  return Violations("census", JobLedger{.exit_code = 1}, outcome);
}

TEST(JobLedgerTest, ALogHasThePromisedLinesOfAnAttemptAndNoMoreThanItWrote) {
  const auto line = [](int number) { return "7-master-replica-0-1 line " + std::to_string(number); };
  EXPECT_EQ(ViolationsWith({}).size(), 1U);
  EXPECT_EQ(ViolationsWith({line(0)}), std::vector<std::string>());
  EXPECT_EQ(ViolationsWith({line(0), line(1), line(2)}), std::vector<std::string>());
  EXPECT_EQ(ViolationsWith({line(0), line(1), line(2), line(3)}).size(), 1U);
  EXPECT_EQ(ViolationsWith({line(1)}).size(), 1U) << "it is not the first one";
}

std::uint64_t PairOf(const Coverage& coverage, std::string_view fault, v1::Event::KindCase event,
                     jobs::Stage from) {
  const jobs::Transition* const row = jobs::FindTransition(from, event);
  std::size_t place = 0;
  while (Faults().at(place)->name != fault) ++place;
  return coverage.pairs.at(static_cast<std::size_t>(row - jobs::Transitions().data())).at(place);
}

TEST(CoverageTest, AnEventIsMetWithTheFaultsSinceTheEventBeforeIt) {
  const SysTime begin{seconds(1'000)};
  JobHistory history;
  history.entries = {{.before = jobs::Stage::kNone, .event = v1::Event::kCreated},
                     {.before = jobs::Stage::kQueued, .event = v1::Event::kPatched},
                     {.before = jobs::Stage::kQueued, .event = v1::Event::kAdmitted}};
  FaultLog faults;
  faults.Begin(FindAction("the server is killed"), begin + seconds(15));
  faults.Begin(FindAction("the disk is full"), begin + seconds(25));
  faults.End("the disk is full", begin + seconds(40));
  faults.Begin(FindAction("a node is lost"), begin + seconds(35));
  Coverage coverage;
  coverage.AddJob(history, {begin + seconds(10), begin + seconds(20), begin + seconds(30)}, begin, faults);
  const auto met = [&coverage](std::string_view fault) {
    return std::vector<std::uint64_t>{PairOf(coverage, fault, v1::Event::kCreated, jobs::Stage::kNone),
                                      PairOf(coverage, fault, v1::Event::kPatched, jobs::Stage::kQueued),
                                      PairOf(coverage, fault, v1::Event::kAdmitted, jobs::Stage::kQueued)};
  };
  EXPECT_EQ(met("the server is killed"), (std::vector<std::uint64_t>{0, 1, 0}));
  EXPECT_EQ(met("the disk is full"), (std::vector<std::uint64_t>{0, 0, 1})) << "in force";
  EXPECT_EQ(met("a node is lost"), (std::vector<std::uint64_t>{0, 0, 0})) << "later";
}

TEST(CoverageTest, EventsOfOneTimeCountAsOne) {
  const SysTime begin{seconds(1'000)};
  JobHistory history;
  history.entries = {{.before = jobs::Stage::kNone, .event = v1::Event::kCreated},
                     {.before = jobs::Stage::kQueued, .event = v1::Event::kAdmitted}};
  FaultLog faults;
  faults.Begin(FindAction("the server is killed"), begin + seconds(5));
  Coverage coverage;
  coverage.AddJob(history, {begin + seconds(10), begin + seconds(10)}, begin, faults);
  EXPECT_EQ(PairOf(coverage, "the server is killed", v1::Event::kAdmitted, jobs::Stage::kQueued), 1U);
  EXPECT_EQ(PrintCoverage(coverage).back().substr(0, 13), "coverage: 2 o");
}

}  // namespace
}  // namespace trainyard::control::simulation_parts_test

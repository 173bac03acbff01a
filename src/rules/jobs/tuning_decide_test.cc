#include "rules/jobs/tuning_decide.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/check.h"
#include "base/overloaded.h"
#include "base/wire/time.h"
#include "rules/jobs/prepare.h"
#include "rules/jobs/study.h"
#include "rules/jobs/transition_table.h"
#include "rules/jobs/trial.h"

namespace trainyard::jobs {
namespace {

using control::v1::Event;
using control::v1::JobRecord;
using ml::v1::HyperparameterOutput;
using ml::v1::Job;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A tuning job and a simulated world of trials that performs the rules' actions. Fails the test when an
/// action is impossible or performed twice.
class SimulatedTuning {
 public:
  explicit SimulatedTuning(const std::string& spec) : now_(std::chrono::seconds{1'700'000'000}) {
    Job request;
    request.set_job_id("tune");
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        "hyperparameters { params { parameter_name: 'x' type: INTEGER max_value: 1000000 } " + spec + " }",
        request.mutable_training_input()));
    JobRecord record = MakeRecord("p", request, "2.15", now_);
    MakeTuning(record);
    Event created;
    *created.mutable_created()->mutable_record() = record;
    Record(created);
  }

  std::vector<std::string> Settle() {
    std::vector<std::string> done;
    for (int round = 0; round < 1000; ++round) {
      const std::vector<TuningAction> actions = NextTuningActions(job_, seen_, now_);
      const std::size_t before = done.size();
      for (const TuningAction& action : actions) Perform(action, done);
      if (done.size() == before) return done;
    }
    ADD_FAILURE() << "the rules never come to rest";
    return done;
  }

  /// Changes of the trial's own record.
  void Admit(int number) { At(number).admitted = true; }
  void Run(int number) { At(number).admitted = At(number).has_run = true; }
  void End(int number, HyperparameterOutput::State state, std::optional<double> metric = std::nullopt) {
    ObservedTrial& trial = At(number);
    trial.ended.emplace();
    trial.ended->set_trial_id(std::to_string(number));
    trial.ended->set_state(state);
    if (state == HyperparameterOutput::FAILED) trial.ended->set_error_message("it burst");
    if (metric) trial.ended->mutable_final_metric()->set_objective_value(*metric);
  }
  void Succeed(int number, double metric) {
    Run(number);
    End(number, HyperparameterOutput::SUCCEEDED, metric);
  }
  void Cancel() {
    Event event;
    event.mutable_cancel_requested()->set_reason("Cancelled by the user.");
    Record(event);
  }
  void Pass(std::chrono::nanoseconds time) { now_ += time; }
  void Empty() { points_left_ = 0; }
  void PointsLeft(int count) { points_left_ = count; }
  /// The tuner fails from now on; empty: it works again.
  void TunerFails(std::string why) { tuner_failure_ = std::move(why); }
  void Worse(int number) { At(number).stop_early = "Others do better."; }
  /// The server's memory is lost; trials that have a record are found again.
  void RestartServer() {
    seen_.suggestions.clear();
    seen_.suggesting = seen_.nothing_left = false;
    seen_.tuner_failure.clear();
    for (ObservedTrial& trial : seen_.trials) {
      trial.stop_sent = trial.cancel_sent = false;
      trial.stop_early.clear();
    }
  }
  [[nodiscard]] const JobRecord& job() const { return job_; }
  [[nodiscard]] std::vector<ObservedTrial>& trials() { return seen_.trials; }
  [[nodiscard]] std::vector<int> Active() const {
    std::vector<int> numbers;
    for (const ObservedTrial& trial : seen_.trials) numbers.push_back(TrialNumber(trial.trial_id));
    return numbers;
  }
  void LoseNextStart() { lose_start_ = true; }
  std::set<std::string> records_;  ///< trials that have one

 private:
  ObservedTrial& At(int number) {
    const auto found = std::ranges::find(seen_.trials, std::to_string(number), &ObservedTrial::trial_id);
    TY_CHECK(found != seen_.trials.end());
    return *found;
  }
  void Record(Event event) {
    *event.mutable_time() = wire::ToProto(now_);
    const auto after = Apply(job_, event);
    ASSERT_TRUE(after) << after.error().message;
    job_ = *after;
    if (event.has_trial_created()) {
      seen_.trials.push_back({.trial_id = event.trial_created().trial_id()});
      seen_.suggestions.pop_front();
    } else if (event.has_trial_ended()) {
      if (event.trial_ended().state() == HyperparameterOutput::FAILED && !seen_.first_failure)
        seen_.first_failure = {event.trial_ended().trial_id(), "x=1", event.trial_ended().error_message()};
      seen_.tuner_failure.clear();
      std::erase_if(seen_.trials, [&](const ObservedTrial& trial) {
        return trial.trial_id == event.trial_ended().trial_id();
      });
    }
  }

  void Perform(const TuningAction& action, std::vector<std::string>& done) {
    std::visit(Overloaded{[&](const AppendTuningEvent& append) {
                            done.emplace_back(EventName(append.event.kind_case()));
                            Record(append.event);
                          },
                          [&](ResolveImages) {
                            done.emplace_back("resolve images");
                            EXPECT_FALSE(std::exchange(seen_.images.asking, true));
                          },
                          [&](const SuggestTrials& suggest) {
                            done.push_back("suggest " + std::to_string(suggest.count));
                            Answer(suggest.count);
                          },
                          [&](const StartTrial& start) {
                            if (std::exchange(lose_start_, false)) return;
                            done.push_back("start " + start.trial_id);
                            EXPECT_TRUE(records_.insert(start.trial_id).second)
                                << start.trial_id << " has a record";
                            At(TrialNumber(start.trial_id)).has_record = true;
                          },
                          [&](const StopTrial& stop) {
                            done.push_back("stop " + stop.trial_id);
                            EXPECT_FALSE(std::exchange(At(TrialNumber(stop.trial_id)).stop_sent, true));
                          },
                          [&](const CancelTrial& cancel) {
                            done.push_back("cancel " + cancel.trial_id);
                            EXPECT_FALSE(std::exchange(At(TrialNumber(cancel.trial_id)).cancel_sent, true));
                          },
                          [](const WakeTuningAt&) {}},
               action);
  }
  void Answer(int count) {
    seen_.tuner_failure = tuner_failure_;
    if (!tuner_failure_.empty()) return;
    const int given = std::min(count, points_left_);
    points_left_ -= given;
    int number = job_.tuning().trials_created();
    for (int i = 0; i < given; ++i) {
      Event event;
      event.mutable_trial_created()->set_trial_id(std::to_string(++number));
      event.mutable_trial_created()->add_point(number);
      (*event.mutable_trial_created()->mutable_hyperparameters())["x"] = std::to_string(number);
      seen_.suggestions.push_back(event);
    }
    seen_.nothing_left = given < count;
  }

  SysTime now_;
  JobRecord job_;
  TuningObservation seen_;
  int points_left_ = 1'000'000;
  std::string tuner_failure_;
  bool lose_start_ = false;
};

TEST(NextTuningActions, AsksForAsManyAsThereIsRoomAndRecordsBeforeItStarts) {
  SimulatedTuning tuning("max_trials: 3 max_parallel_trials: 2");
  EXPECT_THAT(tuning.Settle(),
              ElementsAre("suggest 2", "TrialCreated", "start 1", "TrialCreated", "start 2"));
  EXPECT_THAT(tuning.Settle(), IsEmpty()) << "idempotent";
  EXPECT_EQ(tuning.job().job().state(), Job::QUEUED);
  tuning.Admit(2);
  EXPECT_THAT(tuning.Settle(), ElementsAre("Admitted"));
  EXPECT_EQ(tuning.job().job().state(), Job::PREPARING);
  tuning.Run(2);
  EXPECT_THAT(tuning.Settle(), ElementsAre("Running"));
  tuning.Admit(1);
  tuning.Succeed(2, 0.5);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded", "suggest 1", "TrialCreated", "start 3"));
  tuning.Succeed(1, 0.4);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded")) << "three is all there are";
  tuning.Succeed(3, 0.6);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded", "Concluded", "Ended"));
  EXPECT_EQ(tuning.job().job().state(), Job::SUCCEEDED);
  ASSERT_EQ(tuning.job().job().training_output().trials_size(), 1) << "the record keeps the best only";
  EXPECT_EQ(tuning.job().job().training_output().trials(0).trial_id(), "3");
}

TEST(NextTuningActions, NothingIsSuggestedWhileATrialWaitsForTheMachine) {
  SimulatedTuning tuning("max_trials: 9 max_parallel_trials: 3");
  EXPECT_EQ(tuning.Settle().front(), "suggest 3") << "the first points are as many as may run";
  tuning.Run(1);
  tuning.Settle();
  tuning.Succeed(1, 0.5);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded"));
  tuning.Run(2);
  EXPECT_THAT(tuning.Settle(), IsEmpty()) << "3 has no room yet";
  tuning.Run(3);
  EXPECT_THAT(tuning.Settle(), ElementsAre("suggest 1", "TrialCreated", "start 4"));
}

TEST(NextTuningActions, MinimizesWhenTold) {
  SimulatedTuning tuning("max_trials: 3 max_parallel_trials: 3 goal: MINIMIZE");
  tuning.Settle();
  tuning.Succeed(1, 0.5);
  tuning.Succeed(2, 0.3);
  tuning.Succeed(3, 0.4);
  tuning.Settle();
  EXPECT_EQ(tuning.job().job().training_output().trials(0).trial_id(), "2");
}

TEST(NextTuningActions, ATrialWithoutARecordIsStartedByTheNextServer) {
  SimulatedTuning tuning("max_trials: 2 max_parallel_trials: 1");
  tuning.LoseNextStart();
  const std::vector<std::string> first = tuning.Settle();
  EXPECT_EQ(first.back(), "TrialCreated");
  tuning.RestartServer();
  EXPECT_THAT(tuning.Settle(), ElementsAre("start 1"));
}

TEST(NextTuningActions, CancelsWhatRunsAndStartsNoOther) {
  SimulatedTuning tuning("max_trials: 9 max_parallel_trials: 2");
  tuning.Settle();
  tuning.Run(1);
  tuning.Settle();
  tuning.Cancel();
  EXPECT_THAT(tuning.Settle(), ElementsAre("cancel 1", "cancel 2"));
  tuning.End(2, HyperparameterOutput::CANCELLED);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded"));
  tuning.End(1, HyperparameterOutput::CANCELLED);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded", "Ended"));
  EXPECT_EQ(tuning.job().job().state(), Job::CANCELLED);
}

TEST(NextTuningActions, OneThatWasNeverStartedIsCancelledOnPaper) {
  SimulatedTuning tuning("max_trials: 9");
  tuning.LoseNextStart();
  tuning.Settle();
  tuning.Cancel();
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded", "Ended"));
  EXPECT_THAT(tuning.records_, IsEmpty());
}

TEST(NextTuningActions, StopsOneThatOthersBeatOnce) {
  SimulatedTuning tuning("max_trials: 2");
  tuning.Settle();
  tuning.Run(1);
  tuning.Settle();
  tuning.Worse(1);
  EXPECT_THAT(tuning.Settle(), ElementsAre("stop 1"));
  EXPECT_THAT(tuning.Settle(), IsEmpty());
}

TEST(NextTuningActions, ASpaceWithoutFurtherPointsEndsTheJob) {
  SimulatedTuning tuning("max_trials: 9 max_parallel_trials: 3");
  tuning.PointsLeft(2);
  EXPECT_THAT(tuning.Settle(), ElementsAre("suggest 3", "TrialCreated", "start 1", "TrialCreated", "start 2",
                                           "SpaceExhausted"));
  tuning.Succeed(1, 1);
  tuning.Succeed(2, 2);
  tuning.Settle();
  EXPECT_EQ(tuning.job().job().state(), Job::SUCCEEDED);
}

TEST(NextTuningActions, ASpaceThatWasTriedBeforeEndsTheJobAtOnce) {
  SimulatedTuning tuning("max_trials: 9");
  tuning.Empty();
  EXPECT_THAT(tuning.Settle(), ElementsAre("suggest 1", "SpaceExhausted", "Concluded", "Ended"));
  EXPECT_EQ(tuning.job().job().state(), Job::SUCCEEDED);
}

TEST(NextTuningActions, ATrialMayEndBeforeAnyHasResources) {
  SimulatedTuning tuning("max_trials: 2");
  tuning.Settle();
  tuning.End(1, HyperparameterOutput::CANCELLED);
  EXPECT_THAT(tuning.Settle(), ElementsAre("TrialEnded", "suggest 1", "TrialCreated", "start 2"));
  EXPECT_EQ(tuning.job().job().state(), Job::QUEUED);
  tuning.Succeed(2, 1);
  EXPECT_THAT(tuning.Settle(), ElementsAre("Admitted", "Running", "TrialEnded", "Concluded", "Ended"));
  EXPECT_EQ(tuning.job().job().state(), Job::SUCCEEDED);
}

TEST(NextTuningActions, ATunerThatFailsIsAskedAgainAtTheNextTrialsEnd) {
  SimulatedTuning tuning("max_trials: 9 max_parallel_trials: 2");
  tuning.Settle();
  tuning.TunerFails("std::bad_alloc");
  tuning.Admit(2);
  tuning.Succeed(1, 1);
  EXPECT_THAT(tuning.Settle(), ElementsAre("Admitted", "Running", "TrialEnded", "suggest 1"));
  EXPECT_THAT(tuning.Active(), ElementsAre(2)) << "what runs comes to its end";
  tuning.TunerFails("");
  tuning.Succeed(2, 1);
  EXPECT_THAT(tuning.Settle(),
              ElementsAre("TrialEnded", "suggest 2", "TrialCreated", "start 3", "TrialCreated", "start 4"));
}

TEST(NextTuningActions, ATunerThatFailsWhileNothingRunsFailsTheJobAndSaysHowToGoOn) {
  SimulatedTuning tuning("max_trials: 9");
  tuning.Settle();
  tuning.TunerFails("std::bad_alloc");
  tuning.Succeed(1, 1);
  EXPECT_THAT(tuning.Settle(),
              ElementsAre("Admitted", "Running", "TrialEnded", "suggest 1", "Concluded", "Ended"));
  EXPECT_EQ(tuning.job().job().state(), Job::FAILED);
  EXPECT_EQ(tuning.job().job().error_message(),
            "The tuner could not propose the next trial: std::bad_alloc. A job with resumePreviousJobId tune "
            "goes on from the trials so far.");
}

TEST(NextTuningActions, TheTimeLimitIsTheJobs) {
  SimulatedTuning tuning("max_trials: 9");
  tuning.Settle();
  tuning.Run(1);
  tuning.Settle();
  tuning.Pass(std::chrono::days(7));
  EXPECT_THAT(tuning.Settle(), ElementsAre("CancelRequested", "cancel 1"));
}

struct FailureRow {
  const char* name;
  const char* spec;
  const char* ends;     ///< in this order: S succeeds, F fails
  const char* message;  ///< a part of the message; empty: the job continues or has succeeded
};
class TuningFailures : public testing::TestWithParam<FailureRow> {};

TEST_P(TuningFailures, AreTheJobsWhenTheyAreTooMany) {
  SimulatedTuning tuning(GetParam().spec);
  for (const char* end = GetParam().ends; *end != '\0'; ++end) {
    tuning.Settle();
    ASSERT_FALSE(tuning.Active().empty()) << "before " << end;
    const int number = tuning.Active().front();
    if (*end == 'S') {
      tuning.Succeed(number, 1);
    } else {
      tuning.End(number, HyperparameterOutput::FAILED);
    }
  }
  tuning.Settle();
  const bool fails = *GetParam().message != '\0';
  EXPECT_EQ(tuning.job().outcome() == Job::FAILED, fails);
  EXPECT_THAT(tuning.job().job().error_message(), HasSubstr(GetParam().message));
  if (fails)
    EXPECT_THAT(tuning.job().job().error_message(), HasSubstr("The trial's error message was: it burst"));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, TuningFailures,
    testing::Values(
        FailureRow{"first_of_one", "max_trials: 9", "F",
                   "Hyperparameter Tuning Trial #1 Failed before any other successful trials were completed. "
                   "The failed trial had parameters: x=1. "},
        FailureRow{"two_of_two_in_parallel", "max_trials: 9 max_parallel_trials: 2", "FF", "Trial #1 Failed"},
        FailureRow{"one_of_two_in_parallel", "max_trials: 9 max_parallel_trials: 2", "F", ""},
        FailureRow{"never_more_than_five_chances", "max_trials: 90 max_parallel_trials: 20", "FFFFF",
                   "#1 Failed"},
        FailureRow{"after_a_success", "max_trials: 9", "SFF", ""},
        FailureRow{"more_than_half", "max_trials: 5", "SFFF", "More than half of the trials failed: 3 of 5."},
        FailureRow{"half", "max_trials: 4", "SFFS", ""},
        FailureRow{"limit_of_one", "max_trials: 9 max_failed_trials: 1", "SF",
                   "1 trial has failed, and maxFailedTrials is 1."},
        FailureRow{"below_the_limit", "max_trials: 9 max_failed_trials: 3", "FF", ""},
        FailureRow{"at_the_limit", "max_trials: 9 max_failed_trials: 3", "FSFF", "3 trials have failed"},
        FailureRow{"all_failed_below_the_limit", "max_trials: 2 max_failed_trials: 3", "FF",
                   "No trial succeeded."}),
    [](const auto& row) { return row.param.name; });

/// Random ends, cancels and crashes of the server.
TEST(NextTuningActions, KeepsItsPromisesWhateverHappens) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const int trials = static_cast<int>(random() % 12) + 1;
    const int parallel = static_cast<int>(random() % 5) + 1;
    SimulatedTuning tuning("max_trials: " + std::to_string(trials) +
                           " max_parallel_trials: " + std::to_string(parallel) + " max_failed_trials: 6");
    if (random() % 4 == 0) tuning.PointsLeft(static_cast<int>(random() % 8));
    bool cancelled = false;
    for (int step = 0; step < 400 && !tuning.job().job().has_end_time(); ++step) {
      if (random() % 6 == 0) tuning.LoseNextStart();
      tuning.Settle();
      if (random() % 5 == 0) tuning.RestartServer();
      tuning.Settle();
      ASSERT_LE(tuning.Active().size(), static_cast<std::size_t>(parallel)) << seed;
      ASSERT_LE(tuning.job().tuning().trials_created(), trials) << seed;
      const std::vector<int> active = tuning.Active();
      if (active.empty()) continue;
      const int number = active[random() % active.size()];
      const bool stopping = tuning.job().outcome() != Job::STATE_UNSPECIFIED;
      switch (random() % 4) {
        case 0: tuning.Admit(number); break;
        case 1: tuning.Run(number); break;
        case 2:
          if (stopping) {
            tuning.End(number, HyperparameterOutput::CANCELLED);
          } else if (random() % 3 == 0) {
            tuning.End(number, HyperparameterOutput::FAILED);
          } else {
            tuning.Succeed(number, 1);
          }
          break;
        default:
          if (random() % 40 == 0 && !std::exchange(cancelled, true) && !stopping) tuning.Cancel();
      }
    }
    ASSERT_TRUE(tuning.job().job().has_end_time()) << seed;
    const control::v1::TuningRecord& counts = tuning.job().tuning();
    EXPECT_EQ(counts.trials_succeeded() + counts.trials_failed() + counts.trials_cancelled(),
              counts.trials_created());
    EXPECT_LE(tuning.job().job().training_output().trials_size(), 1) << seed;
  }
}

TEST(Trial, ItsFlagsAreOneTokenEachInTheOrderOfTheSpec) {
  Job request;
  request.set_job_id("tune");
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "job_dir: 'gs://b/d/' hyperparameters { hyperparameter_metric_tag: 'loss' "
      "params { parameter_name: 'z' type: DOUBLE min_value: -1 } "
      "params { parameter_name: 'batch-size' type: DISCRETE discrete_values: 16 discrete_values: 32.5 } "
      "params { parameter_name: 'units' type: INTEGER max_value: 9 } "
      "params { parameter_name: 'opt' type: CATEGORICAL categorical_values: '-adam' categorical_values: "
      "'sgd' } }",
      request.mutable_training_input()));
  JobRecord tuning = MakeRecord("p", request, "2.15", SysTime(std::chrono::seconds(1)));
  MakeTuning(tuning);
  EXPECT_EQ(tuning.replicas_size(), 0);
  tuning.set_uid(7);
  tuning.set_creator("user:ann@example.com");
  tuning.add_role_packages()->set_type(replica::v1::WORKER);
  const Event event = NextTrial(tuning, StudyOf(tuning).space, {-0.25, 16, 3, 0});
  const JobRecord trial = MakeTrial(tuning, event.trial_created(), SysTime(std::chrono::seconds(2)));
  EXPECT_THAT(TrialFlags(trial), ElementsAre("--z=-0.25", "--batch-size=16", "--units=3", "--opt=-adam"));
  EXPECT_EQ(ParametersText(trial, trial.trial().hyperparameters()),
            "z=-0.25, batch-size=16, units=3, opt=-adam");
  EXPECT_EQ(TrialJobDir(trial), "gs://b/d/1");
  EXPECT_EQ(trial.replicas_size(), 1);
  EXPECT_EQ(trial.trial().tuning_uid(), 7);
  EXPECT_EQ(trial.creator(), "user:ann@example.com");
  EXPECT_EQ(trial.role_packages_size(), 1);
  EXPECT_EQ(trial.job().job_id(), "tune");
  EXPECT_NE(trial.cluster_hash(), tuning.cluster_hash());
  EXPECT_EQ(MetricTag(trial), "loss");
}

TEST(Trial, BestFirstThoseWithoutAMetricLast) {
  std::vector<HyperparameterOutput> trials;
  const auto add = [&](const char* trial_id, std::optional<double> metric) {
    trials.emplace_back().set_trial_id(trial_id);
    if (metric) trials.back().mutable_final_metric()->set_objective_value(*metric);
  };
  add("10", 2);
  add("3", std::nullopt);
  add("2", 2);
  add("1", std::nullopt);
  add("4", 3);
  const auto ids = [&] {
    std::vector<std::string> texts;
    for (const HyperparameterOutput& trial : trials) texts.push_back(trial.trial_id());
    return texts;
  };
  SortTrials(true, trials);
  EXPECT_THAT(ids(), ElementsAre("4", "2", "10", "1", "3"));
  SortTrials(false, trials);
  EXPECT_THAT(ids(), ElementsAre("2", "10", "4", "1", "3"));
}

}  // namespace
}  // namespace trainyard::jobs

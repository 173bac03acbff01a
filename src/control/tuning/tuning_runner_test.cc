#include "control/tuning/tuning_runner.h"

#include <set>

#include "control/run/manifest.h"
#include "control/testing/world.h"
#include "rules/jobs/trial.h"

/// Tuning jobs with simulated replicas and a real tuner.
namespace trainyard::control {
namespace {

using ml::v1::HyperparameterOutput;

/// The value of "--x=VALUE".
double X(const Manifest& manifest) {
  for (const std::string& arg : manifest.program().args()) {
    if (arg.starts_with("--x=")) return std::stod(arg.substr(4));
  }
  return -1;
}

replica::v1::MetricReport Report(const std::vector<double>& values) {
  replica::v1::MetricReport report;
  for (double value : values) {
    replica::v1::Measurement& measurement = *report.add_measurements();
    measurement.set_step(10 * report.measurements_size());
    measurement.set_value(value);
    measurement.mutable_time()->set_seconds(1'600'000'000 + report.measurements_size());
  }
  report.set_place("/tmp/hypertune/output.metrics");
  return report;
}

class TuningRunnerTest : public World {
 protected:
  TuningRunnerTest() { replicas_->SetScript(Reports); }

  static Job MakeTuningJob(const std::string& job_id, int trials, int parallel) {
    Job job = MakeJob(job_id);
    ml::v1::HyperparameterSpec& spec = *job.mutable_training_input()->mutable_hyperparameters();
    spec.set_max_trials(trials);
    spec.set_max_parallel_trials(parallel);
    spec.set_algorithm(ml::v1::HyperparameterSpec::RANDOM_SEARCH);
    spec.set_hyperparameter_metric_tag("accuracy");
    ml::v1::ParameterSpec& x = *spec.add_params();
    x.set_parameter_name("x");
    x.set_type(ml::v1::ParameterSpec::DOUBLE);
    x.set_max_value(1);
    return job;
  }
  static ml::v1::HyperparameterSpec& Spec(Job& job) {
    return *job.mutable_training_input()->mutable_hyperparameters();
  }

  /// Its metric is its parameter.
  static FakeScript Reports(const Manifest& manifest) {
    FakeScript script{.lines = {"x"}, .exit = Exit(0)};
    *script.exit->mutable_metrics() = Report({X(manifest)});
    return script;
  }
  static FakeScript Waits(const Manifest&) { return {.lines = {}, .exit = std::nullopt}; }

  std::vector<HyperparameterOutput> Shown(const std::string& job_id) {
    const Job job = Get(job_id);
    return {job.training_output().trials().begin(), job.training_output().trials().end()};
  }
  void ReportOf(const std::string& attempt_id, const std::vector<double>& values) {
    engine::FromReplica frame;
    *frame.mutable_metrics() = Report(values);
    Spawn(service_->gateway().OnFrame(std::make_shared<RecordingLink>(), attempt_id, std::move(frame)));
  }
  [[nodiscard]] bool WaitForLiving(std::size_t count) {
    return RunUntil([this, count] { return replicas_->Alive().size() == count; });
  }
  /// Each number occurs once, with one record, and never more run at once than allowed.
  void ExpectEachTrialOnce(const std::string& job_id, int count) {
    std::set<std::string> ids;
    for (const v1::JobRecord& trial : TrialsOf(Record(job_id))) {
      EXPECT_TRUE(ids.insert(trial.trial().trial_id()).second) << trial.trial().trial_id();
      EXPECT_TRUE(trial.job().has_end_time()) << trial.trial().trial_id();
    }
    EXPECT_THAT(ids, SizeIs(count));
    std::set<std::string> created;
    for (const v1::Event& event : EventsOf(Record(job_id))) {
      if (event.has_trial_created()) EXPECT_TRUE(created.insert(event.trial_created().trial_id()).second);
    }
    EXPECT_EQ(created, ids);
  }
};

TEST_F(TuningRunnerTest, RunsTrialsAndShowsTheBestFirst) {
  Job job = MakeTuningJob("j", 5, 2);
  job.mutable_training_input()->set_job_dir("gs://models/j");
  job.mutable_training_input()->add_args("--epochs=3");
  const Result<Job> created = Create(job);
  ASSERT_TRUE(created) << created.error().message;
  EXPECT_TRUE(created->training_output().is_hyperparameter_tuning_job());
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));

  const Job done = Get("j");
  EXPECT_EQ(done.training_output().completed_trial_count(), 5);
  EXPECT_EQ(done.training_output().hyperparameter_metric_tag(), "accuracy");
  EXPECT_TRUE(done.has_start_time());
  const auto trials = Shown("j");
  ASSERT_THAT(trials, SizeIs(5));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(trials[i].state(), HyperparameterOutput::SUCCEEDED);
    EXPECT_TRUE(trials[i].has_start_time() && trials[i].has_end_time());
    EXPECT_EQ(trials[i].final_metric().training_step(), 10);
    EXPECT_EQ(std::stod(trials[i].hyperparameters().at("x")), trials[i].final_metric().objective_value());
    if (i > 0)
      EXPECT_LE(trials[i].final_metric().objective_value(), trials[i - 1].final_metric().objective_value());
  }
  ExpectEachTrialOnce("j", 5);
  ExpectNothingStartedTwice();

  const Manifest& first = replicas_->started().at(0);
  EXPECT_EQ(first.trial_id(), "1");
  EXPECT_EQ(first.metric_tag(), "accuracy");
  EXPECT_EQ(first.job_id(), "j");
  EXPECT_THAT(first.program().args(),
              ElementsAre("--epochs=3", HasSubstr("--x=0."), "--job-dir", "gs://models/j/1"));
  EXPECT_NE(first.host_name(), replicas_->started().at(1).host_name()) << "trials run side by side";

  const auto lines = Lines("j", "service");
  EXPECT_THAT(lines, Contains(HasSubstr("Trial 1 is the best so far: accuracy 0.")).Times(1));
  EXPECT_THAT(lines, Contains(HasSubstr("Trial 3 is queued: x=0.")).Times(1));
  EXPECT_THAT(lines, Contains("Job is running.").Times(1));
  EXPECT_EQ(lines.back(), "Job completed successfully.");
  EXPECT_THAT(Lines("j", "master-replica-0"), SizeIs(5));
  EXPECT_THAT(EventNames("j"), Contains("TrialEnded").Times(5));
  EXPECT_FALSE(Await(service_->Get({"p", "j/1"}))) << "a trial is no job";
  EXPECT_THAT(Await(service_->List({.project = "p"}))->jobs(), SizeIs(1));
}

TEST_F(TuningRunnerTest, NeverMoreAtOnceThanAllowedAndTheNextAsSoonAsOneEnds) {
  replicas_->SetScript(Waits);
  ASSERT_TRUE(Create(MakeTuningJob("j", 4, 2)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  ASSERT_TRUE(WaitForLiving(2));
  for (int i = 0; i < 50; ++i) Record("j");
  EXPECT_THAT(replicas_->started(), SizeIs(2));
  EXPECT_THAT(Shown("j"), SizeIs(2));
  replicas_->End(replicas_->Alive().front(), Exit(0));
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 3; }));
  EXPECT_EQ(replicas_->started().back().trial_id(), "3");
  ASSERT_TRUE(Cancel("j"));
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(replicas_->started(), SizeIs(3)) << "no other is started";
  EXPECT_EQ(Record("j").tuning().trials_cancelled(), 2);
  EXPECT_EQ(Record("j").tuning().trials_succeeded(), 1);
}

TEST_F(TuningRunnerTest, WithoutAMetricATrialSucceedsAndTheLogSaysWhy) {
  replicas_->SetScript([](const Manifest& manifest) {
    FakeScript script{.lines = {}, .exit = Exit(0)};
    if (manifest.trial_id() == "2") *script.exit->mutable_metrics() = Report({0.5, std::nan("")});
    return script;
  });
  ASSERT_TRUE(Create(MakeTuningJob("j", 2, 1)));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  for (const HyperparameterOutput& trial : Shown("j")) {
    EXPECT_EQ(trial.state(), HyperparameterOutput::SUCCEEDED);
    EXPECT_FALSE(trial.has_final_metric());
  }
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("accuracy")).Times(testing::Ge(2)));
  const v1::JobStatus status = *Await(service_->Describe({"p", "j"}));
  ASSERT_EQ(status.trials_size(), 2);
  EXPECT_THAT(status.trials(0).reason(), HasSubstr("accuracy"));
  EXPECT_EQ(status.trials(1).report().measurements_size(), 2);
}

TEST_F(TuningRunnerTest, AFirstFailureFailsTheJobWithItsParameters) {
  replicas_->SetScript([](const Manifest&) {
    FakeScript script{.lines = {}, .exit = Exit(1)};
    return script;
  });
  ASSERT_TRUE(Create(MakeTuningJob("j", 9, 1)));
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(Record("j").job().error_message(),
              HasSubstr("Hyperparameter Tuning Trial #1 Failed before any other successful trials were "
                        "completed. The failed trial had parameters: x=0."));
  EXPECT_THAT(
      Record("j").job().error_message(),
      HasSubstr("The trial's error message was: The replica master 0 exited with a non-zero status of 1."));
  EXPECT_EQ(Shown("j").at(0).state(), HyperparameterOutput::FAILED);
}

TEST_F(TuningRunnerTest, MaxFailedTrialsCounts) {
  replicas_->SetScript([](const Manifest& manifest) {
    return manifest.trial_id() == "2" || manifest.trial_id() == "4" ? FakeScript{.exit = Exit(1)}
                                                                    : Reports(manifest);
  });
  Job job = MakeTuningJob("j", 9, 1);
  Spec(job).set_max_failed_trials(2);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("j", Job::FAILED));
  EXPECT_THAT(Record("j").job().error_message(),
              HasSubstr("2 trials have failed, and maxFailedTrials is 2."));
  EXPECT_THAT(Record("j").job().error_message(), HasSubstr("Trial #2 was the first to fail."));
  EXPECT_EQ(Shown("j").size(), 4U);
  EXPECT_TRUE(Shown("j").front().has_final_metric()) << "the best is first all the same";
}

TEST_F(TuningRunnerTest, AGridThatIsThroughEndsTheJob) {
  Job job = MakeTuningJob("j", 50, 3);
  Spec(job).set_algorithm(ml::v1::HyperparameterSpec::GRID_SEARCH);
  Spec(job).mutable_params(0)->set_type(ml::v1::ParameterSpec::INTEGER);
  Spec(job).mutable_params(0)->set_max_value(3);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  std::set<std::string> values;
  for (const HyperparameterOutput& trial : Shown("j")) values.insert(trial.hyperparameters().at("x"));
  EXPECT_THAT(values, ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(EventNames("j"), Contains("SpaceExhausted").Times(1));
}

TEST_F(TuningRunnerTest, TheTimeLimitIsTheJobs) {
  replicas_->SetScript(Waits);
  Job job = MakeTuningJob("j", 3, 1);
  job.mutable_training_input()->mutable_scheduling()->mutable_max_running_time()->set_seconds(3600);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  clock_.Advance(std::chrono::minutes(40));
  replicas_->End(replicas_->Alive().front(), Exit(0));
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 2; }));
  clock_.Advance(std::chrono::minutes(21));
  Job labels;
  ASSERT_TRUE(Await(service_->Patch({"p", "j"}, labels, "labels"))) << "wakes it";
  ASSERT_TRUE(WaitForEnd("j", Job::CANCELLED));
  EXPECT_THAT(Record("j").job().error_message(), HasSubstr("maximum running time"));
}

TEST_F(TuningRunnerTest, WhatIsWorseThanTheOthersIsStoppedEarly) {
  replicas_->SetScript([](const Manifest& manifest) {
    if (manifest.trial_id() == "7") return Waits(manifest);
    FakeScript script{.lines = {}, .exit = Exit(0)};
    *script.exit->mutable_metrics() = Report({0.5, 0.6, 0.7, 0.8});
    return script;
  });
  Job job = MakeTuningJob("j", 7, 1);
  Spec(job).set_enable_trial_early_stopping(true);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(RunUntil([this] { return replicas_->started().size() == 7; }));
  const std::string last = replicas_->started().back().attempt_id();
  ASSERT_TRUE(RunUntil([&] { return TrialsOf(Record("j")).back().job().state() == Job::RUNNING; }));
  ReportOf(last, {0.6, 0.7});
  for (int i = 0; i < 50; ++i) Record("j");
  EXPECT_THAT(replicas_->Alive(), SizeIs(1)) << "it does well";
  ReportOf(last, {0.1, 0.11, 0.12});
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  const HyperparameterOutput worst = Shown("j").back();
  EXPECT_EQ(worst.trial_id(), "7");
  EXPECT_TRUE(worst.is_trial_stopped_early());
  EXPECT_EQ(worst.state(), HyperparameterOutput::SUCCEEDED);
  EXPECT_EQ(worst.final_metric().objective_value(), 0.12);
  EXPECT_THAT(Lines("j", "service"), Contains(HasSubstr("Trial 7 is stopped early.")).Times(1));
}

TEST_F(TuningRunnerTest, AJobGoesOnWithWhatAnotherHasFound) {
  Job job = MakeTuningJob("a", 3, 1);
  Spec(job).set_algorithm(ml::v1::HyperparameterSpec::GRID_SEARCH);
  Spec(job).mutable_params(0)->set_type(ml::v1::ParameterSpec::INTEGER);
  Spec(job).mutable_params(0)->set_max_value(4);
  ASSERT_TRUE(Create(job));
  Spec(job).set_resume_previous_job_id("a");
  job.set_job_id("early");
  EXPECT_THAT(Create(job).error().message, HasSubstr("Wait for its end"));
  ASSERT_TRUE(WaitForEnd("a", Job::SUCCEEDED));

  job.set_job_id("b");
  Spec(job).set_max_trials(10);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("b", Job::SUCCEEDED));
  EXPECT_EQ(Record("b").tuning().resumed_uids(0), Record("a").uid());
  for (const HyperparameterOutput& trial : Shown("b")) EXPECT_LE(jobs::TrialNumber(trial.trial_id()), 5);

  for (const char* wrong : {"nobody", "goal", "tag", "params", "plain"}) {
    Job other = job;
    other.set_job_id(std::string("wrong_") + wrong);
    if (wrong == std::string("nobody")) Spec(other).set_resume_previous_job_id("nobody");
    if (wrong == std::string("goal")) Spec(other).set_goal(ml::v1::HyperparameterSpec::MINIMIZE);
    if (wrong == std::string("tag")) Spec(other).set_hyperparameter_metric_tag("loss");
    if (wrong == std::string("params")) Spec(other).mutable_params(0)->set_max_value(5);
    if (wrong == std::string("plain")) {
      ASSERT_TRUE(Create(MakeJob("plain")));
      Spec(other).set_resume_previous_job_id("plain");
    }
    const Result<Job> refused = Create(other);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, Code::kFailedPrecondition) << wrong;
    EXPECT_EQ(refused.error().field, "hyperparameters.resume_previous_job_id") << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("cannot be resumed: ")) << wrong;
  }
}

TEST_F(TuningRunnerTest, MeasuresEveryMetric) {
  replicas_->SetScript([](const Manifest& manifest) {
    FakeScript script = Reports(manifest);
    if (manifest.trial_id() == "2") return script;
    replica::v1::MetricReport::Further& further = *script.exit->mutable_metrics()->add_further();
    further.set_tag("loss");
    further.add_measurements()->set_value(4);
    return script;
  });
  Job job = MakeTuningJob("j", 3, 1);
  ml::v1::HyperparameterSpec::FurtherMetric& loss = *Spec(job).add_further_metrics();
  loss.set_hyperparameter_metric_tag("loss");
  loss.set_goal(ml::v1::HyperparameterSpec::MINIMIZE);
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));

  EXPECT_EQ(replicas_->started().at(0).metric_tag(), "accuracy");
  EXPECT_THAT(replicas_->started().at(0).further_metric_tags(), ElementsAre("loss"));
  const auto trials = Shown("j");
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_GE(trials[0].final_metric().objective_value(), trials[1].final_metric().objective_value());
  for (int i : {0, 1})
    EXPECT_EQ(trials[static_cast<std::size_t>(i)].final_metric().further_values().at("loss"), 4);
  EXPECT_EQ(trials[2].trial_id(), "2");
  EXPECT_FALSE(trials[2].has_final_metric());
  const auto lines = Lines("j", "service");
  EXPECT_THAT(lines, Contains(HasSubstr("Trial 1 is the best so far: accuracy 0.")).Times(1));
  EXPECT_THAT(lines, Contains(HasSubstr(", loss 4 (x=0.")));
  EXPECT_THAT(lines, Contains(HasSubstr("The metric 'loss' was not reported: ")).Times(1));
}

/// Google's own page resumes a job with only its id and new numbers of trials.
TEST_F(TuningRunnerTest, WhatAJobLeavesOutIsThatOfTheJobThatItResumes) {
  Job former = MakeTuningJob("a", 3, 1);
  Spec(former).set_goal(ml::v1::HyperparameterSpec::MINIMIZE);
  ml::v1::ParameterSpec& units = *Spec(former).add_params();
  units.set_parameter_name("units");
  units.set_type(ml::v1::ParameterSpec::DISCRETE);
  for (const double value : {32, 8, 16}) units.add_discrete_values(value);
  ASSERT_TRUE(Create(former));
  ASSERT_TRUE(WaitForEnd("a", Job::SUCCEEDED));
  EXPECT_THAT(Get("a").training_input().hyperparameters().params(1).discrete_values(),
              ElementsAre(8, 16, 32));
  EXPECT_THAT(Lines("a", "service"),
              Contains("hyperparameters: discrete_values of units were out of order; the "
                       "job has them in increasing order."));

  Job job = MakeJob("b");
  Spec(job).set_resume_previous_job_id("a");
  Spec(job).set_max_trials(2);
  const Result<Job> created = Create(job);
  ASSERT_TRUE(created) << created.error().message;
  ASSERT_TRUE(WaitForEnd("b", Job::SUCCEEDED));
  const ml::v1::HyperparameterSpec shown = Get("b").training_input().hyperparameters();
  EXPECT_EQ(shown.params(1).DebugString(),
            Get("a").training_input().hyperparameters().params(1).DebugString());
  EXPECT_EQ(shown.goal(), ml::v1::HyperparameterSpec::MINIMIZE);
  EXPECT_EQ(shown.hyperparameter_metric_tag(), "accuracy");
  EXPECT_EQ(shown.algorithm(), ml::v1::HyperparameterSpec::RANDOM_SEARCH);
  EXPECT_EQ(shown.max_trials(), 2);
  EXPECT_EQ(Get("b").training_output().hyperparameter_metric_tag(), "accuracy");
  EXPECT_EQ(Record("b").tuning().resumed_uids(0), Record("a").uid());
  EXPECT_THAT(Lines("b", "service"), Contains("Taken from the job a (resumePreviousJobId): params, goal, "
                                              "hyperparameterMetricTag and algorithm."));

  job = former;  // everything is given again, in the user's own order
  job.set_job_id("c");
  Spec(job).set_resume_previous_job_id("a");
  ASSERT_TRUE(Create(job));
  ASSERT_TRUE(WaitForEnd("c", Job::SUCCEEDED));
  EXPECT_THAT(Lines("c", "service"), Not(Contains(HasSubstr("Taken from"))));

  job = MakeJob("d");
  Spec(job).set_resume_previous_job_id("nobody");
  EXPECT_EQ(Create(job).error(), FailedPrecondition("The job nobody cannot be resumed: there is no such job.",
                                                    "hyperparameters.resume_previous_job_id"));
}

TEST_F(TuningRunnerTest, LargeJobsAreListedWithTheirBestTrialOnly) {
  ASSERT_TRUE(Create(MakeTuningJob("j", TuningJobs::kListedTrialsMax + 1, 20)));
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  const auto all = Shown("j");
  EXPECT_THAT(all, SizeIs(TuningJobs::kListedTrialsMax + 1));
  const auto listed = Await(service_->List({.project = "p"}))->jobs(0).training_output();
  ASSERT_EQ(listed.trials_size(), 1);
  EXPECT_EQ(listed.trials(0).trial_id(), all.front().trial_id());
  EXPECT_EQ(listed.completed_trial_count(), TuningJobs::kListedTrialsMax + 1);
}

TEST_F(TuningRunnerTest, AFullDiskIsWaitedOut) {
  replicas_->SetScript(Waits);
  ASSERT_TRUE(Create(MakeTuningJob("j", 3, 1)));
  ASSERT_TRUE(WaitForState("j", Job::RUNNING));
  store_.full = true;
  replicas_->SetScript(Reports);
  replicas_->End(replicas_->Alive().front(), Exit(0));
  ASSERT_TRUE(RunUntil([this] { return store_.refused > 10; }));
  store_.full = false;
  ASSERT_TRUE(WaitForEnd("j", Job::SUCCEEDED));
  ExpectEachTrialOnce("j", 3);
}

/// Writes are reported as failed although they succeed.
TEST_F(TuningRunnerTest, AStoreThatLiesLosesAndRepeatsNothing) {
  for (int lie = 0; lie < 12; ++lie) {
    const std::string job_id = "j" + std::to_string(lie);
    ASSERT_TRUE(Create(MakeTuningJob(job_id, 2, 1)));
    const std::int64_t from = store_.appends;
    EXPECT_TRUE(
        RunUntil([&] { return store_.appends >= from + lie || Record(job_id).job().has_end_time(); }));
    store_.lies = true;
    ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED));
    store_.lies = false;
    ExpectEachTrialOnce(job_id, 2);
  }
  ExpectNothingStartedTwice();
}

/// The server is killed after so many turns of the loop, counted from the create.
class TuningKilled : public TuningRunnerTest, public testing::WithParamInterface<int> {};

TEST_P(TuningKilled, AtAnyPointNoTrialIsLostOrRepeated) {
  for (int turn = GetParam(); turn < GetParam() + 20; turn += 4) {
    const std::string job_id = "j" + std::to_string(turn);
    Spawn(service_->Create("p", MakeTuningJob(job_id, 3, 2)));
    loop_.context.restart();
    for (int i = 0; i < turn; ++i) loop_.context.run_one_for(std::chrono::milliseconds(20));
    KillServer();
    StartServer();
    if (!Record(job_id).has_job()) continue;  // the create did not reach the store
    ASSERT_TRUE(WaitForEnd(job_id, Job::SUCCEEDED)) << turn;
    ExpectEachTrialOnce(job_id, 3);
    EXPECT_EQ(Record(job_id).tuning().trials_succeeded(), 3) << turn;
    const auto lines = Lines(job_id, "service");
    for (const char* once : {"Trial 1 is running.", "Trial 2 is running.", "Trial 3 is running.",
                             "Job is running.", "Job completed successfully."}) {
      EXPECT_THAT(lines, Contains(once).Times(1)) << turn;
    }
    EXPECT_THAT(Lines(job_id, "master-replica-0"), SizeIs(3)) << turn;
    for (const HyperparameterOutput& trial : Shown(job_id)) EXPECT_TRUE(trial.has_final_metric()) << turn;
  }
  ExpectNothingStartedTwice();
}

INSTANTIATE_TEST_SUITE_P(Turns, TuningKilled, testing::Range(1, 401, 20));

}  // namespace
}  // namespace trainyard::control

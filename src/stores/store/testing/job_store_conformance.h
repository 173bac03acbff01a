#pragma once

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "stores/store/job_store.h"

/// The contract of JobStore as a test suite. An implementation instantiates it with a fixture that makes
/// stores:
///   struct Fixture { JobStore& store(); };
///   INSTANTIATE_TYPED_TEST_SUITE_P(Memory, JobStoreConformance, Fixture);
namespace trainyard::store {

MATCHER_P(EqualsMessage, expected, "") {
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  if (differencer.Compare(expected, arg)) return true;
  *result_listener << difference;
  return false;
}

/// A job as jobs.create stores it first: no uid, no revision.
inline JobRecord NewJob(const std::string& project, const std::string& job_id) {
  JobRecord record;
  record.set_project(project);
  record.mutable_job()->set_job_id(job_id);
  record.mutable_job()->mutable_create_time()->set_seconds(1'700'000'000);
  record.mutable_job()->mutable_training_input()->set_region("us-central1");
  record.mutable_job()->set_state(ml::v1::Job::QUEUED);
  return record;
}

/// A trial of a tuning job as it is stored first.
inline JobRecord NewTrial(const JobRecord& tuning, const std::string& trial_id) {
  JobRecord record = NewJob(tuning.project(), tuning.job().job_id());
  record.mutable_trial()->set_tuning_uid(tuning.uid());
  record.mutable_trial()->set_trial_id(trial_id);
  return record;
}

inline Event CreatedEvent(const JobRecord& record) {
  Event event;
  *event.mutable_created()->mutable_record() = record;
  return event;
}

/// The record one event later, in this state.
inline JobRecord Next(JobRecord record, ml::v1::Job::State state) {
  record.set_revision(record.revision() + 1);
  record.mutable_job()->set_state(state);
  if (state == ml::v1::Job::SUCCEEDED) record.mutable_job()->mutable_end_time()->set_seconds(1'700'000'100);
  return record;
}

inline Event RunningEvent(const JobRecord& after) {
  Event event;
  event.set_seq(after.revision());
  event.mutable_running();
  return event;
}

template <class Fixture>
class JobStoreConformance : public testing::Test {
 protected:
  JobStore& store() { return fixture_.store(); }
  /// Creates the job and returns it as stored.
  JobRecord Create(const std::string& project, const std::string& job_id) {
    JobRecord record = NewJob(project, job_id);
    Result<std::int64_t> uid = store().Create(record, CreatedEvent(record));
    EXPECT_TRUE(uid) << uid.error().message;
    record.set_uid(uid.value_or(0));
    record.set_revision(1);
    return record;
  }
  std::vector<std::string> Ids(const std::vector<JobRecord>& jobs) {
    std::vector<std::string> ids;
    for (const JobRecord& job : jobs) ids.push_back(job.job().job_id());
    return ids;
  }
  Fixture fixture_;
};

TYPED_TEST_SUITE_P(JobStoreConformance);

TYPED_TEST_P(JobStoreConformance, CreatesAndGets) {
  const JobRecord a = this->Create("p", "a");
  const JobRecord b = this->Create("q", "a");
  EXPECT_GT(a.uid(), 0);
  EXPECT_GT(b.uid(), a.uid());
  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(a));
  EXPECT_THAT(this->store().Get("q", "a").value(), EqualsMessage(b));
  EXPECT_EQ(this->store().Get("p", "b").error(),
            (Error{Code::kNotFound, "The job cannot be found.", "name"}));

  const std::vector<Event> events = this->store().Events(a.uid(), 0).value();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].seq(), 1);
  JobRecord created = NewJob("p", "a");
  created.set_uid(a.uid());
  EXPECT_THAT(events[0].created().record(), EqualsMessage(created));
}

TYPED_TEST_P(JobStoreConformance, RefusesASecondJobOfTheName) {
  const JobRecord first = this->Create("p", "a");
  const JobRecord second = NewJob("p", "a");
  const Error exists{Code::kAlreadyExists, "A job with this id already exists. It is QUEUED.", "job.job_id"};
  EXPECT_EQ(this->store().Create(second, CreatedEvent(second)).error(), exists);
  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(first));
  EXPECT_EQ(this->store().Events(first.uid(), 0).value().size(), 1U);
}

TYPED_TEST_P(JobStoreConformance, AppendsAtTheRightRevisionOnly) {
  const JobRecord created = this->Create("p", "a");
  const JobRecord running = Next(created, ml::v1::Job::RUNNING);
  ASSERT_TRUE(this->store().Append(running, RunningEvent(running)));
  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(running));

  EXPECT_EQ(this->store().Append(running, RunningEvent(running)).error().code, Code::kAborted)
      << "applied already";
  JobRecord ahead = Next(Next(running, ml::v1::Job::RUNNING), ml::v1::Job::SUCCEEDED);
  EXPECT_EQ(this->store().Append(ahead, RunningEvent(ahead)).error().code, Code::kAborted);
  JobRecord unknown = Next(running, ml::v1::Job::RUNNING);
  unknown.set_uid(running.uid() + 1);
  EXPECT_EQ(this->store().Append(unknown, RunningEvent(unknown)).error().code, Code::kAborted);

  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(running));
  EXPECT_EQ(this->store().Events(created.uid(), 0).value().size(), 2U);
  const std::vector<Event> later = this->store().Events(created.uid(), 1).value();
  ASSERT_EQ(later.size(), 1U);
  EXPECT_THAT(later[0], EqualsMessage(RunningEvent(running)));
  const std::vector<Event> first = this->store().EventPage(created.uid(), 0, 1).value();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].seq(), 1);
  EXPECT_TRUE(this->store().Events(created.uid(), 2).value().empty());
  EXPECT_TRUE(this->store().Events(created.uid() + 7, 0).value().empty());
}

TYPED_TEST_P(JobStoreConformance, ListsNewestFirstInPagesOfAnySize) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < 7; ++i) {
    this->Create("p", "job" + std::to_string(i));
    this->Create("other", "job" + std::to_string(i));
    newest_first.insert(newest_first.begin(), "job" + std::to_string(i));
  }
  for (const int page_size : {1, 2, 7, 8, kPageSizeMax}) {
    std::vector<std::string> seen;
    std::string token;
    do {
      const JobPage page = this->store().List("p", page_size, token).value();
      EXPECT_LE(page.jobs.size(), static_cast<std::size_t>(page_size));
      EXPECT_FALSE(page.jobs.empty());
      for (const std::string& id : this->Ids(page.jobs)) seen.push_back(id);
      token = page.next_page_token;
    } while (!token.empty());
    EXPECT_EQ(seen, newest_first) << page_size;
  }
  EXPECT_TRUE(this->store().List("nobody", 5, "").value().jobs.empty());
}

TYPED_TEST_P(JobStoreConformance, PageTokensOutliveTheirPageAndNothingElse) {
  for (int i = 0; i < 5; ++i) this->Create("p", "job" + std::to_string(i));
  const std::string token = this->store().List("p", 2, "").value().next_page_token;
  this->Create("p", "newer");
  EXPECT_EQ(this->Ids(this->store().List("p", 3, token).value().jobs),
            (std::vector<std::string>{"job2", "job1", "job0"}));
  std::string forged = token;
  forged[3] = forged[3] == 'A' ? 'B' : 'A';
  for (const std::string& bad : {forged, std::string("1"), token + "A", token.substr(1)}) {
    const Error error = this->store().List("p", 2, bad).error();
    EXPECT_EQ(error.code, Code::kInvalidArgument) << bad;
    EXPECT_EQ(error.field, "page_token");
  }
  EXPECT_FALSE(this->store().List("q", 2, token)) << "a token of another project";
}

TYPED_TEST_P(JobStoreConformance, KnowsWhatIsUnfinished) {
  const JobRecord a = this->Create("p", "a");
  const JobRecord b = this->Create("q", "b");
  const JobRecord c = this->Create("p", "c");
  const JobRecord ended = Next(b, ml::v1::Job::SUCCEEDED);
  ASSERT_TRUE(this->store().Append(ended, RunningEvent(ended)));
  EXPECT_THAT(this->store().Unfinished().value(), testing::ElementsAre(EqualsMessage(a), EqualsMessage(c)));
}

TYPED_TEST_P(JobStoreConformance, KeepsTrialsWithTheirJobAndOutOfLists) {
  const JobRecord tuning = this->Create("p", "a");
  const JobRecord other = this->Create("p", "b");
  std::vector<JobRecord> trials;
  for (const char* trial_id : {"1", "2", "3"}) {
    for (const JobRecord& job : {tuning, other}) {
      JobRecord trial = NewTrial(job, trial_id);
      trial.set_uid(this->store().Create(trial, CreatedEvent(trial)).value());
      trial.set_revision(1);
      if (job.uid() == tuning.uid()) trials.push_back(trial);
    }
  }
  const JobRecord second = NewTrial(tuning, "2");
  EXPECT_EQ(this->store().Create(second, CreatedEvent(second)).error().code, Code::kAlreadyExists);
  EXPECT_THAT(
      this->store().Trials(tuning.uid(), 0, 10).value(),
      testing::ElementsAre(EqualsMessage(trials[0]), EqualsMessage(trials[1]), EqualsMessage(trials[2])));
  EXPECT_THAT(this->store().Trials(tuning.uid(), trials[0].uid(), 1).value(),
              testing::ElementsAre(EqualsMessage(trials[1])));
  EXPECT_TRUE(this->store().Trials(tuning.uid(), trials[2].uid(), 10).value().empty());
  EXPECT_TRUE(this->store().Trials(trials[0].uid(), 0, 10).value().empty());

  EXPECT_EQ(this->Ids(this->store().List("p", 10, "").value().jobs), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(this->store().Get("p", "a/1").error().code, Code::kNotFound);
  EXPECT_THAT(this->store().GetTrial("p", "a", "2").value(), EqualsMessage(trials[1]));
  EXPECT_EQ(this->store().GetTrial("p", "a", "4").error().code, Code::kNotFound);
  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(tuning));

  const JobRecord ended = Next(trials[1], ml::v1::Job::SUCCEEDED);
  ASSERT_TRUE(this->store().Append(ended, RunningEvent(ended)));
  EXPECT_EQ(this->store().Unfinished().value().size(), 7U) << "two jobs, five trials";
  EXPECT_THAT(this->store().Trials(tuning.uid(), trials[0].uid(), 1).value(),
              testing::ElementsAre(EqualsMessage(ended)));
}

TYPED_TEST_P(JobStoreConformance, CommitsAGroupAndForgetsWhatFailedInIt) {
  const JobRecord old = this->Create("p", "old");
  ASSERT_TRUE(this->store().Begin());
  const JobRecord a = this->Create("p", "a");
  const JobRecord again = NewJob("p", "old");
  EXPECT_EQ(this->store().Create(again, CreatedEvent(again)).error().code, Code::kAlreadyExists);
  const JobRecord running = Next(a, ml::v1::Job::RUNNING);
  EXPECT_TRUE(this->store().Append(running, RunningEvent(running)));
  EXPECT_EQ(this->store().Append(running, RunningEvent(running)).error().code, Code::kAborted);
  const JobRecord b = this->Create("p", "b");
  ASSERT_TRUE(this->store().Commit());
  EXPECT_THAT(this->store().Get("p", "old").value(), EqualsMessage(old));
  EXPECT_THAT(this->store().Get("p", "a").value(), EqualsMessage(running));
  EXPECT_THAT(this->store().Get("p", "b").value(), EqualsMessage(b));
}

TYPED_TEST_P(JobStoreConformance, RollbackForgetsTheGroup) {
  const JobRecord old = this->Create("p", "old");
  ASSERT_TRUE(this->store().Begin());
  const JobRecord a = this->Create("p", "a");
  const JobRecord running = Next(old, ml::v1::Job::RUNNING);
  EXPECT_TRUE(this->store().Append(running, RunningEvent(running)));
  this->store().Rollback();
  EXPECT_EQ(this->store().Get("p", "a").error().code, Code::kNotFound);
  EXPECT_THAT(this->store().Get("p", "old").value(), EqualsMessage(old));
  EXPECT_EQ(this->store().Events(old.uid(), 0).value().size(), 1U);
  EXPECT_TRUE(this->store().Append(running, RunningEvent(running)))
      << "a write without a group commits by itself";
  EXPECT_THAT(this->store().Get("p", "old").value(), EqualsMessage(running));
}

TYPED_TEST_P(JobStoreConformance, ListsFinishedJobsByTheirEnd) {
  const auto at = [](std::int64_t seconds) { return SysTime(std::chrono::seconds(1'700'000'000 + seconds)); };
  std::vector<std::int64_t> uids;
  for (const int end : {300, 100, 200, 100}) {
    JobRecord ended = Next(this->Create("p", "job" + std::to_string(uids.size())), ml::v1::Job::SUCCEEDED);
    ended.mutable_job()->mutable_end_time()->set_seconds(1'700'000'000 + end);
    ASSERT_TRUE(this->store().Append(ended, RunningEvent(ended)));
    uids.push_back(ended.uid());
  }
  this->Create("p", "unfinished");
  const FinishedJob first{.uid = uids[1], .end_time = at(100)};
  const FinishedJob second{.uid = uids[3], .end_time = at(100)};
  const FinishedJob third{.uid = uids[2], .end_time = at(200)};
  EXPECT_EQ(this->store().Finished({.before = at(300), .count = 10}).value(),
            (std::vector{first, second, third}));
  EXPECT_EQ(this->store().Finished({.after = first, .count = 2}).value(), (std::vector{second, third}));
}

TYPED_TEST_P(JobStoreConformance, KnowsTheProjectsByTheirNewestJobs) {
  EXPECT_TRUE(this->store().RecentProjects(10).value().empty());
  const JobRecord tuning = this->Create("p", "a");
  this->Create("q", "b");
  this->Create("p", "c");
  this->Create("r", "d");
  const JobRecord trial = NewTrial(tuning, "1");
  ASSERT_TRUE(this->store().Create(trial, CreatedEvent(trial)));
  EXPECT_EQ(this->store().RecentProjects(10).value(), (std::vector<std::string>{"r", "p", "q"}));
  EXPECT_EQ(this->store().RecentProjects(2).value(), (std::vector<std::string>{"r", "p"}));
}

TYPED_TEST_P(JobStoreConformance, RemovesFinishedJobsInTwoSteps) {
  const JobRecord a = Next(this->Create("p", "a"), ml::v1::Job::SUCCEEDED);
  ASSERT_TRUE(this->store().Append(a, RunningEvent(a)));
  const JobRecord b = this->Create("p", "b");
  const std::vector<std::int64_t> both{a.uid(), b.uid(), 1'000};
  EXPECT_EQ(this->store().EraseRemoved(both, 10).value(), 0) << "not begun";
  EXPECT_EQ(this->store().BeginRemoval(both).value(), 1) << "b has not ended";
  EXPECT_EQ(this->store().BeginRemoval(both).value(), 0);
  EXPECT_EQ(this->store().Get("p", "a").error().code, Code::kNotFound);
  EXPECT_EQ(this->Ids(this->store().List("p", 10, "").value().jobs), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(this->store().Finished({.count = 10}).value().empty());
  EXPECT_EQ(this->store().Removing(10).value(), (std::vector<std::int64_t>{a.uid()}));
  EXPECT_TRUE(this->store().Trials(a.uid(), 0, 10).value().empty());
  const JobRecord again = NewJob("p", "a");
  EXPECT_EQ(this->store().Create(again, CreatedEvent(again)).error().code, Code::kAlreadyExists);

  EXPECT_EQ(this->store().EraseRemoved(both, 2).value(), 2) << "its events";
  EXPECT_EQ(this->store().Removing(10).value().size(), 1U);
  EXPECT_EQ(this->store().EraseRemoved(both, 2).value(), 1);
  EXPECT_TRUE(this->store().Removing(10).value().empty());
  EXPECT_TRUE(this->store().Events(a.uid(), 0).value().empty());
  EXPECT_EQ(this->store().EraseRemoved(both, 2).value(), 0);
  EXPECT_EQ(this->store().Create(again, CreatedEvent(again)).error().code, Code::kAlreadyExists)
      << "the name stays taken";
  EXPECT_EQ(this->store()
                .Append(Next(a, ml::v1::Job::FAILED), RunningEvent(Next(a, ml::v1::Job::FAILED)))
                .error()
                .code,
            Code::kAborted);
  EXPECT_THAT(this->store().Get("p", "b").value(), EqualsMessage(b));
}

TYPED_TEST_P(JobStoreConformance, RemovesTrialsWithTheirJob) {
  const JobRecord tuning = this->Create("p", "a");
  const JobRecord other = this->Create("p", "b");
  for (const JobRecord& job : {tuning, other, tuning, tuning}) {
    const JobRecord trial =
        NewTrial(job, std::to_string(this->store().Trials(job.uid(), 0, 10).value().size() + 1));
    const std::int64_t uid = this->store().Create(trial, CreatedEvent(trial)).value();
    JobRecord ended = Next(trial, ml::v1::Job::SUCCEEDED);
    ended.set_uid(uid);
    ended.set_revision(2);
    ASSERT_TRUE(this->store().Append(ended, RunningEvent(ended)));
  }
  const JobRecord ended = Next(tuning, ml::v1::Job::SUCCEEDED);
  ASSERT_TRUE(this->store().Append(ended, RunningEvent(ended)));
  const std::vector<std::int64_t> uids{tuning.uid()};
  ASSERT_EQ(this->store().BeginRemoval(uids).value(), 1);
  std::int64_t rows = 0;
  while (const std::int64_t more = this->store().EraseRemoved(uids, 3).value()) rows += more;
  EXPECT_EQ(rows, 4 * 3) << "four records, two events each";
  EXPECT_TRUE(this->store().Trials(tuning.uid(), 0, 10).value().empty());
  EXPECT_EQ(this->store().Trials(other.uid(), 0, 10).value().size(), 1U);
  EXPECT_EQ(this->store().Unfinished().value().size(), 1U);
}

TYPED_TEST_P(JobStoreConformance, TellsWhatChangedAfterAToken) {
  JobStore& store = this->store();
  const auto changes = [&store](const std::string& project, std::string token, int count) {
    std::vector<JobChange> all;
    for (bool more = true; more;) {
      const ChangePage page = store.Changed(project, token, count).value();
      EXPECT_LE(std::ssize(page.changes), count);
      EXPECT_EQ(page.changes.empty(), page.resume_token == token) << "a token goes on only with changes";
      all.insert(all.end(), page.changes.begin(), page.changes.end());
      token = page.resume_token;
      more = page.more;
    }
    return all;
  };
  const std::string empty = store.ResumeToken("p").value();
  const JobRecord a = this->Create("p", "a");
  const JobRecord b = this->Create("p", "b");
  this->Create("q", "a");
  const JobChange change_a{.job_id = "a", .trial_id = ""};
  const JobChange change_b{.job_id = "b", .trial_id = ""};
  for (const int count : {1, 2, 10}) EXPECT_EQ(changes("p", empty, count), (std::vector{change_a, change_b}));

  const std::string token = store.ResumeToken("p").value();
  EXPECT_TRUE(changes("p", token, 10).empty());
  const JobRecord b_ended = Next(b, ml::v1::Job::SUCCEEDED);
  ASSERT_TRUE(store.Append(b_ended, RunningEvent(b_ended)));
  const JobRecord a_runs = Next(a, ml::v1::Job::RUNNING);
  ASSERT_TRUE(store.Append(a_runs, RunningEvent(a_runs)));
  EXPECT_FALSE(store.Append(a_runs, RunningEvent(a_runs))) << "what fails is no change";
  EXPECT_EQ(changes("p", token, 10), (std::vector{change_b, change_a}));
  EXPECT_EQ(changes("p", empty, 1), (std::vector{change_b, change_a})) << "each once, at its last change";

  JobRecord trial = NewTrial(a_runs, "7");
  trial.set_uid(store.Create(trial, CreatedEvent(trial)).value());
  trial.set_revision(1);
  const JobRecord trial_runs = Next(trial, ml::v1::Job::RUNNING);
  ASSERT_TRUE(store.Append(trial_runs, RunningEvent(trial_runs)));
  const std::vector<std::int64_t> uids{b.uid()};
  ASSERT_EQ(store.BeginRemoval(uids).value(), 1);
  EXPECT_THAT(changes("p", token, 10),
              testing::IsSupersetOf({change_a, JobChange{.job_id = "a", .trial_id = "7"}, change_b}));
  EXPECT_GT(store.EraseRemoved(uids, 100).value(), 0);
  EXPECT_EQ(changes("p", token, 1),
            (std::vector{change_a, JobChange{.job_id = "a", .trial_id = "7"}, change_b}))
      << "a removal is told of for ever";
}

TYPED_TEST_P(JobStoreConformance, TakesItsOwnResumeTokensOnly) {
  const std::string token = this->store().ResumeToken("p").value();
  std::string forged = token;
  forged[3] = forged[3] == 'A' ? 'B' : 'A';
  for (const std::string& bad : {forged, std::string("1"), std::string(), token.substr(1)}) {
    const Error error = this->store().Changed("p", bad, 10).error();
    EXPECT_EQ(error.code, Code::kInvalidArgument) << bad;
    EXPECT_EQ(error.field, "resume_token");
  }
  EXPECT_FALSE(this->store().Changed("q", token, 10)) << "a token of another project";
  this->Create("p", "a");
  const std::string page_token = this->store().List("p", 1, "").value().next_page_token;
  EXPECT_FALSE(this->store().Changed("p", page_token, 10));
}

REGISTER_TYPED_TEST_SUITE_P(JobStoreConformance, CreatesAndGets, RefusesASecondJobOfTheName,
                            AppendsAtTheRightRevisionOnly, ListsNewestFirstInPagesOfAnySize,
                            PageTokensOutliveTheirPageAndNothingElse, KnowsWhatIsUnfinished,
                            KeepsTrialsWithTheirJobAndOutOfLists, CommitsAGroupAndForgetsWhatFailedInIt,
                            RollbackForgetsTheGroup, KnowsTheProjectsByTheirNewestJobs,
                            ListsFinishedJobsByTheirEnd, RemovesFinishedJobsInTwoSteps,
                            RemovesTrialsWithTheirJob, TellsWhatChangedAfterAToken,
                            TakesItsOwnResumeTokensOnly);

}  // namespace trainyard::store

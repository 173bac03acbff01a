#include "rules/notices/notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/time.h"

namespace trainyard::notices {
namespace {

using std::chrono::seconds;

control::v1::JobRecord Failed() {
  control::v1::JobRecord record;
  record.set_project("demo");
  record.set_uid(17);
  ml::v1::Job& job = *record.mutable_job();
  job.set_job_id("census_1");
  job.set_state(ml::v1::Job::FAILED);
  job.set_error_message("The \"replica\" ran out of memory.");
  *job.mutable_create_time() = wire::ToProto(*wire::ParseTime("2026-11-29T10:00:00Z"));
  (*job.mutable_labels())["b"] = "2";
  (*job.mutable_labels())["a"] = "1";
  return record;
}

TEST(Compose, SaysWhatHappenedToPeopleAndPrograms) {
  EXPECT_EQ(
      Compose(Failed(), Event::kFailed, "http://h:1"),
      (Notice{.id = "17-1795946400-failed",
              .job = "projects/demo/jobs/census_1",
              .subject = "Job census_1 failed (project demo)",
              .text = "Job census_1 failed (project demo).\n\nThe \"replica\" ran out of memory.\n\n"
                      "http://h:1/ui/p/demo/jobs/census_1\n",
              .json = R"({"id":"17-1795946400-failed","event":"failed","job":"projects/demo/jobs/census_1",)"
                      R"("project":"demo","jobId":"census_1","state":"FAILED",)"
                      R"("createTime":"2026-11-29T10:00:00Z",)"
                      R"("errorMessage":"The \"replica\" ran out of memory.",)"
                      R"("labels":{"a":"1","b":"2"},"url":"http://h:1/ui/p/demo/jobs/census_1",)"
                      R"("text":"Job census_1 failed (project demo).\n\nThe \"replica\" ran out of )"
                      R"(memory.\n\nhttp://h:1/ui/p/demo/jobs/census_1\n"})"}));
}

TEST(Compose, SaysWhatAJobWaitsFor) {
  control::v1::JobRecord job = Failed();
  job.mutable_job()->set_state(ml::v1::Job::QUEUED);
  job.mutable_job()->clear_error_message();
  const Notice notice = Compose(job, Event::kWaiting, "http://h:1", "It waits for 1 GPU.");
  EXPECT_EQ(notice.subject, "Job census_1 still waits to start (project demo)");
  EXPECT_THAT(notice.text, testing::HasSubstr("\n\nIt waits for 1 GPU.\n"));
  EXPECT_THAT(notice.json, testing::HasSubstr(R"("waitsFor":"It waits for 1 GPU.")"));
}

TEST(LongWaitAt, IsOfJobsThatHaveNotStarted) {
  control::v1::JobRecord job = Failed();
  EXPECT_EQ(LongWaitAt(job, seconds(60)), std::nullopt);
  job.mutable_job()->set_state(ml::v1::Job::QUEUED);
  EXPECT_EQ(LongWaitAt(job, seconds(60)), *wire::ParseTime("2026-11-29T10:01:00Z"));
  job.mutable_trial()->set_trial_id("1");
  EXPECT_EQ(LongWaitAt(job, seconds(60)), std::nullopt);
  job.clear_trial();
  *job.mutable_running_time() = job.job().create_time();
  EXPECT_EQ(LongWaitAt(job, seconds(60)), std::nullopt);
}

TEST(EndOf, IsNothingWhileTheJobGoesOn) {
  control::v1::JobRecord job = Failed();
  EXPECT_EQ(EndOf(job), Event::kFailed);
  job.mutable_job()->set_state(ml::v1::Job::CANCELLING);
  EXPECT_EQ(EndOf(job), std::nullopt);
}

TEST(NextTry, PausesDoubleUpToAnHourForADay) {
  const SysTime noon{std::chrono::hours(12)};
  EXPECT_EQ(NextTry(1, noon, noon), noon + seconds(1));
  EXPECT_EQ(NextTry(2, noon, noon), noon + seconds(2));
  EXPECT_EQ(NextTry(5, noon, noon), noon + seconds(16));
  EXPECT_EQ(NextTry(13, noon, noon), noon + kPauseMax);
  EXPECT_EQ(NextTry(1'000'000, noon, noon), noon + kPauseMax);
  EXPECT_EQ(NextTry(30, noon, noon + kDeliverFor), std::nullopt);
}

}  // namespace
}  // namespace trainyard::notices

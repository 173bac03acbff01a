#include "control/run/job_status.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

TEST(MakeStatus, SaysThatAProgramIsSilent) {
  v1::JobRecord job;
  job.add_replicas()->mutable_id()->set_type(replica::v1::MASTER);
  jobs::Observation seen;
  seen.replicas.resize(1);
  seen.replicas[0].phase = replica::v1::RUNNING;
  const SysTime began{std::chrono::hours(1)};
  const auto remark = [&](std::chrono::minutes later) {
    return MakeStatus(job, {.seen = &seen, .waiting = {}, .now = began + later}).replicas(0).remark();
  };
  EXPECT_EQ(remark(std::chrono::minutes(45)), "") << "nobody has seen when it began";
  seen.replicas[0].last_output = began;
  EXPECT_EQ(remark(std::chrono::minutes(20)), "");
  EXPECT_EQ(remark(std::chrono::minutes(45)), "No output for 45 minutes.");
  seen.replicas[0].phase = replica::v1::ENDED;
  EXPECT_EQ(remark(std::chrono::minutes(45)), "");
}

TEST(MakeStatus, ShowsTheWarningsAboutTheRequest) {
  v1::JobRecord job;
  job.add_warnings("did you mean gs://a?");
  EXPECT_EQ(MakeStatus(job, {}).warnings(0), "did you mean gs://a?");
}

TEST(MakeStatus, SaysHowTheJobWasSubmitted) {
  v1::JobRecord job;
  EXPECT_FALSE(MakeStatus(job, {}).has_submitted_as());
  job.mutable_submitted_as()->set_collection("customJobs");
  job.mutable_submitted_as()->set_resource("long");
  EXPECT_EQ(MakeStatus(job, {}).submitted_as().collection(), "customJobs");
  EXPECT_EQ(MakeStatus(job, {}).submitted_as().resource(), "");
}

TEST(MakeStatus, ShowsHowFarAPreparationHasComeWhileItLasts) {
  v1::JobRecord job;
  job.add_replicas()->mutable_id()->set_type(replica::v1::MASTER);
  jobs::Observation seen;
  seen.replicas.resize(1);
  EXPECT_FALSE(MakeStatus(job, {.seen = &seen, .waiting = {}}).replicas(0).has_progress());
  seen.replicas[0].progress.emplace().set_done(7);
  seen.replicas[0].phase = replica::v1::PREPARING;
  EXPECT_EQ(MakeStatus(job, {.seen = &seen, .waiting = {}}).replicas(0).progress().done(), 7);
  seen.replicas[0].phase = replica::v1::READY;
  EXPECT_FALSE(MakeStatus(job, {.seen = &seen, .waiting = {}}).replicas(0).has_progress());
  EXPECT_FALSE(MakeStatus(job, {}).replicas(0).has_progress()) << "nobody looks after it any more";
}

}  // namespace
}  // namespace trainyard::control

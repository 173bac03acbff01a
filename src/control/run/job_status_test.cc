#include "control/run/job_status.h"

#include <gtest/gtest.h>

namespace trainyard::control {
namespace {

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

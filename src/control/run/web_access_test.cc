#include "control/run/web_access.h"

#include <gtest/gtest.h>

#include <functional>

namespace trainyard::control {
namespace {

using ml::v1::Job;

const Settings kSettings{.keys = Keys::Derive("s"), .server_url = "http://127.0.0.1:8470"};

v1::JobRecord MakeRecord() {
  v1::JobRecord record;
  record.set_uid(12);
  record.set_project("p");
  record.mutable_job()->set_job_id("census");
  record.mutable_job()->set_state(Job::RUNNING);
  record.mutable_job()->mutable_training_input()->set_enable_web_access(true);
  for (const auto type : {replica::v1::MASTER, replica::v1::WORKER}) {
    v1::ReplicaRecord& replica = *record.add_replicas();
    replica.mutable_id()->set_type(type);
    replica.set_attempt(1);
  }
  return record;
}

std::string TokenOf(const v1::JobRecord& record, const std::string& task_name) {
  const std::string uri = WebAccessUris(kSettings, record).at(task_name);
  return uri.substr(uri.find("token=") + 6);
}

TEST(WebAccess, EachReplicaThatRunsHasAUri) {
  v1::JobRecord record = MakeRecord();
  const auto uris = WebAccessUris(kSettings, record);
  ASSERT_EQ(uris.size(), 2U);
  EXPECT_TRUE(uris.at("worker-replica-0")
                  .starts_with("http://127.0.0.1:8470/trainyard/v1/projects/p/jobs/census/replicas/"
                               "worker-replica-0:shell?token="));
  EXPECT_NE(TokenOf(record, "worker-replica-0"), TokenOf(record, "master-replica-0"));
  const auto target = ShellTarget(kSettings, record, "worker-replica-0", TokenOf(record, "worker-replica-0"));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(*target, engine::AttemptRef{.id = "12-worker-replica-0-1"});
}

TEST(WebAccess, ATokenIsForOneAttempt) {
  v1::JobRecord record = MakeRecord();
  const std::string token = TokenOf(record, "worker-replica-0");
  EXPECT_EQ(ShellTarget(kSettings, record, "master-replica-0", token).error().code, Code::kPermissionDenied);
  EXPECT_EQ(ShellTarget(kSettings, record, "worker-replica-0", "").error().code, Code::kPermissionDenied);
  record.mutable_replicas(1)->set_attempt(2);
  EXPECT_EQ(ShellTarget(kSettings, record, "worker-replica-0", token).error().code, Code::kPermissionDenied);
  EXPECT_EQ(ShellTarget(kSettings, record, "worker-replica-7", token).error().code, Code::kNotFound);
}

TEST(WebAccess, OnlyWhileItRunsAndIfItWasAskedFor) {
  const struct {
    const char* what;
    std::function<void(v1::JobRecord&)> change;
  } rows[] = {
      {"not asked for",
       [](v1::JobRecord& job) { job.mutable_job()->mutable_training_input()->clear_enable_web_access(); }},
      {"preparing", [](v1::JobRecord& job) { job.mutable_job()->set_state(Job::PREPARING); }},
      {"over", [](v1::JobRecord& job) { job.mutable_job()->set_state(Job::SUCCEEDED); }},
      {"ended", [](v1::JobRecord& job) { job.mutable_replicas(1)->mutable_exit()->set_exit_code(1); }},
      {"restarting", [](v1::JobRecord& job) { job.mutable_replicas(1)->set_restarting(true); }},
      {"not started", [](v1::JobRecord& job) { job.mutable_replicas(1)->set_attempt(0); }},
  };
  for (const auto& row : rows) {
    v1::JobRecord record = MakeRecord();
    const std::string token = TokenOf(record, "worker-replica-0");
    row.change(record);
    EXPECT_FALSE(WebAccessUris(kSettings, record).contains("worker-replica-0")) << row.what;
    const auto target = ShellTarget(kSettings, record, "worker-replica-0", token);
    ASSERT_FALSE(target) << row.what;
    EXPECT_EQ(target.error().code, Code::kFailedPrecondition) << row.what;
  }
}

}  // namespace
}  // namespace trainyard::control

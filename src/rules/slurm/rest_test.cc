#include "rules/slurm/rest.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace trainyard::slurm {
namespace {

namespace json = boost::json;

BatchJob BatchOf() {
  return {.installation = "1f3a",
          .submission = {.gang = {.job_uid = 17, .try_number = 1}, .number = 2},
          .nice = 50,
          .times = {.limit = std::chrono::minutes(90),
                    .deadline = SysTime(std::chrono::milliseconds(1'800'000'000'900))},
          .boot = {.source = {.server_host = "10.0.0.1", .server_port = 7443}, .ticket = "t1cket"}};
}

Component Gpus(std::string type) {
  return {.replicas = {0, 1},
          .cpus = 4,
          .memory_mib = 4'000,
          .gpus = 2,
          .gpu_type = std::move(type),
          .options = {.partition = "gpu", .account = "lab", .qos = "high", .constraint = "nvlink"}};
}

/// The request without the script.
json::value Asked(const BatchJob& batch, const GangRequest& request, RestVersion version) {
  json::object body = json::parse(RestSubmission(batch, request, version)).as_object();
  EXPECT_EQ(body["script"].as_string(), JobScript(batch, request));
  body.erase("script");
  return body;
}

TEST(RestSubmission, OfAPlainJobSince2302) {
  const GangRequest request{.components = {Gpus("a100")}};
  for (const RestVersion version : {RestVersion::k39, RestVersion::k40, RestVersion::k41, RestVersion::k42}) {
    EXPECT_EQ(Asked(BatchOf(), request, version), json::parse(R"({"job": {
      "name": "ty-1f3a-17-1", "comment": "trainyard:2", "current_working_directory": "/",
      "standard_output": "/dev/null", "requeue": false, "kill_on_node_fail": false,
      "environment": ["SLURM_CPUS_PER_TASK=4", "SLURM_GPUS_PER_TASK=a100:2", "SLURM_NTASKS=2"],
      "tasks": 2, "cpus_per_task": 4, "tres_per_task": "gres:gpu:a100:2",
      "memory_per_cpu": {"set": true, "infinite": false, "number": 1000},
      "time_limit": {"set": true, "infinite": false, "number": 90},
      "kill_warning_signal": "URG", "kill_warning_delay": {"set": true, "infinite": false, "number": 120},
      "deadline": 1800000000, "nice": 50,
      "partition": "gpu", "account": "lab", "qos": "high", "constraints": "nvlink"}})"));
  }
}

TEST(RestSubmission, OfAPlainJobIn2205) {
  EXPECT_EQ(Asked(BatchOf(), {.components = {Gpus("")}}, RestVersion::k38), json::parse(R"({"job": {
      "name": "ty-1f3a-17-1", "comment": "trainyard:2", "current_working_directory": "/",
      "standard_output": "/dev/null", "no_requeue": true, "no_kill": "set",
      "environment": {"SLURM_NTASKS": "2", "SLURM_CPUS_PER_TASK": "4", "SLURM_GPUS_PER_TASK": "2"},
      "tasks": 2, "cpus_per_task": 4, "gpus_per_task": "2", "memory_per_cpu": 1000, "time_limit": 90,
      "signal": "URG@120", "deadline": "uts1800000000", "nice": 50,
      "partition": "gpu", "account": "lab", "qos": "high", "constraints": "nvlink"}})"));
}

TEST(RestSubmission, OfSeveralComponentsTellsTheirSizesToTheStep) {
  const BatchJob batch{.installation = "1f3a",
                       .submission = {.gang = {.job_uid = 17, .try_number = 1}, .number = 2}};
  const GangRequest request{.components = {Gpus("t4"), {.replicas = {2}}}};
  const json::value asked = Asked(batch, request, RestVersion::k42);
  EXPECT_EQ(asked.at("jobs").at(0).at("environment"),
            json::parse(R"(["SLURM_CPUS_PER_TASK_HET_GROUP_0=4", "SLURM_CPUS_PER_TASK_HET_GROUP_1=1",
                            "SLURM_GPUS_PER_TASK_HET_GROUP_0=t4:2", "SLURM_NTASKS_HET_GROUP_0=2",
                            "SLURM_NTASKS_HET_GROUP_1=1"])"));
  const json::object second = asked.at("jobs").at(1).as_object();
  EXPECT_EQ(second.at("name"), "ty-1f3a-17-1") << "each component is found by the name";
  EXPECT_EQ(second.at("tasks"), 1);
  for (const char* absent : {"kill_on_node_fail", "tres_per_task", "memory_per_cpu", "time_limit", "deadline",
                             "nice", "partition", "constraints"})
    EXPECT_FALSE(second.contains(absent)) << absent;
  EXPECT_FALSE(Asked(batch, request, RestVersion::k38).at("jobs").at(0).as_object().contains("no_kill"))
      << "Slurm leaves half of such a job alive";
}

TEST(RestTarget, NamesTheVersion) {
  EXPECT_EQ(RestTarget(RestVersion::k40, "jobs"), "/slurm/v0.0.40/jobs");
  EXPECT_EQ(RestJobTarget(RestVersion::k38, 17), "/slurm/v0.0.38/job/17");
}

}  // namespace
}  // namespace trainyard::slurm

#include "cli/top/top_view.h"

#include <gtest/gtest.h>

#include "base/wire/json_tree.h"

namespace trainyard::cli {
namespace {

constexpr const char* kReport = R"({
  "jobs": [
    {"project": "research", "jobId": "census", "creator": "user:ann@example.com", "state": "RUNNING",
     "since": "x", "replicas": 2, "holds": true, "cpus": 8, "memoryBytes": "32212254720", "machineShare": 0.5,
     "accelerators": "2 NVIDIA_TESLA_T4",
     "devices": [{"type": "nvidia-tesla-t4", "index": "0"}, {"type": "nvidia-tesla-t4", "index": "1"}]},
    {"project": "p", "jobId": "tune", "trialId": "3", "state": "QUEUED", "since": "x", "cpus": 4.5,
     "accelerators": "1 NVIDIA_TESLA_T4", "position": "1", "reason": "Waiting for room."},
    {"project": "p", "jobId": "later", "state": "QUEUED", "since": "x", "cpus": 1, "position": "2"}],
  "machine": {"cpus": 16, "cpusHeld": 8, "memoryBytes": "68719476736", "memoryBytesHeld": "32212254720",
              "devices": [{"type": "nvidia-tesla-t4", "index": "0", "jobId": "census"},
                          {"type": "nvidia-tesla-t4", "index": "1", "jobId": "census"},
                          {"type": "nvidia-tesla-t4", "index": "2"}]},
  "projects": [{"project": "research", "running": 1, "share": 0.62, "weight": 2,
                "use": {"cpuSeconds": 5400, "acceleratorSeconds": 3600}, "logBytes": "1073741824",
                "quotas": [{"subject": "project:*", "resource": "gpus", "limit": "4"},
                           {"subject": "project:*", "resource": "jobs"}]}]})";

TEST(TopView, ShowsWhoHasWhatAndWhoWaits) {
  const TopView view = MakeTopView(wire::ParseJsonTree(kReport).value(), 10);
  EXPECT_EQ(view.machine, "CPUs 8 of 16 held, memory 30 of 64 GiB, nvidia-tesla-t4 2 of 3");
  ASSERT_EQ(view.running.size(), 2);
  EXPECT_EQ(view.running[1],
            (std::vector<std::string>{"census", "research", "ann@example.com", "RUNNING", "x", "2", "8", "30",
                                      "50 %", "nvidia-tesla-t4 0,1", ""}));
  ASSERT_EQ(view.waiting.size(), 3);
  EXPECT_EQ(view.waiting[1], (std::vector<std::string>{"1", "tune/3", "p", "-", "x", "4.5",
                                                       "1 NVIDIA_TESLA_T4", "Waiting for room."}));
  ASSERT_EQ(view.projects.size(), 2);
  EXPECT_EQ(view.projects[1], (std::vector<std::string>{"research", "1", "0", "62 %", "1.5", "1", "2", "0",
                                                        "1", "gpus=4 jobs=0"}));
  EXPECT_EQ(view.left_out, 0);
}

TEST(TopView, ShowsWhatAClusterGave) {
  const TopView view = MakeTopView(wire::ParseJsonTree(R"({
    "jobs": [{"jobId": "j", "project": "p", "state": "RUNNING", "since": "x", "replicas": 2, "holds": true,
              "cpus": 8, "nodes": ["node1", "node2"],
              "devices": [{"type": "nvidia-tesla-t4", "index": "0", "node": "node1"},
                          {"type": "nvidia-tesla-t4", "index": "0", "node": "node2"}]}],
    "projects": [{"project": "p", "running": 1, "weight": 1,
                  "quotas": [{"resource": "gpus", "limit": "4"},
                             {"resource": "gpus", "limit": "16", "engine": "slurm"}]}]})")
                                       .value(),
                                   10);
  ASSERT_EQ(view.running.size(), 2);
  EXPECT_EQ(view.running[1],
            (std::vector<std::string>{"j", "p", "-", "RUNNING", "x", "2", "8", "0", "-",
                                      "nvidia-tesla-t4 node1:0,node2:0", "on node1, node2"}));
  EXPECT_EQ(view.projects.at(1).back(), "gpus=4 gpus@slurm=16");
}

TEST(TopView, LeavesOutTheEndOfALongQueue) {
  const TopView view = MakeTopView(wire::ParseJsonTree(kReport).value(), 1);
  EXPECT_EQ(view.waiting.size(), 2);
  EXPECT_EQ(view.left_out, 1);
}

TEST(TopView, AnEmptyReportIsHeadings) {
  const TopView view = MakeTopView(wire::ParseJsonTree("{}").value(), 1);
  EXPECT_EQ(view.machine, "CPUs 0 of 0 held, memory 0 of 0 GiB");
  EXPECT_EQ(view.running.size(), 1);
}

}  // namespace
}  // namespace trainyard::cli

#include "control/views/usage_report.h"

#include <gtest/gtest.h>

#include <google/protobuf/text_format.h>

namespace trainyard::control {
namespace {

template <class Message>
Message Read(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

TEST(UsageReport, SaysWhatAJobHoldsAndSinceWhen) {
  const auto job = Read<v1::JobRecord>(R"(
    project: "research" creator: "user:ann" reserved: true
    job { job_id: "census" state: RUNNING create_time { seconds: 10 } start_time { seconds: 20 } }
    running_time { seconds: 30 }
    replicas { cpus: 4 memory_bytes: 100 accelerators { type: NVIDIA_TESLA_T4 count: 1 }
               slot { devices { gpus: "0" } } }
    replicas { cpus: 2 memory_bytes: 50 })");
  const v1::UsageReport::Job shown = UsageOf(job, std::nullopt);
  EXPECT_EQ(shown.DebugString(), Read<v1::UsageReport::Job>(R"(
    project: "research" job_id: "census" creator: "user:ann" state: RUNNING
    since { seconds: 30 } create_time { seconds: 10 } replicas: 2 holds: true cpus: 6 memory_bytes: 150
    accelerators: "1 NVIDIA_TESLA_T4" devices { index: "0" project: "research" job_id: "census" })")
                                     .DebugString());
}

TEST(UsageReport, WhatAClusterGaveIsNothingOfThisMachine) {
  const auto job = Read<v1::JobRecord>(R"(
    project: "p" reserved: true job { job_id: "j" state: RUNNING }
    replicas { cpus: 4 accelerators { type: NVIDIA_TESLA_P4 count: 1 }
               slot { node: "node2" agent: "a/0" devices { gpus: "0" } } }
    replicas { cpus: 4 slot { node: "node1" agent: "a/1" } }
    replicas { cpus: 4 slot { node: "node2" agent: "a/2" } })");
  auto report = Read<v1::UsageReport>(R"(
    machine { cpus: 16 devices { type: "nvidia-tesla-t4" index: "0" } })");
  *report.add_jobs() = UsageOf(job, std::nullopt);
  CompleteReport(report);
  EXPECT_EQ(report.jobs(0).DebugString(), Read<v1::UsageReport::Job>(R"(
    project: "p" job_id: "j" state: RUNNING since {} create_time {} replicas: 3 holds: true cpus: 12
    accelerators: "1 NVIDIA_TESLA_P4"
    devices { type: "nvidia-tesla-p4" index: "0" project: "p" job_id: "j" node: "node2" }
    nodes: "node1" nodes: "node2")")
                                              .DebugString());
}

TEST(UsageReport, SaysWhyAJobWaits) {
  const auto job = Read<v1::JobRecord>(R"(
    project: "p" job { job_id: "j" state: QUEUED create_time { seconds: 10 } } replicas { cpus: 4 })");
  const v1::UsageReport::Job shown =
      UsageOf(job, jobs::Waiting{.cause = "turn", .position = 3, .reason = "R.", .unblock = "U."});
  EXPECT_EQ(shown.position(), 3);
  EXPECT_EQ(shown.reason(), "R.");
  EXPECT_FALSE(shown.holds());
  EXPECT_EQ(shown.since().seconds(), 10);
}

TEST(UsageReport, IsCompletedOnceAndForAll) {
  auto report = Read<v1::UsageReport>(R"(
    jobs { project: "b" job_id: "waits" position: 2 cpus: 1 }
    jobs { project: "b" job_id: "next" position: 1 cpus: 1 }
    jobs { project: "a" job_id: "images" cpus: 1 }
    jobs { project: "a" job_id: "runs" holds: true cpus: 4 memory_bytes: 75 devices { index: "1" } }
    machine { cpus: 16 memory_bytes: 100 devices { type: "nvidia-tesla-t4" index: "0" }
              devices { type: "nvidia-tesla-p4" index: "1" } }
    projects { project: "z" share: 1 weight: 2 })");
  CompleteReport(report);
  std::vector<std::string> order;
  for (const auto& job : report.jobs()) order.push_back(job.job_id());
  EXPECT_EQ(order, (std::vector<std::string>{"runs", "next", "waits", "images"}));
  EXPECT_EQ(report.jobs(0).machine_share(), 0.75);
  EXPECT_EQ(report.jobs(0).devices(0).type(), "nvidia-tesla-p4");
  ASSERT_EQ(report.projects_size(), 3);
  EXPECT_EQ(report.projects(0).running(), 1);
  EXPECT_EQ(report.projects(0).queued(), 1);
  EXPECT_EQ(report.projects(0).weight(), 1);
  EXPECT_EQ(report.projects(2).weight(), 2);
  const std::string once = report.DebugString();
  CompleteReport(report);
  EXPECT_EQ(report.DebugString(), once);
}

}  // namespace
}  // namespace trainyard::control

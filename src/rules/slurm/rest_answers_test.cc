#include "rules/slurm/rest_answers.h"

#include <gmock/gmock.h>

namespace trainyard::slurm {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const JobOwner kOwner{.number = 1000, .name = "ada"};

std::vector<ListedJob> Jobs(const std::string& jobs) {
  return ParseRestJobs(R"({"jobs": [)" + jobs + "]}", kOwner).value();
}

TEST(RestJobs, InTheFormsOf2205AndOf2411AreTheSame) {
  const ListedJob job{.id = 7,
                      .name = "ty-1f3a-17-1",
                      .comment = "trainyard:1",
                      .state = JobState::kRunning,
                      .state_text = "RUNNING",
                      .nodes = "node[1-2]",
                      .reason = "None"};
  const std::string same = R"("name": "ty-1f3a-17-1", "comment": "trainyard:1", "nodes": "node[1-2]",
                              "state_reason": "None", "state_description": "", "user_name": "ada")";
  EXPECT_THAT(Jobs(R"({"job_id": 7, "job_state": "RUNNING", )" + same + "}"), ElementsAre(job));
  EXPECT_THAT(Jobs(R"({"job_id": {"set": true, "infinite": false, "number": 7}, "job_state": ["RUNNING"], )" +
                   same + "}"),
              ElementsAre(job));
}

TEST(RestJobs, TheFlagThatSqueueShowsIsTheState) {
  const auto state_of = [](const std::string& states) {
    return Jobs(R"({"job_id": 7, "user_id": 1000, "job_state": )" + states + "}").at(0).state_text;
  };
  EXPECT_EQ(state_of(R"(["CANCELLED", "COMPLETING"])"), "COMPLETING");
  EXPECT_EQ(state_of(R"(["RUNNING", "POWER_UP_NODE", "CONFIGURING"])"), "CONFIGURING");
  EXPECT_EQ(state_of(R"(["RUNNING", "POWER_UP_NODE"])"), "RUNNING");
  EXPECT_EQ(state_of(R"(["PENDING", "REQUEUED"])"), "REQUEUED");
  EXPECT_EQ(state_of(R"([])"), "");
}

TEST(RestJobs, ADescriptionSaysMoreThanTheReason) {
  EXPECT_EQ(Jobs(R"({"job_id": 7, "user_id": 1000, "job_state": "PENDING", "state_reason": "ReqNodeNotAvail",
                     "state_description": "ReqNodeNotAvail, UnavailableNodes:node4"})")
                .at(0)
                .reason,
            "ReqNodeNotAvail, UnavailableNodes:node4");
}

TEST(RestJobs, AreTheAccountsOwn) {
  const auto is_listed = [](const std::string& user) {
    return !Jobs(R"({"job_id": 7, "job_state": "RUNNING", )" + user + "}").empty();
  };
  EXPECT_TRUE(is_listed(R"("user_id": 1000, "user_name": "")"));
  EXPECT_TRUE(is_listed(R"("user_id": 77, "user_name": "ada")")) << "another number on that machine";
  EXPECT_FALSE(is_listed(R"("user_id": 77, "user_name": "bob")"));
  EXPECT_FALSE(is_listed(R"("user_name": "")"));
  const std::string nameless = R"({"jobs": [{"job_id": 7, "user_id": 0, "user_name": ""}]})";
  EXPECT_THAT(ParseRestJobs(nameless, {.number = 1000}).value(), IsEmpty());
}

TEST(RestJobs, WhatIsNoListIsNotAnEmptyOne) {
  EXPECT_THAT(Jobs(""), IsEmpty());
  EXPECT_THAT(Jobs(R"({"user_id": 1000}, 7)"), IsEmpty()) << "without an id it is no job";
  for (const char* answer : {"", "[]", "{}", R"({"jobs": {}})", "<html>502</html>"})
    EXPECT_EQ(ParseRestJobs(answer, kOwner).error().code, Code::kInternal) << answer;
}

TEST(RestNodes, AreOncePerPartition) {
  const std::string nodes = R"({"nodes": [
      {"name": "n1", "cpus": 4, "real_memory": 4000, "state": "allocated", "address": "10.0.0.1",
       "state_flags": ["DRAIN", "NOT_RESPONDING"], "gres": "gpu:t4:2", "partitions": ["main", "night", "gone"]}]})";
  const std::string partitions = R"({"partitions": [
      {"name": "main", "flags": ["default"], "max_time_limit": -1, "state": "UP"},
      {"name": "night", "partition": {"state": ["UP"]},
       "maximums": {"time": {"set": true, "infinite": false, "number": 60}}}]})";
  const Node main{.partition = "main",
                  .default_partition = true,
                  .partition_up = true,
                  .name = "n1",
                  .cpus = 4,
                  .memory_mib = 4000,
                  .state = "drng*",
                  .address = "10.0.0.1",
                  .gpus = {{.type = "t4", .count = 2}}};
  Node night = main;
  night.partition = "night";
  night.default_partition = false;
  night.time_limit_minutes = 60;
  Node gone = night;
  gone.partition = "gone";
  gone.partition_up = false;
  gone.time_limit_minutes = 0;
  EXPECT_THAT(ParseRestNodes(nodes, partitions).value(), ElementsAre(main, night, gone));
}

TEST(RestNodes, TheOnlyPartitionIsTheDefault) {
  const auto nodes_of = [](const std::string& partitions) {
    return ParseRestNodes(R"({"nodes": [{"name": "n1", "partitions": ["main"]}]})",
                          R"({"partitions": [)" + partitions + "]}")
        .value();
  };
  EXPECT_TRUE(nodes_of(R"({"name": "main"})").at(0).default_partition);
  EXPECT_FALSE(nodes_of(R"({"name": "main"}, {"name": "night"})").at(0).default_partition);
  EXPECT_FALSE(ParseRestNodes(R"({"nodes": []})", "{}"));
  EXPECT_FALSE(ParseRestNodes("{}", R"({"partitions": []})"));
}

TEST(RestNodes, StatesAreSinfosWords) {
  const auto state_of = [](const std::string& states) {
    return ParseRestNodes(R"({"nodes": [{"name": "n1", "partitions": ["main"], "state": )" + states + "}]}",
                          R"({"partitions": [{"name": "main"}]})")
        .value()
        .at(0);
  };
  struct Row {
    const char* states;
    const char* word;
    bool usable;
  };
  for (const auto& [states, word, usable] :
       {Row{R"("idle")", "idle", true}, Row{R"(["MIXED", "PLANNED"])", "mix", true},
        Row{R"(["DOWN", "NOT_RESPONDING"])", "down*", false}, Row{R"(["IDLE", "DRAIN"])", "drain", false},
        Row{R"(["IDLE", "COMPLETING", "DRAIN"])", "drng", false}, Row{R"(["IDLE", "FAIL"])", "fail", false},
        Row{R"(["UNKNOWN"])", "unk", false}, Row{R"(["IDLE", "INVALID_REG"])", "inval", false},
        Row{R"(["ALLOCATED"])", "alloc", true}}) {
    EXPECT_EQ(state_of(states).state, word);
    EXPECT_EQ(IsUsable(state_of(states)), usable) << states;
  }
}

TEST(RestErrors, AreInSlurmsWords) {
  EXPECT_EQ(ParseRestError(R"({"errors": [], "warnings": [{"description": "odd"}]})"), "");
  EXPECT_EQ(
      ParseRestError(R"({"errors": [{"error_code": 2000, "error": "Invalid partition name specified"}]})"),
      "Invalid partition name specified");
  EXPECT_EQ(ParseRestError(R"({"errors": [{"error": "Unspecified error", "error_number": -1,
                                           "description": "Failed while looking for jobs"}]})"),
            "Failed while looking for jobs");
  EXPECT_EQ(ParseRestError(R"({"errors": [7, {}], "status": [{"error": {"string": "No error"}},
                               {"error": {"string": "Access/permission denied", "code": 2002}}]})"),
            "Access/permission denied");
  EXPECT_EQ(ParseRestError("Unable find requested URL."), "");
}

TEST(RestSubmitted, HasTheId) {
  EXPECT_EQ(ParseRestSubmitted(R"({"job_id": 17, "errors": [{"error": "it waits"}]})"), 17);
  EXPECT_EQ(ParseRestSubmitted(R"({"job_id": 0})"), -1);
  EXPECT_EQ(ParseRestSubmitted(R"({"errors": []})"), -1);
  EXPECT_EQ(ParseRestSubmitted("17"), -1);
}

}  // namespace
}  // namespace trainyard::slurm

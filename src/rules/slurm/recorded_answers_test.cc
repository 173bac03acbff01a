#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "rules/slurm/commands.h"
#include "rules/slurm/job_list.h"
#include "rules/slurm/node_list.h"
#include "rules/slurm/rest.h"
#include "rules/slurm/rest_answers.h"

/// The output of real clusters of three versions: testing/recorded.
namespace trainyard::slurm {
namespace {

namespace json = boost::json;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

const JobOwner kRoot{.number = 0, .name = "root"};

std::string Recorded(const std::string& file) {
  std::ifstream stream(std::filesystem::path(RECORDED_ANSWERS) / file);
  EXPECT_TRUE(stream.is_open()) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A recorded list of squeue. Those that were recorded before times were requested get their columns,
/// without a time.
std::string RecordedList(const std::string& file) {
  const std::string text = Recorded(file);
  if (text.contains("|START_TIME|")) return text;
  std::istringstream recorded(text);
  std::string list;
  std::string line;
  for (bool is_header = true; std::getline(recorded, line); is_header = false) {
    std::size_t bar = line.find('|');
    for (int field = 1; field < 3 && bar != std::string::npos; ++field) bar = line.find('|', bar + 1);
    if (bar != std::string::npos) line.insert(bar + 1, is_header ? "START_TIME|SUBMIT_TIME|" : "N/A|N/A|");
    list += line + "\n";
  }
  return list;
}

class OfTools : public testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static std::string Text(const std::string& name) {
    return Recorded(std::string(GetParam()) + "/" + name);
  }
  [[nodiscard]] static json::value Said() { return json::parse(Text("tools.json")); }
};

TEST_P(OfTools, JobsAreListed) {
  std::map<std::string, std::pair<std::string, std::string>> found;
  std::string of_bars;
  for (const ListedJob& job : ParseJobList(RecordedList(std::string(GetParam()) + "/squeue.txt")).value()) {
    found[job.name] = {job.state_text, job.reason};
    if (job.name == "a") of_bars = job.state_text;
  }
  EXPECT_EQ(of_bars, "PENDING") << "a bar in a name hides no state";
  found.erase("a");
  EXPECT_THAT(found["drained"].second, HasSubstr("ReqNodeNotAvail, "));
  found.erase("drained");
  const std::map<std::string, std::pair<std::string, std::string>> expected{
      {"ty-1f3a-1-1", {"RUNNING", "None"}},
      {"ty-1f3a-2-1", {"NODE_FAIL", "NodeDown"}},
      {"ty-1f3a-3-1", {"CANCELLED", "None"}},
      {"ty-1f3a-4-1", {"RUNNING", "None"}},
      {"done", {"COMPLETED", "None"}},
      {"failed", {"FAILED", "NonZeroExitCode"}},
      {"later", {"PENDING", "BeginTime"}},
      {"after", {"PENDING", "Dependency"}},
      {"never", {"PENDING", "DependencyNeverSatisfied"}},
      {"long", {"PENDING", "PartitionTimeLimit"}},
      {"wide", {"PENDING", "PartitionNodeLimit"}},
      {"shut", {"PENDING", "PartitionDown"}},
      {"big", {"PENDING", "Resources"}},
      {"behind", {"PENDING", "Priority"}}};
  EXPECT_EQ(found, expected);
}

TEST_P(OfTools, AJobIsListedWithItsComponents) {
  const std::vector<ListedJob> components =
      ParseJobList(RecordedList(std::string(GetParam()) + "/squeue-het.txt")).value();
  ASSERT_THAT(components, SizeIs(2));
  EXPECT_THAT(components, Each(Field(&ListedJob::name, "ty-1f3a-4-1")));
  EXPECT_EQ(components[1].id, components[0].id + 1);
}

TEST_P(OfTools, NodesAreListed) {
  const std::vector<Node> nodes = ParseNodeList(Text("sinfo.txt")).value();
  EXPECT_THAT(nodes, SizeIs(2 + 6 * 4)) << "two nodes of night, four of each other one";
  for (const Node& node : nodes) {
    EXPECT_EQ(node.default_partition, node.partition == "main");
    EXPECT_EQ(node.partition_up, node.partition != "down" && node.partition != "closed");
    EXPECT_EQ(node.time_limit_minutes, node.partition == "night" ? 60 : 0);
    EXPECT_EQ(IsUsable(node), node.name == "node1" || node.name == "node2") << node.name << node.state;
    EXPECT_EQ(node.gpus, (std::vector<NodeGpus>{{.type = "nvidia_tesla_t4", .count = 2}}));
    EXPECT_EQ(node.cpus, 4);
    EXPECT_EQ(node.memory_mib, 4000);
    EXPECT_EQ(node.address, "127.0.0.1");
  }
}

const std::map<std::string, Failure> kRefusals{
    {"closed", Failure::kLater},      {"constraint", Failure::kMistake}, {"cpus", Failure::kNever},
    {"deadline", Failure::kNever},    {"dependency", Failure::kMistake}, {"gpu_type", Failure::kNever},
    {"gpus", Failure::kNever},        {"group", Failure::kMistake},      {"licence", Failure::kMistake},
    {"memory", Failure::kNever},      {"nodes", Failure::kMistake},      {"option", Failure::kMistake},
    {"partition", Failure::kMistake}, {"reservation", Failure::kMistake}};

TEST_P(OfTools, RefusalsAreUnderstood) {
  int refused = 0;
  for (const auto& [name, said] : Said().at("sbatch").as_object()) {
    if (said.at("exit") == 0) {  // accepted, and pending for ever: the list has the reason
      EXPECT_GT(ParseSubmitted(said.at("printed").as_string()), 0) << name;
      continue;
    }
    ++refused;
    EXPECT_EQ(FailureOf(said.at("said").as_string()), kRefusals.at(name)) << said;
    EXPECT_THAT(WordsOf(said.at("said").as_string()), testing::Not(IsEmpty()));
  }
  EXPECT_GE(refused, 12);
}

TEST_P(OfTools, WhatIsGoneIsNoControllerThatIsDown) {
  const json::value said = Said();
  for (const char* name : {"gone", "scancel_gone", "scancel_ended"})
    EXPECT_EQ(FailureOf(said.at(name).at("said").as_string()), Failure::kGone) << name;
  EXPECT_EQ(said.at("scancel_other_name").at("exit"), 0);
  for (const char* tool : {"squeue", "sinfo", "sbatch"}) {
    const json::string& words = said.at("down").at(tool).at("said").as_string();
    EXPECT_EQ(FailureOf(words), Failure::kNoAnswer);
    EXPECT_EQ(WordsOf(words), "Unable to contact slurm controller (connect failure)");
  }
}

std::string VersionName(const char* version) {
  std::string name = version;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == '/' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Versions, OfTools, testing::Values("20.11.4", "22.05.8", "24.11.5"),
                         [](const auto& row) { return "Slurm" + VersionName(row.param); });

struct RestRow {
  const char* slurm;
  RestVersion version;
};

class OfSlurmrestd : public testing::TestWithParam<RestRow> {
 protected:
  [[nodiscard]] static std::string Folder() { return std::string(GetParam().slurm) + "/"; }
  [[nodiscard]] static json::value Said() {
    return json::parse(
        Recorded(Folder() + "rest-v0.0." + std::to_string(static_cast<int>(GetParam().version)) + ".json"));
  }
  [[nodiscard]] static std::string Answer(const json::value& said) {
    return json::serialize(said.at("answer"));
  }
};

TEST_P(OfSlurmrestd, JobsAreThoseOfSqueue) {
  std::vector<ListedJob> listed = ParseJobList(RecordedList(Folder() + "squeue.txt")).value();
  ListedJob& barred = *std::ranges::find(listed, "a", &ListedJob::name);
  barred.name = "a|b";  // which squeue cannot print unambiguously
  barred.comment = "of whom|ever";
  barred.reason = "JobHeldUser";
  EXPECT_THAT(ParseRestJobs(Answer(Said().at("jobs")), kRoot).value(), UnorderedElementsAreArray(listed));
  EXPECT_THAT(ParseRestJobs(Answer(Said().at("jobs")), {.number = 65'534}).value(),
              testing::ElementsAre(Field(&ListedJob::name, "ty-1f3a-1-1")))
      << "another account's, with a name as ours have";
  EXPECT_THAT(ParseRestJobs(Answer(Said().at("job")), kRoot).value(),
              UnorderedElementsAreArray(ParseJobList(RecordedList(Folder() + "squeue-het.txt")).value()));
}

TEST_P(OfSlurmrestd, NodesAreThoseOfSinfo) {
  std::vector<Node> nodes = ParseNodeList(Recorded(Folder() + "sinfo.txt")).value();
  if (GetParam().version != RestVersion::k38)
    for (Node& node : nodes) node.default_partition = false;  // which the response does not contain
  EXPECT_THAT(ParseRestNodes(Answer(Said().at("nodes")), Answer(Said().at("partitions"))).value(),
              UnorderedElementsAreArray(nodes));
}

TEST_P(OfSlurmrestd, SubmissionsHaveAnIdOrARefusal) {
  const json::value said = Said();
  EXPECT_GT(ParseRestSubmitted(Answer(said.at("submitted"))), 0);
  EXPECT_EQ(ParseRestError(Answer(said.at("submitted"))), "");
  EXPECT_GT(ParseRestSubmitted(Answer(said.at("waits"))), 0) << "in 22.05 with an error";
  int refused = 0;
  for (const auto& [name, one] : said.at("refused").as_object()) {
    if (ParseRestSubmitted(Answer(one)) > 0 || name == "form") continue;
    ++refused;
    EXPECT_EQ(FailureOf(ParseRestError(Answer(one))), kRefusals.at(name)) << one;
  }
  EXPECT_GE(refused, 9);
  EXPECT_EQ(ParseRestSubmitted(Answer(said.at("refused").at("form"))), -1);
}

TEST_P(OfSlurmrestd, WhatIsGoneIsNoControllerThatIsDown) {
  const json::value said = Said();
  EXPECT_EQ(FailureOf(ParseRestError(Answer(said.at("gone")))), Failure::kGone);
  EXPECT_EQ(ParseRestError(Answer(said.at("deleted"))), "");
  for (const char* again : {"deleted_again", "deleted_gone"}) {
    const std::string words = ParseRestError(Answer(said.at(again)));
    EXPECT_TRUE(words.empty() || FailureOf(words) == Failure::kGone) << words;
  }
  for (const char* question : {"jobs", "submit"}) {
    const json::value& down = said.at("down").at(question);
    EXPECT_GE(down.at("status").as_int64(), 500) << "an empty list of jobs may come with it";
    EXPECT_EQ(FailureOf(ParseRestError(Answer(down))), Failure::kNoAnswer);
  }
  EXPECT_EQ(said.at("unknown").at("status"), 404);
  EXPECT_EQ(ParseRestError(Answer(said.at("unknown"))), "") << "unlike a job that is gone";
}

INSTANTIATE_TEST_SUITE_P(Versions, OfSlurmrestd,
                         testing::Values(RestRow{"22.05.8", RestVersion::k38},
                                         RestRow{"24.11.5", RestVersion::k40},
                                         RestRow{"24.11.5", RestVersion::k41},
                                         RestRow{"24.11.5", RestVersion::k42}),
                         [](const auto& row) {
                           return "v" + std::to_string(static_cast<int>(row.param.version)) + "OfSlurm" +
                                  VersionName(row.param.slurm);
                         });

}  // namespace
}  // namespace trainyard::slurm

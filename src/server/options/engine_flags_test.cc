#include "server/options/flag.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "rules/placement/accelerator_map.h"
#include "rules/placement/device.h"

namespace trainyard::server {
namespace {

using Kind = engine::EngineOptions::Kind;
using Words = std::vector<std::string>;

Result<ServeOptions> Read(const Words& words) {
  const auto read = ReadServeFlags(words);
  if (!read) return std::unexpected(read.error());
  return read->value_or(ServeOptions{});
}

TEST(Regions, AreHereOnSlurmOrInAPartition) {
  const auto options = Read({"--regions", "us-central1=gpu", "--regions", "us-east1=slurm", "--regions",
                             "us-west1=slurm:slurm", "--regions", "europe-west1=local"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->engine.regions, (std::map<std::string, Kind>{{"us-central1", Kind::kSlurm},
                                                                  {"us-east1", Kind::kSlurm},
                                                                  {"us-west1", Kind::kSlurm},
                                                                  {"europe-west1", Kind::kLocal}}));
  EXPECT_EQ(options->engine.slurm.regions,
            (std::map<std::string, std::string>{{"us-central1", "gpu"}, {"us-west1", "slurm"}}));
}

struct WrongRow {
  const char* name;
  Words regions;
  const char* why;
};
class RegionsRefuse : public testing::TestWithParam<WrongRow> {};
TEST_P(RegionsRefuse, WhatIsWrong) {
  Words words;
  for (const std::string& region : GetParam().regions) {
    words.emplace_back("--regions");
    words.push_back(region);
  }
  const auto read = Read(words);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(), InvalidArgument("--regions", GetParam().why));
}
INSTANTIATE_TEST_SUITE_P(
    Rules, RegionsRefuse,
    testing::Values(WrongRow{"region", {"mars=gpu"}, "'mars' is not a region of Google Cloud"},
                    WrongRow{"nothing", {"us-central1="}, "'us-central1=' is not NAME=VALUE"},
                    WrongRow{"no_name",
                             {"us-central1=slurm:"},
                             "'slurm:' must be local, slurm, slurm:PARTITION, kubernetes, "
                             "kubernetes:LABEL=VALUE or PARTITION"},
                    WrongRow{"engine",
                             {"us-central1=k8s:gpu"},
                             "'k8s:gpu' must be local, slurm, slurm:PARTITION, kubernetes, "
                             "kubernetes:LABEL=VALUE or PARTITION"},
                    WrongRow{"list",
                             {"us-central1=gpu,cpu"},
                             "'gpu,cpu' must be local, slurm, slurm:PARTITION, kubernetes, "
                             "kubernetes:LABEL=VALUE or PARTITION"},
                    WrongRow{
                        "twice", {"us-central1=gpu", "us-central1=local"}, "'us-central1' is given twice"}),
    [](const auto& row) { return row.param.name; });

TEST(AgentAddress, IsWhereNodesReachTheServer) {
  const auto options = Read({"--agent-listen", "0.0.0.0:8471", "--agent-address", "10.96.0.7"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->engine.agent_host, "0.0.0.0");
  EXPECT_EQ(options->engine.agent_port, 8'471);
  EXPECT_EQ(options->engine.agent_address, "10.96.0.7");
  EXPECT_EQ(options->engine.agent_address_port, 0) << "the port on which the server listens";
  EXPECT_EQ(Read({"--agent-address", "[fd00::1]:443"})->engine.agent_address_port, 443);
  EXPECT_TRUE(CheckOptionRules(*options));
}

TEST(AgentAddress, IsANumber) {
  for (const std::string text : {"trainyard.lab:1", "$(TRAINYARD_AGENTS_SERVICE_HOST)", "10.0.0.5:0"}) {
    const auto read = Read({"--agent-address", text});
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().field, "--agent-address");
  }
}

TEST(AgentAddress, IsNeededIfTheServerListensOnAllOfThem) {
  const auto read = Read({"--agent-listen", "0.0.0.0:8471"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error(),
            InvalidArgument("--agent-listen",
                            "0.0.0.0 needs --agent-address: the address at which nodes reach it"));
}

TEST(ContainerUser, IsANumberOrTheImages) {
  EXPECT_EQ(Read({})->engine.kubernetes.container_user, 1'000);
  EXPECT_EQ(Read({"--kubernetes-container-user", "0"})->engine.kubernetes.container_user, 0);
  EXPECT_EQ(Read({"--kubernetes-container-user", "image"})->engine.kubernetes.container_user, std::nullopt);
  for (const std::string text : {"root", "-1", "2147483648", ""})
    EXPECT_FALSE(Read({"--kubernetes-container-user", text})) << text;
}

TEST(Quotas, AreOfEnginesThatJobsGoTo) {
  const auto check = [](const Words& words) -> Status {
    TY_TRY(const ServeOptions options, Read(words));
    return CheckOptionRules(options);
  };
  EXPECT_TRUE(check({"--quota", "project:*:gpus=1", "--quota", "project:*:jobs@local=1"}));
  EXPECT_TRUE(check({"--quota", "project:*:jobs@slurm=1", "--regions", "us-central1=gpu"}));
  const Status refused = check({"--quota", "project:*:jobs@slurm=1"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            FailedPrecondition(
                "'project:*:jobs@slurm=1': no job runs on the engine slurm with this --engine and --regions",
                "--quota"));
  EXPECT_FALSE(check({"--quota", "project:*:jobs@local=1", "--engine", "slurm"}));
  EXPECT_TRUE(
      check({"--quota", "project:*:jobs@local=1", "--engine", "slurm", "--regions", "us-central1=local"}));
}

}  // namespace
}  // namespace trainyard::server

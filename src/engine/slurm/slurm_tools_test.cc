#include "engine/slurm/slurm_tools.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard::engine {
namespace {

/// A directory with programs that have the tools' names.
class SlurmToolsTest : public testing::Test {
 protected:
  SlurmToolsTest() {
    std::string pattern = testing::TempDir() + "slurm_tools_test.XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SlurmToolsTest() override { std::filesystem::remove_all(folder_); }

  void Make(const std::string& name, const std::string& script) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  Result<ToolAnswer> Run(slurm::Command command, std::string input = {},
                         std::chrono::milliseconds wait_max = std::chrono::seconds(20)) {
    return RunSlurmTool(std::move(command), input, {.folder = folder_.string(), .wait_max = wait_max});
  }

  std::filesystem::path folder_;
};

TEST_F(SlurmToolsTest, GivesTheScriptAndKeepsWarningsApart) {
  Make("sbatch", "echo 'sbatch: warning: odd' >&2; echo \"$1\"; cat");
  const std::string script(300'000, 'x');  // more than a pipe holds
  const Result<ToolAnswer> answer = Run({"sbatch", "--parsable"}, script);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->succeeded());
  EXPECT_EQ(answer->printed, "--parsable\n" + script);
  EXPECT_EQ(answer->said, "sbatch: warning: odd\n");
}

TEST_F(SlurmToolsTest, AToolThatFailsIsAnAnswer) {
  Make("scancel", "echo 'scancel: error: no' >&2; exit 3");
  const Result<ToolAnswer> answer = Run({"scancel", "7"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(answer->succeeded());
  EXPECT_EQ(answer->status.code, 3);
  EXPECT_EQ(answer->said, "scancel: error: no\n");
}

TEST_F(SlurmToolsTest, AToolThatHangsIsEndedAndOneThatIsNotThereIsSaid) {
  Make("squeue", "exec sleep 60");
  EXPECT_EQ(Run({"squeue"}, "", std::chrono::milliseconds(50)).error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(Run({"sinfo"}).error().code, Code::kNotFound);
}

TEST_F(SlurmToolsTest, WhatSlurmDoesNotDoIsARefusal) {
  const SlurmTools tools({.folder = folder_.string()});
  EXPECT_EQ(tools.Nodes().error().failure, slurm::Failure::kMistake) << "there is no sinfo";
  Make("sinfo", "echo 'sinfo: error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_EQ(tools.Nodes().error(),
            (SlurmRefusal{slurm::Failure::kNoAnswer, "Unable to contact slurm controller"}));
  Make("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  EXPECT_TRUE(tools.List(7)->empty()) << "it is gone";
  EXPECT_FALSE(tools.List(std::nullopt));
  Make("scancel", "[ \"$*\" = '--name=ty-a-1-1 7 8' ]");
  EXPECT_TRUE(tools.Cancel("ty-a-1-1", std::vector<std::int64_t>{7, 8}));
  Make("sbatch", "echo 'allocation failure: Requested node configuration is not available' >&2; exit 1");
  EXPECT_TRUE(tools.Check({.partition = "main"})) << "whether there is room is not asked";
  Make("sbatch", "grep -q -e '--account=lab' && echo 'allocation failure: Invalid account' >&2; exit 1");
  EXPECT_EQ(tools.Check({.account = "lab"}).error().failure, slurm::Failure::kMistake);
  Make("sbatch", "cat >/dev/null");
  const slurm::GangRequest request{.components = {{.replicas = {0}}}};
  EXPECT_EQ(tools.Submit({}, request).error().failure, slurm::Failure::kNoAnswer) << "it printed no id";
}

TEST(VariablesForTools, LeaveOutWhatToolsTakeForOptions) {
  const std::vector<std::string> kept = VariablesForTools({{"PATH", "/usr/bin"},
                                                           {"SLURM_CONF", "/etc/slurm/slurm.conf"},
                                                           {"SLURM_JOB_ID", "7"},
                                                           {"SBATCH_PARTITION", "long"},
                                                           {"SQUEUE_FORMAT", "%i"},
                                                           {"TZ", "Asia/Tokyo"}});
  EXPECT_EQ(kept, (std::vector<std::string>{"PATH=/usr/bin", "SLURM_CONF=/etc/slurm/slurm.conf", "TZ=UTC"}));
}

}  // namespace
}  // namespace trainyard::engine

#include "rules/placement/agent_boot.h"

#include <gmock/gmock.h>

namespace trainyard::placement::agent_boot_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const AgentSource kSource{
    .server_host = "10.0.0.1", .server_port = 7443, .certificate_sha256 = "c0ffee", .program_sha256 = "beef"};

TEST(AgentBoot, FindsTheProgramByItsDigest) {
  const std::string script = FindAgentScript(kSource);
  EXPECT_THAT(script, StartsWith("digest=beef host='10.0.0.1' port=7443\n"));
  for (const int status : {kExitNoDownload, kExitNoDirectory, kExitNoProgram})
    EXPECT_THAT(script, HasSubstr("exit " + std::to_string(status))) << "the constant is the script's status";
}

TEST(AgentBoot, TheShellBecomesTheAgent) {
  EXPECT_EQ(ExecAgentScript(kSource),
            "exec \"$program\" agent --server=10.0.0.1:7443 --fingerprint=c0ffee"
            " --slot=\"$slot\" --node=\"$node\" --gpus=\"$gpus\" --dir=\"$dir\"\n");
}

TEST(AgentBoot, AQuoteDoesNotEndAWord) {
  EXPECT_EQ(ShellQuoted("o'clock"), "'o'\\''clock'");
  EXPECT_EQ(ShellQuoted(""), "''");
}

}  // namespace
}  // namespace trainyard::placement::agent_boot_test

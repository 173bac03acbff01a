#include "engine/agent/arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trainyard::agent {
namespace {

const std::string kFingerprint(64, 'a');
const std::string kFlag = "--fingerprint=" + kFingerprint;

TEST(AgentArguments, AreRead) {
  const std::vector<std::string_view> words = {
      "--server=[::1]:8443", kFlag, "--slot=3", "--node=gpu-12.cluster", "--gpus=0,GPU-1a",
      "--dir=/var/tmp/t"};
  const Arguments expected{.server_host = "::1",
                           .server_port = 8443,
                           .fingerprint = kFingerprint,
                           .slot = 3,
                           .node = "gpu-12.cluster",
                           .gpus = {"0", "GPU-1a"},
                           .dir = "/var/tmp/t"};
  EXPECT_EQ(ParseArguments(words), expected);
}

TEST(AgentArguments, OfAPodAreRead) {
  const std::vector<std::string_view> words = {
      "--server=h:1",      kFlag, "--slot=0", "--node=n", "--dir=/d", "--cache=/c", "--front=127.71.67.80",
      "--starter=/run/p/s"};
  const auto parsed = ParseArguments(words);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->cache, "/c");
  EXPECT_EQ(parsed->front, "127.71.67.80");
  EXPECT_EQ(parsed->starter, "/run/p/s");
}

TEST(AgentArguments, NoGpusHaveTwoForms) {
  std::vector<std::string_view> words = {"--server=h:1", kFlag, "--slot=0", "--node=n", "--dir=/d"};
  EXPECT_TRUE(ParseArguments(words)->gpus.empty());
  for (const char* none : {"--gpus=", "--gpus=NoDevFiles"}) {
    words.emplace_back(none);
    EXPECT_TRUE(ParseArguments(words)->gpus.empty()) << none;
  }
}

struct Row {
  const char* name;
  std::string word;  ///< after good ones
  const char* field;
};
class AgentArgumentsTest : public testing::TestWithParam<Row> {};

TEST_P(AgentArgumentsTest, WrongOnesAreNamed) {
  const std::vector<std::string_view> words = {"--server=h:1", kFlag,      "--slot=0",
                                               "--node=n",     "--dir=/d", GetParam().word};
  const auto parsed = ParseArguments(words);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().field, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, AgentArgumentsTest,
    testing::Values(Row{"starter", "--starter=run/s", "--starter"}, Row{"cache", "--cache=c", "--cache"},
                    Row{"NoPort", "--server=h", "--server"}, Row{"PortZero", "--server=h:0", "--server"},
                    Row{"PortBig", "--server=h:70000", "--server"}, Row{"NoHost", "--server=:1", "--server"},
                    Row{"Short", "--fingerprint=ab", "--fingerprint"},
                    Row{"Upper", "--fingerprint=" + std::string(64, 'A'), "--fingerprint"},
                    Row{"Negative", "--slot=-1", "--slot"}, Row{"NoNumber", "--slot=x", "--slot"},
                    Row{"Above", "--node=..", "--node"}, Row{"Slash", "--node=a/b", "--node"},
                    Row{"Relative", "--dir=tmp", "--dir"}, Row{"Unknown", "--else=1", "--else=1"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace trainyard::agent

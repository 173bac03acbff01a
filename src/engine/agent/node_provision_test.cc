#include "engine/agent/node_provision.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/async/file.h"
#include "base/async/testing/temporary_folder.h"

namespace trainyard::agent {
namespace {

namespace fs = std::filesystem;

TEST(NodeProvision, WritesOnceAndReplacesWhatDiffers) {
  const TemporaryFolder folder;
  const std::string environments = folder.path() + "/environments";
  ASSERT_TRUE(ProvisionEnvironments(environments, {{"mine.json", "{}"}}));
  EXPECT_TRUE(fs::exists(environments + "/site/sitecustomize.py"));
  const std::string file = environments + "/runtimes.d/mine.json";
  const auto written = fs::last_write_time(file) - std::chrono::hours(1);
  fs::last_write_time(file, written);
  ASSERT_TRUE(ProvisionEnvironments(environments, {{"mine.json", "{}"}}));
  EXPECT_EQ(fs::last_write_time(file), written);
  ASSERT_TRUE(ProvisionEnvironments(environments, {{"mine.json", "{\"a\": 1}"}}));
  EXPECT_EQ(ReadFile(file), "{\"a\": 1}");
}

TEST(NodeProvision, ADefinitionStaysInItsFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"", "../x.json", "/x.json", ".x"})
    EXPECT_EQ(ProvisionEnvironments(folder.path(), {{name, "{}"}}).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::agent

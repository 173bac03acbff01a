#include "cli/help/print_version.h"

#include <gtest/gtest.h>

namespace trainyard::cli {
namespace {

constexpr BuildInfo kBuild{
    .version = "1.2.3", .commit = "0123456789abcdef0123456789abcdef01234567", .build_type = "Release"};

TEST(Version, OnALine) {
  EXPECT_EQ(VersionText(kBuild, {}), "trainyard 1.2.3 (commit 0123456789ab, Release)\n");
  BuildInfo build = kBuild;
  build.commit = "0123456789abcdef-dirty";
  EXPECT_EQ(VersionText(build, {}), "trainyard 1.2.3 (commit 0123456789ab-dirty, Release)\n");
  build.commit = "unknown";
  EXPECT_EQ(VersionText(build, {}), "trainyard 1.2.3 (commit unknown, Release)\n");
}

TEST(Version, AsJson) {
  EXPECT_EQ(VersionText(kBuild, {.kind = OutputFormat::Kind::kJson}),
            "{\n  \"buildType\": \"Release\",\n"
            "  \"commit\": \"0123456789abcdef0123456789abcdef01234567\",\n  \"version\": \"1.2.3\"\n}\n");
}

TEST(Version, OfThisProgramIsKnown) {
  const BuildInfo build = ThisBuild();
  EXPECT_FALSE(build.version.empty());
  EXPECT_FALSE(build.commit.empty());
  EXPECT_FALSE(build.build_type.empty());
}

}  // namespace
}  // namespace trainyard::cli

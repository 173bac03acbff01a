#include "programs/environment/algorithm_package.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "rules/algorithms/algorithm.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;

TEST(AlgorithmPackage, IsLaidOnceWithAllItsFiles) {
  const TemporaryFolder folder;
  const Layout layout{folder.path()};
  ASSERT_TRUE(InstallAlgorithms(layout));
  const fs::path laid = AlgorithmFolder(layout);
  for (const algorithms::PackageFile& file : algorithms::PackageFiles())
    EXPECT_EQ(ReadFile(laid / file.name).value_or("missing"), file.bytes) << file.name;
  for (const fs::path& each : {laid.parent_path(), laid, laid / "trainyard_algorithms"})
    EXPECT_EQ(static_cast<unsigned>(fs::status(each).permissions()) & 0777U, 0755U) << each;

  const auto before = fs::last_write_time(laid);
  ASSERT_TRUE(InstallAlgorithms(layout));
  EXPECT_EQ(fs::last_write_time(laid), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(layout.root / "algorithms"), {}), 1)
      << "nothing staged is left";
}

TEST(AlgorithmPackage, WhatKilledPreparationsLeftIsRemoved) {
  const TemporaryFolder folder;
  const Layout layout{folder.path()};
  const fs::path old = AlgorithmFolder(layout).string() + ".a1b2c3";
  const fs::path young = AlgorithmFolder(layout).string() + ".d4e5f6";
  const fs::path other = layout.root / "algorithms" / "0123456789ab";
  for (const fs::path& each : {old, young, other}) ASSERT_TRUE(MakeFolders(each));
  for (const fs::path& each : {old, other})
    fs::last_write_time(each, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(InstallAlgorithms(layout));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young)) << "somebody may be writing it";
  EXPECT_TRUE(fs::exists(other)) << "jobs of another version may run in it";
}

/// As supervisors do, each of which is process 2 of a separate namespace.
TEST(AlgorithmPackage, SeveralMayLayItAtOnce) {
  const TemporaryFolder folder;
  const Layout layout{folder.path()};
  std::vector<std::future<Status>> layers;
  for (int i = 0; i < 8; ++i)
    layers.push_back(std::async(std::launch::async, [&layout] { return InstallAlgorithms(layout); }));
  for (std::future<Status>& layer : layers) {
    const Status laid = layer.get();
    EXPECT_TRUE(laid) << laid.error().message;
  }
  for (const algorithms::PackageFile& file : algorithms::PackageFiles())
    EXPECT_EQ(ReadFile(AlgorithmFolder(layout) / file.name).value_or("missing"), file.bytes) << file.name;
  EXPECT_EQ(std::distance(fs::directory_iterator(layout.root / "algorithms"), {}), 1);
}

}  // namespace
}  // namespace trainyard::environment

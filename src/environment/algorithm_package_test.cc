#include "environment/algorithm_package.h"

#include <gtest/gtest.h>

#include "algorithms/algorithm.h"
#include "async/file.h"
#include "environment/temporary_folder_for_test.h"

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
  const auto mode = fs::status(laid / "trainyard_algorithms").permissions();
  EXPECT_EQ(mode & fs::perms(0777), fs::perms(0755));

  const auto before = fs::last_write_time(laid);
  ASSERT_TRUE(InstallAlgorithms(layout));
  EXPECT_EQ(fs::last_write_time(laid), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(layout.root / "algorithms"), {}), 1)
      << "nothing staged is left";
}

TEST(AlgorithmPackage, WhatAnInterruptedWriteLeftDoesNotCount) {
  const TemporaryFolder folder;
  const Layout layout{folder.path()};
  const fs::path staged = AlgorithmFolder(layout).string() + "." + std::to_string(::getpid());
  ASSERT_TRUE(MakeFolders(staged / "trainyard_algorithms"));
  ASSERT_TRUE(InstallAlgorithms(layout));
  EXPECT_TRUE(fs::exists(AlgorithmFolder(layout) / "trainyard_algorithms/__init__.py"));
  EXPECT_FALSE(fs::exists(staged));
}

}  // namespace
}  // namespace trainyard::environment

#include "stores/store/write_probe.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "stores/store/job_store.h"

namespace trainyard::store {
namespace {

TEST(WriteProbe, WritesAndChangesNothing) {
  std::string folder = testing::TempDir() + "write_probe_test.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/trainyard.db";
  WriteProbe probe(path);
  EXPECT_FALSE(probe.Try()) << "there is no database";
  {
    const auto store = JobStore::Open(path);
    ASSERT_TRUE(store);
    const auto log = [&path] { return std::filesystem::file_size(path + "-wal"); };
    const auto before = log();
    EXPECT_TRUE(probe.Try());
    EXPECT_GT(log(), before) << "it was written";
    EXPECT_TRUE(probe.Try());
  }
  EXPECT_TRUE(JobStore::Open(path)) << "the schema is the same";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace trainyard::store

#include "base/sqlite/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace trainyard::sqlite::snapshot_test {
namespace {

constexpr std::array<std::string_view, 1> kSchema = {"CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)"};
constexpr std::int32_t kKind = 0x54593030;

class SnapshotTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "snapshot_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    for (const char* name : {"one.db", "two.db"}) paths_.push_back(folder_ / name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Database Open(const std::string& path) {
    auto database = Database::Open({.path = path, .application_id = kKind, .migrations = kSchema});
    EXPECT_TRUE(database) << database.error().message;
    return *std::move(database);
  }
  static std::int64_t LastIn(const std::string& path) {
    auto database = Database::OpenAsItIs(path);
    EXPECT_TRUE(database) << database.error().message;
    auto last = database->Prepare("SELECT coalesce(max(a), 0) FROM t");
    Cursor row = last->Query();
    return row.Next().value_or(false) ? row.Int(0) : -1;
  }

  std::filesystem::path folder_;
  std::vector<std::string> paths_;
};

/// A writer inserts number n into the first database and then into the second: at any instant the first has
/// the second's last number or one more.
TEST_F(SnapshotTest, AllAreOfOneInstantAlthoughSomebodyWrites) {
  for (const std::string& path : paths_) Open(path);
  std::atomic<bool> ends = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    Database one = Open(paths_[0]);
    Database two = Open(paths_[1]);
    for (int n = 1; !ends; ++n) {
      const std::string sql = "INSERT INTO t VALUES(" + std::to_string(n) + ", zeroblob(3000))";
      EXPECT_TRUE(one.Execute(sql));
      EXPECT_TRUE(two.Execute(sql));
      written = n;
    }
  });
  for (int round = 0; round < 5; ++round) {
    for (const int before = written; written < before + 5;) std::this_thread::yield();
    const int answered = written;
    auto snapshots = Snapshot::TakeTogether(paths_);
    ASSERT_TRUE(snapshots) << snapshots.error().message;
    std::vector<std::int64_t> last;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const std::string copy = folder_ / ("copy" + std::to_string(round) + std::to_string(i));
      ASSERT_TRUE((*snapshots)[i].CopyTo(copy, {.pages = 2}, nullptr));
      last.push_back(LastIn(copy));
    }
    EXPECT_GE(last[1], answered);
    EXPECT_TRUE(last[0] == last[1] || last[0] == last[1] + 1) << last[0] << " " << last[1];
  }
  ends = true;
  writer.join();
}

TEST_F(SnapshotTest, KnowsSchemaRowsAndBytes) {
  ASSERT_TRUE(Open(paths_[0]).Execute("INSERT INTO t VALUES(1, NULL), (2, NULL)"));
  auto snapshots = Snapshot::TakeTogether(std::span(paths_).first(1));
  ASSERT_TRUE(snapshots);
  EXPECT_EQ((*snapshots)[0].SchemaVersion().value(), 1);
  EXPECT_EQ((*snapshots)[0].Bytes().value(), 8192);
  EXPECT_THAT((*snapshots)[0].CountRows().value(), testing::ElementsAre(testing::Pair("t", 2)));
}

TEST_F(SnapshotTest, ACopyCanBeGivenUp) {
  ASSERT_TRUE(Open(paths_[0]).Execute("INSERT INTO t VALUES(1, zeroblob(100000))"));
  auto snapshots = Snapshot::TakeTogether(std::span(paths_).first(1));
  const Status copied =
      (*snapshots)[0].CopyTo(folder_ / "copy", {.pages = 1}, [](auto, auto) { return false; });
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, Code::kCancelled);
}

TEST_F(SnapshotTest, AFileThatIsNotThereIsNotMade) {
  EXPECT_FALSE(Snapshot::TakeTogether(paths_));
  EXPECT_FALSE(std::filesystem::exists(paths_[0]));
}

}  // namespace
}  // namespace trainyard::sqlite::snapshot_test

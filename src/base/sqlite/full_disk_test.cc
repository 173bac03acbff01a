#include "base/sqlite/full_disk.h"

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/sqlite/database.h"

namespace trainyard::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kSchema = {"CREATE TABLE t(c BLOB)"};

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "full_disk_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    if (mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=4m") != 0)
      GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
    auto database =
        Database::Open({.path = folder_ / "t.db", .application_id = 0x54593030, .migrations = kSchema});
    ASSERT_TRUE(database) << database.error().message;
    database_.emplace(*std::move(database));
    std::ofstream(folder_ / "reserve") << std::string(1 << 20, 'x');
    std::ofstream(folder_ / "ballast") << std::string(8 << 20, 'x');  // fills the disk
    SetMakeRoom([this] { return fs::remove(folder_ / "reserve"); });
  }
  void TearDown() override {
    SetMakeRoom(nullptr);
    database_.reset();
    umount2(folder_.c_str(), MNT_DETACH);
    fs::remove_all(folder_);
  }
  Status Insert() { return database_->Execute("INSERT INTO t VALUES(zeroblob(100000))"); }

  fs::path folder_;
  std::optional<Database> database_;
};

TEST_F(FullDiskTest, OnlyWhoMakesRoomIsGivenRoom) {
  const Status refused = Insert();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (Error{Code::kResourceExhausted, "t.db: No space left on device", {}}));
  EXPECT_TRUE(fs::exists(folder_ / "reserve"));
  {
    const MayMakeRoom room;
    EXPECT_TRUE(Insert());
    EXPECT_FALSE(fs::exists(folder_ / "reserve"));
  }
  Status status;
  for (int i = 0; status && i < 100; ++i) status = Insert();
  EXPECT_EQ(status.error().code, Code::kResourceExhausted) << "once it is used up, the disk is full";
  const MayMakeRoom room;
  EXPECT_EQ(Insert().error().code, Code::kResourceExhausted);
}

}  // namespace
}  // namespace trainyard::sqlite

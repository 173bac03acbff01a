#include "stores/backup/recover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/async/system_clock.h"
#include "base/async/unique_fd.h"
#include "base/sqlite/database.h"
#include "stores/backup/backup_folder.h"
#include "stores/backup/take_backup.h"

namespace trainyard::backup::recover_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::array<std::string_view, 1> kSchema = {"CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)"};
constexpr std::streamoff kPage = 4096;

class RecoverTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "recover_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    data_ = pattern;
    fs::create_directory(data_ + "/run");
    for (const char* name : {"/trainyard.db", "/logs.db"}) {
      auto database =
          sqlite::Database::Open({.path = data_ + name, .application_id = 7, .migrations = kSchema});
      ASSERT_TRUE(database &&
                  database->Execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                                    "200) INSERT INTO t SELECT i, randomblob(500) FROM n"));
    }
  }
  void TearDown() override { fs::remove_all(data_); }
  auto Recover() {
    return RecoverData(data_, [](const std::string&) {});
  }
  void Damage(const std::string& name, std::streamoff page) const {
    std::fstream file(data_ + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(page * kPage);
    file << std::string(static_cast<std::size_t>(kPage), 'x');
  }

  SystemClock clock_;
  std::string data_;
};

TEST_F(RecoverTest, WholeDatabasesStayAndTheOperatorHasSpoken) {
  const auto recovered = Recover();
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_THAT(*recovered, IsEmpty());
  EXPECT_TRUE(fs::exists(RecoveredWordFile(data_)));
}

TEST_F(RecoverTest, WhatCanBeReadIsTakenOverAndTheDamagedOneKept) {
  Damage("/trainyard.db", 10);
  const auto recovered = Recover();
  ASSERT_TRUE(recovered) << recovered.error().message;
  ASSERT_THAT(*recovered, SizeIs(1));
  EXPECT_EQ((*recovered)[0].name, "trainyard.db");
  EXPECT_GT((*recovered)[0].rows, 100);
  EXPECT_TRUE(fs::exists((*recovered)[0].aside));
  EXPECT_TRUE(
      sqlite::Database::Open({.path = data_ + "/trainyard.db", .application_id = 7, .migrations = kSchema}));
}

TEST_F(RecoverTest, OnlyWhatIsMadeAnewMayBeLostWhole) {
  Damage("/logs.db", 0);
  const auto recovered = Recover();
  ASSERT_TRUE(recovered) << recovered.error().message;
  ASSERT_THAT(*recovered, SizeIs(1));
  EXPECT_TRUE((*recovered)[0].is_made_anew);
  EXPECT_FALSE(fs::exists(data_ + "/logs.db"));

  ASSERT_TRUE(
      TakeBackup({.data = data_, .folder = data_ + "/backups/monday", .clock = &clock_}, nullptr, {}));
  Damage("/trainyard.db", 0);
  fs::remove(RecoveredWordFile(data_));
  const auto refused = Recover();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kDataLoss);
  EXPECT_THAT(refused.error().message, HasSubstr("Restore the backup " + data_ + "/backups/monday"));
  EXPECT_TRUE(fs::exists(data_ + "/trainyard.db")) << "as it was";
  EXPECT_FALSE(fs::exists(RecoveredWordFile(data_)));
}

TEST_F(RecoverTest, WhatAKilledRunHadReadIsNotForgotten) {
  Damage("/trainyard.db", 10);
  ASSERT_TRUE(Recover());
  fs::rename(data_ + "/trainyard.db", data_ + "/trainyard.db.recovered");  // as a kill leaves them
  const auto again = Recover();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_THAT(*again, IsEmpty());
  EXPECT_TRUE(fs::exists(data_ + "/trainyard.db"));
  EXPECT_FALSE(fs::exists(data_ + "/trainyard.db.recovered"));
}

TEST_F(RecoverTest, WhatCannotBeWrittenIsNoDamage) {
  fs::create_directories(data_ + "/logs.db.recovering.scratch/x");  // as a full disk does: no copy is made
  Damage("/logs.db", 10);
  const auto refused = Recover();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing is changed"));
  EXPECT_TRUE(fs::exists(data_ + "/logs.db")) << "as it was";
  EXPECT_FALSE(fs::exists(RecoveredWordFile(data_)));
}

TEST_F(RecoverTest, WhatIsTakenOverIsTheServersAccounts) {
  constexpr ::uid_t kOther = 12345;
  if (::geteuid() != 0) GTEST_SKIP() << "only root works for others";
  Damage("/trainyard.db", 10);
  ASSERT_EQ(::chown((data_ + "/trainyard.db").c_str(), kOther, kOther), 0);
  ASSERT_EQ(::chown(data_.c_str(), kOther, kOther), 0);
  ASSERT_TRUE(Recover());
  for (const char* name : {"/trainyard.db", "/run/lock"}) {
    struct stat status{};
    ASSERT_EQ(::stat((data_ + name).c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, kOther) << name;
  }
}

TEST_F(RecoverTest, NotBesideAServer) {
  const UniqueFd lock(::open((data_ + "/run/lock").c_str(), O_RDWR | O_CREAT, 0600));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX), 0);
  EXPECT_THAT(Recover().error().message, HasSubstr("stop it first"));
}

TEST_F(RecoverTest, TheNewestBackupIsTheLast) {
  EXPECT_EQ(LastBackup(data_, ""), "");
  for (const char* name : {"/backups/monday", "/backups/tuesday"})
    ASSERT_TRUE(TakeBackup({.data = data_, .folder = data_ + name, .clock = &clock_}, nullptr, {}));
  EXPECT_EQ(LastBackup(data_, ""), data_ + "/backups/tuesday");
}

}  // namespace
}  // namespace trainyard::backup::recover_test

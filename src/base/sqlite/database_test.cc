#include "base/sqlite/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace trainyard::sqlite {
namespace {

constexpr std::array<std::string_view, 1> kFirst = {
    "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE, c BLOB)"};
constexpr std::array<std::string_view, 2> kSecond = {kFirst[0],
                                                     "ALTER TABLE t ADD d INTEGER; CREATE INDEX i ON t(d)"};
constexpr std::int32_t kKind = 0x54593030;

class DatabaseTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "database_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr) << strerror(errno);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] DatabaseOptions Options(std::span<const std::string_view> migrations) const {
    return {.path = folder_ / "t.db", .application_id = kKind, .migrations = migrations};
  }

  std::filesystem::path folder_;
};

TEST_F(DatabaseTest, KeepsEveryKindOfValue) {
  auto database = Database::Open(Options(kFirst));
  ASSERT_TRUE(database) << database.error().message;
  auto insert = database->Prepare("INSERT INTO t VALUES(?1, ?2, ?3)");
  ASSERT_TRUE(insert);
  const std::string with_nul("\0x\xff", 3);
  ASSERT_TRUE(insert->Run(1, "one", Blob{with_nul}));
  ASSERT_TRUE(insert->Run(std::int64_t{-1} << 62, std::string_view{}, std::optional<std::int64_t>{}));
  EXPECT_EQ(database->Changes(), 1);

  auto select = database->Prepare("SELECT a, b, c FROM t ORDER BY a");
  ASSERT_TRUE(select);
  Cursor cursor = select->Query();
  ASSERT_TRUE(cursor.Next().value());
  EXPECT_EQ(cursor.Int(0), std::int64_t{-1} << 62);
  EXPECT_FALSE(cursor.IsNull(1));
  EXPECT_EQ(cursor.Text(1), "");
  EXPECT_TRUE(cursor.IsNull(2));
  ASSERT_TRUE(cursor.Next().value());
  EXPECT_EQ(cursor.Text(1), "one");
  EXPECT_EQ(cursor.Bytes(2), with_nul);
  EXPECT_FALSE(cursor.Next().value());
}

TEST_F(DatabaseTest, IsDurableByDefault) {
  auto database = Database::Open(Options(kFirst));
  ASSERT_TRUE(database);
  struct Row {
    const char* pragma;
    const char* value;
  };
  for (const Row& row : {Row{"journal_mode", "wal"}, Row{"synchronous", "2"}, Row{"foreign_keys", "1"}}) {
    auto statement = database->Prepare(std::string("PRAGMA ") + row.pragma);
    Cursor cursor = statement->Query();
    ASSERT_TRUE(cursor.Next().value());
    EXPECT_EQ(cursor.Text(0), row.value) << row.pragma;
  }
}

TEST_F(DatabaseTest, ReportsABrokenRule) {
  auto database = Database::Open(Options(kFirst));
  auto insert = database->Prepare("INSERT INTO t VALUES(?1, ?2, NULL)");
  ASSERT_TRUE(insert->Run(1, "same"));
  EXPECT_EQ(insert->Run(2, "same").error(),
            (Error{Code::kAlreadyExists, "t.db: UNIQUE constraint failed: t.b", {}}));
  EXPECT_EQ(database->Prepare("SELEC").error().code, Code::kInternal);
  EXPECT_TRUE(insert->Run(2, "other")) << "the statement works after an error";
}

TEST_F(DatabaseTest, RollsBackWhatWasNotCommitted) {
  auto database = Database::Open(Options(kFirst));
  {
    auto transaction = Transaction::Begin(*database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database->Execute("INSERT INTO t(a) VALUES(1)"));
  }
  EXPECT_FALSE(database->InTransaction());
  {
    auto transaction = Transaction::Begin(*database);
    ASSERT_TRUE(database->Execute("INSERT INTO t(a) VALUES(2)"));
    ASSERT_TRUE(transaction->Commit());
  }
  auto count = database->Prepare("SELECT group_concat(a) FROM t");
  Cursor cursor = count->Query();
  ASSERT_TRUE(cursor.Next().value());
  EXPECT_EQ(cursor.Text(0), "2");
}

TEST_F(DatabaseTest, PreparesAllOrSaysWhatFails) {
  Database database = Database::Open(Options(kFirst)).value();
  Statement one;
  Statement two;
  ASSERT_TRUE(database.PrepareAll({{&one, "SELECT 1"}, {&two, "SELECT 2"}}));
  Cursor row = two.Query();
  EXPECT_EQ(row.Next(), true);
  EXPECT_EQ(row.Int(0), 2);
  constexpr std::array<std::string_view, 2> kTexts = {"SELECT 1", "SELECT 2"};
  EXPECT_EQ(database.PrepareAll(kTexts)->size(), 2U);
  EXPECT_EQ(database.PrepareAll({{&one, "SELECT 1"}, {&two, "SELECT x"}}).error().code, Code::kInternal);
}

TEST_F(DatabaseTest, MigratesAndRefusesTheNewer) {
  ASSERT_TRUE(Database::Open(Options(kFirst))->Execute("INSERT INTO t(a) VALUES(7)"));
  {
    auto migrated = Database::Open(Options(kSecond));
    ASSERT_TRUE(migrated) << migrated.error().message;
    EXPECT_TRUE(migrated->Execute("UPDATE t SET d = 1 WHERE a = 7"));
    EXPECT_EQ(migrated->Changes(), 1);
  }
  ASSERT_TRUE(Database::Open(Options(kSecond))) << "opening again migrates nothing";
  const std::string path = folder_ / "t.db";
  const std::string copy = folder_ / "schema-copies/t-v1.db";
  EXPECT_EQ(
      Database::Open(Options(kFirst)).error(),
      FailedPrecondition(path +
                         " was written by a newer version of trainyard (schema 2, this program knows 1): "
                         "start that version, or put the copy of before the upgrade in its place (" +
                         copy + "), which lacks all that was stored since"));
}

TEST_F(DatabaseTest, RollsAFailedMigrationBack) {
  constexpr std::array<std::string_view, 2> broken = {kFirst[0],
                                                      "ALTER TABLE t ADD d; ALTER TABLE nowhere ADD e"};
  ASSERT_FALSE(Database::Open(Options(broken)));
  auto mended = Database::Open(Options(kSecond));
  ASSERT_TRUE(mended) << mended.error().message;
}

TEST_F(DatabaseTest, RefusesFilesThatAreNotItsOwn) {
  const std::string path = folder_ / "t.db";
  ASSERT_TRUE(Database::Open(Options(kFirst)));
  DatabaseOptions other = Options(kFirst);
  other.application_id = kKind + 1;
  EXPECT_EQ(Database::Open(other).error().code, Code::kFailedPrecondition);

  std::filesystem::remove(path);
  std::ofstream(path) << std::string(5000, 'x');
  EXPECT_EQ(Database::Open(Options(kFirst)).error(),
            (Error{Code::kDataLoss, "t.db: file is not a database", {}}));
  std::filesystem::remove(path);

  DatabaseOptions nowhere = Options(kFirst);
  nowhere.path = folder_ / "no" / "t.db";
  EXPECT_EQ(Database::Open(nowhere).error().code, Code::kNotFound);
}

TEST_F(DatabaseTest, AReaderSeesWhatWasCommittedAndCannotWrite) {
  auto writer = Database::Open(Options(kFirst));
  DatabaseOptions options = Options(kFirst);
  options.read_only = true;
  auto reader = Database::Open(options);
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_TRUE(writer->Execute("INSERT INTO t(a) VALUES(1)"));
  auto select = reader->Prepare("SELECT a FROM t");
  EXPECT_TRUE(select->Query().Next().value());
  EXPECT_EQ(reader->Execute("DELETE FROM t").error().code, Code::kPermissionDenied);
}

TEST_F(DatabaseTest, AFullDiskIsNamed) {
  const std::filesystem::path disk = folder_ / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "cannot mount a tmpfs: " << strerror(errno);
  {
    DatabaseOptions options = Options(kFirst);
    options.path = disk / "t.db";
    auto database = Database::Open(options);
    ASSERT_TRUE(database) << database.error().message;
    auto insert = database->Prepare("INSERT INTO t(c) VALUES(zeroblob(50000))");
    Status status;
    for (int i = 0; status && i < 100; ++i) status = insert->Run();
    ASSERT_FALSE(status) << "5 MB fitted into 1 MB";
    EXPECT_EQ(status.error(), (Error{Code::kResourceExhausted, "t.db: No space left on device", {}}));
    EXPECT_FALSE(database->InTransaction());
  }
  EXPECT_EQ(umount2(disk.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace trainyard::sqlite

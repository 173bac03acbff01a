#include "base/sqlite/salvage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/async/file.h"
#include "base/sqlite/database.h"

namespace trainyard::sqlite::salvage_test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kSchema = {
    "CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT, b BLOB) STRICT; CREATE INDEX by_b ON t(b)"};
constexpr std::int32_t kKind = 0x54593030;
constexpr int kRows = 400;
constexpr std::streamoff kPage = 4096;

class SalvageTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "salvage_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Database database = Open(Path());
    ASSERT_TRUE(database.Execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT " +
                                 std::to_string(kRows) +
                                 ") INSERT INTO t SELECT i, CAST(printf('%0500d', i) AS BLOB) FROM n"));
    ASSERT_TRUE(database.Execute("DELETE FROM t WHERE a = " + std::to_string(kRows)));
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Path() const { return folder_ / "jobs.db"; }
  [[nodiscard]] std::string Target() const { return folder_ / "new.db"; }
  static Database Open(const std::string& path) {
    auto database = Database::Open({.path = path, .application_id = kKind, .migrations = kSchema});
    EXPECT_TRUE(database) << database.error().message;
    return *std::move(database);
  }
  static std::int64_t Count(Database& database, const std::string& sql) {
    auto statement = database.Prepare(sql);
    Cursor row = statement->Query();
    return row.Next().value_or(false) ? row.Int(0) : -1;
  }
  void Overwrite(std::streamoff page) const {
    std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(page * kPage);
    file << std::string(static_cast<std::size_t>(kPage), 'x');
  }

  fs::path folder_;
};

TEST_F(SalvageTest, AWholeOneIsCopiedWhole) {
  EXPECT_TRUE(CheckWhole(Path()));
  const auto salvaged = Salvage(Path(), Target());
  ASSERT_TRUE(salvaged) << salvaged.error().message;
  EXPECT_EQ(salvaged->rows, kRows - 1);
  EXPECT_THAT(salvaged->incomplete, testing::IsEmpty());
  Database database = Open(Target());  // of the same kind, with the same schema
  EXPECT_EQ(Count(database, "SELECT seq FROM sqlite_sequence"), kRows) << "a number is never given out twice";
  EXPECT_EQ(Count(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name = 'by_b'"), 1);
}

TEST_F(SalvageTest, RowsBesideDamageAreThereAndTheDamagedFileStays) {
  Overwrite(20);
  const std::string before = ReadFile(Path()).value();
  const Status checked = CheckWhole(Path());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kDataLoss);
  const auto salvaged = Salvage(Path(), Target());
  ASSERT_TRUE(salvaged) << salvaged.error().message;
  EXPECT_GT(salvaged->rows, kRows / 2);
  EXPECT_LT(salvaged->rows, kRows - 1);
  EXPECT_THAT(salvaged->incomplete, testing::ElementsAre("t"));
  EXPECT_EQ(ReadFile(Path()).value(), before);
  EXPECT_TRUE(CheckWhole(Target()));
  for (const char* left : {"new.db.scratch", "new.db.scratch-wal", "new.db.scratch-shm"})
    EXPECT_FALSE(fs::exists(folder_ / left)) << left;
}

TEST_F(SalvageTest, TablesWithoutNumbersOfRowsAreReadFromBothEnds) {
  constexpr std::array<std::string_view, 1> kByName = {
      "CREATE TABLE n(a TEXT, b INTEGER, c BLOB, PRIMARY KEY(a, b)) STRICT, WITHOUT ROWID"};
  fs::remove(Path());
  {
    auto database = Database::Open({.path = Path(), .application_id = kKind, .migrations = kByName});
    ASSERT_TRUE(
        database &&
        database->Execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 400) INSERT "
                          "INTO n SELECT 'x', i, CAST(printf('%0500d', i) AS BLOB) FROM n"));
  }
  ASSERT_TRUE(Salvage(Path(), Target()));
  Overwrite(20);
  const auto salvaged = Salvage(Path(), Target());
  ASSERT_TRUE(salvaged) << salvaged.error().message;
  EXPECT_GT(salvaged->rows, kRows / 2);
  EXPECT_LT(salvaged->rows, kRows);
  EXPECT_THAT(salvaged->incomplete, testing::ElementsAre("n"));
}

TEST_F(SalvageTest, WithoutItsFirstPageNothingCanBeRead) {
  Overwrite(0);
  const auto salvaged = Salvage(Path(), Target());
  ASSERT_FALSE(salvaged);
  EXPECT_EQ(salvaged.error().code, Code::kDataLoss);
}

TEST_F(SalvageTest, OneThatIsSetAsideKeepsItsLog) {
  Database reader = Open(Path());
  ASSERT_TRUE(
      reader.Execute("INSERT INTO t VALUES(NULL, NULL)"));  // in the log, which lives as long as `reader`
  fs::copy(Path(), folder_ / "copy.db");
  fs::copy(Path() + "-wal", folder_ / "copy.db-wal");
  const auto aside = SetAside(folder_ / "copy.db");
  ASSERT_TRUE(aside);
  EXPECT_THAT(*aside, testing::HasSubstr("copy.db.damaged-"));
  EXPECT_TRUE(fs::exists(*aside + "-wal"));
  EXPECT_FALSE(fs::exists(folder_ / "copy.db"));
  std::ofstream(folder_ / "copy.db") << "again";
  const auto second = SetAside(folder_ / "copy.db");
  ASSERT_TRUE(second);
  EXPECT_NE(*second, *aside) << "nothing is overwritten";
}

TEST_F(SalvageTest, ATableWithoutRowidsIsReadableToo) {
  Database database = Database::OpenAsItIs(Path()).value();
  ASSERT_TRUE(database.Execute("CREATE TABLE named(name TEXT PRIMARY KEY) WITHOUT ROWID"));
  EXPECT_TRUE(CheckReadable(Path()));
}

TEST_F(SalvageTest, DamageBehindTheSchemaIsLookedForWhereSomebodyMetIt) {
  EXPECT_TRUE(CheckReadable(folder_ / "none.db"));
  Overwrite(20);
  EXPECT_TRUE(CheckReadable(Path())) << "all of a large file is not read at each start";
  ASSERT_TRUE(NoteDamage(Path()));
  EXPECT_EQ(CheckReadable(Path()).error().code, Code::kDataLoss);
  ASSERT_TRUE(SetAside(Path()));
  Open(Path());
  EXPECT_TRUE(CheckReadable(Path()));
  ASSERT_TRUE(NoteDamage(Path()));
  EXPECT_TRUE(CheckReadable(Path())) << "it is whole";
  EXPECT_FALSE(fs::exists(Path() + ".is-damaged"));
}

}  // namespace
}  // namespace trainyard::sqlite::salvage_test

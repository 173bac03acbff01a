#include "base/sqlite/schema_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace trainyard::sqlite::schema_copies_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::array<std::string_view, 4> kSchemas = {
    "CREATE TABLE t(a INTEGER PRIMARY KEY)", "ALTER TABLE t ADD b INTEGER", "ALTER TABLE t ADD c INTEGER",
    "ALTER TABLE t ADD d INTEGER"};
constexpr std::int32_t kKind = 0x54593030;

class SchemaCopiesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "schema_copies_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Opens the store like a program of that version.
  Result<Database> OpenAs(std::size_t version) {
    return Database::Open({.path = folder_ / "jobs.db",
                           .application_id = kKind,
                           .migrations = std::span(kSchemas).first(version)});
  }
  [[nodiscard]] std::vector<std::string> Copies() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder_ / "schema-copies")) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "schema-copies"))
      names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  std::filesystem::path folder_;
};

TEST_F(SchemaCopiesTest, ANewStoreAndOneThatIsUpToDateLeaveNone) {
  ASSERT_TRUE(OpenAs(2));
  ASSERT_TRUE(OpenAs(2));
  EXPECT_THAT(Copies(), ElementsAre());
}

TEST_F(SchemaCopiesTest, AnOlderStoreIsCopiedBeforeItIsMigrated) {
  {
    auto old = OpenAs(1);
    ASSERT_TRUE(old && old->Execute("INSERT INTO t VALUES(7)"));
  }
  ASSERT_TRUE(OpenAs(3));
  ASSERT_THAT(Copies(), ElementsAre("jobs-v1.db"));
  auto copy = Database::OpenAsItIs(folder_ / "schema-copies/jobs-v1.db");
  ASSERT_TRUE(copy);
  auto rows = copy->Prepare("SELECT * FROM t");
  ASSERT_TRUE(rows) << rows.error().message;
  Cursor row = rows->Query();
  ASSERT_TRUE(row.Next().value());
  EXPECT_EQ(row.Int(0), 7);
  auto version = copy->Prepare("PRAGMA user_version");
  Cursor number = version->Query();
  ASSERT_TRUE(number.Next().value());
  EXPECT_EQ(number.Int(0), 1);
}

TEST_F(SchemaCopiesTest, ThoseOfTheLastTwoSchemasAreKept) {
  for (const std::size_t version : {1U, 2U, 3U, 4U}) ASSERT_TRUE(OpenAs(version));
  EXPECT_THAT(Copies(), ElementsAre("jobs-v2.db", "jobs-v3.db"));
}

TEST_F(SchemaCopiesTest, AnOlderProgramNamesBothVersionsAndTheCopy) {
  ASSERT_TRUE(OpenAs(2));
  ASSERT_TRUE(OpenAs(4));
  const auto refused = OpenAs(3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("schema 4, this program knows 3"));
  EXPECT_THAT(refused.error().message, HasSubstr("schema-copies/jobs-v2.db"));
  const auto too_old = OpenAs(1);  // the copy is too new for it as well
  ASSERT_FALSE(too_old);
  EXPECT_THAT(too_old.error().message, Not(HasSubstr("schema-copies")));
  EXPECT_THAT(too_old.error().message, HasSubstr("restore a backup"));
  EXPECT_TRUE(OpenAs(4)) << "the store was left as it was";
}

TEST_F(SchemaCopiesTest, TheCopyInTheStoresPlaceIsAStoreOfTheOlderProgram) {
  {
    auto old = OpenAs(1);
    ASSERT_TRUE(old && old->Execute("INSERT INTO t VALUES(7)"));
  }
  ASSERT_TRUE(OpenAs(2));
  for (const char* file : {"jobs.db", "jobs.db-wal", "jobs.db-shm"}) std::filesystem::remove(folder_ / file);
  std::filesystem::copy_file(folder_ / "schema-copies/jobs-v1.db", folder_ / "jobs.db");
  auto again = OpenAs(1);
  ASSERT_TRUE(again) << again.error().message;
  auto rows = again->Prepare("SELECT count(*) FROM t");
  Cursor row = rows->Query();
  ASSERT_TRUE(row.Next().value());
  EXPECT_EQ(row.Int(0), 1);
}

TEST_F(SchemaCopiesTest, NothingIsMigratedWithoutACopy) {
  ASSERT_TRUE(OpenAs(1));
  std::ofstream(folder_ / "schema-copies") << "a file where the folder would be";
  const auto refused = OpenAs(2);
  ASSERT_FALSE(refused);
  std::filesystem::remove(folder_ / "schema-copies");
  EXPECT_TRUE(OpenAs(1)) << "the schema is the old one";
}

}  // namespace
}  // namespace trainyard::sqlite::schema_copies_test

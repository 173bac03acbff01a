#include "stores/storage/copied_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stores/storage/records.h"

namespace trainyard::storage {
namespace {

namespace fs = std::filesystem;

class CopiedRecordsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "copied_records_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    for (const char* place : {"backup/buckets/b", "restored/b"}) fs::create_directories(folder_ / place);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Database() const { return folder_ / "objects.db"; }
  [[nodiscard]] FileStamp StampOf(const fs::path& path) const {
    struct stat status{};
    EXPECT_EQ(::stat((folder_ / path).c_str(), &status), 0) << path;
    return storage::StampOf(status);
  }
  /// A file with a record as the server makes when it places it.
  FileStamp Place(const std::string& name) {
    std::ofstream(folder_ / "backup/buckets/b" / name) << "text";
    const FileStamp stamp = StampOf("backup/buckets/b/" + name);
    v1::Object resource;
    resource.set_bucket("b");
    resource.set_name(name);
    resource.set_generation(stamp.mtime_ns / 1000 + 7);
    auto records = Records::Open(Database());
    EXPECT_TRUE(records && records->PutObject({.stamp = stamp, .resource = resource}, std::nullopt));
    return stamp;
  }
  void Copy(const std::string& name) {
    fs::copy_file(folder_ / "backup/buckets/b" / name, folder_ / "restored/b" / name);
    fs::last_write_time(folder_ / "restored/b" / name,
                        fs::last_write_time(folder_ / "backup/buckets/b" / name));
  }
  FileStamp RecordOf(const std::string& name) {
    auto records = Records::Open(Database());
    return records->FindObjects("b", name)->at(0).stamp;
  }
  Result<AdoptedCopies> Adopt() {
    return AdoptCopies(Database(), folder_ / "backup/buckets", folder_ / "restored");
  }

  fs::path folder_;
};

TEST_F(CopiedRecordsTest, ARecordHoldsForTheCopy) {
  Place("o");
  Copy("o");
  const auto adopted = Adopt();
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_EQ(adopted->adopted, 1);
  EXPECT_EQ(RecordOf("o"), StampOf("restored/b/o"));
}

TEST_F(CopiedRecordsTest, AFileThatWasWrittenIntoAfterItWasLinkedIsNamed) {
  Place("o");
  std::ofstream(folder_ / "backup/buckets/b/o", std::ios::app) << " and more";
  Copy("o");
  const auto adopted = Adopt();
  ASSERT_TRUE(adopted);
  EXPECT_EQ(adopted->adopted, 0);
  EXPECT_THAT(adopted->changed, testing::ElementsAre("gs://b/o"));
}

TEST_F(CopiedRecordsTest, ARecordWithoutAFileStaysAsItIs) {
  const FileStamp stamp = Place("o");
  ASSERT_TRUE(Adopt());
  EXPECT_EQ(RecordOf("o"), stamp);
}

TEST_F(CopiedRecordsTest, KnowsWhatTheServerPlaced) {
  const FileStamp stamp = Place("o");
  auto database = sqlite::Database::OpenAsItIs(Database());
  ASSERT_TRUE(database);
  const auto placed = PlacedFiles::Read(*database);
  ASSERT_TRUE(placed);
  EXPECT_TRUE(placed->Has(stamp));
  FileStamp changed = stamp;
  ++changed.mtime_ns;
  EXPECT_FALSE(placed->Has(changed)) << "a program wrote into it";
  ASSERT_TRUE(database->Execute("UPDATE objects SET generation = mtime_ns / 1000"));
  EXPECT_FALSE(PlacedFiles::Read(*database)->Has(stamp)) << "a program made it";
}

TEST_F(CopiedRecordsTest, WhatIsReplacedMeanwhileHasItsOwnRecordInTheCopy) {
  const FileStamp before = Place("o");
  const std::string copy = folder_ / "copy.db";
  fs::copy_file(Database(), copy);  // a copy of a moment earlier
  std::ofstream(folder_ / "backup/buckets/b/unknown") << "a program made it";
  const FileStamp after = Place("o");
  ASSERT_NE(before, after);
  auto meanwhile = RecordsMeanwhile::Open(Database());
  ASSERT_TRUE(meanwhile) << meanwhile.error().message;
  EXPECT_TRUE(meanwhile->Keep("b/o", after));
  EXPECT_TRUE(meanwhile->Keep("b/unknown", StampOf("backup/buckets/b/unknown")));
  EXPECT_TRUE(meanwhile->Keep("b/.%unknown", after));
  EXPECT_TRUE(meanwhile->Keep("file", after));
  ASSERT_TRUE(meanwhile->PutInto(copy));
  auto records = Records::Open(copy);
  const auto found = records->FindObjects("b", "o");
  ASSERT_TRUE(found && found->size() == 1);
  EXPECT_EQ((*found)[0].stamp, after);
}

}  // namespace
}  // namespace trainyard::storage

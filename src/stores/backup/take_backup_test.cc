#include "stores/backup/take_backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/sqlite/database.h"
#include "stores/backup/backup_folder.h"
#include "stores/backup/restore_backup.h"
#include "stores/storage/records.h"

namespace trainyard::backup::take_backup_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::array<std::string_view, 1> kSchema = {"CREATE TABLE t(a INTEGER PRIMARY KEY)"};

class TakeBackupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "take_backup_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Write("buckets/b/object", "content");
    Write("secrets/7", "hush");
    Write("run/secret", "key");
    Write("run/server.json", "{}");
    Write("admin-token", "the whole server");
    Write("images/layer", "large");
    Write("environments/runtimes.d/9.9.json", "{}");
    Write("environments/runtimes/2.15/bin/python", "large");
    database_.emplace(*sqlite::Database::Open(
        {.path = Data() + "/trainyard.db", .application_id = 7, .migrations = kSchema}));
    ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES(1), (2)"));
  }
  void TearDown() override {
    database_.reset();
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::string Data() const { return folder_ / "data"; }
  [[nodiscard]] std::string Backup() const { return folder_ / "backup"; }
  [[nodiscard]] std::string Restored() const { return folder_ / "restored"; }
  void Write(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(Data()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<control::v1::BackupManifest> Take() {
    return TakeBackup({.data = Data(), .folder = Backup(), .unfinished_jobs = 3, .clock = &clock_}, nullptr,
                      {});
  }
  Result<RestoreReport> Restore() { return RestoreInto(Restored()); }
  Result<RestoreReport> RestoreInto(const std::string& data) {
    return RestoreBackup(Backup(), data, [](const std::string&) {});
  }

  SystemClock clock_;
  fs::path folder_;
  std::optional<sqlite::Database> database_;
};

TEST_F(TakeBackupTest, WhatItHoldsComesBack) {
  const auto manifest = Take();
  ASSERT_TRUE(manifest) << manifest.error().message;
  ASSERT_EQ(manifest->databases_size(), 1);
  EXPECT_EQ(manifest->databases(0).schema_version(), 1);
  EXPECT_EQ(manifest->databases(0).rows().at("t"), 2);
  EXPECT_FALSE(fs::exists(Backup() + "/admin-token"));
  ASSERT_TRUE(database_->Execute("INSERT INTO t VALUES(3)"));
  const auto report = Restore();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->manifest.unfinished_jobs(), 3);
  EXPECT_EQ(ReadFile(Restored() + "/buckets/b/object").value(), "content");
  EXPECT_EQ(ReadFile(Restored() + "/secrets/7").value(), "hush");
  EXPECT_EQ(ReadFile(Restored() + "/run/secret").value(), "key");
  EXPECT_TRUE(fs::exists(Restored() + "/environments/runtimes.d/9.9.json"));
  for (const char* absent : {"images", "environments/runtimes", "run/server.json", "attempts", "admin-token"})
    EXPECT_FALSE(fs::exists(Restored() + "/" + absent)) << absent;
  auto restored = sqlite::Database::OpenAsItIs(Restored() + "/trainyard.db");
  auto count = restored->Prepare("SELECT count(*) FROM t");
  auto row = count->Query();
  ASSERT_TRUE(row.Next().value());
  EXPECT_EQ(row.Int(0), 2);
  EXPECT_EQ(ReadRestoredFrom(Restored())->data_directory(), Data());
}

TEST_F(TakeBackupTest, EachRestoreCountsOnInALineageOfItsOwn) {
  ASSERT_TRUE(Take());
  ASSERT_TRUE(Restore());
  const std::string second = Restored() + "-2";
  ASSERT_TRUE(RestoreInto(second));
  EXPECT_EQ(LineageOf(Data()), 0);
  EXPECT_NE(LineageOf(Restored()), 0);
  EXPECT_NE(LineageOf(Restored()), LineageOf(second));
}

TEST_F(TakeBackupTest, AFolderWithOtherThingsIsRefusedAndAnUnfinishedBackupReplaced) {
  fs::create_directories(Backup());
  std::ofstream(Backup() + "/holiday.jpg") << "x";
  EXPECT_THAT(Take().error().message, HasSubstr("does not exist yet"));
  std::ofstream(Backup() + "/" + kUnfinishedBackup) << "";
  EXPECT_THAT(Restore().error().message, HasSubstr("unfinished backup"));
  ASSERT_TRUE(Take());
  EXPECT_FALSE(fs::exists(Backup() + "/holiday.jpg"));
  EXPECT_THAT(Take().error().message, HasSubstr("does not exist yet")) << "a finished one is kept";
}

TEST_F(TakeBackupTest, OneThatIsStoppedIsMarkedAndNotRestored) {
  std::stop_source stop;
  stop.request_stop();
  const auto taken =
      TakeBackup({.data = Data(), .folder = Backup(), .clock = &clock_}, nullptr, stop.get_token());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kCancelled);
  EXPECT_THAT(Restore().error().message, HasSubstr("unfinished backup"));
  EXPECT_FALSE(fs::exists(Restored()));
}

TEST_F(TakeBackupTest, ADamagedDatabaseIsNamed) {
  ASSERT_TRUE(Take());
  std::ofstream(Backup() + "/trainyard.db", std::ios::app) << "x";
  const auto report = Restore();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Code::kDataLoss);
  EXPECT_THAT(report.error().message, HasSubstr("trainyard.db is damaged"));
  EXPECT_TRUE(fs::exists(Restored() + "/" + kUnfinishedRestore)) << "no server starts there";
}

TEST_F(TakeBackupTest, AMissingObjectIsNoticed) {
  ASSERT_TRUE(Take());
  fs::remove(Backup() + "/buckets/b/object");
  EXPECT_THAT(Restore().error().message, HasSubstr("has 0 files, and 1 when it was made"));
}

TEST_F(TakeBackupTest, IsRestoredToAnEmptyFolderOnly) {
  ASSERT_TRUE(Take());
  fs::create_directories(Restored());
  std::ofstream(Restored() + "/x") << "";
  EXPECT_FALSE(Restore());
  fs::remove(Restored() + "/x");
  EXPECT_TRUE(Restore());
}

TEST_F(TakeBackupTest, IsNotMadeInItsOwnSource) {
  const auto taken =
      TakeBackup({.data = Data(), .folder = Data() + "/buckets/x", .clock = &clock_}, nullptr, {});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().field, "directory");
  EXPECT_TRUE(TakeBackup({.data = Data(), .folder = Data() + "/backups/x", .clock = &clock_}, nullptr, {}));
}

/// Places an object as the server does: first its record, then the file.
void Place(const std::string& data, const std::string& name, const std::string& content) {
  fs::create_directories(data + "/uploads");
  std::ofstream(data + "/uploads/next") << content;
  struct stat status{};
  ASSERT_EQ(::stat((data + "/uploads/next").c_str(), &status), 0);
  storage::ObjectRecord record{.stamp = storage::StampOf(status), .resource = {}};
  record.resource.set_bucket("b");
  record.resource.set_name(name);
  record.resource.set_generation(record.stamp.mtime_ns / 1000 + 7);
  record.resource.set_content_type("text/" + content);
  auto records = storage::Records::Open(data + "/objects.db");
  ASSERT_TRUE(records && records->PutObject(record, std::nullopt));
  fs::rename(data + "/uploads/next", data + "/buckets/b/" + name);
}

TEST_F(TakeBackupTest, AnObjectThatIsReplacedMeanwhileKeepsRecordAndContentOfOneMoment) {
  for (const char* name : {"object", "kept"}) Place(Data(), name, "before");
  bool replaced = false;
  const auto replace = [&](const BackupProgress& progress) {
    if (progress.phase != "buckets" && progress.phase != "objects.db") return;
    if (std::exchange(replaced, true)) return;  // the databases are older by a moment
    Place(Data(), "object", "after");
    Place(Data(), "new", "after");
  };
  const auto taken = TakeBackup({.data = Data(), .folder = Backup(), .clock = &clock_}, replace, {});
  ASSERT_TRUE(taken) << taken.error().message;
  ASSERT_TRUE(replaced);
  const auto report = Restore();
  ASSERT_TRUE(report) << report.error().message;
  auto records = storage::Records::Open(Restored() + "/objects.db");
  for (const auto& [name, content] :
       {std::pair("object", "after"), std::pair("new", "after"), std::pair("kept", "before")}) {
    struct stat status{};
    ASSERT_EQ(::stat((Restored() + "/buckets/b/" + name).c_str(), &status), 0) << name;
    const auto found = records->FindObjects("b", name);
    ASSERT_TRUE(found && found->size() == 1) << name;
    EXPECT_EQ((*found)[0].stamp, storage::StampOf(status)) << name << ": the record is of another file";
    EXPECT_EQ((*found)[0].resource.content_type(), std::string("text/") + content) << name;
    EXPECT_EQ(ReadFile(Restored() + "/buckets/b/" + name).value(), content);
  }
}

}  // namespace
}  // namespace trainyard::backup::take_backup_test

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/sqlite/database.h"
#include "programs/image/reference.h"
#include "stores/backup/backup_folder.h"
#include "stores/backup/restore_backup.h"
#include "stores/backup/take_backup.h"

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;
using control::v1::BackupManifest;
using testing::HasSubstr;

constexpr std::array<std::string_view, 1> kSchema = {"CREATE TABLE t(a INTEGER PRIMARY KEY)"};

/// A valid backup that is modified before it is restored.
class HostileBackup : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::canonical(testing::TempDir()).string() + "/hostile_backup_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Write(folder_ / "data/buckets/b/object", "content");
    Write(folder_ / "data/secrets/7", "hush");
    Write(folder_ / "data/run/secret", "key");
    Write(folder_ / "outside/file", "of the machine");
    ASSERT_TRUE(sqlite::Database::Open(
        {.path = folder_ / "data/trainyard.db", .application_id = 7, .migrations = kSchema}));
    const auto taken =
        TakeBackup({.data = folder_ / "data", .folder = Backup(), .clock = &clock_}, nullptr, {});
    ASSERT_TRUE(taken) << taken.error().message;
    manifest_ = *taken;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Backup() const { return folder_ / "backup"; }
  [[nodiscard]] std::string Restored() const { return folder_ / "restored"; }
  static void Write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Replace(const std::string& name, const fs::path& target) const {
    fs::remove_all(fs::path(Backup()) / name);
    fs::create_symlink(target, fs::path(Backup()) / name);
  }
  void AddTree(const std::string& name) {
    BackupManifest::Tree& tree = *manifest_.add_trees();
    tree.set_name(name);
    tree.set_files(1);
  }
  /// Why the backup is refused; empty: it was restored.
  std::string Why() {
    EXPECT_TRUE(WriteManifest(Backup(), manifest_));
    const auto report = RestoreBackup(Backup(), Restored(), [](const std::string&) {});
    EXPECT_EQ(ReadFile(folder_ / "outside/file").value(), "of the machine");
    return report ? "" : report.error().message;
  }

  SystemClock clock_;
  fs::path folder_;
  BackupManifest manifest_;
};

TEST_F(HostileBackup, AsItWasMadeItIsRestored) { EXPECT_EQ(Why(), ""); }

TEST_F(HostileBackup, NamesLeadNowhere) {
  const BackupManifest good = manifest_;
  for (const std::string name : {"..",
                                 ".",
                                 "",
                                 "../outside",
                                 "/etc",
                                 "buckets/../../outside",
                                 "bucket-dirs/..",
                                 "bucket-dirs/../../x",
                                 "bucket-dirs/",
                                 "run",
                                 "run/server.json",
                                 "restore-unfinished",
                                 "attempts",
                                 "trainyard.db",
                                 "trainyard.db-journal",
                                 "objects.db-wal",
                                 "objects.db-shm",
                                 "objects.db-mj0123",
                                 "x.db",
                                 "x.db.y"}) {
    manifest_ = good;
    AddTree(name);
    EXPECT_THAT(Why(), HasSubstr("names '" + name + "', which no backup has")) << name;
    EXPECT_FALSE(fs::exists(Restored())) << name;
  }
  for (const std::string name :
       {"../outside/x.db", "/tmp/x.db", "buckets/x.db", "secrets", "engines.db", "a/../b.db", "other.db"}) {
    manifest_ = good;
    manifest_.add_databases()->set_name(name);
    EXPECT_THAT(Why(), HasSubstr("names '" + name + "'")) << name;
    EXPECT_FALSE(fs::exists(Restored())) << name;
  }
}

TEST_F(HostileBackup, WhatNoServerMakesIsNotTaken) {
  for (const char* name : {"admin-token", "server.log"}) {
    Write(fs::path(Backup()) / name, "of an older backup");
    AddTree(name);
  }
  EXPECT_EQ(Why(), "");
  EXPECT_FALSE(fs::exists(Restored() + "/admin-token"));
  EXPECT_FALSE(fs::exists(Restored() + "/server.log"));
}

TEST_F(HostileBackup, AMarkThatIsALinkMakesNoFile) {
  fs::create_directories(Restored());
  fs::create_symlink(folder_ / "outside/new", Restored() + "/" + kUnfinishedRestore);
  EXPECT_THAT(Why(), HasSubstr("is a link, which no unfinished restore has"));
  EXPECT_FALSE(fs::exists(folder_ / "outside/new"));
}

TEST_F(HostileBackup, LinksAreNotFollowed) {
  for (const char* name : {"buckets", "secrets"}) {
    Replace(name, folder_ / "outside");
    EXPECT_THAT(Why(), HasSubstr(std::string(name) + " is a link")) << name;
    EXPECT_FALSE(fs::exists(fs::path(Restored()) / name / "file")) << name;
    fs::remove(fs::path(Backup()) / name);
    fs::copy(folder_ / "data" / name, fs::path(Backup()) / name, fs::copy_options::recursive);
  }
  Replace("run", folder_ / "outside");
  EXPECT_THAT(Why(), HasSubstr("no run/secret"));
}

TEST_F(HostileBackup, ALinkAmongTheServersOwnFilesIsRefused) {
  Replace("secrets/7", folder_ / "outside/file");
  EXPECT_THAT(Why(), HasSubstr("7 is a link"));
}

TEST_F(HostileBackup, ADatabaseThatIsALinkIsRefused) {
  fs::rename(Backup() + "/trainyard.db", folder_ / "outside/trainyard.db");
  fs::create_symlink(folder_ / "outside/trainyard.db", Backup() + "/trainyard.db");
  EXPECT_THAT(Why(), HasSubstr("trainyard.db is a link"));
}

TEST_F(HostileBackup, NoFileIsSetuid) {
  ASSERT_EQ(::chmod((Backup() + "/buckets/b/object").c_str(), 06755), 0);
  EXPECT_EQ(Why(), "");
  struct stat status{};
  ASSERT_EQ(::stat((Restored() + "/buckets/b/object").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0755U);
}

TEST_F(HostileBackup, PipesAreNotOpened) {
  fs::remove(Backup() + "/secrets/7");
  ASSERT_EQ(::mkfifo((Backup() + "/secrets/7").c_str(), 0600), 0);
  EXPECT_THAT(Why(), HasSubstr("has 0 files"));
}

TEST_F(HostileBackup, TheManifestIsAFile) {
  fs::rename(Backup() + "/backup.json", folder_ / "outside/backup.json");
  fs::create_symlink(folder_ / "outside/backup.json", Backup() + "/backup.json");
  EXPECT_THAT(RestoreBackup(Backup(), Restored(), [](const std::string&) {}).error().message,
              HasSubstr("has no backup.json"));
}

TEST_F(HostileBackup, DatabasesRunNothing) {
  for (const std::string sql : {"CREATE TRIGGER evil AFTER UPDATE ON t BEGIN DELETE FROM t; END",
                                "CREATE VIEW evil AS SELECT 1", "CREATE VIRTUAL TABLE evil USING fts5(a)"}) {
    const std::string path = Backup() + "/trainyard.db";
    {
      auto database = sqlite::Database::OpenAsItIs(path);
      ASSERT_TRUE(database);
      const Status made = database->Execute(sql);
      if (!made && sql.contains("VIRTUAL")) continue;  // this SQLite has no such module
      ASSERT_TRUE(made) << made.error().message;
      ASSERT_TRUE(database->Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
    }
    manifest_.mutable_databases(0)->set_sha256(*image::Sha256OfFile(path));
    EXPECT_THAT(Why(), HasSubstr("'evil', which no database of ours has")) << sql;
    const std::string kind = sql.contains("TRIGGER") ? "TRIGGER" : sql.contains("VIEW") ? "VIEW" : "TABLE";
    auto database = sqlite::Database::OpenAsItIs(path);
    ASSERT_TRUE(database->Execute("DROP " + kind + " evil"));
  }
}

TEST_F(HostileBackup, ItsServersAttemptsAreThoseOfThisAccount) {
  const std::string attempts = folder_ / "outside/attempts";
  fs::create_directories(attempts);
  manifest_.set_data_directory(folder_ / "outside");
  manifest_.set_machine_id(MachineId());
  ASSERT_EQ(Why(), "");
  if (MachineId().empty()) GTEST_SKIP() << "this machine has no id";
  EXPECT_EQ(FormerAttempts(Restored()), attempts);
  fs::permissions(attempts, fs::perms::all);
  EXPECT_EQ(FormerAttempts(Restored()), "") << "others write there";
  fs::remove(attempts);
  fs::create_directory_symlink(folder_ / "data", attempts);
  EXPECT_EQ(FormerAttempts(Restored()), "");
}

}  // namespace
}  // namespace trainyard::backup

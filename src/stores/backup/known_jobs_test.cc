#include "stores/backup/known_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "stores/backup/recover.h"
#include "stores/logs/log_database.h"

namespace trainyard::backup {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class KnownJobsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "known_jobs_test.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    data_ = pattern;
    fs::create_directories(data_ + "/run");
  }
  void TearDown() override { fs::remove_all(data_); }

  void MakeAttempt(const std::string& id) const { fs::create_directories(data_ + "/attempts/" + id); }
  void MakeLog(std::int64_t uid) const {
    auto logs = logs::OpenLogDatabase(data_ + "/logs.db", false);
    ASSERT_TRUE(logs && logs->Execute("INSERT INTO jobs VALUES(" + std::to_string(uid) +
                                      ", 'p', 'census', 0, -1, 0)"));
  }
  [[nodiscard]] KnownJobs Look() const { return LookForJobs(data_, ""); }
  std::unique_ptr<store::JobStore> OpenJobs() {
    auto jobs = store::JobStore::Open(data_ + "/trainyard.db");
    EXPECT_TRUE(jobs) << jobs.error().message;
    return *std::move(jobs);
  }

  std::string data_;
};

TEST_F(KnownJobsTest, ANewDataDirectoryHasNone) {
  EXPECT_TRUE(CheckJobsFile(data_, Look()));
  EXPECT_TRUE(CheckNumbers(*OpenJobs(), data_, Look()));
}

TEST_F(KnownJobsTest, AMissingDatabaseIsNotMadeAnew) {
  MakeLog(7);
  MakeAttempt("9-master-replica-0-1");
  const Status refused = CheckJobsFile(data_, Look());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kFailedPrecondition);
  for (const char* said : {"trainyard.db is missing", "jobs up to number 9", "1 attempts of replicas",
                           "trainyard admin recover --data "})
    EXPECT_THAT(refused.error().message, HasSubstr(said));
  std::ofstream(RecoveredWordFile(data_)) << "";
  EXPECT_TRUE(CheckJobsFile(data_, Look()));
}

TEST_F(KnownJobsTest, OtherDatabasesSayThatThereWasOne) {
  std::ofstream(data_ + "/access.db") << "x";
  EXPECT_FALSE(CheckJobsFile(data_, Look()));
}

TEST_F(KnownJobsTest, NumbersThatOthersKnowAreNeverGivenOutAgain) {
  auto jobs = OpenJobs();
  MakeLog(7);
  const Status refused = CheckNumbers(*jobs, data_, Look());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("has lost jobs: it ends with number 0"));
  EXPECT_THAT(refused.error().message, HasSubstr("up to number 7 (p/census)"));
  std::ofstream(RecoveredWordFile(data_)) << "";
  EXPECT_TRUE(CheckNumbers(*jobs, data_, Look()));
  EXPECT_EQ(jobs->LastUid().value(), 7);
  EXPECT_FALSE(Look().operator_has_spoken) << "the word is taken once";
  EXPECT_TRUE(CheckNumbers(*jobs, data_, Look()));
}

TEST_F(KnownJobsTest, ADirectoryIsNoDatabase) {
  OpenJobs();
  EXPECT_TRUE(CheckDatabaseFiles(data_));
  fs::create_directory(data_ + "/access.db-wal");
  const Status refused = CheckDatabaseFiles(data_);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(data_ + "/access.db-wal is not a file: move it away"));
}

TEST_F(KnownJobsTest, WhatIsGoneIsNamed) {
  EXPECT_TRUE(WhatIsGone(data_).empty()) << "a new server";
  OpenJobs();
  for (const char* name : {"/logs.db", "/metrics.db", "/access.db", "/objects.db"})
    std::ofstream(data_ + name) << "x";
  std::ofstream(data_ + "/studies.db") << "";
  EXPECT_TRUE(WhatIsGone(data_).empty()) << "a first start that was killed";
  std::ofstream(data_ + "/run/server.json") << "{}";
  EXPECT_THAT(WhatIsGone(data_), testing::ElementsAre(HasSubstr("/studies.db is missing")));
}

TEST_F(KnownJobsTest, ADamagedDatabaseOfWhatCanBeMadeAnewIsPutAside) {
  EXPECT_TRUE(SetAsideIfDamaged(data_ + "/logs.db", "")) << "there is none";
  MakeLog(7);
  ASSERT_TRUE(SetAsideIfDamaged(data_ + "/logs.db", ""));
  EXPECT_TRUE(fs::exists(data_ + "/logs.db"));
  std::ofstream(data_ + "/logs.db") << std::string(8192, 'x');
  EXPECT_EQ(Look().uid_max, 0) << "an unreadable one knows nothing";
  ASSERT_TRUE(SetAsideIfDamaged(data_ + "/logs.db", ""));
  EXPECT_FALSE(fs::exists(data_ + "/logs.db"));
  const Error told =
      ExplainDamage({Code::kDataLoss, "file is not a database", {}}, data_, "access.db", Look());
  EXPECT_THAT(told.message, HasSubstr(data_ + "/access.db is damaged (file is not a database)"));
}

}  // namespace
}  // namespace trainyard::backup

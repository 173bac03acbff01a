#include "engine/local/google_front_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace trainyard::engine {
namespace {

namespace fs = std::filesystem;

class GoogleFrontFilesTest : public testing::Test {
 protected:
  GoogleFrontFilesTest() {
    std::string pattern = testing::TempDir() + "google_front_files_test.XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::ofstream(folder_ / "own.pem") << "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    files_ = {.authority = folder_ / "own.pem",
              .folder = folder_ / "front",
              .bundle = folder_ / "front/ca-bundle.pem",
              .project = "p"};
  }
  ~GoogleFrontFilesTest() override { fs::remove_all(folder_); }

  /// Name -> inode: a file that was written again has another one.
  [[nodiscard]] std::map<std::string, ino_t> Made() const {
    std::map<std::string, ino_t> made;
    for (const auto& entry : fs::directory_iterator(folder_ / "front")) {
      struct stat file{};
      EXPECT_EQ(stat(entry.path().c_str(), &file), 0);
      made[entry.path().filename()] = file.st_ino;
    }
    return made;
  }

  fs::path folder_;
  GoogleFrontFiles files_;
};

TEST_F(GoogleFrontFilesTest, WhatIsRightIsNotWrittenAgain) {
  fs::create_directory(folder_ / "front");
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  const auto made = Made();
  EXPECT_GE(made.size(), 5U);
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  EXPECT_EQ(Made(), made);
  std::ofstream(folder_ / "front" / made.begin()->first) << "garbage";
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  EXPECT_NE(Made(), made);
  EXPECT_TRUE(CompleteGoogleFrontFiles());
}

TEST_F(GoogleFrontFilesTest, WhatReplicasMayNotReadTheyMayReadAgain) {
  fs::create_directory(folder_ / "front");
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  for (const auto& [name, inode] : Made()) fs::permissions(folder_ / "front" / name, fs::perms::owner_read);
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  for (const auto& [name, inode] : Made())
    EXPECT_EQ(fs::status(folder_ / "front" / name).permissions(), fs::perms{0644}) << name;
}

TEST_F(GoogleFrontFilesTest, OfAnotherBundleAnotherTrustStoreIsMade) {
  fs::create_directory(folder_ / "front");
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  const auto made = Made();
  std::ofstream(files_.authority) << "-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n";
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  const auto again = Made();
  int changed = 0;
  for (const auto& [name, inode] : made) changed += again.at(name) == inode ? 0 : 1;
  EXPECT_EQ(changed, 5) << "two bundles, the store, the archive for Google's client, and the note";
}

/// As on a full disk: the server starts, but no replica starts until the files can be written.
TEST_F(GoogleFrontFilesTest, WhatCannotBeWrittenIsTriedAgainBeforeAReplicaStarts) {
  ASSERT_TRUE(WriteGoogleFrontFiles(files_));
  const Status refused = CompleteGoogleFrontFiles();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("cannot write"));
  fs::create_directory(folder_ / "front");
  EXPECT_TRUE(CompleteGoogleFrontFiles());
  EXPECT_GE(Made().size(), 5U);
}

TEST_F(GoogleFrontFilesTest, WithoutAnAuthorityThereIsNoFront) {
  fs::remove(files_.authority);
  EXPECT_FALSE(WriteGoogleFrontFiles(files_));
}

}  // namespace
}  // namespace trainyard::engine

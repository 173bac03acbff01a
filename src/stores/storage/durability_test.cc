// Checks what a full disk and kill -9 leave.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <random>

#include "stores/storage/checksum.h"
#include "stores/storage/testing/storage_fixture.h"
#include "stores/storage/uploads.h"

namespace trainyard::storage {
namespace {

constexpr std::size_t kDiskBytes = std::size_t{4} << 20;

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    const std::string options = "size=" + std::to_string(kDiskBytes);
    if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options.c_str()) != 0) {
      GTEST_SKIP() << "SKIPPED: mount is not allowed here, so no full disk can be made";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  TemporaryFolder folder_;
  bool mounted_ = false;
};

TEST_F(FullDisk, RefusesWithTheReasonAndLosesNothing) {
  Storage storage(folder_.path());
  const std::string small(100'000, 's');
  ASSERT_TRUE(storage.Put("kept", small));
  const auto refused = storage.Put("too-big", std::string(kDiskBytes + 1, 'b'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("No space left on device"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(storage.Get("kept"), small);
  // The refused upload's file is removed on the pool: a write of that size succeeds once that is done.
  std::optional<Result<v1::Object>> again;
  for (int attempt = 0; attempt < 100 && (!again || !*again); ++attempt)
    again = storage.Put("fits", std::string(kDiskBytes / 2, 'f'));
  ASSERT_TRUE(*again) << again->error().message;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "uploads"));
}

TEST_F(FullDisk, AResumableUploadGoesOnWhenThereIsRoomAgain) {
  Storage storage(folder_.path());
  ASSERT_TRUE(storage.Put("ballast", std::string(kDiskBytes / 2, 'b')));
  v1::Object resource;
  resource.set_bucket("bucket");
  resource.set_name("big");
  Uploads& uploads = storage.buckets().uploads();
  const std::string id = *storage.Await(uploads.Start(resource, {}, {}));
  const Uploads::Turn turn = *storage.Await(uploads.Take(id, "bucket"));
  const std::string piece(kDiskBytes / 4, 'p');
  ASSERT_TRUE(storage.Await(uploads.Append(turn, piece)));
  const Status full = storage.Await(uploads.Append(turn, std::string(kDiskBytes / 2, 'q')));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  const Uploads::Turn later = *storage.Await(uploads.Take(id, "bucket"));
  EXPECT_EQ(later.received, piece.size()) << "a piece is kept whole or not at all";
  ASSERT_TRUE(storage.Await(storage.buckets().Delete("bucket", "ballast")));
  ASSERT_TRUE(storage.Await(uploads.Append(later, piece)));
  const auto done = storage.Await(uploads.Finish(later, {}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(storage.Get("big"), piece + piece);
}

/// Object number n of the child, identified by name and contents.
std::string ContentsOf(const std::string& name) {
  std::string contents;
  for (int i = 0; i < 20'000; ++i) contents += name;
  return contents;
}

/// Writes objects, some over and over, and reports each name once it was acknowledged. Never returns.
[[noreturn]] void WriteForEver(const std::filesystem::path& data, int acknowledged) {
  Storage storage(data);
  for (int n = 0;; ++n) {
    const std::string name = n % 3 == 0 ? "same" : "dir/" + std::to_string(n);
    if (!storage.Put(name, ContentsOf(name))) ::_exit(3);
    const std::string line = name + "\n";
    if (::write(acknowledged, line.data(), line.size()) < 0) ::_exit(4);
  }
}

TEST(Kill, LeavesNoPartialObjectAndLosesNoAcknowledgedOne) {
  const TemporaryFolder folder;
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 8; ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    if (child == 0) WriteForEver(folder.path(), pipes[1]);
    ::close(pipes[1]);
    std::FILE* lines = ::fdopen(pipes[0], "r");
    std::vector<std::string> acknowledged;
    char line[64];
    const auto count = 3 + random() % 20;
    while (acknowledged.size() < count && std::fgets(line, sizeof line, lines) != nullptr) {
      acknowledged.emplace_back(line, std::string_view(line).size() - 1);
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    while (std::fgets(line, sizeof line, lines) != nullptr) {
      acknowledged.emplace_back(line, std::string_view(line).size() - 1);
    }
    std::fclose(lines);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;

    Storage storage(folder.path());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "uploads"));
    for (const std::string& name : acknowledged) ASSERT_EQ(storage.Get(name), ContentsOf(name)) << name;
    const auto page = storage.Await(storage.buckets().List("bucket", {}));
    ASSERT_TRUE(page) << page.error().message;
    for (const auto& object : page->items()) {
      ASSERT_EQ(storage.Get(object.name()), ContentsOf(object.name()));
      Checksum checksum;
      checksum.Update(ContentsOf(object.name()));
      ASSERT_EQ(object.md5_hash(), checksum.Get().md5_hash);
    }
  }
}

}  // namespace
}  // namespace trainyard::storage

#include "base/async/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/async/testing/temporary_folder.h"
#include "base/result.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

class Beneath : public testing::TestWithParam<BeneathWay> {
 protected:
  Beneath() {
    fs::create_directories(root() / "a" / "b");
    fs::create_directories(outside() / "b");
    std::ofstream(root() / "a" / "file") << "inside";
    std::ofstream(outside() / "file") << "secret";
    fs::create_directory_symlink(outside(), root() / "evil");
    fs::create_directory_symlink("a", root() / "inner");
    fs::create_directory_symlink("..", root() / "a" / "up");
    fs::create_symlink(outside() / "file", root() / "a" / "link");
    top_ = UniqueFd(::open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  fs::path root() const { return fs::path(folder_.path()) / "root"; }
  fs::path outside() const { return fs::path(folder_.path()) / "outside"; }
  Result<UniqueFd> Open(const std::vector<std::string>& names) const {
    return OpenFolderBeneath(top_.get(), names, GetParam());
  }
  bool Opens(const std::vector<std::string>& names) const {
    const auto opened = Open(names);
    if (!opened) EXPECT_EQ(opened.error().code, Code::kNotFound) << opened.error().message;
    return opened.has_value();
  }

  TemporaryFolder folder_;
  UniqueFd top_;
};
INSTANTIATE_TEST_SUITE_P(Ways, Beneath, testing::Values(BeneathWay::kBest, BeneathWay::kSteps),
                         [](const auto& way) { return way.param == BeneathWay::kBest ? "best" : "steps"; });

TEST_P(Beneath, OpensFolders) {
  EXPECT_TRUE(Opens({}));
  EXPECT_TRUE(Opens({"a"}));
  EXPECT_TRUE(Opens({"a", "b"}));
  EXPECT_FALSE(Opens({"a", "c"}));
  EXPECT_FALSE(Opens({"a", "file"}));
  EXPECT_FALSE(Opens({"a", "file", "b"}));
}

TEST_P(Beneath, FollowsNoLinkWhereverItIs) {
  EXPECT_FALSE(Opens({"evil"}));
  EXPECT_FALSE(Opens({"evil", "b"}));
  EXPECT_FALSE(Opens({"inner"})) << "not even one that stays inside";
  EXPECT_FALSE(Opens({"inner", "b"}));
  EXPECT_FALSE(Opens({"a", "up"}));
  EXPECT_FALSE(Opens({"a", "up", "evil"}));
}

TEST_P(Beneath, TakesComponentsOnly) {
  for (const char* name : {"", ".", "..", "a/b", "/etc", "../outside"}) EXPECT_FALSE(Opens({name})) << name;
  EXPECT_FALSE(Opens({"a", "..", ".."}));
  EXPECT_FALSE(Opens({std::string("a\0b", 3)}));
}

TEST_P(Beneath, GoesDeeperThanAPathIsLong) {
  const std::string name(200, 'n');
  std::vector<std::string> names;
  UniqueFd folder(::open(root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), name.c_str(), 0755), 0);
    folder = UniqueFd(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    names.push_back(name);
  }
  const auto opened = Open(names);
  ASSERT_TRUE(opened) << opened.error().message;
  struct stat wanted{};
  struct stat got{};
  ASSERT_EQ(::fstat(folder.get(), &wanted), 0);
  ASSERT_EQ(::fstat(opened->get(), &got), 0);
  EXPECT_EQ(wanted.st_ino, got.st_ino);
  names.push_back("missing");
  EXPECT_FALSE(Opens(names));
}

/// Another thread keeps swapping a directory for a link: opening returns the directory or fails.
TEST_P(Beneath, HoldsWhileAFolderIsSwappedForALink) {
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    const fs::path folder = root() / "a";
    const fs::path aside = root() / "aside";
    while (!done) {
      fs::rename(folder, aside);
      fs::create_directory_symlink(outside(), folder);
      fs::remove(folder);
      fs::rename(aside, folder);
    }
  });
  struct stat secret{};
  ASSERT_EQ(::stat((outside() / "b").c_str(), &secret), 0);
  for (int i = 0; i < 20'000; ++i) {
    const auto opened = Open({"a", "b"});
    if (!opened) continue;
    struct stat got{};
    ASSERT_EQ(::fstat(opened->get(), &got), 0);
    ASSERT_NE(got.st_ino, secret.st_ino);
  }
  done = true;
  swapper.join();
}

TEST_P(Beneath, FilesAreRegularOnes) {
  const fs::path folder = root() / "a";
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0644), 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (folder / "socket").c_str(), sizeof address.sun_path - 1);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  if (::mknod((folder / "device").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    std::printf("no right to make devices here\n");
  }
  const UniqueFd opened = *Open({"a"});
  EXPECT_TRUE(OpenFileBeneath(opened.get(), "file"));
  for (const char* name : {"pipe", "socket", "device", "link", "b", "up", "missing", ".", "..", "", "b/c"}) {
    const auto file = OpenFileBeneath(opened.get(), name);
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().code, Code::kNotFound) << name << ": " << file.error().message;
  }
}

TEST_P(Beneath, ALeaseHoldsNobody) {
  const UniqueFd opened = *Open({"a"});
  const UniqueFd holder(::open((root() / "a" / "file").c_str(), O_RDWR | O_CLOEXEC));
  if (::fcntl(holder.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases on this file system";
  ::signal(SIGIO, SIG_IGN);
  const auto file = OpenFileBeneath(opened.get(), "file");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Code::kUnavailable);
  ASSERT_EQ(::fcntl(holder.get(), F_SETLEASE, F_UNLCK), 0);
  EXPECT_TRUE(OpenFileBeneath(opened.get(), "file"));
}

}  // namespace
}  // namespace trainyard

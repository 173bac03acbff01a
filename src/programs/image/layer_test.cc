#include "programs/image/layer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/async/file.h"
#include "base/async/remove_tree.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "programs/image/layer_folder.h"
#include "programs/image/reference.h"
#include "programs/image/tar_for_test.h"

namespace trainyard::image {
namespace {

namespace fs = std::filesystem;

class Layer : public testing::Test {
 protected:
  Result<std::int64_t> Unpack(const std::string& blob, const std::string& tar) {
    fs::create_directories(root_);
    EXPECT_TRUE(WriteFileAtomically(folder_.path() / "blob", blob));
    return UnpackLayer(folder_.path() / "blob", Sha256(tar), root_, {});
  }
  Result<std::int64_t> Unpack(const std::string& tar) { return Unpack(tar, tar); }
  [[nodiscard]] struct stat Look(const std::string& path) const {
    struct stat there{};
    EXPECT_EQ(::lstat((root_ / path).c_str(), &there), 0) << path;
    return there;
  }
  [[nodiscard]] std::string Text(const std::string& path) const {
    return ReadFile(root_ / path).value_or("(none)");
  }
  [[nodiscard]] std::string Xattr(const std::string& path, const char* name) const {
    std::array<char, 64> value{};
    const ssize_t size = ::lgetxattr((root_ / path).c_str(), name, value.data(), value.size());
    return size < 0 ? "(none)" : std::string(value.data(), static_cast<std::size_t>(size));
  }
  [[nodiscard]] bool IsWhiteout(const std::string& path) const {
    const struct stat there = Look(path);
    return S_ISCHR(there.st_mode) && there.st_rdev == 0;
  }

  environment::TemporaryFolder folder_;
  fs::path root_ = folder_.path() / "layer";
};

TEST_F(Layer, KeepsWhatTheArchiveSays) {
  if (::geteuid() != 0) GTEST_SKIP() << "owners need root";
  const std::string xattrs = PaxRecord("SCHILY.xattr.user.colour", "red") +
                             PaxRecord("SCHILY.xattr.trusted.overlay.redirect", "/etc") +
                             PaxRecord("SCHILY.xattr.user.overlay.opaque", "y");
  const std::string tar = Tar({{"./", '5', "", "", 0711, 5, 6},
                               {"./bin/", '5', "", "", 0555},
                               {"PaxHeaders/run", 'x', xattrs},
                               {"./bin/run", '0', "#!x", "", 04755, 1000, 1001},
                               {"./bin/link", '2', "", "/usr/bin/../../etc/passwd"},
                               {"./bin/same", '1', "", "bin/run"},
                               {"./fifo", '6'},
                               {"./deep/er/file", '0', "x"},
                               {"./tmp/implied", '0', "y"},
                               {"./null", '3', "", "", 0666, 0, 0, 1, 3}});
  for (const std::string& blob :
       {tar, Gzip(tar), Zstd(tar), Gzip(tar.substr(0, 700)) + Gzip(tar.substr(700))}) {
    const Result<std::int64_t> bytes = Unpack(blob, tar);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ(*bytes, 5);
    EXPECT_EQ(Look("").st_mode & 07777U, 0711U);
    EXPECT_EQ(Look("").st_uid, 5U);
    EXPECT_EQ(Look("bin").st_mode & 07777U, 0555U);
    EXPECT_EQ(Look("bin").st_mtim.tv_sec, 1'000'000'000);
    EXPECT_EQ(Look("bin/run").st_mode & 07777U, 04755U);
    EXPECT_EQ(Look("bin/run").st_uid, 1000U);
    EXPECT_EQ(Look("bin/run").st_gid, 1001U);
    EXPECT_EQ(Look("bin/run").st_mtim.tv_sec, 1'000'000'000);
    EXPECT_EQ(Look("bin/run").st_nlink, 2U);
    EXPECT_EQ(Text("bin/same"), "#!x");
    EXPECT_EQ(fs::read_symlink(root_ / "bin/link"), "/usr/bin/../../etc/passwd");
    EXPECT_EQ(Xattr("bin/run", "user.colour"), "red");
    EXPECT_EQ(Xattr("bin/run", "trusted.overlay.redirect"), "(none)");
    EXPECT_EQ(Xattr("bin/run", "user.overlay.opaque"), "(none)");
    EXPECT_TRUE(S_ISFIFO(Look("fifo").st_mode));
    EXPECT_TRUE(S_ISCHR(Look("null").st_mode));
    EXPECT_EQ(Look("deep/er").st_mode & 07777U, 0755U);
    EXPECT_EQ(Look("tmp").st_mode & 07777U, 01777U);
    static_cast<void>(RemoveTree(root_));
  }
}

TEST_F(Layer, GivesDeletionsOverlaysForm) {
  const std::string tar = Tar({{".wh.gone", '0'},
                               {"dir/", '5', "", "", 0755},
                               {"dir/.wh..wh..opq", '0'},
                               {"dir/new", '0', "n"},
                               {"other/.wh.old", '0'},
                               {"back", '0', "b"},
                               {".wh.back", '0'},
                               {".wh.dir2", '0'},
                               {"dir2/", '5', "", "", 0755},
                               {".wh..wh.plnk/1.2", '0'}});
  ASSERT_TRUE(Unpack(tar));
  EXPECT_TRUE(IsWhiteout("gone"));
  EXPECT_TRUE(IsWhiteout("other/old"));
  EXPECT_EQ(Text("back"), "b");
  EXPECT_EQ(Text("dir/new"), "n");
  EXPECT_EQ(Xattr("dir", "user.overlay.opaque"), "y");
  EXPECT_EQ(Xattr("dir2", "user.overlay.opaque"), "y");
  EXPECT_EQ(Xattr("other", "user.overlay.opaque"), "(none)");
  if (::geteuid() == 0) EXPECT_EQ(Xattr("dir", "trusted.overlay.opaque"), "y");
  EXPECT_FALSE(fs::exists(root_ / "dir/.wh..wh..opq"));
}

TEST_F(Layer, LaterEntriesReplaceEarlierOnes) {
  const std::string tar = Tar({{"a", '0', "first"},
                               {"a", '0', "second"},
                               {"d/x", '0', "x"},
                               {"d", '0', "now a file"},
                               {"l", '2', "", "/etc/passwd"},
                               {"l", '0', "not through the link"},
                               {"f", '0', "f"},
                               {"f/", '5', "", "", 0700},
                               {"f/in", '0', "i"}});
  ASSERT_TRUE(Unpack(tar));
  EXPECT_EQ(Text("a"), "second");
  EXPECT_EQ(Text("d"), "now a file");
  EXPECT_EQ(Text("l"), "not through the link");
  EXPECT_EQ(Text("f/in"), "i");
}

TEST_F(Layer, KeepsLinksInside) {
  // Paths that seem to lead out of the layer lead to its own root: nothing here may write to the machine's
  // directories.
  const fs::path outside = folder_.path() / "outside";
  fs::create_directories(outside);
  fs::create_directories(root_ / "unrelated");
  static_cast<void>(RemoveTree(root_));
  const std::string up = "../../../../../../../../.." + outside.string();
  const std::string tar = Tar({{outside.string().substr(1) + "/", '5', "", "", 0755},
                               {"absolute", '2', "", outside.string()},
                               {"absolute/a", '0', "a"},
                               {"relative", '2', "", up},
                               {"relative/b", '0', "b"}});
  ASSERT_TRUE(Unpack(tar));
  EXPECT_TRUE(fs::is_empty(outside));
  EXPECT_EQ(Text(outside.string().substr(1) + "/a"), "a");
  EXPECT_EQ(Text(outside.string().substr(1) + "/b"), "b");
}

TEST_F(Layer, TakesNamesOfAllLanguages) {
  const std::string tar = Tar({{"PaxHeaders/x", 'x', PaxRecord("path", "größe/模型.txt")}, {"x", '0', "g"}});
  ASSERT_TRUE(Unpack(tar));
  EXPECT_EQ(Text("größe/模型.txt"), "g");
}

TEST_F(Layer, LeavesHolesForZeros) {
  std::string content(std::size_t{4} << 20, '\0');
  content += "end";
  ASSERT_TRUE(Unpack(Gzip(Tar({{"big", '0', content}})), Tar({{"big", '0', content}})));
  EXPECT_EQ(Text("big"), content);
  EXPECT_LT(Look("big").st_blocks * 512, 1 << 20);
}

struct Hostile {
  const char* name;
  TarEntry entry;
  const char* part;
};
class RefusesLayer : public Layer, public testing::WithParamInterface<Hostile> {};

TEST_P(RefusesLayer, SaysWhy) {
  const Result<std::int64_t> bytes = Unpack(Tar({GetParam().entry}));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kInvalidArgument) << bytes.error().message;
  EXPECT_NE(bytes.error().message.find(GetParam().part), std::string::npos) << bytes.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Entries, RefusesLayer,
    testing::Values(Hostile{"up", {"../up", '0', "x"}, "leads out of it"},
                    Hostile{"up_inside", {"a/../../up", '0', "x"}, "leads out of it"},
                    Hostile{"folder_up", {"a/..", '5'}, "leads out of it"},
                    Hostile{"whiteout_up", {"../.wh.x", '0'}, "leads out of it"},
                    Hostile{"whiteout_dots", {".wh...", '0'}, "deletes no file"},
                    Hostile{"whiteout_empty", {".wh.", '0'}, "deletes no file"},
                    Hostile{"link_up", {"l", '1', "", "../../etc/passwd"}, "leads out of it"},
                    Hostile{"link_out", {"l", '1', "", "/etc/passwd"}, "which is not in it"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Layer, RefusesAWhiteoutThatIsADevice) {
  const Result<std::int64_t> bytes = Unpack(Tar({{"dev", '3', "", "", 0666, 0, 0, 0, 0}}));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ::geteuid() == 0 ? Code::kInvalidArgument : Code::kFailedPrecondition);
}

TEST_F(Layer, RefusesWhatIsDamaged) {
  const std::string tar = Tar({{"a", '0', std::string(100000, 'x')}});
  std::string packed = Gzip(tar);
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
  const std::string cut = Gzip(tar).substr(0, 60);
  for (const std::string& blob : {packed, cut, Gzip(Tar({{"b", '0', "other"}})), tar.substr(0, 2000)}) {
    const Result<std::int64_t> bytes = Unpack(blob, tar);
    ASSERT_FALSE(bytes);
    EXPECT_EQ(bytes.error().code, Code::kDataLoss) << bytes.error().message;
    static_cast<void>(RemoveTree(root_));
  }
  // libarchive asks the caller to try again for the rest.
  std::string header = Tar({{"a", '0', "x"}, {"b", '0', "y"}, {"c", '0', "z"}});
  header[1024] = 'B';
  const Result<std::int64_t> wrong = Unpack(header);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kDataLoss) << wrong.error().message;
  static_cast<void>(RemoveTree(root_));
  // A directory has no content: what follows it should be a header.
  EXPECT_EQ(Unpack(Tar({{"./", '0', "x"}})).error().code, Code::kDataLoss);
  static_cast<void>(RemoveTree(root_));
  const std::string text(5000, 't');
  const Result<std::int64_t> bytes = Unpack(text);
  ASSERT_FALSE(bytes);
  EXPECT_TRUE(bytes.error().code == Code::kInvalidArgument || bytes.error().code == Code::kDataLoss);
}

TEST_F(Layer, TakesTheEmptyOne) {
  const std::string tar(1024, '\0');
  EXPECT_EQ(Unpack(Gzip(tar), tar), 0);
}

TEST_F(Layer, Stops) {
  const std::string tar = Tar({{"a", '0', "x"}});
  ASSERT_TRUE(WriteFileAtomically(folder_.path() / "blob", tar));
  fs::create_directories(root_);
  std::stop_source stop;
  stop.request_stop();
  const auto bytes = UnpackLayer(folder_.path() / "blob", Sha256(tar), root_, stop.get_token());
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kCancelled);
}

TEST_F(Layer, SaysThatTheDiskIsFull) {
  fs::create_directories(root_);
  if (::mount("none", root_.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "this user cannot mount";
  const Result<std::int64_t> bytes = Unpack(Tar({{"a", '0', std::string(1 << 20, 'x')}}));
  ::umount2(root_.c_str(), MNT_DETACH);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kResourceExhausted) << bytes.error().message;
}

/// Runs the test in a child process as the user nobody.
int AsOrdinaryUser(const std::function<bool()>& test) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool dropped = ::setresgid(65534, 65534, 65534) == 0 && ::setresuid(65534, 65534, 65534) == 0;
    ::_exit(dropped && test() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(Layer, OrdinaryUsersOwnEverything) {
  if (::geteuid() != 0) GTEST_SKIP() << "this is one";
  fs::permissions(folder_.path(), fs::perms::all);
  const std::string tar = Tar({{"dir/", '5', "", "", 0555, 7, 8},
                               {"dir/file", '0', "x", "", 0600, 7, 8},
                               {"dir/.wh.gone", '0'},
                               {"dir/.wh..wh..opq", '0'}});
  EXPECT_EQ(AsOrdinaryUser([&] { return Unpack(tar).has_value(); }), 0);
  EXPECT_EQ(Look("dir/file").st_uid, 65534U);
  EXPECT_TRUE(IsWhiteout("dir/gone"));
  EXPECT_EQ(Xattr("dir", "user.overlay.opaque"), "y");
  EXPECT_EQ(AsOrdinaryUser([&] {
              static_cast<void>(RemoveTree(root_));
              return !fs::exists(root_);
            }),
            0);
  const std::string device = Tar({{"null", '3', "", "", 0666, 0, 0, 1, 3}});
  EXPECT_EQ(AsOrdinaryUser([&] {
              const auto bytes = Unpack(device);
              return !bytes && bytes.error().code == Code::kFailedPrecondition;
            }),
            0);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Row {
  const char* name;
  std::int64_t blob;
  std::int64_t unpacked;
  bool refused;
};

class Budget : public testing::TestWithParam<Row> {};
TEST_P(Budget, Rules) {
  const Row& row = GetParam();
  EXPECT_EQ(!UnpackBudget(row.blob).Spend(row.unpacked).has_value(), row.refused);
  // The same in pieces.
  UnpackBudget budget(row.blob);
  bool refused = false;
  for (std::int64_t left = row.unpacked; left > 0 && !refused; left -= row.unpacked / 4)
    refused = !budget.Spend(std::min(left, row.unpacked / 4)).has_value();
  EXPECT_EQ(refused, row.refused);
}
INSTANTIATE_TEST_SUITE_P(Rules, Budget,
                         testing::Values(Row{"small_nothing", 100, kGiB, false},
                                         Row{"large_nothing", 100, kGiB + 4, true},
                                         Row{"the_one_of_the_issue", 3 * kMiB / 2, 3 * kGiB / 2, true},
                                         Row{"a_hundredth", 20 * kMiB, 2000 * kMiB - 4, false},
                                         Row{"less", 20 * kMiB, 2000 * kMiB + 400, true},
                                         Row{"honest", 4 * kGiB, 12 * kGiB, false}),
                         [](const auto& row) { return row.param.name; });

TEST(UnpackBudgetTest, SaysBothFigures) {
  const Status spent = UnpackBudget(1'500'000).Spend(1'610'000'000);
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error(),
            InvalidArgument({},
                            "a layer of 1.5 MB unpacks to 1.6 GB or more, which is over 1.1 GB and more than "
                            "100 times its size: it is rejected; build the image without large empty files"));
}

TEST(UnpackBudgetTest, DoesNotOverflow) {
  UnpackBudget budget(INT64_MAX);
  EXPECT_TRUE(budget.Spend(INT64_MAX));
  EXPECT_TRUE(budget.Spend(INT64_MAX));
  EXPECT_TRUE(budget.Spend(-5));
}

TEST(DiskReserveTest, IsLessOnASmallDisk) {
  EXPECT_EQ(DiskReserve(1000 * kGiB), kGiB);
  EXPECT_EQ(DiskReserve(kGiB), kGiB / 20);
}

TEST(DiskGuardTest, KeepsTheReserve) {
  const environment::TemporaryFolder folder;
  const std::string disk = folder.path() / "disk";
  std::filesystem::create_directories(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=4m") != 0) GTEST_SKIP() << "this user cannot mount";
  {
    const UniqueFd opened = *OpenFile(disk, O_RDONLY | O_DIRECTORY);
    DiskGuard guard(opened.get());
    EXPECT_TRUE(guard.Wrote(0));
    EXPECT_TRUE(WriteFileAtomically(disk + "/x", std::string(4'000'000, 'x')));
    EXPECT_TRUE(guard.Wrote(kDiskLookBytes - 1)) << "not looked at yet";
    const Status full = guard.Wrote(1);
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, Code::kResourceExhausted);
    EXPECT_NE(full.error().message.find("are kept free"), std::string::npos) << full.error().message;
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace trainyard::image

#include "programs/image/collect.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>

#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "programs/image/cache.h"
#include "programs/image/image_use.h"

namespace trainyard::image {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::system_clock;

std::string Digest(char digit) { return "sha256:" + std::string(64, digit); }

class Collect : public testing::Test {
 protected:
  Collect() { EXPECT_TRUE(layout_.MakeFolders()); }

  /// An image whose layers are named by digits: 100 bytes as pulled, 200 unpacked, each.
  void Add(char digit, const std::string& layers, hours age, bool loaded = false) {
    CachedImage image{.digest = Digest(digit),
                      .reference = std::string("r/") + digit + "@" + Digest(digit),
                      .names = {std::string("r.io/") + digit + ":latest"},
                      .loaded = loaded,
                      .pulled = system_clock::now() - age,
                      .config_digest = Digest('c'),
                      .layers = {}};
    for (const char layer : layers) {
      image.layers.push_back(
          {.digest = Digest(layer), .diff_id = Digest(layer), .size_bytes = 100, .unpacked_bytes = 200});
      fs::create_directories(layout_.Layer(Digest(layer)));
      EXPECT_TRUE(WriteFileAtomically(layout_.Blob(Digest(layer)), "layer"));
    }
    EXPECT_TRUE(WriteRecord(layout_, image));
  }
  [[nodiscard]] std::string Left() const {
    std::string digits;
    for (const CachedImage& image : AllRecords(layout_)) digits += image.digest.back();
    return digits;
  }
  [[nodiscard]] std::string Layers() const {
    std::string digits;
    for (const char digit : std::string("0123456789"))
      if (fs::exists(layout_.Layer(Digest(digit))) && fs::exists(layout_.Blob(Digest(digit))))
        digits += digit;
    return digits;
  }
  [[nodiscard]] std::string dir() const { return folder_.path(); }
  static void SetAge(const fs::path& path, hours age) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }
  /// Says with which file of credentials an image was found under a reference.
  void AddNote(char digit, const std::string& reference, const std::string& auth_file) {
    EXPECT_TRUE(
        WriteNote(layout_, Digest(digit),
                  {.reference = reference, .name = "n", .access = {.tls = true, .auth_file = auth_file}}));
  }
  [[nodiscard]] std::string AuthFile(char digit, const std::string& reference) const {
    const auto note = ReadNote(layout_, Digest(digit), reference);
    return note ? note->access.auth_file : "(none)";
  }

  environment::TemporaryFolder folder_;
  CacheLayout layout_{folder_.path()};
};

TEST_F(Collect, RemovesWhatIsOld) {
  Add('a', "1", hours(5));
  Add('b', "12", hours(1));
  const auto collected = CollectImages(dir(), {.age_max = hours(2)});
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->images, std::vector<std::string>{Digest('a')});
  EXPECT_EQ(collected->bytes, 0);  // the other one has its layer too
  EXPECT_EQ(Left(), "b");
  EXPECT_EQ(Layers(), "12");
}

TEST_F(Collect, RemovesTheLongestUnusedUntilItFits) {
  Add('a', "1", hours(1));
  Add('b', "2", hours(3));
  Add('d', "3", hours(2));
  const auto collected = CollectImages(dir(), {.bytes_max = 650});
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->images, std::vector<std::string>{Digest('b')});
  EXPECT_EQ(collected->bytes, 300);
  EXPECT_EQ(Left(), "ad");
  EXPECT_EQ(Layers(), "13");
}

TEST_F(Collect, KnowsWhatSharingSaves) {
  Add('a', "12", hours(1));
  Add('b', "13", hours(2));
  EXPECT_TRUE(CollectImages(dir(), {.bytes_max = 900})->images.empty());
  EXPECT_EQ(CollectImages(dir(), {.bytes_max = 899})->bytes, 300);
  EXPECT_EQ(Layers(), "12");
}

TEST_F(Collect, LeavesWhatIsUsedOrLoaded) {
  Add('a', "1", hours(5));
  Add('b', "2", hours(5), true);
  {
    const auto use = ImageUse::Begin(dir(), Digest('a'));
    ASSERT_TRUE(use);
    EXPECT_TRUE(CollectImages(dir(), {.bytes_max = 0, .age_max = hours(1)})->images.empty());
    EXPECT_EQ(RemoveImage(dir(), Digest('a')).error().code, Code::kFailedPrecondition);
    EXPECT_TRUE(FindListed(dir(), "aaaaaa")->in_use);
  }
  EXPECT_EQ(Left(), "ab");
  // It was used just now.
  EXPECT_TRUE(CollectImages(dir(), {.age_max = hours(1)})->images.empty());
  EXPECT_EQ(CollectImages(dir(), {.bytes_max = 0})->images, std::vector<std::string>{Digest('a')});
  EXPECT_EQ(CollectImages(dir(), {.bytes_max = 0, .with_loaded = true})->images,
            std::vector<std::string>{Digest('b')});
  EXPECT_EQ(Layers(), "");
}

TEST_F(Collect, LeavesLayersWhileSomeonePulls) {
  Add('a', "1", hours(1));
  {
    const auto pulling = TryLock(layout_.CollectLock(), LOCK_SH);
    ASSERT_TRUE(pulling && *pulling);
    EXPECT_TRUE(RemoveImage(dir(), Digest('a')));
    EXPECT_EQ(Left(), "");
    EXPECT_EQ(Layers(), "1");
  }
  EXPECT_TRUE(CollectImages(dir(), {.bytes_max = 0}));
  EXPECT_EQ(Layers(), "");
}

TEST_F(Collect, FindsByNameAndDigest) {
  Add('a', "1", hours(1));
  Add('b', "1", hours(1));
  EXPECT_EQ(FindListed(dir(), "r.io/a")->digest, Digest('a'));
  EXPECT_EQ(FindListed(dir(), Digest('b'))->digest, Digest('b'));
  EXPECT_EQ(FindListed(dir(), "sha256:bbbbbbbb")->digest, Digest('b'));
  EXPECT_EQ(FindListed(dir(), "bbb").error().code, Code::kNotFound);
  EXPECT_EQ(FindListed(dir(), "r.io/x").error().code, Code::kNotFound);
}

TEST_F(Collect, DamagedRecordsAreNoImages) {
  Add('a', "1", hours(1));
  ASSERT_TRUE(WriteFileAtomically(layout_.Record(Digest('a')),
                                  R"({"config":"../../etc","layers":[{"digest":"x"}]})"));
  EXPECT_EQ(Left(), "");
  EXPECT_FALSE(FindImage(dir(), Digest('a')));
  EXPECT_FALSE(FindImage(dir(), "sha256:../../../etc/passwd"));
  EXPECT_FALSE(ImageUse::Begin(dir(), "../x"));
}

TEST_F(Collect, DamagedRecordsKeepLayersOnlyWhileTheImageRuns) {
  Add('a', "1", hours(1));
  ASSERT_TRUE(WriteFileAtomically(layout_.Record(Digest('a')), "{"));
  {
    const auto use = ImageUse::Begin(dir(), Digest('a'));
    ASSERT_TRUE(use);
    EXPECT_TRUE(CollectImages(dir(), {.bytes_max = 0}));
    EXPECT_EQ(Layers(), "1");
  }
  EXPECT_TRUE(CollectImages(dir(), {.bytes_max = 0}));
  EXPECT_EQ(Layers(), "");
  EXPECT_FALSE(fs::exists(layout_.Record(Digest('a'))));
}

TEST_F(Collect, RemovesNothingWhileARecordCannotBeRead) {
  Add('a', "1", hours(1));
  Add('b', "2", hours(1));
  const fs::path record = layout_.Record(Digest('b'));
  fs::rename(record, folder_.path() / "kept");
  fs::create_symlink(record, record);  // ELOOP; a full table of files and a broken disk are as bad
  EXPECT_FALSE(CollectImages(dir(), {.bytes_max = 0}));
  EXPECT_FALSE(RemoveImage(dir(), Digest('a')));
  EXPECT_FALSE(FindListed(dir(), Digest('a')));
  EXPECT_EQ(Layers(), "12");
  EXPECT_EQ(Left(), "a");
  fs::rename(folder_.path() / "kept", record);
  EXPECT_EQ(CollectImages(dir(), {.bytes_max = 0})->images.size(), 2U);
  EXPECT_EQ(Layers(), "");
}

TEST_F(Collect, HalfRemovedLayersHaveNoNameAnyMore) {
  Add('a', "1", hours(1));
  const fs::path busy = layout_.Layer(Digest('1')) / "busy";
  fs::create_directories(busy);
  if (::mount("none", busy.c_str(), "tmpfs", 0, nullptr) != 0) GTEST_SKIP() << "this user cannot mount";
  EXPECT_TRUE(RemoveImage(dir(), Digest('a')));
  EXPECT_FALSE(fs::exists(layout_.Layer(Digest('1'))));
  const auto left = EntriesOf(layout_.Pulls());
  ASSERT_TRUE(left && left->size() == 1U);
  EXPECT_TRUE(left->front().filename().string().starts_with("gone-"));
  EXPECT_EQ(::umount2((left->front() / busy.parent_path().filename() / "busy").c_str(), MNT_DETACH), 0);
  EXPECT_TRUE(CollectImages(dir(), {}));
  EXPECT_TRUE(EntriesOf(layout_.Pulls())->empty());
}

TEST_F(Collect, NotesStayForQueuedJobs) {
  Add('a', "1", hours(1));
  AddNote('a', "r/a", "first");
  AddNote('a', "s/a", "second");
  AddNote('b', "r/b", "young");
  AddNote('d', "r/d", "old");
  for (const char digit : std::string("ad"))
    SetAge(layout_.Note(Digest(digit), std::string("r/") + digit), hours(91 * 24));
  SetAge(layout_.Note(Digest('b'), "r/b"), hours(89 * 24));
  EXPECT_TRUE(CollectImages(dir(), {.age_max = hours(2)}));
  EXPECT_EQ(AuthFile('a', "r/a"), "first");
  EXPECT_EQ(AuthFile('a', "s/a"), "second");
  EXPECT_EQ(AuthFile('a', "t/a"), "(none)");
  EXPECT_EQ(AuthFile('b', "r/b"), "young");
  EXPECT_EQ(AuthFile('d', "r/d"), "(none)");
  EXPECT_EQ(CollectImages(dir(), {.bytes_max = 0})->images.size(), 1U);
  EXPECT_EQ(AuthFile('a', "r/a"), "(none)");
  EXPECT_EQ(AuthFile('a', "s/a"), "second");
  EXPECT_EQ(AuthFile('b', "r/b"), "young");
}

TEST_F(Collect, PackageLayersGoWithTheirImage) {
  Add('a', "1", hours(1));
  for (const char* name : {"on_a", "on_none", "unknown"})
    fs::create_directories(layout_.PackageLayers() / name / "usr");
  ASSERT_TRUE(WriteFileAtomically(layout_.PackageLayers() / "on_a.image", Digest('a')));
  ASSERT_TRUE(WriteFileAtomically(layout_.PackageLayers() / "on_none.image", Digest('b')));
  const auto left = [this] {
    std::string names;
    for (const char* name : {"on_a", "on_none", "unknown", "on_a.image", "on_none.image"})
      if (fs::exists(layout_.PackageLayers() / name)) names += std::string(name) + " ";
    return names;
  };
  EXPECT_TRUE(CollectImages(dir(), {}));
  EXPECT_EQ(left(), "on_a unknown on_a.image ");
  EXPECT_TRUE(RemoveImage(dir(), Digest('a')));
  EXPECT_EQ(left(), "unknown ");
  EXPECT_TRUE(EntriesOf(layout_.Pulls())->empty());
}

TEST_F(Collect, LookingIsNoUse) {
  Add('a', "1", hours(5));
  EXPECT_FALSE(ListImages(dir()).front().in_use);
  EXPECT_FALSE(fs::exists(layout_.Use(Digest('a'))));
  EXPECT_EQ(CollectImages(dir(), {.age_max = hours(1)})->images.size(), 1U);
}

TEST_F(Collect, UseWaitsForThoseWhoLook) {
  auto looking = TryLock(layout_.Use(Digest('a')), LOCK_EX);
  ASSERT_TRUE(looking && *looking);
  EXPECT_EQ(ImageUse::Begin(dir(), Digest('a')).error().code, Code::kUnavailable);
  auto use =
      std::async(std::launch::async, [this] { return ImageUse::Begin(dir(), Digest('a')).has_value(); });
  looking->reset();
  EXPECT_TRUE(use.get());
}

TEST_F(Collect, TheFolderIsItsOwnersAlone) {
  fs::permissions(dir(), fs::perms(0755));  // as somebody made it by hand
  ASSERT_TRUE(layout_.MakeFolders());
  EXPECT_EQ(fs::status(dir()).permissions(), fs::perms::owner_all);
  const CacheLayout fresh(folder_.path() / "data" / "images");
  ASSERT_TRUE(fresh.MakeFolders());
  EXPECT_EQ(fs::status(folder_.path() / "data" / "images").permissions(), fs::perms::owner_all);
}

TEST_F(Collect, NothingIsThereYet) {
  EXPECT_TRUE(CollectImages(dir() + "/none", {.bytes_max = 0})->images.empty());
  EXPECT_TRUE(ListImages(dir() + "/none").empty());
}

TEST(PrintBytes, IsShort) {
  EXPECT_EQ(PrintBytes(0), "0 bytes");
  EXPECT_EQ(PrintBytes(999), "999 bytes");
  EXPECT_EQ(PrintBytes(4200), "4 kB");
  EXPECT_EQ(PrintBytes(412'400'000), "412 MB");
  EXPECT_EQ(PrintBytes(1'250'000'000), "1.2 GB");
  EXPECT_EQ(PrintBytes(999'600'000), "1.0 GB");
}

}  // namespace
}  // namespace trainyard::image

#include <gtest/gtest.h>
#include <sys/file.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "programs/image/cache.h"
#include "programs/image/image.h"
#include "programs/image/load.h"
#include "programs/image/manifest.h"
#include "programs/image/reference.h"
#include "programs/image/skopeo.h"
#include "programs/image/tar_for_test.h"

namespace trainyard::image {
namespace {

namespace fs = std::filesystem;
using std::chrono::minutes;

/// With a real skopeo; tests/e2e/test_images.py does the same with registries.
class Pull : public testing::Test {
 protected:
  void SetUp() override {
    if (!Skopeo::Find({.temporary = folder_.path()})) GTEST_SKIP() << "no skopeo on PATH";
    fs::create_directories(layout_dir() / "blobs/sha256");
    EXPECT_TRUE(WriteFileAtomically(layout_dir() / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})"));
  }
  [[nodiscard]] fs::path layout_dir() const { return folder_.path() / "layout"; }
  [[nodiscard]] std::string reference() const { return "oci:" + layout_dir().string() + ":v1"; }

  std::string Blob(const std::string& bytes) const {
    const std::string digest = Sha256(bytes);
    EXPECT_TRUE(WriteFileAtomically(layout_dir() / "blobs/sha256" / digest.substr(7), bytes));
    return R"("digest":")" + digest + R"(","size":)" + std::to_string(bytes.size());
  }
  /// Writes an image of these layers as v1; returns its digest.
  std::string Write(const std::vector<std::string>& tars, const std::string& command) const {
    std::string layers, diff_ids;
    for (const std::string& tar : tars) {
      layers += (layers.empty() ? "" : ",") +
                (R"({"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip",)" + Blob(Gzip(tar)) + "}");
      diff_ids += (diff_ids.empty() ? "\"" : ",\"") + Sha256(tar) + "\"";
    }
    const std::string config = R"({"os":"linux","architecture":")" + ThisArchitecture() +
                               R"(","config":{"Cmd":[")" + command +
                               R"("]},"rootfs":{"type":"layers","diff_ids":[)" + diff_ids + "]}}";
    const std::string manifest =
        R"({"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json",)" +
        Blob(config) + R"(},"layers":[)" + layers + "]}";
    const std::string index =
        R"({"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",)" +
        Blob(manifest) + R"(,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]})";
    EXPECT_TRUE(WriteFileAtomically(layout_dir() / "index.json", index));
    return Sha256(manifest);
  }

  environment::TemporaryFolder folder_;
  Sources sources_{.images_dir = (folder_.path() / "images").string()};
  std::string tar_ = Tar({{"a", '0', "a"}});
};

TEST_F(Pull, ResolvesThenPullsByTheCacheAlone) {
  const std::string digest = Write({tar_, Tar({{"b", '0', "b"}}), tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->digest, digest);
  EXPECT_EQ(resolved->reference, reference() + "@" + digest);
  EXPECT_GT(resolved->size_bytes, 0);
  EXPECT_FALSE(FindImage(sources_.images_dir, digest));
  std::vector<std::string> lines;
  const auto pulled = PullImage({.images_dir = sources_.images_dir}, *resolved,
                                {.info = [&](std::string_view line) { lines.emplace_back(line); }});
  ASSERT_TRUE(pulled) << pulled.error().message;
  EXPECT_EQ(pulled->config.command, std::vector<std::string>{"/run"});
  // The same layer twice is one directory, where it is uppermost: the kernel stacks none twice.
  ASSERT_EQ(pulled->layers.size(), 2U);
  EXPECT_EQ(ReadFile(fs::path(pulled->layers[0]) / "b"), "b");
  EXPECT_EQ(ReadFile(fs::path(pulled->layers[1]) / "a"), "a");
  EXPECT_EQ(lines.size(), 2U);
  fs::remove_all(layout_dir());
  EXPECT_TRUE(PullImage({.images_dir = sources_.images_dir}, *resolved, {}));
  EXPECT_EQ(FindImage(sources_.images_dir, digest)->layers, pulled->layers);
}

TEST_F(Pull, MapsNames) {
  const std::string digest = Write({tar_}, "/run");
  sources_.mapped = {{"gcr.io/other/*", "nowhere.invalid/x"}, {"gcr.io/p/training", reference()}};
  const auto resolved = ResolveImage(sources_, "gcr.io/p/training:v7", minutes(1));
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->reference, reference() + "@" + digest);
}

TEST_F(Pull, RefusesWhatChangedSince) {
  Write({tar_}, "/first");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved);
  Write({tar_}, "/second");
  fs::remove_all(sources_.images_dir);  // with what the resolution kept
  const auto pulled = PullImage(sources_, *resolved, {});
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().code, Code::kFailedPrecondition);
  EXPECT_NE(pulled.error().message.find("has changed since"), std::string::npos) << pulled.error().message;
}

TEST_F(Pull, LoadedImagesGoByTheirNames) {
  const std::string digest = Write({tar_}, "/run");
  ASSERT_TRUE(LoadImage(sources_, {.reference = reference(), .names = {"me/trainer"}}, {}));
  const auto resolved = ResolveImage(sources_, "docker.io/me/trainer:latest", minutes(1));
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_EQ(resolved->digest, digest);
  EXPECT_EQ(resolved->reference, "docker.io/me/trainer@" + digest);
  // The name goes to what is loaded under it next.
  const std::string second = Write({tar_}, "/second");
  ASSERT_TRUE(LoadImage(sources_, {.reference = reference(), .names = {"me/trainer"}}, {}));
  EXPECT_EQ(ResolveImage(sources_, "me/trainer", minutes(1))->digest, second);
  EXPECT_EQ(ResolveImage(sources_, "me/trainer@" + digest, minutes(1))->digest, digest);
}

/// As on a full disk.
TEST_F(Pull, WithoutANoteOfHowItIsPulledNothingIsResolved) {
  const std::string digest = Write({tar_}, "/run");
  ASSERT_TRUE(LoadImage(sources_, {.reference = reference(), .names = {"me/trainer"}}, {}));
  const fs::path notes = CacheLayout(sources_.images_dir).Note(digest, "x").parent_path();
  fs::remove_all(notes);
  ASSERT_TRUE(WriteFileAtomically(notes, "in the way"));
  const auto resolved = ResolveImage(sources_, "docker.io/me/trainer:latest", minutes(1));
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, Code::kUnavailable) << "it is tried again";
  EXPECT_NE(resolved.error().message.find("cannot record how it may be pulled"), std::string::npos);
}

TEST_F(Pull, WhatWasPulledUnderANameIsTheLastAnswerOfItsRegistry) {
  const CacheLayout layout(sources_.images_dir);
  const auto answer = [&](const std::string& digest, std::chrono::hours ago) {
    const std::string pinned = "registry:5/me/trainer@" + digest;
    EXPECT_TRUE(WriteNote(layout, digest, {.reference = pinned, .name = "registry:5/me/trainer:v1"}));
    fs::last_write_time(layout.Note(digest, pinned), fs::file_time_type::clock::now() - ago);
  };
  const std::string first = Write({tar_}, "/first");
  ASSERT_TRUE(LoadImage(sources_, {.reference = reference()}, {}));
  EXPECT_FALSE(FindPulled(sources_, "registry:5/me/trainer:v1"));
  answer(first, std::chrono::hours(2));
  const auto found = FindPulled(sources_, "registry:5/me/trainer:v1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reference, "registry:5/me/trainer@" + first);
  EXPECT_GT(found->size_bytes, 0);
  EXPECT_FALSE(FindPulled(sources_, "registry:5/me/trainer:v2"));

  const std::string second = Write({tar_}, "/second");
  answer(second, std::chrono::hours(0));
  EXPECT_EQ(FindPulled(sources_, "registry:5/me/trainer:v1")->digest, first) << "the second is not here yet";
  ASSERT_TRUE(LoadImage(sources_, {.reference = reference()}, {}));
  answer(second, std::chrono::hours(1));
  EXPECT_EQ(FindPulled(sources_, "registry:5/me/trainer:v1")->digest, second);
  answer(first, std::chrono::hours(0));
  EXPECT_EQ(FindPulled(sources_, "registry:5/me/trainer:v1")->digest, first) << "the tag has moved back";
  sources_.mapped = {{"gcr.io/p/t", "registry:5/me/trainer:v1"}};
  EXPECT_EQ(FindPulled(sources_, "gcr.io/p/t:v7")->digest, first);
}

TEST_F(Pull, NamesOfRegistriesStayTheRegistries) {
  const std::string digest = Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved && PullImage(sources_, *resolved, {}));
  const CacheLayout layout(sources_.images_dir);
  auto record = ReadRecord(layout, digest);
  ASSERT_TRUE(record);
  const std::string tag = "127.0.0.1:1/me/trainer:v1";  // as if it had been pulled from there
  record->names = {tag};
  ASSERT_TRUE(WriteRecord(layout, *record));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(LoadImage(sources_, {.reference = reference(), .names = {"me/trainer"}}, {}));
    EXPECT_EQ(ResolveImage(sources_, "me/trainer", minutes(1))->digest, digest);
    const auto asked = ResolveImage(sources_, tag, minutes(1));
    ASSERT_FALSE(asked);
    EXPECT_EQ(asked.error().code, Code::kUnavailable) << asked.error().message;
    EXPECT_EQ(ReadRecord(layout, digest)->names,
              (std::vector<std::string>{tag, "docker.io/me/trainer:latest"}));
  }
}

TEST_F(Pull, NotesWhatIsFoundInTheCache) {
  const std::string digest = Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved && PullImage(sources_, *resolved, {}));
  const std::string pinned = "127.0.0.1:1/me/trainer@" + digest;
  ASSERT_TRUE(ResolveImage(sources_, pinned, minutes(1)));
  const auto note = ReadNote(CacheLayout(sources_.images_dir), digest, pinned);
  ASSERT_TRUE(note);
  EXPECT_EQ(note->name, pinned);
  EXPECT_FALSE(note->access.tls);
  EXPECT_TRUE(ReadNote(CacheLayout(sources_.images_dir), digest, resolved->reference)->access.tls);
}

TEST_F(Pull, FetchesDamagedBlobsAgain) {
  Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved);
  const auto pulled = PullImage(sources_, *resolved, {});
  ASSERT_TRUE(pulled);
  const std::string whole = Gzip(tar_);
  const fs::path blob = CacheLayout(sources_.images_dir).Blob(Sha256(whole));
  std::string header = tar_;
  header[0] = 'b';
  const std::string leads_out = Tar({{"../../x", '0', "x"}});
  for (const std::string& damaged : {Gzip(header), Gzip(leads_out), std::string(5000, 't'), std::string()}) {
    fs::remove_all(pulled->layers.front());
    ASSERT_TRUE(WriteFileAtomically(blob, damaged));
    const auto again = PullImage(sources_, *resolved, {});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(ReadFile(fs::path(again->layers.front()) / "a"), "a");
    EXPECT_EQ(ReadFile(blob), whole);
  }
}

TEST_F(Pull, RemovesWhatKilledPullsLeft) {
  const CacheLayout layout(sources_.images_dir);
  ASSERT_TRUE(layout.MakeFolders());
  const std::string dead = "sha256:" + std::string(64, 'd');
  const std::string living = "sha256:" + std::string(64, 'e');
  for (const std::string& digest : {dead, living}) fs::create_directories(layout.Pull(digest) / "layers/x");
  const auto lock = TryLock(layout.Lock(living), LOCK_EX);
  Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved && PullImage(sources_, *resolved, {}));
  EXPECT_FALSE(fs::exists(layout.Pull(dead)));
  EXPECT_TRUE(fs::exists(layout.Pull(living)));
}

TEST_F(Pull, StopsWhileItWaits) {
  Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved);
  const auto lock = TryLock(CacheLayout(sources_.images_dir).Lock(resolved->digest), LOCK_EX);
  ASSERT_TRUE(lock && *lock);
  std::stop_source stop;
  const auto pulled =
      PullImage(sources_, *resolved,
                {.info = [&](std::string_view) { stop.request_stop(); }, .stop = stop.get_token()});
  ASSERT_FALSE(pulled);
  EXPECT_EQ(pulled.error().code, Code::kCancelled);
}

TEST_F(Pull, BringsLostLayersBack) {
  Write({tar_}, "/run");
  const auto resolved = ResolveImage(sources_, reference(), minutes(1));
  ASSERT_TRUE(resolved);
  const auto pulled = PullImage(sources_, *resolved, {});
  ASSERT_TRUE(pulled);
  fs::remove_all(pulled->layers.front());
  EXPECT_FALSE(FindImage(sources_.images_dir, resolved->digest));
  ASSERT_TRUE(PullImage(sources_, *resolved, {}));
  EXPECT_EQ(ReadFile(fs::path(pulled->layers.front()) / "a"), "a");
}

}  // namespace
}  // namespace trainyard::image

#include "programs/environment/built_runtime.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/async/file.h"
#include "programs/environment/build_folder.h"
#include "programs/environment/build_lock.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/layout.h"
#include "programs/environment/runtime_builder.h"
#include "programs/environment/site_hook.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Real builds of environments without packages: no network.
class BuiltRuntimeTest : public testing::Test {
 protected:
  BuiltRuntimeTest() {
    ::setenv("PIP_NO_INDEX", "1", 1);
    Define("0.1", R"({"version": "0.1", "pythons": ["3.11"]})");
    Define("0.2", R"({"version": "0.2", "pythons": ["3.11"], "tools": ["spade", "missing"]})");
    Define("spade", R"({"version": "spade", "kind": "tool", "pythons": ["3.11"]})");
    Define(
        "missing",
        R"({"version": "missing", "kind": "tool", "pythons": ["3.11"], "system_modules": {"nosuch_": "x"}})");
    EXPECT_TRUE(InstallSiteHook(root()));
  }

  void Define(const std::string& name, const std::string& json) {
    fs::create_directories(root() / "runtimes.d");
    std::ofstream(root() / "runtimes.d" / (name + ".json")) << json;
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  [[nodiscard]] RuntimeVersion Load(std::string_view version) const {
    return *LoadRuntimeVersion(root(), version);
  }
  Status Build(const RuntimeVersion& runtime) {
    const PreparationHooks hooks{
        .info = [this](std::string_view line) { said_ += std::string(line) + "\n"; },
        .error = [this](std::string_view line) { said_ += std::string(line) + "\n"; },
        .download = {}};
    return BuildRuntime(Layout{root()}, runtime, hooks);
  }

  TemporaryFolder folder_;
  std::string said_;
};

TEST_F(BuiltRuntimeTest, IsBuiltUsedAndRemoved) {
  const RuntimeVersion runtime = Load("0.1");
  EXPECT_FALSE(FindBuilt(root(), runtime));
  EXPECT_EQ(RemoveBuilt(root(), runtime).error().code, Code::kNotFound);
  const Status built = Build(runtime);
  ASSERT_TRUE(built) << built.error().message << said_;
  auto found = FindBuilt(root(), runtime);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->python, "3.11");
  EXPECT_GT(found->bytes, 1'000U);
  EXPECT_FALSE(found->last_use);
  EXPECT_FALSE(IsBeingBuilt(root(), runtime));
  EXPECT_TRUE(DownloadCacheUse(root())) << "the build made one";
  EXPECT_TRUE(fs::exists(Layout::UseLock(Layout{root()}.Cache())));

  {
    const auto use = RuntimeUse::Begin(root(), "0.1");
    const auto another = RuntimeUse::Begin(root(), "0.1");
    ASSERT_TRUE(use && another);
    EXPECT_TRUE(FindBuilt(root(), runtime)->last_use);
    const auto refused = RemoveBuilt(root(), runtime);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), FailedPrecondition("a running replica uses 0.1"));
    EXPECT_TRUE(FindBuilt(root(), runtime));
  }
  {
    const auto lock = BuildLock::Acquire(Layout::Lock(found->folder), [] {}, {});
    ASSERT_TRUE(lock);
    EXPECT_TRUE(IsBeingBuilt(root(), runtime));
    EXPECT_EQ(RemoveBuilt(root(), runtime).error(), FailedPrecondition("0.1 is being built"));
  }
  // The directory of a previous definition, and a layer on it, are removed as well.
  const fs::path former = found->folder.parent_path() / "0.1-0123456789ab";
  const fs::path other = found->folder.parent_path() / "0.1-gpu-0123456789ab";
  const fs::path layer = root() / "layers" / "aa";
  for (const fs::path& one : {former, other, layer}) fs::create_directories(one);
  ASSERT_TRUE(WriteFileAtomically(Layout::LayerBase(layer), found->folder.filename().string()));
  EXPECT_EQ(FindBuilt(root(), runtime)->layers, std::vector<fs::path>{layer});
  const auto removed = RemoveBuilt(root(), runtime);
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_GE(*removed, found->bytes);
  EXPECT_FALSE(FindBuilt(root(), runtime));
  for (const fs::path& one : {found->folder, former, layer}) EXPECT_FALSE(fs::exists(one)) << one;
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(BuiltRuntimeTest, ItsSizeIsNotedUntilItIsBuiltAgain) {
  const RuntimeVersion runtime = Load("0.1");
  ASSERT_TRUE(Build(runtime)) << said_;
  const fs::path note = Layout::SizeNote(Layout{root()}.Runtime(runtime));
  EXPECT_TRUE(fs::exists(note)) << "by the build: nobody has asked yet";
  const BuiltRuntime first = *FindBuilt(root(), runtime);
  EXPECT_EQ(first.bytes, BytesBelow(first.folder));
  std::ofstream(first.folder / "more") << std::string(100'000, 'x');
  EXPECT_EQ(FindBuilt(root(), runtime)->bytes, first.bytes) << "nobody walks it again";
  const fs::path marker = Layout::Marker(first.folder);
  fs::rename(marker, marker.string() + ".old");
  ASSERT_TRUE(WriteFileAtomically(marker, "3.11"));
  const std::uint64_t again = FindBuilt(root(), runtime)->bytes;
  EXPECT_GT(again, first.bytes + 90'000);
  for (const char* text : {"", "12", "12 34 5 6\n", "x"}) {
    ASSERT_TRUE(WriteFileAtomically(note, text));
    EXPECT_EQ(FindBuilt(root(), runtime)->bytes, again) << "a note that means nothing is written again";
    EXPECT_THAT(*ReadFile(note), testing::StartsWith(std::to_string(again) + " "));
  }
  fs::remove(note);
  EXPECT_EQ(FindBuilt(root(), runtime)->bytes, again) << "an environment of an earlier version has none";
  EXPECT_TRUE(fs::exists(note));
  ASSERT_TRUE(RemoveBuilt(root(), runtime));
  EXPECT_FALSE(fs::exists(note));
}

TEST_F(BuiltRuntimeTest, DownloadsAreCountedAfterEachBuildAndRemovedUnlessOneUsesThem) {
  EXPECT_FALSE(DownloadCacheUse(root()));
  EXPECT_EQ(RemoveDownloadCache(root()).error().code, Code::kNotFound);
  const fs::path cache = Layout{root()}.Cache();
  fs::create_directories(cache);
  const UniqueFd use = *OpenFile(Layout::UseLock(cache), O_RDWR | O_CREAT);
  const auto add = [&cache](const char* name) { std::ofstream(cache / name) << std::string(100'000, 'x'); };
  add("a.whl");
  EXPECT_GE(DownloadCacheBytes(root()), 100'000U);
  add("b.whl");
  EXPECT_LT(DownloadCacheBytes(root()), 200'000U) << "nobody walks it again";
  ASSERT_EQ(::futimens(use.get(), nullptr), 0);  // as a build does when it ends
  EXPECT_GE(DownloadCacheBytes(root()), 200'000U);
  ASSERT_EQ(::flock(use.get(), LOCK_SH), 0);
  EXPECT_EQ(RemoveDownloadCache(root()).error(), FailedPrecondition("a build uses the cache"));
  ASSERT_EQ(::flock(use.get(), LOCK_UN), 0);
  add("c.whl");
  EXPECT_GE(*RemoveDownloadCache(root()), 300'000U)
      << "what it frees is not what was noted, but what is there";
  EXPECT_FALSE(fs::exists(cache));
  EXPECT_FALSE(DownloadCacheUse(root()));
}

TEST_F(BuiltRuntimeTest, FoldersGoOneByOneUnlessTheyAreUsed) {
  const EnvironmentRequest request{
      .environments_dir = root(), .runtime_version = "0.1", .packages = {{"gs://b/p.tar.gz", "sum"}}};
  const Layout layout{root()};
  const fs::path runtime = layout.Runtime(Load("0.1"));
  const fs::path layer = layout.Layer(Load("0.1"), request.packages);
  const fs::path left = root() / "layers" / "bb";
  for (const fs::path& one : {runtime, layer, left}) fs::create_directories(one);
  for (const fs::path& one : {runtime, layer}) ASSERT_TRUE(WriteFileAtomically(Layout::Marker(one), "3.11"));
  ASSERT_TRUE(WriteFileAtomically(Layout::LayerBase(layer), runtime.filename().string()));
  EXPECT_EQ(FoldersOf(std::array{request}), (std::set<fs::path>{runtime, layer}));

  std::map<fs::path, EnvironmentFolder> listed;
  for (const EnvironmentFolder& one : ListEnvironmentFolders(root(), true)) listed.emplace(one.path, one);
  EXPECT_EQ(listed.size(), 3U);
  EXPECT_TRUE(listed.at(layer).is_complete);
  EXPECT_GT(listed.at(layer).bytes, 0);
  EXPECT_FALSE(listed.at(left).is_complete);
  {
    const auto use = LayerUse::Begin(request);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_EQ(RemoveEnvironmentFolder(root(), layer).error().code, Code::kFailedPrecondition);
  }
  EXPECT_TRUE(RemoveEnvironmentFolder(root(), layer));
  EXPECT_FALSE(fs::exists(layer));
  EXPECT_TRUE(fs::exists(runtime));
  EXPECT_EQ(ListEnvironmentFolders(root(), false).size(), 2U);
}

TEST_F(BuiltRuntimeTest, AToolThatCannotBeHadCostsOnlyItself) {
  const RuntimeVersion runtime = Load("0.2");
  ASSERT_TRUE(Build(runtime));
  EXPECT_THAT(said_, HasSubstr("missing cannot be installed: "));
  const fs::path bin = FindBuilt(root(), runtime)->folder / "bin";
  EXPECT_THAT(*ReadFile(bin / "spade"), HasSubstr("/tools/spade-"));
  const std::string out = (root() / "out").string();
  EXPECT_NE(std::system(((bin / "missing").string() + " 2> " + out).c_str()), 0);
  EXPECT_EQ(*ReadFile(out),
            "missing is not installed here; trainyard runtimes install missing installs it\n");
  EXPECT_TRUE(FindBuilt(root(), *LoadTool(root(), "spade")));
}

TEST(RuntimeUse, OfAnUnknownVersionIsNotFound) {
  const TemporaryFolder folder;
  EXPECT_EQ(RuntimeUse::Begin(folder.path(), "9.9").error().code, Code::kNotFound);
}

}  // namespace
}  // namespace trainyard::environment

#include "programs/runtimes/program_source.h"

#include <gtest/gtest.h>
#include <sys/file.h>

#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "programs/environment/temporary_folder_for_test.h"
#include "programs/image/cache.h"
#include "programs/image/collect.h"
#include "programs/image/reference.h"
#include "programs/runtimes/image_packages.h"

namespace trainyard::replica {
namespace {

namespace fs = std::filesystem;

/// An image of one layer in the cache, as a pull leaves it.
class InstalledProgramsTest : public testing::Test {
 protected:
  InstalledProgramsTest() {
    EXPECT_TRUE(layout_.MakeFolders());
    const std::string config =
        R"({"os":"linux","architecture":"amd64","rootfs":{"type":"layers","diff_ids":[]}})";
    const std::string layer = image::Sha256("layer");
    EXPECT_TRUE(image::WriteBlob(layout_, image::Sha256(config), config));
    fs::create_directories(layout_.Layer(layer));
    EXPECT_TRUE(image::WriteRecord(
        layout_, {.digest = digest_,
                  .reference = "r.io/a@" + digest_,
                  .names = {},
                  .loaded_names = {},
                  .config_digest = image::Sha256(config),
                  .layers = {{.digest = layer, .diff_id = layer, .size_bytes = 1, .unpacked_bytes = 1}}}));
    manifest_.mutable_places()->set_images_dir(folder_.path());
    manifest_.mutable_program()->mutable_container()->set_digest(digest_);
    manifest_.mutable_program()->mutable_container()->set_reference("r.io/a@" + digest_);
    manifest_.mutable_program()->mutable_container()->set_image("r.io/a:v1");
    manifest_.mutable_program()->mutable_container()->set_runtime_kind(v1::Manifest::OCI_RUNTIME);
  }

  environment::TemporaryFolder folder_;
  image::CacheLayout layout_{folder_.path()};
  std::string digest_ = image::Sha256("manifest");
  v1::Manifest manifest_;
};

TEST_F(InstalledProgramsTest, KeepsTheImageThatItFinds) {
  {
    InstalledPrograms programs;
    EXPECT_TRUE(programs.Find(manifest_));
    EXPECT_TRUE(image::CollectImages(folder_.path(), {.bytes_max = 0})->images.empty());
  }
  EXPECT_EQ(image::CollectImages(folder_.path(), {.bytes_max = 0})->images.size(), 1U);
}

TEST_F(InstalledProgramsTest, FindsNoImageThatItCannotKeep) {
  auto removing = image::TryLock(layout_.Use(digest_), LOCK_EX);
  ASSERT_TRUE(removing && *removing);
  InstalledPrograms programs;
  EXPECT_FALSE(programs.Find(manifest_));
  const Status prepared = programs.Prepare(manifest_, {});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().message,
            "cannot pull the image r.io/a:v1: image " + digest_ + " is being removed");
  removing->reset();
  EXPECT_TRUE(programs.Prepare(manifest_, {}));
  EXPECT_TRUE(programs.Find(manifest_));
}

TEST_F(InstalledProgramsTest, SaysWhichImagePackagesAreOn) {
  manifest_.mutable_program()->set_python_module("m");
  manifest_.mutable_program()->add_packages()->set_uri("gs://b/p.tar.gz");
  InstalledPrograms programs;
  EXPECT_FALSE(programs.Find(manifest_));
  const fs::path layer = PackageLayerFolder(manifest_);
  EXPECT_EQ(layer.parent_path(), layout_.PackageLayers());
  fs::create_directories(layer);
  EXPECT_TRUE(programs.Find(manifest_));
  EXPECT_EQ(ReadFile(layer.string() + ".image"), digest_);
  EXPECT_TRUE(image::CollectImages(folder_.path(), {}));
  EXPECT_TRUE(fs::exists(layer));
}

}  // namespace
}  // namespace trainyard::replica

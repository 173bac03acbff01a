#include "programs/environment/content_hash.h"

#include <gtest/gtest.h>

#include <fstream>

#include "programs/environment/layout.h"
#include "programs/environment/temporary_folder_for_test.h"

namespace trainyard::environment {
namespace {

using Package = EnvironmentRequest::Package;

const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // FIPS 180-4
const std::string kMd5 = "kAFQmDzST7DWlj99KOF/cg==";

TEST(ContentHash, IsSha256) {
  EXPECT_EQ(ContentHash().Add("a").Add("bc").Hex(), kAbc);
  EXPECT_NE(ContentHash().AddPart("a").AddPart("bc").Hex(), ContentHash().AddPart("ab").AddPart("c").Hex());
}

TEST(ContentHash, LayersOfJobsAreKnownByIt) {
  const Layout layout{"/e"};
  const RuntimeVersion runtime;
  const auto name = [&](const std::vector<Package>& packages) {
    return layout.Layer(runtime, packages).filename().string();
  };
  EXPECT_EQ(name({{"gs://b/p.whl", kAbc}}).size(), kAbc.size());
  EXPECT_EQ(name({{"gs://b/p.whl", kAbc}}), name({{"gs://another/folder/p.whl", kAbc}}));
  EXPECT_NE(name({{"gs://b/p.whl", kAbc}}), name({{"gs://b/q.whl", kAbc}}));
  EXPECT_NE(name({{"gs://b/p.whl", kAbc}}), name({{"gs://b/p.whl", std::string(64, '0')}}));
  EXPECT_EQ(name({{"gs://b/p.whl", kMd5}}).size(), 40U) << "a job of an older server keeps its layer";
}

TEST(ContentHash, AFileThatWasReplacedIsAnother) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "p.whl";
  std::ofstream(file) << "abc";
  EXPECT_TRUE(CheckContent({"gs://b/p.whl", kAbc}, file));
  EXPECT_TRUE(CheckContent({"gs://b/p.whl", kMd5}, file)) << "by an older server";
  std::ofstream(file) << "evil";
  EXPECT_EQ(CheckContent({"gs://b/p.whl", kAbc}, file).error(),
            FailedPrecondition(
                "the package gs://b/p.whl has changed since the job was created: submit the job again"));
}

}  // namespace
}  // namespace trainyard::environment

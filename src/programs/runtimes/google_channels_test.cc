#include "programs/runtimes/google_channels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/async/testing/temporary_folder.h"

namespace trainyard::replica {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;

v1::Manifest WithFront() {
  v1::Manifest manifest;
  manifest.set_project("census");
  (*manifest.mutable_environment())["STORAGE_EMULATOR_HOST"] = "http://127.0.0.1:8470";
  v1::GoogleFront& front = *manifest.mutable_google_front();
  front.set_address("127.64.1.2");
  front.set_ca_bundle("/data/front/ca-bundle.pem");
  front.set_buckets_dir("/data/buckets");
  for (const char* name :
       {"storage.googleapis.com", "metadata.google.internal", "1-master-replica-0-1.ab.metadata.trainyard"})
    front.add_host_names(name);
  return manifest;
}

TEST(ChannelVariables, PointEveryProgramAtTheFront) {
  const Variables variables = ChannelVariables(WithFront(), {.names = true, .files = true});
  for (const char* name :
       {"REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "HTTPLIB2_CA_CERTS"})
    EXPECT_THAT(variables, Contains(Pair(name, "/data/front/ca-bundle.pem")));
  EXPECT_THAT(variables, Contains(Pair("CURL_CA_BUNDLE", "/data/front/ca.pem")));
  EXPECT_THAT(variables, Contains(Pair("CURL_HOME", "/data/front")));
  EXPECT_THAT(variables, Contains(Pair("BOTO_CONFIG", "/data/front/boto.cfg")));
  EXPECT_THAT(variables, Contains(Pair("GOOGLE_CLOUD_PROJECT", "census")));
  EXPECT_THAT(variables, Contains(Pair("GCE_METADATA_HOST", "1-master-replica-0-1.ab.metadata.trainyard")));
  EXPECT_THAT(variables, Contains(Pair("GCE_METADATA_IP", "127.64.1.2")));
  EXPECT_THAT(variables, Not(Contains(Key("CLOUDSDK_AUTH_DISABLE_CREDENTIALS"))));
}

TEST(ChannelVariables, LeaveTheFallbackWithoutNames) {
  const Variables variables = ChannelVariables(WithFront(), {});
  EXPECT_THAT(variables,
              Contains(Pair("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "http://127.0.0.1:8470/storage/v1/")));
  for (const char* name : {"REQUESTS_CA_BUNDLE", "BOTO_CONFIG", "GCE_METADATA_HOST"})
    EXPECT_THAT(variables, Not(Contains(Key(name))));
}

TEST(ChannelVariables, AreNoneWhereGooglesNamesMeanGoogle) {
  EXPECT_THAT(ChannelVariables({}, FindChannels({}, true)), IsEmpty());
  EXPECT_EQ(MissingChannels({}, false, {}), "");
}

TEST(ChannelVariables, LeaveTheServersMetadataHostWhereTheFrontHasNone) {
  v1::Manifest manifest = WithFront();
  manifest.mutable_google_front()->mutable_host_names()->RemoveLast();
  EXPECT_THAT(ChannelVariables(manifest, {.names = true}), Not(Contains(Key("GCE_METADATA_HOST"))));
}

TEST(FindChannels, NeedsANamespaceAndTheBundle) {
  EXPECT_EQ(FindChannels(WithFront(), false), Channels());
  EXPECT_FALSE(FindChannels(WithFront(), true).names);  // no such file
  v1::Manifest manifest = WithFront();
  manifest.mutable_google_front()->set_ca_bundle("/etc/hosts");
  EXPECT_TRUE(FindChannels(manifest, true).names);
  manifest.mutable_google_front()->clear_address();
  EXPECT_FALSE(FindChannels(manifest, true).names);
}

TEST(MissingChannels, SaysWhatWorksAndWhy) {
  EXPECT_EQ(MissingChannels(WithFront(), true, {.names = true, .files = true}), "");
  EXPECT_THAT(
      MissingChannels(WithFront(), false, {}),
      HasSubstr("not for TensorFlow, gsutil and others, nor as files (/gcs/BUCKET): they need a mount "
                "namespace"));
  EXPECT_THAT(MissingChannels(WithFront(), false, {}, "as root: sysctl x=1"),
              testing::EndsWith("which this machine does not allow; as root: sysctl x=1."));
  EXPECT_THAT(MissingChannels(WithFront(), true, {.files = true}),
              HasSubstr("the server could not make a front"));
  EXPECT_THAT(MissingChannels(WithFront(), true, {.names = true}), HasSubstr("/gcs/BUCKET"));
}

TEST(MissingChannels, APodHasNoFolderOfBuckets) {
  v1::Manifest manifest = WithFront();
  manifest.mutable_google_front()->set_has_names(true);
  EXPECT_EQ(MissingChannels(manifest, false, {.names = true}),
            "In a pod the buckets are not available as files (/gcs/BUCKET); gs:// works.");
}

TEST(AddedFolders, AreThoseThatTheMachineHasNot) {
  EXPECT_THAT(AddedFolders({}), IsEmpty());
  const bool there = std::filesystem::is_directory(kGcsFolder);
  EXPECT_EQ(AddedFolders({.files = true}),
            there ? std::vector<std::string>() : std::vector<std::string>{"/gcs"});
}

TEST(ChannelBinds, CoverTheSystemsBundleForReadingOnly) {
  v1::Manifest manifest = WithFront();
  manifest.mutable_google_front()->set_ca_bundle("/etc/hosts");
  const auto binds = ChannelBinds(manifest, {.names = true});
  EXPECT_THAT(binds, Contains(FileView::Bind{.from = "/etc", .to = "/etc", .read_only = true}));
  for (const FileView::Bind& bind : binds) EXPECT_TRUE(bind.read_only);
  EXPECT_THAT(ChannelBinds(manifest, {}), IsEmpty());
}

TEST(BucketBinds, AreDataOnlyAndHaveTheBucketsThatAreElsewhere) {
  TemporaryFolder folder;
  for (const char* name : {"buckets/models", "buckets/empty", "disk"})
    std::filesystem::create_directories(folder.path() + "/" + name);
  std::filesystem::create_directory_symlink("/etc", folder.path() + "/buckets/swapped");
  v1::Manifest manifest;
  v1::GoogleFront& front = *manifest.mutable_google_front();
  front.set_buckets_dir(folder.path() + "/buckets");
  (*front.mutable_bucket_dirs())["models"] = folder.path() + "/disk";
  (*front.mutable_bucket_dirs())["swapped"] = folder.path() + "/disk";
  (*front.mutable_bucket_dirs())["empty"] = folder.path() + "/missing";
  const std::string real = std::filesystem::canonical(folder.path());
  EXPECT_THAT(
      BucketBinds(manifest),
      testing::ElementsAre(FileView::Bind{.from = real + "/buckets", .to = "/gcs", .data_only = true},
                           FileView::Bind{.from = real + "/disk", .to = "/gcs/models", .data_only = true}));
}

TEST(BucketBinds, AreThoseThatTheServiceAccountMayUse) {
  TemporaryFolder folder;
  for (const char* name : {"buckets/mine", "buckets/shared", "buckets/others", "attempt"})
    std::filesystem::create_directories(folder.path() + "/" + name);
  v1::Manifest manifest;
  manifest.mutable_places()->set_attempt_dir(folder.path() + "/attempt");
  manifest.mutable_google_front()->set_buckets_dir(folder.path() + "/buckets");
  manifest.mutable_buckets()->add_buckets()->set_name("mine");
  v1::BucketRights::Bucket& shared = *manifest.mutable_buckets()->add_buckets();
  shared.set_name("shared");
  shared.set_read_only(true);
  manifest.mutable_buckets()->add_buckets()->set_name("gone");
  const std::string real = std::filesystem::canonical(folder.path());
  using Bind = FileView::Bind;
  ASSERT_TRUE(MakeBucketPlaces(manifest));
  EXPECT_THAT(
      BucketBinds(manifest),
      testing::ElementsAre(
          Bind{.from = real + "/attempt/gcs", .to = "/gcs", .read_only = true, .data_only = true},
          Bind{.from = real + "/buckets/mine", .to = "/gcs/mine", .data_only = true},
          Bind{.from = real + "/buckets/shared", .to = "/gcs/shared", .read_only = true, .data_only = true}));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() + "/attempt/gcs/mine"));
}

}  // namespace
}  // namespace trainyard::replica

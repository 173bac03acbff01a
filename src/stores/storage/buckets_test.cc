#include "stores/storage/buckets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "stores/storage/checksum.h"
#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::storage {
namespace {

namespace fs = std::filesystem;

class BucketsTest : public testing::Test {
 protected:
  Buckets& buckets() { return storage_.buckets(); }
  Result<v1::Object> Stat(const std::string& object, Conditions when = {}) {
    return storage_.Await(buckets().Stat("bucket", object, when));
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& object : storage_.Await(buckets().List("bucket", {}))->items())
      names.push_back(object.name());
    return names;
  }
  Transfer To(const std::string& from, const std::string& to) {
    Transfer transfer{.from_bucket = "bucket", .from_object = from};
    transfer.to.set_bucket("bucket");
    transfer.to.set_name(to);
    return transfer;
  }
  bool UploadsAreClean() { return fs::is_empty(storage_.data() / "uploads"); }

  TemporaryFolder folder_;
  Storage storage_{folder_.path()};
};

TEST_F(BucketsTest, AnObjectIsAnOrdinaryFile) {
  v1::Object sent;
  sent.set_bucket("bucket");
  sent.set_name("a/b.csv");
  sent.set_content_type("text/csv");
  (*sent.mutable_metadata())["k"] = "v";
  const auto stored = storage_.Put(sent, "1,2\n");
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(Storage::Slurp(storage_.folder() / "a/b.csv"), "1,2\n");
  EXPECT_EQ(stored->size(), 4U);
  EXPECT_EQ(stored->content_type(), "text/csv");
  EXPECT_EQ(stored->metadata().at("k"), "v");
  EXPECT_EQ(stored->md5_hash(), "Ps+tdV+oJfehfFUm7ETmUQ==");
  EXPECT_EQ(stored->metageneration(), 1);
  EXPECT_EQ(stored->id(), "bucket/a/b.csv/" + std::to_string(stored->generation()));
  EXPECT_EQ(Stat("a/b.csv")->SerializeAsString(), stored->SerializeAsString());
  EXPECT_TRUE(UploadsAreClean());
}

TEST_F(BucketsTest, MetadataSurvivesARestart) {
  const auto stored = storage_.Put("x", "hello");
  Storage again(folder_.path());
  EXPECT_EQ(again.Await(again.buckets().Stat("bucket", "x"))->SerializeAsString(),
            stored->SerializeAsString());
}

TEST_F(BucketsTest, AnOverwriteIsANewGenerationAndReadersKeepTheOld) {
  const auto first = storage_.Put("x", "one");
  auto reader = storage_.Await(buckets().OpenRead("bucket", "x"));
  const auto second = storage_.Put("x", "two");
  EXPECT_GT(second->generation(), first->generation());
  EXPECT_EQ(Storage::Slurp("/proc/self/fd/" + std::to_string(reader->file.get())), "one");
  EXPECT_EQ(storage_.Get("x"), "two");
  EXPECT_EQ(Stat("x", {.generation = first->generation()}).error(), NotFound("No such object: bucket/x"));
}

TEST_F(BucketsTest, FileAndFolderOfOneName) {
  ASSERT_TRUE(storage_.Put("a", "file"));
  ASSERT_TRUE(storage_.Put("a/b", "below"));
  ASSERT_TRUE(storage_.Put("a/", "marker"));
  EXPECT_EQ(storage_.Get("a"), "file");
  EXPECT_EQ(storage_.Get("a/b"), "below");
  EXPECT_EQ(storage_.Get("a/"), "marker");
  EXPECT_EQ(Names(), (std::vector<std::string>{"a", "a/", "a/b"}));
  const auto rewritten = storage_.Put("a", "file 2");  // while the directory is there
  EXPECT_EQ(Stat("a")->generation(), rewritten->generation());
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a/b")));
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a/")));
  EXPECT_EQ(Storage::Slurp(storage_.folder() / "a"), "file 2") << "an ordinary file again";
  EXPECT_EQ(Stat("a")->generation(), rewritten->generation());
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a")));
  EXPECT_TRUE(fs::is_empty(storage_.folder()));
}

TEST_F(BucketsTest, EmptyFoldersGoWithTheLastObjectButNotTheBucket) {
  ASSERT_TRUE(storage_.Put("a/b/c/d", "x"));
  ASSERT_TRUE(storage_.Put("a/e", "x"));
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a/b/c/d")));
  EXPECT_FALSE(fs::exists(storage_.folder() / "a/b"));
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a/e")));
  EXPECT_TRUE(fs::is_empty(storage_.folder()));
  EXPECT_TRUE(storage_.Await(buckets().GetBucket("bucket")));
}

TEST_F(BucketsTest, ManyAreDeletedAtOnce) {
  for (const char* name : {"a", "a/b", "d/e/f", "d/e/g", "d/h", "kept"}) ASSERT_TRUE(storage_.Put(name, "x"));
  const std::vector<std::string> gone = {"a", "d/e/f", "d/e/g", "absent", "absent/x", "d/e/f"};
  EXPECT_EQ(storage_.Await(DeleteMany(buckets(), "bucket", gone)), 3U);
  EXPECT_FALSE(fs::exists(storage_.folder() / "d/e"));
  EXPECT_EQ(Names(), (std::vector<std::string>{"a/b", "d/h", "kept"}));
  EXPECT_EQ(storage_.Await(DeleteMany(buckets(), "bucket", std::vector<std::string>{})), 0U);
  EXPECT_EQ(storage_.Await(DeleteMany(buckets(), "absent", gone)).error().code, Code::kNotFound);
}

TEST_F(BucketsTest, AFileThatChangedBehindOurBackIsNoticed) {
  const auto uploaded = storage_.Put("x", "one");
  std::ofstream(storage_.folder() / "x") << "three";
  const auto changed = Stat("x");
  EXPECT_NE(changed->generation(), uploaded->generation());
  EXPECT_EQ(changed->size(), 5U);
  Checksum expected;
  expected.Update("three");
  EXPECT_EQ(changed->md5_hash(), expected.Get().md5_hash);
  EXPECT_EQ(changed->crc32c(), expected.Get().crc32c);
  EXPECT_EQ(Stat("x")->SerializeAsString(), changed->SerializeAsString()) << "stable";
}

TEST_F(BucketsTest, FilesPutByHandAreObjects) {
  fs::create_directories(folder_.path() / "buckets/bucket/data");
  std::ofstream(storage_.folder() / "data/x.bin") << "bytes";
  EXPECT_EQ(Names(), (std::vector<std::string>{"data/x.bin"}));
  EXPECT_EQ(storage_.Get("data/x.bin"), "bytes");
  EXPECT_EQ(storage_.Await(buckets().GetBucket("bucket"))->name(), "bucket");
}

TEST_F(BucketsTest, SymbolicLinksAreNeitherFollowedNorObjects) {
  const fs::path outside = folder_.path() / "outside";
  fs::create_directories(outside);
  std::ofstream(outside / "secret") << "secret";
  ASSERT_TRUE(storage_.Put("x", "x"));
  fs::create_directory_symlink(outside, storage_.folder() / "dir");
  fs::create_symlink(outside / "secret", storage_.folder() / "file");
  EXPECT_EQ(storage_.Get("dir/secret"), "error: No such object: bucket/dir/secret");
  EXPECT_EQ(storage_.Get("file"), "error: No such object: bucket/file");
  EXPECT_EQ(storage_.Put("dir/new", "x").error().code, Code::kFailedPrecondition);
  EXPECT_FALSE(fs::exists(outside / "new"));
  ASSERT_TRUE(storage_.Put("file", "mine")) << "an upload replaces the link, not what it points to";
  EXPECT_EQ(Storage::Slurp(outside / "secret"), "secret");
  for (const char* object :
       {"../outside/secret", "../../outside/secret", "/etc/passwd", "a/../../outside/secret"}) {
    EXPECT_EQ(Stat(object).error().code, Code::kNotFound) << object;
    ASSERT_TRUE(storage_.Put(object, "in")) << object;
  }
  EXPECT_EQ(Storage::Slurp(outside / "secret"), "secret");
}

struct Named {
  const char* name;
  std::string object;
};
class AnyName : public BucketsTest, public testing::WithParamInterface<Named> {};
TEST_P(AnyName, IsWrittenReadListedAndRemoved) {
  const std::string& object = GetParam().object;
  ASSERT_TRUE(storage_.Put(object, "contents"));
  EXPECT_EQ(storage_.Get(object), "contents");
  EXPECT_EQ(Names(), (std::vector<std::string>{object}));
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", object)));
  EXPECT_TRUE(fs::is_empty(storage_.folder()));
}
INSTANTIATE_TEST_SUITE_P(Names, AnyName,
                         testing::Values(Named{"slash", "/"}, Named{"dots", "a/../..//./b"},
                                         Named{"mark", ".%file.a"},
                                         Named{"long_component", std::string(1000, 'n')},
                                         Named{"only_slashes", std::string(1024, '/')},
                                         Named{"percent", "100%25%2F"}, Named{"star", "a*?[b]"},
                                         Named{"backslash", "a\\b"}, Named{"tab_and_escape", "a\tb\x1b[31m"},
                                         Named{"unicode", "日本/ü"}, Named{"proc", ".well-known/x"}),
                         [](const auto& row) { return row.param.name; });

TEST_F(BucketsTest, NamesThatCannotBe) {
  for (const std::string& object :
       {std::string(""), std::string(1025, 'a'), std::string("a\nb"), std::string("."), std::string(".."),
        std::string("caf\xe9"), std::string("a\0b", 3)}) {
    EXPECT_EQ(storage_.Put(object, "x").error().code, Code::kInvalidArgument);
    EXPECT_EQ(Stat(object).error().code, Code::kInvalidArgument);
  }
  for (const char* bucket : {"..", "a/b", "UP", "ab", "-x-", ""}) {
    EXPECT_EQ(storage_.Await(buckets().EnsureBucket(bucket)).error().code, Code::kInvalidArgument) << bucket;
    EXPECT_EQ(storage_.Await(buckets().Stat(bucket, "x")).error().code, Code::kInvalidArgument) << bucket;
  }
}

TEST_F(BucketsTest, ConditionsGuardEveryChange) {
  const auto first = storage_.Put("x", "one", {.if_generation_match = 0});
  ASSERT_TRUE(first);
  EXPECT_EQ(storage_.Put("x", "two", {.if_generation_match = 0}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(storage_.Put("new", "x", {.if_generation_match = 5}).error().code, Code::kFailedPrecondition);
  const Conditions other{.if_generation_match = first->generation() + 1};
  EXPECT_EQ(storage_.Await(buckets().Delete("bucket", "x", other)).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(Stat("x", {.if_metageneration_match = 2}).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(Stat("x", {.if_generation_not_match = first->generation()}).error().code,
            Code::kFailedPrecondition);
  Transfer copy = To("x", "y");
  copy.from_when = other;
  EXPECT_EQ(storage_.Await(buckets().Copy(copy)).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(storage_.Get("x"), "one");
  EXPECT_EQ(Names(), (std::vector<std::string>{"x"}));
  EXPECT_TRUE(UploadsAreClean());
}

TEST_F(BucketsTest, AConditionThatEndsWhileTheBytesCome) {
  auto writer = storage_.Await([this] {
    v1::Object resource;
    resource.set_bucket("bucket");
    resource.set_name("x");
    return buckets().BeginWrite(resource, {.if_generation_match = 0});
  }());
  ASSERT_TRUE(writer);
  ASSERT_TRUE(storage_.Put("x", "the other one was faster"));
  EXPECT_EQ(storage_.Await(buckets().Finish(*std::move(writer))).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(storage_.Get("x"), "the other one was faster");
}

TEST_F(BucketsTest, WrongChecksumsStoreNothing) {
  for (const bool md5 : {true, false}) {
    v1::Object sent;
    sent.set_bucket("bucket");
    sent.set_name("x");
    if (md5) sent.set_md5_hash("AAAAAAAAAAAAAAAAAAAAAA==");
    if (!md5) sent.set_crc32c("AAAAAA==");
    EXPECT_EQ(storage_.Put(sent, "bytes").error().code, Code::kInvalidArgument);
  }
  EXPECT_EQ(Names(), std::vector<std::string>());
}

TEST_F(BucketsTest, FieldsThatWouldBeIgnoredAreRefused) {
  v1::Object object;
  object.set_bucket("bucket");
  object.set_name("x");
  object.set_kms_key_name("k");
  EXPECT_EQ(storage_.Put(object, "x").error(),
            InvalidArgument({}, "Object.kmsKeyName is not supported by this server; leave it out"));
  v1::Bucket bucket;
  bucket.set_name("versioned");
  bucket.mutable_versioning()->set_enabled(true);
  EXPECT_EQ(storage_.Await(buckets().InsertBucket(bucket)).error(),
            InvalidArgument({}, "Bucket.versioning is not supported by this server; leave it out"));
}

TEST_F(BucketsTest, CopyMoveComposeEdit) {
  v1::Object sent;
  sent.set_bucket("bucket");
  sent.set_name("a");
  sent.set_content_type("text/plain");
  const auto source = storage_.Put(sent, "AAA");
  ASSERT_TRUE(storage_.Put("b", "BB"));
  const auto copy = storage_.Await(buckets().Copy(To("a", "copy/a")));
  EXPECT_EQ(copy->md5_hash(), source->md5_hash());
  EXPECT_EQ(copy->content_type(), "text/plain");
  EXPECT_EQ(storage_.Get("copy/a"), "AAA");

  const auto moved = storage_.Await(buckets().Move(To("a", "a/moved")));
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(storage_.Get("a/moved"), "AAA");
  EXPECT_EQ(Stat("a").error().code, Code::kNotFound);
  EXPECT_EQ(moved->md5_hash(), source->md5_hash());

  v1::Object whole;
  whole.set_bucket("bucket");
  whole.set_name("whole");
  std::vector<ComposeSource> parts{{.object = "copy/a"}, {.object = "b"}};
  const auto composed = storage_.Await(buckets().Compose(whole, parts, {}, true));
  ASSERT_TRUE(composed) << composed.error().message;
  EXPECT_EQ(storage_.Get("whole"), "AAABB");
  EXPECT_EQ(composed->component_count(), 2);
  EXPECT_EQ(Names(), (std::vector<std::string>{"a/moved", "whole"}));

  const ObjectEdit edit = [](v1::Object& object) -> Status {
    object.set_content_type("image/png");
    return {};
  };
  const auto edited = storage_.Await(buckets().Edit("bucket", "whole", edit));
  EXPECT_EQ(edited->metageneration(), 2);
  EXPECT_EQ(edited->generation(), composed->generation());
  EXPECT_EQ(Stat("whole")->content_type(), "image/png");
  EXPECT_TRUE(UploadsAreClean());
}

TEST_F(BucketsTest, ABucketThatOnlyAnUploadMadeIsKnownUntilSomebodyMeansIt) {
  const auto put = [this](const std::string& bucket) {
    v1::Object sent;
    sent.set_bucket(bucket);
    sent.set_name("x");
    ASSERT_TRUE(storage_.Put(sent, "bytes"));
  };
  v1::Bucket meant;
  meant.set_name("meant");
  ASSERT_TRUE(storage_.Await(buckets().InsertBucket(meant)));
  for (const char* name : {"meant", "requested", "edited", "confirmed", "uploaded"}) put(name);
  fs::create_directories(storage_.data() / "buckets/by-hand");
  put("by-hand");
  EXPECT_FALSE(buckets().IsByUpload("meant"));
  EXPECT_FALSE(buckets().IsByUpload("by-hand"));
  EXPECT_FALSE(buckets().IsByUpload("absent"));
  for (const char* name : {"requested", "edited", "confirmed"}) EXPECT_TRUE(buckets().IsByUpload(name));

  v1::Bucket requested;
  requested.set_name("requested");
  EXPECT_EQ(storage_.Await(buckets().InsertBucket(requested)).error().code, Code::kAlreadyExists);
  const BucketEdit label = [](v1::Bucket& bucket) -> Status {
    (*bucket.mutable_labels())["team"] = "vision";
    return {};
  };
  ASSERT_TRUE(storage_.Await(buckets().EditBucket("edited", label)));
  ASSERT_TRUE(storage_.Await(buckets().ConfirmBucket("confirmed")));
  for (const char* name : {"requested", "edited", "confirmed"}) EXPECT_FALSE(buckets().IsByUpload(name));

  Storage again(folder_.path());
  EXPECT_TRUE(again.buckets().IsByUpload("uploaded"));
  for (const char* name : {"meant", "requested", "edited", "confirmed"})
    EXPECT_FALSE(again.buckets().IsByUpload(name)) << name;
  ASSERT_TRUE(storage_.Await(buckets().Delete("uploaded", "x")));
  ASSERT_TRUE(storage_.Await(buckets().DeleteBucket("uploaded", {})));
  EXPECT_FALSE(buckets().IsByUpload("uploaded"));
}

TEST_F(BucketsTest, DeletesOnlyEmptyBuckets) {
  ASSERT_TRUE(storage_.Put("a/b", "x"));
  EXPECT_EQ(storage_.Await(buckets().DeleteBucket("bucket", {})).error().code, Code::kAborted);
  ASSERT_TRUE(storage_.Await(buckets().Delete("bucket", "a/b")));
  fs::create_directories(storage_.folder() / "left/over");
  EXPECT_TRUE(storage_.Await(buckets().DeleteBucket("bucket", {})));
  EXPECT_EQ(storage_.Await(buckets().GetBucket("bucket")).error().code, Code::kNotFound);
  EXPECT_EQ(storage_.Await(buckets().DeleteBucket("bucket", {})).error().code, Code::kNotFound);
}

TEST_F(BucketsTest, ListsBucketsByPages) {
  for (const char* name : {"ccc", "aaa", "bbb"}) ASSERT_TRUE(storage_.Await(buckets().EnsureBucket(name)));
  EXPECT_EQ(storage_.Await(buckets().EnsureBucket("aaa"))->name(), "aaa") << "again is fine";
  v1::Bucket again;
  again.set_name("aaa");
  EXPECT_EQ(storage_.Await(buckets().InsertBucket(again)).error().code, Code::kAlreadyExists);
  const auto first = storage_.Await(buckets().ListBuckets("", "", 2));
  ASSERT_EQ(first->items_size(), 2);
  EXPECT_EQ(first->items(1).name(), "bbb");
  const auto second = storage_.Await(buckets().ListBuckets("", first->next_page_token(), 2));
  ASSERT_EQ(second->items_size(), 1);
  EXPECT_EQ(second->items(0).name(), "ccc");
  EXPECT_EQ(second->next_page_token(), "");
}

TEST(BucketsOptions, WithoutCreateOnUse) {
  const TemporaryFolder folder;
  Storage storage(folder.path(), false);
  const Error error = storage.Put("x", "x").error();
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_NE(error.message.find("gcloud storage buckets create gs://bucket"), std::string::npos)
      << error.message;
}

TEST_F(BucketsTest, AListHasTheChecksumsOfManyNewFiles) {
  ASSERT_TRUE(storage_.Put("0", "uploaded"));
  for (int i = 1; i < 200; ++i) std::ofstream(storage_.folder() / std::to_string(i)) << i;
  const auto check = [this] {
    const auto page = storage_.Await(storage_.buckets().List("bucket", {}));
    ASSERT_TRUE(page) << page.error().message;
    ASSERT_EQ(page->items_size(), 200);
    for (const v1::Object& object : page->items()) {
      Checksum checksum;
      checksum.Update(object.name() == "0" ? "uploaded" : object.name());
      EXPECT_EQ((Digests{object.md5_hash(), object.crc32c()}), checksum.Get()) << object.name();
    }
  };
  check();
  check();
  std::ofstream(storage_.folder() / "150") << "changed behind our back";
  const auto changed = storage_.Await(storage_.buckets().Stat("bucket", "150"));
  EXPECT_EQ(changed->size(), 23U);
}

}  // namespace
}  // namespace trainyard::storage

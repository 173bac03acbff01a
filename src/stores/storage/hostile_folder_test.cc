// What programs may put into the buckets' directory: links, pipes, devices, nested and large files.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "stores/storage/bucket_files.h"
#include "stores/storage/checksum.h"
#include "stores/storage/hasher.h"
#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::storage {
namespace {

namespace fs = std::filesystem;

class HostileFolder : public testing::Test {
 protected:
  HostileFolder() {
    fs::create_directories(outside() / "sub");
    std::ofstream(outside() / "secret") << "SECRET";
    EXPECT_TRUE(storage_.Put("mine", "mine"));
  }
  fs::path outside() const { return folder_.path() / "outside"; }
  Buckets& buckets() { return storage_.buckets(); }
  Code ReadCode(const std::string& bucket, const std::string& object) {
    const auto opened = storage_.Await(buckets().OpenRead(bucket, object));
    return opened ? Code::kUnknown : opened.error().code;
  }
  v1::Object Resource(const std::string& bucket, const std::string& name) {
    v1::Object resource;
    resource.set_bucket(bucket);
    resource.set_name(name);
    return resource;
  }
  std::vector<std::string> BucketNames() {
    std::vector<std::string> names;
    for (const auto& bucket : storage_.Await(buckets().ListBuckets("", "", 1000))->items())
      names.push_back(bucket.name());
    return names;
  }

  TemporaryFolder folder_;
  Storage storage_{folder_.path() / "data"};
};

TEST_F(HostileFolder, ALinkInTheRootIsNoBucket) {
  for (const char* name : {"evil", "server"}) {
    fs::create_directory_symlink(*name == 'e' ? outside() : storage_.data(),
                                 storage_.data() / "buckets" / name);
    EXPECT_EQ(storage_.Await(buckets().GetBucket(name)).error().code, Code::kNotFound);
    EXPECT_EQ(ReadCode(name, "secret"), Code::kNotFound);
    EXPECT_EQ(ReadCode(name, "objects.db"), Code::kNotFound);
    EXPECT_EQ(storage_.Await(buckets().Stat(name, "secret")).error().code, Code::kNotFound);
    EXPECT_EQ(storage_.Await(buckets().List(name, {})).error().code, Code::kNotFound);
    EXPECT_EQ(storage_.Await(buckets().Delete(name, "secret")).error().code, Code::kNotFound);
    EXPECT_EQ(storage_.Await(buckets().DeleteBucket(name, {})).error().code, Code::kNotFound);
    const auto written = storage_.Put(Resource(name, "planted"), "x");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Code::kAlreadyExists) << written.error().message;
    EXPECT_NE(written.error().message.find("a file or a link"), std::string::npos);
    const Transfer copy{.from_bucket = name, .from_object = "secret", .to = Resource("bucket", "stolen")};
    EXPECT_EQ(storage_.Await(buckets().Copy(copy)).error().code, Code::kNotFound);
    const Transfer back{.from_bucket = "bucket", .from_object = "mine", .to = Resource(name, "planted")};
    EXPECT_FALSE(storage_.Await(buckets().Move(back)));
  }
  EXPECT_EQ(BucketNames(), std::vector<std::string>{"bucket"});
  EXPECT_EQ(Storage::Slurp(outside() / "secret"), "SECRET");
  EXPECT_FALSE(fs::exists(outside() / "planted"));
}

TEST_F(HostileFolder, SpecialFilesAreNoObjectsAndHoldNobody) {
  ASSERT_EQ(::mkfifo((storage_.folder() / "pipe").c_str(), 0666), 0);
  if (::mknod((storage_.folder() / "device").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    std::printf("no right to make devices here\n");
  for (const char* name : {"pipe", "device"}) {
    EXPECT_EQ(ReadCode("bucket", name), Code::kNotFound);
    EXPECT_EQ(storage_.Await(buckets().Stat("bucket", name)).error().code, Code::kNotFound);
  }
  EXPECT_EQ(storage_.Await(buckets().List("bucket", {}))->items_size(), 1);
  EXPECT_EQ(storage_.Await(buckets().DeleteBucket("bucket", {})).error().code, Code::kAborted);
  ASSERT_TRUE(storage_.Put("pipe", "an upload takes its place"));
  EXPECT_EQ(storage_.Get("pipe"), "an upload takes its place");
}

TEST_F(HostileFolder, WhatIsMovedIsNotSetuid) {
  std::ofstream(storage_.folder() / "tool") << "x";
  ASSERT_EQ(::chmod((storage_.folder() / "tool").c_str(), 06755), 0);
  const Transfer move{.from_bucket = "bucket", .from_object = "tool", .to = Resource("bucket", "moved")};
  ASSERT_TRUE(storage_.Await(buckets().Move(move)));
  struct stat status{};
  ASSERT_EQ(::stat((storage_.folder() / "moved").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
}

TEST_F(HostileFolder, NestsOfAnyDepthAreListedAndGo) {
  fs::create_directory(storage_.data() / "buckets" / "deep");
  UniqueFd folder(::open((storage_.data() / "buckets" / "deep").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 3'000; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), "nested", 0755), 0);
    folder = UniqueFd(::openat(folder.get(), "nested", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  EXPECT_EQ(storage_.Await(buckets().List("deep", {}))->items_size(), 0);
  const Status removed = storage_.Await(buckets().DeleteBucket("deep", {}));
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(storage_.data() / "buckets" / "deep"));
}

TEST_F(HostileFolder, ReadingALargeFileHoldsNoUpload) {
  constexpr std::uint64_t kLarge = kSliceBytes * 8;
  for (const char* name : {"sparse1", "sparse2"}) {
    std::ofstream(storage_.folder() / name).close();
    fs::resize_file(storage_.folder() / name, kLarge);
  }
  std::vector<std::string> order;
  const auto note = [](asio::awaitable<Result<v1::Object>> work, std::string name,
                       std::vector<std::string>& done) -> asio::awaitable<Result<v1::Object>> {
    auto result = co_await std::move(work);
    done.push_back(std::move(name));
    co_return result;
  };
  std::optional<Result<v1::Object>> stats[3];
  storage_.Begin(note(buckets().Stat("bucket", "sparse1"), "large", order), stats[0]);
  storage_.Begin(note(buckets().Stat("bucket", "sparse2"), "large", order), stats[1]);
  storage_.Begin(note(buckets().Stat("bucket", "sparse1"), "large", order), stats[2]);
  std::ofstream(storage_.folder() / "byhand") << "small";
  const auto small = [&]() -> asio::awaitable<Result<v1::Object>> {
    TY_CO_TRY(ObjectWriter writer, co_await buckets().BeginWrite(Resource("bucket", "tiny")));
    TY_CO_RETURN_IF_ERROR(co_await writer.Append("1"));
    TY_CO_TRY([[maybe_unused]] const v1::Object tiny, co_await buckets().Finish(std::move(writer)));
    co_return co_await buckets().Stat("bucket", "byhand");
  };
  ASSERT_TRUE(storage_.Await(note(small(), "small", order)));
  EXPECT_EQ(order, (std::vector<std::string>{"small", "large", "large", "large"}));
  for (const auto& stat : stats) {
    ASSERT_TRUE(stat && *stat);
    EXPECT_EQ((*stat)->md5_hash(), (*stats[0])->md5_hash());
    EXPECT_FALSE((*stat)->crc32c().empty());
  }
}

TEST_F(HostileFolder, ListsEndWhereTheyHaveWorkedEnoughAndGoOn) {
  const std::string directory = std::string(200, 'd') + "/" + std::string(200, 'e') + "/" +
                                std::string(200, 'f') + "/" + std::string(200, 'g');
  fs::create_directories(storage_.folder() / directory);
  constexpr int kNames = 1'500;
  for (int i = 0; i < kNames; ++i)
    std::ofstream(storage_.folder() / directory / (std::to_string(10'000 + i) + std::string(190, 'n')))
        .close();
  NameQuery query;
  // A thousand characters of name times the pattern's 17 words: a page's work is about a thousand names.
  query.match_glob = "{d*" + std::string(500, '?') + "**z,d**" + std::string(500, '?') + "z}";
  query.results_max = 10;
  int pages = 0;
  do {
    const auto page = storage_.Await(buckets().List("bucket", query));
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->items_size(), 0);
    query.page_token = page->next_page_token();
    ++pages;
  } while (!query.page_token.empty());
  EXPECT_GT(pages, 1);
}

TEST(Elsewhere, ABucketIsWhereTheOperatorSays) {
  const TemporaryFolder folder;
  const fs::path models = folder.path() / "disk" / "models";
  fs::create_directories(models);
  std::ofstream(models / "there") << "already";
  Buckets::Options options{.data = folder.path() / "data", .elsewhere = {{"models", models}}};
  {
    Storage storage(options);
    v1::Object resource;
    resource.set_bucket("models");
    resource.set_name("a/b");
    ASSERT_TRUE(storage.Put(resource, "new"));
    EXPECT_EQ(Storage::Slurp(models / "a" / "b"), "new");
    EXPECT_EQ(storage.Await(storage.buckets().List("models", {}))->items_size(), 2);
    EXPECT_EQ(storage.Await(storage.buckets().ListBuckets("", "", 10))->items(0).name(), "models");
    ASSERT_TRUE(storage.Await(storage.buckets().Delete("models", "a/b")));
    ASSERT_TRUE(storage.Await(storage.buckets().Delete("models", "there")));
    const Status refused = storage.Await(storage.buckets().DeleteBucket("models", {}));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("--bucket-dir"), std::string::npos);
    EXPECT_TRUE(fs::is_directory(models));
  }
  const SystemClock clock;
  const auto refusal = [&clock](const Buckets::Options& wrong) {
    const auto opened = BucketFiles::Open(wrong, clock);
    return opened ? std::string("no refusal") : opened.error().message;
  };
  std::ofstream(folder.path() / "data" / "buckets" / "models" / "file") << "x";
  EXPECT_NE(refusal(options).find("has files in DATA/buckets/models already"), std::string::npos);
  options.elsewhere = {{"other", folder.path() / "missing"}};
  EXPECT_NE(refusal(options).find("missing"), std::string::npos);
  options.elsewhere = {{"other", folder.path() / "data" / "uploads"}};
  EXPECT_NE(refusal(options).find("data directory"), std::string::npos);
  options.elsewhere = {{"other", folder.path()}};
  EXPECT_NE(refusal(options).find("data directory"), std::string::npos);
}

TEST(Real, NothingIsDoneToABucketOfThatName) {
  const TemporaryFolder folder;
  Storage storage(Buckets::Options{.data = folder.path(), .real = {"theirs"}});
  Buckets& buckets = storage.buckets();
  ASSERT_TRUE(storage.Put("mine", "x"));
  EXPECT_TRUE(storage.Await(buckets.EnsureBucket("theirs"))) << "a job's folder may be there";
  v1::Object resource;
  resource.set_bucket("theirs");
  resource.set_name("a");
  const auto refused = storage.Put(resource, "x");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kPermissionDenied);
  EXPECT_NE(refused.error().message.find("gs://theirs is a bucket of the real Cloud Storage"),
            std::string::npos);
  const Transfer to{.from_bucket = "bucket", .from_object = "mine", .to = resource};
  EXPECT_EQ(storage.Await(buckets.Copy(to)).error().code, Code::kPermissionDenied);
  const Transfer from{.from_bucket = "theirs", .from_object = "a", .to = resource};
  EXPECT_EQ(storage.Await(buckets.Copy(from)).error().code, Code::kPermissionDenied);
  v1::Bucket bucket;
  bucket.set_name("theirs");
  EXPECT_EQ(storage.Await(buckets.InsertBucket(bucket)).error().code, Code::kPermissionDenied);
  EXPECT_FALSE(fs::exists(folder.path() / "buckets" / "theirs"));
}

}  // namespace
}  // namespace trainyard::storage

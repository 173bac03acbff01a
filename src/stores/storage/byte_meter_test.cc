#include "stores/storage/byte_meter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "stores/storage/testing/storage_fixture.h"
#include "stores/storage/uploads.h"

namespace trainyard::storage {
namespace {

/// Buckets that begin with "r" belong to project research, which may store 100 bytes.
std::shared_ptr<ByteMeter> Meter() {
  ByteMeter::Rules rules{
      .project_of = [](const std::string& bucket) { return bucket.starts_with("r") ? "research" : "other"; },
      .limit_of = [](const std::string& project) -> std::optional<ByteMeter::Limit> {
        if (project != "research") return std::nullopt;
        return ByteMeter::Limit{.bytes = 100, .quota = "--quota project:research:bucket-bytes=100"};
      }};
  return std::make_shared<ByteMeter>(std::move(rules));
}

class ByteMeterTest : public testing::Test {
 protected:
  Result<v1::Object> Write(const std::string& bucket, const std::string& name, std::size_t bytes) {
    v1::Object object;
    object.set_bucket(bucket);
    object.set_name(name);
    return storage_.Put(std::move(object), std::string(bytes, 'x'));
  }
  Status Delete(const std::string& bucket, const std::string& name) {
    return storage_.Await(storage_.buckets().Delete(bucket, name));
  }
  void Measure() { meter_->Set(MeasureBuckets({.data = folder_.path()}).value()); }
  std::int64_t Kept(const std::string& project) { return meter_->OfProject(project); }

  TemporaryFolder folder_;
  std::shared_ptr<ByteMeter> meter_ = Meter();
  Storage storage_{Buckets::Options{.data = folder_.path(), .meter = meter_}};
};

TEST_F(ByteMeterTest, CountsWhatComesReplacesAndGoes) {
  ASSERT_TRUE(Write("r-1", "a", 40));
  ASSERT_TRUE(Write("r-2", "b", 30));
  EXPECT_EQ(Kept("research"), 70);
  ASSERT_TRUE(Write("r-1", "a", 10));
  EXPECT_EQ(Kept("research"), 40);
  ASSERT_TRUE(Delete("r-2", "b"));
  EXPECT_EQ(Kept("research"), 10);
  Measure();
  EXPECT_EQ(Kept("research"), 10) << "the directories say the same";
}

TEST_F(ByteMeterTest, RefusesWhatWouldBeTooMuch) {
  ASSERT_TRUE(Write("r-1", "a", 60));
  const auto refused = Write("r-2", "b", 41);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            (ResourceExhausted(
                "Quota failure for project research. Its buckets hold 60 bytes, and may hold 100. Remove "
                "objects, then write again. The server's operator sets the quota: trainyard serve --quota "
                "project:research:bucket-bytes=100.")));
  EXPECT_EQ(Kept("research"), 60);
  EXPECT_TRUE(Write("r-2", "b", 40));
  EXPECT_TRUE(Write("other", "b", 4'000)) << "has no quota";
  EXPECT_FALSE(Write("r-2", "c", 1)) << "full: refused before the bytes come";
  EXPECT_TRUE(Write("r-2", "b", 39)) << "who shrinks may";
}

/// The test says how much space the disk has.
TEST(CheckSpace, RefusesWhatBeginsAndWhatGoesOn) {
  TemporaryFolder folder;
  std::atomic<bool> full = false;
  Storage storage(Buckets::Options{.data = folder.path(), .check_space = [&full](const std::string& bucket) {
                                     return full && bucket == "here"
                                                ? Status(std::unexpected(ResourceExhausted("full")))
                                                : Status();
                                   }});
  v1::Object object;
  object.set_bucket("here");
  object.set_name("a");
  ASSERT_TRUE(storage.Put(object, "kept"));
  auto writer = storage.Await(storage.buckets().BeginWrite(object));
  ASSERT_TRUE(writer);
  EXPECT_TRUE(storage.Await(writer->Append("more")));
  full = true;
  EXPECT_EQ(storage.Await(writer->Append("more")).error().message, "full");
  EXPECT_EQ(storage.Await(storage.buckets().BeginWrite(object)).error().code, Code::kResourceExhausted);
  EXPECT_EQ(storage.Await(storage.buckets().uploads().Start(object, {}, {})).error().code,
            Code::kResourceExhausted);
  EXPECT_TRUE(storage.Await(storage.buckets().Delete("here", "a"))) << "who makes room may";
  object.set_bucket("elsewhere");
  EXPECT_TRUE(storage.Put(object, "another disk"));
}

TEST_F(ByteMeterTest, FindsWhatProgramsWroteAndAfterAStartAll) {
  ASSERT_TRUE(Write("r-1", "a", 10));
  std::filesystem::create_directories(folder_.path() / "buckets/r-1/deep/er");
  std::ofstream(folder_.path() / "buckets/r-1/deep/er/checkpoint") << std::string(200, 'x');
  std::filesystem::create_symlink("/etc/passwd", folder_.path() / "buckets/r-1/link");
  EXPECT_EQ(Kept("research"), 10);
  Measure();
  EXPECT_EQ(Kept("research"), 210);
  EXPECT_FALSE(Write("r-1", "b", 1));
  EXPECT_EQ(meter_->ByProject(), (std::map<std::string, std::int64_t>{{"research", 210}}));
}

}  // namespace
}  // namespace trainyard::storage

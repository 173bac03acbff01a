#include "stores/storage/unfinished_writes.h"

#include <gtest/gtest.h>

#include "stores/storage/testing/storage_fixture.h"
#include "stores/storage/uploads.h"

namespace trainyard::storage::unfinished_writes_test {
namespace {

using std::chrono::minutes;

/// Buckets that begin with "r" are research's.
std::string ProjectOf(const std::string& bucket) { return bucket.starts_with("r") ? "research" : "other"; }

std::shared_ptr<ByteMeter> Meter() {
  ByteMeter::Rules rules{.project_of = ProjectOf,
                         .limit_of = [](const std::string&) -> std::optional<ByteMeter::Limit> {
                           return ByteMeter::Limit{.bytes = 100, .quota = "--quota bucket-bytes=100"};
                         }};
  return std::make_shared<ByteMeter>(std::move(rules));
}

TEST(UnfinishedWrites, AProjectHasSoManyUploadsAndTheOneIdleForLongestGivesWay) {
  UnfinishedWrites writes({.project_of = ProjectOf});
  const SysTime begun{std::chrono::hours(1000)};
  for (std::size_t i = 0; i < UnfinishedWrites::kUploadsMax; ++i) {
    const SysTime used = begun + std::chrono::seconds(i == 7 ? 0 : 1);
    ASSERT_EQ(writes.BeginUpload(std::to_string(i), {.bucket = "r-1"}, 0, used), std::nullopt);
  }
  const auto refused = writes.BeginUpload("more", {.bucket = "r-2"}, 0, begun + minutes(59));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(),
            (ResourceExhausted(
                "Project research has 1000 unfinished resumable uploads, and may have 1000. Finish or "
                "cancel some, then begin this one again. At the limit, one that got no request for an hour "
                "is ended in favour of a new one.")));
  EXPECT_EQ(writes.BeginUpload("another", {.bucket = "b"}, 0, begun), std::nullopt) << "another project's";
  EXPECT_EQ(writes.BeginUpload("more", {.bucket = "r-2"}, 0, begun + minutes(60)), "7");
  writes.End("7");
  writes.End("8");
  EXPECT_EQ(writes.BeginUpload("in its place", {.bucket = "r-2"}, 0, begun), std::nullopt);
}

TEST(UnfinishedWrites, BytesCountUntilTheEndAsFarAsTheyReplaceNone) {
  const auto meter = Meter();
  UnfinishedWrites writes({.meter = meter, .project_of = ProjectOf});
  const auto kept = [&meter] { return meter->OfProject("research"); };
  meter->Add("r", 50);
  writes.Restore("old", {.bucket = "r", .object = "old"}, 0, 20, {});
  EXPECT_EQ(kept(), 70);
  {
    const auto counting = writes.Begin("new", {.bucket = "r", .object = "new"}, 10);
    EXPECT_TRUE(writes.Grow("new", 10, {}));
    EXPECT_EQ(kept(), 70);
    EXPECT_TRUE(writes.Grow("new", 30, {}));
    EXPECT_EQ(kept(), 100);
    EXPECT_EQ(writes.Grow("old", 1, {}).error().code, Code::kResourceExhausted);
    EXPECT_TRUE(writes.Grow("new", -5, {}));
    EXPECT_EQ(kept(), 95);
  }
  EXPECT_EQ(kept(), 70) << "the write is gone";
  EXPECT_EQ(writes.Grow("new", 1, {}).error().code, Code::kAborted);
  writes.End("old");
  EXPECT_EQ(meter->ByProject(), (std::map<std::string, std::int64_t>{{"research", 50}}));
}

TEST(UnfinishedWrites, AnObjectIsReplacedByOneWriteNotByMany) {
  const auto meter = Meter();
  UnfinishedWrites writes({.meter = meter, .project_of = ProjectOf});
  const auto kept = [&meter] { return meter->OfProject("research"); };
  const UnfinishedWrites::Target o{.bucket = "r", .object = "o"};
  meter->Add("r", 80);
  const auto one = writes.Begin("1", o, 80);
  const auto two = writes.Begin("2", o, 80);
  EXPECT_TRUE(writes.Grow("1", 80, {}));
  EXPECT_EQ(kept(), 80);
  EXPECT_EQ(writes.Grow("2", 21, {}).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(writes.Grow("2", 20, {}));
  EXPECT_EQ(kept(), 100);
  EXPECT_TRUE(writes.CheckPlace("1", 80, 80));
  EXPECT_EQ(kept(), 100) << "a check changes nothing";
  writes.Placed("1", 80, 80);
  EXPECT_EQ(kept(), 80) << "the other may replace the new one";
  writes.Removed(o, 80);
  EXPECT_EQ(kept(), 20) << "there is none to replace";
  EXPECT_TRUE(writes.CheckPlace("2", 0, 20));
  writes.Placed("2", 0, 20);
  EXPECT_EQ(kept(), 20);
  EXPECT_EQ(writes.CheckPlace("2", 0, 20).error().code, Code::kAborted);
}

TEST(UnfinishedWrites, WhatAnEarlierServerLetInIsCheckedWhenItIsPlaced) {
  const auto meter = Meter();
  UnfinishedWrites writes({.meter = meter, .project_of = ProjectOf});
  writes.Restore("1", {.bucket = "r", .object = "1"}, 0, 80, {});
  writes.Restore("2", {.bucket = "r", .object = "2"}, 0, 80, {});
  EXPECT_EQ(writes.CheckPlace("1", 0, 80).error().code, Code::kResourceExhausted);
  EXPECT_TRUE(writes.CheckPlace("1", 80, 80)) << "it replaces as much, which a program wrote meanwhile";
  EXPECT_EQ(meter->OfProject("research"), 80);
  EXPECT_EQ(writes.CheckPlace("1", 0, 80).error().code, Code::kResourceExhausted);
  writes.End("2");
  EXPECT_TRUE(writes.CheckPlace("1", 0, 80));
}

class UnfinishedUploads : public testing::Test {
 protected:
  Uploads& uploads() { return storage_->buckets().uploads(); }
  void Open() {
    storage_.reset();
    meter_ = Meter();
    storage_ = std::make_unique<Storage>(Buckets::Options{.data = folder_.path(), .meter = meter_});
  }
  std::string Start(const std::string& bucket) {
    v1::Object resource;
    resource.set_bucket(bucket);
    resource.set_name("big");
    return *storage_->Await(uploads().Start(std::move(resource), {}, {}));
  }
  Result<Uploads::Turn> Take(const std::string& id, const std::string& bucket) {
    return storage_->Await(uploads().Take(id, bucket));
  }

  TemporaryFolder folder_;
  std::shared_ptr<ByteMeter> meter_;
  std::unique_ptr<Storage> storage_;
};

TEST_F(UnfinishedUploads, CountAlsoAfterARestart) {
  Open();
  const std::string id = Start("r-1");
  ASSERT_TRUE(storage_->Await(uploads().Append(*Take(id, "r-1"), std::string(70, 'x'))));
  EXPECT_EQ(meter_->OfProject("research"), 70);
  Open();
  EXPECT_EQ(meter_->OfProject("research"), 70);
  v1::Object other;
  other.set_bucket("r-2");
  other.set_name("other");
  EXPECT_EQ(storage_->Put(other, std::string(31, 'x')).error().code, Code::kResourceExhausted);
  ASSERT_TRUE(storage_->Await(uploads().Finish(*Take(id, "r-1"), {})));
  EXPECT_EQ(meter_->OfProject("research"), 70);
  EXPECT_TRUE(storage_->Put(other, std::string(30, 'x')));
}

TEST_F(UnfinishedUploads, AFullQuotaIsReplacedAndMovedAlsoAfterARestart) {
  Open();
  v1::Object big;
  big.set_bucket("r-1");
  big.set_name("big");
  ASSERT_TRUE(storage_->Put(big, std::string(100, 'x')));
  const std::string id = Start("r-1");
  ASSERT_TRUE(storage_->Await(uploads().Append(*Take(id, "r-1"), std::string(60, 'y'))));
  Open();
  meter_->Add("r-1", 100);  // as if measured
  EXPECT_EQ(meter_->OfProject("research"), 100);
  ASSERT_TRUE(storage_->Await(uploads().Append(*Take(id, "r-1"), std::string(40, 'y'))));
  ASSERT_TRUE(storage_->Await(uploads().Finish(*Take(id, "r-1"), {})));
  EXPECT_EQ(meter_->OfProject("research"), 100);
  v1::Object other = big;
  other.set_name("other");
  ASSERT_TRUE(storage_->Await(storage_->buckets().Move(
      {.from_bucket = "r-1", .from_object = "big", .from_when = {}, .to = other, .to_when = {}})));
  EXPECT_EQ(meter_->OfProject("research"), 100);
  EXPECT_EQ(storage_->Put(big, "x").error().code, Code::kResourceExhausted);
  EXPECT_TRUE(storage_->Put(other, std::string(100, 'z')));
}

TEST_F(UnfinishedUploads, AreOfOneBucketAndEndWithIt) {
  Open();
  const std::string id = Start("r-1");
  Start("r-2");
  const Uploads::Turn turn = *Take(id, "r-1");
  ASSERT_TRUE(storage_->Await(uploads().Append(turn, "x")));
  EXPECT_EQ(Take(id, "r-2").error().code, Code::kNotFound);
  EXPECT_EQ(storage_->Await(uploads().Cancel(id, "r-2")).error().code, Code::kNotFound);
  ASSERT_TRUE(storage_->Await(storage_->buckets().DeleteBucket("r-1", {})));
  EXPECT_EQ(meter_->OfProject("research"), 0);
  v1::Bucket again;
  again.set_name("r-1");
  ASSERT_TRUE(storage_->Await(storage_->buckets().InsertBucket(again)));
  EXPECT_EQ(storage_->Await(uploads().Append(turn, "y")).error().code, Code::kAborted);
  EXPECT_EQ(storage_->Await(uploads().Finish(turn, {})).error().code, Code::kNotFound);
  EXPECT_EQ(Take(id, "r-1").error().code, Code::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "buckets/r-1"));
}

TEST_F(UnfinishedUploads, AWriteThatOutlivesItsBucketIsOfNoOther) {
  Open();
  v1::Object resource;
  resource.set_bucket("r-1");
  resource.set_name("late");
  auto writer = storage_->Await(storage_->buckets().BeginWrite(resource));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(storage_->Await(writer->Append("x")));
  ASSERT_TRUE(storage_->Await(storage_->buckets().DeleteBucket("r-1", {})));
  v1::Bucket again;
  again.set_name("r-1");
  ASSERT_TRUE(storage_->Await(storage_->buckets().InsertBucket(again)));
  EXPECT_EQ(storage_->Await(storage_->buckets().Finish(*std::move(writer))).error().code, Code::kNotFound);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "buckets/r-1"));
}

}  // namespace
}  // namespace trainyard::storage::unfinished_writes_test

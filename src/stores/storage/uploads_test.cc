#include "stores/storage/uploads.h"

#include <gtest/gtest.h>

#include "stores/storage/testing/storage_fixture.h"

namespace trainyard::storage {
namespace {

class UploadsTest : public testing::Test {
 protected:
  Uploads& uploads() { return storage_->buckets().uploads(); }
  void Restart() {
    storage_.reset();
    storage_ = std::make_unique<Storage>(folder_.path());
  }
  std::string Start(std::optional<std::uint64_t> total = {}, Conditions when = {}) {
    v1::Object resource;
    resource.set_bucket("bucket");
    resource.set_name("big");
    return *storage_->Await(uploads().Start(std::move(resource), when, total));
  }
  Uploads::Turn Take(const std::string& id) { return *storage_->Await(uploads().Take(id, "bucket")); }
  Status Append(const Uploads::Turn& turn, std::string bytes) {
    return storage_->Await(uploads().Append(turn, std::move(bytes)));
  }
  Result<v1::Object> Finish(const Uploads::Turn& turn) { return storage_->Await(uploads().Finish(turn, {})); }

  TemporaryFolder folder_;
  std::unique_ptr<Storage> storage_ = std::make_unique<Storage>(folder_.path());
};

TEST_F(UploadsTest, GoesOnAfterARestart) {
  const std::string id = Start();
  ASSERT_TRUE(Append(Take(id), "first "));
  Restart();
  const Uploads::Turn turn = Take(id);
  EXPECT_EQ(turn.received, 6U);
  ASSERT_TRUE(Append(turn, "second"));
  EXPECT_EQ(storage_->Get("big"), "error: No such object: bucket/big") << "not before it is finished";
  const auto object = Finish(turn);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(storage_->Get("big"), "first second");
  EXPECT_EQ(object->md5_hash(), storage_->Put("same", "first second")->md5_hash());
  EXPECT_EQ(Take(id).done->generation(), object->generation());
  Restart();
  EXPECT_EQ(Take(id).done->generation(), object->generation()) << "a finished upload answers its object";
}

TEST_F(UploadsTest, ALaterTurnEndsTheOneBefore) {
  const std::string id = Start();
  const Uploads::Turn old = Take(id);
  const Uploads::Turn turn = Take(id);
  EXPECT_EQ(Append(old, "late").error().code, Code::kAborted);
  EXPECT_EQ(Finish(old).error().code, Code::kAborted);
  ASSERT_TRUE(Append(turn, "x"));
  EXPECT_EQ(storage_->Await(uploads().Sync(turn)), 1U);
}

TEST_F(UploadsTest, IsOverAfterAWeek) {
  const std::string open = Start();
  const std::string forgotten = Start();
  ASSERT_TRUE(Append(Take(open), "x"));
  const std::string done = Start();
  ASSERT_TRUE(Finish(Take(done)));
  storage_->clock().Advance(std::chrono::hours(24 * 7 + 1));
  for (const std::string& id : {open, forgotten, done}) {
    EXPECT_EQ(storage_->Await(uploads().Take(id, "bucket")).error().code, Code::kNotFound);
    EXPECT_EQ(storage_->Await(uploads().Cancel(id, "bucket")).error().code, Code::kNotFound);
  }
  const std::string next = Start();
  EXPECT_EQ(Take(next).received, 0U);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(storage_->data() / "uploads"))
    files.push_back(entry.path().filename());
  EXPECT_EQ(files, std::vector{next}) << "the next upload removes what expired";
}

TEST_F(UploadsTest, CancelLeavesNothing) {
  const std::string id = Start();
  const Uploads::Turn turn = Take(id);
  ASSERT_TRUE(Append(turn, "x"));
  ASSERT_TRUE(storage_->Await(uploads().Cancel(id, "bucket")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "uploads"));
  EXPECT_EQ(storage_->Await(uploads().Take(id, "bucket")).error().code, Code::kNotFound);
  EXPECT_EQ(Append(turn, "y").error().code, Code::kAborted);
}

TEST_F(UploadsTest, ForeignIdsAreNotFound) {
  for (const char* id : {"", "../objects.db", "0123", "0123456789abcdef0123456789abcdef"}) {
    EXPECT_EQ(storage_->Await(uploads().Take(id, "bucket")).error().code, Code::kNotFound) << id;
    EXPECT_EQ(storage_->Await(uploads().Cancel(id, "bucket")).error().code, Code::kNotFound) << id;
  }
}

TEST_F(UploadsTest, ChecksumsAndConditionsAreCheckedAtTheEnd) {
  std::string id = Start();
  Uploads::Turn turn = Take(id);
  v1::Object sent;
  sent.set_crc32c("AAAAAA==");
  ASSERT_TRUE(Append(turn, "x"));
  EXPECT_EQ(storage_->Await(uploads().Finish(turn, sent)).error().code, Code::kInvalidArgument);
  id = Start({}, {.if_generation_match = 0});
  turn = Take(id);
  ASSERT_TRUE(storage_->Put("big", "other"));
  EXPECT_EQ(Finish(turn).error().code, Code::kFailedPrecondition);
  EXPECT_EQ(storage_->Get("big"), "other");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path() / "uploads"));
}

TEST_F(UploadsTest, AllBytesHereMeansComplete) {
  const std::string id = Start(4);
  const Uploads::Turn turn = Take(id);
  EXPECT_FALSE(turn.complete);
  ASSERT_TRUE(Append(turn, "four"));
  Restart();
  EXPECT_TRUE(Take(id).complete);
}

TEST_F(UploadsTest, MoreUploadsThanAreKeptOpen) {
  std::vector<std::string> ids;
  for (int i = 0; i < 70; ++i) ids.push_back(Start());
  for (const std::string& id : ids) ASSERT_TRUE(Append(Take(id), id));
  const Uploads::Turn first = Take(ids.front());
  EXPECT_EQ(first.received, ids.front().size());
  ASSERT_TRUE(Finish(first));
  EXPECT_EQ(storage_->Get("big"), ids.front());
}

TEST_F(UploadsTest, WhatAnEarlierLifeLeftIsSwept) {
  const std::string id = Start();
  std::ofstream(folder_.path() / "uploads" / "0123456789abcdef0123456789abcdef")
      << "a plain upload, cut by kill -9";
  Restart();
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "uploads" / "0123456789abcdef0123456789abcdef"));
  EXPECT_EQ(Take(id).received, 0U);
}

}  // namespace
}  // namespace trainyard::storage

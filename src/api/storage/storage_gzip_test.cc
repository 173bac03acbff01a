// Objects stored as gzip. Source: Cloud Storage's page "Transcoding of gzip-compressed files".
#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"
#include "net/http/gzip.h"

namespace trainyard::api {
namespace {

class StorageGzip : public StorageApi {
 protected:
  static std::string LongText() {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "line " + std::to_string(i) + "\n";
    return text;
  }
};

TEST_F(StorageGzip, IsUnpackedForWhoeverDoesNotTakeIt) {
  const std::string text = LongText();
  const std::string packed = http::GzipCompress(text);
  const auto put = Put("z", packed, "&contentEncoding=gzip", {{"Content-Type", "text/plain"}});
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Text(put, "/contentEncoding"), "gzip");
  EXPECT_EQ(Text(put, "/size"), std::to_string(packed.size()));
  const auto plain = Media("z", {{"Accept-Encoding", "identity"}});
  EXPECT_EQ(plain.status, 200);
  EXPECT_TRUE(plain.body == text) << plain.body.size() << " of " << text.size();
  EXPECT_FALSE(plain.headers.Has("Content-Encoding"));
  EXPECT_EQ(plain.headers.Get("Warning"), "214 UploadServer gunzipped");
  EXPECT_EQ(plain.headers.Get("X-Goog-Stored-Content-Encoding"), "gzip");
  EXPECT_EQ(plain.headers.Get("X-Goog-Stored-Content-Length"), std::to_string(packed.size()));
  const auto ranged = Media("z", {{"Accept-Encoding", "identity"}, {"Range", "bytes=0-9"}});
  EXPECT_EQ(ranged.status, 200);
  EXPECT_TRUE(ranged.body == text) << "a range of the text cannot be had";
}

TEST_F(StorageGzip, IsSentAsItIsToWhoeverTakesIt) {
  const std::string packed = http::GzipCompress("text");
  ASSERT_EQ(Put("z", packed, "&contentEncoding=gzip").status, 200);
  const auto got = Media("z", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(got.headers.Get("X-Goog-Stored-Content-Encoding"), "gzip");
  EXPECT_FALSE(got.headers.Has("Warning"));
  const auto part = Media("z", {{"Accept-Encoding", "gzip"}, {"Range", "bytes=0-1"}});
  EXPECT_EQ(part.status, 206);
  ASSERT_EQ(Send(Method::kPatch, "/storage/v1/b/bucket/o/z", R"({"cacheControl":"no-transform"})").status,
            200);
  EXPECT_FALSE(Media("z", {{"Accept-Encoding", "identity"}}).headers.Has("Warning"));
}

TEST_F(StorageGzip, MembersInARowAreOneText) {
  const std::string packed = http::GzipCompress("one ") + http::GzipCompress("") + http::GzipCompress("two");
  ASSERT_EQ(Put("z", packed, "&contentEncoding=gzip").status, 200);
  EXPECT_EQ(Media("z", {{"Accept-Encoding", "identity"}}).body, "one two");
}

TEST_F(StorageGzip, WhatOnlyClaimsToBeGzipIsSentAsItIs) {
  ASSERT_EQ(Put("z", "not gzip", "&contentEncoding=gzip").status, 200);
  EXPECT_EQ(Media("z", {{"Accept-Encoding", "identity"}}).body, "not gzip");
  ASSERT_EQ(Put("empty", "", "&contentEncoding=gzip").status, 200);
  EXPECT_EQ(Media("empty", {{"Accept-Encoding", "identity"}}).body, "");
}

TEST_F(StorageGzip, OneThatIsCutEndsTheAnswerEarly) {
  const std::string packed = http::GzipCompress(LongText());
  ASSERT_EQ(Put("z", packed.substr(0, packed.size() / 2), "&contentEncoding=gzip").status, 200);
  ClientRequest request{.method = Method::kGet, .target = "/storage/v1/b/bucket/o/z?alt=media"};
  request.headers.Add("Accept-Encoding", "identity");
  EXPECT_FALSE(client_->Send(std::move(request)));
}

}  // namespace
}  // namespace trainyard::api

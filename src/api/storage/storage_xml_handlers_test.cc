#include "api/storage/storage_handlers.h"

#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"

namespace trainyard::api {
namespace {

TEST_F(StorageApi, XmlReadsWhateverWayTheNameIsEncoded) {
  ASSERT_EQ(Put("a%2Fb%20c", "0123456789", "", {{"Content-Type", "text/x"}}).status, 200);
  for (const char* target : {"/bucket/a%2Fb%20c", "/bucket/a/b%20c"}) {
    const auto got = Send(Method::kGet, target);
    EXPECT_EQ(got.status, 200) << target;
    EXPECT_EQ(got.body, "0123456789") << target;
    EXPECT_EQ(got.headers.Get("Content-Type"), "text/x");
    EXPECT_EQ(got.headers.Get("X-Goog-Stored-Content-Length"), "10");
  }
  const auto head = Send(Method::kHead, "/bucket/a%2Fb%20c");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.Get("Content-Length"), "10");
  EXPECT_EQ(head.body, "");
}

TEST_F(StorageApi, XmlRanges) {
  ASSERT_EQ(Put("x", "0123456789").status, 200);
  const auto block = Send(Method::kGet, "/bucket/x", {}, {{"Range", "bytes=4-67108863"}});
  EXPECT_EQ(block.status, 206);
  EXPECT_EQ(block.body, "456789");
  EXPECT_EQ(block.headers.Get("Content-Range"), "bytes 4-9/10");
  const auto past = Send(Method::kGet, "/bucket/x", {}, {{"Range", "bytes=10-67108863"}});
  EXPECT_EQ(past.status, 416);
  EXPECT_EQ(past.headers.Get("Content-Range"), "bytes */10");
  EXPECT_EQ(past.body,
            "<?xml version='1.0' encoding='UTF-8'?><Error><Code>InvalidRange</Code>"
            "<Message>The requested range cannot be satisfied.</Message></Error>");
  ASSERT_EQ(Put("empty", "").status, 200);
  EXPECT_EQ(Send(Method::kGet, "/bucket/empty", {}, {{"Range", "bytes=0-9"}}).status, 416);
}

TEST_F(StorageApi, XmlErrorsAndConditions) {
  const auto put = Put("x", "1");
  const std::string generation = Text(put, "/generation");
  struct Row {
    const char* target;
    Fields headers;
    int status;
    const char* code;
  };
  const Row rows[] = {
      {"/bucket/y", {}, 404, "NoSuchKey"},
      {"/nothing/x", {}, 404, "NoSuchBucket"},
      {"/bucket/x?generation=1", {}, 404, "NoSuchKey"},
      {"/bucket/x?generation=a", {}, 400, "InvalidArgument"},
      {"/bucket/x", {{"x-goog-if-generation-match", "1"}}, 412, "PreconditionFailed"},
      {"/bucket/x", {{"x-goog-if-generation-match", "a"}}, 400, "InvalidArgument"},
      {"/bucket/x", {{"x-goog-if-metageneration-match", "2"}}, 412, "PreconditionFailed"},
      {"/bucket/x", {{"x-goog-if-generation-match", generation}}, 200, nullptr},
      {"/bucket/x", {{"If-Match", "\"other\""}}, 412, "PreconditionFailed"},
      {"/bucket/x", {{"If-None-Match", "*"}}, 304, nullptr},
  };
  for (const Row& row : rows) {
    const auto got = Send(Method::kGet, row.target, {}, row.headers);
    EXPECT_EQ(got.status, row.status) << row.target;
    if (row.code == nullptr) continue;
    EXPECT_NE(got.body.find(std::string("<Code>") + row.code + "</Code>"), std::string::npos) << got.body;
    EXPECT_EQ(got.headers.Get("Content-Type"), "application/xml; charset=UTF-8");
  }
  const auto missing = Send(Method::kGet, "/bucket/%3Ca%26%3E");
  EXPECT_NE(missing.body.find("No such object: bucket/&lt;a&amp;&gt;"), std::string::npos) << missing.body;
}

}  // namespace
}  // namespace trainyard::api

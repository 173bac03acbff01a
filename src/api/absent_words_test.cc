// The answer for a bucket that the caller may not see equals the answer for one that does not exist.
#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"
#include "rules/iam/refusal.h"

namespace trainyard::api {
namespace {

std::string AbsentBucket(std::string_view permission) {
  return iam::Absent(permission, iam::Resource::Bucket("absent")).message;
}

class AbsentWords : public StorageApi {};

TEST_F(AbsentWords, AreThoseOfTheRefusal) {
  for (const char* path : {"", "/o", "/o/x", "/storageLayout", "/folders"}) {
    const auto got = Send(Method::kGet, std::string("/storage/v1/b/absent") + path);
    EXPECT_EQ(got.status, 404) << path << got.body;
    EXPECT_EQ(Text(got, "/error/message"), AbsentBucket("storage.buckets.get")) << path;
  }
}

TEST_F(AbsentWords, OfAnUploadToo) {
  Stop();
  served_.emplace(storage::Buckets::Options{.data = folder_, .create_on_use = false});
  client_.emplace(http::Endpoint{.host = "127.0.0.1", .port = served_->port()});
  const auto put = Send(Method::kPost, "/upload/storage/v1/b/absent/o?uploadType=media&name=x", "1");
  EXPECT_EQ(put.status, 404) << put.body;
  EXPECT_EQ(Text(put, "/error/message"), AbsentBucket("storage.objects.create"));
}

}  // namespace
}  // namespace trainyard::api

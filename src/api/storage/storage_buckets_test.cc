// Buckets' own fields, and the refused parts of the API, over HTTP.
#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"

namespace trainyard::api {
namespace {

class StorageBuckets : public StorageApi {
 protected:
  void SetUp() override { ASSERT_EQ(Put("x", "1").status, 200); }
  ClientResponse Patch(const std::string& body) { return Send(Method::kPatch, "/storage/v1/b/bucket", body); }
};

TEST_F(StorageBuckets, PatchMergesAndIsDurable) {
  const auto first = Patch(R"({"labels":{"a":"1","b":"2"},"storageClass":"NEARLINE"})");
  ASSERT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(Text(first, "/metageneration"), "2");
  const auto second =
      Patch(R"({"labels":{"a":null,"c":"3"},"name":"other","location":"MOON","metageneration":"9"})");
  ASSERT_EQ(second.status, 200) << second.body;
  EXPECT_EQ(Text(second, "/labels/a"), "(absent)");
  EXPECT_EQ(Text(second, "/labels/b"), "2");
  EXPECT_EQ(Text(second, "/labels/c"), "3");
  EXPECT_EQ(Text(second, "/name"), "bucket");
  EXPECT_EQ(Text(second, "/location"), "US");
  EXPECT_EQ(Text(second, "/metageneration"), "3");
  EXPECT_EQ(Text(second, "/storageClass"), "NEARLINE");
  Stop();
  Start();
  const auto got = Send(Method::kGet, "/storage/v1/b/bucket");
  for (const char* field :
       {"/labels/b", "/labels/c", "/storageClass", "/metageneration", "/etag", "/updated"})
    EXPECT_EQ(Text(got, field), Text(second, field)) << field;
  EXPECT_EQ(Text(Patch(R"({"labels":null})"), "/labels"), "(absent)");
}

TEST_F(StorageBuckets, UpdateReplaces) {
  ASSERT_EQ(Patch(R"({"labels":{"a":"1"},"storageClass":"NEARLINE"})").status, 200);
  const auto put = Send(Method::kPut, "/storage/v1/b/bucket", R"({"labels":{"b":"2"}})");
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Text(put, "/labels"), R"({"b":"2"})");
  EXPECT_EQ(Text(put, "/storageClass"), "STANDARD");
  EXPECT_NE(Text(put, "/timeCreated"), "(absent)");
}

TEST_F(StorageBuckets, WhatIsOffMayBeSaidAndWhatIsOnIsRefused) {
  EXPECT_EQ(Patch(R"({"versioning":{"enabled":false},"softDeletePolicy":{"retentionDurationSeconds":"0"},
                      "lifecycle":{"rule":[]},"retentionPolicy":null,"billing":{"requesterPays":false}})")
                .status,
            200);
  struct Row {
    const char* body;
    const char* message;
  };
  const Row rows[] = {
      {R"({"versioning":{"enabled":true}})",
       "Bucket.versioning is not supported by this server; leave it out"},
      {R"({"softDeletePolicy":{"retentionDurationSeconds":"604800"}})",
       "Bucket.softDeletePolicy is not supported by this server; leave it out"},
      {R"({"lifecycle":{"rule":[{"action":{"type":"Delete"}}]}})",
       "Bucket.lifecycle is not supported by this server; leave it out"},
      {R"({"nam":1})",
       "Invalid JSON payload received. Unknown name \"nam\": Cannot find field. Did you mean 'name'?"},
  };
  for (const Row& row : rows) {
    const auto refused = Patch(row.body);
    EXPECT_EQ(refused.status, 400) << row.body;
    EXPECT_EQ(Text(refused, "/error/message"), row.message);
  }
  for (const char* body : {"[]", "{", "7"}) EXPECT_EQ(Patch(body).status, 400) << body;
  EXPECT_EQ(Text(Send(Method::kGet, "/storage/v1/b/bucket"), "/versioning"), "(absent)");
}

TEST_F(StorageBuckets, Policies) {
  const auto policy = Send(Method::kGet, "/storage/v1/b/bucket/iam");
  EXPECT_EQ(Text(policy, "/kind"), "storage#policy");
  EXPECT_EQ(Text(policy, "/resourceId"), "projects/_/buckets/bucket");
  const std::string viewers = R"([{"role":"roles/storage.objectViewer","members":["user:ann@example.com"]}])";
  const auto set = Send(Method::kPut, "/storage/v1/b/bucket/iam", R"({"bindings":)" + viewers + "}");
  EXPECT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(json::parse(Text(Send(Method::kGet, "/storage/v1/b/bucket/iam"), "/bindings")),
            json::parse(viewers));
  const auto stale = Send(Method::kPut, "/storage/v1/b/bucket/iam",
                          R"({"etag":")" + Text(policy, "/etag") + R"(","bindings":)" + viewers + "}");
  EXPECT_EQ(stale.status, 409) << stale.body;
  const auto tested =
      Send(Method::kGet, "/storage/v1/b/bucket/o/x/iam/testPermissions?permissions=a.b&permissions=c.d");
  EXPECT_EQ(Text(tested, "/permissions"), R"(["a.b","c.d"])");
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/bucket/o/gone/iam").status, 404);
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/gone/iam").status, 404);
}

TEST_F(StorageBuckets, RefusalsAreStoragesErrors) {
  struct Row {
    Method method;
    const char* target;
    int status;
    const char* reason;
  };
  const Row rows[] = {
      {Method::kGet, "/b/bucket/acl", 400, "invalid"},
      {Method::kPost, "/b/bucket/o/x/acl", 400, "invalid"},
      {Method::kPatch, "/b/bucket/defaultObjectAcl/allUsers", 400, "invalid"},
      {Method::kPut, "/b/bucket/o/x/iam", 400, "invalid"},
      {Method::kPost, "/b/bucket/notificationConfigs", 400, "invalid"},
      {Method::kPost, "/b/bucket/lockRetentionPolicy", 400, "invalid"},
      {Method::kPost, "/b/bucket/o/x/restore?generation=1", 400, "invalid"},
      {Method::kPost, "/b/bucket/o/bulkRestore", 400, "invalid"},
      {Method::kGet, "/projects/p/hmacKeys", 400, "invalid"},
      {Method::kGet, "/projects/p/serviceAccount", 400, "invalid"},
      {Method::kPost, "/b/bucket/folders", 400, "invalid"},
      {Method::kDelete, "/b/bucket/folders/a/b", 400, "invalid"},
      {Method::kGet, "/b/bucket/o/x?softDeleted=true", 404, "notFound"},
      {Method::kGet, "/b/bucket?softDeleted=true", 404, "notFound"},
      {Method::kGet, "/b/bucket/nothing", 404, "notFound"},
      {Method::kGet, "/b/bucket/o/a/b", 404, "notFound"},
      {Method::kPut, "/b", 405, "methodNotAllowed"},
      {Method::kPost, "/b/bucket/o/x", 405, "methodNotAllowed"},
  };
  for (const Row& row : rows) {
    const auto response = Send(row.method, std::string("/storage/v1") + row.target, "");
    EXPECT_EQ(response.status, row.status) << row.target << response.body;
    EXPECT_EQ(Text(response, "/error/code"), std::to_string(row.status)) << row.target;
    EXPECT_EQ(Text(response, "/error/errors/0/reason"), row.reason) << row.target;
    EXPECT_EQ(Text(response, "/error/errors/0/domain"), "global") << row.target;
  }
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/bucket/notificationConfigs").status, 200);
  EXPECT_EQ(Put("k", "1", "", {{"x-goog-encryption-algorithm", "AES256"}}).status, 400);
  EXPECT_EQ(Media("k").status, 404);
}

}  // namespace
}  // namespace trainyard::api

// Preconditions of every method, over HTTP.
#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"

namespace trainyard::api {
namespace {

class StorageConditions : public StorageApi {
 protected:
  /// "bucket/x" with GENERATION and ETAG in texts replaced by the object's.
  void SetUp() override {
    const auto put = Put("x", "1");
    generation_ = Text(put, "/generation");
    etag_ = Text(put, "/etag");
  }
  std::string Fill(std::string text) const {
    for (const auto& [name, value] : {std::pair("GENERATION", generation_), std::pair("ETAG", etag_)}) {
      for (std::size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, std::string(name).size(), value);
    }
    return text;
  }
  std::string generation_;
  std::string etag_;
};

TEST_F(StorageConditions, OfReads) {
  struct Row {
    const char* query;
    int status;
  };
  const Row rows[] = {
      {"generation=GENERATION", 200},
      {"generation=1", 404},
      {"ifGenerationMatch=GENERATION", 200},
      {"ifGenerationMatch=1", 412},
      {"ifGenerationMatch=0", 412},
      {"ifGenerationNotMatch=GENERATION", 304},
      {"ifGenerationNotMatch=1", 200},
      {"ifMetagenerationMatch=1", 200},
      {"ifMetagenerationMatch=2", 412},
      {"ifMetagenerationNotMatch=1", 304},
      {"ifMetagenerationNotMatch=2", 200},
      {"ifGenerationMatch=x", 400},
      {"ifGenerationMatch=1&ifMetagenerationNotMatch=1", 412},
  };
  for (const Row& row : rows) {
    for (const char* path : {"/storage/v1/b/bucket/o/x?", "/storage/v1/b/bucket/o/x?alt=media&",
                             "/download/storage/v1/b/bucket/o/x?alt=media&"}) {
      const auto got = Send(Method::kGet, path + Fill(row.query));
      EXPECT_EQ(got.status, row.status) << path << row.query;
      if (row.status == 304) EXPECT_EQ(got.body, "");
      if (row.status == 412) EXPECT_EQ(Text(got, "/error/errors/0/reason"), "conditionNotMet");
    }
  }
}

TEST_F(StorageConditions, ByEtag) {
  struct Row {
    const char* name;
    const char* value;
    int status;
  };
  const Row rows[] = {
      {"If-Match", "\"ETAG\"", 200},   {"If-Match", "ETAG", 200},
      {"If-Match", "*", 200},          {"If-Match", "\"a\", W/\"ETAG\"", 200},
      {"If-Match", "\"a\"", 412},      {"If-None-Match", "\"ETAG\"", 304},
      {"If-None-Match", "*", 304},     {"If-None-Match", "\"a\", \"ETAG\"", 304},
      {"If-None-Match", "\"a\"", 200},
  };
  for (const Row& row : rows) {
    for (const char* path : {"/storage/v1/b/bucket/o/x", "/storage/v1/b/bucket/o/x?alt=media"}) {
      EXPECT_EQ(Send(Method::kGet, path, {}, {{row.name, Fill(row.value)}}).status, row.status)
          << path << row.name << row.value;
    }
  }
  EXPECT_EQ(Send(Method::kDelete, "/storage/v1/b/bucket/o/x", {}, {{"If-Match", "\"a\""}}).status, 412);
}

TEST_F(StorageConditions, OfChanges) {
  const std::string object = "/storage/v1/b/bucket/o/x";
  const std::string upload = "/upload/storage/v1/b/bucket/o?name=";
  const std::string source = "/storage/v1/b/bucket/o/x";
  const Fields related{{"Content-Type", "multipart/related; boundary=b"}};
  const std::string parts = "--b\n\n{}\n--b\n\n2\n--b--";
  struct Row {
    Method method;
    std::string target;
    std::string body;
    int status;
  };
  const Row rows[] = {
      {Method::kPatch, object + "?ifMetagenerationMatch=2", "{}", 412},
      {Method::kPatch, object + "?ifGenerationMatch=1", "{}", 412},
      {Method::kPatch, object + "?generation=1", "{}", 404},
      {Method::kPut, object + "?ifMetagenerationNotMatch=1", "{}", 304},
      {Method::kDelete, object + "?ifGenerationMatch=1", "", 412},
      {Method::kDelete, object + "?ifGenerationNotMatch=GENERATION", "", 304},
      {Method::kDelete, object + "?generation=1", "", 404},
      {Method::kPost, upload + "x&uploadType=media&ifGenerationMatch=0", "2", 412},
      {Method::kPost, upload + "x&uploadType=media&ifGenerationNotMatch=GENERATION", "2", 304},
      {Method::kPost, upload + "new&uploadType=media&ifGenerationNotMatch=7", "2", 304},
      {Method::kPost, upload + "x&uploadType=media&ifMetagenerationMatch=2", "2", 412},
      {Method::kPost, upload + "x&uploadType=multipart&ifGenerationMatch=0", parts, 412},
      {Method::kPost, upload + "x&uploadType=resumable&ifGenerationMatch=0", "{}", 412},
      {Method::kPost, source + "/copyTo/b/bucket/o/x?ifGenerationMatch=0", "", 412},
      {Method::kPost, source + "/copyTo/b/bucket/o/y?ifSourceGenerationMatch=1", "", 412},
      {Method::kPost, source + "/copyTo/b/bucket/o/y?ifSourceGenerationNotMatch=GENERATION", "", 304},
      {Method::kPost, source + "/copyTo/b/bucket/o/y?sourceGeneration=1", "", 404},
      {Method::kPost, source + "/rewriteTo/b/bucket/o/y?ifSourceMetagenerationMatch=2", "", 412},
      {Method::kPost, source + "/rewriteTo/b/bucket/o/x?ifMetagenerationMatch=2", "", 412},
      {Method::kPost, source + "/rewriteTo/b/bucket/o/y?maxBytesRewrittenPerCall=5", "", 400},
      {Method::kPost, source + "/moveTo/o/y?ifSourceGenerationMatch=1", "", 412},
      {Method::kPost, source + "/moveTo/o/y?ifGenerationMatch=1", "", 412},
      {Method::kPost, source + "/compose?ifGenerationMatch=1", R"({"sourceObjects":[{"name":"x"}]})", 412},
      {Method::kPost, source + "/compose", R"({"sourceObjects":[{"name":"x","generation":"1"}]})", 404},
      {Method::kPost, source + "/compose",
       R"({"sourceObjects":[{"name":"x","objectPreconditions":{"ifGenerationMatch":"1"}}]})", 412},
      {Method::kPost, source + "/compose", R"({"sourceObjects":[{"name":"x"},{"name":"gone"}]})", 404},
  };
  for (const Row& row : rows) {
    const Fields headers = row.target.find("multipart") != std::string::npos ? related : Fields();
    const auto got = Send(row.method, Fill(row.target), row.body, headers);
    EXPECT_EQ(got.status, row.status) << row.target << got.body;
    const auto now = Send(Method::kGet, object);
    EXPECT_EQ(Text(now, "/generation"), generation_) << row.target;
    EXPECT_EQ(Text(now, "/metageneration"), "1") << row.target;
  }
  const auto listed = Send(Method::kGet, "/storage/v1/b/bucket/o");
  EXPECT_EQ(Text(listed, "/items/1/name"), "(absent)") << listed.body;
}

TEST_F(StorageConditions, AreCheckedAgainWhenAResumableUploadEnds) {
  const auto started = Send(
      Method::kPost, "/upload/storage/v1/b/bucket/o?uploadType=resumable&name=n&ifGenerationMatch=0", "{}");
  ASSERT_EQ(started.status, 200);
  const std::string location(started.headers.Get("Location"));
  const std::string target = location.substr(location.find("/upload"));
  ASSERT_EQ(Put("n", "meanwhile").status, 200);
  EXPECT_EQ(Send(Method::kPut, target, "late").status, 412);
  EXPECT_EQ(Media("n").body, "meanwhile");
  EXPECT_EQ(Send(Method::kPut, target, "late").status, 404) << "it can never succeed";
}

TEST_F(StorageConditions, OfBuckets) {
  struct Row {
    Method method;
    const char* query;
    int status;
  };
  const Row rows[] = {
      {Method::kGet, "ifMetagenerationMatch=1", 200},    {Method::kGet, "ifMetagenerationMatch=2", 412},
      {Method::kGet, "ifMetagenerationNotMatch=1", 304}, {Method::kPatch, "ifMetagenerationMatch=2", 412},
      {Method::kDelete, "ifMetagenerationMatch=2", 412},
  };
  for (const Row& row : rows) {
    const auto got = Send(row.method, std::string("/storage/v1/b/bucket?") + row.query, "{}");
    EXPECT_EQ(got.status, row.status) << row.query << got.body;
  }
}

}  // namespace
}  // namespace trainyard::api

// The storage API over real sockets and files.
#include "api/storage/storage_handlers.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/storage/testing/storage_api_fixture.h"
#include "base/async/unique_fd.h"

namespace trainyard::api {
namespace {

TEST_F(StorageApi, MediaRoundTrip) {
  const auto put = Put("a%2Fb%20c.txt", "hello", "", {{"Content-Type", "text/plain"}});
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Text(put, "/name"), "a/b c.txt");
  EXPECT_EQ(Text(put, "/size"), "5");
  EXPECT_EQ(Text(put, "/md5Hash"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(Text(put, "/crc32c"), "mnG7TA==");
  const std::string origin = "http://127.0.0.1:" + std::to_string(served_->port());
  EXPECT_EQ(Text(put, "/selfLink"), origin + "/storage/v1/b/bucket/o/a%2Fb%20c.txt");
  const std::string media_link = Text(put, "/mediaLink");
  ASSERT_TRUE(media_link.starts_with(origin + "/download/"));
  const auto got = Send(Method::kGet, media_link.substr(origin.size()));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "hello");
  EXPECT_EQ(got.headers.Get("Content-Type"), "text/plain");
  EXPECT_EQ(got.headers.Get("X-Goog-Hash"), "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_EQ(got.headers.Get("X-Goog-Generation"), Text(put, "/generation"));
  const auto head = Send(Method::kHead, "/storage/v1/b/bucket/o/a%2Fb%20c.txt?alt=media");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.Get("Content-Length"), "5");
  EXPECT_EQ(head.body, "");
}

TEST_F(StorageApi, AnEmptyObjectHasASize) {
  const auto put = Put("empty", "");
  EXPECT_EQ(Text(put, "/size"), "0");
  EXPECT_EQ(Media("empty").status, 200);
  EXPECT_EQ(Media("empty").body, "");
}

TEST_F(StorageApi, Ranges) {
  ASSERT_EQ(Put("x", "0123456789").status, 200);
  const auto part = Media("x", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.headers.Get("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(Media("x", {{"Range", "bytes=-2"}}).body, "89");
  const auto beyond = Media("x", {{"Range", "bytes=10-"}});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.headers.Get("Content-Range"), "bytes */10");
  const std::string etag(part.headers.Get("ETag"));
  EXPECT_EQ(Media("x", {{"If-None-Match", etag}}).status, 304);
  EXPECT_EQ(Media("x", {{"Range", "bytes=0-1"}, {"If-Range", "\"other\""}}).body, "0123456789");
}

TEST_F(StorageApi, ACopyToANewBucketFindsNothingThereYet) {
  const std::string list = "/storage/v1/b/new-bucket/o?prefix=a&delimiter=/";
  EXPECT_EQ(Send(Method::kGet, list, "", {{"User-Agent", "gcloud/500 command/gcloud.storage.ls"}}).status,
            404);
  for (const char* agent : {"google-cloud-sdk gcloud/500.0.0 command/gcloud.storage.cp invocation-id/1",
                            "apitools Python/3.11 gsutil/5.30 (linux) command/rsync"}) {
    const auto listed = Send(Method::kGet, list, "", {{"User-Agent", agent}});
    EXPECT_EQ(listed.status, 200) << listed.body;
    EXPECT_EQ(Text(listed, "/items"), "(absent)");
  }
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/new-bucket").status, 404) << "looking makes no bucket";
}

TEST_F(StorageApi, ErrorsHaveStoragesShape) {
  const auto missing = Send(Method::kGet, "/storage/v1/b/bucket/o/x");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(Text(missing, "/error/errors/0/reason"), "notFound");
  EXPECT_EQ(Text(missing, "/error/message"),
            "The specified bucket does not exist: bucket. A bucket of the real Cloud Storage is read with "
            "`trainyard serve --real-bucket bucket`");
  ASSERT_EQ(Put("x", "1").status, 200);
  struct Row {
    Method method;
    const char* target;
    const char* body;
    int status;
    const char* message;
  };
  const Row rows[] = {
      {Method::kGet, "/storage/v1/b/bucket/o/y", "", 404, "No such object: bucket/y"},
      {Method::kPost, "/storage/v1/b", "{\"name\":\"bucket\"}", 409, "You already own this bucket: bucket"},
      {Method::kPost, "/storage/v1/b", "{\"name\":\"Bad\"}", 400, "Invalid bucket name: 'Bad'"},
      {Method::kPost, "/storage/v1/b", "{\"nam\":\"abc\"}", 400,
       "Invalid JSON payload received. Unknown name \"nam\": Cannot find field. Did you mean 'name'?"},
      {Method::kDelete, "/storage/v1/b/bucket", "", 409, "The bucket you tried to delete is not empty"},
      {Method::kDelete, "/storage/v1/b/bucket/o/x?ifGenerationMatch=1", "", 412, nullptr},
      {Method::kDelete, "/storage/v1/b/bucket/o/x?generation=x", "", 400,
       "Invalid value for 'generation': x"},
      {Method::kGet, "/storage/v1/b/bucket/o?pageToken=!!!", "", 400, "Invalid page token: !!!"},
      {Method::kGet, "/storage/v1/b/bucket/o?maxResults=0", "", 400, nullptr},
      {Method::kGet, "/storage/v1/b/bucket/o?matchGlob=%5B", "", 400,
       "Invalid value for 'matchGlob': a bracket is not closed"},
      {Method::kPost, "/upload/storage/v1/b/bucket/o?uploadType=magic&name=x", "", 400, nullptr},
      {Method::kPost, "/upload/storage/v1/b/bucket/o?uploadType=media", "x", 400,
       "Required object name is missing"},
      {Method::kPost, "/upload/storage/v1/b/bucket/o?uploadType=media&name=x&ifGenerationMatch=0", "x", 412,
       nullptr},
      {Method::kPut, "/upload/storage/v1/b/bucket/o?upload_id=nothing", "x", 404, nullptr},
      {Method::kPost, "/storage/v1/b/bucket/o/x/compose", "{}", 400, nullptr},
      {Method::kPost, "/storage/v1/b/bucket/o/y/rewriteTo/b/bucket/o/z", "", 404, "No such object: bucket/y"},
      {Method::kPost, "/storage/v1/b/bucket/o/x/moveTo/o/x", "", 400, nullptr},
      {Method::kPatch, "/storage/v1/b/bucket/o/x", "{\"temporaryHold\":true}", 400, nullptr},
  };
  for (const Row& row : rows) {
    const auto response = Send(row.method, row.target, row.body);
    EXPECT_EQ(response.status, row.status) << row.target << response.body;
    EXPECT_EQ(Text(response, "/error/code"), std::to_string(row.status)) << row.target;
    if (row.message != nullptr) EXPECT_EQ(Text(response, "/error/message"), row.message) << row.target;
  }
  EXPECT_EQ(Media("x").body, "1");
}

TEST_F(StorageApi, WrongChecksumsAreRefused) {
  EXPECT_EQ(Put("x", "hello", "", {{"X-Goog-Hash", "crc32c=AAAAAA=="}}).status, 400);
  EXPECT_EQ(Put("x", "hello", "", {{"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}).status, 400);
  EXPECT_EQ(Media("x").status, 404);
  EXPECT_EQ(Put("x", "hello", "", {{"X-Goog-Hash", "crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg=="}}).status,
            200);
}

TEST_F(StorageApi, Multipart) {
  const std::string target = "/upload/storage/v1/b/bucket/o?uploadType=multipart";
  const Fields type{{"Content-Type", "multipart/related; boundary='=='"}};
  const std::string body =
      "--==\nContent-Type: application/json\n\n{\"name\":\"m\",\"metadata\":{\"k\":\"v\"},\"md5Hash\":"
      "\"XUFAKrxLKna5cZ2REBfFkg==\"}\n--==\nContent-Type: text/x\n\nhello\n--==--";
  const auto put = Send(Method::kPost, target, body, type);
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_EQ(Text(put, "/contentType"), "text/x");
  EXPECT_EQ(Text(put, "/metadata/k"), "v");
  EXPECT_EQ(Media("m").body, "hello");
  const auto cut = Send(Method::kPost, target + "&name=cut", body.substr(0, body.size() - 8), type);
  EXPECT_EQ(cut.status, 400);
  EXPECT_EQ(Media("cut").status, 404);
}

TEST_F(StorageApi, ABodyThatIsCutLeavesNothing) {
  ASSERT_EQ(Put("x", "before").status, 200);
  {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(served_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::string request =
        "POST /upload/storage/v1/b/bucket/o?uploadType=media&name=x HTTP/1.1\r\nHost: h\r\nContent-Length: "
        "4000000\r\n\r\n";
    request += std::string(3'000'000, 'z');
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t written =
          ::send(socket.get(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(written, 0);
      sent += static_cast<std::size_t>(written);
    }
    ::shutdown(socket.get(), SHUT_WR);
    char answer[4096];
    while (::recv(socket.get(), answer, sizeof answer, 0) > 0) {
    }
  }
  EXPECT_EQ(Media("x").body, "before");
  Stop();  // waits for removals on the pool
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "uploads"));
}

TEST_F(StorageApi, ResumableByChunksOverARestart) {
  constexpr std::size_t kChunk = 256 << 10;
  const std::string bytes = std::string(kChunk, 'a') + std::string(kChunk, 'b') + "tail";
  const std::string location = StartUpload("r%2Fx", {{"X-Upload-Content-Type", "text/r"}});
  const auto put = [&](std::size_t from, std::size_t to, const std::string& total) {
    const std::string range = "bytes " + std::to_string(from) + "-" + std::to_string(to - 1) + "/" + total;
    return Send(Method::kPut, location, bytes.substr(from, to - from), {{"Content-Range", range}});
  };
  const auto ask = [&] { return Send(Method::kPut, location, "", {{"Content-Range", "bytes */*"}}); };
  EXPECT_EQ(ask().status, 308);
  EXPECT_FALSE(ask().headers.Has("Range"));
  EXPECT_EQ(put(0, 1000, "*").status, 400) << "not a multiple of 256 KiB";
  const auto first = put(0, kChunk, "*");
  EXPECT_EQ(first.status, 308);
  EXPECT_EQ(first.headers.Get("Range"), "bytes=0-262143");
  Stop();
  Start();
  EXPECT_EQ(ask().headers.Get("Range"), "bytes=0-262143");
  EXPECT_EQ(put(2 * kChunk, bytes.size(), std::to_string(bytes.size())).status, 503) << "a gap";
  EXPECT_EQ(Media("r%2Fx").status, 404) << "not visible yet";
  EXPECT_EQ(put(0, 2 * kChunk, "*").headers.Get("Range"), "bytes=0-524287")
      << "what is here already is skipped";
  const auto last = put(2 * kChunk, bytes.size(), std::to_string(bytes.size()));
  ASSERT_EQ(last.status, 200) << last.body;
  EXPECT_EQ(Text(last, "/size"), std::to_string(bytes.size()));
  EXPECT_EQ(Text(last, "/contentType"), "text/r");
  EXPECT_EQ(Media("r%2Fx").body, bytes);
  EXPECT_EQ(Text(ask(), "/generation"), Text(last, "/generation")) << "a finished upload answers its object";
}

TEST_F(StorageApi, ResumableInOnePieceAndOfUnknownLength) {
  EXPECT_EQ(Send(Method::kPut, StartUpload("one"), "whole").status, 200);
  EXPECT_EQ(Media("one").body, "whole");
  EXPECT_EQ(Send(Method::kPut, StartUpload("two"), "whole", {{"Content-Range", "bytes 0-*/*"}}).status, 200);
  EXPECT_EQ(Media("two").body, "whole");
  EXPECT_EQ(Send(Method::kPut, StartUpload("zero"), "", {{"Content-Range", "bytes */0"}}).status, 200);
  EXPECT_EQ(Media("zero").status, 200);
  const std::string announced = StartUpload("three", {{"X-Upload-Content-Length", "5"}});
  EXPECT_EQ(Send(Method::kPut, announced, "longer", {{"Content-Range", "bytes 0-5/6"}}).status, 400);
  const std::string cancelled = StartUpload("four");
  EXPECT_EQ(Send(Method::kDelete, cancelled).status, 499);
  EXPECT_EQ(Send(Method::kPut, cancelled, "x").status, 404);
}

TEST_F(StorageApi, ListCopyMoveComposeDelete) {
  for (const char* name : {"d%2Fx", "d%2Fy", "z"}) ASSERT_EQ(Put(name, name).status, 200);
  const auto list = Send(Method::kGet, "/storage/v1/b/bucket/o?delimiter=%2F&projection=noAcl&versions=True");
  EXPECT_EQ(Text(list, "/items/0/name"), "z");
  EXPECT_EQ(Text(list, "/prefixes"), "[\"d/\"]");
  const auto rewrite = Send(Method::kPost, "/storage/v1/b/bucket/o/z/rewriteTo/b/other/o/a%2Fz");
  EXPECT_EQ(Text(rewrite, "/done"), "true") << rewrite.body;
  EXPECT_EQ(Text(rewrite, "/totalBytesRewritten"), "1");
  EXPECT_EQ(Text(rewrite, "/resource/bucket"), "other");
  EXPECT_EQ(Send(Method::kPost, "/storage/v1/b/bucket/o/z/copyTo/b/bucket/o/z2", "{\"contentType\":\"q/r\"}")
                .status,
            200);
  EXPECT_EQ(Text(Send(Method::kGet, "/storage/v1/b/bucket/o/z2"), "/contentType"), "q/r");
  EXPECT_EQ(Text(Send(Method::kPost, "/storage/v1/b/bucket/o/z2/moveTo/o/z3"), "/name"), "z3");
  const auto composed =
      Send(Method::kPost, "/storage/v1/b/bucket/o/whole/compose",
           R"({"sourceObjects":[{"name":"d/x"},{"name":"d/y"}],"deleteSourceObjects":true})");
  EXPECT_EQ(Text(composed, "/componentCount"), "2") << composed.body;
  EXPECT_EQ(Media("whole").body, "d%2Fxd%2Fy");
  EXPECT_EQ(Media("d%2Fx").status, 404);
  for (const char* name : {"whole", "z", "z3"}) {
    EXPECT_EQ(Send(Method::kDelete, std::string("/storage/v1/b/bucket/o/") + name).status, 204);
  }
  EXPECT_EQ(Send(Method::kDelete, "/storage/v1/b/bucket").status, 204);
}

TEST_F(StorageApi, FieldsSelect) {
  const auto put = Put("x", "1", "&fields=name,size");
  EXPECT_EQ(put.body, "{\n  \"name\": \"x\",\n  \"size\": \"1\"\n}\n");
  ASSERT_EQ(Put("y", "2", "", {{"Content-Type", "application/json"}}).status, 200);
  const std::string list = "/storage/v1/b/bucket/o?maxResults=1&prettyPrint=false&fields=";
  const auto page = Send(Method::kGet, list + "items%2Fname%2CnextPageToken");
  EXPECT_EQ(Text(page, "/items"), R"([{"name":"x"}])");
  EXPECT_NE(Text(page, "/nextPageToken"), "(absent)");
  EXPECT_EQ(page.body.find('\n'), std::string::npos);
  EXPECT_EQ(Send(Method::kGet, list + "items(name,contexts),prefixes").body, R"({"items":[{"name":"x"}]})");
  EXPECT_EQ(Media("y", {}).body, "2");
  EXPECT_EQ(Send(Method::kGet, "/storage/v1/b/bucket/o/y?alt=media&fields=name").body, "2");
  const auto wrong = Put("z", "1", "&fields=name(");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_EQ(Media("z").status, 404) << "refused before it is stored";
  EXPECT_EQ(Text(Send(Method::kGet, "/storage/v1/b/bucket/o/gone?fields=name"), "/error/code"), "404");
}

TEST_F(StorageApi, AFullDiskIs507) {
  Stop();
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=2m") != 0) {
    Start();
    GTEST_SKIP() << "SKIPPED: mount is not allowed here, so no full disk can be made";
  }
  Start();
  ASSERT_EQ(Put("kept", "small").status, 200);
  const auto full = Put("big", std::string(3 << 20, 'b'));
  EXPECT_EQ(full.status, 507);
  EXPECT_EQ(Text(full, "/error/errors/0/reason"), "insufficientStorage");
  EXPECT_NE(Text(full, "/error/message").find("No space left on device"), std::string::npos) << full.body;
  EXPECT_EQ(Media("kept").body, "small");
  Stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "uploads"));
  ::umount2(folder_.c_str(), MNT_DETACH);
  Start();
}

}  // namespace
}  // namespace trainyard::api

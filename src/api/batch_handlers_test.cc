#include "api/batch_handlers.h"

#include <gtest/gtest.h>

#include "api/storage/testing/storage_api_fixture.h"

namespace trainyard::api {
namespace {

std::string Part(const std::string& id, const std::string& request) {
  return "--b\r\nContent-Type: application/http\r\nContent-ID: <" + id + ">\r\n\r\n" + request + "\r\n";
}

class Batch : public StorageApi {
 protected:
  ClientResponse SendBatch(const std::string& parts) {
    return Send(Method::kPost, "/batch/storage/v1", parts + "--b--\r\n",
                {{"Content-Type", "multipart/mixed; boundary=b"}});
  }
};

/// The parts of a batch's answer that are the same every time: status lines and ids, in order.
std::string Outline(const ClientResponse& response) {
  std::string outline;
  for (std::size_t at = 0; at < response.body.size();) {
    const std::size_t end = std::min(response.body.find("\r\n", at), response.body.size());
    const std::string line = response.body.substr(at, end - at);
    if (line.starts_with("HTTP/1.1 ") || line.starts_with("Content-ID: ")) outline += line + "\n";
    at = end + 2;
  }
  return outline;
}

TEST_F(Batch, EachPartHasItsOwnAnswer) {
  ASSERT_EQ(Put("x", "1").status, 200);
  ASSERT_EQ(Put("y", "2").status, 200);
  const auto answers =
      SendBatch(Part("a", "GET /storage/v1/b/bucket/o/x HTTP/1.1\r\n\r\n") +
                Part("b",
                     "PATCH /storage/v1/b/bucket/o/x HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
                     "{\"metadata\":{\"k\":\"v\"}}") +
                Part("c", "DELETE /storage/v1/b/bucket/o/y HTTP/1.1\r\n\r\n") +
                Part("d", "GET /storage/v1/b/bucket/o/y HTTP/1.1\r\n\r\n") +
                Part("e", "GET /storage/v1/b/bucket/o/x?alt=media HTTP/1.1\r\n\r\n") +
                Part("f", "POST /batch/storage/v1 HTTP/1.1\r\n\r\n") +
                Part("g", "POST /upload/storage/v1/b/bucket/o?uploadType=media&name=z HTTP/1.1\r\n\r\nz") +
                Part("h", "BREW /storage/v1/b HTTP/1.1\r\n\r\n"));
  ASSERT_EQ(answers.status, 200) << answers.body;
  EXPECT_TRUE(answers.headers.Get("Content-Type").starts_with("multipart/mixed; boundary=batch_"));
  EXPECT_EQ(Outline(answers),
            "Content-ID: <response-a>\nHTTP/1.1 200 OK\n"
            "Content-ID: <response-b>\nHTTP/1.1 200 OK\n"
            "Content-ID: <response-c>\nHTTP/1.1 204 No Content\n"
            "Content-ID: <response-d>\nHTTP/1.1 404 Not Found\n"
            "Content-ID: <response-e>\nHTTP/1.1 400 Bad Request\n"
            "Content-ID: <response-f>\nHTTP/1.1 400 Bad Request\n"
            "Content-ID: <response-g>\nHTTP/1.1 400 Bad Request\n"
            "Content-ID: <response-h>\nHTTP/1.1 400 Bad Request\n");
  EXPECT_EQ(Text(Send(Method::kGet, "/storage/v1/b/bucket/o/x"), "/metadata/k"), "v");
  EXPECT_EQ(Media("y").status, 404);
  EXPECT_EQ(Media("z").status, 404);
}

TEST_F(Batch, ACutOneCarriesOutNothing) {
  ASSERT_EQ(Put("x", "1").status, 200);
  const std::string part = Part("a", "DELETE /storage/v1/b/bucket/o/x HTTP/1.1\r\n\r\n");
  const auto cut = Send(Method::kPost, "/batch/storage/v1", part + "--b",
                        {{"Content-Type", "multipart/mixed; boundary=b"}});
  EXPECT_EQ(cut.status, 400);
  EXPECT_EQ(Text(cut, "/error/errors/0/reason"), "badRequest");
  EXPECT_EQ(Send(Method::kPost, "/batch", part, {{"Content-Type", "text/plain"}}).status, 400);
  EXPECT_EQ(Media("x").status, 200);
}

}  // namespace
}  // namespace trainyard::api

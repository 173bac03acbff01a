#include "net/http/client_stream.h"

#include <gtest/gtest.h>

#include "net/http/testing/test_server.h"

namespace trainyard::http {
namespace {

using std::chrono::milliseconds;

Result<ClientStream> Open(const TestServer& server, std::string target) {
  ClientRequest request;
  request.target = std::move(target);
  return ClientStream::Open(Endpoint::Parse(server.Url()).value(), request);
}

std::string ReadAll(ClientStream& stream) {
  std::string all;
  for (;;) {
    const Result<std::string> text = stream.Read(milliseconds(60'000));
    EXPECT_TRUE(text) << text.error().message;
    if (!text || text->empty()) return all;
    all += *text;
  }
}

TEST(ClientStream, ReadsEveryFraming) {
  const TestServer server;
  for (const auto& [target, status, body] :
       {std::tuple("/hello", 200, "hello"), std::tuple("/stream", 200, "part 1\npart 2\npart 3\n"),
        std::tuple("/empty", 204, "")}) {
    Result<ClientStream> stream = Open(server, target);
    ASSERT_TRUE(stream) << stream.error().message;
    EXPECT_EQ(stream->status(), status);
    EXPECT_EQ(ReadAll(*stream), body);
    EXPECT_EQ(stream->Read(milliseconds(0)).value(), "") << "the end stays";
  }
  EXPECT_EQ(Open(server, "/error/5")->status(), 404);
}

TEST(ClientStream, ASilentServerIsNoError) {
  TestServer server;
  ClientStream stream = Open(server, "/endless").value();
  EXPECT_EQ(stream.Read(milliseconds(60'000)).value(), "part\n");
  EXPECT_EQ(stream.Read(milliseconds(0)).error().code, Code::kDeadlineExceeded);
  EXPECT_EQ(stream.Read(milliseconds(1)).error().code, Code::kDeadlineExceeded);
  EXPECT_GE(stream.descriptor(), 0);
  server.OnLoop([](Server& used) { used.Stop(); });
  EXPECT_EQ(stream.Read(milliseconds(60'000)).error().code, Code::kDataLoss);
}

TEST(ClientStream, NobodyThere) {
  std::string url;
  {
    url = TestServer().Url();
  }
  ClientRequest request;
  request.target = "/";
  EXPECT_EQ(ClientStream::Open(Endpoint::Parse(url).value(), request).error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace trainyard::http

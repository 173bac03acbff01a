#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "net/http/client.h"
#include "net/http/testing/test_server.h"

/// Tests the arguments of ServerOptions::admit and the effect of its refusal.
namespace trainyard::http {
namespace {

asio::awaitable<Status> AdmitHello(const Request& request) {
  if (request.path == "/hello" && request.peer->kind == Peer::Kind::kTcp4) co_return Status();
  co_return std::unexpected(Error{Code::kPermissionDenied, "not you", ""});
}

ServerOptions Guarded() {
  ServerOptions options;
  options.admit = AdmitHello;
  return options;
}

std::string Converse(const TestServer& server, std::string_view bytes) {
  RawClient client(server.port());
  client.Send(bytes);
  client.ShutdownWrite();
  return client.ReadToEnd();
}

TEST(Admit, ARefusalIsTheAnswerAndLeavesTheConnectionUsable) {
  const TestServer server(Guarded());
  const std::string answers = Converse(server,
                                       "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
                                       "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(answers.starts_with("HTTP/1.1 403 Forbidden\r\n")) << answers;
  EXPECT_NE(answers.find("not you"), std::string::npos);
  EXPECT_NE(answers.find("HTTP/1.1 200 OK\r\n"), std::string::npos) << answers;
}

TEST(Admit, NobodyIsAskedForABodyThatIsRefused) {
  const TestServer server(Guarded());
  const std::string answer =
      Converse(server, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(answer.find("100 Continue"), std::string::npos) << answer;
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
}

TEST(Admit, AnUpgradeIsRefusedToo) {
  const TestServer server(Guarded());
  const std::string answer = Converse(
      server, "GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nbytes");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 ")) << answer;
}

TEST(Admit, TheMethodIsTheOneThatWasSent) {
  ServerOptions options;
  options.admit = [](const Request& request) -> asio::awaitable<Status> {
    if (request.method == Method::kPost) co_return Status();
    co_return std::unexpected(Error{Code::kPermissionDenied, "overridden", ""});
  };
  const TestServer server(options);
  const std::string answer = Converse(
      server, "POST /query HTTP/1.1\r\nHost: h\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
}

asio::awaitable<Status> AdmitOwnOverUnix(const Request& request) {
  const bool own = request.peer->kind == Peer::Kind::kUnix && request.peer->uid == ::geteuid();
  if (own) co_return Status();
  co_return std::unexpected(Error{Code::kPermissionDenied, "not you", ""});
}

TEST(Admit, AUnixSocketSaysWhoConnected) {
  ServerOptions options;
  options.admit = AdmitOwnOverUnix;
  TestServer server(options);
  const std::string path = (server.folder() / "socket").string();
  server.OnLoop([&path](Server& used) { EXPECT_TRUE(used.ListenUnix(path)); });
  Client client({.transport = Endpoint::Transport::kUnix, .host = "h", .socket_path = path});
  const Result<ClientResponse> answer = client.Send({.target = "/hello"});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST(Responses, TellBrowsersNotToGuess) {
  const TestServer server;
  RawClient client(server.port());
  client.Send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_NE(client.ReadUntil("\r\n\r\n").find("\r\nX-Content-Type-Options: nosniff\r\n"), std::string::npos);
}

TEST(LookBehindProxy, ComesBeforeAdmit) {
  ServerOptions options;
  options.look_behind_proxy = [](Request& request) { request.client_address = "203.0.113.9"; };
  std::string seen;
  options.admit = [&seen](const Request& request) -> asio::awaitable<Status> {
    seen = request.client_address;
    co_return Status();
  };
  const TestServer server(std::move(options));
  EXPECT_TRUE(Converse(server, "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200 OK"));
  EXPECT_EQ(seen, "203.0.113.9");
}

}  // namespace
}  // namespace trainyard::http

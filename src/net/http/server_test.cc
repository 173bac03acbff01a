#include "net/http/server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <string>
#include <utility>

#include "base/process/run_program.h"
#include "net/http/client.h"
#include "net/http/testing/listen.h"
#include "net/http/testing/test_server.h"

namespace trainyard::http {
namespace {

constexpr const char* kGet = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr const char* kGetSlow = "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n";

void WaitForConnections(TestServer& server, std::size_t count) {
  std::size_t seen = count + 1;
  while (seen != count) server.OnLoop([&seen](Server& used) { seen = used.connection_count(); });
}

TEST(Server, RefusesAddressesThatItCannotHave) {
  boost::asio::io_context loop;
  const Router router = MakeTestRouter();
  Server server(loop, router);
  const auto port = Listen(server, "localhost");
  ASSERT_TRUE(port);
  EXPECT_EQ(Listen(server, "127.0.0.1", *port).error().code, Code::kAlreadyExists);
  EXPECT_EQ(Listen(server, "not-an-address").error().code, Code::kInvalidArgument);
  EXPECT_EQ(server.ListenUnix("/nonexistent/folder/socket").error().code, Code::kNotFound);
  EXPECT_EQ(ListenWithTls(server, "127.0.0.1", tls::TlsIdentity{}).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(Listen(server, "::1"));
}

asio::awaitable<Status> Admitted() { co_return Status(); }

TEST(Server, AdoptsAConnectionWithThePeerThatItIsTold) {
  std::string attempt;
  ServerOptions options;
  options.admit = [&attempt](const Request& request) {
    attempt = request.peer->attempt;
    return Admitted();
  };
  TestServer server(std::move(options));
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  RawClient client{UniqueFd(ends[0])};
  server.OnLoop([end = ends[1]](Server& used) {
    EXPECT_TRUE(
        used.Adopt(UniqueFd(end), {.kind = Peer::Kind::kUnix, .attempt = "7-worker-replica-0-1"}, false));
  });
  client.Send(kGet);
  EXPECT_NE(client.ReadUntil("hello").find("200 OK"), std::string::npos);
  server.StopAndJoin();
  EXPECT_EQ(attempt, "7-worker-replica-0-1");
}

TEST(Server, AdoptsNothingWithTlsWhereNobodyListensWithIt) {
  TestServer server;
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  RawClient client{UniqueFd(ends[0])};
  server.OnLoop([end = ends[1]](Server& used) { EXPECT_FALSE(used.Adopt(UniqueFd(end), {}, true)); });
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(Server, AStreamEndsWithItsClient) {
  TestServer server;
  {
    RawClient client(server.port());
    client.Send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n" + std::string(kGet));  // the second one waits
    EXPECT_NE(client.ReadUntil("part\n").find("200 OK"), std::string::npos);
    WaitForConnections(server, 1);
  }
  WaitForConnections(server, 0);
}

TEST(Server, AStreamEndsWithTheServer) {
  TestServer server;
  RawClient client(server.port());
  client.Send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");
  client.ReadUntil("part\n");
  server.OnLoop([](Server& used) { used.Stop(); });
  EXPECT_EQ(client.ReadToEnd(), "\r\n");  // the end of the part's chunk, no last chunk
}

TEST(Server, StaleSocketFileIsReplacedAndRemovedAtTheEnd) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() + "/s";
  const Router router = MakeTestRouter();
  {
    boost::asio::io_context loop;
    Server server(loop, router);
    ASSERT_TRUE(server.ListenUnix(path));
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    // A server that was killed leaves its socket file.
    const auto left = RunProgram(
        {.argv = {"/usr/bin/python3", "-c",
                  "import socket,sys; s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])", path.string()}},
        1000, std::chrono::seconds(60));
    ASSERT_TRUE(left);
    ASSERT_TRUE(std::filesystem::is_socket(path)) << left->output;
    boost::asio::io_context loop;
    Server server(loop, router);
    EXPECT_TRUE(server.ListenUnix(path));
  }
}

TEST(Server, TooManyRequestsInFlightAreTold) {
  ServerOptions options;
  options.connections_max = 2;
  TestServer server(options);
  RawClient first(server.port());
  RawClient second(server.port());
  first.Send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  second.Send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  first.ReadUntil("100 Continue\r\n\r\n");
  second.ReadUntil("100 Continue\r\n\r\n");
  RawClient third(server.port());
  EXPECT_EQ(third.ReadToEnd().substr(0, 12), "HTTP/1.1 503");
  first.Send("x");
  EXPECT_EQ(first.ReadUntil("\r\n\r\nx").substr(0, 12), "HTTP/1.1 200");
  RawClient fourth(server.port());
  fourth.Send(kGet);
  EXPECT_EQ(fourth.ReadUntil("hello").substr(0, 12), "HTTP/1.1 200");
  EXPECT_EQ(first.ReadToEnd(), "") << "it was idle";
}

TEST(Server, IdleConnectionsMakeRoomForNewOnes) {
  ConnectionBudget budget({.connections_max = 3, .known_peer_max = 3});
  ServerOptions options;
  options.budget = &budget;
  TestServer server(options);
  RawClient used(server.port());
  used.Send(kGet);
  EXPECT_TRUE(used.ReadUntil("hello").ends_with("hello"));
  RawClient silent(server.port());
  RawClient slow(server.port());
  slow.Send("GET /he");
  WaitForConnections(server, 3);
  RawClient fourth(server.port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  fourth.Send(kGet);
  EXPECT_TRUE(fourth.ReadUntil("hello").ends_with("hello"));
  RawClient fifth(server.port());
  EXPECT_NE(slow.ReadToEnd(), "(timeout)");
  fifth.Send(kGet);
  EXPECT_TRUE(fifth.ReadUntil("hello").ends_with("hello"));
  used.Send(kGet);  // the connection that was used before is kept while there are others
  EXPECT_TRUE(used.ReadUntil("hello").ends_with("hello"));
  server.StopAndJoin();
}

TEST(Server, EventsGoBeforeDownloads) {
  ConnectionBudget budget({.connections_max = 2, .known_peer_max = 2});
  ServerOptions options;
  options.budget = &budget;
  TestServer server(options);
  RawClient download(server.port());
  download.Send("GET /endless HTTP/1.1\r\nHost: h\r\n\r\n");
  download.ReadUntil("part\n");
  RawClient events(server.port());
  events.Send("GET /events HTTP/1.1\r\nHost: h\r\n\r\n");
  events.ReadUntil("part\n");
  RawClient third(server.port());
  third.Send(kGet);
  EXPECT_TRUE(third.ReadUntil("hello").ends_with("hello"));
  EXPECT_EQ(events.ReadToEnd(), "\r\n");
  server.StopAndJoin();
}

TEST(Server, StopAnswersWhatIsInFlight) {
  TestServer server;
  RawClient busy(server.port());
  RawClient idle(server.port());
  RawClient upgraded(server.port());
  busy.Send(kGetSlow);
  idle.Send(kGet);
  EXPECT_TRUE(idle.ReadUntil("hello").ends_with("hello"));
  upgraded.Send("GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  EXPECT_TRUE(upgraded.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 101"));
  WaitForConnections(server, 3);
  server.OnLoop([](Server& used) { used.Stop(); });
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_EQ(upgraded.ReadToEnd(), "");
  ReleaseSlow(server.loop());
  const std::string answer = busy.ReadToEnd();
  EXPECT_TRUE(answer.ends_with("Connection: close\r\n\r\nslow")) << answer;
  server.StopAndJoin();
}

TEST(Server, StopAnswersWhoAsksWithinTheIdleWait) {
  TestServer server;
  RawClient asks(server.port());
  RawClient is_new(server.port());
  RawClient stays_silent(server.port());
  for (RawClient* used : {&asks, &stays_silent}) {
    used->Send(kGet);
    EXPECT_TRUE(used->ReadUntil("hello").ends_with("hello"));
  }
  WaitForConnections(server, 3);
  server.OnLoop([](Server& used) { used.Stop(std::chrono::seconds(1)); });
  for (RawClient* used : {&asks, &is_new}) {
    used->Send(kGet);
    const std::string answer = used->ReadToEnd();
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  }
  EXPECT_EQ(stays_silent.ReadToEnd(), "");
  server.StopAndJoin();
}

TEST(Server, StopCancelsWhatTakesTooLong) {
  ServerOptions options;
  options.stop_wait_max = std::chrono::milliseconds(10);
  TestServer server(options);
  RawClient busy(server.port());
  busy.Send(kGetSlow);
  WaitForConnections(server, 1);
  server.OnLoop([](Server& used) { used.Stop(); });
  EXPECT_EQ(busy.ReadToEnd().substr(0, 8).find("HTTP"), std::string::npos);
  server.StopAndJoin();
}

TEST(Server, DestructorEndsConnectionsThatAreOpen) {
  const Router router = MakeTestRouter();
  boost::asio::io_context loop;
  auto server = std::make_unique<Server>(loop, router);
  const auto port = Listen(*server, "127.0.0.1");
  ASSERT_TRUE(port);
  RawClient idle(*port);
  while (server->connection_count() == 0) loop.poll();
  server.reset();
  EXPECT_EQ(idle.ReadToEnd(), "");
}

TEST(Server, CurlIsNotKeptWaitingForContinue) {
  if (!std::filesystem::exists("/usr/bin/curl")) GTEST_SKIP() << "no curl here";
  TestServer server;
  // curl would wait for it longer than the test.
  const auto result =
      RunProgram({.argv = {"/usr/bin/curl", "-s", "-S", "--noproxy", "*", "--expect100-timeout", "600", "-H",
                           "Expect: 100-continue", "-d", "abc", server.Url() + "/echo"}},
                 10'000, std::chrono::seconds(60));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->output, "abc");
}

}  // namespace
}  // namespace trainyard::http

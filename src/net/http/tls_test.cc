#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/process/run_program.h"
#include "base/tls/tls_identity.h"
#include "net/http/client.h"
#include "net/http/testing/test_server.h"

namespace trainyard::http {
namespace {

namespace fs = std::filesystem;

SysTime Now() { return SystemClock().Now(); }

const std::vector<std::string> kNames = {"storage.googleapis.com", "10.1.2.3"};

ClientRequest Get(std::string target) {
  ClientRequest request;
  request.target = std::move(target);
  return request;
}

Result<RunResult> RunTool(std::vector<std::string> argv) {
  return RunProgram({.argv = std::move(argv), .environment = {"PATH=/usr/bin:/bin"}}, 100'000,
                    std::chrono::seconds(60));
}

Endpoint At(std::uint16_t port, const tls::TlsIdentity& identity, std::string host = "127.0.0.1") {
  Endpoint endpoint;
  endpoint.transport = Endpoint::Transport::kTls;
  endpoint.host = std::move(host);
  endpoint.port = port;
  endpoint.ca_file = identity.ca_file;
  return endpoint;
}

class TlsServer : public testing::Test {
 protected:
  void SetUp() override {
    auto identity = tls::EnsureTlsIdentity(server_.folder() / "tls", kNames, Now());
    ASSERT_TRUE(identity);
    identity_ = *identity;
    port_ = server_.ListenTls(identity_);
  }
  [[nodiscard]] std::string Url() const { return "https://localhost:" + std::to_string(port_); }

  TestServer server_;
  tls::TlsIdentity identity_;
  std::uint16_t port_ = 0;
};

TEST_F(TlsServer, OurClient) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Client client(At(port_, identity_, host));
    for (int i = 0; i < 2; ++i) {
      const auto response = client.Send(Get("/query"));
      ASSERT_TRUE(response) << response.error().message;
      EXPECT_EQ(response->body, "0 https://" + std::string(host) + ":" + std::to_string(port_));
    }
    const auto file = client.Send(Get("/file/5000000"));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->body, std::string(5'000'000, 'f'));
    ClientRequest post = Get("/echo");
    post.method = Method::kPost;
    post.body = std::string(3'000'000, 'x');
    EXPECT_EQ(client.Send(post)->body, std::string(3'000'000, 'x'));
  }
}

TEST_F(TlsServer, OnAUnixSocket) {
  if (!fs::exists("/usr/bin/curl")) GTEST_SKIP() << "no curl here";
  const fs::path path = server_.folder() / "tls.sock";
  server_.OnLoop([&](Server& used) {
    EXPECT_TRUE(used.ListenUnixTls(path, identity_, FramingRules::kChunkedWins));
    EXPECT_EQ(used.ListenUnixTls(path, identity_).error().code, Code::kAlreadyExists);
  });
  // Like TensorFlow's requests: a chunked body, and a Content-Length that does not match it.
  const auto curl = RunTool({"/usr/bin/curl", "-sS", "--noproxy", "*", "--unix-socket", path.string(),
                             "--cacert", identity_.ca_file.string(), "-H", "Transfer-Encoding: chunked", "-H",
                             "Content-Length: 4", "-d", "body", "https://storage.googleapis.com/echo"});
  ASSERT_TRUE(curl);
  EXPECT_EQ(curl->output, "body");
}

TEST_F(TlsServer, OurClientTrustsNobodyElse) {
  const TemporaryFolder folder;
  const auto other = tls::EnsureTlsIdentity(folder.path(), {}, Now());
  ASSERT_TRUE(other);
  EXPECT_EQ(Client(At(port_, *other)).Send(Get("/hello")).error().code, Code::kUnauthenticated);
  Endpoint system_bundle = At(port_, identity_);
  system_bundle.ca_file.clear();
  EXPECT_EQ(Client(system_bundle).Send(Get("/hello")).error().code, Code::kUnauthenticated);
  EXPECT_EQ(Client(At(port_, identity_, "127.0.0.2")).Send(Get("/hello")).error().code, Code::kUnavailable);
  Endpoint no_file = At(port_, identity_);
  no_file.ca_file = "/nonexistent.pem";
  EXPECT_EQ(Client(no_file).Send(Get("/hello")).error().code, Code::kNotFound);
}

TEST_F(TlsServer, PythonAndCurl) {
  const char* const script =
      "import ssl, sys, http.client\n"
      "context = ssl.create_default_context(cafile=sys.argv[1])\n"
      "context.verify_flags |= ssl.VERIFY_X509_STRICT\n"
      "connection = http.client.HTTPSConnection('localhost', int(sys.argv[2]), context=context)\n"
      "for i in range(2):\n"
      "  connection.request('POST', '/echo', body='x' * 100000)\n"
      "  print(len(connection.getresponse().read()))\n";
  const auto python =
      RunTool({"/usr/bin/python3", "-c", script, identity_.ca_file.string(), std::to_string(port_)});
  ASSERT_TRUE(python);
  EXPECT_EQ(python->output, "100000\n100000\n");
  if (!fs::exists("/usr/bin/curl")) GTEST_SKIP() << "no curl here";
  const auto curl = RunTool(
      {"/usr/bin/curl", "-sS", "--noproxy", "*", "--cacert", identity_.ca_file.string(), Url() + "/hello"});
  ASSERT_TRUE(curl);
  EXPECT_EQ(curl->output, "hello");
}

/// Python reports an end without close_notify as an error, if it is asked to.
constexpr const char* kReadToTheEnd =
    "import socket, ssl, sys\n"
    "context = ssl.create_default_context(cafile=sys.argv[1])\n"
    "connection = context.wrap_socket(socket.create_connection(('localhost', int(sys.argv[2]))),\n"
    "                                 server_hostname='localhost', suppress_ragged_eofs=False)\n"
    "connection.sendall(b'GET /hello HTTP/1.1\\r\\nHost: h\\r\\n' + sys.argv[3].encode() + b'\\r\\n')\n"
    "while connection.recv(4096): pass\n"
    "print('ended')\n";

TEST(TlsEnd, IsAlwaysAnnounced) {
  ServerOptions options;
  options.idle_wait_max = std::chrono::milliseconds(20);
  TestServer server(options);
  const auto identity = tls::EnsureTlsIdentity(server.folder() / "tls", kNames, Now());
  ASSERT_TRUE(identity);
  const std::string port = std::to_string(server.ListenTls(*identity));
  for (const char* field : {"", "Connection: close\r\n"}) {
    const auto python =
        RunTool({"/usr/bin/python3", "-c", kReadToTheEnd, identity->ca_file.string(), port, field});
    ASSERT_TRUE(python);
    EXPECT_EQ(python->output, "ended\n") << field;
  }
}

TEST_F(TlsServer, PlainTextOnTheTlsPortIsNoHarm) {
  RawClient client(port_);
  client.Send("GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd().find("hello"), std::string::npos);
  EXPECT_EQ(Client(At(port_, identity_)).Send(Get("/hello"))->body, "hello");
}

}  // namespace
}  // namespace trainyard::http

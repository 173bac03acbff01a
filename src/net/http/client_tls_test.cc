#include <fcntl.h>
#include <gmock/gmock.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/async/file.h"
#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/tls/certificate.h"
#include "base/tls/tls_identity.h"
#include "net/http/client.h"
#include "net/http/listening_socket.h"
#include "net/http/testing/test_server.h"
#include "net/http/transport.h"

namespace trainyard::http {
namespace {

using testing::HasSubstr;

ClientRequest RequestTo(std::string target) {
  ClientRequest request;
  request.target = std::move(target);
  return request;
}

/// Listens on a port of its own, and serves one connection on its own thread.
class OneConnection {
 public:
  using Serve = std::function<void(int descriptor)>;
  explicit OneConnection(Serve serve) : socket_(ListenOnTcp("127.0.0.1", 0).value()) {
    EXPECT_EQ(::fcntl(socket_.descriptor.get(), F_SETFL, 0), 0);
    thread_ = std::jthread([this, serve = std::move(serve)] {
      const UniqueFd connection(::accept4(socket_.descriptor.get(), nullptr, nullptr, SOCK_CLOEXEC));
      serve(connection.get());
    });
  }
  [[nodiscard]] std::uint16_t port() const { return socket_.port; }

 private:
  ListeningSocket socket_;
  std::jthread thread_;  ///< last: it uses the socket
};

/// Answers with the fingerprint of the client's certificate; a client without one is refused. The authority
/// of the certificate is not checked.
void AnswerWithFingerprint(const tls::TlsIdentity& identity, int descriptor) {
  Result<asio::ssl::context> context = MakeServerTls(identity);
  ASSERT_TRUE(context);
  ::SSL_CTX_set_verify(context->native_handle(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       [](int, X509_STORE_CTX*) { return 1; });
  SSL* tls = ::SSL_new(context->native_handle());
  ::SSL_set_fd(tls, descriptor);
  std::array<char, 4096> bytes{};
  if (::SSL_accept(tls) == 1 && ::SSL_read(tls, bytes.data(), static_cast<int>(bytes.size())) > 0) {
    const tls::Certificate certificate(::SSL_get1_peer_certificate(tls));
    const std::string body = tls::Fingerprint(certificate.get());
    const std::string answer =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_GT(::SSL_write(tls, answer.data(), static_cast<int>(answer.size())), 0);
  }
  ::SSL_free(tls);
  ::shutdown(descriptor, SHUT_WR);
  while (::recv(descriptor, bytes.data(), bytes.size(), 0) > 0) continue;
}

class ClientTlsTest : public testing::Test {
 protected:
  ClientTlsTest() {
    const SysTime now = SystemClock().Now();
    identity_ = tls::EnsureTlsIdentity(folder_.path() + "/tls", {"cluster.example"}, now).value();
    authority_ = ReadFile(identity_.ca_file).value();
    pair_ = tls::MakeAuthority(now, std::chrono::days(1)).value();
    certificate_ = tls::PrintCertificate(pair_.certificate).value();
    key_ = tls::PrintPrivateKey(pair_.key).value();
  }

  [[nodiscard]] Endpoint At(std::uint16_t port) const {
    Endpoint endpoint;
    endpoint.transport = Endpoint::Transport::kTls;
    endpoint.host = "127.0.0.1";
    endpoint.port = port;
    endpoint.tls.authorities = authority_;
    return endpoint;
  }

  TemporaryFolder folder_;
  tls::TlsIdentity identity_;
  std::string authority_;
  tls::KeyPair pair_;
  std::string certificate_;
  std::string key_;
};

TEST_F(ClientTlsTest, TrustsTheAuthoritiesOfAText) {
  TestServer server;
  const std::uint16_t port = server.ListenTls(identity_);
  EXPECT_EQ(Client(At(port)).Send(RequestTo("/hello"))->body, "hello");
  Endpoint several = At(port);
  several.tls.authorities = certificate_ + authority_;
  EXPECT_EQ(Client(several).Send(RequestTo("/hello"))->body, "hello");
  Endpoint other = At(port);
  other.tls.authorities = certificate_;
  EXPECT_EQ(Client(other).Send(RequestTo("/hello")).error().code, Code::kUnauthenticated);
  other.tls.authorities = "no certificate";
  EXPECT_EQ(Client(other).Send(RequestTo("/hello")).error().code, Code::kInvalidArgument);
}

TEST_F(ClientTlsTest, ExpectsTheNameThatItIsGiven) {
  TestServer server;
  const std::uint16_t port = server.ListenTls(identity_);
  for (const auto& [name, is_there] : {std::pair("cluster.example", true), std::pair("127.0.0.1", true),
                                       std::pair("other.example", false), std::pair("10.1.2.3", false)}) {
    Endpoint endpoint = At(port);
    endpoint.tls.server_name = name;
    const Result<ClientResponse> response = Client(endpoint).Send(RequestTo("/hello"));
    EXPECT_EQ(response.has_value(), is_there) << name;
    if (!response) EXPECT_EQ(response.error().code, Code::kUnauthenticated) << name;
  }
}

TEST_F(ClientTlsTest, PresentsItsCertificate) {
  const OneConnection server([this](int descriptor) { AnswerWithFingerprint(identity_, descriptor); });
  Endpoint endpoint = At(server.port());
  endpoint.tls.certificate = certificate_ + authority_;
  endpoint.tls.key = key_;
  Client client(endpoint);
  const Result<ClientResponse> response = client.Send(RequestTo("/"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, tls::Fingerprint(pair_.certificate.get()));
}

TEST_F(ClientTlsTest, AServerThatWantsACertificateSaysSo) {
  const OneConnection server([this](int descriptor) { AnswerWithFingerprint(identity_, descriptor); });
  const Result<ClientResponse> response = Client(At(server.port())).Send(RequestTo("/"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("certificate required"));
}

TEST_F(ClientTlsTest, ACertificateNeedsItsKey) {
  TestServer server;
  Endpoint endpoint = At(server.ListenTls(identity_));
  endpoint.tls.certificate = certificate_;
  for (const std::string& key : {std::string(), std::string("no key"), identity_.private_key_pem}) {
    endpoint.tls.key = key;
    EXPECT_EQ(Client(endpoint).Send(RequestTo("/hello")).error().code, Code::kInvalidArgument);
  }
}

/// Connects to the port and copies bytes both ways, as a proxy does after CONNECT, until one side ends.
void Tunnel(int client, std::uint16_t port) {
  const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  ASSERT_EQ(::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_TRUE(WriteAll(client, "HTTP/1.1 200 Connection established\r\n\r\n"));
  std::array<pollfd, 2> both{{{client, POLLIN, 0}, {server.get(), POLLIN, 0}}};
  std::array<char, 4096> bytes{};
  while (::poll(both.data(), both.size(), 20'000) > 0) {
    for (std::size_t from = 0; from < both.size(); ++from) {
      if (both[from].revents == 0) continue;
      const ssize_t got = ::recv(both[from].fd, bytes.data(), bytes.size(), 0);
      if (got <= 0) return;
      ASSERT_TRUE(WriteAll(both[1 - from].fd, {bytes.data(), static_cast<std::size_t>(got)}));
    }
  }
}

std::string ReadHead(int descriptor) {
  std::string head;
  char c = 0;
  while (!head.ends_with("\r\n\r\n") && ::recv(descriptor, &c, 1, 0) == 1) head.push_back(c);
  return head;
}

TEST_F(ClientTlsTest, ConnectsThroughAProxy) {
  TestServer server;
  const std::uint16_t port = server.ListenTls(identity_);
  std::promise<std::string> asked;
  const OneConnection proxy([&](int descriptor) {
    asked.set_value(ReadHead(descriptor));
    Tunnel(descriptor, port);
  });
  Endpoint endpoint = At(port);
  endpoint.host = "cluster.example";  // the proxy finds it, not this machine
  endpoint.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  {
    Client client(endpoint);
    EXPECT_EQ(client.Send(RequestTo("/hello"))->body, "hello");
    EXPECT_EQ(client.Send(RequestTo("/hello"))->body, "hello");
  }
  const std::string authority = "cluster.example:" + std::to_string(port);
  EXPECT_EQ(asked.get_future().get(),
            "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
}

TEST_F(ClientTlsTest, AProxyThatRefusesIsNamed) {
  const OneConnection proxy([](int descriptor) {
    ReadHead(descriptor);
    EXPECT_TRUE(WriteAll(descriptor, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
  });
  Endpoint endpoint = At(443);
  endpoint.proxy = "http://127.0.0.1:" + std::to_string(proxy.port());
  const Result<ClientResponse> response = Client(endpoint).Send(RequestTo("/hello"));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::kUnavailable);
  EXPECT_EQ(response.error().message,
            "the proxy " + endpoint.proxy + " does not connect to 127.0.0.1:443; it answered 403");
  endpoint.proxy = "https://127.0.0.1:1";
  EXPECT_EQ(Client(endpoint).Send(RequestTo("/hello")).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::http

#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/system_clock.h"
#include "base/async/testing/temporary_folder.h"
#include "base/tls/tls_identity.h"
#include "net/grpc/testing/grpc_fixture.h"
#include "net/http/server.h"

namespace trainyard::grpc::grpc_tls_test {
namespace {

namespace asio = boost::asio;

asio::awaitable<Result<http::Response>> Hello(http::Request& /*request*/) {
  co_return http::Response::Text("hello");
}

/// A server of both protocols and its clients, on one loop.
class GrpcTls : public GrpcTest {
 protected:
  void SetUp() override {
    router_.Add(http::Method::kGet, "/hello", Hello);
    const auto identity = tls::EnsureTlsIdentity(folder_.path(), {}, SystemClock().Now());
    ASSERT_TRUE(identity);
    identity_ = *identity;
  }
  void Listen(bool with_grpc = true) {
    http::ServerOptions options;
    if (with_grpc)
      options.http2 = [this](std::shared_ptr<http::Channel> channel) {
        return Serve(std::move(channel), options_);
      };
    server_.emplace(loop_, router_, options);
    auto socket = http::ListenOnTcp("127.0.0.1", 0);
    ASSERT_TRUE(socket);
    port_ = socket->port;
    ASSERT_TRUE(server_->ListenTls(*std::move(socket), identity_));
  }
  void TearDown() override {
    GrpcTest::TearDown();
    client_.reset();
    server_.reset();
  }

  /// A transport whose handshake lists these protocols, each after its length.
  std::unique_ptr<http::Transport> Connect(std::string protocols) {
    tls_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client);
    tls_->load_verify_file(identity_.ca_file.string());
    if (!protocols.empty()) {
      ::SSL_CTX_set_alpn_protos(tls_->native_handle(),
                                reinterpret_cast<const unsigned char*>(protocols.data()),
                                static_cast<unsigned>(protocols.size()));
    }
    asio::ip::tcp::socket socket(loop_);
    socket.connect({asio::ip::address_v4::loopback(), port_});
    return http::MakeTlsClientTransport(http::StreamSocket(std::move(socket)), *tls_);
  }
  void ConnectGrpc() {
    client_.emplace(loop_.get_executor(), Connect("\2h2"));
    tasks_->Spawn(Talk());
  }
  asio::awaitable<void> Talk() {
    EXPECT_TRUE(co_await client_->Handshake());
    tasks_->Spawn(client_->Read());
    tasks_->Spawn(client_->Write());
  }
  /// What HTTP/1.1 answers to GET /hello on such a connection.
  std::string Get(std::string protocols) {
    std::string answer;
    bool done = false;
    tasks_->Spawn(GetOn(Connect(std::move(protocols)), answer, done));
    EXPECT_TRUE(RunUntil([&] { return done; }));
    return answer;
  }
  static asio::awaitable<void> GetOn(std::unique_ptr<http::Transport> transport, std::string& answer,
                                     bool& done) {
    if (co_await transport->Handshake()) {
      answer = transport->is_http2() ? "h2 " : "";
      std::ignore =
          co_await transport->WriteSome("GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", {});
      std::array<std::byte, 4'096> buffer{};
      while (true) {
        const Result<std::size_t> count = co_await transport->ReadSome(buffer);
        if (!count || *count == 0) break;
        answer.append(reinterpret_cast<const char*>(buffer.data()), *count);
      }
    }
    done = true;
  }

  TemporaryFolder folder_;
  tls::TlsIdentity identity_;
  http::Router router_;
  std::optional<http::Server> server_;
  std::uint16_t port_ = 0;
  std::unique_ptr<asio::ssl::context> tls_;
};

TEST_F(GrpcTls, OnePortServesBoth) {
  Listen();
  ConnectGrpc();
  EXPECT_EQ(AnswerTo(Ask("/echo", "hello")).body, PrintMessage("echo hello"));
  EXPECT_EQ(last_->peer->kind, http::Peer::Kind::kTcp4);
  using namespace std::string_literals;
  for (const std::string& protocols :
       {""s, "\x08http/1.1"s, "\2h2\x08http/1.1"s, "\x08http/1.1\2h2"s, "\6spdy/1"s}) {
    EXPECT_THAT(Get(protocols),
                testing::AllOf(testing::StartsWith("HTTP/1.1 200"), testing::EndsWith("hello")))
        << protocols;
  }
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
}

TEST_F(GrpcTls, WithoutAHandlerThereIsNoHttp2) {
  Listen(false);
  EXPECT_THAT(Get("\2h2"), testing::StartsWith("HTTP/1.1 200"));
}

TEST_F(GrpcTls, ANewCertificateKeepsBoth) {
  Listen();
  ASSERT_TRUE(server_->UseIdentity(identity_));
  ConnectGrpc();
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
}

TEST_F(GrpcTls, AServerThatStopsAnswersFirst) {
  Listen();
  ConnectGrpc();
  const std::int32_t waits = Ask("/wait", "last");
  ASSERT_TRUE(RunUntil([&] { return waiting_ == 1; }));
  server_->Stop();
  ASSERT_TRUE(RunUntil([&] { return client_->goaway().has_value(); }));
  release_.Set();
  EXPECT_EQ(AnswerTo(waits).body, PrintMessage("echo last"));
  EXPECT_TRUE(RunUntil([&] { return client_->over(); }));
  client_->Close();
  EXPECT_TRUE(RunUntil([&] { return server_->connection_count() == 0; }));
}

TEST_F(GrpcTls, AnIdleConnectionEndsWithTheServer) {
  Listen();
  ConnectGrpc();
  EXPECT_EQ(StatusOf(Ask("/echo")), "0 ");
  server_->Stop();
  EXPECT_TRUE(RunUntil([&] { return client_->over(); }));
}

}  // namespace
}  // namespace trainyard::grpc::grpc_tls_test

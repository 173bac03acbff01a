#include "net/http/testing/test_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <future>
#include <memory>
#include <stdexcept>

#include "base/async/event.h"
#include "net/http/testing/listen.h"

namespace trainyard::http {

namespace {

constexpr std::size_t kEchoMax = std::size_t{16} << 20;

using Answer = asio::awaitable<Result<Response>>;

std::shared_ptr<Event>& SlowEvent() {
  static std::shared_ptr<Event> event;
  return event;
}

Answer Hello(Request& /*request*/) { co_return Response::Text("hello"); }
Answer Empty(Request& /*request*/) { co_return Response::Empty(); }
Answer Ignore(Request& /*request*/) { co_return Response::Text("ignored"); }

Answer Echo(Request& request) {
  TY_CO_TRY(std::string body, co_await request.body->ReadAll(kEchoMax));
  co_return Response::Text(std::move(body));
}

Answer Length(Request& request) {
  std::array<std::byte, 1000> buffer{};
  std::uint64_t total = 0;
  while (true) {
    TY_CO_TRY(const std::size_t got, co_await request.body->ReadSome(buffer));
    if (got == 0) break;
    total += got;
  }
  co_return Response::Text(std::to_string(total));
}

Answer Throw(Request& /*request*/) {
  throw std::runtime_error("from a library");
  co_return Response::Empty();
}

Answer Fail(Request& request) {
  const int code = std::stoi(request.Parameter("code"));
  co_return std::unexpected(Error{static_cast<Code>(code), "because", "some_field"});
}

Answer Json(Request& request) {
  const auto size = std::stoul(request.Parameter("size"));
  co_return Response::Json("\"" + std::string(size - 2, 'j') + "\"");
}

Answer File(Request& request) {
  const auto size = std::stoul(request.Parameter("size"));
  const int descriptor = ::memfd_create("file", MFD_CLOEXEC);
  const std::string contents(size, 'f');
  EXPECT_EQ(::write(descriptor, contents.data(), size), static_cast<ssize_t>(size));
  auto* owned = new int(descriptor);
  FileBody body;
  body.descriptor = std::shared_ptr<const int>(owned, [](const int* used) {
    ::close(*used);
    delete used;
  });
  body.length = size;
  Response response;
  response.body = std::move(body);
  co_return response;
}

asio::awaitable<Result<StreamPart>> NextPart(std::shared_ptr<int> count) {
  if (++*count > 3) co_return StreamPart();
  co_return StreamPart("part " + std::to_string(*count) + "\n");
}

Answer Stream(Request& /*request*/) {
  Response response;
  auto count = std::make_shared<int>(0);
  StreamBody body;
  body.next = [count] { return NextPart(count); };
  response.body = std::move(body);
  co_return response;
}

asio::awaitable<Result<StreamPart>> OnePartThenNone(std::shared_ptr<int> count) {
  if (++*count == 1) co_return StreamPart("part\n");
  const auto executor = co_await asio::this_coro::executor;
  Event never(executor);
  co_await never.Wait();
  co_return StreamPart();
}

Answer Endless(Request& /*request*/) {
  Response response;
  auto count = std::make_shared<int>(0);
  StreamBody body;
  body.next = [count] { return OnePartThenNone(count); };
  response.body = std::move(body);
  co_return response;
}

Answer Events(Request& request) {
  TY_CO_TRY(Response response, co_await Endless(request));
  response.headers.Set("Content-Type", "text/event-stream");
  co_return response;
}

asio::awaitable<void> EchoStream(std::shared_ptr<ByteStream> stream) {
  std::array<std::byte, 100> buffer{};
  while (true) {
    const auto got = co_await stream->ReadSome(buffer);
    if (!got || *got == 0) co_return;
    std::string bytes(reinterpret_cast<const char*>(buffer.data()), *got);
    if (!co_await stream->Write(std::move(bytes))) co_return;
  }
}

Answer UpgradeToEcho(Request& /*request*/) {
  Response response;
  UpgradeBody body;
  body.protocol = "echo";
  body.run = [](std::shared_ptr<ByteStream> stream) { return EchoStream(std::move(stream)); };
  response.body = std::move(body);
  co_return response;
}

Answer ShowQuery(Request& request) {
  std::string text = std::to_string(static_cast<int>(request.method)) + " " + request.Origin();
  for (const auto& [name, value] : request.query) text.append(" ").append(name).append("=").append(value);
  co_return Response::Text(std::move(text));
}

Answer ShowHeader(Request& request) {
  Response response = Response::Text("x");
  response.headers.Set("X-Value", request.Parameter("value"));
  co_return response;
}

Answer Slow(Request& /*request*/) {
  const auto executor = co_await asio::this_coro::executor;
  if (SlowEvent() == nullptr) SlowEvent() = std::make_shared<Event>(executor);
  const std::shared_ptr<Event> event = SlowEvent();
  co_await event->Wait();
  co_return Response::Text("slow");
}

}  // namespace

Router MakeTestRouter() {
  Router router;
  router.Add(Method::kGet, "/hello", Hello);
  router.Add(Method::kGet, "/empty", Empty);
  router.Add(Method::kPost, "/echo", Echo);
  router.Add(Method::kPost, "/length", Length);
  router.Add(Method::kPost, "/ignore", Ignore);
  router.Add(Method::kGet, "/throw", Throw);
  router.Add(Method::kGet, "/error/{code}", Fail);
  router.Add(Method::kGet, "/json/{size}", Json);
  router.Add(Method::kGet, "/file/{size}", File);
  router.Add(Method::kGet, "/stream", Stream);
  router.Add(Method::kGet, "/endless", Endless);
  router.Add(Method::kGet, "/events", Events);
  router.Add(Method::kGet, "/upgrade", UpgradeToEcho);
  router.Add(Method::kGet, "/query", ShowQuery);
  router.Add(Method::kGet, "/header/{value}", ShowHeader);
  router.Add(Method::kGet, "/slow", Slow);
  return router;
}

void ReleaseSlow(boost::asio::io_context& loop) {
  asio::post(loop, [] {
    if (SlowEvent() != nullptr) SlowEvent()->Set();
    SlowEvent().reset();
  });
}

TestServer::TestServer(ServerOptions options, FramingRules rules)
    : router_(MakeTestRouter()), server_(loop_, router_, options) {
  const Result<std::uint16_t> port = Listen(server_, "127.0.0.1", 0, rules);
  EXPECT_TRUE(port);
  port_ = port.value_or(0);
  thread_ = std::thread([this] { loop_.run(); });
}

TestServer::~TestServer() { StopAndJoin(); }

void TestServer::StopAndJoin() {
  if (!thread_.joinable()) return;
  asio::post(loop_, [this] { server_.Stop(); });
  ReleaseSlow(loop_);
  thread_.join();
}

void TestServer::OnLoop(const std::function<void(Server&)>& function) {
  std::promise<void> done;
  asio::post(loop_, [&] {
    function(server_);
    done.set_value();
  });
  done.get_future().wait();
}

std::uint16_t TestServer::ListenTls(const tls::TlsIdentity& identity) {
  Result<std::uint16_t> port = 0;
  OnLoop([&](Server& server) { port = ListenWithTls(server, "127.0.0.1", identity); });
  EXPECT_TRUE(port) << port.error().message;
  return port.value_or(0);
}

namespace {

void WaitAtMost20Seconds(int socket) {
  const timeval wait_max{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait_max, sizeof(wait_max));
}

}  // namespace

RawClient::RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const int on = 1;
  WaitAtMost20Seconds(socket_.get());
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

RawClient::RawClient(UniqueFd socket) : socket_(std::move(socket)) { WaitAtMost20Seconds(socket_.get()); }

void RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // a server that has refused us may have closed: the test looks at its answer
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string RawClient::ReadToEnd() {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got == 0) break;
    if (got < 0) {
      text += errno == ECONNRESET ? "(reset)" : "(timeout)";
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  for (const std::string_view field : {"Date: ", "X-Content-Type-Options: nosniff"}) {
    for (std::size_t at = text.find(field); at != std::string::npos; at = text.find(field, at))
      text.erase(at, text.find("\r\n", at) + 2 - at);
  }
  return text;
}

std::string RawClient::ReadUntil(std::string_view text) {
  std::string read;
  char c = 0;
  while (!read.ends_with(text) && ::recv(socket_.get(), &c, 1, 0) == 1) read.push_back(c);
  return read;
}

void RawClient::ShutdownWrite() { ::shutdown(socket_.get(), SHUT_WR); }

}  // namespace trainyard::http

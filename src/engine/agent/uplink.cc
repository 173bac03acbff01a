#include "engine/agent/uplink.h"

#include <fcntl.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/tls/certificate.h"
#include "net/http/client_socket.h"
#include "net/http/deadline.h"

namespace trainyard::agent {

namespace asio = boost::asio;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 10;

constexpr std::string_view kControlPath = "/agent/v1/control";
constexpr milliseconds kFinishMax{2'000};

/// Returns a random time between half of the pause and the whole pause.
milliseconds Jittered(milliseconds pause) {
  return pause / 2 + milliseconds(RandomBytes<std::uint32_t>() % (pause.count() / 2 + 1));
}

asio::awaitable<void> RunSession(mux::Session& session) {
  const mux::Ending ending = co_await session.Run();
  if (ending == mux::Ending::kSilent)
    Diagnose(DiagnosticLevel::kWarning, "the server sends nothing: the network connection may be broken");
}

Result<UniqueFd> ConnectTo(const Uplink::Server& server) {
  TY_TRY(http::ClientSocket socket,
         http::ClientSocket::Connect(
             {.transport = http::Endpoint::Transport::kTcp, .host = server.host, .port = server.port},
             kConnectWaitMax));
  UniqueFd descriptor = socket.Release();
  if (::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK) != 0) return std::unexpected(ErrnoError(errno, "fcntl"));
  return descriptor;
}

}  // namespace

ControlStream::ControlStream(asio::any_io_executor loop, std::shared_ptr<mux::Stream> stream)
    : stream_(std::move(stream)), buffer_(kReadBytes), has_queued_(loop), sent_all_(loop) {
  sent_all_.Set();
}

void ControlStream::Send(const v1::FromAgent& frame) {
  if (over_) return;
  replica::AppendFrame(frame, queued_);
  sent_all_.Reset();
  has_queued_.Set();
}

asio::awaitable<void> ControlStream::SendAll() {
  while (!over_) {
    has_queued_.Reset();
    if (queued_.empty()) {
      sent_all_.Set();
      co_await has_queued_.Wait();
      continue;
    }
    const std::string bytes = std::exchange(queued_, {});
    const Status written = co_await stream_->Write(bytes);
    over_ = over_ || !written;
  }
  sent_all_.Set();
}

asio::awaitable<Result<v1::ToAgent>> ControlStream::Next() {
  for (;;) {
    std::string_view content;
    const Result<bool> complete = reader_.Next(content);
    if (!complete) co_return std::unexpected(complete.error());
    if (*complete) {
      v1::ToAgent frame;
      if (frame.ParseFromArray(content.data(), static_cast<int>(content.size()))) co_return frame;
      co_return std::unexpected(InvalidArgument("", "a frame is no message"));
    }
    const Result<std::size_t> size = co_await stream_->Read(buffer_);
    if (!size || *size == 0) {
      End();
      co_return std::unexpected(Unavailable("the connection is over"));
    }
    reader_.Feed({buffer_.data(), *size});
  }
}

void ControlStream::End() {
  over_ = true;
  has_queued_.Set();
}

asio::awaitable<bool> ControlStream::Flush(std::chrono::milliseconds wait_max) {
  const bool sent = co_await sent_all_.WaitFor(wait_max);
  co_return sent && !over_;
}

Uplink::Uplink(asio::any_io_executor loop, Server server, Observer& observer)
    : loop_(loop),
      server_(std::move(server)),
      observer_(observer),
      tls_(asio::ssl::context::tls_client),
      welcomed_(loop),
      lost_(std::move(loop)) {
  tls::PinCertificate(tls_.native_handle(), server_.fingerprint);
}

asio::awaitable<std::string> Uplink::Run() {
  asio::steady_timer pause(loop_);
  milliseconds next = kConnectPauseMin;
  for (;;) {
    Result<ServerConnection> connection = co_await Connect();
    if (connection) {
      const Outcome outcome = co_await Serve(*std::move(connection));
      if (outcome.refused) co_return outcome.reason;
      SayOnce(outcome.reason);
      if (outcome.reason.empty()) next = kConnectPauseMin;  // it was welcomed
    } else {
      SayOnce("cannot reach the server: " + connection.error().message);
    }
    pause.expires_after(Jittered(next));
    co_await pause.async_wait(asio::use_awaitable);
    next = std::min(next * 2, kConnectPauseMax);
  }
}

/// Logs the text unless it was the last one: a server may be unreachable for days.
void Uplink::SayOnce(std::string text) {
  if (!text.empty() && text != said_) Diagnose(DiagnosticLevel::kWarning, text);
  said_ = std::move(text);
}

asio::awaitable<Result<Uplink::ServerConnection>> Uplink::Connect() {
  auto connect = [server = server_] { return ConnectTo(server); };
  TY_CO_TRY(UniqueFd descriptor, co_await OnPool(names_, std::move(connect)));
  asio::ip::tcp::socket tcp(loop_);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(descriptor.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const bool is_v6 = address.ss_family == AF_INET6;
  tcp.assign(is_v6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), descriptor.Release());
  boost::system::error_code error;
  const auto own = tcp.local_endpoint(error);
  ServerConnection connected{.transport = nullptr, .own_address = error ? "" : own.address().to_string()};
  connected.transport = http::MakeTlsClientTransport(http::StreamSocket(std::move(tcp)), tls_);
  http::Deadline deadline(loop_, [transport = connected.transport.get()] { transport->Close(); });
  deadline.Set(kConnectWaitMax);
  const Status shaken = co_await connected.transport->Handshake();
  deadline.Clear();
  if (!shaken) {
    const Error why =
        Unavailable("no TLS connection with the server's own certificate: " + shaken.error().message);
    co_return std::unexpected(why);
  }
  co_return connected;
}

asio::awaitable<Uplink::Outcome> Uplink::Serve(ServerConnection connection) {
  using asio::experimental::awaitable_operators::operator&&;
  mux::Session session(loop_, std::move(connection.transport), mux::Session::Side::kOpens, {});
  co_return co_await (RunSession(session) && Talk(session, std::move(connection.own_address)));
}

/// Returns the server's answer to Hello, if it comes in time.
asio::awaitable<Result<v1::ToAgent>> Uplink::FirstAnswer(mux::Session& session, ControlStream& control) {
  http::Deadline deadline(loop_, [&session] { session.Close(); });
  deadline.Set(kConnectWaitMax);
  Result<v1::ToAgent> answer = co_await control.Next();
  deadline.Clear();
  co_return answer;
}

asio::awaitable<Uplink::Outcome> Uplink::Talk(mux::Session& session, std::string own_address) {
  using asio::experimental::awaitable_operators::operator&&;
  const std::shared_ptr<mux::Stream> stream = session.Open(kControlPath);
  if (!stream) co_return Outcome{.reason = "the server closed the connection"};
  const auto control = std::make_shared<ControlStream>(loop_, stream);
  v1::FromAgent hello;
  *hello.mutable_hello() = co_await observer_.MakeHello(std::move(own_address));
  control->Send(hello);
  co_return co_await (control->SendAll() && Listen(session, control));
}

asio::awaitable<Uplink::Outcome> Uplink::Listen(mux::Session& session,
                                                std::shared_ptr<ControlStream> control) {
  /// Runs however the coroutine ends, also when it is cancelled.
  struct Close {
    Uplink& uplink;
    mux::Session& session;
    ControlStream& control;
    ~Close() {
      uplink.session_ = nullptr;
      uplink.control_ = nullptr;
      uplink.welcomed_.Reset();
      uplink.lost_.Set();
      control.End();
      session.Close();
    }
  };
  const Close close{*this, session, *control};
  Result<v1::ToAgent> frame = co_await FirstAnswer(session, *control);
  if (!frame) co_return Outcome{.reason = "the server does not answer: " + frame.error().message};
  if (frame->has_refused()) co_return Outcome{.refused = true, .reason = frame->refused().reason()};
  if (!frame->has_welcome())
    co_return Outcome{.reason = "the server's first answer is neither a welcome nor a refusal"};
  co_await observer_.OnWelcome(std::move(*frame->mutable_welcome()));
  Diagnose(DiagnosticLevel::kInfo, "the server has accepted this agent");
  session_ = &session;
  control_ = control;
  welcomed_.Set();
  observer_.OnWelcomed();
  while (frame = co_await control->Next(), frame) observer_.OnFrame(*std::move(frame), control);
  Diagnose(DiagnosticLevel::kWarning, "the connection to the server is lost: " + frame.error().message);
  co_return Outcome();
}

void Uplink::Send(const v1::FromAgent& frame) {
  if (control_) control_->Send(frame);
}

asio::awaitable<std::shared_ptr<mux::Stream>> Uplink::Open(std::string path, milliseconds wait_max) {
  const auto deadline = std::chrono::steady_clock::now() + wait_max;
  for (;;) {
    if (session_ != nullptr) {
      // A session that is ending opens no more streams, but the next session may come in time.
      if (std::shared_ptr<mux::Stream> stream = session_->Open(path)) co_return stream;
    }
    const auto rest = deadline - std::chrono::steady_clock::now();
    if (session_ != nullptr || rest <= milliseconds(0)) co_return nullptr;
    const bool has_come = co_await welcomed_.WaitFor(rest);
    if (!has_come) co_return nullptr;
  }
}

asio::awaitable<void> Uplink::Finish() {
  const std::shared_ptr<ControlStream> control = control_;
  if (!control) co_return;
  lost_.Reset();
  if (!co_await control->Flush(kFinishMax)) co_return;
  control->CloseWrite();
  co_await lost_.WaitFor(kFinishMax);
}

}  // namespace trainyard::agent

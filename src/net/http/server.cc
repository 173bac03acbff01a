#include "net/http/server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <ctime>
#include <list>
#include <optional>
#include <system_error>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/async/watched_executor.h"
#include "net/http/connection.h"
#include "net/http/listening_socket.h"

namespace trainyard::http {

namespace {

constexpr std::chrono::milliseconds kAcceptRetry{
    100};                           // without descriptors: until some connection has ended
constexpr int kAcceptsAtOnce = 32;  // then other work of the loop runs
constexpr std::string_view kNewConnection = "http, a new connection";

/// "Sun, 06 Nov 1994 08:49:37 GMT", printed once a second.
class HttpDate {
 public:
  std::string_view Text() {
    const std::time_t now = ::time(nullptr);
    if (now != printed_for_) {
      std::tm parts{};
      ::gmtime_r(&now, &parts);
      size_ = std::strftime(text_.data(), text_.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
      printed_for_ = now;
    }
    return {text_.data(), size_};
  }

 private:
  std::time_t printed_for_ = -1;
  std::array<char, 40> text_{};
  std::size_t size_ = 0;
};

struct Listener {
  Listener(const asio::any_io_executor& executor, ListeningSocket socket, FramingRules used)
      : descriptor(executor, socket.descriptor.Release()), rules(used) {}

  asio::posix::stream_descriptor descriptor;
  FramingRules rules;
  std::optional<asio::ssl::context> tls;
  std::filesystem::path unix_path;
};

}  // namespace

struct Server::State {
  State(asio::io_context& used_loop, const Router& router, Options used_options)
      : loop(used_loop),
        options(std::move(used_options)),
        own_budget({.connections_max = options.connections_max, .known_peer_max = options.connections_max}),
        budget(options.budget != nullptr ? *options.budget : own_budget),
        context{router, options, [this] { return date.Text(); }, stopping, idle_over},
        all_gone(loop.get_executor()),
        tasks(loop.get_executor()) {}

  /// `identity`: with TLS.
  Status Listen(ListeningSocket socket, FramingRules rules, const tls::TlsIdentity* identity,
                const std::filesystem::path& unix_path = {}) {
    std::optional<asio::ssl::context> tls;
    if (identity != nullptr) {
      TY_TRY(tls, MakeTls(*identity));
    }
    listeners.push_back(std::make_unique<Listener>(loop.get_executor(), std::move(socket), rules));
    listeners.back()->tls = std::move(tls);
    listeners.back()->unix_path = unix_path;
    tasks.Spawn(Accept(*listeners.back()));
    return {};
  }
  [[nodiscard]] Result<asio::ssl::context> MakeTls(const tls::TlsIdentity& identity) const {
    return MakeServerTls(identity, options.http2 ? Http2::kForClientsWithoutHttp1 : Http2::kNever);
  }
  asio::awaitable<void> Accept(Listener& listener);
  void Accepted(Listener& listener, UniqueFd socket, int family);
  bool Take(Listener& listener, UniqueFd socket, int family, Peer peer);
  asio::awaitable<void> Serve(std::shared_ptr<Channel> channel, FramingRules rules,
                              std::unique_ptr<ConnectionSeat> seat);
  asio::awaitable<void> CancelTheRest(std::chrono::milliseconds idle_wait);
  void EndIdle();

  asio::io_context& loop;
  Options options;
  ConnectionBudget own_budget;
  ConnectionBudget& budget;
  bool stopping = false;
  bool idle_over = false;
  HttpDate date;
  ConnectionContext context;
  std::list<std::unique_ptr<Listener>> listeners;
  std::list<Connection*> connections;
  Event all_gone;
  TaskGroup tasks;
};

asio::awaitable<void> Server::State::Accept(Listener& listener) {
  int accepted = 0;
  while (!stopping) {
    if (++accepted % kAcceptsAtOnce == 0) co_await asio::post(asio::use_awaitable);
    sockaddr_storage peer{};
    socklen_t size = sizeof(peer);
    UniqueFd socket(::accept4(listener.descriptor.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                              SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      Accepted(listener, std::move(socket), peer.ss_family);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN) {
      const auto [error] = co_await listener.descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                                                   asio::as_tuple(asio::use_awaitable));
      if (error) co_return;
      continue;
    }
    if ((errno == EMFILE || errno == ENFILE) && budget.CloseOne()) continue;
    Diagnose(DiagnosticLevel::kWarning, "http: accept: " + std::generic_category().message(errno));
    asio::steady_timer retry(loop, kAcceptRetry);
    co_await retry.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

void Server::State::Accepted(Listener& listener, UniqueFd socket, int family) {
  if (family != AF_UNIX) {
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  }
  Peer peer = PeerOf(socket.get());
  if (!peer.uid && options.uid_of) peer.uid = options.uid_of(peer);
  Take(listener, std::move(socket), family, std::move(peer));
}

/// False: there are too many connections.
bool Server::State::Take(Listener& listener, UniqueFd socket, int family, Peer peer) {
  const PeerKey key = PeerKeyOf(peer);
  if (!budget.MakeRoom(key)) {
    static constexpr std::string_view kFull =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: "
        "0\r\n\r\n";
    if (!listener.tls)
      std::ignore = ::send(socket.get(), kFull.data(), kFull.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return false;
  }
  const asio::generic::stream_protocol protocol(family, 0);
  StreamSocket stream(loop.get_executor(), protocol, socket.Release());
  auto transport = listener.tls ? MakeTlsTransport(std::move(stream), *listener.tls)
                                : MakePlainTransport(std::move(stream));
  auto channel = std::make_shared<Channel>(loop.get_executor(), std::move(transport));
  channel->peer() = std::move(peer);
  auto seat = budget.Take(key, [channel] { channel->Close(); });
  tasks.Spawn(WatchLoop(loop, options.watch, kNewConnection),
              Serve(std::move(channel), listener.rules, std::move(seat)));
  return true;
}

asio::awaitable<void> Server::State::Serve(std::shared_ptr<Channel> channel, FramingRules rules,
                                           std::unique_ptr<ConnectionSeat> seat) {
  struct Registration {
    State& state;
    std::list<Connection*>::iterator position;
    ~Registration() {
      state.connections.erase(position);
      if (state.connections.empty()) state.all_gone.Set();
    }
  };
  Connection connection(context, std::move(channel), rules, *seat);
  const Registration registration{*this, connections.insert(connections.end(), &connection)};
  all_gone.Reset();
  co_await connection.Run();
}

void Server::State::EndIdle() {
  idle_over = true;
  for (Connection* connection : connections) connection->Stop();
}

asio::awaitable<void> Server::State::CancelTheRest(std::chrono::milliseconds idle_wait) {
  if (!idle_over && !connections.empty()) std::ignore = co_await all_gone.WaitFor(idle_wait);
  if (!idle_over) EndIdle();
  const bool gone = connections.empty() || co_await all_gone.WaitFor(options.stop_wait_max);
  if (gone) co_return;
  for (Connection* connection : connections) connection->Close();
  tasks.Cancel();
}

Server::Server(asio::io_context& loop, const Router& router) : Server(loop, router, Options()) {}

Server::Server(asio::io_context& loop, const Router& router, Options options)
    : state_(std::make_unique<State>(loop, router, std::move(options))) {
  ::signal(SIGPIPE, SIG_IGN);
}

Server::~Server() { Stop(); }

void Server::ListenTcp(ListeningSocket socket, FramingRules rules) {
  std::ignore = state_->Listen(std::move(socket), rules, nullptr);  // only TLS can fail
}

Status Server::ListenTls(ListeningSocket socket, const tls::TlsIdentity& identity, FramingRules rules) {
  return state_->Listen(std::move(socket), rules, &identity);
}

bool Server::Adopt(UniqueFd socket, Peer peer, bool with_tls) {
  if (state_->stopping) return false;
  const auto same = [with_tls](const std::unique_ptr<Listener>& one) {
    return one->tls.has_value() == with_tls;
  };
  const auto listener = std::ranges::find_if(state_->listeners, same);
  if (listener == state_->listeners.end()) return false;
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size) != 0) return false;
  return state_->Take(**listener, std::move(socket), local.ss_family, std::move(peer));
}

Status Server::UseIdentity(const tls::TlsIdentity& identity) {
  for (const std::unique_ptr<Listener>& listener : state_->listeners) {
    if (!listener->tls) continue;
    TY_TRY(asio::ssl::context tls, state_->MakeTls(identity));
    listener->tls = std::move(tls);  // each connection keeps the context that it was made with
  }
  return {};
}

Status Server::ListenUnix(const std::filesystem::path& path, FramingRules rules) {
  TY_TRY(ListeningSocket socket, ListenOnUnix(path));
  return state_->Listen(std::move(socket), rules, nullptr, path);
}

Status Server::ListenUnixTls(const std::filesystem::path& path, const tls::TlsIdentity& identity,
                             FramingRules rules) {
  TY_TRY(ListeningSocket socket, ListenOnUnix(path));
  return state_->Listen(std::move(socket), rules, &identity, path);
}

void Server::Stop(std::chrono::milliseconds idle_wait) {
  if (std::exchange(state_->stopping, true)) return;
  for (const auto& listener : state_->listeners) {
    std::error_code ignored;
    if (!listener->unix_path.empty()) std::filesystem::remove(listener->unix_path, ignored);
    listener->descriptor.close();
  }
  if (idle_wait.count() == 0) {
    state_->EndIdle();
  } else {
    for (Connection* connection : state_->connections)
      if (!connection->IsWaiting()) connection->Stop();
  }
  state_->tasks.Spawn(state_->CancelTheRest(idle_wait));
}

std::size_t Server::connection_count() const noexcept { return state_->connections.size(); }

}  // namespace trainyard::http

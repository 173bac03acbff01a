#include "engine/remote/agents_listener.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <sstream>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/name_lookup.h"
#include "net/http/deadline.h"
#include "net/http/transport.h"

namespace trainyard::engine {

namespace {

/// Any port will do: nothing is sent to it.
constexpr std::uint16_t kPortOfNobody = 9;

/// The local address of a datagram socket that is connected to `towards`: the kernel chooses it by the route.
std::string OwnAddress(const boost::asio::ip::address& towards) {
  using boost::asio::ip::udp;
  boost::asio::io_context loop;
  udp::socket socket(loop);
  boost::system::error_code failed;
  socket.connect(udp::endpoint(towards, kPortOfNobody), failed);
  if (failed) return {};
  const udp::endpoint own = socket.local_endpoint(failed);
  return failed ? "" : own.address().to_string();
}

Result<std::string> FindHost(const std::string& kept, const std::vector<std::string>& hosts) {
  if (std::string found = OwnAddressTowards(hosts); !found.empty()) return found;
  if (!kept.empty()) return kept;
  return std::unexpected(
      FailedPrecondition("the address at which the cluster's nodes reach this server is not known: set it "
                         "with --agent-listen HOST:PORT"));
}

/// "HOST PORT" of the previous server.
struct FormerAddress {
  std::string host;
  std::uint16_t port = 0;
};

FormerAddress ReadKept(const std::string& file) {
  FormerAddress kept;
  std::istringstream text(ReadFile(file).value_or(""));
  text >> kept.host >> kept.port;
  return kept;
}

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);
/// How long a connection may take to send its first bytes and to prove what it is.
constexpr std::chrono::seconds kFirstBytesMax{10};
constexpr std::chrono::seconds kProgramMax{120};
constexpr std::chrono::milliseconds kAcceptRetry{100};
constexpr std::size_t kHeadBytesMax = 2048;
constexpr unsigned char kTlsHandshake = 0x16;  // RFC 8446 section 5.1

std::unique_ptr<http::Deadline> CloseAfter(tcp::socket& socket, std::chrono::seconds wait_max) {
  auto deadline = std::make_unique<http::Deadline>(socket.get_executor(), [&socket] {
    boost::system::error_code ignored;
    socket.close(ignored);
  });
  deadline->Set(wait_max);
  return deadline;
}

}  // namespace

std::string OwnAddressTowards(const std::vector<std::string>& hosts) {
  for (const std::string& host : hosts) {
    const auto found = HostAddresses(host);
    if (!found) continue;
    for (const boost::asio::ip::address& one : *found)
      if (std::string own = OwnAddress(one); !own.empty()) return own;
  }
  return {};
}

Result<AgentsAddress> ListenForAgents(const EngineOptions& options, const std::string& kept_in,
                                      const std::vector<std::string>& hosts) {
  const FormerAddress kept = ReadKept(kept_in);
  AgentsAddress address{.host = options.agent_host};
  if (address.host.empty()) {
    TY_TRY(address.host, FindHost(kept.host, hosts));
  }
  const std::uint16_t wanted = options.agent_port != 0 ? options.agent_port : kept.port;
  Result<http::ListeningSocket> socket = http::ListenOnTcp(address.host, wanted);
  if (!socket && options.agent_port == 0) socket = http::ListenOnTcp(address.host, 0);
  if (!socket)
    return std::unexpected(Error{socket.error().code, "--agent-listen: " + socket.error().message, {}});
  address.socket = *std::move(socket);
  TY_RETURN_IF_ERROR(
      WriteFileAtomically(kept_in, address.host + " " + std::to_string(address.socket.port) + "\n"));
  address.port = options.agent_address_port != 0 ? options.agent_address_port : address.socket.port;
  if (!options.agent_address.empty()) address.host = options.agent_address;
  return address;
}

Result<std::unique_ptr<AgentsListener>> AgentsListener::Open(asio::io_context& loop,
                                                             http::ListeningSocket socket,
                                                             const tls::TlsIdentity& identity,
                                                             const AgentDesk& desk, AgentProgram program,
                                                             http::ConnectionBudget& budget) {
  TY_TRY(asio::ssl::context tls, http::MakeServerTls(identity));
  std::unique_ptr<AgentsListener> listener(
      new AgentsListener(loop, std::move(socket), std::move(tls), desk, std::move(program), budget));
  listener->tasks_.Spawn(listener->Accept());
  return listener;
}

AgentsListener::AgentsListener(asio::io_context& loop, http::ListeningSocket socket, asio::ssl::context tls,
                               const AgentDesk& desk, AgentProgram program, http::ConnectionBudget& budget)
    : loop_(loop),
      acceptor_(loop),
      tls_(std::move(tls)),
      desk_(desk),
      program_(std::move(program)),
      budget_(budget),
      tasks_(loop.get_executor()) {
  sockaddr_storage local{};
  socklen_t size = sizeof(local);
  ::getsockname(socket.descriptor.get(), reinterpret_cast<sockaddr*>(&local), &size);
  acceptor_.assign(local.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), socket.descriptor.Release());
}

void AgentsListener::Stop() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  tasks_.Cancel();
}

asio::awaitable<void> AgentsListener::Accept() {
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kQuiet);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      const bool lacks_descriptors = error.value() == EMFILE || error.value() == ENFILE;
      if (lacks_descriptors && budget_.CloseOne()) continue;
      Diagnose(DiagnosticLevel::kWarning, "agents: accept: " + error.message());
      asio::steady_timer retry(loop_, kAcceptRetry);
      co_await retry.async_wait(kQuiet);
      continue;
    }
    Accepted(std::move(socket));
  }
}

/// An agent whose connection is closed here reconnects.
void AgentsListener::Accepted(tcp::socket socket) {
  const http::PeerKey peer = http::PeerKeyOf(http::PeerOf(socket.native_handle()));
  std::shared_ptr<void> unproven = CountUnproven(peer);
  if (!unproven || !budget_.MakeRoom(peer)) return;
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  tasks_.Spawn(Serve(std::move(socket), peer, std::move(unproven)));
}

std::shared_ptr<void> AgentsListener::CountUnproven(const http::PeerKey& peer) {
  std::size_t& count = unproven_[peer];
  if (count >= kUnprovenPerAddressMax) return nullptr;
  ++count;
  return {&count, [this, peer](std::size_t* counted) {
            if (--*counted == 0) unproven_.erase(peer);
          }};
}

asio::awaitable<void> AgentsListener::Serve(tcp::socket socket, http::PeerKey peer,
                                            std::shared_ptr<void> unproven) {
  boost::system::error_code ignored;
  const asio::ip::address from = socket.remote_endpoint(ignored).address();
  std::unique_ptr<http::Transport> transport = co_await Prove(std::move(socket), peer);
  if (!transport) co_return;
  AgentConnection connection{.transport = std::move(transport),
                             .from = from,
                             .budget = &budget_,
                             .peer = peer,
                             .unproven = std::move(unproven)};
  co_await ServeAgent(loop_.get_executor(), std::move(connection), desk_);
}

asio::awaitable<std::unique_ptr<http::Transport>> AgentsListener::Prove(tcp::socket socket,
                                                                        http::PeerKey peer) {
  std::unique_ptr<http::Transport> transport;
  const auto close = [&socket, &transport] {
    boost::system::error_code ignored;
    if (transport) return transport->Close();
    socket.close(ignored);
  };
  const std::unique_ptr<http::ConnectionSeat> seat = budget_.Take(peer, close);
  unsigned char first = 0;
  {
    const auto deadline = CloseAfter(socket, kFirstBytesMax);
    const auto [error] = co_await socket.async_wait(tcp::socket::wait_read, kQuiet);
    if (error || ::recv(socket.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT) != 1) co_return nullptr;
  }
  if (first != kTlsHandshake) {
    co_await SendProgram(socket);
    co_return nullptr;
  }
  transport = http::MakeTlsTransport(std::move(socket), tls_);
  http::Deadline deadline(loop_.get_executor(), close);
  deadline.Set(kFirstBytesMax);
  const Status done = co_await transport->Handshake();
  deadline.Clear();
  co_return done ? std::move(transport) : nullptr;
}

/// "GET /agent/SHA256 HTTP/1.0", and nothing else.
asio::awaitable<void> AgentsListener::SendProgram(tcp::socket& socket) {
  const auto deadline = CloseAfter(socket, kProgramMax);
  std::string head;
  const auto [error, size] =
      co_await asio::async_read_until(socket, asio::dynamic_buffer(head, kHeadBytesMax), "\r\n\r\n", kQuiet);
  if (error) co_return;
  const off_t bytes = ::lseek(program_.file.get(), 0, SEEK_END);
  const bool is_found = bytes > 0 && head.starts_with("GET /agent/" + program_.sha256 + " ");
  const std::string answer =
      is_found ? "HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " +
                     std::to_string(bytes) + "\r\nConnection: close\r\n\r\n"
               : "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  const auto [failed, written] = co_await asio::async_write(socket, asio::buffer(answer), kQuiet);
  if (failed || !is_found) co_return;
  socket.native_non_blocking(true);
  off_t offset = 0;
  while (offset < bytes) {
    const ssize_t sent = ::sendfile(socket.native_handle(), program_.file.get(), &offset,
                                    static_cast<std::size_t>(bytes - offset));
    if (sent == 0 || (sent < 0 && errno != EAGAIN && errno != EINTR)) co_return;
    const auto [unready] = co_await socket.async_wait(tcp::socket::wait_write, kQuiet);
    if (unready) co_return;
  }
  boost::system::error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

}  // namespace trainyard::engine

#include "server/cluster/outside_door.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <tuple>
#include <utility>

#include "async/diagnostics.h"
#include "async/unique_fd.h"
#include "http/deadline.h"
#include "mux/pump.h"

namespace trainyard::server {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kQuiet = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kHeadBytesMax = 4096;
constexpr std::chrono::seconds kHeadWaitMax{10};
constexpr std::chrono::seconds kConnectMax{20};
constexpr std::string_view kHeadEnd = "\r\n\r\n";

/// Up to its end; what follows it belongs to the other side, and nobody sends it before the answer.
asio::awaitable<std::string> ReadHead(mux::Stream& stream) {
  std::string head;
  std::array<char, 1024> buffer{};
  while (!head.contains(kHeadEnd) && head.size() < kHeadBytesMax) {
    const Result<std::size_t> read = co_await stream.Read(buffer);
    if (!read || *read == 0) break;
    head.append(buffer.data(), *read);
  }
  co_return head;
}

/// Nothing: none of the target's addresses answers, or may be asked.
asio::awaitable<std::optional<tcp::socket>> Connect(OutsideTarget target) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  tcp::resolver resolver(loop);
  const auto [unknown, found] = co_await resolver.async_resolve(target.host, target.port, kQuiet);
  if (unknown) co_return std::nullopt;
  for (const auto& entry : found) {
    if (!IsOutside(entry.endpoint().address())) continue;
    tcp::socket socket(loop);
    http::Deadline deadline(loop, [&socket] {
      boost::system::error_code ignored;
      socket.close(ignored);
    });
    deadline.Set(kConnectMax);
    const auto [refused] = co_await socket.async_connect(entry.endpoint(), kQuiet);
    deadline.Clear();
    if (!refused) co_return std::move(socket);
  }
  co_return std::nullopt;
}

}  // namespace

std::optional<OutsideTarget> ParseConnect(std::string_view head) {
  constexpr std::string_view kMethod = "CONNECT ";
  if (!head.starts_with(kMethod) || !head.contains(kHeadEnd)) return std::nullopt;
  std::string_view authority = head.substr(kMethod.size());
  authority = authority.substr(0, authority.find(' '));
  if (!head.substr(kMethod.size() + authority.size()).starts_with(" HTTP/1.")) return std::nullopt;
  const std::size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  OutsideTarget target{.host = std::string(authority.substr(0, colon)),
                       .port = std::string(authority.substr(colon + 1))};
  if (target.host.starts_with('[') && target.host.ends_with(']'))
    target.host = target.host.substr(1, target.host.size() - 2);
  const bool is_port = !target.port.empty() && target.port.size() <= 5 &&
                       target.port.find_first_not_of("0123456789") == std::string::npos;
  const bool is_host =
      !target.host.empty() && target.host.size() <= 253 &&
      target.host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:_") ==
          std::string::npos;
  return is_port && is_host ? std::optional(std::move(target)) : std::nullopt;
}

bool IsOutside(const asio::ip::address& address) {
  asio::ip::address plain = address;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    plain = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  if (plain.is_unspecified() || plain.is_loopback() || plain.is_multicast()) return false;
  if (plain.is_v6() && plain.to_v6().is_link_local()) return false;
  if (plain.is_v4() && (plain.to_v4().to_uint() >> 16) == 0xA9FE) return false;  // 169.254.0.0/16, RFC 3927
  asio::io_context unused;
  tcp::acceptor own(unused);
  boost::system::error_code error;
  own.open(plain.is_v4() ? tcp::v4() : tcp::v6(), error);
  if (!error) own.bind({plain, 0}, error);
  return static_cast<bool>(error);  // an address that can be bound is this machine's
}

asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  http::Deadline deadline(loop, [&stream] { stream->Reset(); });
  deadline.Set(kHeadWaitMax);
  const std::string head = co_await ReadHead(*stream);
  deadline.Clear();
  std::optional<OutsideTarget> target = ParseConnect(head);
  if (!target) co_return stream->Reset();
  const std::string place = target->host + ":" + target->port;
  std::optional<tcp::socket> socket = co_await Connect(*std::move(target));
  if (!socket) {
    Diagnose(DiagnosticLevel::kWarning, "a build on a node asked for " + place + ", which cannot be reached");
    std::ignore = co_await stream->Write("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    stream->CloseWrite();
    co_return;
  }
  Diagnose(DiagnosticLevel::kDebug, "a build on a node fetches from " + place);
  const Status answered = co_await stream->Write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (!answered) co_return;
  socket->non_blocking(true);
  UniqueFd descriptor(socket->release());
  co_await mux::Pump(std::move(stream), std::move(descriptor));
}

}  // namespace trainyard::server

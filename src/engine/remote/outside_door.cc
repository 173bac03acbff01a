#include "engine/remote/outside_door.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "base/async/diagnostics.h"
#include "base/async/unique_fd.h"
#include "base/number.h"
#include "net/http/deadline.h"
#include "net/mux/pump.h"
#include "net/sockets/outside_address.h"
#include "programs/image/reference.h"

namespace trainyard::engine {

namespace {

constexpr std::array<std::string_view, 8> kUrlSettings{
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS",     "UV_DEFAULT_INDEX",
    "UV_INDEX",      "UV_INDEX_URL",        "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"};
constexpr std::string_view kHosts = "PIP_TRUSTED_HOST";
constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";

/// "HOST", "HOST:PORT", "USER@HOST", "[ADDRESS]:PORT".
void Add(std::string_view authority, std::string_view usual_port, NamedTargets& targets) {
  authority = authority.substr(0, authority.find_first_of("/?#"));
  authority.remove_prefix(authority.rfind('@') == std::string_view::npos ? 0 : authority.rfind('@') + 1);
  std::string target = ToLower(authority);
  if (target.empty()) return;
  const std::size_t end = target.starts_with('[') ? target.find(']') : 0;
  if (end == std::string::npos) return;
  if (target.find(':', end) == std::string::npos) target += ":" + std::string(usual_port);
  if (end > 0) target = target.substr(1, end - 1) + target.substr(end + 1);
  targets.insert(std::move(target));
}

template <class Use>
void ForEachWord(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n,"), text.size());
    if (end > 0) use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void AddUrl(std::string_view word, NamedTargets& targets) {
  const std::size_t scheme = word.find("://");
  // uv's indexes may have names: "internal=https://..."
  if (const std::size_t name = word.find('='); name < scheme) word.remove_prefix(name + 1);
  if (word.starts_with(kHttps)) Add(word.substr(kHttps.size()), "443", targets);
  if (word.starts_with(kHttp)) Add(word.substr(kHttp.size()), "80", targets);
}

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t kProxyHeadBytesMax = 4096;
constexpr std::chrono::seconds kHeadWaitMax{10};
constexpr std::chrono::seconds kConnectMax{20};
constexpr std::string_view kHeadEnd = "\r\n\r\n";

/// Reads the request's head. The bytes after it are for the target; clients do not send them before the
/// answer.
asio::awaitable<std::string> ReadHead(mux::Stream& stream) {
  std::string head;
  std::array<char, 1024> buffer{};
  while (!head.contains(kHeadEnd) && head.size() < kProxyHeadBytesMax) {
    const Result<std::size_t> read = co_await stream.Read(buffer);
    if (!read || *read == 0) break;
    head.append(buffer.data(), *read);
  }
  co_return head;
}

asio::awaitable<void> Refuse(mux::Stream& stream, std::string status) {
  const std::string answer = "HTTP/1.1 " + status + "\r\n\r\n";
  std::ignore = co_await stream.Write(answer);
  stream.CloseWrite();
}

std::string PlaceOf(const OutsideTarget& target) { return ToLower(target.host) + ":" + target.port; }

/// kPermissionDenied: none of the target's addresses is allowed; kUnavailable: none answers. It connects to
/// the very address that was checked.
asio::awaitable<Result<tcp::socket>> Connect(OutsideTarget target, bool is_named, NameLookup& names) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  const std::optional<std::uint16_t> port = WholeNumber<std::uint16_t>(target.port);
  if (!port) co_return std::unexpected(Unavailable("there is no such port"));
  TY_CO_TRY(const std::vector<asio::ip::address> found, co_await names.Find(target.host));
  Error reason = Unavailable("it has no address");
  for (const asio::ip::address& address : found) {
    if (!is_named && !sockets::IsOutside(address)) {
      reason = {
          Code::kPermissionDenied,
          address.to_string() +
              " is on this machine or on a private network. If it is the site's package index, name it in "
              "the pip configuration of the server; a registry in --image-map",
          {}};
      continue;
    }
    tcp::socket socket(loop);
    http::Deadline deadline(loop, [&socket] {
      boost::system::error_code ignored;
      socket.close(ignored);
    });
    deadline.Set(kConnectMax);
    const auto [refused] = co_await socket.async_connect(tcp::endpoint(address, *port), kAsTuple);
    deadline.Clear();
    if (!refused) co_return std::move(socket);
    reason = Unavailable(address.to_string() + ": " + refused.message());
  }
  co_return std::unexpected(std::move(reason));
}

}  // namespace

NamedTargets FindNamedTargets(const std::map<std::string, std::optional<std::string>>& tool_variables,
                              const std::vector<std::pair<std::string, std::string>>& image_map) {
  NamedTargets targets{"pypi.org:443", "files.pythonhosted.org:443"};
  for (const auto& [name, value] : tool_variables) {
    if (!value) continue;
    if (std::ranges::find(kUrlSettings, name) != kUrlSettings.end())
      ForEachWord(*value, [&targets](std::string_view word) { AddUrl(word, targets); });
    if (name == kHosts) ForEachWord(*value, [&targets](std::string_view word) { Add(word, "443", targets); });
  }
  for (const auto& [pattern, reference] : image_map) {
    const auto parsed = image::ParseReference(reference);
    if (parsed && parsed->IsRegistry()) Add(parsed->Registry(), "443", targets);
  }
  return targets;
}

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

asio::awaitable<void> ServeOutside(std::shared_ptr<mux::Stream> stream, const NamedTargets& named,
                                   NameLookup& names, http::ConnectionBudget& connections) {
  const asio::any_io_executor loop = co_await asio::this_coro::executor;
  const bool has_room = connections.MakeRoom({});
  if (!has_room) co_return co_await Refuse(*stream, "503 Service Unavailable");
  const std::unique_ptr<http::ConnectionSeat> seat = connections.Take({}, [&stream] { stream->Reset(); });
  http::Deadline deadline(loop, [&stream] { stream->Reset(); });
  deadline.Set(kHeadWaitMax);
  const std::string head = co_await ReadHead(*stream);
  deadline.Clear();
  std::optional<OutsideTarget> target = ParseConnect(head);
  if (!target) co_return stream->Reset();
  const std::string place = PlaceOf(*target);
  Result<tcp::socket> socket = co_await Connect(*std::move(target), named.contains(place), names);
  if (!socket) {
    Diagnose(DiagnosticLevel::kWarning,
             "a build on a node asked for " + place +
                 ", to which the server does not connect: " + socket.error().message);
    const bool is_refused = socket.error().code == Code::kPermissionDenied;
    co_return co_await Refuse(*stream, is_refused ? "403 Forbidden" : "502 Bad Gateway");
  }
  Diagnose(DiagnosticLevel::kDebug, "a build on a node downloads from " + place);
  const Status answered = co_await stream->Write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (!answered) co_return;
  seat->SetPhase(http::ConnectionPhase::kStream);
  socket->non_blocking(true);
  UniqueFd descriptor(socket->release());
  co_await mux::Pump(stream, std::move(descriptor));
}

}  // namespace trainyard::engine

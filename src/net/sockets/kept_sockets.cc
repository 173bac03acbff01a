#include "net/sockets/kept_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/unix_socket.h"
#include "base/systemd/notify_socket.h"

namespace trainyard::sockets {

namespace {

struct Address {
  std::string host;  ///< numeric, as the kernel prints it
  std::uint16_t port = 0;
  friend bool operator==(const Address&, const Address&) = default;
};

/// "127.0.0.1" for localhost and "::1" for "0:0::1": as in AddressOf.
std::string Canonical(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  in6_addr v6{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_pton(AF_INET6, host.c_str(), &v6) != 1) return host;
  return ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
}

/// The address of a listening TCP socket; nullopt: it is not one.
std::optional<Address> AddressOf(int descriptor) {
  int listens = 0;
  socklen_t listens_size = sizeof(listens);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) != 0 || listens == 0)
    return std::nullopt;
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bound.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(bound);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return Address{.host = text.data(), .port = ntohs(v4.sin_port)};
  }
  if (bound.ss_family != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(bound);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return Address{.host = text.data(), .port = ntohs(v6.sin6_port)};
}

/// Names in the descriptor store must not contain a colon.
std::string NameOf(const Address& address) {
  std::string name = "tcp-" + address.host + "-" + std::to_string(address.port);
  std::ranges::replace(name, ':', '_');
  return name;
}

/// The data directory has one server, and so a file's name is enough.
std::string NameOf(const std::filesystem::path& path) { return "unix-" + path.filename().string(); }

void Tell(const std::string& state, std::span<const int> descriptors = {}) {
  if (const Status told = systemd::Notify(state, descriptors); !told)
    Diagnose(DiagnosticLevel::kWarning,
             "listening sockets may not survive a restart: " + told.error().message);
}

}  // namespace

KeptSockets KeptSockets::Take() { return {systemd::IsNotified(), systemd::TakeKeptDescriptors()}; }

void KeptSockets::Give(const std::string& name, int descriptor) {
  if (keeps_ && given_.insert(name).second) Tell(systemd::NotifyStore(name), std::array{descriptor});
}

void KeptSockets::Keep(const http::ListeningSocket& socket) {
  if (const std::optional<Address> address = AddressOf(socket.descriptor.get()))
    Give(NameOf(*address), socket.descriptor.get());
}

void KeptSockets::Close(const systemd::KeptDescriptor& kept) {
  // The manager's copy is closed when it has read the message; this frees the address now.
  std::ignore = ::shutdown(kept.descriptor.get(), SHUT_RDWR);
  if (keeps_) Tell("FDSTOREREMOVE=1\nFDNAME=" + kept.name);
}

bool KeptSockets::ClosePort(std::uint16_t port) {
  return std::erase_if(waiting_, [&](const systemd::KeptDescriptor& kept) {
           const std::optional<Address> address = AddressOf(kept.descriptor.get());
           const bool is_in_the_way = port != 0 && address && address->port == port;
           if (is_in_the_way) Close(kept);
           return is_in_the_way;
         }) > 0;
}

void KeptSockets::CloseTheRest() {
  for (const systemd::KeptDescriptor& kept : std::exchange(waiting_, {})) Close(kept);
}

Result<http::ListeningSocket> KeptSockets::ListenOnTcp(const std::string& host, std::uint16_t port) {
  const Address wanted{.host = Canonical(host), .port = port};
  const auto kept = std::ranges::find_if(waiting_, [&wanted](const systemd::KeptDescriptor& one) {
    return AddressOf(one.descriptor.get()) == wanted;
  });
  if (kept != waiting_.end()) {
    http::ListeningSocket socket{.descriptor = std::move(kept->descriptor), .port = port};
    given_.insert(kept->name);
    waiting_.erase(kept);
    return socket;
  }
  Result<http::ListeningSocket> made = http::ListenOnTcp(host, port);
  const bool in_use = !made && made.error().code == Code::kAlreadyExists;
  return in_use && ClosePort(port) ? http::ListenOnTcp(host, port) : std::move(made);
}

Result<http::ListeningSocket> KeptSockets::ListenOnFirst(const std::string& host,
                                                         const std::vector<std::uint16_t>& ports) {
  for (std::size_t i = 0; i + 1 < ports.size(); ++i) {
    if (ports[i] == 0) continue;
    if (Result<http::ListeningSocket> socket = ListenOnTcp(host, ports[i])) return socket;
  }
  return ListenOnTcp(host, ports.back());
}

Result<http::ListeningSocket> KeptSockets::ListenOnUnix(const std::filesystem::path& path) {
  const std::string name = NameOf(path);
  const auto kept = std::ranges::find(waiting_, name, &systemd::KeptDescriptor::name);
  if (kept != waiting_.end()) {
    systemd::KeptDescriptor found = std::move(*kept);
    waiting_.erase(kept);
    // Only this server has sockets below its data directory, so if a connection succeeds it is the kept one.
    // If the file was removed, the connection fails.
    if (ConnectUnix(path, SOCK_NONBLOCK)) {
      given_.insert(name);
      return http::ListeningSocket{.descriptor = std::move(found.descriptor), .port = 0};
    }
    Close(found);
  }
  TY_TRY(http::ListeningSocket made, http::ListenOnUnix(path));
  Give(name, made.descriptor.get());
  return made;
}

}  // namespace trainyard::sockets

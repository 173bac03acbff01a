#include "net/sockets/listen_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <optional>

#include "base/ascii.h"

namespace trainyard::sockets {

namespace {

std::optional<boost::asio::ip::address> AddressOf(const std::string& host) {
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(host, error);
  if (error) return std::nullopt;
  return address;
}

}  // namespace

bool IsLoopback(const std::string& host) {
  const auto address = AddressOf(host);
  return host == "localhost" || (address && address->is_loopback());
}

bool IsWildcard(const std::string& host) {
  const auto address = AddressOf(host);
  return address && address->is_unspecified();
}

Status CheckListenAddress(const std::string& host, bool auth) {
  if (host != "localhost" && !AddressOf(host))
    return std::unexpected(InvalidArgument("--listen", "'" + host + "' is not an IP address or localhost"));
  if (auth || IsLoopback(host)) return {};
  return std::unexpected(FailedPrecondition(
      "refusing to listen on " + host +
      " without authentication: anyone who can reach this server could run programs as its user. Start it "
      "with --auth on, or listen on 127.0.0.1 and give others access through an SSH tunnel"));
}

std::vector<std::string> MachineNames() {
  std::vector<std::string> names;
  std::array<char, HOST_NAME_MAX + 1> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0') names.emplace_back(host.data());
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return names;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    const int family = each->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes =
        family == AF_INET
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr)
            : &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
    if (::inet_ntop(family, bytes, text.data(), text.size()) != nullptr) names.emplace_back(text.data());
  }
  ::freeifaddrs(list);
  return names;
}

std::vector<std::string> OwnNames(const std::string& host, const std::vector<std::string>& host_names) {
  std::vector<std::string> names = IsWildcard(host) ? MachineNames() : std::vector<std::string>{host};
  names.insert(names.end(), host_names.begin(), host_names.end());
  for (std::string& name : names) name = ToLower(name);
  return names;
}

std::vector<std::string> OwnUrls(const std::vector<std::string>& names, OwnPorts ports) {
  std::vector<std::string> urls;
  for (const char* local : {"localhost", "127.0.0.1", "::1", "*.localhost"}) {
    for (const std::uint16_t port : ports.plain) urls.push_back(Url("http", local, port));
    urls.push_back(Url("https", local, ports.tls));
  }
  for (const std::string& name : names) {
    const std::string url = Url("https", name, ports.tls);
    urls.push_back(url);
    // A proxy may serve 443 for us under one of our names; on loopback that port belongs to another server.
    if (ports.tls == 443 || !IsLoopback(name)) urls.push_back(url.substr(0, url.rfind(':')));
  }
  return urls;
}

std::string LocalHost(const std::string& host) { return IsLoopback(host) ? host : "127.0.0.1"; }

std::string PublicName(const std::string& host, const std::vector<std::string>& host_names) {
  if (!host_names.empty()) return host_names.front();
  if (!IsWildcard(host)) return host;
  const std::vector<std::string> names = MachineNames();
  return names.empty() ? host : names.front();
}

std::string Url(const char* scheme, const std::string& host, std::uint16_t port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return std::string(scheme) + "://" + (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::uint16_t PortBehind(std::uint16_t port, std::uint16_t distance) {
  const int behind = port + distance;
  return behind > 65'535 ? 0 : static_cast<std::uint16_t>(behind);
}

}  // namespace trainyard::sockets

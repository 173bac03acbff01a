#include "programs/sandbox/network/connect_guard.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/asio/ip/address.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/async/name_lookup.h"
#include "base/number.h"
#include "base/wire/host_name.h"
#include "programs/sandbox/namespaces/led_command.h"

namespace trainyard::replica {

namespace {

constexpr int kNoGuard = 125;
constexpr std::array<std::uint16_t, 2> kRegistryPorts{80, 443};
constexpr std::array<const char*, 6> kProxyVariables{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
                                                     "http_proxy",  "ALL_PROXY",   "all_proxy"};

in6_addr Mapped(const in_addr& address) {
  in6_addr mapped{};
  mapped.s6_addr[10] = mapped.s6_addr[11] = 0xff;
  std::memcpy(&mapped.s6_addr[12], &address, sizeof(address));
  return mapped;
}

in6_addr Mapped(const asio::ip::address& address) {
  const asio::ip::address_v6 v6 =
      address.is_v6() ? address.to_v6() : asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4());
  return std::bit_cast<in6_addr>(v6.to_bytes());
}

bool IsSame(const in6_addr& one, const in6_addr& other) {
  return std::memcmp(&one, &other, sizeof(one)) == 0;
}

/// Nothing for another family.
std::optional<ConnectPlace> PlaceOf(std::span<const std::byte> bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes.size() < sizeof(family)) return std::nullopt;
  std::memcpy(&family, bytes.data(), sizeof(family));
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (family == AF_INET && bytes.size() >= sizeof(v4)) {
    std::memcpy(&v4, bytes.data(), sizeof(v4));
    return ConnectPlace{Mapped(v4.sin_addr), ntohs(v4.sin_port)};
  }
  if (family != AF_INET6 || bytes.size() < sizeof(v6)) return std::nullopt;
  std::memcpy(&v6, bytes.data(), sizeof(v6));
  return ConnectPlace{v6.sin6_addr, ntohs(v6.sin6_port)};
}

std::optional<ConnectPlace> PlaceOf(const sockaddr* address) {
  if (address == nullptr || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
    return std::nullopt;
  const std::size_t size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  return PlaceOf(std::as_bytes(std::span(reinterpret_cast<const char*>(address), size)));
}

/// The port after the host; 0: there is none.
std::uint16_t PortOf(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  const std::size_t bracket = name.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && bracket > colon)) return 0;
  return LeadingNumber<std::uint16_t>(name.substr(colon + 1)).value_or(0);
}

void Allow(ConnectRule& rule, const std::string& name) {
  const std::optional<std::string> host = wire::HostNameOf(name);
  if (!host) return;
  const auto found = HostAddresses(*host);
  if (!found) return;
  const std::uint16_t named = PortOf(name);
  for (const asio::ip::address& address : *found)
    for (const std::uint16_t port : kRegistryPorts)
      rule.allowed.push_back({.address = Mapped(address), .port = named != 0 ? named : port});
}

/// Allows the operator's proxy, "http://user@host:3128/", which itself decides where it connects.
void AllowProxy(ConnectRule& rule, std::string_view text) {
  if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos)
    text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find('/'));
  if (const std::size_t user = text.rfind('@'); user != std::string_view::npos) text.remove_prefix(user + 1);
  if (!text.empty()) Allow(rule, std::string(text));
}

}  // namespace

bool IsRefused(const ConnectRule& rule, std::span<const std::byte> address) {
  if (address.empty()) return true;
  const std::optional<ConnectPlace> place = PlaceOf(address);
  if (!place) return false;
  const auto is_allowed = [&](const ConnectPlace& one) {
    return one.port == place->port && IsSame(one.address, place->address);
  };
  if (std::ranges::any_of(rule.allowed, is_allowed)) return false;
  const wire::AddressKind kind = wire::KindOfAddress(place->address.s6_addr);
  const bool is_far = kind == wire::AddressKind::kOutside || kind == wire::AddressKind::kPrivate;
  const auto is_it = [&](const in6_addr& own) { return IsSame(own, place->address); };
  return !is_far || std::ranges::any_of(rule.own, is_it);
}

ConnectRule MakeConnectRule(const std::vector<std::string>& names) {
  ConnectRule rule;
  for (const std::string& name : names) Allow(rule, name);
  for (const char* variable : kProxyVariables)
    if (const char* proxy = std::getenv(variable); proxy != nullptr) AllowProxy(rule, proxy);
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return rule;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(found, freeifaddrs);
  for (const ifaddrs* each = found; each != nullptr; each = each->ifa_next)
    if (const auto place = PlaceOf(each->ifa_addr)) rule.own.push_back(place->address);
  return rule;
}

int RunConnectGuard(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto end = std::ranges::find(words, "--");
  if (end == words.end() || end + 1 == words.end()) return kNoGuard;
  LedCommand command{.argv = {end + 1, words.end()},
                     .environment = {},
                     .doors = {},
                     .refuses = [rule = MakeConnectRule({words.begin(), end})](
                                    std::span<const std::byte> address) { return IsRefused(rule, address); },
                     .gains_nothing = true};
  for (char** variable = environ; *variable != nullptr; ++variable)
    command.environment.emplace_back(*variable);
  const Result<int> status = RunLedCommand(std::move(command));
  if (status) return *status;
  std::fprintf(stderr, "trainyard: connections cannot be watched on this machine: %s\n",
               status.error().message.c_str());
  return kNoGuard;
}

}  // namespace trainyard::replica

#include "engine/slurm/node_place.h"

#include <netdb.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

namespace trainyard::engine {

namespace {

namespace ip = boost::asio::ip;

/// Normalizes the address: an IPv4-mapped one becomes IPv4, and the scope id is removed.
ip::address Plain(const ip::address& address) {
  if (!address.is_v6()) return address;
  const ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6);
  return ip::address_v6(v6.to_bytes());
}

}  // namespace

std::vector<ip::address> AddressesOf(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  std::vector<ip::address> addresses;
  for (const addrinfo* one = all.get(); one != nullptr; one = one->ai_next) {
    ip::tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::copy_n(reinterpret_cast<const char*>(one->ai_addr), one->ai_addrlen,
                reinterpret_cast<char*>(endpoint.data()));
    addresses.push_back(Plain(endpoint.address()));
  }
  return addresses;
}

bool IsPlaceOf(std::span<const ip::address> node, const ip::address& from,
               const std::function<bool(const ip::address&)>& is_own) {
  const ip::address plain = Plain(from);
  if (std::ranges::find(node, plain) != node.end()) return true;
  return std::ranges::any_of(node, is_own) && is_own(plain);
}

}  // namespace trainyard::engine

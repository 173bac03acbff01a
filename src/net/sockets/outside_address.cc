#include "net/sockets/outside_address.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/wire/host_name.h"
#include "net/http/listening_socket.h"

namespace trainyard::sockets {

namespace {

namespace ip = boost::asio::ip;

template <std::size_t kSize>
struct Network {
  std::array<std::uint8_t, kSize> first;
  int bits;
};
using Network4 = Network<4>;
using Network6 = Network<16>;

/// Further networks without machines of the internet, which wire::KindOfAddress does not distinguish.
constexpr std::array kNotGlobal4{
    Network4{{192, 0, 0, 0}, 24},    // protocols
    Network4{{192, 88, 99, 0}, 24},  // relays of 6to4
    Network4{{198, 18, 0, 0}, 15},   // benchmarks
};
constexpr Network6 kGlobal6{{0x20}, 3};                  // nothing else is allocated
constexpr Network6 kProtocols6{{0x20, 0x01, 0x00}, 23};  // Teredo among them
constexpr Network6 kNat64{{0x00, 0x64, 0xff, 0x9b}, 96};

template <std::size_t kSize>
bool IsIn(const std::array<std::uint8_t, kSize>& address, const Network<kSize>& network) {
  int bits = network.bits;
  for (std::size_t i = 0; bits > 0; ++i, bits -= 8) {
    const int mask = bits >= 8 ? 0xff : 0xff << (8 - bits) & 0xff;
    if (((address[i] ^ network.first[i]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

ip::address ReachedAddress(const ip::address& address) {
  if (!address.is_v6()) return address;
  const ip::address_v6::bytes_type bytes = address.to_v6().to_bytes();
  if (!IsIn(bytes, kNat64) && !address.to_v6().is_v4_mapped()) return address;
  return ip::address_v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

bool IsGlobal(const ip::address& address) {
  const ip::address reached = ReachedAddress(address);
  if (reached.is_v4()) {
    const ip::address_v4::bytes_type bytes = reached.to_v4().to_bytes();
    const auto holds = [&bytes](const Network4& network) { return IsIn(bytes, network); };
    return wire::KindOfAddress(bytes) == wire::AddressKind::kOutside &&
           std::ranges::none_of(kNotGlobal4, holds);
  }
  const ip::address_v6::bytes_type bytes = reached.to_v6().to_bytes();
  return wire::KindOfAddress(bytes) == wire::AddressKind::kOutside && IsIn(bytes, kGlobal6) &&
         !IsIn(bytes, kProtocols6);
}

bool IsOutside(const ip::address& address) {
  return IsGlobal(address) && !http::IsOwnAddress(ReachedAddress(address));
}

}  // namespace trainyard::sockets

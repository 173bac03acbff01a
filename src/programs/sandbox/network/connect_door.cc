#include "programs/sandbox/network/connect_door.h"

#include <arpa/inet.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "base/wire/host_name.h"
#include "rules/container/system_calls.h"

namespace trainyard::replica {

namespace {

// i386's numbers, from arch/x86/entry/syscalls/syscall_32.tbl and linux/net.h: the headers only have those of
// this architecture.
constexpr std::uint32_t kSocketcall32 = 102;
constexpr std::uint32_t kConnect32 = 362;
constexpr std::uint32_t kConnectOfSocketcall = 3;

/// The last four bytes of ::ffff:a.b.c.d are the address.
constexpr std::size_t kMappedAt = 12;

sock_filter Load(std::size_t offset) {
  return {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
}

sock_filter SkipUnless(std::uint32_t value, std::uint8_t steps) {
  return {BPF_JMP | BPF_JEQ | BPF_K, 0, steps, value};
}

sock_filter Return(std::uint32_t value) { return {BPF_RET | BPF_K, 0, 0, value}; }

template <class Address>
void Write(std::span<std::byte> bytes, const Address& address) {
  std::memcpy(bytes.data(), &address, sizeof(address));
}

std::optional<DoorPlace> BehindDoor(const std::vector<ConnectDoor>& doors, const DoorPlace& wanted) {
  const auto door = std::ranges::find(doors, wanted, &ConnectDoor::from);
  return door == doors.end() ? std::nullopt : std::optional(door->to);
}

bool LeadElsewhere4(const std::vector<ConnectDoor>& doors, std::span<std::byte> bytes) {
  sockaddr_in address{};
  if (bytes.size() < sizeof(address)) return false;
  std::memcpy(&address, bytes.data(), sizeof(address));
  const auto to = BehindDoor(doors, {ntohl(address.sin_addr.s_addr), ntohs(address.sin_port)});
  if (!to) return false;
  address.sin_addr.s_addr = htonl(to->address);
  address.sin_port = htons(to->port);
  Write(bytes, address);
  return true;
}

bool LeadElsewhere6(const std::vector<ConnectDoor>& doors, std::span<std::byte> bytes) {
  sockaddr_in6 address{};
  if (bytes.size() < sizeof(address)) return false;
  std::memcpy(&address, bytes.data(), sizeof(address));
  if (!IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) return false;
  std::uint32_t mapped = 0;
  std::memcpy(&mapped, &address.sin6_addr.s6_addr[kMappedAt], sizeof(mapped));
  const auto to = BehindDoor(doors, {ntohl(mapped), ntohs(address.sin6_port)});
  if (!to) return false;
  mapped = htonl(to->address);
  std::memcpy(&address.sin6_addr.s6_addr[kMappedAt], &mapped, sizeof(mapped));
  address.sin6_port = htons(to->port);
  Write(bytes, address);
  return true;
}

}  // namespace

std::optional<DoorPlace> ParseDoorPlace(const std::string& address, std::uint16_t port) {
  in_addr parsed{};
  if (inet_pton(AF_INET, address.c_str(), &parsed) != 1) return std::nullopt;
  return DoorPlace{ntohl(parsed.s_addr), port};
}

std::vector<ConnectDoor> FrontDoors(const v1::GoogleFront& front) {
  constexpr std::uint16_t kTlsPort = 443;
  constexpr std::uint16_t kPlainPort = 80;
  std::vector<ConnectDoor> doors;
  const auto add = [&](const std::string& address, std::uint16_t port, std::int32_t real_port) {
    const auto from = ParseDoorPlace(address, port);
    const auto to = ParseDoorPlace(front.address(), static_cast<std::uint16_t>(real_port));
    if (from && to && real_port != 0) doors.push_back({*from, *to});
  };
  add(front.address(), kTlsPort, front.tls_port());
  add(front.address(), kPlainPort, front.plain_port());
  add(std::string(wire::kGoogleMetadataAddress), kPlainPort, front.plain_port());
  return doors;
}

bool LeadElsewhere(const std::vector<ConnectDoor>& doors, std::span<std::byte> address) {
  sa_family_t family = AF_UNSPEC;
  if (address.size() < sizeof(family)) return false;
  std::memcpy(&family, address.data(), sizeof(family));
  if (family == AF_INET) return LeadElsewhere4(doors, address);
  return family == AF_INET6 && LeadElsewhere6(doors, address);
}

bool IsSocketcall(std::uint32_t architecture, int number) noexcept {
  return architecture == AUDIT_ARCH_I386 && number == static_cast<int>(kSocketcall32);
}

std::vector<sock_filter> MakeConnectFilter() {
  constexpr std::size_t kNumber = offsetof(seccomp_data, nr);
  std::vector<sock_filter> filter = {Load(offsetof(seccomp_data, arch)),
                                     SkipUnless(container::NativeCalls().architecture, 4),
                                     Load(kNumber),
                                     SkipUnless(SYS_connect, 1),
                                     Return(SECCOMP_RET_USER_NOTIF),
                                     Return(SECCOMP_RET_ALLOW)};
#if defined(__x86_64__)
  const std::vector<sock_filter> other = {
      SkipUnless(AUDIT_ARCH_I386, 7),      Load(kNumber),
      SkipUnless(kConnect32, 1),           Return(SECCOMP_RET_USER_NOTIF),
      SkipUnless(kSocketcall32, 3),        Load(offsetof(seccomp_data, args)),  // the low half: little-endian
      SkipUnless(kConnectOfSocketcall, 1), Return(SECCOMP_RET_USER_NOTIF)};
  filter.insert(filter.end(), other.begin(), other.end());
#endif
  filter.push_back(Return(SECCOMP_RET_ALLOW));
  return filter;
}

}  // namespace trainyard::replica

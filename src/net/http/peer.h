#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::http {

/// One end of a TCP connection; an IPv4 address uses the first four bytes.
struct PeerAddress {
  std::array<std::uint8_t, 16> bytes{};
  std::uint16_t port = 0;
  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

/// The other end of an accepted connection. A value, kept for as long as the connection.
struct Peer {
  enum class Kind : std::uint8_t { kUnknown, kTcp4, kTcp6, kUnix };

  Kind kind = Kind::kUnknown;
  PeerAddress remote;  ///< TCP
  PeerAddress local;   ///< TCP
  /// The account of its process. Unix: known from the beginning (SO_PEERCRED: the account that connected).
  /// TCP: nullopt until ServerOptions::admit has looked it up.
  std::optional<std::uint32_t> uid;
  std::int32_t pid = 0;  ///< Unix: who connected; TCP: a process that was found to have it; 0: not known
  /// The attempt whose program connected, once somebody has looked for it (api/iam/authority.h); empty:
  /// nobody has, or there is none.
  std::string attempt{};
};

/// The peer of a connected socket. Its kind is kUnknown if the kernel does not tell.
[[nodiscard]] Peer PeerOf(int socket) noexcept;

}  // namespace trainyard::http

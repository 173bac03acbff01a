#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Host names in requests and image references. Pure: any thread.

namespace trainyard::wire {

/// The name in "HOST", "HOST:PORT" or "[V6]:PORT", in lower case, without the port, the brackets and a
/// trailing dot. Nullopt if the text has none of these forms. Source: RFC 3986 section 3.2.2.
[[nodiscard]] std::optional<std::string> HostNameOf(std::string_view authority);

/// Whether a name, in lower case, always means this machine: "localhost", "*.localhost" (RFC 6761 section
/// 6.3), an address of 127.0.0.0/8 as four decimal numbers, "::1". "127.evil.example" does not.
[[nodiscard]] bool IsLoopbackName(std::string_view name) noexcept;

/// The metadata server's name inside a replica: Google's own, for programs that ignore GCE_METADATA_HOST.
inline constexpr std::string_view kGoogleMetadataHost = "metadata.google.internal";
/// The short form of that name, which Google's machines resolve too: TensorFlow before 2.5 uses it.
inline constexpr std::string_view kGoogleMetadataShortHost = "metadata";
/// Its address on Google's machines, for programs that do not use a name.
inline constexpr std::string_view kGoogleMetadataAddress = "169.254.169.254";
/// The suffix of the metadata server's name for one replica: "ATTEMPT.MAC.metadata.trainyard".
inline constexpr std::string_view kMetadataSuffix = ".metadata.trainyard";

// Kinds of IP addresses, for rules on where requests on behalf of users may go. Pure: any thread.

enum class AddressKind : std::uint8_t {
  kOutside,    ///< on the internet
  kPrivate,    ///< within a site: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
  kMachine,    ///< only this machine: loopback, the unspecified address
  kLink,       ///< only this link: 169.254/16, fe80::/10
  kMetadata,   ///< metadata servers of clouds, which give credentials to the machine
  kNoMachine,  ///< multicast, broadcast, reserved, 64:ff9b:1::/48 (NAT64, by a plan that only its site knows)
};

/// @param bytes  4 or 16, in the network's order; any other number: kNoMachine. An IPv4 address inside an
/// IPv6 one (mapped, compatible, NAT64, 6to4) counts as the IPv4 address. Sources: RFC 6890, 4291, 6052,
/// 8215, 3056.
[[nodiscard]] AddressKind KindOfAddress(std::span<const std::uint8_t> bytes) noexcept;

}  // namespace trainyard::wire

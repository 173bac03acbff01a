#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Host names as requests and image references write them. Pure: any thread.
namespace trainyard::wire {

/// The name in "HOST", "HOST:PORT" or "[V6]:PORT", in lower case, without the port, the brackets and the dot
/// that may end a name. Absent if the text has none of these forms. Source: RFC 3986 section 3.2.2.
[[nodiscard]] std::optional<std::string> HostNameOf(std::string_view authority);

/// Whether a name, in lower case, always means this machine: "localhost", "*.localhost" (RFC 6761 section
/// 6.3), an address of 127.0.0.0/8 as four decimal numbers, "::1". "127.evil.example" does not.
[[nodiscard]] bool IsLoopbackName(std::string_view name) noexcept;

/// The metadata server's name inside a replica: Google's own, for programs that ignore GCE_METADATA_HOST.
inline constexpr std::string_view kGoogleMetadataHost = "metadata.google.internal";
/// The short form of that name, which the original's machines resolve too: TensorFlow before 2.5 asks it.
inline constexpr std::string_view kGoogleMetadataShortHost = "metadata";
/// Its address on the original, for programs that ask no name.
inline constexpr std::string_view kGoogleMetadataAddress = "169.254.169.254";
/// The suffix of the metadata server's name for one replica: "ATTEMPT.MAC.metadata.trainyard".
inline constexpr std::string_view kMetadataSuffix = ".metadata.trainyard";

}  // namespace trainyard::wire

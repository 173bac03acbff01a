#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The text and byte forms of gRPC over HTTP/2. Pure: any thread.
/// Source: "gRPC over HTTP2" (doc/PROTOCOL-HTTP2.md of the gRPC project).
namespace trainyard::grpc {

/// The longest timeout that is kept; a longer one is shortened to it.
inline constexpr std::chrono::hours kTimeoutMax{24 * 365};
/// The bytes before a message.
inline constexpr std::size_t kPrefixBytes = 5;
/// The longest encoded `grpc-message` and `grpc-status-details-bin`: clients refuse trailers of more than
/// 8 KiB.
inline constexpr std::size_t kStatusFieldBytesMax = 3'000;

/// The value of `grpc-timeout`: one to eight digits and a unit (H, M, S, m, u, n). Nullopt: it is malformed.
[[nodiscard]] std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text) noexcept;

/// What precedes a message.
struct MessagePrefix {
  bool is_compressed = false;
  std::uint32_t size = 0;  ///< bytes of the message that follows
  friend bool operator==(const MessagePrefix&, const MessagePrefix&) = default;
};
/// Reads the first kPrefixBytes of `bytes`. Nullopt: there are fewer, or the flags are unknown.
[[nodiscard]] std::optional<MessagePrefix> ParsePrefix(std::string_view bytes) noexcept;
/// The message with its prefix, not compressed. The message has less than 4 GiB.
[[nodiscard]] std::string PrintMessage(std::string_view message);

/// The value of `grpc-message`: bytes outside the printable ASCII characters, and '%', are written as %XX. A
/// text that would be longer than kStatusFieldBytesMax is cut between two characters.
[[nodiscard]] std::string PrintStatusText(std::string_view text);
/// The text of such a value. A '%' without two hexadecimal digits is kept: a bad text must not hide a status.
[[nodiscard]] std::string ParseStatusText(std::string_view value);

/// The value of a field whose name ends in `-bin`: base64 without padding.
[[nodiscard]] std::string PrintBinary(std::string_view bytes);
/// The bytes of such a value, with or without padding. Nullopt: it is no base64.
[[nodiscard]] std::optional<std::string> ParseBinary(std::string_view value);

/// Whether the content type is that of gRPC with protobuf messages: application/grpc or
/// application/grpc+proto, in any case, with or without parameters.
[[nodiscard]] bool IsGrpc(std::string_view content_type) noexcept;

}  // namespace trainyard::grpc

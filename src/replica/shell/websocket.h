#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// WebSocket frames (RFC 6455), without extensions; the upgrade itself is done by http. Both sides; one
/// thread.
namespace trainyard::shell {

struct WebSocketMessage {
  enum class Kind : std::uint8_t { kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };
  Kind kind = Kind::kBinary;
  std::string payload;
};

/// Longer messages are refused: those of a terminal are short.
inline constexpr std::size_t kWebSocketMessageBytesMax = std::size_t{1} << 20;

/// Takes frames apart and puts fragments together.
class WebSocketReader {
 public:
  /// The side whose bytes are read: a client masks its frames, a server must not (RFC 6455, 5.1).
  enum class Peer { kClient, kServer };
  explicit WebSocketReader(Peer peer) : peer_(peer) {}

  void Feed(std::string_view bytes) { bytes_.append(bytes); }
  /// The next whole message; nothing if more bytes are needed. Control messages may come between the
  /// fragments of others. kInvalidArgument: not a WebSocket frame, or the message is too long; close the
  /// connection.
  [[nodiscard]] Result<std::optional<WebSocketMessage>> Next();

 private:
  struct Frame;
  [[nodiscard]] Result<std::optional<Frame>> TakeFrame();

  Peer peer_;
  std::string bytes_;
  std::optional<WebSocketMessage> begun_;  ///< fragments so far
};

/// One message as one frame. A client passes four random bytes as its mask.
[[nodiscard]] std::string WebSocketFrame(WebSocketMessage::Kind kind, std::string_view payload,
                                         std::optional<std::uint32_t> mask = std::nullopt);

/// The server's answer to a Sec-WebSocket-Key (RFC 6455, 4.2.2).
[[nodiscard]] std::string WebSocketAccept(std::string_view key);

}  // namespace trainyard::shell

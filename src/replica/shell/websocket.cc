#include "replica/shell/websocket.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

#include "base/text/base64.h"

namespace trainyard::shell {

namespace {

using Kind = WebSocketMessage::Kind;

constexpr unsigned kFinal = 0x80;
constexpr unsigned kReserved = 0x70;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kContinuation = 0;
constexpr std::size_t kControlBytesMax = 125;
/// Lengths from here on are written in two or eight bytes.
constexpr std::size_t kLength16 = 126;
constexpr std::size_t kLength64 = 127;

unsigned At(std::string_view bytes, std::size_t index) { return static_cast<unsigned char>(bytes[index]); }

bool IsControl(unsigned opcode) { return (opcode & 8U) != 0; }
bool IsKnown(unsigned opcode) { return opcode <= 2 || (8 <= opcode && opcode <= 10); }

void Mask(std::string& payload, std::string_view mask) {
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
}

std::unexpected<Error> Violation(std::string_view what) {
  return std::unexpected(InvalidArgument("", "not a WebSocket: " + std::string(what)));
}

void AppendNumber(std::string& bytes, std::uint64_t number, int size) {
  for (int i = size - 1; i >= 0; --i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
}

}  // namespace

struct WebSocketReader::Frame {
  unsigned opcode = 0;
  bool final = false;
  std::string payload;
};

Result<std::optional<WebSocketReader::Frame>> WebSocketReader::TakeFrame() {
  const std::string_view bytes = bytes_;
  if (bytes.size() < 2) return std::nullopt;
  Frame frame{.opcode = At(bytes, 0) & 0x0F, .final = (At(bytes, 0) & kFinal) != 0};
  const bool masked = (At(bytes, 1) & kMasked) != 0;
  if ((At(bytes, 0) & kReserved) != 0 || !IsKnown(frame.opcode)) return Violation("unknown frame");
  if (masked != (peer_ == Peer::kClient)) return Violation("the mask is missing, or not wanted");
  std::uint64_t length = At(bytes, 1) & 0x7F;
  if (IsControl(frame.opcode) && (length > kControlBytesMax || !frame.final))
    return Violation("a control frame that is long or in parts");
  const std::size_t length_bytes = length == kLength16 ? 2 : length == kLength64 ? 8 : 0;
  std::size_t used = 2 + length_bytes;
  if (bytes.size() < used) return std::nullopt;
  if (length_bytes > 0) length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length = length << 8 | At(bytes, 2 + i);
  if (length > kWebSocketMessageBytesMax) return Violation("a message of more than 1 MiB");
  const std::string_view mask = bytes.substr(used, masked ? 4 : 0);
  used += masked ? 4 : 0;
  if (bytes.size() < used + length) return std::nullopt;
  frame.payload = bytes.substr(used, length);
  if (masked) Mask(frame.payload, mask);
  bytes_.erase(0, used + length);
  return frame;
}

Result<std::optional<WebSocketMessage>> WebSocketReader::Next() {
  for (;;) {
    TY_TRY(std::optional<Frame> frame, TakeFrame());
    if (!frame) return std::nullopt;
    if (IsControl(frame->opcode))
      return WebSocketMessage{static_cast<Kind>(frame->opcode), std::move(frame->payload)};
    if ((frame->opcode == kContinuation) != begun_.has_value()) return Violation("parts out of order");
    if (!begun_) begun_.emplace(static_cast<Kind>(frame->opcode), "");
    if (begun_->payload.size() + frame->payload.size() > kWebSocketMessageBytesMax)
      return Violation("a message of more than 1 MiB");
    begun_->payload += frame->payload;
    if (frame->final) return std::exchange(begun_, std::nullopt);
  }
}

std::string WebSocketFrame(Kind kind, std::string_view payload, std::optional<std::uint32_t> mask) {
  std::string frame(1, static_cast<char>(kFinal | std::to_underlying(kind)));
  const unsigned masked = mask ? kMasked : 0;
  if (payload.size() < kLength16) {
    frame += static_cast<char>(masked | payload.size());
  } else {
    const bool small = payload.size() <= 0xFFFF;
    frame += static_cast<char>(masked | (small ? kLength16 : kLength64));
    AppendNumber(frame, payload.size(), small ? 2 : 8);
  }
  std::string content(payload);
  if (mask) {
    std::string key;
    AppendNumber(key, *mask, 4);
    Mask(content, key);
    frame += key;
  }
  return frame + content;
}

std::string WebSocketAccept(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, 20> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  return text::Base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace trainyard::shell

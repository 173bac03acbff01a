#include "supervisor/download.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "async/file.h"
#include "base/ascii.h"
#include "sandbox/socket_path.h"
#include "wire/error_body.h"
#include "wire/resource_name.h"

namespace trainyard::replica {

namespace {

constexpr std::size_t kHeadBytesMax = 32 << 10;
constexpr std::size_t kErrorBodyMax = 64 << 10;
/// A server that neither sends nor closes for so long counts as gone.
constexpr int kSilenceSecondsMax = 60;

std::string Escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::strchr("-_.~", c) != nullptr;
    if (plain && c != '\0') {
      escaped += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      escaped.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
  }
  return escaped;
}

struct Head {
  int status = 0;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
};

Head ParseHead(std::string_view text) {
  Head head;
  if (text.size() > 12 && text.starts_with("HTTP/1."))
    std::from_chars(text.data() + 9, text.data() + 12, head.status);
  const std::string lower = ToLower(text);
  constexpr std::string_view kLength = "\r\ncontent-length:";
  if (std::size_t at = lower.find(kLength); at != std::string::npos) {
    at = lower.find_first_not_of(' ', at + kLength.size());
    std::uint64_t length = 0;
    if (at != std::string::npos &&
        std::from_chars(lower.data() + at, lower.data() + lower.size(), length).ec == std::errc()) {
      head.content_length = length;
    }
  }
  head.chunked = lower.find("\r\ntransfer-encoding:") != std::string::npos;
  return head;
}

/// Reads some bytes; empty at the end.
Result<std::string_view> Receive(int socket, std::array<char, 64 << 10>& buffer) {
  for (;;) {
    const ssize_t size = recv(socket, buffer.data(), buffer.size(), 0);
    if (size >= 0) return std::string_view(buffer.data(), static_cast<std::size_t>(size));
    if (errno != EINTR)
      return std::unexpected(Unavailable(std::string("the server broke off: ") + std::strerror(errno)));
  }
}

/// Passes the body on in pieces until its announced length or the connection's end.
template <class Sink>
Status ReadBody(int socket, const Head& head, std::string_view begun, Sink sink) {
  std::array<char, 64 << 10> buffer;  // NOLINT(*-member-init): filled by recv
  std::uint64_t done = 0;
  for (std::string_view piece = begun;;) {
    if (head.content_length && piece.size() > *head.content_length - done)
      piece = piece.substr(0, *head.content_length - done);
    TY_RETURN_IF_ERROR(sink(piece));
    done += piece.size();
    if (head.content_length && done == *head.content_length) return {};
    TY_TRY(piece, Receive(socket, buffer));
    if (piece.empty() && head.content_length)
      return std::unexpected(Unavailable("the server broke off in the middle"));
    if (piece.empty()) return {};
  }
}

Status SaveResponse(int socket, const std::string& path) {
  std::array<char, 64 << 10> buffer;  // NOLINT(*-member-init): filled by recv
  std::string text;
  std::size_t end = std::string::npos;
  while ((end = text.find("\r\n\r\n")) == std::string::npos) {
    if (text.size() > kHeadBytesMax)
      return std::unexpected(Internal("the server's answer has no end of its head"));
    TY_TRY(const std::string_view bytes, Receive(socket, buffer));
    if (bytes.empty()) return std::unexpected(Unavailable("the server broke off"));
    text.append(bytes);
  }
  const Head head = ParseHead(std::string_view(text).substr(0, end + 2));
  const std::string_view begun = std::string_view(text).substr(end + 4);
  if (head.status == 200 && head.chunked)
    return std::unexpected(Internal("the server sends an object without its length"));
  if (head.status == 200) {
    TY_TRY(const UniqueFd file, OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
    return ReadBody(socket, head, begun,
                    [&file](std::string_view piece) { return WriteAll(file.get(), piece); });
  }
  std::string body;
  auto keep = [&body](std::string_view piece) -> Status {
    body.append(piece.substr(0, kErrorBodyMax - std::min(kErrorBodyMax, body.size())));
    return {};
  };
  if (!head.chunked) TY_RETURN_IF_ERROR(ReadBody(socket, head, begun, keep));
  return std::unexpected(wire::ParseErrorBody(head.status, body));
}

}  // namespace

Status Download(const DownloadSource& source, const std::string& uri, const std::string& path) {
  TY_TRY(const wire::ObjectUri object, wire::ObjectUri::Parse(uri));
  TY_TRY(const UniqueFd socket, ConnectUnix(source.replica_socket, 0));
  const timeval silence{.tv_sec = kSilenceSecondsMax, .tv_usec = 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
  std::string request = "GET /storage/v1/b/" + Escape(object.bucket) + "/o/" + Escape(object.object);
  request += "?alt=media HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  for (std::string_view rest = request; !rest.empty();) {
    const ssize_t sent = send(socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0)
      return std::unexpected(Unavailable(std::string("the server broke off: ") + std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return SaveResponse(socket.get(), path);
}

}  // namespace trainyard::replica

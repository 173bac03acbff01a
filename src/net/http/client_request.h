#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "net/http/headers.h"

namespace trainyard::http {

/// The certificates that a client presents and trusts in a TLS handshake, as PEM texts.
struct ClientTls {
  std::string authorities{};  ///< to trust; empty: those of Endpoint::ca_file
  std::string server_name{};  ///< in the server's certificate, a name or an IP address; empty: the host
  /// The client's own certificate with its intermediates, and its key, for a server that asks for one; both
  /// or none.
  std::string certificate{};
  std::string key{};
  friend bool operator==(const ClientTls&, const ClientTls&) = default;
};

/// The address of a server.
struct Endpoint {
  enum class Transport { kTcp, kTls, kUnix };
  Transport transport = Transport::kTcp;
  std::string host;  ///< name or IP address; for a Unix socket the value of the Host field
  std::uint16_t port = 0;
  std::filesystem::path socket_path;  ///< kUnix
  std::filesystem::path ca_file;      ///< kTls: the authorities to trust; empty: the system's
  ClientTls tls{};                    ///< kTls
  /// "http://host:port" of a proxy that is asked to connect to the server (CONNECT, RFC 9110 section 9.3.6);
  /// empty: none. Not for kUnix.
  std::string proxy{};

  /// "http://host[:port]", "https://host[:port]" or "unix:/path". A path after the host is an error.
  [[nodiscard]] static Result<Endpoint> Parse(std::string_view url);
  /// "host:port"; the scheme's default port is left out.
  [[nodiscard]] std::string Authority() const;
};

/// A body sent from a file while it is read.
struct UploadBody {
  int descriptor = -1;  ///< owned by the caller; read with pread
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::function<void(std::uint64_t sent)> progress;  ///< after each block; may be empty
  /// kDeadlineExceeded if it is not sent by then, however steadily the server takes it.
  std::chrono::steady_clock::time_point end = std::chrono::steady_clock::time_point::max();
};

struct ClientRequest {
  Method method = Method::kGet;
  std::string target;  ///< path and query, encoded
  Headers headers;     ///< the client adds Host, Content-Length and Connection itself
  std::variant<std::string, UploadBody> body;
  int download_descriptor = -1;  ///< a 2xx body goes here instead of into ClientResponse::body
  std::function<void(std::uint64_t received)> progress;
  std::size_t response_bytes_max = std::size_t{64} << 20;  ///< of ClientResponse::body
  std::chrono::milliseconds wait_max{
      60'000};  ///< for each wait: for the response, for the next bytes, until more can be written
  std::chrono::milliseconds response_max{};  ///< for the whole response, however it drips; 0: no limit
  bool head_only =
      false;  ///< the response ends with its head: a body is left unread, and the connection closed
};

/// Checks that the request can be sent. kInvalidArgument names the part that cannot.
[[nodiscard]] Status CheckRequest(const ClientRequest& request);

/// The request's head as bytes, with Host and Content-Length.
[[nodiscard]] std::string PrintHead(const Endpoint& endpoint, const ClientRequest& request);

}  // namespace trainyard::http

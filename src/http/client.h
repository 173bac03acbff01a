#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "async/unique_fd.h"
#include "base/result.h"
#include "http/message.h"

namespace trainyard::http {

/// Where a server is.
struct Endpoint {
  enum class Transport { kTcp, kTls, kUnix };
  Transport transport = Transport::kTcp;
  std::string host;  ///< name or IP address; for a Unix socket what the Host field says
  std::uint16_t port = 0;
  std::filesystem::path socket_path;  ///< kUnix
  std::filesystem::path ca_file;      ///< kTls: whom to trust; empty: the system's bundle

  /// "http://host[:port]", "https://host[:port]" or "unix:/path". A path behind the host is refused.
  [[nodiscard]] static Result<Endpoint> Parse(std::string_view url);
  /// "host:port", without the scheme's own port.
  [[nodiscard]] std::string Authority() const;
};

/// A body sent from a file while it is read.
struct UploadBody {
  int descriptor = -1;  ///< the caller's; read with pread
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::function<void(std::uint64_t sent)> progress;  ///< after each block; may be empty
};

struct ClientRequest {
  Method method = Method::kGet;
  std::string target;  ///< path and query, encoded
  Headers headers;     ///< Host, Content-Length and Connection are the client's own
  std::variant<std::string, UploadBody> body;
  int download_descriptor = -1;  ///< a 2xx body goes here instead of into ClientResponse::body
  std::function<void(std::uint64_t received)> progress;
  std::size_t response_bytes_max = std::size_t{64} << 20;  ///< of ClientResponse::body
  std::chrono::milliseconds wait_max{
      60'000};  ///< for each wait: for the answer, the next bytes, room to write
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
  std::uint64_t downloaded = 0;
};

/// A synchronous HTTP/1.1 client of one server: no redirects, no content codings. Keeps its connection for
/// the next request. One thread at a time.
///
/// Errors: kUnavailable (cannot connect, connection lost), kDeadlineExceeded, kOutOfRange (body beyond
/// response_bytes_max), kDataLoss (the answer is cut or malformed), kUnauthenticated (the server's
/// certificate is not trusted), or those of the files. An HTTP status, whatever it is, is not an error.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// GET, HEAD, PUT and DELETE are tried a second time when the kept connection turns out to be dead; POST
  /// and PATCH never.
  [[nodiscard]] Result<ClientResponse> Send(ClientRequest request);

  /// An upgraded connection; TCP and Unix only. The caller owns the descriptor (blocking) and reads `early`
  /// first.
  struct Upgraded {
    UniqueFd descriptor;
    std::string early;
  };
  /// GET with `Upgrade: protocol` and more fields. kFailedPrecondition: the server answered something else,
  /// with its status and text.
  [[nodiscard]] Result<Upgraded> Upgrade(std::string target, std::string protocol,
                                         std::chrono::milliseconds wait_max, Headers headers = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http

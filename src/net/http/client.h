#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"
#include "net/http/client_request.h"

namespace trainyard::http {

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
/// response_bytes_max), kDataLoss (the response is truncated or malformed), kUnauthenticated (the server's
/// certificate is not trusted), or those of the files. No HTTP status is an error.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// Sends the request and reads the response. If the kept connection turns out to be dead, GET, HEAD, PUT
  /// and DELETE are sent once more; POST and PATCH are not.
  [[nodiscard]] Result<ClientResponse> Send(ClientRequest request);

  /// An upgraded connection; TCP and Unix only. The caller owns the descriptor, which is blocking, and must
  /// read `early` first.
  struct Upgraded {
    UniqueFd descriptor;
    std::string early;
  };
  /// Sends a GET with `Upgrade: protocol` and `headers`. kFailedPrecondition: the server did not upgrade; the
  /// message has its status and text.
  [[nodiscard]] Result<Upgraded> Upgrade(std::string target, std::string protocol,
                                         std::chrono::milliseconds wait_max, Headers headers = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trainyard::cli {

/// A request to the server, as commands make it.
struct ApiRequest {
  enum class Method { kGet, kPost, kPut, kPatch, kDelete };
  Method method = Method::kGet;
  std::string path;                                        ///< encoded; a query may be part of it
  std::vector<std::pair<std::string, std::string>> query;  ///< not encoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  struct File {
    int descriptor = -1;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  std::optional<File> file;      ///< sent instead of `body`
  int download_descriptor = -1;  ///< a 2xx body goes here
  std::function<void(std::uint64_t)> progress;
  /// Retry for about half a minute if the server cannot be reached, so that a command survives its restart.
  /// Not for what must not be done twice.
  bool patient = false;
};

struct ApiResponse {
  int status = 0;
  std::string body;
  std::string location;     ///< the field of that name
  std::string range;        ///< the same
  std::string retry_after;  ///< the same
};

/// A response that is read while the server produces it. One thread; the destructor closes the connection.
class ApiStream {
 public:
  virtual ~ApiStream() = default;
  [[nodiscard]] virtual int status() const = 0;
  /// The bytes that have arrived; empty at the end. kDeadlineExceeded: none arrived in time. Every other
  /// error: the connection is lost.
  [[nodiscard]] virtual Result<std::string> Read(std::chrono::milliseconds wait_max) = 0;
  /// Readable when more bytes may have arrived, after a Read() with no wait that returned none.
  [[nodiscard]] virtual int descriptor() const = 0;
};

/// The server, for the commands; tests have their own. One thread.
class ApiClient {
 public:
  virtual ~ApiClient() = default;
  /// Any HTTP status is a response; an error means that there was none. kUnavailable: the server was not
  /// reached; the message says what to do.
  [[nodiscard]] virtual Result<ApiResponse> Send(const ApiRequest& request) = 0;
  /// Sends the request once, on its own connection. Any HTTP status is a response. kUnimplemented: this
  /// client has no streams.
  [[nodiscard]] virtual Result<std::unique_ptr<ApiStream>> Open(const ApiRequest& request);
};

struct ApiEndpoint {
  std::string url;      ///< http://..., https://... or unix:/...
  std::string ca_file;  ///< for https; empty: the system's
  std::string token;    ///< sent as a bearer token; empty: none
  /// Why a server may be there that cannot be found, said where none is; empty: start one.
  std::string hidden;
  std::function<void()> on_wait{};  ///< called once, when a patient request is first sent again
};

/// The client over HTTP. After status 429 or 5xx it retries four times, after the time in Retry-After or 1,
/// 2, 4 and 8 seconds. Errors: kInvalidArgument if the URL is not valid.
[[nodiscard]] Result<std::unique_ptr<ApiClient>> MakeApiClient(const ApiEndpoint& endpoint);

/// The path with "?a=b&c=d" appended; values percent-encoded.
[[nodiscard]] std::string Target(const ApiRequest& request);

}  // namespace trainyard::cli

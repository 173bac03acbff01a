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

/// A request to the server as the commands see it.
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
  /// Tried again for about half a minute when the server cannot be reached: a stream lives through a restart.
  bool patient = false;
};

struct ApiResponse {
  int status = 0;
  std::string body;
  std::string location;     ///< the field of that name
  std::string range;        ///< the same
  std::string retry_after;  ///< the same
};

/// An answer that is read while the server makes it. One thread; destroying it hangs up.
class ApiStream {
 public:
  virtual ~ApiStream() = default;
  [[nodiscard]] virtual int status() const = 0;
  /// What has come, empty at the end. kDeadlineExceeded: nothing in time; every other error: the connection
  /// is lost.
  [[nodiscard]] virtual Result<std::string> Read(std::chrono::milliseconds wait_max) = 0;
  /// Readable when more may have come, after a Read() that waited for nothing and found nothing.
  [[nodiscard]] virtual int descriptor() const = 0;
};

/// The server, for the commands; tests have their own. One thread.
class ApiClient {
 public:
  virtual ~ApiClient() = default;
  /// Any HTTP status is an answer; an error means that there was none. kUnavailable: the server was not
  /// reached, and the message says what to do.
  [[nodiscard]] virtual Result<ApiResponse> Send(const ApiRequest& request) = 0;
  /// Asks once, on a connection of its own. Any HTTP status is an answer. kUnimplemented: this client has no
  /// streams.
  [[nodiscard]] virtual Result<std::unique_ptr<ApiStream>> Open(const ApiRequest& request);
};

struct ApiEndpoint {
  std::string url;      ///< http://..., https://... or unix:/...
  std::string ca_file;  ///< for https; empty: the system's
  std::string token;    ///< sent as a bearer token; empty: none
};

/// The client over HTTP. Answers 429 and 5xx are asked for again, four times, after what Retry-After says or
/// 1, 2, 4 and 8 seconds. Errors: kInvalidArgument when the URL is none.
[[nodiscard]] Result<std::unique_ptr<ApiClient>> MakeApiClient(const ApiEndpoint& endpoint);

/// "?a=b&c=d" behind the path; values percent-encoded.
[[nodiscard]] std::string Target(const ApiRequest& request);

}  // namespace trainyard::cli

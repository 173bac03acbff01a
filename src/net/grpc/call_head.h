#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http/headers.h"

namespace trainyard::grpc {

/// Why a request is not answered as a call.
struct CallRefusal {
  int http_status = 200;  ///< 200: it is a gRPC call, and `error` becomes its status
  Error error;
  friend bool operator==(const CallRefusal&, const CallRefusal&) = default;
};

/// The head of a request over HTTP/2, as its fields arrive. A value.
class CallHead {
 public:
  /// `bytes_max`: as SETTINGS_MAX_HEADER_LIST_SIZE counts them, names and values and 32 bytes for each field
  /// (RFC 9113 section 6.5.2).
  explicit CallHead(std::size_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  /// Adds a field. After more than bytes_max, fields are dropped.
  void Add(std::string_view name, std::string_view value);
  /// Nullopt: it is the head of a gRPC call. Call it when all fields have arrived.
  [[nodiscard]] std::optional<CallRefusal> Check() const;

  [[nodiscard]] const std::string& method() const noexcept { return method_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// `:authority`, or else `host`.
  [[nodiscard]] std::string_view authority() const noexcept;
  [[nodiscard]] std::string_view encoding() const noexcept { return fields_.Get("grpc-encoding"); }
  /// Nullopt: there is none, or it is malformed, which Check() refuses.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> Timeout() const noexcept;
  /// All fields but those whose name begins with a colon.
  [[nodiscard]] const http::Headers& fields() const noexcept { return fields_; }

 private:
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::string method_;
  std::string path_;
  std::string authority_;
  http::Headers fields_;
};

}  // namespace trainyard::grpc

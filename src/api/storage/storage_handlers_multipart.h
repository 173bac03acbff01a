#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace trainyard::api::storage_api {

/// Splits a multipart/related upload as it arrives: the first part is the object's resource as JSON, the
/// second its bytes. Accepts CRLF and bare LF (apitools) line ends; the one line end before a boundary is not
/// content. Pure: one owner. Source: RFC 2387, docs/spec "Multipart trap".
class MultipartUpload {
 public:
  /// @param content_type  the request's. kInvalidArgument: not multipart/related or without a boundary.
  [[nodiscard]] static Result<MultipartUpload> Create(std::string_view content_type);

  /// Takes more of the body. kInvalidArgument: malformed, or a first part beyond kResourceBytesMax.
  [[nodiscard]] Status Feed(std::string_view bytes);
  /// The first part, once it is complete.
  [[nodiscard]] const std::optional<std::string>& resource() const noexcept { return resource_; }
  /// Content-Type of the second part; empty before it began, or if it has none.
  [[nodiscard]] const std::string& media_type() const noexcept { return media_type_; }
  /// Whether the second part's headers were read.
  [[nodiscard]] bool media_began() const noexcept { return state_ == State::kMedia || state_ == State::kEnd; }
  /// Content received since the last call.
  [[nodiscard]] std::string TakeMedia();
  /// Whether the closing boundary was seen.
  [[nodiscard]] bool complete() const noexcept { return state_ == State::kEnd; }

  static constexpr std::size_t kResourceBytesMax = std::size_t{1} << 20;

 private:
  enum class State { kPreamble, kResourceHead, kResource, kMediaHead, kMedia, kEnd };

  explicit MultipartUpload(std::string boundary) : boundary_(std::move(boundary)) {}
  Result<bool> Step();
  Result<bool> ReadPreamble();
  Result<bool> ReadHead();
  Result<bool> ReadContent();
  std::optional<std::string_view> TakeLine();
  void TakeContent(std::size_t length);

  std::string boundary_;  ///< with the two dashes before it
  bool bare_lf_ = false;
  State state_ = State::kPreamble;
  std::string buffer_;
  std::size_t taken_ = 0;  ///< bytes of buffer_ that were processed
  bool at_start_ = true;   ///< at the start of a part's content
  std::string content_;
  std::optional<std::string> resource_;
  std::string media_type_;
};

}  // namespace trainyard::api::storage_api

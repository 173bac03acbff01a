#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

/// The range grammars of downloads and resumable uploads. Pure: any thread.
namespace trainyard::api::storage_api {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

/// One `Range: bytes=...` of a download.
/// @return nothing: no range, several, or not understood (send everything); kOutOfRange: the object has no
/// byte in the range (416). Source: RFC 9110 section 14.2.
[[nodiscard]] Result<std::optional<ByteRange>> ReadRange(std::string_view header, std::uint64_t size);

/// `Content-Range` of a resumable upload's PUT. "bytes */*" and "bytes */9" query the state; "bytes 0-8/9",
/// "bytes 0-8/*", "bytes 0-*/*" and "bytes 0-*/9" carry bytes.
struct UploadRange {
  std::optional<std::uint64_t> first;  ///< absent: a query
  std::optional<std::uint64_t> last;   ///< inclusive
  std::optional<std::uint64_t> total;
  friend bool operator==(const UploadRange&, const UploadRange&) = default;
};

/// kInvalidArgument: another form, or numbers that contradict each other.
[[nodiscard]] Result<UploadRange> ReadUploadRange(std::string_view header);

}  // namespace trainyard::api::storage_api

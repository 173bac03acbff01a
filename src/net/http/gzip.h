#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trainyard::http {

/// Compresses text into one gzip member, with a fast compression level. Any thread; about 1 ms per 300 KiB of
/// JSON.
[[nodiscard]] std::string GzipCompress(std::string_view text);

/// Decompresses one gzip member as its bytes arrive. Use one object per body (about 48 KiB of state).
class GzipDecoder {
 public:
  GzipDecoder();
  ~GzipDecoder();
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  /// Stops when `in` or `out` is used up or the member has ended. kInvalidArgument: not gzip, or its checksum
  /// is wrong.
  [[nodiscard]] Result<Step> Decode(std::string_view in, std::span<std::byte> out);
  /// Whether the whole member including its checksum was decoded.
  [[nodiscard]] bool done() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trainyard::http

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace trainyard::http {

/// Decodes `Transfer-Encoding: chunked` from pieces of any size. Extensions and trailer fields are checked
/// for correct line ends and discarded. Pure: one object per body. Source: RFC 9112 section 7.1.
class ChunkDecoder {
 public:
  struct Step {
    std::size_t consumed = 0;  ///< of `in`
    std::size_t produced = 0;  ///< into `out`
  };
  /// Stops when `in` or `out` is used up or the body has ended. kInvalidArgument: malformed, or more than
  /// kChunkOverheadMax bytes of extensions or trailer.
  [[nodiscard]] Result<Step> Decode(std::string_view in, std::span<std::byte> out);
  [[nodiscard]] bool done() const noexcept { return state_ == State::kDone; }

  static constexpr std::size_t kChunkOverheadMax = 16384;  ///< per body, without sizes and line ends

 private:
  enum class State {
    kSize,
    kExtension,
    kSizeEnd,
    kData,
    kDataCr,
    kDataLf,
    kTrailerStart,
    kTrailer,
    kTrailerLf,
    kEndLf,
    kDone
  };

  Status Take(char c);
  Status TakeSize(char c);
  Status CountOverhead(char c);
  Status Expect(char c, char expected, State next);

  State state_ = State::kSize;
  int digits_ = 0;
  std::uint64_t left_ = 0;
  std::size_t overhead_ = 0;
};

}  // namespace trainyard::http

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/measurement/gathered.h"
#include "stores/storage/buckets.h"

namespace trainyard::curves {

/// Longer images and texts are refused.
inline constexpr std::uint64_t kSummaryBytesMax = std::uint64_t{32} << 20;

/// An image or a text as a client gets it.
struct SummaryBytes {
  std::string content_type;
  std::string bytes;
};

/// "image/png" by the first bytes; empty: no image of a kind that is served. Pure.
/// Source: the WHATWG's MIME Sniffing standard, "matching an image type pattern".
[[nodiscard]] std::string_view ImageType(std::string_view bytes);

/// Reads an image or a text from where it lies. Blocks. kNotFound: it is not there any more;
/// kFailedPrecondition: it is too large, or no image of a kind that is served.
[[nodiscard]] Result<SummaryBytes> ReadSummary(const storage::ReadableObject& object,
                                               const measurement::SummaryValue& value);

}  // namespace trainyard::curves

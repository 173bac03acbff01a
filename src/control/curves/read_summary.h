#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "rules/measurement/gathered.h"
#include "stores/storage/buckets.h"

namespace trainyard::curves {

/// Longer images and texts are refused.
inline constexpr std::uint64_t kSummaryBytesMax = std::uint64_t{32} << 20;

/// An image or a text in the form that a client gets.
struct SummaryBytes {
  std::string content_type;
  std::string bytes;
};

/// The type by the first bytes, such as "image/png"; empty: not an image of a supported type. Pure. Source:
/// the WHATWG's MIME Sniffing standard, "matching an image type pattern".
[[nodiscard]] std::string_view ImageType(std::string_view bytes);

/// Reads an image or a text from its event file. Blocks. kNotFound: it is not there any more;
/// kFailedPrecondition: it is too large, or not an image of a supported type.
[[nodiscard]] Result<SummaryBytes> ReadSummary(const storage::ReadableObject& object,
                                               const measurement::SummaryValue& value);

}  // namespace trainyard::curves

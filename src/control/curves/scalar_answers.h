#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/wire/resource_name.h"
#include "rules/measurement/gathered.h"
#include "stores/storage/buckets.h"
#include "trainyard/control/v1/curves.pb.h"

/// Converts curves to the API's form. Pure: any thread.
namespace trainyard::curves {

namespace v1 = control::v1;

/// Limits of one list.
inline constexpr std::size_t kSeriesListedMax = 5'000;
inline constexpr std::size_t kSummariesListedMax = 1'000;
/// Limits of one query: jobs; names; points of each curve, by default and at most; points of all curves
/// together.
inline constexpr std::size_t kJobsMax = 50;
inline constexpr int kNamesMax = 1'000;
inline constexpr int kPointsDefault = 1'200;
inline constexpr int kPointsMax = 100'000;
inline constexpr int kPointsTogetherMax = 1'000'000;

/// kInvalidArgument with the field: no names, too many or one twice, more jobs than kJobsMax, no range, more
/// points than kPointsMax.
[[nodiscard]] Status CheckQuery(const v1::ScalarQuery& query);

/// Adds the curves that have points to the list.
void ListSeries(const measurement::Gathered& gathered, const std::string& job_id, v1::ScalarList& list);
/// Adds images and texts.
void ListSummaries(const measurement::Gathered& gathered, const wire::JobName& job, v1::SummaryList& list);

/// Fills in the part of the curve that the query (checked) asks for; leaves it empty if there is none.
void FillCurve(const measurement::Gathered& gathered, const v1::ScalarQuery& query,
               v1::ScalarCurves::Curve& curve);

[[nodiscard]] measurement::SeriesName SeriesNameOf(const v1::ScalarName& name);

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

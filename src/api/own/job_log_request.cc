#include "api/own/job_log_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/wire/time.h"
#include "net/http/text.h"

namespace trainyard::api {

namespace {

using http::Request;
using logging::v2::LogEntry;

/// A line's number; nothing if the parameter is absent.
Result<std::optional<std::int64_t>> ReadLine(const Request& request, std::string_view name) {
  if (!request.HasQuery(name)) return std::nullopt;
  const std::optional<std::uint64_t> number = http::ParseDecimal(request.Query(name));
  if (!number || *number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::unexpected(InvalidArgument(name, "Must be the number of a line: 0 or more"));
  }
  return static_cast<std::int64_t>(*number);
}

/// @param count_max  the limit to which a larger number is reduced
Result<int> ReadCount(const Request& request, std::string_view name, int otherwise, int count_max) {
  if (!request.HasQuery(name)) return otherwise;
  const std::optional<std::uint64_t> number = http::ParseDecimal(request.Query(name));
  if (!number || *number == 0)
    return std::unexpected(InvalidArgument(name, "Must be a number of at least 1"));
  return static_cast<int>(std::min<std::uint64_t>(*number, static_cast<std::uint64_t>(count_max)));
}

Result<bool> ReadFlag(const Request& request, std::string_view name) {
  const std::string_view text = request.Query(name);
  if (text == "true") return true;
  if (!request.HasQuery(name) || text == "false") return false;
  return std::unexpected(InvalidArgument(name, "Must be true or false"));
}

Result<logs::LineFilter> ReadFilter(const Request& request) {
  logs::LineFilter filter{.replica = std::string(request.Query("replica")),
                          .trial_id = std::string(request.Query("trial"))};
  const std::string_view name = request.Query("severity");
  if (!name.empty() && !LogEntry::Severity_Parse(std::string(name), &filter.severity_min)) {
    return std::unexpected(InvalidArgument("severity",
                                           "Must be one of DEFAULT, DEBUG, INFO, NOTICE, WARNING, ERROR, "
                                           "CRITICAL, ALERT and EMERGENCY"));
  }
  return filter;
}

Status CheckOnePlace(const Request& request) {
  constexpr std::array<std::string_view, 4> kPlaces{"first", "before", "time", "last"};
  std::string_view seen;
  for (const std::string_view place : kPlaces) {
    if (!request.HasQuery(place)) continue;
    if (!seen.empty()) {
      return std::unexpected(InvalidArgument(
          place, "Not together with " + std::string(seen) + ": a window begins at one place"));
    }
    seen = place;
  }
  return {};
}

Result<logs::WindowPlace> ReadPlace(const Request& request) {
  TY_RETURN_IF_ERROR(CheckOnePlace(request));
  TY_TRY(const std::optional<std::int64_t> first, ReadLine(request, "first"));
  TY_TRY(const std::optional<std::int64_t> before, ReadLine(request, "before"));
  TY_TRY(const bool last, ReadFlag(request, "last"));
  if (request.HasQuery("time")) {
    const Result<SysTime> time = wire::ParseTime(request.Query("time"));
    if (!time) return std::unexpected(InvalidArgument("time", time.error().message));
    return logs::FromTime{*time};
  }
  if (before) return logs::BeforeLine{*before};
  if (last) return logs::AtEnd{};
  return logs::FromLine{first.value_or(0)};
}

}  // namespace

Result<logs::WindowQuery> ReadWindowQuery(const Request& request) {
  logs::WindowQuery query;
  TY_TRY(query.place, ReadPlace(request));
  TY_TRY(query.count, ReadCount(request, "count", logs::kWindowLinesDefault, logs::kWindowLinesMax));
  TY_TRY(query.whole, ReadFlag(request, "whole"));
  TY_TRY(query.filter, ReadFilter(request));
  return query;
}

Result<logs::SearchQuery> ReadSearchQuery(const Request& request) {
  logs::SearchQuery query{.text = std::string(request.Query("query"))};
  TY_TRY(query.regex, ReadFlag(request, "regex"));
  TY_TRY(query.match_case, ReadFlag(request, "matchCase"));
  TY_TRY(query.from, ReadLine(request, "from"));
  TY_TRY(query.backward, ReadFlag(request, "backward"));
  TY_TRY(query.count, ReadCount(request, "count", logs::kMatchesDefault, logs::kMatchesMax));
  TY_TRY(query.filter, ReadFilter(request));
  return query;
}

Result<int> ReadSummaryParts(const Request& request) {
  return ReadCount(request, "buckets", logs::kSummaryPartsDefault, logs::kSummaryPartsMax);
}

Result<logs::PieceQuery> ReadDownloadQuery(const Request& request) {
  logs::PieceQuery query;
  TY_TRY(query.filter, ReadFilter(request));
  const std::string_view format = request.Query("format");
  if (format == "json") query.form = logs::DownloadForm::kJson;
  if (format.empty() || format == "text" || format == "json") return query;
  return std::unexpected(InvalidArgument("format", "Must be text or json"));
}

}  // namespace trainyard::api

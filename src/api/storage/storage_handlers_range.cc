#include "api/storage/storage_handlers_range.h"

#include <algorithm>

#include "net/http/text.h"

namespace trainyard::api::storage_api {
namespace {

/// Digits, or '*' for an absent number.
Result<std::optional<std::uint64_t>> NumberOrStar(std::string_view text) {
  if (text == "*") return std::nullopt;
  const auto number = http::ParseDecimal(text);
  if (!number) return std::unexpected(InvalidArgument({}, "a number or '*' was expected"));
  return number;
}

Result<UploadRange> ReadParts(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  const auto malformed = [] { return std::unexpected(InvalidArgument({}, "malformed")); };
  if (!text.starts_with(kUnit)) return malformed();
  text.remove_prefix(kUnit.size());
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return malformed();
  UploadRange range;
  TY_TRY(range.total, NumberOrStar(text.substr(slash + 1)));
  text = text.substr(0, slash);
  if (text == "*") return range;
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return malformed();
  range.first = http::ParseDecimal(text.substr(0, dash));
  if (!range.first) return malformed();
  TY_TRY(range.last, NumberOrStar(text.substr(dash + 1)));
  const bool backwards = range.last && *range.last < *range.first;
  const bool beyond = range.last && range.total && *range.last >= *range.total;
  if (backwards || beyond) return malformed();
  return range;
}

}  // namespace

Result<std::optional<ByteRange>> ReadRange(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  header = http::Trim(header);
  const std::size_t dash = header.find('-');
  if (!header.starts_with(kUnit) || dash == std::string_view::npos ||
      header.find(',') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view first_text = http::Trim(header.substr(kUnit.size(), dash - kUnit.size()));
  const std::string_view last_text = http::Trim(header.substr(dash + 1));
  const auto first = http::ParseDecimal(first_text);
  const auto last = http::ParseDecimal(last_text);
  const auto none = std::unexpected(Error{Code::kOutOfRange, "Request range not satisfiable", {}});
  if ((!first_text.empty() && !first) || (!last_text.empty() && !last) || (!first && !last))
    return std::nullopt;
  if (!first) {  // a suffix
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return none;
    return ByteRange{.offset = size - length, .length = length};
  }
  if (last && *last < *first) return std::nullopt;
  if (*first >= size) return none;
  const std::uint64_t rest = size - *first;
  return ByteRange{.offset = *first, .length = last ? std::min(*last - *first, rest - 1) + 1 : rest};
}

Result<UploadRange> ReadUploadRange(std::string_view header) {
  Result<UploadRange> range = ReadParts(http::Trim(header));
  if (range) return range;
  return std::unexpected(InvalidArgument({}, "Failed to parse Content-Range header: " + std::string(header)));
}

}  // namespace trainyard::api::storage_api

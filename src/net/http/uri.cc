#include "net/http/uri.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text/percent.h"

namespace trainyard::http {

Result<std::string> PercentDecode(std::string_view text) {
  std::optional<std::string> decoded = text::PercentDecode(text);
  if (!decoded)
    return std::unexpected(InvalidArgument("", "malformed percent-encoding in the request's URL"));
  return *std::move(decoded);
}

namespace {

/// Decodes the form of HTML forms: '+' is a space.
Result<std::string> FormDecode(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return PercentDecode(spaced);
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    TY_TRY(std::string name, FormDecode(item.substr(0, equals)));
    std::string value;
    if (equals != std::string_view::npos) {
      TY_TRY(value, FormDecode(item.substr(equals + 1)));
    }
    pairs.emplace_back(std::move(name), std::move(value));
  }
  return pairs;
}

Target SplitTarget(std::string_view target) noexcept {
  std::string_view authority;
  const std::size_t scheme_end = target.find("://");
  const std::string_view scheme = target.substr(0, scheme_end == std::string_view::npos ? 0 : scheme_end);
  if (EqualsIgnoringCase(scheme, "http") || EqualsIgnoringCase(scheme, "https")) {
    const std::size_t path = target.find_first_of("/?", scheme_end + 3);
    authority = target.substr(scheme_end + 3, path == std::string_view::npos ? path : path - scheme_end - 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  const std::size_t question = target.find('?');
  if (question == std::string_view::npos) return {.path = target, .query = {}, .authority = authority};
  return {.path = target.substr(0, question), .query = target.substr(question + 1), .authority = authority};
}

}  // namespace trainyard::http

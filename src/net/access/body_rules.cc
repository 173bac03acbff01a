#include "net/access/body_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"

namespace trainyard::access {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kForm = "application/x-www-form-urlencoded";

/// "Application/JSON ; charset=utf-8" -> "Application/JSON"
std::string_view TypeOf(std::string_view content_type) {
  return TrimSpace(content_type.substr(0, content_type.find(';')));
}

}  // namespace

bool TakesAnyBody(const BodyFacts& facts) noexcept {
  constexpr std::array<std::string_view, 2> kUploads = {"/upload/", "/resumable/"};
  constexpr std::array<std::string_view, 3> kForms = {"/token", "/v1/token", "/v1/introspect"};
  const auto leads = [&](std::string_view folder) { return facts.path.starts_with(folder); };
  if (std::ranges::any_of(kUploads, leads)) return true;
  if (facts.is_xml_storage && !facts.path.starts_with("/storage/")) return true;
  return facts.path == "/batch" || facts.path.starts_with("/batch/") ||
         std::ranges::find(kForms, facts.path) != kForms.end();
}

Status CheckBodyType(const BodyFacts& facts) {
  if (!facts.has_body || TakesAnyBody(facts)) return {};
  const std::string_view type = TypeOf(facts.content_type);
  if (facts.path.ends_with(":validate") && EqualsIgnoringCase(type, kYaml)) return {};
  if (EqualsIgnoringCase(type, kJson) || (facts.overrides_get && EqualsIgnoringCase(type, kForm))) return {};
  return std::unexpected(InvalidArgument(
      "",
      std::string("The body of this method is JSON and must say so, with Content-Type: application/json; ") +
          (type.empty() ? "the request has no Content-Type" : "the request has another Content-Type")));
}

Status CheckMetadataFlavor(std::string_view path, std::string_view flavor) {
  if (!path.starts_with("/computeMetadata") || flavor == "Google") return {};
  return std::unexpected(Error{Code::kPermissionDenied, "Missing Metadata-Flavor:Google header", ""});
}

}  // namespace trainyard::access

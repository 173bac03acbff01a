#include "net/front/real_bucket_rules.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "net/http/uri.h"

namespace trainyard::front {

namespace {

/// What may precede "/b/BUCKET" in the JSON API.
constexpr std::array<std::string_view, 4> kJsonPrefixes = {
    "/storage/v1/b/", "/upload/storage/v1/b/", "/resumable/upload/storage/v1/b/", "/download/storage/v1/b/"};
/// First segments that are not a bucket: the JSON API and batches, whose parts may name any bucket.
constexpr std::array<std::string_view, 5> kServices = {"storage", "upload", "resumable", "download", "batch"};
/// More layers of percent-encoding than any server decodes.
constexpr int kDecodeMax = 4;

std::unexpected<Error> Elsewhere(const std::string& bucket) {
  return std::unexpected(
      Error{Code::kPermissionDenied,
            "gs://" + bucket +
                " is not one of the real Cloud Storage's buckets that this server may reach "
                "(--real-bucket); copies between a real bucket and one of this server are up "
                "to the client, which reads the one and writes the other",
            {}});
}

std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Whether the text has a segment "." or "..", as it is or decoded: "..", "%2e%2E", "a%2F..%2Fb",
/// "%252e%252e".
Status CheckSteps(std::string_view text) {
  std::string decoded(text);
  for (int round = 0; round < kDecodeMax; ++round) {
    for (const std::string_view part : SplitAt(decoded, "/\\")) {
      if (part == "." || part == "..")
        return std::unexpected(InvalidArgument(
            {},
            "\".\" and \"..\" between slashes are not passed on to the real Cloud Storage: they may mean "
            "another bucket there"));
    }
    auto once = http::PercentDecode(decoded);
    // A '%' of the name itself: the name has been decoded as often as it was encoded.
    if (!once && round > 0) return {};
    if (!once) return std::unexpected(std::move(once).error());
    if (*once == decoded) return {};
    decoded = *std::move(once);
  }
  return std::unexpected(InvalidArgument({}, "it is percent-encoded too often"));
}

Status CheckBucket(std::string_view encoded, const std::set<std::string>& names) {
  TY_TRY(const std::string bucket, http::PercentDecode(encoded));
  if (names.contains(bucket)) return {};
  return Elsewhere(bucket);
}

bool IsJson(std::string_view path) {
  return std::ranges::any_of(kJsonPrefixes,
                             [path](std::string_view prefix) { return path.starts_with(prefix); });
}

/// ".../o/OBJECT/rewriteTo/b/BUCKET/o/OBJECT": names with slashes are encoded, so a segment of that name is
/// the verb.
Status CheckDestination(std::string_view path, const std::set<std::string>& names) {
  const std::vector<std::string_view> segments = SplitAt(path, "/");
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Result<std::string> verb = http::PercentDecode(segments[i]);
    if (!verb || (!EqualsIgnoringCase(*verb, "rewriteTo") && !EqualsIgnoringCase(*verb, "copyTo"))) continue;
    if (i + 2 >= segments.size()) return Elsewhere("");
    TY_RETURN_IF_ERROR(CheckBucket(segments[i + 2], names));
  }
  return {};
}

/// "/BUCKET/OBJECT" or "BUCKET/OBJECT", maybe with a query.
Status CheckSource(std::string_view source, const std::set<std::string>& names) {
  source = TrimSpace(source);
  TY_RETURN_IF_ERROR(CheckSteps(source));
  if (source.starts_with('/')) source.remove_prefix(1);
  TY_TRY(const std::string decoded, http::PercentDecode(source));
  return CheckBucket(std::string_view(decoded).substr(0, decoded.find_first_of("/?")), names);
}

}  // namespace

std::optional<std::string> BucketOfPath(std::string_view path, bool with_xml) {
  std::string_view rest = path.substr(std::min<std::size_t>(1, path.size()));
  bool found = with_xml;
  for (const std::string_view prefix : kJsonPrefixes) {
    if (!path.starts_with(prefix)) continue;
    rest = path.substr(prefix.size());
    found = true;
    with_xml = false;
  }
  if (!found) return std::nullopt;
  auto name = http::PercentDecode(rest.substr(0, rest.find('/')));
  if (!name || name->empty()) return std::nullopt;
  if (with_xml && std::ranges::find(kServices, std::string_view(*name)) != kServices.end())
    return std::nullopt;
  return *std::move(name);
}

Status CheckReach(const http::Request& request, const std::set<std::string>& names) {
  TY_RETURN_IF_ERROR(CheckSteps(request.path));
  if (IsJson(request.path)) TY_RETURN_IF_ERROR(CheckDestination(request.path, names));
  for (const auto& [name, value] : request.headers.fields()) {
    if (EqualsIgnoringCase(name, "x-goog-copy-source") || EqualsIgnoringCase(name, "x-amz-copy-source"))
      TY_RETURN_IF_ERROR(CheckSource(value, names));
  }
  return {};
}

}  // namespace trainyard::front

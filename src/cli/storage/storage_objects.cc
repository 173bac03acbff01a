#include "cli/storage/storage_objects.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text/percent.h"

namespace trainyard::cli {
namespace {

constexpr std::string_view kWildcards = "*?[";

std::string ObjectPath(const wire::ObjectUri& object) {
  return "/storage/v1/b/" + text::PercentEncode(object.bucket) + "/o/" + text::PercentEncode(object.object);
}

Error NothingFound(const std::string& url) {
  return NotFound("The following URLs matched no objects or files:\n" + url);
}

/// All objects below a prefix that match the pattern; an empty pattern matches all.
Result<std::vector<wire::ObjectUri>> Matching(const CommandSession& session, const std::string& bucket,
                                              const std::string& prefix, const std::string& pattern) {
  TY_TRY(Listing listing, ListObjects(session, bucket, prefix, false));
  int flags = pattern.find("**") == std::string::npos ? FNM_PATHNAME : 0;
  std::vector<wire::ObjectUri> found;
  for (const Json& object : listing.objects) {
    std::string name = TextAt(object, "name");
    if (pattern.empty() || fnmatch(pattern.c_str(), name.c_str(), flags) == 0)
      found.push_back({bucket, name});
  }
  return found;
}

}  // namespace

std::string CopyTarget(const CopySource& source, std::string_view target, bool into) {
  while (target.ends_with('/') && target.size() > 1) target.remove_suffix(1);
  std::string out(target);
  if (out.ends_with('/')) out.pop_back();  // "/" itself
  std::string separator = target.empty() ? "" : "/";
  if (!into) return source.folder.empty() ? std::string(target) : out + separator + source.relative;
  if (!source.folder.empty()) return out + separator + source.folder + "/" + source.relative;
  return out + separator + source.relative;
}

bool StaysBelow(std::string_view relative) {
  for (std::size_t start = 0; start <= relative.size();) {
    std::size_t end = std::min(relative.find('/', start), relative.size());
    std::string_view part = relative.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    start = end + 1;
  }
  return true;
}

Result<wire::ObjectUri> ParseStorageUrl(const std::string& url) {
  Result<wire::ObjectUri> uri = wire::ObjectUri::Parse(url);
  if (!uri)
    return std::unexpected(UsageError("URL", "[" + url + "] is not a storage URL: " + uri.error().message));
  return uri;
}

Result<Listing> ListObjects(const CommandSession& session, const std::string& bucket,
                            const std::string& prefix, bool one_level) {
  Listing listing;
  ApiRequest request{.path = "/storage/v1/b/" + text::PercentEncode(bucket) + "/o",
                     .query = {{"prefix", prefix}, {"maxResults", "1000"}}};
  if (one_level) request.query.emplace_back("delimiter", "/");
  TY_RETURN_IF_ERROR(ForEachPage(session.client, request, [&listing](const Json& page) {
    std::ranges::copy(ListAt(page, "items"), std::back_inserter(listing.objects));
    for (const Json& folder : ListAt(page, "prefixes")) listing.folders.push_back(folder.text);
    return true;
  }));
  return listing;
}

Result<std::vector<std::string>> ListBuckets(const CommandSession& session) {
  std::vector<std::string> names;
  const ApiRequest request{.path = "/storage/v1/b", .query = {{"project", session.project.value}}};
  TY_RETURN_IF_ERROR(ForEachPage(session.client, request, [&names](const Json& page) {
    for (const Json& bucket : ListAt(page, "items")) names.push_back(TextAt(bucket, "name"));
    return true;
  }));
  return names;
}

Result<std::vector<wire::ObjectUri>> MatchObjects(const CommandSession& session, const std::string& url,
                                                  bool recursive) {
  TY_TRY(wire::ObjectUri uri, ParseStorageUrl(url));
  std::size_t wildcard = uri.object.find_first_of(kWildcards);
  if (wildcard != std::string::npos) {
    std::string pattern = uri.object;
    if (recursive && !pattern.ends_with("**")) pattern += "**";
    TY_TRY(auto found, Matching(session, uri.bucket, uri.object.substr(0, wildcard), pattern));
    if (found.empty()) return std::unexpected(NothingFound(url));
    return found;
  }
  if (!recursive) {
    if (uri.object.empty() || uri.object.ends_with('/'))
      return std::unexpected(InvalidArgument(
          "", "Omitting prefix \"" + url + "\" because it is a container, and recursion is not enabled."));
    return std::vector{uri};
  }
  std::string folder = uri.object.empty() || uri.object.ends_with('/') ? uri.object : uri.object + "/";
  TY_TRY(auto found, Matching(session, uri.bucket, folder, ""));
  if (found.empty() && !uri.object.empty() && !uri.object.ends_with('/')) return std::vector{uri};
  if (found.empty()) return std::unexpected(NothingFound(url));
  return found;
}

Status DownloadObject(const CommandSession& session, const wire::ObjectUri& source, int descriptor) {
  ApiRequest request{.method = ApiRequest::Method::kGet,
                     .path = ObjectPath(source),
                     .query = {{"alt", "media"}},
                     .download_descriptor = descriptor};
  TY_TRY(ApiResponse response, session.client.Send(request));
  if (response.status == 404) return std::unexpected(NothingFound(source.ToString()));
  if (response.status >= 400)
    return std::unexpected(Error{.code = Code::kUnknown, .message = ErrorText(response)});
  return {};
}

Status CopyObject(const CommandSession& session, const wire::ObjectUri& source,
                  const wire::ObjectUri& target) {
  std::string rewrite_token;
  for (bool done = false; !done;) {
    ApiRequest request{.method = ApiRequest::Method::kPost,
                       .path = ObjectPath(source) + "/rewriteTo/b/" + text::PercentEncode(target.bucket) +
                               "/o/" + text::PercentEncode(target.object),
                       .body = "{}"};
    if (!rewrite_token.empty()) request.query.emplace_back("rewriteToken", rewrite_token);
    TY_TRY(Json answer, CallJson(session.client, std::move(request)));
    rewrite_token = TextAt(answer, "rewriteToken");
    done = TextAt(answer, "done") == "true" || rewrite_token.empty();
  }
  return {};
}

Status DeleteObject(const CommandSession& session, const wire::ObjectUri& object) {
  ApiRequest request{.method = ApiRequest::Method::kDelete, .path = ObjectPath(object)};
  TY_TRY(ApiResponse response, session.client.Send(request));
  if (response.status == 404) return std::unexpected(NothingFound(object.ToString()));
  if (response.status >= 400)
    return std::unexpected(Error{.code = Code::kUnknown, .message = ErrorText(response)});
  return {};
}

}  // namespace trainyard::cli

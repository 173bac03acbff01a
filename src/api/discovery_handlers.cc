#include "api/discovery_handlers.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <optional>

#include "api/discovery_files.h"
#include "base/check.h"

namespace trainyard::api {
namespace {

struct Api {
  std::string_view name;
  std::string_view version;
  std::string_view title;
  std::string_view file;
};
constexpr std::array kApis{
    Api{"ml", "v1", "AI Platform Training & Prediction API", "ml.v1.json"},
    Api{"storage", "v1", "Cloud Storage JSON API", "storage.v1.json"},
    Api{"logging", "v2", "Cloud Logging API", "logging.v2.json"},
    Api{"tpu", "v1", "Cloud TPU API", "tpu.v1.json"},
};

std::string_view Document(const Api& api) {
  const auto files = discovery::Files();
  const auto file = std::ranges::find(files, api.file, &discovery::EmbeddedFile::name);
  TY_CHECK(file != files.end());
  return file->bytes;
}

std::optional<Api> FindApi(std::string_view name, std::string_view version) {
  const auto* api =
      std::ranges::find_if(kApis, [&](const Api& a) { return a.name == name && a.version == version; });
  return api != kApis.end() ? std::optional(*api) : std::nullopt;
}

/// "https://HOST" as the client wrote it; a Host header that could not be part of a URL is refused.
Result<std::string> OriginOf(const Request& request) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
  if (request.host.empty() || request.host.find_first_not_of(kAllowed) != std::string::npos) {
    return std::unexpected(InvalidArgument({}, "The Host header is missing or malformed"));
  }
  return request.Origin();
}

Result<Response> Describe(const Request& request, std::string_view name, std::string_view version) {
  const auto api = FindApi(name, version);
  if (!api) {
    return std::unexpected(NotFound("API not found: " + std::string(name) + " " + std::string(version) +
                                    ". This server has ml v1, storage v1, logging v2 and tpu v1"));
  }
  TY_TRY(const std::string origin, OriginOf(request));
  return Response::Json(RewriteAddresses(Document(*api), origin));
}

}  // namespace

std::string RewriteAddresses(std::string_view document, std::string_view origin) {
  constexpr std::string_view kScheme = "\"https://";
  constexpr std::string_view kDomain = ".googleapis.com/";
  std::string out;
  out.reserve(document.size());
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t start = std::min(document.find(kScheme, at), document.size());
    out.append(document.substr(at, start - at));
    const std::string_view rest = document.substr(start);
    const std::size_t host_end =
        rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.", kScheme.size());
    const std::string_view host =
        rest.substr(0, host_end == std::string_view::npos ? rest.size() : host_end + 1);
    const bool is_service = host.ends_with(kDomain) && !host.starts_with("\"https://www.");
    if (is_service) out.append("\"").append(origin).append("/");
    if (!is_service) out.append(host);
    at = start + host.size();
  }
  return out;
}

Result<Response> DiscoverByHost(Request& request) {
  const std::string_view label = std::string_view(request.host).substr(0, request.host.find('.'));
  const bool is_api = std::ranges::find(kApis, label, &Api::name) != kApis.end();
  const std::string_view version = request.Query("version");
  return Describe(request, is_api ? label : "ml", version.empty() ? "v1" : version);
}

Result<Response> DiscoverByPath(Request& request) {
  return Describe(request, request.Parameter("api"), request.Parameter("version"));
}

Result<Response> ListApis(Request& request) {
  TY_TRY(const std::string origin, OriginOf(request));
  boost::json::array items;
  for (const Api& api : kApis) {
    if (request.HasQuery("name") && request.Query("name") != api.name) continue;
    std::string id(api.name);
    id.append(":").append(api.version);
    std::string url = origin;
    url.append("/discovery/v1/apis/").append(api.name).append("/").append(api.version).append("/rest");
    items.push_back(boost::json::object{{"kind", "discovery#directoryItem"},
                                        {"id", id},
                                        {"name", api.name},
                                        {"version", api.version},
                                        {"title", api.title},
                                        {"discoveryRestUrl", url},
                                        {"preferred", true}});
  }
  return Response::Json(boost::json::serialize(boost::json::object{
      {"kind", "discovery#directoryList"}, {"discoveryVersion", "v1"}, {"items", std::move(items)}}));
}

}  // namespace trainyard::api

#include "api/vertex/request_path.h"

#include "api/vertex/job_collections.h"
#include "base/async/random_bytes.h"
#include "base/text/suggestion.h"
#include "base/wire/utf8.h"
#include "rules/cluster/region.h"

namespace trainyard::api {

namespace {

constexpr std::int64_t kNumberMin = 1'000'000'000'000'000'000;  // 19 digits

}  // namespace

Status CheckPath(const http::Request& request) {
  const std::string& version = request.Parameter("version");
  if (version != "v1" && version != "v1beta1")
    return std::unexpected(NotFound("This server has v1 and v1beta1 of Vertex AI, not " + version));
  const std::string& location = request.Parameter("location");
  if (cluster::IsRegion(location)) return {};
  const std::string hint = text::DidYouMean(location, cluster::VertexRegions());
  return std::unexpected(NotFound("The location '" + wire::ReplaceMalformed(location) +
                                  "' is not available." + (hint.empty() ? "" : " " + hint)));
}

std::string LocationName(const http::Request& request) {
  return "projects/" + request.Parameter("project") + "/locations/" + request.Parameter("location");
}

std::int64_t NewNumber() {
  return kNumberMin + static_cast<std::int64_t>(RandomBytes<std::uint64_t>() %
                                                static_cast<std::uint64_t>(kMlNumbers - kNumberMin));
}

}  // namespace trainyard::api

#include "api/vertex/request_path.h"

#include "base/async/random_bytes.h"
#include "base/text/suggestion.h"
#include "base/wire/utf8.h"
#include "rules/cluster/region.h"
#include "rules/vertex/custom_job.h"

namespace trainyard::api {

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
  constexpr auto kCount = static_cast<std::uint64_t>(vertex::kMlNumbers - vertex::kNumberMin);
  return vertex::kNumberMin + static_cast<std::int64_t>(RandomBytes<std::uint64_t>() % kCount);
}

}  // namespace trainyard::api

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "api/messages.h"
#include "api/ml/ml_handlers.h"
#include "base/wire/utf8.h"
#include "rules/cluster/region.h"

namespace trainyard::api {

namespace {

/// gcloud prints a warning for any 404, and reads nothing of the resource.
Result<Response> PlaceAnswer(const Request& request, const char* kind, std::string_view name) {
  const std::string_view region = kind == std::string_view("zone") ? cluster::RegionOf(name) : name;
  if (cluster::FindRegion(region) == nullptr)
    return std::unexpected(NotFound("The " + std::string(kind) + " " + wire::ReplaceMalformed(name) +
                                    " was not found. Training runs in the regions that `gcloud alpha "
                                    "ai-platform locations list` shows."));
  return Response::Json(boost::json::serialize(
      boost::json::object{{"kind", std::string("compute#") + kind},
                          {"name", name},
                          {"status", "UP"},
                          {"selfLink", "https://www.googleapis.com" + std::string(request.path)}}));
}

}  // namespace

Result<Response> GetComputeRegion(Request& request) {
  return PlaceAnswer(request, "region", request.Parameter("region"));
}

Result<Response> GetComputeZone(Request& request) {
  return PlaceAnswer(request, "zone", request.Parameter("zone"));
}

}  // namespace trainyard::api

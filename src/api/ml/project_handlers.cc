#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <utility>

#include "api/messages.h"
#include "api/system_parameters.h"
#include "base/wire/json.h"
#include "base/wire/utf8.h"
#include "rules/cluster/machine_type.h"
#include "rules/cluster/project_number.h"
#include "rules/cluster/region.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::api {

namespace {

using ml::v1::AcceleratorConfig;
namespace json = boost::json;
using control::Instance;

constexpr int kPageSizeDefault = 20;
constexpr int kLocationsPageMax = 100;

/// The only capability is training; the accelerators are those of the original that a job in the region may
/// request and can get. Clients of ml v1 do not know the names of those that only Vertex AI has.
ml::v1::Location LocationOf(std::string_view project, const cluster::Region& region,
                            const RegionOffers& offers) {
  ml::v1::Location location;
  location.set_name("projects/" + std::string(project) + "/locations/" + std::string(region.name));
  ml::v1::Capability& training = *location.add_capabilities();
  training.set_type(ml::v1::Capability::TRAINING);
  for (int number = AcceleratorConfig::Type_MIN + 1; number <= AcceleratorConfig::Type_MAX; ++number) {
    if (!AcceleratorConfig::Type_IsValid(number)) continue;
    const auto type = static_cast<AcceleratorConfig::Type>(number);
    if (cluster::IsOfVertex(type)) continue;
    if (region.Has(type) && offers(std::string(region.name), type))
      training.add_available_accelerators(static_cast<ml::v1::Capability::AvailableAccelerators>(number));
  }
  return location;
}

Error NoSuchLocation(const Request& request) {
  return NotFound("The location " + wire::ReplaceMalformed(request.Parameter("location")) +
                  " is not available for training.");
}

Result<int> PageSize(const Request& request) {
  TY_TRY(int size, QueryNumber(request, "pageSize", "page_size"));
  if (size < 0) return std::unexpected(InvalidArgument("page_size", "The page size must not be negative"));
  return size == 0 ? kPageSizeDefault : std::min(size, kLocationsPageMax);
}

Error WrongToken() { return InvalidArgument("page_token", "The page token is not valid for this request"); }

Error NoSuchOperation(const Request& request) {
  return NotFound("The operation " + wire::ReplaceMalformed(request.Parameter("operation")) +
                  " was not found. Methods for training create no operations.");
}

}  // namespace

Result<Response> GetConfig(const cluster::NumberOf& number_of, Request& request) {
  const std::int64_t number = number_of(request.Parameter("project"));
  ml::v1::GetConfigResponse config;
  config.set_service_account(cluster::ServiceAccount(number));
  config.set_service_account_project(number);
  config.mutable_config()->set_tpu_service_account(cluster::TpuServiceAccount(number));
  return Response::Json(wire::PrintJson(config));
}

Result<Response> GetLocation(const RegionOffers& offers, Request& request) {
  const cluster::Region* region = cluster::FindRegion(request.Parameter("location"));
  if (region == nullptr) return std::unexpected(NoSuchLocation(request));
  return Response::Json(wire::PrintJson(LocationOf(request.Parameter("project"), *region, offers)));
}

/// By name. A page token is the name of the last location of the previous page.
Result<Response> ListLocations(const RegionOffers& offers, Request& request) {
  TY_TRY(int page_size, PageSize(request));
  std::vector<const cluster::Region*> regions;
  for (const cluster::Region& region : cluster::Regions()) regions.push_back(&region);
  const auto name = [](const cluster::Region* region) { return region->name; };
  std::ranges::sort(regions, {}, name);
  auto next = regions.begin();
  if (const std::string_view token = request.Query("pageToken"); !token.empty()) {
    next = std::ranges::find(regions, token, name);
    if (next == regions.end()) return std::unexpected(WrongToken());
    ++next;
  }
  ml::v1::ListLocationsResponse page;
  for (; next != regions.end() && page.locations_size() < page_size; ++next)
    *page.add_locations() = LocationOf(request.Parameter("project"), **next, offers);
  if (next != regions.end()) page.set_next_page_token(std::string((*std::prev(next))->name));
  return Response::Json(wire::PrintJson(page));
}

Result<Response> ListOperations(Request& request) {
  TY_RETURN_IF_ERROR(PageSize(request));
  if (!request.Query("pageToken").empty()) return std::unexpected(WrongToken());
  return Response::Json(wire::PrintJson(longrunning::ListOperationsResponse()));
}

Result<Response> GetOperation(Request& request) { return std::unexpected(NoSuchOperation(request)); }

awaitable<Result<Response>> CancelOperation(Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<google::protobuf::Empty>(request, kSmallBodyBytesMax));
  co_return std::unexpected(NoSuchOperation(request));
}

namespace {

constexpr std::string_view kEveryLocation = "-";
constexpr std::string_view kDescription =
    "Chips of the replica's own machine. They have no network endpoint: use TPUClusterResolver('local')";

/// A project is named by its id or its number.
bool IsProjectOf(const Instance& instance, std::string_view project) {
  return project == instance.project || project == std::to_string(instance.project_number);
}

json::object NodeOf(const Instance& instance) {
  json::object node{{"name", "projects/" + instance.project + "/locations/" + instance.zone + "/nodes/" +
                                 instance.tpu->node_name},
                    {"description", kDescription},
                    {"acceleratorType", instance.tpu->accelerator_type},
                    {"state", "READY"},
                    {"health", "HEALTHY"},
                    {"networkEndpoints", json::array()},
                    {"apiVersion", "V1"}};
  if (!instance.runtime_version.empty()) node["tensorflowVersion"] = instance.runtime_version;
  return node;
}

}  // namespace

awaitable<Result<Response>> GetTpuNode(const AskingInstance& asking, Request& request) {
  const std::string& node = request.Parameter("node");
  TY_CO_TRY(const std::optional<Instance> instance, co_await asking(request));
  if (instance && instance->tpu && IsProjectOf(*instance, request.Parameter("project")) &&
      request.Parameter("location") == instance->zone && node == instance->tpu->node_name)
    co_return Response::Json(json::serialize(NodeOf(*instance)));
  co_return std::unexpected(NotFound("Resource 'projects/" +
                                     wire::ReplaceMalformed(request.Parameter("project")) + "/locations/" +
                                     wire::ReplaceMalformed(request.Parameter("location")) + "/nodes/" +
                                     wire::ReplaceMalformed(node) + "' was not found"));
}

awaitable<Result<Response>> ListTpuNodes(const AskingInstance& asking, Request& request) {
  const std::string& location = request.Parameter("location");
  TY_CO_TRY(const std::optional<Instance> instance, co_await asking(request));
  json::object page;
  if (instance && instance->tpu && IsProjectOf(*instance, request.Parameter("project")) &&
      (location == instance->zone || location == kEveryLocation))
    page["nodes"] = json::array{NodeOf(*instance)};
  co_return Response::Json(json::serialize(page));
}

}  // namespace trainyard::api

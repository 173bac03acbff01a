#include "api/ml/ml_handlers.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <utility>

#include "base/wire/utf8.h"

namespace trainyard::api {

namespace {

namespace json = boost::json;
using boost::asio::awaitable;
using control::Instance;
using http::Request;
using http::Response;

constexpr std::string_view kEveryLocation = "-";
constexpr std::string_view kDescription =
    "Chips of the replica's own machine, which have no network endpoint: TPUClusterResolver('local')";

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

#include <algorithm>
#include <array>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/fnv1a.h"
#include "base/text/hex.h"
#include "base/wire/utf8.h"
#include "rules/cluster/project_number.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using identity::Identities;
namespace v1 = identity::v1;

struct KnownService {
  std::string_view name;
  std::string_view title;
};
/// The services provided here, and others that tutorials enable in addition although they are not used.
/// Sorted by name.
constexpr std::array kServices{
    KnownService{"cloudresourcemanager.googleapis.com", "Cloud Resource Manager API"},
    KnownService{"compute.googleapis.com", "Compute Engine API (no method of it is served here)"},
    KnownService{"containerregistry.googleapis.com",
                 "Container Registry API (no method of it is served here)"},
    KnownService{"iam.googleapis.com", "Identity and Access Management (IAM) API"},
    KnownService{"iamcredentials.googleapis.com", "IAM Service Account Credentials API"},
    KnownService{"logging.googleapis.com", "Cloud Logging API"},
    KnownService{"ml.googleapis.com", "AI Platform Training & Prediction API"},
    KnownService{"serviceusage.googleapis.com", "Service Usage API"},
    KnownService{"storage-api.googleapis.com", "Google Cloud Storage JSON API"},
    KnownService{"storage-component.googleapis.com", "Cloud Storage"},
    KnownService{"storage.googleapis.com", "Cloud Storage API"},
    KnownService{"tpu.googleapis.com", "Cloud TPU API"}};

constexpr int kBatchMax = 20;  // Source: serviceusage v1, services.batchEnable
constexpr std::string_view kOperations = "operations/";
constexpr std::string_view kOperationId = "acf.p2-";
constexpr int kHexDigits = 16;

Result<v1::Service> ServiceOf(Identities& identities, const std::string& project, std::string_view name) {
  const auto known = std::ranges::find(kServices, name, &KnownService::name);
  if (known == kServices.end()) {
    return std::unexpected(
        NotFound("Not found or permission denied for service(s): " + wire::ReplaceMalformed(name) +
                 ". This server has those that `gcloud services list` shows."));
  }
  v1::Service service;
  const std::string parent = "projects/" + std::to_string(identities.ShownNumber(project));
  service.set_name(parent + "/services/" + std::string(name));
  service.set_parent(parent);
  service.mutable_config()->set_name(std::string(known->name));
  service.mutable_config()->set_title(std::string(known->title));
  service.set_state("ENABLED");
  return service;
}

/// "operations/acf.p2-NUMBER-HEX": the name contains everything about it, so none is stored.
v1::ServiceOperation DoneOperation(Identities& identities, const std::string& project,
                                   std::string_view what) {
  v1::ServiceOperation operation;
  operation.set_name(std::string(kOperations)
                         .append(kOperationId)
                         .append(std::to_string(identities.ShownNumber(project)))
                         .append("-")
                         .append(text::HexNumber(Fnv1a(what), kHexDigits)));
  operation.set_done(true);
  return operation;
}

}  // namespace

awaitable<Result<Response>> EnableService(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::EnableServiceRequest>(request));
  const std::string& project = request.Parameter("project");
  TY_CO_TRY(v1::Service service, ServiceOf(identities, project, request.Parameter("service")));
  v1::ServiceOperation operation = DoneOperation(identities, project, service.name());
  operation.mutable_response()->set_type(
      "type.googleapis.com/google.api.serviceusage.v1.EnableServiceResponse");
  *operation.mutable_response()->mutable_service() = std::move(service);
  co_return Response::Json(wire::PrintJson(operation));
}

awaitable<Result<Response>> BatchEnableServices(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::BatchEnableServicesRequest>(request));
  if (body.service_ids().empty() || body.service_ids_size() > kBatchMax) {
    co_return std::unexpected(
        InvalidArgument("service_ids", "A batch has 1 to " + std::to_string(kBatchMax) + " services"));
  }
  const std::string& project = request.Parameter("project");
  v1::ServiceOperation operation = DoneOperation(identities, project, body.SerializeAsString());
  operation.mutable_response()->set_type(
      "type.googleapis.com/google.api.serviceusage.v1.BatchEnableServicesResponse");
  for (const std::string& id : body.service_ids()) {
    TY_CO_TRY(*operation.mutable_response()->add_services(), ServiceOf(identities, project, id));
  }
  co_return Response::Json(wire::PrintJson(operation));
}

Result<Response> GetService(Identities& identities, Request& request) {
  TY_TRY(const v1::Service service,
         ServiceOf(identities, request.Parameter("project"), request.Parameter("service")));
  return Response::Json(wire::PrintJson(service));
}

/// On one page. All are enabled: filter=state:DISABLED finds none.
Result<Response> ListServices(Identities& identities, Request& request) {
  v1::ListServicesResponse answer;
  if (request.Query("filter") == "state:DISABLED") return Response::Json(wire::PrintJson(answer));
  for (const KnownService& known : kServices) {
    TY_TRY(*answer.add_services(), ServiceOf(identities, request.Parameter("project"), known.name));
  }
  return Response::Json(wire::PrintJson(answer));
}

awaitable<Result<Response>> GenerateServiceIdentity(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<v1::EnableServiceRequest>(request));
  const std::string& project = request.Parameter("project");
  TY_CO_TRY(const v1::Service service, ServiceOf(identities, project, request.Parameter("service")));
  v1::ServiceOperation operation = DoneOperation(identities, project, service.name() + "/identity");
  v1::ServiceOperation::Response& response = *operation.mutable_response();
  response.set_type("type.googleapis.com/google.api.serviceusage.v1beta1.ServiceIdentity");
  const std::int64_t number = identities.ShownNumber(project);
  const bool is_tpu = service.config().name() == "tpu.googleapis.com";
  response.set_email(is_tpu ? cluster::TpuServiceAccount(number) : cluster::ServiceAccount(number));
  response.set_unique_id(std::to_string(number));
  co_return Response::Json(wire::PrintJson(operation));
}

Result<Response> GetServiceOperation(Request& request) {
  const std::string& id = request.Parameter("operation");
  if (!id.starts_with(kOperationId)) {
    return std::unexpected(NotFound("The operation " + wire::ReplaceMalformed(id) + " cannot be found."));
  }
  v1::ServiceOperation operation;
  operation.set_name(std::string(kOperations) + id);
  operation.set_done(true);
  return Response::Json(wire::PrintJson(operation));
}

}  // namespace trainyard::api

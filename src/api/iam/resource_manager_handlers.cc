#include <algorithm>
#include <array>
#include <set>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/fnv1a.h"
#include "base/text/hex.h"
#include "base/wire/filter.h"
#include "base/wire/utf8.h"
#include "control/job_service.h"
#include "net/access/caller.h"
#include "rules/cluster/project_number.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {

namespace {

using identity::Identities;
namespace v1 = identity::v1;

constexpr int kPageSizeMax = 500;  // Source: cloudresourcemanager v1, projects.list

v1::Project Shown(Identities& identities, const std::string& id) {
  v1::Project project;
  project.set_project_id(id);
  project.set_project_number(identities.ShownNumber(id));
  project.set_name(id);
  project.set_lifecycle_state("ACTIVE");
  return project;
}

/// The projects in which the caller may do something, sorted: Google lists those that it may get, but a role
/// without that permission (ml.jobOwner) is of no use to somebody who is not told where.
awaitable<Result<std::vector<std::string>>> Visible(Identities& identities, const MoreProjects& more,
                                                    std::string principal) {
  const std::vector<std::string> named = identities.Projects();
  std::set<std::string> all(named.begin(), named.end());
  if (more) {
    TY_CO_TRY(const std::vector<std::string> others, co_await more());
    all.insert(others.begin(), others.end());
  }
  std::vector<std::string> visible;
  for (const std::string& project : all) {
    if (principal.empty() || identities.Knows(principal, iam::Resource::Project(project)))
      visible.push_back(project);
  }
  co_return visible;
}

}  // namespace

MoreProjects ProjectsOfJobs(control::JobService& jobs) {
  return [&jobs] { return jobs.RecentProjects(); };
}

/// A page token is the id of the last project of the page before.
awaitable<Result<Response>> ListProjects(Identities& identities, const MoreProjects& more, Request& request) {
  TY_CO_TRY(const int wanted, QueryNumber(request, "pageSize", "page_size"));
  if (wanted < 0)
    co_return std::unexpected(InvalidArgument("page_size", "The page size must not be negative"));
  const int page_size = wanted == 0 ? kPageSizeMax : std::min(wanted, kPageSizeMax);
  TY_CO_TRY(const wire::Filter filter, wire::ParseFilter(request.Query("filter")));
  TY_CO_RETURN_IF_ERROR(wire::CheckFilter(filter, *v1::Project::descriptor()));
  TY_CO_TRY(const std::vector<std::string> visible,
            co_await Visible(identities, more, access::PrincipalOf(request)));
  v1::ListProjectsResponse page;
  for (auto id = std::ranges::upper_bound(visible, request.Query("pageToken")); id != visible.end(); ++id) {
    v1::Project project = Shown(identities, *id);
    if (!wire::Matches(filter, project)) continue;
    if (page.projects_size() == page_size) {
      page.set_next_page_token(page.projects(page_size - 1).project_id());
      break;
    }
    *page.add_projects() = std::move(project);
  }
  co_return Response::Json(wire::PrintJson(page));
}

/// Any name is valid: a project exists as soon as something names it.
Result<Response> GetProject(Identities& identities, Request& request) {
  return Response::Json(wire::PrintJson(Shown(identities, request.Parameter("project"))));
}

namespace {

struct KnownService {
  std::string_view name;
  std::string_view title;
};
/// The services provided here, and others that tutorials enable in addition although they are not used.
/// Sorted by name.
constexpr std::array kServices{
    KnownService{"cloudresourcemanager.googleapis.com", "Cloud Resource Manager API"},
    KnownService{"compute.googleapis.com", "Compute Engine API (not available on this server)"},
    KnownService{"containerregistry.googleapis.com", "Container Registry API (not available on this server)"},
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
                 ". `gcloud services list` shows the services of this server."));
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
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::EnableServiceRequest>(request));
  const std::string& project = request.Parameter("project");
  TY_CO_TRY(v1::Service service, ServiceOf(identities, project, request.Parameter("service")));
  v1::ServiceOperation operation = DoneOperation(identities, project, service.name());
  operation.mutable_response()->set_type(
      "type.googleapis.com/google.api.serviceusage.v1.EnableServiceResponse");
  *operation.mutable_response()->mutable_service() = std::move(service);
  co_return Response::Json(wire::PrintJson(operation));
}

awaitable<Result<Response>> BatchEnableServices(Identities& identities, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::BatchEnableServicesRequest>(request));
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
  return Answer(ServiceOf(identities, request.Parameter("project"), request.Parameter("service")));
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
  TY_CO_TRY(const auto body, co_await ReadRequest<v1::EnableServiceRequest>(request));
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

#include <algorithm>
#include <set>

#include "api/iam/iam_request.h"
#include "api/iam/identity_handlers.h"
#include "base/wire/filter.h"
#include "control/job_service.h"
#include "net/access/caller.h"
#include "trainyard/identity/v1/methods.pb.h"

namespace trainyard::api {
namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
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

/// The projects that the caller may get, sorted.
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
    const bool may = principal.empty() || identities.Grants(principal, "resourcemanager.projects.get",
                                                            iam::Resource::Project(project));
    if (may) visible.push_back(project);
  }
  co_return visible;
}

awaitable<Result<std::vector<std::string>>> UnfinishedProjects(control::JobService& jobs) {
  std::set<std::string> projects;
  jobs.ForEachUnfinished([&projects](const control::v1::JobRecord& job) { projects.insert(job.project()); });
  co_return std::vector<std::string>(projects.begin(), projects.end());
}

}  // namespace

MoreProjects ProjectsOfJobs(control::JobService& jobs) {
  return [&jobs] { return UnfinishedProjects(jobs); };
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

}  // namespace trainyard::api

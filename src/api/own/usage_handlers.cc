#include "api/own/own_handlers.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/wire/json.h"
#include "control/job_service.h"
#include "control/views/usage_report.h"
#include "net/access/caller.h"
#include "rules/iam/resource.h"

namespace trainyard::api {

namespace {

constexpr const char* kOthers = "(others)";

using boost::asio::awaitable;
using control::v1::UsageReport;

/// The projects of the report whose use the caller may see.
awaitable<std::set<std::string>> SeenProjects(const http::Request& request, const UsageReport& report) {
  std::set<std::string> named;
  for (const UsageReport::Job& job : report.jobs()) named.insert(job.project());
  for (const UsageReport::Project& project : report.projects()) named.insert(project.project());
  std::set<std::string> seen;
  for (const std::string& project : named) {
    iam::Resource resource = iam::Resource::Project(project);
    const Status may = co_await access::Require(request, "trainyard.usage.get", std::move(resource));
    if (may) seen.insert(project);
  }
  co_return seen;
}

/// What others hold stays in the machine's totals, without their names.
void LeaveOutOthers(const std::set<std::string>& seen, UsageReport& report) {
  const auto is_others = [&seen](const auto& entry) { return !seen.contains(entry.project()); };
  const auto leave_out = [&is_others](auto& entries) {
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_others), entries.end());
  };
  leave_out(*report.mutable_jobs());
  leave_out(*report.mutable_projects());
  for (UsageReport::Device& device : *report.mutable_machine()->mutable_devices()) {
    if (device.job_id().empty() || seen.contains(device.project())) continue;
    device.set_project(kOthers);
    device.set_job_id(kOthers);
  }
}

}  // namespace

awaitable<Result<http::Response>> GetUsage(const UsageSource& source, http::Request& request) {
  UsageReport report;
  control::AddJobs(source.jobs.registry(), report);
  source.add_machine(report);
  control::CompleteReport(report);
  if (request.caller != nullptr) {
    const std::set<std::string> seen = co_await SeenProjects(request, report);
    LeaveOutOthers(seen, report);
    iam::Resource all = iam::Resource::Installation();
    const Status sees_all = co_await access::Require(request, "trainyard.usage.get", std::move(all));
    if (!sees_all) report.clear_principal_quotas();
  }
  co_return http::Response::Json(wire::PrintJson(report));
}

}  // namespace trainyard::api

#include "api/own/own_handlers.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "api/messages.h"
#include "base/async/on_pool.h"
#include "base/wire/json.h"
#include "control/job_service.h"
#include "control/views/usage_report.h"
#include "net/access/caller.h"
#include "net/http/text.h"
#include "rules/iam/resource.h"

namespace trainyard::api {

namespace {

using http::Method;

constexpr const char* kABucket = "a bucket";

awaitable<bool> SeesNames(const Request& request) {
  iam::Resource all = iam::Resource::Installation();
  const Status may = co_await access::Require(request, "trainyard.server.get", std::move(all));
  co_return may.has_value();
}

Result<std::chrono::hours> HoursOf(const Request& request) {
  if (!request.HasQuery("hours")) return std::chrono::hours(kHoursDefault);
  const std::optional<std::uint64_t> hours = http::ParseDecimal(request.Query("hours"));
  if (!hours || *hours < 1 || *hours > kHoursMax)
    return std::unexpected(
        InvalidArgument("hours", "It must be a number from 1 to " + std::to_string(kHoursMax)));
  return std::chrono::hours(*hours);
}

}  // namespace

awaitable<Result<Response>> GetMachine(const MachineSource& source, Request& request) {
  control::v1::MachineReport report = co_await source.report();
  if (!co_await SeesNames(request)) {
    for (auto& disk : *report.mutable_disks()) {
      disk.clear_path();
      for (std::string& holds : *disk.mutable_holds()) {
        if (holds.starts_with("bucket ")) holds = kABucket;
      }
    }
  }
  co_return Response::Json(wire::PrintJson(report));
}

awaitable<Result<Response>> GetMachineUsage(const MachineSource& source, Request& request) {
  TY_CO_TRY(const std::chrono::hours hours, HoursOf(request));
  TY_CO_TRY(const control::v1::MachineHistory history, co_await source.history(hours));
  co_return Response::Json(wire::PrintJsonCompact(history) + "\n");
}

awaitable<Result<Response>> ListImages(const MachineSource& source, Request& request) {
  auto list = source.images;
  control::v1::ImageList images = co_await OnPool(source.pool, std::move(list));
  if (!co_await SeesNames(request)) {
    for (auto& image : *images.mutable_images()) image.clear_reference();
  }
  co_return Response::Json(wire::PrintJson(images));
}

awaitable<Result<Response>> ListRuntimes(const RuntimeSource& source, Request&) {
  auto list = source.list;
  control::v1::RuntimeList runtimes = co_await OnPool(source.pool, std::move(list));
  if (source.add_warm) source.add_warm(runtimes);
  co_return Response::Json(wire::PrintJson(runtimes));
}

namespace {

constexpr const char* kOthers = "(others)";

using control::v1::UsageReport;

/// The projects of the report whose use the caller may see.
awaitable<std::set<std::string>> SeenProjects(const Request& request, const UsageReport& report) {
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

/// The use of other projects stays in the machine's totals, without their names.
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

awaitable<Result<Response>> GetUsage(const UsageSource& source, Request& request) {
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
  co_return Response::Json(wire::PrintJson(report));
}

namespace {

constexpr int kNotReady = 503;

}  // namespace

awaitable<Result<Response>> ShowServerStatus(Administration& administration, Request&) {
  const control::v1::AdminStatus status = co_await administration.Status();
  co_return Response::Json(wire::PrintJson(status));
}

awaitable<Result<Response>> SetDrain(Administration& administration, Request& request) {
  TY_CO_TRY(const auto wanted, co_await ReadMessage<control::v1::DrainRequest>(request, kSmallBodyBytesMax));
  co_return Answer(co_await administration.SetDrain(wanted.on(), administration.WhoAsks(request)));
}

awaitable<Result<Response>> BeginBackup(Administration& administration, Request& request) {
  TY_CO_TRY(auto wanted, co_await ReadMessage<control::v1::BackupRequest>(request, kSmallBodyBytesMax));
  if (!wanted.directory().starts_with('/')) {
    co_return std::unexpected(InvalidArgument(
        "directory", "'" + wanted.directory() + "' is not an absolute path on the server's machine"));
  }
  const bool from_machine = co_await administration.IsFromMachine(request);
  co_return Answer(administration.BeginBackup(std::move(wanted), from_machine));
}

Result<Response> ShowBackup(Administration& administration, Request&) {
  return Response::Json(wire::PrintJson(administration.LastBackup()));
}

awaitable<Result<Response>> Reload(Administration& administration, Request&) {
  co_return Answer(co_await administration.Reload());
}

awaitable<Result<Response>> ShowReadiness(Administration& administration, Request&) {
  const control::v1::Readiness readiness = co_await administration.CheckReady();
  Response response = Response::Json(wire::PrintJson(readiness));
  if (!readiness.ready()) response.status = kNotReady;
  response.headers.Set("Cache-Control", "no-store");
  co_return response;
}

awaitable<Result<Response>> Attach(const Supervisors& supervisors, Request& request) {
  return supervisors.attach(request);
}

}  // namespace trainyard::api

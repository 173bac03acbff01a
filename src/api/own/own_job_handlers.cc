#include "api/own/own_handlers.h"

#include <google/protobuf/struct.pb.h>

#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "api/ml/job_request.h"
#include "api/printed.h"
#include "api/system_parameters.h"
#include "base/ascii.h"
#include "base/wire/fit_fields.h"
#include "base/wire/json.h"
#include "base/wire/yaml_value.h"
#include "control/job_service.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::JobListQuery;
using control::JobService;
using control::JobTables;
using control::v1::JobCheck;
using http::Request;
using http::Response;
using ml::v1::Job;

constexpr std::size_t kMaintainBytesMax = 64 << 10;
constexpr std::size_t kJobBytesMax = 1 << 20;  ///< as of jobs.create
constexpr std::string_view kYaml = "application/yaml";

/// The sequence number of an event; 0 if it is absent.
Result<std::int64_t> SeqOf(const Request& request) {
  const std::string_view text = request.Query("afterSeq");
  std::int64_t seq = 0;
  if (text.empty()) return seq;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
  if (error == std::errc() && end == text.data() + text.size() && seq >= 0) return seq;
  return std::unexpected(InvalidArgument("after_seq", "It must be a whole number that is not negative"));
}

bool IsYaml(const Request& request) {
  const std::string_view type = request.headers.Get("Content-Type");
  return EqualsIgnoringCase(TrimSpace(type.substr(0, type.find(';'))), kYaml);
}

/// The JSON that gcloud would send for such a file as its --config.
Result<std::string> JsonOf(const std::string& yaml) {
  TY_TRY(const wire::JsonValue config, wire::ParseYaml(yaml));
  if (config.kind != wire::JsonValue::Kind::kObject)
    return std::unexpected(
        InvalidArgument("", "The text must hold a Job: a mapping of field names to values"));
  TY_TRY(const wire::JsonValue fitted, wire::FitFields(config, *Job::descriptor()));
  return wire::PrintJsonTree(fitted);
}

Status Read(const Request& request, std::string text, Job& job) {
  if (IsYaml(request)) {
    TY_TRY(text, JsonOf(text));
  }
  return wire::ParseJson(text, job, "job");
}

/// A text that cannot be parsed is an error in the job, not in the request.
JobCheck Unreadable(const Error& error) {
  JobCheck check;
  for (const FieldViolation& violation : error.violations) {
    JobCheck::Violation& shown = *check.add_violations();
    shown.set_field(violation.field);
    shown.set_description(violation.description);
  }
  if (!check.violations().empty()) return check;
  check.add_violations()->set_field(error.field);
  check.mutable_violations(0)->set_description(error.message);
  return check;
}

}  // namespace

awaitable<Result<Response>> ListJobRows(JobTablesPrinter& rows, Request& request) {
  TY_CO_TRY(const int page_size, QueryNumber(request, "pageSize", "page_size"));
  JobListQuery query{.project = request.Parameter("project"),
                     .page_size = page_size,
                     .page_token = std::string(request.Query("pageToken")),
                     .filter = std::string(request.Query("filter"))};
  TY_CO_TRY(control::v1::JobRows page, co_await rows.jobs.tables().List(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(page));
}

awaitable<Result<Response>> SummarizeJobs(JobTablesPrinter& rows, Request& request) {
  std::string filter(request.Query("filter"));
  TY_CO_TRY(control::v1::JobSummary summary,
            co_await rows.jobs.tables().Summarize(request.Parameter("project"), std::move(filter)));
  co_return co_await Printed(rows.printer, request, std::move(summary));
}

awaitable<Result<Response>> GetJobTimeline(JobTablesPrinter& rows, Request& request) {
  TY_CO_TRY(const std::int64_t after_seq, SeqOf(request));
  JobTables::TimelineQuery query{
      .job = JobNameOf(request), .after_seq = after_seq, .trial_id = std::string(request.Query("trial"))};
  TY_CO_TRY(control::v1::JobTimeline timeline, co_await rows.jobs.tables().Timeline(std::move(query)));
  co_return co_await Printed(rows.printer, request, std::move(timeline));
}

awaitable<Result<Response>> ValidateJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  Job job;
  const Status read = Read(request, std::move(text), job);
  if (!read) co_return Response::Json(wire::PrintJson(Unreadable(read.error())));
  control::Creator creator = CreatorOf(request);
  TY_CO_TRY(const JobCheck check,
            co_await jobs.Check(request.Parameter("project"), std::move(job), std::move(creator)));
  co_return Response::Json(wire::PrintJson(check));
}

awaitable<Result<Response>> GetJobStatus(JobService& jobs, Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_TRY(control::v1::JobStatus status, co_await jobs.Describe(std::move(name)));
  co_return Response::Json(wire::PrintJson(status));
}

awaitable<Result<Response>> DeleteJob(JobService& jobs, Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_RETURN_IF_ERROR(co_await jobs.removal().Delete(std::move(name)));
  co_return Response::Json("{}");
}

awaitable<Result<Response>> MaintainJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kMaintainBytesMax));
  google::protobuf::Struct body;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, body, ""));
  const auto replica = body.fields().find("replica");
  if (body.fields_size() != 1 || replica == body.fields().end() || !replica->second.has_string_value()) {
    co_return std::unexpected(
        InvalidArgument("replica", "The body must be {\"replica\": TASK}, such as \"worker-replica-0\""));
  }
  std::string task = replica->second.string_value();
  TY_CO_RETURN_IF_ERROR(co_await jobs.Maintain(JobNameOf(request), std::move(task)));
  co_return Response::Json("{}\n");
}

}  // namespace trainyard::api

#include "api/own/own_handlers.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/logging/logging_handlers.h"
#include "api/messages.h"
#include "api/ml/job_request.h"
#include "api/system_parameters.h"
#include "base/ascii.h"
#include "base/async/on_pool.h"
#include "base/wire/error_body.h"
#include "base/wire/fit_fields.h"
#include "base/wire/json.h"
#include "base/wire/yaml_value.h"
#include "control/job_service.h"
#include "trainyard/control/v1/status.pb.h"

namespace trainyard::api {

namespace {

using control::JobService;
using control::JobTables;
using control::JobWatches;
using control::v1::JobCheck;
using ml::v1::Job;

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
    return std::unexpected(InvalidArgument("", "The text must be a Job: a mapping of field names to values"));
  TY_TRY(const wire::JsonValue fitted, wire::FitFields(config, *Job::descriptor()));
  return wire::PrintJsonTree(fitted);
}

Status ReadJob(const Request& request, std::string text, Job& job) {
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
  TY_CO_TRY(control::JobListQuery query, ListQueryOf(request));
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

awaitable<Result<Response>> GetPreparation(const PreparationSource& source, Request& request) {
  TY_CO_TRY(control::v1::JobRecord job, co_await source.jobs.Record(JobNameOf(request)));
  auto read = [&source, job = std::move(job)] { return source.read(job); };
  Response response;
  response.body = co_await OnPool(source.pool, std::move(read));
  if (std::get<std::string>(response.body).empty())
    co_return std::unexpected(
        NotFound("No output of tools is kept for this job: nothing had to be installed for it, or it was "
                 "installed on another machine, or by an earlier version of the server"));
  SetAttachment("text/plain; charset=utf-8", request.Parameter("job") + "-preparation.log", response.headers);
  co_return response;
}

awaitable<Result<Response>> ValidateJob(JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  Job job;
  const Status read = ReadJob(request, std::move(text), job);
  if (!read) co_return Response::Json(wire::PrintJson(Unreadable(read.error())));
  control::Creator creator = CreatorOf(request);
  co_return Answer(co_await jobs.Check(request.Parameter("project"), std::move(job), std::move(creator)));
}

awaitable<Result<Response>> GetJobStatus(JobService& jobs, Request& request) {
  co_return Answer(co_await jobs.Describe(JobNameOf(request)));
}

awaitable<Result<Response>> DeleteJob(JobService& jobs, Request& request) {
  TY_CO_RETURN_IF_ERROR(co_await jobs.removal().Delete(JobNameOf(request)));
  co_return Response::Json("{}");
}

awaitable<Result<Response>> MaintainJob(JobService& jobs, Request& request) {
  TY_CO_TRY(const auto body, co_await ReadMessage<google::protobuf::Struct>(request, kSmallBodyBytesMax));
  const auto replica = body.fields().find("replica");
  if (body.fields_size() != 1 || replica == body.fields().end() || !replica->second.has_string_value()) {
    co_return std::unexpected(
        InvalidArgument("replica", "The body must be {\"replica\": TASK}, such as \"worker-replica-0\""));
  }
  std::string task = replica->second.string_value();
  co_return Answer(co_await jobs.Maintain(JobNameOf(request), std::move(task)));
}

namespace {

constexpr int kGone = 410;

JobWatches::Query QueryOf(const Request& request) {
  const std::string_view last = request.headers.Get("Last-Event-ID");
  JobWatches::Query query{.project = request.Parameter("project"),
                          .filter = std::string(request.Query("filter")),
                          .resume_token = std::string(last.empty() ? request.Query("resumeToken") : last),
                          .logs_of = {}};
  for (const auto& [name, value] : request.query)
    if (name == "logsOf") query.logs_of.push_back(value);
  return query;
}

/// A log's length is information about its contents.
awaitable<Status> RequireTheirLogs(const Request& request, const JobWatches::Query& query) {
  for (std::size_t i = 0; i < std::min(query.logs_of.size(), JobWatches::kLogsMax); ++i) {
    logs::LogQuery wanted;
    wanted.projects = {query.project};
    wanted.bounds.job_id = query.logs_of[i];
    TY_CO_RETURN_IF_ERROR(co_await RequireLogs(request, std::move(wanted)));
  }
  co_return Status();
}

/// One client's watch.
struct WatchClient {
  std::shared_ptr<boost::asio::thread_pool> printer;
  std::shared_ptr<control::JobWatch> watch;
  std::chrono::milliseconds heartbeat{};
};

awaitable<Result<std::optional<http::StreamPart>>> NextChanges(std::shared_ptr<WatchClient> client) {
  TY_CO_TRY(std::optional<control::v1::JobChanges> changes, co_await client->watch->Next(client->heartbeat));
  if (!changes) co_return std::nullopt;
  auto print = [told = std::make_shared<const control::v1::JobChanges>(*std::move(changes))] {
    return "id: " + told->resume_token() + "\ndata: " + wire::PrintJsonCompact(*told) + "\n\n";
  };
  std::string event = co_await OnPool(*client->printer, std::move(print));
  co_return http::StreamPart(std::move(event));
}

bool IsListAgain(const Error& error) { return error.info && error.info->reason == JobWatches::kListAgain; }

}  // namespace

awaitable<Result<Response>> WatchJobs(JobWatchSource& source, Request& request) {
  JobWatches::Query query = QueryOf(request);
  TY_CO_RETURN_IF_ERROR(co_await RequireTheirLogs(request, query));
  Result<std::shared_ptr<control::JobWatch>> watch = co_await source.jobs.watches().Start(std::move(query));
  if (!watch && IsListAgain(watch.error()))
    co_return Response::Json(wire::PrintErrorBody(watch.error(), kGone), kGone);
  if (!watch) co_return std::unexpected(std::move(watch).error());
  auto client = std::make_shared<WatchClient>(source.printer, *std::move(watch), source.heartbeat);
  co_return EventStream([client] { return NextChanges(client); });
}

}  // namespace trainyard::api

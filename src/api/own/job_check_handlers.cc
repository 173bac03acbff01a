#include <string>
#include <utility>

#include "api/creator_of.h"
#include "api/own/own_handlers.h"
#include "api/system_parameters.h"
#include "base/ascii.h"
#include "base/wire/fit_fields.h"
#include "base/wire/json.h"
#include "base/wire/yaml_value.h"
#include "control/job_service.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::v1::JobCheck;
using http::Request;
using http::Response;
using ml::v1::Job;

constexpr std::size_t kJobBytesMax = 1 << 20;  ///< as of jobs.create
constexpr std::string_view kYaml = "application/yaml";

bool IsYaml(const Request& request) {
  const std::string_view type = request.headers.Get("Content-Type");
  return EqualsIgnoringCase(TrimSpace(type.substr(0, type.find(';'))), kYaml);
}

/// The JSON that gcloud would send for its --config.
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

/// What could not be read is wrong with the job, not with the question.
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

awaitable<Result<Response>> ValidateJob(control::JobService& jobs, Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kJobBytesMax));
  Job job;
  const Status read = Read(request, std::move(text), job);
  if (!read) co_return Response::Json(wire::PrintJson(Unreadable(read.error())));
  control::Creator creator = CreatorOf(request);
  TY_CO_TRY(const JobCheck check,
            co_await jobs.Check(request.Parameter("project"), std::move(job), std::move(creator)));
  co_return Response::Json(wire::PrintJson(check));
}

}  // namespace trainyard::api

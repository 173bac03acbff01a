#include "api/own/own_handlers.h"

#include <charconv>
#include <utility>

#include "api/ml/job_request.h"
#include "api/printed.h"
#include "base/wire/json.h"
#include "control/curves/job_curves.h"
#include "net/access/caller.h"
#include "net/http/text.h"
#include "rules/iam/resource.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using curves::JobCurves;
using http::Request;
using http::Response;

constexpr std::size_t kQueryBytesMax = 1 << 20;

awaitable<bool> MaySee(const Request& request, std::string job_id) {
  iam::Resource job = iam::Resource::Job(request.Parameter("project"), std::move(job_id));
  const Status may = co_await access::Require(request, "ml.jobs.get", std::move(job));
  co_return may.has_value();
}

Result<JobCurves::SummaryName> SummaryOf(const Request& request) {
  JobCurves::SummaryName name{.series = {.trial_id = std::string(request.Query("trial")),
                                         .run = std::string(request.Query("run")),
                                         .tag = std::string(request.Query("tag"))}};
  if (name.series.tag.empty())
    return std::unexpected(InvalidArgument("tag", "Say which tag, as the list of summaries has it."));
  const std::string_view step = request.Query("step");
  const auto parsed = std::from_chars(step.data(), step.data() + step.size(), name.step);
  if (step.empty() || parsed.ec != std::errc() || parsed.ptr != step.data() + step.size())
    return std::unexpected(InvalidArgument("step", "The step must be a whole number."));
  return name;
}

}  // namespace

awaitable<Result<Response>> ListScalars(JobCurves& curves, Request& request) {
  TY_CO_TRY(control::v1::ScalarList list, co_await curves.ListScalars(JobNameOf(request)));
  co_return co_await Printed(curves.thread(), request, std::move(list));
}

awaitable<Result<Response>> ListSummaries(JobCurves& curves, Request& request) {
  TY_CO_TRY(control::v1::SummaryList list, co_await curves.ListSummaries(JobNameOf(request)));
  co_return co_await Printed(curves.thread(), request, std::move(list));
}

awaitable<Result<Response>> QueryScalars(JobCurves& curves, Request& request) {
  TY_CO_TRY(const std::string text, co_await request.body->ReadAll(kQueryBytesMax));
  control::v1::ScalarQuery query;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, query));
  JobCurves::MaySee may_see = [&request](std::string job_id) { return MaySee(request, std::move(job_id)); };
  TY_CO_TRY(std::string answer,
            co_await curves.QueryScalars(request.Parameter("project"), std::move(query), std::move(may_see)));
  co_return co_await Compressed(curves.thread(), request, std::move(answer));
}

awaitable<Result<Response>> ReadSummary(JobCurves& curves, Request& request) {
  TY_CO_TRY(JobCurves::SummaryName summary, SummaryOf(request));
  TY_CO_TRY(curves::SummaryBytes read, co_await curves.ReadSummary(JobNameOf(request), std::move(summary)));
  Response response = Response::Text(std::move(read.bytes));
  response.headers.Set("Content-Type", read.content_type);
  http::ConfineContent(response.headers);
  co_return response;
}

}  // namespace trainyard::api

#include "api/own/own_handlers.h"

#include <charconv>
#include <utility>

#include "api/messages.h"
#include "api/ml/job_request.h"
#include "base/wire/json.h"
#include "base/wire/utf8.h"
#include "control/curves/job_curves.h"
#include "control/job_service.h"
#include "net/access/caller.h"
#include "net/http/text.h"
#include "rules/iam/resource.h"
#include "rules/tuning/insight.h"
#include "stores/studies/study_cases.h"
#include "stores/studies/study_service.h"
#include "trainyard/control/v1/tuning_insight.pb.h"

namespace trainyard::api {

namespace {

using control::InsightThread;
using control::v1::TuningInsight;
using curves::JobCurves;

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
    return std::unexpected(InvalidArgument("tag", "A tag is required. Use one from the list of summaries."));
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
  TY_CO_TRY(auto query, co_await ReadMessage<control::v1::ScalarQuery>(request, kQueryBytesMax));
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

namespace {

Response Print(const tuning::Insight& insight) {
  TuningInsight shown;
  for (const tuning::Insight::Importance& one : insight.importances) {
    TuningInsight::Importance& importance = *shown.add_importances();
    importance.set_parameter(wire::ReplaceMalformed(one.parameter));
    importance.set_share(one.share);
  }
  shown.set_note(insight.note);
  for (const tuning::Insight::Best& one : insight.best_so_far) {
    TuningInsight::Best& best = *shown.add_best_so_far();
    best.set_trial_id(std::to_string(one.trial));
    best.set_value(one.value);
  }
  for (const tuning::Insight::Stopped& one : insight.stopped) {
    TuningInsight::Stopped& stopped = *shown.add_stopped();
    stopped.set_trial_id(std::to_string(one.trial));
    stopped.set_reason(one.reason);
  }
  shown.set_metric(insight.metric.name);
  shown.set_maximize(!insight.metric.name.empty() && insight.metric.maximize);
  return Response::Json(wire::PrintJson(shown));
}

awaitable<Result<InsightThread::Study>> Read(studies::StudyService& studies, studies::StudyName name) {
  auto read = [&](studies::StudyStore& store) { return studies::ReadEvidence(store, name); };
  TY_CO_TRY(studies::StudyEvidence evidence, co_await studies.Read(read));
  co_return InsightThread::Study{.spec = std::move(evidence.spec),
                                 .trials = std::move(evidence.trials),
                                 .stopped = std::move(evidence.stopped)};
}

}  // namespace

awaitable<Result<Response>> ExplainJobTuning(control::JobService& jobs, Request& request) {
  wire::JobName name = JobNameOf(request);
  TY_CO_TRY(control::v1::JobRecord record, co_await jobs.Record(std::move(name)));
  TY_CO_TRY(const tuning::Insight insight, co_await jobs.tuning().Explain(std::move(record)));
  co_return Print(insight);
}

awaitable<Result<Response>> ExplainStudyTuning(control::JobService& jobs, studies::StudyService& studies,
                                               Request& request) {
  studies::StudyName name{.project = request.Parameter("project"),
                          .location = request.Parameter("location"),
                          .study_id = request.Parameter("study")};
  auto revision = [&](studies::StudyStore& store) { return studies::ReadRevision(store, name); };
  TY_CO_TRY(const studies::StudyRevision now, co_await studies.Read(revision));
  InsightThread::Question question{
      .subject = {.kind = InsightThread::Subject::Kind::kStudy, .uid = now.uid},
      .revision = {.changes = now.changes, .deletions = now.deletions},
      .read = [&studies, name = std::move(name)] { return Read(studies, name); }};
  TY_CO_TRY(const tuning::Insight insight, co_await jobs.tuning().insights().Explain(std::move(question)));
  co_return Print(insight);
}

}  // namespace trainyard::api

#include "api/own/own_handlers.h"

#include <utility>

#include "api/ml/job_request.h"
#include "base/wire/json.h"
#include "base/wire/utf8.h"
#include "control/job_service.h"
#include "rules/tuning/insight.h"
#include "stores/studies/study_service.h"
#include "trainyard/control/v1/tuning_insight.pb.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using control::InsightThread;
using control::v1::TuningInsight;
using http::Request;
using http::Response;

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
  TY_CO_TRY(studies::StudyEvidence evidence, co_await studies.Evidence(std::move(name)));
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
  TY_CO_TRY(const studies::StudyRevision now, co_await studies.Revision(name));
  InsightThread::Question question{
      .subject = {.kind = InsightThread::Subject::Kind::kStudy, .uid = now.uid},
      .revision = {.changes = now.changes, .deletions = now.deletions},
      .read = [&studies, name = std::move(name)] { return Read(studies, name); }};
  TY_CO_TRY(const tuning::Insight insight, co_await jobs.tuning().insights().Explain(std::move(question)));
  co_return Print(insight);
}

}  // namespace trainyard::api

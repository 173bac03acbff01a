#include "api/study_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <utility>

#include "cluster/region.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"
#include "wire/json.h"
#include "wire/utf8.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using studies::StudyService;

constexpr std::size_t kBodyBytesMax = 1 << 20;
constexpr std::size_t kSmallBodyBytesMax = 64 << 10;

Status CheckLocation(const Request& request) {
  const std::string& location = request.Parameter("location");
  if (cluster::FindRegion(location) != nullptr) return {};
  return std::unexpected(
      NotFound("The location " + wire::ReplaceMalformed(location) + " is not one that training runs in."));
}

Result<studies::StudyName> StudyOf(const Request& request) {
  TY_RETURN_IF_ERROR(CheckLocation(request));
  return studies::StudyName{.project = request.Parameter("project"),
                            .location = request.Parameter("location"),
                            .study_id = request.Parameter("study")};
}

Result<studies::TrialName> TrialOf(const Request& request) {
  TY_TRY(studies::StudyName study, StudyOf(request));
  return studies::TrialName{.study = std::move(study), .id = studies::ParseId(request.Parameter("trial"))};
}

Result<studies::OperationName> OperationOf(const Request& request) {
  TY_RETURN_IF_ERROR(CheckLocation(request));
  return studies::OperationName{.project = request.Parameter("project"),
                                .location = request.Parameter("location"),
                                .id = studies::ParseId(request.Parameter("operation"))};
}

/// Reads a body of a type that has nothing in it that counts.
template <class Message>
awaitable<Status> ReadNothing(Request& request) {
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kSmallBodyBytesMax));
  Message body;
  co_return wire::ParseJson(text, body);
}

template <class Message>
Result<Response> Answer(const Result<Message>& message) {
  if (!message) return std::unexpected(message.error());
  return Response::Json(wire::PrintJson(*message));
}

Result<Response> AnswerEmpty(const Status& done) {
  if (!done) return std::unexpected(done.error());
  return Response::Json("{}\n");
}

Result<Response> AnswerList(Result<std::string> json) {
  if (!json) return std::unexpected(std::move(json).error());
  return Response::Json(*std::move(json));
}

awaitable<Result<Response>> CreateStudy(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kBodyBytesMax));
  ml::v1::Study asked;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, asked, "study"));
  studies::StudyName name{.project = request.Parameter("project"),
                          .location = request.Parameter("location"),
                          .study_id = std::string(request.Query("studyId"))};
  co_return Answer(co_await studies.CreateStudy(std::move(name), std::move(asked)));
}

awaitable<Result<Response>> GetStudy(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName name, StudyOf(request));
  co_return Answer(co_await studies.GetStudy(std::move(name)));
}

awaitable<Result<Response>> ListStudies(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  co_return AnswerList(
      co_await studies.ListStudies(request.Parameter("project"), request.Parameter("location")));
}

awaitable<Result<Response>> DeleteStudy(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName name, StudyOf(request));
  co_return AnswerEmpty(co_await studies.DeleteStudy(std::move(name)));
}

awaitable<Result<Response>> CreateTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName study, StudyOf(request));
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kBodyBytesMax));
  ml::v1::Trial asked;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, asked, "trial"));
  co_return Answer(co_await studies.CreateTrial(std::move(study), std::move(asked)));
}

awaitable<Result<Response>> GetTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  co_return Answer(co_await studies.GetTrial(std::move(name)));
}

awaitable<Result<Response>> ListTrials(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName study, StudyOf(request));
  co_return AnswerList(co_await studies.ListTrials(std::move(study)));
}

awaitable<Result<Response>> ListOptimalTrials(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName study, StudyOf(request));
  TY_CO_RETURN_IF_ERROR(co_await ReadNothing<ml::v1::ListOptimalTrialsRequest>(request));
  co_return AnswerList(co_await studies.ListOptimalTrials(std::move(study)));
}

awaitable<Result<Response>> DeleteTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  co_return AnswerEmpty(co_await studies.DeleteTrial(std::move(name)));
}

awaitable<Result<Response>> AddMeasurement(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kSmallBodyBytesMax));
  ml::v1::AddTrialMeasurementRequest asked;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, asked));
  co_return Answer(co_await studies.AddMeasurement(std::move(name), std::move(asked)));
}

awaitable<Result<Response>> CompleteTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kSmallBodyBytesMax));
  ml::v1::CompleteTrialRequest asked;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, asked));
  co_return Answer(co_await studies.CompleteTrial(std::move(name), std::move(asked)));
}

awaitable<Result<Response>> StopTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  TY_CO_RETURN_IF_ERROR(co_await ReadNothing<ml::v1::StopTrialRequest>(request));
  co_return Answer(co_await studies.StopTrial(std::move(name)));
}

awaitable<Result<Response>> Suggest(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName study, StudyOf(request));
  TY_CO_TRY(std::string text, co_await request.body->ReadAll(kSmallBodyBytesMax));
  ml::v1::SuggestTrialsRequest asked;
  TY_CO_RETURN_IF_ERROR(wire::ParseJson(text, asked));
  co_return Answer(co_await studies.Suggest(std::move(study), std::move(asked)));
}

awaitable<Result<Response>> CheckEarlyStopping(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  TY_CO_RETURN_IF_ERROR(co_await ReadNothing<ml::v1::CheckTrialEarlyStoppingStateRequest>(request));
  co_return Answer(co_await studies.CheckEarlyStopping(std::move(name)));
}

awaitable<Result<Response>> GetOperation(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::OperationName name, OperationOf(request));
  co_return Answer(co_await studies.GetOperation(std::move(name)));
}

awaitable<Result<Response>> CancelOperation(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::OperationName name, OperationOf(request));
  TY_CO_RETURN_IF_ERROR(co_await ReadNothing<google::protobuf::Empty>(request));
  co_return AnswerEmpty(co_await studies.CancelOperation(std::move(name)));
}

using UseCase = awaitable<Result<Response>> (*)(StudyService&, Request&);

struct Route {
  http::Method verb;
  std::string pattern;
  MethodForm form;
  UseCase use_case;
};

}  // namespace

void AddStudyRoutes(MlMethods& methods, StudyService& studies) {
  using http::Method;
  const std::string location = "/v1/projects/{project}/locations/{location}";
  const std::string all_studies = location + "/studies";
  const std::string study = all_studies + "/{study}";
  const std::string all_trials = study + "/trials";
  const std::string trial = all_trials + "/{trial}";
  const std::string one_operation = location + "/operations/{operation}";
  const MethodForm a_study{.answer = ml::v1::Study::descriptor(), .parameters = {}};
  const MethodForm new_study{.answer = ml::v1::Study::descriptor(), .parameters = {"studyId"}};
  const MethodForm a_trial{.answer = ml::v1::Trial::descriptor(), .parameters = {}};
  const MethodForm an_operation{.answer = longrunning::Operation::descriptor(), .parameters = {}};
  const MethodForm empty{.answer = google::protobuf::Empty::descriptor(), .parameters = {}};
  const MethodForm list{.answer = ml::v1::ListStudiesResponse::descriptor(), .parameters = {}};
  const MethodForm trials{.answer = ml::v1::ListTrialsResponse::descriptor(), .parameters = {}};
  const MethodForm optimal{.answer = ml::v1::ListOptimalTrialsResponse::descriptor(), .parameters = {}};
  const Route routes[] = {
      {Method::kPost, all_studies, new_study, CreateStudy},
      {Method::kGet, all_studies, list, ListStudies},
      {Method::kGet, study, a_study, GetStudy},
      {Method::kDelete, study, empty, DeleteStudy},
      {Method::kPost, all_trials, a_trial, CreateTrial},
      {Method::kGet, all_trials, trials, ListTrials},
      {Method::kPost, all_trials + ":suggest", an_operation, Suggest},
      {Method::kPost, all_trials + ":listOptimalTrials", optimal, ListOptimalTrials},
      {Method::kGet, trial, a_trial, GetTrial},
      {Method::kDelete, trial, empty, DeleteTrial},
      {Method::kPost, trial + ":addMeasurement", a_trial, AddMeasurement},
      {Method::kPost, trial + ":complete", a_trial, CompleteTrial},
      {Method::kPost, trial + ":stop", a_trial, StopTrial},
      {Method::kPost, trial + ":checkEarlyStoppingState", an_operation, CheckEarlyStopping},
      {Method::kGet, one_operation, an_operation, GetOperation},
      {Method::kPost, one_operation + ":cancel", empty, CancelOperation},
  };
  for (const Route& route : routes) {
    methods.Add(
        route.verb, route.pattern, route.form,
        [&studies, use_case = route.use_case](Request& request) { return use_case(studies, request); });
  }
}

}  // namespace trainyard::api

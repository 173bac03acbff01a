#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <utility>

#include "api/messages.h"
#include "base/wire/utf8.h"
#include "rules/cluster/region.h"
#include "stores/studies/study_service.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

namespace trainyard::api {

namespace {

using boost::asio::awaitable;
using http::Request;
using http::Response;
using studies::StudyService;

constexpr std::size_t kResourceBytesMax = 1 << 20;

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

// The methods differ in the name in their path and in their body: none, one without meaning (but it must be
// well-formed), or one that is passed on.

template <auto kNameOf, auto kMethod>
awaitable<Result<Response>> ByName(StudyService& studies, Request& request) {
  TY_CO_TRY(auto name, kNameOf(request));
  co_return Answer(co_await (studies.*kMethod)(std::move(name)));
}

template <auto kNameOf, auto kMethod, class Message>
awaitable<Result<Response>> ByNameAlone(StudyService& studies, Request& request) {
  TY_CO_TRY(auto name, kNameOf(request));
  TY_CO_TRY([[maybe_unused]] const Message nothing,
            co_await ReadMessage<Message>(request, kSmallBodyBytesMax));
  co_return Answer(co_await (studies.*kMethod)(std::move(name)));
}

template <auto kNameOf, auto kMethod, class Message>
awaitable<Result<Response>> WithBody(StudyService& studies, Request& request) {
  TY_CO_TRY(auto name, kNameOf(request));
  TY_CO_TRY(Message asked, co_await ReadMessage<Message>(request, kSmallBodyBytesMax));
  co_return Answer(co_await (studies.*kMethod)(std::move(name), std::move(asked)));
}

}  // namespace

awaitable<Result<Response>> CreateStudy(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  TY_CO_TRY(ml::v1::Study asked, co_await ReadMessage<ml::v1::Study>(request, kResourceBytesMax, "study"));
  studies::StudyName name{.project = request.Parameter("project"),
                          .location = request.Parameter("location"),
                          .study_id = std::string(request.Query("studyId"))};
  co_return Answer(co_await studies.CreateStudy(std::move(name), std::move(asked)));
}

awaitable<Result<Response>> ListStudies(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  co_return Answer(co_await studies.ListStudies(request.Parameter("project"), request.Parameter("location")));
}

awaitable<Result<Response>> CreateTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::StudyName study, StudyOf(request));
  TY_CO_TRY(ml::v1::Trial asked, co_await ReadMessage<ml::v1::Trial>(request, kResourceBytesMax, "trial"));
  co_return Answer(co_await studies.CreateTrial(std::move(study), std::move(asked)));
}

awaitable<Result<Response>> GetStudy(StudyService& studies, Request& request) {
  return ByName<StudyOf, &StudyService::GetStudy>(studies, request);
}

awaitable<Result<Response>> DeleteStudy(StudyService& studies, Request& request) {
  return ByName<StudyOf, &StudyService::DeleteStudy>(studies, request);
}

awaitable<Result<Response>> ListTrials(StudyService& studies, Request& request) {
  return ByName<StudyOf, &StudyService::ListTrials>(studies, request);
}

awaitable<Result<Response>> SuggestTrials(StudyService& studies, Request& request) {
  return WithBody<StudyOf, &StudyService::Suggest, ml::v1::SuggestTrialsRequest>(studies, request);
}

awaitable<Result<Response>> ListOptimalTrials(StudyService& studies, Request& request) {
  return ByNameAlone<StudyOf, &StudyService::ListOptimalTrials, ml::v1::ListOptimalTrialsRequest>(studies,
                                                                                                  request);
}

awaitable<Result<Response>> GetTrial(StudyService& studies, Request& request) {
  return ByName<TrialOf, &StudyService::GetTrial>(studies, request);
}

awaitable<Result<Response>> DeleteTrial(StudyService& studies, Request& request) {
  return ByName<TrialOf, &StudyService::DeleteTrial>(studies, request);
}

awaitable<Result<Response>> AddMeasurement(StudyService& studies, Request& request) {
  return WithBody<TrialOf, &StudyService::AddMeasurement, ml::v1::AddTrialMeasurementRequest>(studies,
                                                                                              request);
}

awaitable<Result<Response>> CompleteTrial(StudyService& studies, Request& request) {
  return WithBody<TrialOf, &StudyService::CompleteTrial, ml::v1::CompleteTrialRequest>(studies, request);
}

awaitable<Result<Response>> StopTrial(StudyService& studies, Request& request) {
  return ByNameAlone<TrialOf, &StudyService::StopTrial, ml::v1::StopTrialRequest>(studies, request);
}

awaitable<Result<Response>> CheckEarlyStopping(StudyService& studies, Request& request) {
  return ByNameAlone<TrialOf, &StudyService::CheckEarlyStopping, ml::v1::CheckTrialEarlyStoppingStateRequest>(
      studies, request);
}

awaitable<Result<Response>> GetStudyOperation(StudyService& studies, Request& request) {
  return ByName<OperationOf, &StudyService::GetOperation>(studies, request);
}

awaitable<Result<Response>> CancelStudyOperation(StudyService& studies, Request& request) {
  return ByNameAlone<OperationOf, &StudyService::CancelOperation, google::protobuf::Empty>(studies, request);
}

}  // namespace trainyard::api

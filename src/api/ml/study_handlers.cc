#include "api/ml/ml_handlers.h"

#include <google/protobuf/empty.pb.h>

#include <type_traits>
#include <utility>

#include "api/messages.h"
#include "base/wire/utf8.h"
#include "rules/cluster/region.h"
#include "stores/studies/study_cases.h"
#include "stores/studies/study_operations.h"
#include "stores/studies/study_service.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

namespace trainyard::api {

namespace {

using studies::StudyName;
using studies::StudyService;
using studies::StudyStore;

constexpr std::size_t kResourceBytesMax = 1 << 20;

Status CheckLocation(const Request& request) {
  const std::string& location = request.Parameter("location");
  if (cluster::FindRegion(location) != nullptr) return {};
  return std::unexpected(
      NotFound("The location " + wire::ReplaceMalformed(location) + " is not available for training."));
}

Result<StudyName> StudyOf(const Request& request) {
  TY_RETURN_IF_ERROR(CheckLocation(request));
  return StudyName{.project = request.Parameter("project"),
                   .location = request.Parameter("location"),
                   .study_id = request.Parameter("study")};
}

Result<studies::TrialName> TrialOf(const Request& request) {
  TY_TRY(StudyName study, StudyOf(request));
  return studies::TrialName{.study = std::move(study), .id = studies::ParseId(request.Parameter("trial"))};
}

Result<studies::OperationName> OperationOf(const Request& request) {
  TY_RETURN_IF_ERROR(CheckLocation(request));
  return studies::OperationName{.project = request.Parameter("project"),
                                .location = request.Parameter("location"),
                                .id = studies::ParseId(request.Parameter("operation"))};
}

/// Reads a body that has no meaning: it must only be well-formed.
template <class Message>
awaitable<Status> SkipBody(Request& request) {
  if constexpr (!std::is_void_v<Message>) {
    TY_CO_TRY([[maybe_unused]] const Message nothing,
              co_await ReadRequest<Message>(request, kSmallBodyBytesMax));
  }
  co_return Status{};
}

// The methods differ in the name in their path, in their body, and in whether they write. Answers are printed
// off the loop.

template <auto kNameOf, auto kGet, class Skipped = void>
awaitable<Result<Response>> Read(StudyService& studies, Request& request) {
  TY_CO_TRY(const auto name, kNameOf(request));
  TY_CO_RETURN_IF_ERROR(co_await SkipBody<Skipped>(request));
  co_return co_await studies.Read([&](StudyStore& store) { return Answer(kGet(store, name)); });
}

template <auto kNameOf, auto kChange, class Skipped = void>
awaitable<Result<Response>> Write(StudyService& studies, Request& request) {
  TY_CO_TRY(const auto name, kNameOf(request));
  TY_CO_RETURN_IF_ERROR(co_await SkipBody<Skipped>(request));
  co_return co_await studies.Write([&](StudyStore& store, SysTime) { return Answer(kChange(store, name)); });
}

template <auto kNameOf, auto kChange, class Message>
awaitable<Result<Response>> WriteBody(StudyService& studies, Request& request) {
  TY_CO_TRY(const auto name, kNameOf(request));
  TY_CO_TRY(const Message asked, co_await ReadRequest<Message>(request, kSmallBodyBytesMax));
  co_return co_await studies.Write(
      [&](StudyStore& store, SysTime now) { return Answer(kChange(store, name, asked, now)); });
}

}  // namespace

awaitable<Result<Response>> CreateStudy(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  TY_CO_TRY(const ml::v1::Study asked,
            co_await ReadMessage<ml::v1::Study>(request, kResourceBytesMax, "study"));
  const StudyName name{.project = request.Parameter("project"),
                       .location = request.Parameter("location"),
                       .study_id = std::string(request.Query("studyId"))};
  co_return co_await studies.Write(
      [&](StudyStore& store, SysTime now) { return Answer(studies::CreateStudy(store, name, asked, now)); });
}

awaitable<Result<Response>> ListStudies(StudyService& studies, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckLocation(request));
  co_return co_await studies.Read([&](StudyStore& store) {
    return Answer(studies::ListStudies(store, request.Parameter("project"), request.Parameter("location")));
  });
}

awaitable<Result<Response>> CreateTrial(StudyService& studies, Request& request) {
  TY_CO_TRY(const StudyName name, StudyOf(request));
  TY_CO_TRY(const ml::v1::Trial asked,
            co_await ReadMessage<ml::v1::Trial>(request, kResourceBytesMax, "trial"));
  co_return co_await studies.Write(
      [&](StudyStore& store, SysTime now) { return Answer(studies::CreateTrial(store, name, asked, now)); });
}

awaitable<Result<Response>> GetStudy(StudyService& studies, Request& request) {
  return Read<StudyOf, studies::GetStudy>(studies, request);
}

awaitable<Result<Response>> DeleteStudy(StudyService& studies, Request& request) {
  return Write<StudyOf, studies::DeleteStudy>(studies, request);
}

awaitable<Result<Response>> ListTrials(StudyService& studies, Request& request) {
  return Read<StudyOf, studies::ListTrials>(studies, request);
}

awaitable<Result<Response>> SuggestTrials(StudyService& studies, Request& request) {
  TY_CO_TRY(StudyName name, StudyOf(request));
  TY_CO_TRY(auto asked, co_await ReadRequest<ml::v1::SuggestTrialsRequest>(request, kSmallBodyBytesMax));
  co_return Answer(co_await studies.Suggest(std::move(name), std::move(asked)));
}

awaitable<Result<Response>> ListOptimalTrials(StudyService& studies, Request& request) {
  return Read<StudyOf, studies::ListOptimalTrials, ml::v1::ListOptimalTrialsRequest>(studies, request);
}

awaitable<Result<Response>> GetTrial(StudyService& studies, Request& request) {
  return Read<TrialOf, studies::GetTrial>(studies, request);
}

awaitable<Result<Response>> DeleteTrial(StudyService& studies, Request& request) {
  return Write<TrialOf, studies::DeleteTrial>(studies, request);
}

awaitable<Result<Response>> AddMeasurement(StudyService& studies, Request& request) {
  return WriteBody<TrialOf, studies::AddMeasurement, ml::v1::AddTrialMeasurementRequest>(studies, request);
}

awaitable<Result<Response>> CompleteTrial(StudyService& studies, Request& request) {
  return WriteBody<TrialOf, studies::CompleteTrial, ml::v1::CompleteTrialRequest>(studies, request);
}

awaitable<Result<Response>> StopTrial(StudyService& studies, Request& request) {
  return Write<TrialOf, studies::StopTrial, ml::v1::StopTrialRequest>(studies, request);
}

awaitable<Result<Response>> CheckEarlyStopping(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::TrialName name, TrialOf(request));
  TY_CO_RETURN_IF_ERROR(co_await SkipBody<ml::v1::CheckTrialEarlyStoppingStateRequest>(request));
  co_return Answer(co_await studies.CheckEarlyStopping(std::move(name)));
}

awaitable<Result<Response>> GetStudyOperation(StudyService& studies, Request& request) {
  TY_CO_TRY(studies::OperationName name, OperationOf(request));
  co_return Answer(co_await studies.GetOperation(std::move(name)));
}

awaitable<Result<Response>> CancelStudyOperation(StudyService& studies, Request& request) {
  return Write<OperationOf, studies::CancelOperation, google::protobuf::Empty>(studies, request);
}

}  // namespace trainyard::api

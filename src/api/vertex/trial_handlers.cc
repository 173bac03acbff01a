#include <optional>
#include <utility>
#include <vector>

#include "api/vertex/study_handlers.h"
#include "api/vertex/study_place.h"
#include "google/cloud/aiplatform/v1/vizier_service.pb.h"
#include "rules/vertex/study.h"
#include "rules/vertex/trial.h"
#include "stores/studies/study_cases.h"

namespace trainyard::api::vertex_studies {

namespace {

using studies::StudyStore;
using studies::TrialName;

/// Waits for an operation, each up to half a second.
constexpr int kWaits = 6;

TrialName TrialAt(const Place& place, const Request& request) {
  return {.study = place.ml, .id = studies::ParseId(request.Parameter("trial"))};
}

/// An answer of the store's functions, in Vertex AI's form.
Result<Response> TrialAnswer(Result<ml::v1::Trial> trial, const Place& place) {
  if (!trial) return std::unexpected(vertex::InStudy(std::move(trial).error()));
  return Shown(vertex::TrialOf(*trial, place.name));
}

Result<Response> ListFrom(StudyStore& store, const Place& place, const Page& page) {
  TY_TRY(const std::vector<studies::StoredTrial> found, store.ListTrials(place.stored.uid));
  aip::ListTrialsResponse answer;
  std::int64_t last = 0;
  for (const studies::StoredTrial& stored : found) {
    if (stored.id <= page.after) continue;
    if (answer.trials_size() == page.size) {
      answer.set_next_page_token(std::to_string(last));
      break;
    }
    *answer.add_trials() = vertex::TrialOf(stored.trial, place.name);
    last = stored.id;
  }
  return Shown(answer);
}

/// Waits some seconds for the end of an operation: less than clients wait for an answer. Then as OperationOf.
awaitable<Result<Response>> OperationAnswer(StudyService& service, studies::OperationName name,
                                            std::string study_name) {
  Result<longrunning::Operation> now = co_await service.GetOperation(name);
  for (int i = 1; i < kWaits && now && !now->done(); ++i) now = co_await service.GetOperation(name);
  if (!now) co_return std::unexpected(std::move(now).error());
  // On the store's thread: a thousand trials take long to print.
  auto print = [&](StudyStore&) -> Result<Response> {
    TY_TRY(const google::longrunning::Operation shown, vertex::OperationOf(*now, study_name, name.id));
    return Shown(shown);
  };
  co_return co_await service.Read(std::move(print));
}

/// The operation that has begun.
awaitable<Result<Response>> Begun(StudyService& service, const Place& place,
                                  Result<longrunning::Operation> begun) {
  if (!begun) co_return std::unexpected(vertex::InStudy(std::move(begun).error()));
  studies::OperationName name{.project = place.ml.project,
                              .location = place.ml.location,
                              .id = studies::ParseId(begun->name().substr(begun->name().rfind('/') + 1))};
  co_return co_await OperationAnswer(service, std::move(name), place.name);
}

/// Whether the path has this parameter with another value.
bool NamesAnother(const Request& request, std::string_view parameter, std::int64_t id) {
  for (const auto& [name, value] : request.parameters)
    if (name == parameter) return studies::ParseId(value) != id;
  return false;
}

}  // namespace

awaitable<Result<Response>> CreateTrial(StudyService& service, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  TY_CO_TRY(const aip::Trial asked, co_await ReadMessage<aip::Trial>(request, kResourceBytesMax));
  co_return co_await WriteAt(
      service, request, [&](StudyStore& store, const Place& place, SysTime now) -> Result<Response> {
        TY_TRY(const ml::v1::Trial trial, vertex::MlTrialOf(asked, place.stored.study.study_config()));
        return TrialAnswer(studies::CreateTrial(store, place.ml, trial, now), place);
      });
}

awaitable<Result<Response>> GetTrial(StudyService& service, Request& request) {
  return ReadAt(service, request, [&request](StudyStore& store, const Place& place) {
    return TrialAnswer(studies::GetTrial(store, TrialAt(place, request)), place);
  });
}

awaitable<Result<Response>> ListTrials(StudyService& service, Request& request) {
  TY_CO_TRY(const Page page, PageOf(request));
  co_return co_await ReadAt(service, request, [&page](StudyStore& store, const Place& place) {
    return ListFrom(store, place, page);
  });
}

awaitable<Result<Response>> DeleteTrial(StudyService& service, Request& request) {
  return WriteAt(service, request, [&request](StudyStore& store, const Place& place, SysTime) {
    return Done(studies::DeleteTrial(store, TrialAt(place, request)));
  });
}

awaitable<Result<Response>> AddMeasurement(StudyService& service, Request& request) {
  TY_CO_TRY(const auto asked, co_await ReadAsked<aip::AddTrialMeasurementRequest>(request));
  co_return co_await WriteAt(service, request, [&](StudyStore& store, const Place& place, SysTime now) {
    return TrialAnswer(
        studies::AddMeasurement(store, TrialAt(place, request), vertex::MlRequestOf(asked), now), place);
  });
}

awaitable<Result<Response>> CompleteTrial(StudyService& service, Request& request) {
  TY_CO_TRY(const auto asked, co_await ReadAsked<aip::CompleteTrialRequest>(request));
  co_return co_await WriteAt(service, request, [&](StudyStore& store, const Place& place, SysTime now) {
    return TrialAnswer(
        studies::CompleteTrial(store, TrialAt(place, request), vertex::MlRequestOf(asked), now), place);
  });
}

awaitable<Result<Response>> StopTrial(StudyService& service, Request& request) {
  TY_CO_TRY([[maybe_unused]] const auto asked, co_await ReadAsked<aip::StopTrialRequest>(request));
  co_return co_await WriteAt(service, request, [&](StudyStore& store, const Place& place, SysTime) {
    return TrialAnswer(studies::StopTrial(store, TrialAt(place, request)), place);
  });
}

awaitable<Result<Response>> ListOptimalTrials(StudyService& service, Request& request) {
  TY_CO_TRY([[maybe_unused]] const auto asked, co_await ReadAsked<aip::ListOptimalTrialsRequest>(request));
  co_return co_await ReadAt(service, request, [](StudyStore& store, const Place& place) -> Result<Response> {
    TY_TRY(const ml::v1::ListOptimalTrialsResponse found, studies::ListOptimalTrials(store, place.ml));
    aip::ListOptimalTrialsResponse answer;
    for (const ml::v1::Trial& trial : found.trials())
      *answer.add_optimal_trials() = vertex::TrialOf(trial, place.name);
    return Shown(answer);
  });
}

awaitable<Result<Response>> SuggestTrials(StudyService& service, Request& request) {
  TY_CO_TRY(const auto asked, co_await ReadAsked<aip::SuggestTrialsRequest>(request));
  TY_CO_TRY(ml::v1::SuggestTrialsRequest wanted, vertex::MlRequestOf(asked));
  TY_CO_TRY(const Place place, co_await FindPlace(service, request));
  co_return co_await Begun(service, place, co_await service.Suggest(place.ml, std::move(wanted)));
}

awaitable<Result<Response>> CheckEarlyStopping(StudyService& service, Request& request) {
  TY_CO_TRY([[maybe_unused]] const auto asked,
            co_await ReadAsked<aip::CheckTrialEarlyStoppingStateRequest>(request));
  TY_CO_TRY(const Place place, co_await FindPlace(service, request));
  TrialName trial = TrialAt(place, request);
  co_return co_await Begun(service, place, co_await service.CheckEarlyStopping(std::move(trial)));
}

awaitable<Result<Response>> GetOperation(StudyService& service, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  const std::string& id = request.Parameter("operation");
  studies::OperationName name{.project = request.Parameter("project"),
                              .location = request.Parameter("location"),
                              .id = studies::ParseId(id)};
  auto find = [&](StudyStore& store) { return store.FindOperation(name.id); };
  TY_CO_TRY(const std::optional<studies::StoredOperation> found, co_await service.Read(std::move(find)));
  const bool is_here = found && found->project == name.project && found->location == name.location &&
                       !NamesAnother(request, "number", vertex::kMlNumbers + found->study_uid) &&
                       !NamesAnother(request, "trial", found->trial);
  if (!is_here)
    co_return std::unexpected(
        NotFound("Operation does not exist: " + id +
                 ". Only operations of studies are kept: any other was done when the server answered it"));
  std::string study_name =
      LocationName(request) + "/studies/" + std::to_string(vertex::kMlNumbers + found->study_uid);
  co_return co_await OperationAnswer(service, std::move(name), std::move(study_name));
}

}  // namespace trainyard::api::vertex_studies

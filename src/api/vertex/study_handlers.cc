#include "api/vertex/study_handlers.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/vertex/study_place.h"
#include "base/wire/utf8.h"
#include "google/cloud/aiplatform/v1/vizier_service.pb.h"
#include "rules/vertex/study.h"
#include "stores/studies/study_cases.h"

namespace trainyard::api::vertex_studies {

namespace {

using studies::StoredStudy;
using studies::StudyName;
using studies::StudyStore;

Result<Response> ListFrom(StudyStore& store, const Request& request, const Page& page) {
  TY_TRY(const std::vector<StoredStudy> found,
         store.ListStudies(request.Parameter("project"), request.Parameter("location")));
  aip::ListStudiesResponse answer;
  std::int64_t last = 0;
  for (auto stored = found.rbegin(); stored != found.rend(); ++stored) {  // the newest first
    if (page.after > 0 && stored->uid >= page.after) continue;
    if (answer.studies_size() == page.size) {
      answer.set_next_page_token(std::to_string(last));
      break;
    }
    TY_TRY(*answer.add_studies(), Show(*stored, request));
    last = stored->uid;
  }
  return Shown(answer);
}

}  // namespace

awaitable<Result<Response>> CreateStudy(StudyService& service, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  TY_CO_TRY(const aip::Study asked, co_await ReadMessage<aip::Study>(request, kResourceBytesMax));
  const std::string& location = request.Parameter("location");
  TY_CO_TRY(const ml::v1::Study study, vertex::MlStudyOf(asked));
  const StudyName name{.project = request.Parameter("project"),
                       .location = location,
                       .study_id = StudyIdOf(asked.display_name())};
  auto create = [&](StudyStore& store, SysTime now) -> Result<Response> {
    Result<StoredStudy> made =
        studies::CreateForeignStudy(store, name, study, asked.SerializeAsString(), now);
    if (!made && made.error().code == Code::kAlreadyExists)
      return std::unexpected(AlreadyExists(
          "A study with this display name already exists: " + wire::ReplaceMalformed(asked.display_name()),
          "display_name"));
    if (!made) return std::unexpected(vertex::InStudy(std::move(made).error()));
    TY_TRY(const aip::Study shown, Show(*made, request));
    return Shown(shown);
  };
  co_return co_await service.Write(std::move(create));
}

awaitable<Result<Response>> GetStudy(StudyService& service, Request& request) {
  return ReadAt(service, request, [&request](StudyStore&, const Place& place) -> Result<Response> {
    TY_TRY(const aip::Study shown, Show(place.stored, request));
    return Shown(shown);
  });
}

awaitable<Result<Response>> ListStudies(StudyService& service, Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  TY_CO_TRY(const Page page, PageOf(request));
  auto list = [&](StudyStore& store) { return ListFrom(store, request, page); };
  co_return co_await service.Read(std::move(list));
}

awaitable<Result<Response>> LookupStudy(StudyService& service, Request& request) {
  TY_CO_TRY(const auto asked, co_await ReadAsked<aip::LookupStudyRequest>(request));
  if (asked.display_name().empty())
    co_return std::unexpected(vertex::InStudy(InvalidArgument("display_name", "This field is required.")));
  const StudyName name{.project = request.Parameter("project"),
                       .location = request.Parameter("location"),
                       .study_id = StudyIdOf(asked.display_name())};
  auto find = [&](StudyStore& store) -> Result<Response> {
    TY_TRY(const std::optional<StoredStudy> stored, store.FindStudy(name));
    std::optional<aip::Study> shown;
    if (stored) {
      TY_TRY(shown, Show(*stored, request));
    }
    if (!shown || shown->display_name() != asked.display_name())
      return std::unexpected(NotFound("No study has the display name " +
                                      wire::ReplaceMalformed(asked.display_name()) + " in " +
                                      LocationName(request)));
    return Shown(*shown);
  };
  co_return co_await service.Read(std::move(find));
}

awaitable<Result<Response>> DeleteStudy(StudyService& service, Request& request) {
  return WriteAt(service, request, [](StudyStore& store, const Place& place, SysTime) {
    return Done(studies::DeleteStudy(store, place.ml));
  });
}

}  // namespace trainyard::api::vertex_studies

#include "api/vertex/study_place.h"

#include <google/protobuf/empty.pb.h>

#include <algorithm>
#include <optional>

#include "api/system_parameters.h"
#include "base/tls/sha256.h"
#include "rules/vertex/study.h"
#include "stores/studies/study_cases.h"

namespace trainyard::api::vertex_studies {

namespace {

using studies::StoredStudy;
using studies::StudyStore;

/// The SDK reads only the first page of trials.
constexpr int kPageSizeMax = 1000;

/// The id in ml v1, which is the last part of the stored name.
std::string StoredIdOf(const StoredStudy& stored) {
  const std::string& name = stored.study.name();
  return name.substr(name.rfind('/') + 1);
}

}  // namespace

Result<Place> PlaceOf(StudyStore& store, const http::Request& request) {
  const std::string& number = request.Parameter("number");
  const std::int64_t uid = studies::ParseId(number) - vertex::kMlNumbers;
  std::optional<StoredStudy> stored;
  if (uid > 0) {
    TY_TRY(stored, store.FindStudy(uid));
  }
  Place place{.stored = {},
              .ml = {.project = request.Parameter("project"),
                     .location = request.Parameter("location"),
                     .study_id = stored ? StoredIdOf(*stored) : ""},
              .name = LocationName(request) + "/studies/" + number};
  if (!stored || stored->study.name() != place.ml.ToString())
    return std::unexpected(NotFound("Study does not exist: " + place.name));
  place.stored = *std::move(stored);
  return place;
}

boost::asio::awaitable<Result<Place>> FindPlace(studies::StudyService& service,
                                                const http::Request& request) {
  auto find = [&request](StudyStore& store) { return PlaceOf(store, request); };
  co_return co_await service.Read(std::move(find));
}

Result<aip::Study> Show(const StoredStudy& stored, const http::Request& request) {
  std::string name = LocationName(request) + "/studies/" + std::to_string(vertex::kMlNumbers + stored.uid);
  if (stored.asked.empty()) return vertex::StudyOf(stored.study, std::move(name));
  aip::Study asked;
  if (!asked.ParseFromString(stored.asked))
    return std::unexpected(DataLoss("The request that made the study cannot be read: " + name));
  return vertex::StudyOf(asked, stored.study, std::move(name));
}

std::string StudyIdOf(const std::string& display_name) {
  constexpr std::size_t kHashDigits = 32;
  if (studies::IsStudyId(display_name)) return display_name;
  return "vertex_" + tls::Sha256Hex(display_name).substr(0, kHashDigits);
}

http::Response Shown(const google::protobuf::Message& message) {
  return http::Response::Json(wire::PrintJson(message));
}

Result<http::Response> Done(Status status) {
  if (!status) return std::unexpected(vertex::InStudy(std::move(status).error()));
  return Shown(google::protobuf::Empty());
}

Result<Page> PageOf(const http::Request& request) {
  TY_TRY(const int asked, QueryNumber(request, "pageSize", "page_size"));
  if (asked < 0) return std::unexpected(InvalidArgument("page_size", "The value must not be negative."));
  const std::string_view token = request.Query("pageToken");
  const Page page{.size = asked == 0 ? kPageSizeMax : std::min(asked, kPageSizeMax),
                  .after = studies::ParseId(token)};
  if (!token.empty() && page.after == 0)
    return std::unexpected(InvalidArgument("page_token", "The page token is not one of this list."));
  return page;
}

}  // namespace trainyard::api::vertex_studies

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "api/messages.h"
#include "api/vertex/request_path.h"
#include "google/cloud/aiplatform/v1/study.pb.h"
#include "net/http/message.h"
#include "stores/studies/study_service.h"

/// The studies that paths of Vertex AI name. Loop thread, unless a function says otherwise.
namespace trainyard::api::vertex_studies {

namespace aip = google::cloud::aiplatform::v1;

inline constexpr std::size_t kResourceBytesMax = 1 << 20;

/// A study in both APIs.
struct Place {
  studies::StoredStudy stored;
  studies::StudyName ml;
  std::string name;  ///< in Vertex AI: "projects/P/locations/L/studies/N"
};

/// The study that the path's {number} names. kNotFound. Blocking: on a thread of the store.
[[nodiscard]] Result<Place> PlaceOf(studies::StudyStore& store, const http::Request& request);
/// The same, for the loop.
[[nodiscard]] boost::asio::awaitable<Result<Place>> FindPlace(studies::StudyService& service,
                                                              const http::Request& request);

/// The study in Vertex AI's form. kDataLoss. Any thread.
[[nodiscard]] Result<aip::Study> Show(const studies::StoredStudy& stored, const http::Request& request);

/// The id in ml v1 of the study with this display name. A name that is no id is hashed. Any thread.
[[nodiscard]] std::string StudyIdOf(const std::string& display_name);

/// The message as JSON. Any thread.
[[nodiscard]] http::Response Shown(const google::protobuf::Message& message);
/// An empty object, or the error with the fields of Vertex AI. Any thread.
[[nodiscard]] Result<http::Response> Done(Status status);

/// The body of a method whose request is its path and the whole body.
template <class Message>
boost::asio::awaitable<Result<Message>> ReadAsked(http::Request& request) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  co_return co_await ReadRequest<Message>(request, kSmallBodyBytesMax);
}

/// Runs `work(store, place, now)` on the thread that writes the store, and returns what it does. Errors:
/// those of CheckPath and PlaceOf.
template <class Work>
boost::asio::awaitable<Result<http::Response>> WriteAt(studies::StudyService& service,
                                                       const http::Request& request, Work work) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  auto write = [&request, &work](studies::StudyStore& store, SysTime now) -> Result<http::Response> {
    TY_TRY(const Place place, PlaceOf(store, request));
    return work(store, place, now);
  };
  co_return co_await service.Write(std::move(write));
}

/// The same for `work(store, place)`, on the thread that reads.
template <class Work>
boost::asio::awaitable<Result<http::Response>> ReadAt(studies::StudyService& service,
                                                      const http::Request& request, Work work) {
  TY_CO_RETURN_IF_ERROR(CheckPath(request));
  auto read = [&request, &work](studies::StudyStore& store) -> Result<http::Response> {
    TY_TRY(const Place place, PlaceOf(store, request));
    return work(store, place);
  };
  co_return co_await service.Read(std::move(read));
}

/// A part of a list whose keys only grow or only fall. The token of the next page is the last key.
struct Page {
  int size = 0;
  std::int64_t after = 0;  ///< the last key of the previous page; 0: the first page
};

/// The page that the query asks for. kInvalidArgument with field "page_size" or "page_token".
[[nodiscard]] Result<Page> PageOf(const http::Request& request);

}  // namespace trainyard::api::vertex_studies

#include "api/refusal_answer.h"

#include <algorithm>
#include <array>

#include "api/storage/storage_handlers.h"
#include "api/storage/storage_handlers_request.h"
#include "base/wire/error_body.h"

namespace trainyard::api {
namespace {

constexpr std::array<std::string_view, 4> kJsonStorage{"/storage/", "/upload/storage/",
                                                       "/resumable/upload/storage/", "/download/storage/"};
constexpr std::string_view kXmlStorage = "/{bucket}";  // no other API begins with a parameter

}  // namespace

http::Response RefusalAnswer(std::string_view route, const Error& error) {
  const std::string_view path = route.substr(std::min(route.find('/'), route.size()));
  if (path.starts_with(kXmlStorage)) return XmlErrorAnswer(error);
  const auto begins = [path](std::string_view prefix) { return path.starts_with(prefix); };
  if (std::ranges::any_of(kJsonStorage, begins)) return storage_api::ErrorAnswer(error);
  return http::Response::Json(wire::PrintErrorBody(error), wire::HttpStatus(error.code));
}

}  // namespace trainyard::api

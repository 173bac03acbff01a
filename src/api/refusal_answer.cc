#include "api/refusal_answer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/storage_handlers_request.h"
#include "wire/error_body.h"

namespace trainyard::api {

http::Response RefusalAnswer(const http::Request& request, const Error& error) {
  static constexpr std::array<std::string_view, 4> kStorage{"/storage/", "/upload/storage/",
                                                            "/resumable/upload/storage/",
                                                            "/download/storage/"};
  const bool is_storage = std::ranges::any_of(
      kStorage, [&request](std::string_view prefix) { return request.path.starts_with(prefix); });
  if (is_storage) return storage_api::ErrorAnswer(error);
  return http::Response::Json(wire::PrintErrorBody(error), wire::HttpStatus(error.code));
}

}  // namespace trainyard::api

#include "net/http/message.h"

#include <algorithm>

#include "base/check.h"

namespace trainyard::http {

asio::awaitable<Result<std::string>> BodyReader::ReadAll(std::size_t bytes_max) {
  constexpr std::size_t kFirstBytes = 4096;
  std::string text;
  std::size_t filled = 0;
  while (true) {
    // Reads up to one byte more than allowed, in order to notice a body that is too long.
    if (filled == text.size()) text.resize(std::min(std::max(filled * 2, kFirstBytes), bytes_max + 1));
    const std::span<std::byte> space(reinterpret_cast<std::byte*>(text.data()) + filled,
                                     text.size() - filled);
    TY_CO_TRY(const std::size_t got, co_await ReadSome(space));
    if (got == 0) break;
    filled += got;
    if (filled > bytes_max) {
      const std::string limit = std::to_string(bytes_max);
      co_return std::unexpected(Error{Code::kOutOfRange, "the body is larger than " + limit + " bytes", ""});
    }
  }
  text.resize(filled);
  co_return text;
}

const std::string& Request::Parameter(std::string_view name) const {
  const auto found = std::ranges::find(
      parameters, name, [](const auto& parameter) { return std::string_view(parameter.first); });
  TY_CHECK(found != parameters.end());
  return found->second;
}

std::string_view Request::Query(std::string_view name) const noexcept {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

bool Request::HasQuery(std::string_view name) const noexcept {
  return std::ranges::any_of(query, [name](const auto& item) { return item.first == name; });
}

Response Response::Json(std::string text, int status) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", "application/json; charset=UTF-8");
  response.body = std::move(text);
  return response;
}

Response Response::Text(std::string text, int status) {
  Response response;
  response.status = status;
  response.headers.Add("Content-Type", "text/plain; charset=UTF-8");
  response.body = std::move(text);
  return response;
}

Response Response::Empty(int status) {
  Response response;
  response.status = status;
  return response;
}

}  // namespace trainyard::http

#include "api/query_number.h"

#include <charconv>

#include "wire/utf8.h"

namespace trainyard::api {

Result<int> QueryNumber(const http::Request& request, std::string_view name, std::string_view field) {
  const std::string_view text = request.Query(name);
  if (text.empty()) return 0;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return std::unexpected(InvalidArgument(field, "Invalid value at '" + std::string(field) +
                                                    "' (TYPE_INT32), \"" + wire::ReplaceMalformed(text) +
                                                    "\""));
}

}  // namespace trainyard::api

#include "logs/tail_query.h"

#include <chrono>
#include <utility>

#include "wire/time.h"

namespace trainyard::logs {

Result<LogQuery> ParseTailQuery(const logging::v2::TailLogEntriesRequest& request) {
  constexpr std::chrono::seconds kBufferWindowMax{60};
  logging::v2::ListLogEntriesRequest list;
  *list.mutable_resource_names() = request.resource_names();
  list.set_filter(request.filter());
  TY_TRY(LogQuery query, ParseLogQuery(list));
  const std::chrono::nanoseconds window = wire::FromProto(request.buffer_window());
  if (window < window.zero() || window > kBufferWindowMax) {
    return std::unexpected(InvalidArgument("buffer_window", "Must be between 0 and 60000 milliseconds"));
  }
  query.page_token_context = "entries.tail\n" + std::move(query.page_token_context);
  return query;
}

}  // namespace trainyard::logs

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/wire/log_filter.h"
#include "trainyard/logging/v2/logging.pb.h"
#include "trainyard/logging/v2/tail.pb.h"

/// The parameters of entries:list. Pure: any thread.
namespace trainyard::logs {

inline constexpr int kPageSizeDefault = 50;
inline constexpr int kPageSizeMax = 1000;
inline constexpr int kResourceNamesMax = 100;

enum class Order { kOldestFirst, kNewestFirst };

struct LogQuery {
  std::vector<std::string> projects;  ///< sorted, no duplicates
  wire::Filter filter;
  wire::LogBounds bounds;
  Order order = Order::kOldestFirst;
  int page_size = kPageSizeDefault;
  std::string page_token;          ///< as received
  std::string page_token_context;  ///< what a token is valid for: everything but the page size
};

/// Errors: kInvalidArgument with field "resource_names", "filter", "order_by" or "page_size". A page size
/// above kPageSizeMax is reduced to it. Source: discovery document logging:v2, ListLogEntriesRequest.
[[nodiscard]] Result<LogQuery> ParseLogQuery(const logging::v2::ListLogEntriesRequest& request);

/// Parses the parameters of entries:tail; page size and token are not used. Pure: any thread.
///
/// Errors: kInvalidArgument with field "resource_names", "filter" or "buffer_window" (0 to 60 s; entries are
/// stored in order, so nothing waits for it). Source: discovery document logging:v2, TailLogEntriesRequest.
[[nodiscard]] Result<LogQuery> ParseTailQuery(const logging::v2::TailLogEntriesRequest& request);

}  // namespace trainyard::logs

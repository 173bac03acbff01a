#include "stores/logs/log_query.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "base/wire/resource_name.h"
#include "base/wire/time.h"

namespace trainyard::logs {

namespace {

using logging::v2::ListLogEntriesRequest;

Result<std::vector<std::string>> ParseProjects(const ListLogEntriesRequest& request) {
  if (request.resource_names().empty() && request.project_ids().empty()) {
    return std::unexpected(InvalidArgument("resource_names", "At least one resource name must be given"));
  }
  if (request.resource_names_size() + request.project_ids_size() > kResourceNamesMax) {
    return std::unexpected(InvalidArgument(
        "resource_names", "More than " + std::to_string(kResourceNamesMax) + " resource names"));
  }
  std::vector<std::string> projects(request.project_ids().begin(), request.project_ids().end());
  for (const std::string& name : request.resource_names()) {
    Result<std::string> project = wire::ParseProjectName(name);
    if (!project) {
      return std::unexpected(
          InvalidArgument("resource_names", "\"" + name + "\" is not of the form projects/[PROJECT_ID]"));
    }
    projects.push_back(*std::move(project));
  }
  std::ranges::sort(projects);
  const auto repeated = std::ranges::unique(projects);
  projects.erase(repeated.begin(), repeated.end());
  return projects;
}

Result<Order> ParseOrder(std::string_view text) {
  if (text.empty() || text == "timestamp asc" || text == "timestamp") return Order::kOldestFirst;
  if (text == "timestamp desc") return Order::kNewestFirst;
  return std::unexpected(InvalidArgument(
      "order_by", "Must be \"timestamp asc\" or \"timestamp desc\", not \"" + std::string(text) + "\""));
}

std::string TokenContext(const LogQuery& query, const std::string& filter) {
  std::string context = query.order == Order::kOldestFirst ? "entries.list asc" : "entries.list desc";
  for (const std::string& project : query.projects) context += '\n' + project;
  return context + "\n\n" + filter;
}

}  // namespace

Result<LogQuery> ParseLogQuery(const ListLogEntriesRequest& request) {
  LogQuery query;
  TY_TRY(query.projects, ParseProjects(request));
  TY_TRY(query.filter, wire::ParseLogFilter(request.filter()));
  TY_TRY(query.order, ParseOrder(request.order_by()));
  if (request.page_size() < 0) return std::unexpected(InvalidArgument("page_size", "Must not be negative"));
  if (request.page_size() > 0) query.page_size = std::min(request.page_size(), kPageSizeMax);
  query.bounds = wire::ExtractBounds(query.filter);
  query.page_token = request.page_token();
  query.page_token_context = TokenContext(query, request.filter());
  return query;
}

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

#include "rules/cluster/attempt_id.h"

#include <charconv>

#include "rules/cluster/task_name.h"

namespace trainyard::cluster {

namespace {

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0;
}

}  // namespace

std::string AttemptId(std::int64_t job_uid, const replica::v1::ReplicaId& replica, int attempt) {
  return std::to_string(job_uid) + "-" + TaskName(replica) + "-" + std::to_string(attempt);
}

std::optional<AttemptName> ParseAttemptId(std::string_view text) {
  const std::size_t first = text.find('-');
  const std::size_t last = text.rfind('-');
  if (first == std::string_view::npos || last <= first + 1) return std::nullopt;
  AttemptName name{.task_name = std::string(text.substr(first + 1, last - first - 1))};
  if (!ParseNumber(text.substr(0, first), name.job_uid) || !ParseNumber(text.substr(last + 1), name.attempt))
    return std::nullopt;
  return name;
}

}  // namespace trainyard::cluster

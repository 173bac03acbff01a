#include "control/intake/request_quota.h"

#include <algorithm>

#include "base/number.h"

namespace trainyard::control {
namespace {

constexpr std::size_t kProjectsMin = 1'000;

/// Forgets times that have left the window, and those in the future because a clock was set back.
void DropOld(std::deque<SysTime>& times, SysTime now) {
  while (!times.empty() && times.front() + RequestQuota::kWindow <= now) times.pop_front();
  while (!times.empty() && times.back() > now) times.pop_back();
}

Error Exceeded(std::int64_t project_number, RequestQuota::Kind kind) {
  const std::string metric =
      kind == RequestQuota::Kind::kCreate ? "Job requests" : "Resource management requests";
  return {Code::kResourceExhausted,
          "Quota exceeded for quota metric '" + metric + "' and limit '" + metric +
              " per minute' of service 'ml.googleapis.com' for consumer 'project_number:" +
              std::to_string(project_number) + "'.",
          ""};
}

std::unexpected<Error> Malformed(std::string_view item) {
  return std::unexpected(
      InvalidArgument("", "'" + std::string(item) + "' is not creates=COUNT or other=COUNT"));
}

}  // namespace

Result<RequestQuota::Limits> RequestQuota::Limits::Parse(std::string_view text) {
  Limits limits;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return Malformed(item);
    const std::string_view name = item.substr(0, equals);
    const std::string_view digits = item.substr(equals + 1);
    const int count = WholeNumber<int>(digits).value_or(0);
    if (count < 1 || count > kLimitMax) return Malformed(item);
    std::optional<int>* limit = name == "creates" ? &limits.creates
                                : name == "other" ? &limits.others
                                                  : nullptr;
    if (limit == nullptr || limit->has_value()) return Malformed(item);
    *limit = count;
  }
  return limits;
}

RequestQuota::RequestQuota(const Clock& clock, Limits limits, cluster::NumberOf number_of)
    : clock_(clock), limits_(limits), number_of_(std::move(number_of)), projects_max_(kProjectsMin) {}

std::optional<RequestQuota::Refusal> RequestQuota::Take(const std::string& project, Kind kind) {
  const std::optional<int>& limit = kind == Kind::kCreate ? limits_.creates : limits_.others;
  if (!limit) return std::nullopt;
  Projects& projects = kind == Kind::kCreate ? creates_ : others_;
  const SysTime now = clock_.Now();
  Times& times = projects[project];
  DropOld(times, now);
  if (times.size() >= static_cast<std::size_t>(*limit)) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(times.front() + kWindow - now);
    return Refusal{.error = Exceeded(number_of_(project), kind),
                   .retry_after = std::max(wait, std::chrono::seconds{1})};
  }
  times.push_back(now);
  if (projects.size() > projects_max_) ForgetQuietProjects(projects, now);
  return std::nullopt;
}

void RequestQuota::ForgetQuietProjects(Projects& projects, SysTime now) {
  std::erase_if(projects, [now](const auto& project) { return project.second.back() + kWindow <= now; });
  projects_max_ = std::max(kProjectsMin, projects.size() * 2);  // so that searching costs little per request
}

}  // namespace trainyard::control

#include "control/job_service.h"
#include "control/manifest.h"

namespace trainyard::control {

JobService::Attempt JobService::FindAttempt(std::string_view attempt_id) const {
  std::optional<AttemptName> name = ParseAttemptId(attempt_id);
  if (!name) return {};
  auto runner = runners_.find(name->job_uid);
  if (runner == runners_.end()) return {};
  int replica = runner->second->FindReplica(name->task_name);
  if (replica < 0) return {};
  return {.runner = runner->second.get(), .replica = replica, .number = name->attempt};
}

boost::asio::awaitable<bool> JobService::Lives(std::string attempt_id) {
  co_await recovered_.Wait();
  const Attempt attempt = FindAttempt(attempt_id);
  co_return attempt.runner != nullptr&& attempt.runner->IsOpen(attempt.replica, attempt.number);
}

}  // namespace trainyard::control

#include "control/run/job_secrets.h"

#include <algorithm>
#include <string>

#include "base/async/diagnostics.h"
#include "base/wire/time.h"
#include "control/run/attempt_end.h"
#include "control/run/manifest.h"
#include "control/run/service_log.h"

namespace trainyard::control {

namespace {

boost::asio::awaitable<Status> Complete(Collaborators& outside, std::int64_t job_uid,
                                        replica::v1::Manifest& manifest) {
  if (manifest.secrets().empty()) co_return Status{};
  if (outside.kept.secrets == nullptr) co_return std::unexpected(NotFound("this server keeps no secrets"));
  const Result<jobs::Secrets> values = co_await outside.kept.secrets->Read(job_uid);
  if (!values && values.error().code != Code::kNotFound) co_return std::unexpected(values.error());
  co_return AddSecrets(values ? *values : jobs::Secrets(), manifest);
}

}  // namespace

/// A job's name alone is not enough: the second of two creates with the same name must not get the first
/// one's secrets.
std::string StagedName(const v1::JobRecord& job) {
  return job.cluster_hash() + "-" +
         std::to_string(wire::FromProto(job.job().create_time()).time_since_epoch().count());
}

boost::asio::awaitable<std::optional<replica::v1::ExitRecord>> CompleteSecrets(
    Collaborators& outside, const v1::JobRecord& job, replica::v1::Manifest& manifest) {
  const Status complete = co_await Complete(outside, LogUid(job), manifest);
  if (complete) co_return std::nullopt;
  co_return NotStarted(outside, replica::v1::ExitRecord::PREPARATION_FAILED,
                       "The replica cannot be started: " + complete.error().message);
}

bool HasSecrets(const v1::JobRecord& job) {
  const auto& variables = job.job().training_input().env();
  return !job.has_trial() &&
         std::ranges::any_of(variables, [](const ml::v1::EnvVar& variable) { return variable.secret(); });
}

boost::asio::awaitable<void> ForgetSecrets(Collaborators& outside, const v1::JobRecord& job) {
  if (outside.kept.secrets == nullptr || !HasSecrets(job)) co_return;
  const Status removed = co_await outside.kept.secrets->Remove(job.uid());
  if (!removed)
    Diagnose(DiagnosticLevel::kError,
             "the secrets of job " + job.job().job_id() + " are still there: " + removed.error().message);
}

}  // namespace trainyard::control

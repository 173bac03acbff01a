#include "engine/local/former_attempts.h"

#include <algorithm>
#include <vector>

#include "engine/local/attempt_files.h"
#include "engine/local/strays.h"
#include "rules/cluster/attempt_id.h"

namespace trainyard::engine {

namespace {

/// A missing lock does not prove the attempt's end, nor does an error.
bool MayLive(const replica::AttemptDir& dir) { return IsHeld(dir).value_or(true); }

}  // namespace

std::optional<std::string> FindFormerAttempt(const std::string& former_dir, const std::string& attempt_id) {
  const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt_id);
  if (former_dir.empty() || !name) return std::nullopt;
  const Result<std::vector<AttemptRef>> attempts = ListAttempts(former_dir);
  if (!attempts) return attempt_id;  // not knowing is no proof that it does not live there
  for (const AttemptRef& attempt : *attempts) {
    const std::optional<cluster::AttemptName> other = cluster::ParseAttemptId(attempt.id);
    if (!other || other->job_uid != name->job_uid) continue;
    if (MayLive({former_dir + "/" + attempt.id})) return attempt.id;
  }
  return std::nullopt;
}

bool HasLivingAttempts(const std::string& former_dir) {
  const Result<std::vector<AttemptRef>> attempts = ListAttempts(former_dir);
  if (!attempts) return true;  // not knowing is no proof that none does
  return std::ranges::any_of(*attempts, [&former_dir](const AttemptRef& attempt) {
    return MayLive({former_dir + "/" + attempt.id});
  });
}

std::string FormerAttemptReason(const std::string& former_dir, const std::string& former_id) {
  return "this data directory is made of a backup, and the job still runs on this machine under the data "
         "directory of that backup (" +
         former_dir + "/" + former_id + "): cancel it there, or wait for its end";
}

}  // namespace trainyard::engine

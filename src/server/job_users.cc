#include "server/job_users.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "engine/local/machine_checks.h"

namespace trainyard::server {

std::optional<engine::JobUsers> JobUsersOf(const ServeOptions& options) {
  if (!options.job_uids) return std::nullopt;
  return engine::JobUsers{.first = options.job_uids->first, .count = options.job_uids->count};
}

Status CheckJobUsers(const ServeOptions& options, const store::DataDirectory& data) {
  const auto users = JobUsersOf(options);
  if (!users) return {};
  const auto refused = [](const std::string& why) {
    return std::unexpected(FailedPrecondition("--job-users: " + why));
  };
  if (::geteuid() != 0)
    return refused("only root may give jobs other users. Leave it out: jobs run as this server's account");
  std::vector<std::string> folders = {data.Path(""), data.environments_dir()};
  for (const auto& [name, folder] : options.bucket_dirs) folders.push_back(folder);
  for (const std::string& folder : folders) {
    const Status shown = engine::CheckJobUsers(*users, folder);
    if (!shown) return refused(shown.error().message + ". Leave it out, or use another place");
  }
  return {};
}

}  // namespace trainyard::server

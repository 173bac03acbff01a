#include "replica/supervisor/sandbox_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "base/async/file.h"
#include "programs/attempt/init_note.h"
#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

UniqueFd OpenDirectory(const std::string& path) {
  auto directory = OpenFile(path, O_RDONLY | O_DIRECTORY);
  return directory ? *std::move(directory) : UniqueFd();
}

/// Attempts of two supervisors have the same name when a test uses one directory twice.
std::string NameOf(const AttemptDir& dir, const std::string& attempt_id) {
  return InstallationName(dir.path.substr(0, dir.path.rfind('/'))) + "-" + attempt_id + "-" +
         std::to_string(getpid());
}

}  // namespace

EndGroup Mark(const AttemptDir& dir, const std::string& attempt_id, const Cgroup& cgroup, SandboxPlan& plan,
              bool preparing) {
  EndGroup group;
  std::vector<std::string> noted;
  if (!HasPidNamespace(plan.isolation)) {
    const bool own_ends =
        !cgroup.path().empty() && access((cgroup.path() + "/cgroup.kill").c_str(), F_OK) == 0;
    if (own_ends) {
      group.directory = OpenDirectory(cgroup.path());
    } else if (auto made = FreezerGroup::Create(NameOf(dir, attempt_id))) {
      group.freezer = *std::move(made);
      group.directory = OpenDirectory(group.freezer.path());
      noted.push_back(group.freezer.path());
    }
    plan.kill_group_fd = group.directory.get();
  }
  plan.on_init = [dir, noted = std::move(noted), preparing](pid_t init) {
    return NoteInit(dir, init, noted, preparing);
  };
  return group;
}

}  // namespace trainyard::replica

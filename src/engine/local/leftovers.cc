#include "engine/local/leftovers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "base/async/file.h"
#include "base/async/unique_fd.h"
#include "engine/local/attempt_files.h"
#include "engine/local/strays.h"
#include "programs/attempt/init_note.h"
#include "programs/sandbox/cgroups/kill_group.h"
#include "rules/cluster/task_name.h"

namespace trainyard::engine {

namespace {

/// A missing lock does not prove the attempt's end, nor does an error.
bool MayLive(const replica::AttemptDir& dir) { return IsHeld(dir).value_or(true); }

namespace fs = std::filesystem;
using replica::AttemptDir;

/// Callers ask again.
constexpr std::chrono::milliseconds kGroupWait{50};

/// Cgroups are named after their attempt (MakeReplicaCgroup, Mark): a note that another account could write
/// must not name another attempt's cgroups.
std::vector<std::string> GroupsOf(const AttemptDir& dir, const std::vector<std::string>& noted) {
  const std::string attempt_id = fs::path(dir.path).filename();
  std::vector<std::string> groups = noted;
  std::string text = ReadFile(dir.Cgroup()).value_or("");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) groups.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::erase_if(groups, [&attempt_id](const std::string& group) {
    return fs::path(group).filename().string().find(attempt_id) == std::string::npos ||
           ::access((group + "/cgroup.procs").c_str(), F_OK) != 0;
  });
  return groups;
}

/// Kills what is left of the attempt; true: nothing was left.
bool EndLeftovers(const AttemptDir& dir) {
  bool over = true;
  const auto note = replica::ReadInitNote(dir);
  if (note) {
    if (const UniqueFd init = replica::OpenProcess(note->init)) {
      syscall(SYS_pidfd_send_signal, init.get(), SIGKILL, nullptr, 0);
      over = false;
    }
  }
  for (const std::string& group : GroupsOf(dir, note ? note->groups : std::vector<std::string>())) {
    if (!replica::KillGroup(group, kGroupWait)) over = false;
  }
  return over;
}

}  // namespace

Result<bool> IsOver(const AttemptDir& dir) {
  TY_TRY(const bool held, IsHeld(dir));
  if (held || !EndLeftovers(dir)) return false;
  if (::access(dir.Lock().c_str(), F_OK) == 0) return true;
  TY_TRY(const Strays strays, FindStrays(dir));  // its notes are gone, too
  KillStrays(dir, strays.members);
  return strays.holders.empty() && strays.members.empty();
}

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
  return "this data directory was restored from a backup, and the job still runs on this machine from the "
         "original data directory (" +
         former_dir + "/" + former_id + "): cancel it there, or wait until it ends";
}

}  // namespace trainyard::engine

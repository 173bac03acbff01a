#include "base/systemd/unit_place.h"

#include <algorithm>

namespace trainyard::systemd {

namespace {

bool IsUnit(std::string_view name) { return name.ends_with(".service") || name.ends_with(".scope"); }

}  // namespace

UnitPlace FindUnitPlace(std::string_view cgroup) {
  UnitPlace place;
  bool below_user_manager = false;
  std::size_t begin = 0;
  while (begin < cgroup.size()) {
    const std::size_t slash = cgroup.find('/', begin);
    const std::size_t end = slash == std::string_view::npos ? cgroup.size() : slash;
    const std::string_view name = cgroup.substr(begin, end - begin);
    begin = end + 1;
    if (!IsUnit(name)) continue;
    below_user_manager = below_user_manager || place.unit.starts_with("user@");
    place.unit = name;
    place.group = cgroup.substr(0, end);
    place.kind = PlaceKind::kSystem;
    if (name.starts_with("session-") && name.ends_with(".scope")) place.kind = PlaceKind::kLoginSession;
  }
  if (below_user_manager) place.kind = PlaceKind::kUserManager;
  return place;
}

/// The path in the relevant hierarchy.
static std::string_view PathIn(std::string_view membership) {
  std::string_view unified;
  while (!membership.empty()) {
    const std::size_t end = membership.find('\n');
    const std::string_view line = membership.substr(0, end);
    membership.remove_prefix(end == std::string_view::npos ? membership.size() : end + 1);
    const std::size_t path = line.find(":/");
    if (path == std::string_view::npos) continue;
    if (line.substr(0, path).ends_with(":name=systemd")) return line.substr(path + 1);
    if (line.starts_with("0::")) unified = line.substr(path + 1);
  }
  return unified;
}

UnitPlace FindOwnPlace(std::string_view membership) { return FindUnitPlace(PathIn(membership)); }

std::string FindOuterUnit(std::string_view membership, std::string_view root) {
  std::string_view path = PathIn(membership);
  if (!path.starts_with(root)) return {};
  path.remove_prefix(root.size());
  if (!path.starts_with('/')) return {};
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), name.size() + 1));
    if (IsUnit(name) && !name.starts_with("user@")) return std::string(name);
  }
  return {};
}

std::string FindManagersRoot(std::string_view membership) {
  std::string root = FindOwnPlace(membership).group;
  if (!root.empty()) root.erase(root.rfind('/'));
  while (root.ends_with(".slice")) root.erase(root.rfind('/'));
  return root;
}

LogoutNote AfterLogout(const SessionFacts& facts) {
  const bool of_session = facts.place == PlaceKind::kLoginSession || facts.place == PlaceKind::kUserManager;
  if (facts.is_root || !of_session) return {};
  if (facts.lingers) return {.line = "jobs live on when " + facts.user + " logs out (lingering is on)"};
  const std::string way = "; as root, 'loginctl enable-linger " + facts.user + "' keeps them";
  if (facts.place == PlaceKind::kUserManager) {
    return {.ends_jobs = true,
            .line = "jobs and this server end when the last session of " + facts.user + " ends" + way};
  }
  if (facts.kills_processes) {
    return {.ends_jobs = true,
            .line = "jobs and this server end when " + facts.user +
                    " logs out, because logind ends the processes of a session (KillUserProcesses)" + way};
  }
  return {.line = "jobs live on when " + facts.user +
                  " logs out; this server too, in tmux or started with nohup and &"};
}

}  // namespace trainyard::systemd

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Finds a process's place in systemd's tree of units, and what that means for it. Pure: any thread. Source:
/// systemd.io/CGROUP_DELEGATION, pam_systemd(8), logind.conf(5).
namespace trainyard::systemd {

enum class PlaceKind : std::uint8_t {
  kLoginSession,  ///< a scope of a login: a shell by ssh, tmux in it, a console
  kUserManager,   ///< a unit of a user's own systemd
  kSystem,        ///< a unit of the machine's systemd
  kNone,          ///< no unit: a container, or systemd does not run here
};

struct UnitPlace {
  PlaceKind kind = PlaceKind::kNone;
  std::string unit;   ///< the innermost: "session-3.scope"; empty: none
  std::string group;  ///< the cgroup of that unit, as in /proc/PID/cgroup; empty: none
  friend bool operator==(const UnitPlace&, const UnitPlace&) = default;
};

/// The place of a cgroup's path: the part after the second colon in /proc/PID/cgroup.
[[nodiscard]] UnitPlace FindUnitPlace(std::string_view cgroup);

/// The place from the text of /proc/PID/cgroup: in systemd's own hierarchy if there is one (version 1,
/// hybrid), else in version 2.
[[nodiscard]] UnitPlace FindOwnPlace(std::string_view membership);

/// The outermost unit below `root` in the same text, such as "trainyard.service". Cgroups below a unit are
/// made by the unit and may have any name. A user's manager does not count as a unit here. Empty: there is
/// none.
[[nodiscard]] std::string FindOuterUnit(std::string_view membership, std::string_view root = {});

/// The cgroup that contains all units of the manager of the process's unit. If systemd runs in a container,
/// it is not the machine's root. Empty: it is the root, or there is no unit.
[[nodiscard]] std::string FindManagersRoot(std::string_view membership);

/// The known facts about the end of a user's sessions.
struct SessionFacts {
  PlaceKind place = PlaceKind::kNone;  ///< the server's when it was started
  std::string user;                    ///< its name
  bool is_root = false;
  bool lingers = false;          ///< the user's systemd runs without a session
  bool kills_processes = false;  ///< logind's KillUserProcesses: a logout kills the session's processes
};

/// The effect of a logout on jobs.
struct LogoutNote {
  bool ends_jobs = false;
  std::string line;  ///< for the operator; empty: no session is involved
  friend bool operator==(const LogoutNote&, const LogoutNote&) = default;
};
[[nodiscard]] LogoutNote AfterLogout(const SessionFacts& facts);

}  // namespace trainyard::systemd

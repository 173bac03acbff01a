#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Where a process is in systemd's tree of units, and what that means for it. Pure: any thread.
/// Source: systemd.io/CGROUP_DELEGATION, pam_systemd(8), logind.conf(5).
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

/// From a cgroup's path: what is after the second colon in /proc/PID/cgroup.
[[nodiscard]] UnitPlace FindUnitPlace(std::string_view cgroup);

/// The same from the text of /proc/PID/cgroup: systemd's own hierarchy where there is one (version 1,
/// hybrid), else version 2.
[[nodiscard]] UnitPlace FindOwnPlace(std::string_view membership);

/// From the same text the outermost unit below `root`, as "trainyard.service": whatever is below a unit is of
/// its own making, and may have any name. A user's manager is no unit here. Empty: none.
[[nodiscard]] std::string FindOuterUnit(std::string_view membership, std::string_view root = {});

/// The cgroup that holds all units of the manager whose unit the text's process is in: where systemd runs in
/// a container, not the machine's root. Empty: that, or no unit.
[[nodiscard]] std::string FindManagersRoot(std::string_view membership);

/// What is known of the end of a user's sessions.
struct SessionFacts {
  PlaceKind place = PlaceKind::kNone;  ///< of the server when it was started
  std::string user;                    ///< its name
  bool is_root = false;
  bool lingers = false;          ///< its systemd lives without a session
  bool kills_processes = false;  ///< logind's KillUserProcesses: a logout ends what the session started
};

/// What a logout means for jobs.
struct LogoutNote {
  bool ends_jobs = false;
  std::string line;  ///< for the operator; empty: no session is involved
  friend bool operator==(const LogoutNote&, const LogoutNote&) = default;
};
[[nodiscard]] LogoutNote AfterLogout(const SessionFacts& facts);

}  // namespace trainyard::systemd

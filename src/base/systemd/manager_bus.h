#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::systemd {

/// Whether systemd is this machine's init. Source: sd_booted(3).
[[nodiscard]] bool IsRunning();

/// A connection to systemd: the machine's manager for root, the user's own manager for other users. Uses
/// libsystemd's sd-bus, which is loaded when needed: it is installed wherever systemd is, and a supervisor
/// starts without it. Blocking, at most kBusWaitMax per reply. One thread.
class ManagerBus {
 public:
  /// kUnavailable: no library, or no bus; the message says which.
  [[nodiscard]] static Result<ManagerBus> Open();
  ManagerBus(ManagerBus&&) noexcept;
  ManagerBus& operator=(ManagerBus&&) = delete;
  ~ManagerBus();

  /// Makes a scope that is delegated to us (Delegate=) and moves the process into it; returns once it is
  /// there. `name` ends with ".scope". kAlreadyExists: there is a scope of that name.
  [[nodiscard]] Status StartScope(const std::string& name, const std::string& description, pid_t pid);
  /// Moves the process into a group below a scope of ours: "/leaf".
  [[nodiscard]] Status Join(const std::string& scope, const std::string& group, pid_t pid);

 private:
  struct State;
  explicit ManagerBus(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// logind's KillUserProcesses: whether a logout kills the session's processes. False if logind does not
/// reply: then no process is killed. Blocking, as above.
[[nodiscard]] bool KillsUserProcesses();

/// Whether the user's systemd keeps running without a session. Source: loginctl(1), enable-linger.
[[nodiscard]] bool Lingers(const std::string& user);

/// A helper process that stays in the caller's login session when the caller moves into a scope of the user's
/// systemd. A session with a process in it is not over, and the user's systemd runs as long as there is a
/// session. So jobs survive a logout, as all processes of a session do unless logind is configured otherwise.
/// The helper ends when the scope is empty.
class SessionStay {
 public:
  /// Starts it; call before moving, and before there are threads.
  [[nodiscard]] static Result<SessionStay> Start();
  SessionStay(SessionStay&&) noexcept = default;
  SessionStay& operator=(SessionStay&&) = delete;
  /// Without a call of WaitFor the helper ends at once.
  ~SessionStay() = default;

  /// Lets the helper run as long as the cgroup (version 2) is populated.
  [[nodiscard]] Status WaitFor(const std::string& group);

 private:
  explicit SessionStay(UniqueFd pipe) : pipe_(std::move(pipe)) {}
  UniqueFd pipe_;
};

}  // namespace trainyard::systemd

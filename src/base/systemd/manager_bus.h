#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::systemd {

/// Whether systemd is this machine's init. Source: sd_booted(3).
[[nodiscard]] bool IsRunning();

/// A connection to the systemd that answers for us: root's is the machine's, a user's is the user's own.
/// Speaks by libsystemd's sd-bus, loaded when it is needed: it is there wherever systemd is, and a supervisor
/// starts without it. Blocking, at most kBusWaitMax for each answer. One thread.
class ManagerBus {
 public:
  /// kUnavailable: no library, or no bus; the message says which.
  [[nodiscard]] static Result<ManagerBus> Open();
  ManagerBus(ManagerBus&&) noexcept;
  ManagerBus& operator=(ManagerBus&&) = delete;
  ~ManagerBus();

  /// Makes a scope that is ours to divide (Delegate) and moves the process into it; returns once it is there.
  /// `name` ends with ".scope". kAlreadyExists: there is one of that name.
  [[nodiscard]] Status StartScope(const std::string& name, const std::string& description, pid_t pid);
  /// Moves the process into a group below a scope of ours: "/leaf".
  [[nodiscard]] Status Join(const std::string& scope, const std::string& group, pid_t pid);

 private:
  struct State;
  explicit ManagerBus(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// logind's KillUserProcesses: whether a logout ends what the session started. False where logind does not
/// answer: then nobody does that. Blocking, as above.
[[nodiscard]] bool KillsUserProcesses();

/// Whether the user's systemd lives on without a session. Source: loginctl(1), enable-linger.
[[nodiscard]] bool Lingers(const std::string& user);

/// A process that stays in the login session of the calling one, when that moves into a scope of the user's
/// systemd: a session with a process in it is not over, and the user's systemd lives as long as a session.
/// So jobs live on after a logout, as all processes of a session do unless logind is told otherwise. It ends
/// when nothing lives in the scope any more, however that ended.
class SessionStay {
 public:
  /// Starts it; call before moving, and before there are threads.
  [[nodiscard]] static Result<SessionStay> Start();
  SessionStay(SessionStay&&) noexcept = default;
  SessionStay& operator=(SessionStay&&) = delete;
  /// Without WaitFor it ends at once.
  ~SessionStay() = default;

  /// It lives as long as the cgroup (version 2) is populated.
  [[nodiscard]] Status WaitFor(const std::string& group);

 private:
  explicit SessionStay(UniqueFd pipe) : pipe_(std::move(pipe)) {}
  UniqueFd pipe_;
};

}  // namespace trainyard::systemd

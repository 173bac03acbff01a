#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

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

}  // namespace trainyard::systemd

#pragma once

#include <sys/types.h>

#include <string>

#include "base/async/unique_fd.h"
#include "base/result.h"

namespace trainyard::systemd {

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

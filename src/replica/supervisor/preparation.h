#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "programs/attempt/frame.h"
#include "programs/runtimes/program_source.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/sandbox.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

/// Prepares a program's environment in a sandbox: it can be stopped at any point with all that it started.
/// What it starts, including code of packages, has the replica's limits. One thread.
class Preparation {
 public:
  static constexpr std::chrono::milliseconds kProgressInterval{250};

  struct Observer {
    virtual ~Observer() = default;
    virtual void OnPreparationLine(bool is_error, std::string_view line) = 0;
    /// At most every kProgressInterval, and when a new step begins.
    virtual void OnProgress(v1::Progress progress) = 0;
  };

  /// Source, manifest and observer outlive the preparation. A shortage (programs/sandbox/patience.h): try
  /// again later.
  [[nodiscard]] static Result<Preparation> Start(ProgramSource& source, const v1::Manifest& manifest,
                                                 int lock_fd, Observer& observer);

  /// The descriptor that carries the lines and the result. When readable, call OnReadable().
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// Passes lines on to the observer. Returns the result once the preparation has ended.
  [[nodiscard]] std::optional<Status> OnReadable();

 private:
  Preparation(Cgroup cgroup, EndGroup end_group, Sandbox sandbox, UniqueFd pipe, Observer& observer)
      : cgroup_(std::move(cgroup)),
        end_group_(std::move(end_group)),
        sandbox_(std::move(sandbox)),
        pipe_(std::move(pipe)),
        observer_(&observer) {}
  void Take(std::string_view message);

  Cgroup cgroup_;       // removed after the sandbox, which is in it
  EndGroup end_group_;  // as well
  Sandbox sandbox_;
  UniqueFd pipe_;
  Observer* observer_;
  FrameReader frames_;
  std::optional<Status> outcome_;
};

}  // namespace trainyard::replica

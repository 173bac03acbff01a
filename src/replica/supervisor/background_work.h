#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/guarded.h"
#include "programs/attempt/frame.h"
#include "programs/environment/progress.h"
#include "programs/sandbox/cgroups/cgroup.h"
#include "programs/sandbox/sandbox.h"
#include "replica/supervisor/user_process.h"

namespace trainyard::replica {

/// The working process's end of the pipe. Any thread.
class BackgroundReporter {
 public:
  void Line(bool is_error, std::string_view line);
  /// Drops messages that come too soon.
  void Progress(const environment::Progress& progress);
  /// @return the process's exit code.
  int End(const Status& outcome);

 private:
  struct LastReport {
    std::string what;
    std::chrono::steady_clock::time_point time;
  };
  void Send(char kind, std::string_view content);

  Guarded<int> pipe_{kResultFd};
  Guarded<LastReport> said_{LastReport{}};
};

/// Something long beside the program, before it runs or after its end, in a sandbox: it can be stopped at any
/// point with all that it started. What it starts, including code of packages, has the replica's limits. One
/// thread.
class BackgroundWork {
 public:
  static constexpr std::chrono::milliseconds kProgressInterval{250};

  /// Runs in the sandbox.
  using Function = std::function<Status(BackgroundReporter& reporter)>;

  struct Observer {
    virtual ~Observer() = default;
    virtual void OnLine(bool is_error, std::string_view line) = 0;
    /// At most every kProgressInterval, and when a new step begins.
    virtual void OnProgress(v1::Progress progress) = 0;
  };

  /// Manifest and observer outlive the work, and so does what the function refers to. A shortage
  /// (programs/sandbox/patience.h): try again later.
  /// @param name  what it is called if it was killed: "the preparation". A literal.
  [[nodiscard]] static Result<BackgroundWork> Start(Function function, const v1::Manifest& manifest,
                                                    int lock_fd, Observer& observer, std::string_view name);

  /// The descriptor that carries the lines and the result. When readable, call OnReadable().
  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  /// Passes lines on to the observer. Returns the result once the work has ended.
  [[nodiscard]] std::optional<Status> OnReadable();

 private:
  BackgroundWork(std::string_view name, Cgroup cgroup, EndGroup end_group, Sandbox sandbox, UniqueFd pipe,
                 Observer& observer)
      : name_(name),
        cgroup_(std::move(cgroup)),
        end_group_(std::move(end_group)),
        sandbox_(std::move(sandbox)),
        pipe_(std::move(pipe)),
        observer_(&observer) {}
  void Take(std::string_view message);

  std::string_view name_;
  Cgroup cgroup_;       // removed after the sandbox, which is in it
  EndGroup end_group_;  // as well
  Sandbox sandbox_;
  UniqueFd pipe_;
  Observer* observer_;
  FrameReader frames_;
  std::optional<Status> outcome_;
};

}  // namespace trainyard::replica

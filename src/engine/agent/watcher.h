#pragma once

#include <functional>

namespace trainyard::agent {

/// The agent's first process. It forks the worker, forwards SIGTERM (also for SIGINT) and kNoticeSignal to
/// it, and forks another worker if one was killed or crashed: supervisors live on meanwhile, and the next
/// worker finds them by their locks. The watcher is a child subreaper: it becomes the parent of orphaned
/// processes. When the worker has exited, all processes below the watcher are killed.
///
/// Runs in the process's only thread.
class Watcher {
 public:
  /// @param worker  runs in the forked process; returns its exit status. SIGTERM and kNoticeSignal are
  /// blocked until it handles them.
  explicit Watcher(std::function<int()> worker) : worker_(std::move(worker)) {}

  /// Returns the exit status of the worker that exited by itself.
  [[nodiscard]] int Run();

 private:
  void Fork();
  /// The worker's exit status; -1: it was killed, or has not ended.
  int Reap();
  void PassOn(int signal);

  std::function<int()> worker_;
  int child_ = -1;
  bool terminated_ = false;  ///< received signals, which the next worker gets, too
  bool noticed_ = false;
};

}  // namespace trainyard::agent

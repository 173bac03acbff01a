#pragma once

#include <functional>

namespace trainyard::agent {

/// The agent's first process. It forks the worker, passes SIGTERM (also for SIGINT) and kNoticeSignal on to
/// it, and forks another one when it was killed or crashed: supervisors live on meanwhile, and their locks
/// tell the next worker of them. It is a child subreaper: what loses its parent comes to it. When the worker
/// has exited, everything below it is killed.
///
/// One thread, and the process's only one.
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
  bool terminated_ = false;  ///< signals that came: the next worker gets them, too
  bool noticed_ = false;
};

}  // namespace trainyard::agent

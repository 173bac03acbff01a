#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "engine/attempt_host.h"
#include "engine/replica_link.h"
#include "engine/testing/lifecycle_coverage.h"
#include "engine/testing/simulated_supervisor.h"

namespace trainyard::engine {

/// For simulations: a machine on which attempts run. Each attempt has a SimulatedSupervisor and a directory
/// with its real spool and exit record; processes and the clock are simulated. What happens depends on the
/// random numbers, the clock and the calls alone. It outlives servers, whose side is a SimulatedAttemptHost.
/// Loop thread only.
class SimulatedMachine final : SimulatedSupervisor::Machine {
 public:
  using State = replica::Lifecycle::State;
  using Time = std::chrono::steady_clock::time_point;

  struct Setup {
    boost::asio::any_io_executor loop;
    std::mt19937_64& random;  ///< outlives it, and all that it has connected
    std::string folder;       ///< for the attempts' directories; made, and removed at the end
  };
  explicit SimulatedMachine(Setup setup);
  ~SimulatedMachine() override;

  /// Sets the server to which supervisors connect. Call it before the first start.
  void Attach(ReplicaLinkObserver& observer) { observer_ = &observer; }
  /// Sets the function that is called once for each supervisor that starts.
  void SetScript(std::function<SimulatedProgram(const Manifest&)> script) { script_ = std::move(script); }

  /// Told what happens, for stories, ledgers and tables of what was tried.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    /// `attempt_id` and `state` (of its lifecycle) are "" if there is none. `ends`: the attempt may end by
    /// it, and its replica start again, which counts as a restart.
    virtual void OnFault(std::string_view fault, const std::string& attempt_id, std::string_view state,
                         bool ends) = 0;
    /// Something happened that must not: a sentence.
    virtual void OnViolation(std::string what) = 0;
  };
  /// The watcher outlives the machine.
  void SetWatcher(Watcher& watcher) { watcher_ = &watcher; }

  // Faults of one attempt. Each does nothing if there is nothing for it to happen to.
  /// The supervisor is killed; what it runs ends with it, or a moment later.
  void Lose(const std::string& attempt_id);
  void KillProgram(const std::string& attempt_id);
  /// The connection breaks; a supervisor that waits for a server tries again at once.
  void Reconnect(const std::string& attempt_id);
  /// SIGSTOP to the supervisor, until Continue.
  void Pause(const std::string& attempt_id);
  void Continue(const std::string& attempt_id);
  /// SIGTERM to the supervisor, or to all processes of the attempt.
  void ShutDown(const std::string& attempt_id, bool everywhere);
  /// Somebody removes the attempt's directory; its supervisor notices that within 2 s.
  void RemoveDirectory(const std::string& attempt_id);
  /// The program writes the rest of its lines and ends. No fault. False: it does not run.
  bool End(const std::string& attempt_id, int wait_status);

  // Faults of the machine, until Calm()
  void SetDiskFull(bool full);
  void SetShort(bool is_short) noexcept { is_short_ = is_short; }
  [[nodiscard]] bool IsDiskFull() const override { return disk_full_; }
  [[nodiscard]] bool IsShort() const override { return is_short_; }
  /// The container engine does not answer: containers of programs that have ended cannot be removed.
  void SetEngineDown(bool down) noexcept { is_engine_down_ = down; }
  /// Nobody can find out which attempts live.
  void SetHidden(bool hidden) noexcept { is_hidden_ = hidden; }
  enum class StartFault {
    kRefused,     ///< nothing is done
    kNoManifest,  ///< the directory is made, but not the manifest in it
    kNotStarted,  ///< the manifest is written, too
    kAnswerLost,  ///< the supervisor is started, and the answer says that it was not
    kEndsAtOnce,  ///< the supervisor ends before it has done anything
  };
  /// The next start fails in this way.
  void FailNextStart(StartFault fault) { next_start_ = fault; }
  /// All processes end. Of what was not synced a part is lost.
  void PowerCut();
  /// The processes and containers of the attempts of one node end at once.
  void LoseNode(const std::string& node);
  /// The server ends, and all connections with it.
  void CutConnections();
  /// Ends all faults.
  void Calm();

  // An attempt host does these things with directories and processes:
  /// As MakeAttempt: makes the directory with the manifest and takes the lock. kAlreadyExists: there is one.
  [[nodiscard]] Status Make(const Manifest& manifest, const std::string& node);
  /// As SupervisorStarter::Start. The caller's lock is released.
  [[nodiscard]] Status StartSupervisor(const std::string& attempt_id);
  /// The process that began a start has ended before it was done.
  void LeaveStart(const std::string& attempt_id);
  /// kPending until the supervisor is started. kAlive also while other processes of the attempt live. An
  /// error while attempts are hidden.
  [[nodiscard]] Result<AttemptState> Look(const std::string& attempt_id) const;
  [[nodiscard]] std::optional<ExitRecord> ExitOf(const std::string& attempt_id) const;
  [[nodiscard]] const Manifest* ManifestOf(const std::string& attempt_id) const;
  [[nodiscard]] Result<std::vector<replica::v1::LogChunk>> LinesOf(const std::string& attempt_id,
                                                                   std::int64_t from_line) const;
  [[nodiscard]] std::vector<AttemptRef> List() const;
  /// SIGKILL to the supervisor; then all that it runs ends.
  void Kill(const std::string& attempt_id);
  /// Removes the directory.
  void Remove(const std::string& attempt_id);
  /// The same, of a node that is given to others: nobody has read the lines that are not acknowledged.
  void RemoveUnread(const std::string& attempt_id);
  /// Sets the function that is called when the last process of an attempt has ended.
  void SetOnOver(AttemptHost::OnGone on_over) { on_over_ = std::move(on_over); }

  /// The ids of attempts of which a process lives.
  [[nodiscard]] std::vector<std::string> Alive() const;
  /// The ids of attempts whose programs run, or may still be started.
  [[nodiscard]] std::vector<std::string> Working() const;
  /// The state of its lifecycle; empty: it has no supervisor.
  [[nodiscard]] std::optional<State> StateOf(const std::string& attempt_id) const;
  [[nodiscard]] bool IsPaused(const std::string& attempt_id) const;

  /// How many lines an attempt's program wrote, and how many of them, the first ones, the log must have.
  struct Output {
    int written = 0;
    int promised = 0;
  };
  /// The outputs of all attempts that have ended, by attempt.
  [[nodiscard]] const std::map<std::string, Output>& outputs() const noexcept { return outputs_; }
  /// The events that the supervisors met so far.
  [[nodiscard]] const LifecycleCoverage& coverage() const noexcept { return coverage_; }
  [[nodiscard]] std::mt19937_64& random() noexcept { return setup_.random; }

 private:
  struct Attempt;

  // SimulatedSupervisor::Machine
  std::shared_ptr<SimulatedConnection> Connect(const std::string& attempt_id) override;
  void OnEvent(State state, replica::AttemptEvent event) override { coverage_.Meet(state, event); }
  [[nodiscard]] bool RemoveContainer(const std::string& attempt_id) override;
  void OnLaunch(const std::string& attempt_id) override;
  void OnDone(const std::string& attempt_id) override;

  [[nodiscard]] SimulatedSupervisor* Supervisor(const std::string& attempt_id) const;
  [[nodiscard]] replica::AttemptDir DirOf(const std::string& attempt_id) const;
  void CheckAlone(const std::string& attempt_id, std::string_view what);
  void EndSupervisor(const std::string& attempt_id, int promised);
  boost::asio::awaitable<void> FinishStart(std::string attempt_id);
  boost::asio::awaitable<void> NoticeRemoval(std::string attempt_id);
  boost::asio::awaitable<void> EndRest(std::string attempt_id, std::chrono::milliseconds rest);
  void CutPower(const std::string& attempt_id);
  void WakeAll();
  void SayFault(std::string_view fault, const std::string& attempt_id = {}, bool ends = false);

  Setup setup_;
  ReplicaLinkObserver* observer_ = nullptr;
  Watcher* watcher_ = nullptr;
  std::function<SimulatedProgram(const Manifest&)> script_;
  AttemptHost::OnGone on_over_;
  bool disk_full_ = false;
  bool is_short_ = false;
  bool is_engine_down_ = false;
  bool is_hidden_ = false;
  std::optional<StartFault> next_start_;
  LifecycleCoverage coverage_;
  std::map<std::string, Output> outputs_;
  std::vector<std::weak_ptr<SimulatedConnection>> connections_;
  std::map<std::string, std::unique_ptr<Attempt>> attempts_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine

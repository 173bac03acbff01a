#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/testing/simulated_alarm.h"
#include "engine/testing/simulated_connection.h"
#include "engine/testing/simulated_program.h"
#include "engine/testing/simulated_server_link.h"
#include "programs/attempt/attempt_dir.h"
#include "programs/attempt/spool.h"
#include "programs/lines/log_writer.h"
#include "programs/runtimes/exit_rules.h"
#include "replica/supervisor/lifecycle.h"
#include "replica/supervisor/output_keeper.h"

namespace trainyard::engine {

/// The lines of a program that its supervisor has read.
class ProgramLines {
 public:
  void Add(std::int64_t number_in_log) { numbers_.push_back(number_in_log); }
  /// All of them are in the spool.
  void Store() noexcept { stored_ = numbers_.size(); }
  /// The server has the lines of the log before this one.
  void Acknowledge(std::int64_t next_in_log) { acknowledged_ = std::max(acknowledged_, next_in_log); }

  [[nodiscard]] int stored() const noexcept { return static_cast<int>(stored_); }
  [[nodiscard]] int acknowledged() const {
    return static_cast<int>(std::ranges::lower_bound(numbers_, acknowledged_) - numbers_.begin());
  }

 private:
  std::vector<std::int64_t> numbers_;
  std::size_t stored_ = 0;
  std::int64_t acknowledged_ = 0;
};

/// For simulations: a supervisor whose program is simulated. Its lifecycle is the real one, and so are its
/// spool, log, output keeper and exit record, which are files. It repeats what Supervisor does around them
/// (replica/supervisor/supervisor.cc), without processes: change both together. Loop thread only. Destroying
/// it is a SIGKILL: what is on disk stays.
class SimulatedSupervisor final : public std::enable_shared_from_this<SimulatedSupervisor> {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using State = replica::Lifecycle::State;

  /// What the machine is to a supervisor.
  class Machine {
   public:
    virtual ~Machine() = default;
    [[nodiscard]] virtual std::shared_ptr<SimulatedConnection> Connect(const std::string& attempt_id) = 0;
    /// No process can be started now.
    [[nodiscard]] virtual bool IsShort() const = 0;
    /// Nothing can be written.
    [[nodiscard]] virtual bool IsDiskFull() const = 0;
    /// The event is about to be handled in that state.
    virtual void OnEvent(State state, replica::AttemptEvent event) = 0;
    /// False: its container may still run, because the container engine does not answer.
    [[nodiscard]] virtual bool RemoveContainer(const std::string& attempt_id) = 0;
    /// The program is about to run.
    virtual void OnLaunch(const std::string& attempt_id) = 0;
    /// It has done its work; destroy it in a later turn of the loop.
    virtual void OnDone(const std::string& attempt_id) = 0;
  };
  struct Setup {
    boost::asio::any_io_executor loop;
    replica::AttemptDir dir;
    replica::v1::Manifest manifest;
    replica::Spool spool;
    SimulatedProgram program;
  };

  /// The machine outlives it.
  SimulatedSupervisor(Setup setup, Machine& machine);
  ~SimulatedSupervisor() = default;
  SimulatedSupervisor(const SimulatedSupervisor&) = delete;
  SimulatedSupervisor& operator=(const SimulatedSupervisor&) = delete;

  /// Call it once.
  void Begin();
  /// Something happened: it looks in a later turn of the loop.
  void Wake();

  // What happens to it
  /// The connection breaks, and it connects again.
  void Disconnect();
  /// SIGSTOP: it does nothing until Continue. Its program runs on.
  void Pause();
  void Continue();
  /// SIGTERM, as at the machine's shutdown; its program gets it, too, if `everywhere`.
  void ShutDown(bool everywhere);
  /// The attempt's directory was removed.
  void Abandon();

  [[nodiscard]] State state() const noexcept { return lifecycle_.state; }
  [[nodiscard]] bool is_paused() const noexcept { return is_paused_; }
  /// The program's process, which has done what it does until now; null: it was not started. Call Wake()
  /// after a change.
  [[nodiscard]] SimulatedProcess* Process();
  /// The program runs, or may still be started.
  [[nodiscard]] bool IsWorking();
  [[nodiscard]] const ProgramLines& lines() const noexcept { return lines_; }

 private:
  void Round();
  void Observe();
  void StepTimers();
  void SetAlarm();
  void TakeOutput();
  void OnSignal();
  void OnPreparation();
  void Take(replica::AttemptEvent event, std::string_view stop_reason = {});
  std::optional<replica::AttemptEvent> Perform(replica::Action action, std::string_view stop_reason);
  void Prepare();
  [[nodiscard]] bool WaitsForMachine();
  replica::AttemptEvent Launch();
  void SayStop(std::string_view reason);
  void Finish();
  replica::AttemptEvent Record();
  [[nodiscard]] bool MayRecord() const noexcept;
  [[nodiscard]] bool is_due() const noexcept { return now_ >= lifecycle_.deadline; }
  void SetExit(replica::v1::ExitRecord exit);

  void StepLink();
  void Lose();
  void OnFrame(const ToReplica& frame);
  void SendPhase();

  Setup setup_;
  Machine& machine_;
  replica::LogWriter log_;
  replica::OutputKeeper output_;
  replica::ExitWriter exit_writer_;
  SimulatedServerLink link_;
  SimulatedAlarm alarm_;
  Time now_{};
  bool is_woken_ = false;
  bool is_paused_ = false;
  bool is_abandoned_ = false;
  bool is_signalled_ = false;
  bool says_container_left_ = false;

  replica::Lifecycle lifecycle_;
  Time prepared_at_ = Time::max();
  std::optional<Time> short_since_;
  bool has_cluster_ = false;
  std::optional<SimulatedProcess> process_;
  bool is_reaped_ = false;
  replica::ObservedEnd end_;
  replica::v1::ExitRecord exit_;

  ProgramLines lines_;
};

}  // namespace trainyard::engine

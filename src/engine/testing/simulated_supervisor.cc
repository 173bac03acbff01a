#include "engine/testing/simulated_supervisor.h"

#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <utility>

#include "base/wire/time.h"
#include "programs/lines/task_lines.h"

namespace trainyard::engine {

namespace asio = boost::asio;
using logging::v2::LogEntry;
using replica::Action;
using replica::AttemptEvent;
using replica::v1::ExitRecord;
using replica::v1::Manifest;
using std::chrono::milliseconds;

namespace {

constexpr std::string_view kShutdownReason = "the system asked the supervisor to end";

std::uint64_t NowNs() {
  return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

google::protobuf::Timestamp NowProto() { return wire::ToProto(SysTime(std::chrono::system_clock::now())); }

FromReplica HelloFrame(const Manifest& manifest, replica::v1::Phase phase) {
  FromReplica frame;
  frame.mutable_hello()->set_attempt_id(manifest.attempt_id());
  frame.mutable_hello()->set_token(manifest.token());
  frame.mutable_hello()->set_phase(phase);
  return frame;
}

FromReplica PhaseFrame(const Manifest& manifest, replica::v1::Phase phase) {
  FromReplica frame;
  frame.mutable_phase_changed()->set_phase(phase);
  if (phase != replica::v1::READY && phase != replica::v1::RUNNING) return frame;
  replica::v1::Endpoint& endpoint = *frame.mutable_phase_changed()->mutable_endpoint();
  *endpoint.mutable_replica() = manifest.replica();
  endpoint.set_host_name(manifest.host_name());
  endpoint.set_address(manifest.address());
  endpoint.set_port(manifest.port());
  return frame;
}

Error Shortage() { return {Code::kResourceExhausted, "no process can be started", ""}; }

constexpr int kSignalBase = 128;  ///< a shell ends with it and the signal that ended its command

bool WasToldToEnd(const replica::ObservedEnd& end) {
  return end.reported &&
         (end.wait_status == KilledBy(SIGTERM) || end.wait_status == ExitedWith(kSignalBase + SIGTERM));
}

ExitRecord UnstartedExit(const replica::ObservedEnd& end) {
  ExitRecord exit;
  exit.set_cause(end.shut_down ? ExitRecord::SHUT_DOWN : ExitRecord::STOPPED);
  exit.set_message(end.stop_reason);
  return exit;
}

/// Says why in the log.
ExitRecord FailedExit(const Error& error, const Manifest& manifest, replica::LogWriter& log) {
  log.Say(LogEntry::ERROR, error.message);
  ExitRecord exit;
  exit.set_message(error.message);
  exit.set_cause(error.code == Code::kAborted ? ExitRecord::LOST : ExitRecord::PREPARATION_FAILED);
  exit.set_exit_code(error.code == Code::kAborted ? 0 : 1);
  replica::Explain(manifest, log.tail().Lines(), exit);
  return exit;
}

}  // namespace

SimulatedSupervisor::SimulatedSupervisor(Setup setup, Machine& machine)
    : setup_(std::move(setup)),
      machine_(machine),
      log_(setup_.spool, NowNs),
      output_(log_, setup_.spool, {}),
      exit_writer_(setup_.dir, setup_.spool, log_),
      link_([this] { return machine_.Connect(setup_.manifest.attempt_id()); }),
      alarm_(setup_.loop, [this] { Round(); }),
      lifecycle_{.grace = milliseconds(setup_.manifest.limits().stop_grace_ms())} {}

void SimulatedSupervisor::Begin() {
  now_ = std::chrono::steady_clock::now();
  StepLink();
  Prepare();
  Wake();
}

void SimulatedSupervisor::Wake() {
  if (std::exchange(is_woken_, true)) return;
  asio::post(setup_.loop, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->is_woken_ = false;
    self->Round();
  });
}

// --- The loop: Supervisor::Round

void SimulatedSupervisor::Round() {
  if (is_paused_ || lifecycle_.state == State::kDone) return;
  now_ = std::chrono::steady_clock::now();
  Observe();
  StepTimers();
  if (lifecycle_.state != State::kDone) return SetAlarm();
  link_.Close();
  machine_.OnDone(setup_.manifest.attempt_id());
}

/// What poll() would report, in the order of Supervisor::Watches.
void SimulatedSupervisor::Observe() {
  if (process_) {
    process_->Advance(now_);
    TakeOutput();
  }
  if (std::exchange(is_signalled_, false)) OnSignal();
  if (now_ >= prepared_at_) OnPreparation();
  if (process_ && !is_reaped_ && process_->wait_status()) {
    TakeOutput();
    Take(AttemptEvent::kProcessEnded);
  }
  while (const std::optional<ToReplica> frame = link_.Read(now_)) OnFrame(*frame);
  if (link_.IsOver(now_)) Lose();
}

void SimulatedSupervisor::StepTimers() {
  if (is_abandoned_) return Take(AttemptEvent::kAbandoned);
  StepLink();
  const bool may_read = !machine_.IsDiskFull() && output_.may_read();
  if (lifecycle_.state == State::kDraining && !may_read) Take(AttemptEvent::kOutputSeen);
  if (is_due() && lifecycle_.state != State::kRecording) Take(AttemptEvent::kDeadlinePassed);
  if (lifecycle_.state == State::kDraining && !process_->has_output()) Take(AttemptEvent::kOutputOver);
  if (!machine_.IsDiskFull()) output_.Step(now_, lifecycle_.is_ending());
  if (!log_.pending()) lines_.Store();
  if (MayRecord() && (is_due() || lifecycle_.deadline == Time::max())) Take(AttemptEvent::kLinesStored);
  link_.SendLines(setup_.spool, lifecycle_.phase == replica::v1::ENDED ? &exit_ : nullptr);
}

bool SimulatedSupervisor::MayRecord() const noexcept {
  return lifecycle_.state == State::kRecording && !log_.pending();
}

void SimulatedSupervisor::SetAlarm() {
  const bool has_state_deadline = lifecycle_.state != State::kRecording || MayRecord();
  Time next = has_state_deadline ? lifecycle_.deadline : Time::max();
  next = std::min({next, prepared_at_, link_.deadline()});
  if (!machine_.IsDiskFull()) next = std::min(next, output_.deadline());
  if (process_) next = std::min(next, process_->next());
  alarm_.Set(next);
}

void SimulatedSupervisor::TakeOutput() {
  if (machine_.IsDiskFull() || !output_.may_read()) return;
  const std::vector<std::string> lines = process_->TakeOutput();
  for (const std::string& line : lines) {
    lines_.Add(log_.next_line());
    log_.Feed(replica::OutputStream::kStdout, line + "\n");
  }
  if (!lines.empty()) Take(AttemptEvent::kOutputSeen);
}

void SimulatedSupervisor::OnSignal() {
  if (lifecycle_.state == State::kDraining && !end_.stop_requested && WasToldToEnd(end_)) {
    end_.stop_requested = end_.shut_down = true;
    end_.stop_reason = kShutdownReason;
  }
  Take(AttemptEvent::kShutdownAsked, kShutdownReason);
}

// --- The lifecycle's actions

void SimulatedSupervisor::Take(AttemptEvent event, std::string_view stop_reason) {
  for (std::optional<AttemptEvent> next = event; next;) {
    machine_.OnEvent(lifecycle_.state, *next);
    const replica::AttemptTransition transition = replica::Next(lifecycle_, *next, now_);
    lifecycle_ = transition.next;
    next.reset();
    for (const Action action : transition.actions) next = Perform(action, stop_reason);
  }
}

std::optional<AttemptEvent> SimulatedSupervisor::Perform(Action action, std::string_view stop_reason) {
  switch (action) {
    case Action::kSendPhase: SendPhase(); break;
    case Action::kPrepare: Prepare(); break;
    case Action::kLaunch: return Launch();
    case Action::kSayStop: SayStop(stop_reason); break;
    case Action::kEndUnstarted:
      prepared_at_ = Time::max();
      SetExit(UnstartedExit(end_));
      break;
    case Action::kTerminate: process_->Terminate(now_); break;
    case Action::kKill: process_->Kill(); break;
    case Action::kReap:
      is_reaped_ = end_.reported = true;
      end_.wait_status = *process_->wait_status();
      output_.OnProcessEnded();
      break;
    case Action::kFinish: Finish(); break;
    case Action::kGiveUp:
      prepared_at_ = Time::max();
      if (process_) process_->Kill();
      break;
    case Action::kRecord: return Record();
  }
  return std::nullopt;
}

void SimulatedSupervisor::Prepare() {
  if (!machine_.IsShort() && !setup_.program.lacks_memory) {
    prepared_at_ = now_ + setup_.program.preparation;
  } else if (WaitsForMachine()) {
    Take(AttemptEvent::kShort);
  } else {
    SetExit(FailedExit(Shortage(), setup_.manifest, log_));
    exit_.set_shortage(true);
    Take(AttemptEvent::kFailed);
  }
}

void SimulatedSupervisor::OnPreparation() {
  prepared_at_ = Time::max();
  if (setup_.program.preparation_error) {
    SetExit(FailedExit(*setup_.program.preparation_error, setup_.manifest, log_));
    return Take(AttemptEvent::kFailed);
  }
  Take(AttemptEvent::kPrepared);
  if (has_cluster_) Take(AttemptEvent::kClusterKnown);
}

bool SimulatedSupervisor::WaitsForMachine() {
  if (!short_since_) {
    short_since_ = now_;
    log_.Say(LogEntry::WARNING, "Waiting to start the replica: its machine lacks a resource.");
  }
  return now_ < *short_since_ + replica::kShortageWaitMax;
}

AttemptEvent SimulatedSupervisor::Launch() {
  if (machine_.IsShort()) {
    if (WaitsForMachine()) return AttemptEvent::kShort;
    SetExit(FailedExit(Shortage(), setup_.manifest, log_));
    exit_.set_shortage(true);
    return AttemptEvent::kFailed;
  }
  machine_.OnLaunch(setup_.manifest.attempt_id());
  process_.emplace(setup_.program, now_);
  log_.Say(LogEntry::INFO, replica::RunningModuleLine("trainer.task"));
  *exit_.mutable_start_time() = NowProto();
  return AttemptEvent::kLaunched;
}

void SimulatedSupervisor::SayStop(std::string_view reason) {
  end_.stop_requested = true;
  end_.shut_down = lifecycle_.shutting_down;
  end_.stop_reason = reason;
  log_.Say(LogEntry::INFO, replica::kTerminatedByService);
  if (!reason.empty()) log_.Say(LogEntry::INFO, "Reason: " + end_.stop_reason);
}

void SimulatedSupervisor::Finish() {
  log_.Finish(replica::OutputStream::kStdout);
  ExitRecord exit = replica::DecideExit(end_);
  *exit.mutable_start_time() = exit_.start_time();
  if (setup_.program.metrics) *exit.mutable_metrics() = *setup_.program.metrics;
  replica::Explain(setup_.manifest, log_.tail().Lines(), exit);
  log_.Say(LogEntry::INFO, replica::kModuleCompleted);
  SetExit(std::move(exit));
}

AttemptEvent SimulatedSupervisor::Record() {
  if (!machine_.RemoveContainer(setup_.manifest.attempt_id())) {
    if (!std::exchange(says_container_left_, true))
      log_.Say(LogEntry::WARNING, "The container may still run.");
    return AttemptEvent::kContainerLeft;
  }
  return machine_.IsDiskFull() ? AttemptEvent::kDiskRefused : exit_writer_.Write(exit_);
}

void SimulatedSupervisor::SetExit(ExitRecord exit) {
  *exit.mutable_end_time() = NowProto();
  exit_ = std::move(exit);
}

// --- The server

void SimulatedSupervisor::StepLink() {
  if (!link_.Step(now_)) return;
  link_.Send(HelloFrame(setup_.manifest, lifecycle_.phase));
  SendPhase();
  setup_.spool.Rewind();
}

void SimulatedSupervisor::Lose() {
  link_.Lose(now_);
  setup_.spool.Rewind();
}

void SimulatedSupervisor::OnFrame(const ToReplica& frame) {
  switch (frame.kind_case()) {
    case ToReplica::kLogAck:
      setup_.spool.Acknowledge(frame.log_ack().next_line());
      lines_.Acknowledge(frame.log_ack().next_line());
      return;
    case ToReplica::kCluster: has_cluster_ = true; return Take(AttemptEvent::kClusterKnown);
    case ToReplica::kStop:
      return Take(frame.stop().kill() ? AttemptEvent::kKillAsked : AttemptEvent::kStopAsked,
                  frame.stop().reason());
    case ToReplica::kDismiss: return Take(AttemptEvent::kDismissed);
    case ToReplica::KIND_NOT_SET: return;
  }
}

void SimulatedSupervisor::SendPhase() {
  if (lifecycle_.phase != replica::v1::ENDED) link_.Send(PhaseFrame(setup_.manifest, lifecycle_.phase));
}

// --- What happens to it

void SimulatedSupervisor::Disconnect() {
  now_ = std::chrono::steady_clock::now();
  link_.is_connected() ? Lose() : link_.RetryNow();
  Wake();
}

void SimulatedSupervisor::Pause() { is_paused_ = true; }

void SimulatedSupervisor::Continue() {
  is_paused_ = false;
  Wake();
}

void SimulatedSupervisor::ShutDown(bool everywhere) {
  is_signalled_ = true;
  if (everywhere && process_) process_->Terminate(std::chrono::steady_clock::now());
  Wake();
}

void SimulatedSupervisor::Abandon() {
  is_abandoned_ = true;
  Wake();
}

SimulatedProcess* SimulatedSupervisor::Process() {
  if (!process_) return nullptr;
  process_->Advance(std::chrono::steady_clock::now());
  return &*process_;
}

bool SimulatedSupervisor::IsWorking() {
  if (lifecycle_.state >= State::kDraining) return false;
  const SimulatedProcess* const process = Process();
  return process == nullptr || !process->wait_status();
}

}  // namespace trainyard::engine

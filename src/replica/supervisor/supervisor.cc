#include "replica/supervisor/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/process/kernel_calls.h"
#include "base/wire/host_name.h"
#include "base/wire/time.h"
#include "programs/lines/task_lines.h"
#include "programs/sandbox/patience.h"
#include "replica/supervisor/preparation.h"
#include "replica/supervisor/work_keeper.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;
using std::chrono::milliseconds;

std::uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

RequiredIsolation RequiredOf(const Supervisor::Setup& setup) {
  if (!setup.options.isolation) return ReadIsolation(setup.manifest.places().program_isolation());
  return {.isolation = *setup.options.isolation, .reason = "it was asked for"};
}

google::protobuf::Timestamp NowProto() { return wire::ToProto(SysTime(std::chrono::system_clock::now())); }

v1::FromReplica HelloFrame(const v1::Manifest& manifest, v1::Phase phase) {
  v1::FromReplica frame;
  v1::FromReplica::Hello& hello = *frame.mutable_hello();
  hello.set_attempt_id(manifest.attempt_id());
  hello.set_token(manifest.token());
  hello.set_phase(phase);
  return frame;
}

v1::FromReplica PhaseFrame(const v1::Manifest& manifest, v1::Phase phase) {
  v1::FromReplica frame;
  v1::FromReplica::PhaseChanged& changed = *frame.mutable_phase_changed();
  changed.set_phase(phase);
  if (phase == v1::READY || phase == v1::RUNNING) {
    v1::Endpoint& endpoint = *changed.mutable_endpoint();
    *endpoint.mutable_replica() = manifest.replica();
    endpoint.set_host_name(manifest.host_name());
    endpoint.set_address(manifest.address());
    endpoint.set_port(manifest.port());
  }
  return frame;
}

v1::FromReplica MetricsFrame(const v1::MetricReport& report) {
  v1::FromReplica frame;
  *frame.mutable_metrics() = report;
  return frame;
}

/// How often to check that the attempt's directory exists.
constexpr milliseconds kDirectoryLook{2'000};
constexpr milliseconds kPollMax{3'600'000};
constexpr std::string_view kShutdownReason = "the system asked the supervisor to end";

/// Whether the program ended like one that is told to end and does not handle it: itself, or below a runtime
/// or a shell.
bool WasToldToEnd(const ObservedEnd& end) {
  constexpr int kShell = 128;
  if (!end.reported) return false;
  const int signal =
      WIFSIGNALED(end.wait_status) ? WTERMSIG(end.wait_status) : WEXITSTATUS(end.wait_status) - kShell;
  return signal == SIGTERM || signal == SIGHUP;
}

text::SecretMask MaskOf(const v1::Manifest& manifest) {
  std::vector<std::string> values;
  for (const std::string& name : manifest.secrets()) {
    const auto value = manifest.environment().find(name);
    if (value != manifest.environment().end()) values.push_back(value->second);
  }
  // "ATTEMPT.MAC.metadata.trainyard": the secret part of the replica's name for the metadata server.
  std::string_view host = manifest.metadata_host_name();
  if (host.ends_with(wire::kMetadataSuffix)) {
    host.remove_suffix(wire::kMetadataSuffix.size());
    values.emplace_back(host.substr(host.rfind('.') + 1));
  }
  return text::SecretMask(values);
}

/// The exit of a program that could not be prepared or started. If something was killed meanwhile (kAborted),
/// the program is not to blame: the replica is lost, as if its supervisor had been killed.
v1::ExitRecord FailedExit(const Error& error) {
  v1::ExitRecord exit;
  exit.set_message(error.message);
  if (error.code == Code::kAborted) {
    exit.set_cause(v1::ExitRecord::LOST);
    return exit;
  }
  exit.set_cause(v1::ExitRecord::PREPARATION_FAILED);
  exit.set_exit_code(1);
  return exit;
}

AttemptEvent EventOf(const v1::ToReplica::Stop& stop) {
  return stop.kill() ? AttemptEvent::kKillAsked : AttemptEvent::kStopAsked;
}

/// The exit of a program that was stopped before it ran.
v1::ExitRecord UnstartedExit(const ObservedEnd& end) {
  v1::ExitRecord exit;
  exit.set_cause(end.shut_down ? v1::ExitRecord::SHUT_DOWN : v1::ExitRecord::STOPPED);
  exit.set_message(end.stop_reason);
  return exit;
}

/// The message of a tool or the kernel is not in any line that was masked.
void MaskTexts(const text::SecretMask& mask, v1::ExitRecord& exit) {
  if (mask.empty()) return;
  exit.set_message(mask.Apply(exit.message()));
  exit.set_traceback(mask.Apply(exit.traceback()));
  if (exit.has_diagnosis()) exit.mutable_diagnosis()->set_summary(mask.Apply(exit.diagnosis().summary()));
}

}  // namespace

Supervisor::Supervisor(Setup setup, ProgramSource& source)
    : setup_(std::move(setup)),
      source_(source),
      log_(setup_.spool, NowNs,
           LogAllowance({.attempt_bytes = setup_.manifest.limits().log_bytes(),
                         .job_bytes = setup_.manifest.limits().job_log_bytes()}),
           MaskOf(setup_.manifest)),
      output_(
          log_, setup_.spool,
          {.spool_bytes_max = setup_.options.spool_bytes_max, .wait_max = setup_.options.output_wait_max}),
      link_(setup_.manifest.places().attach_socket(), setup_.manifest.token(), *this),
      sender_(setup_.spool, link_),
      exit_writer_(setup_.dir, setup_.spool, log_),
      keeper_(log_, milliseconds(setup_.manifest.limits().stop_grace_ms())),
      signals_(OpenSignals({SIGTERM, SIGINT, SIGHUP})),
      now_(std::chrono::steady_clock::now()),
      lifecycle_{.grace = milliseconds(setup_.manifest.limits().stop_grace_ms())} {}

Supervisor::~Supervisor() = default;

void Supervisor::Run() {
  link_.Step(now_);
  // Done while waiting for the server's answer. An error shows at the launch, which creates what is missing.
  static_cast<void>(UserProcess::MakeFolders(setup_.dir));
  Prepare();
  while (lifecycle_.state != State::kDone) Round();
}

// --- Preparation

void Supervisor::Prepare() {
  const v1::Manifest::Program& program = setup_.manifest.program();
  const bool has_module = !program.runtime_version().empty() && !program.python_module().empty();
  if (!has_module && !program.has_container())
    return FailPreparation(FailedPrecondition("the job has neither an image nor a Python module to run"));
  if (auto found = source_.Find(setup_.manifest)) return BecomeReady(*std::move(found));
  auto started = BackgroundWork::Start(
      [this](BackgroundReporter& reporter) { return PrepareProgram(source_, setup_.manifest, reporter); },
      setup_.manifest, setup_.lock.get(), *this, "the preparation");
  if (!started && WaitsFor(started.error())) return Take(AttemptEvent::kShort);
  if (!started) {
    FailPreparation(started.error());
    return exit_.set_shortage(IsShortage(started.error()));
  }
  preparation_.emplace(std::move(*started));
}

void Supervisor::OnLine(bool is_error, std::string_view line) {
  log_.Relay(is_error ? LogEntry::ERROR : LogEntry::INFO, line);
  // An error's message has the main point of a tool's output, but not the package that it was about.
  if (line.find(" the package: ") != std::string_view::npos)
    log_.tail().Add(log_.mask().Apply(line), is_error);
}

void Supervisor::OnProgress(v1::Progress progress) {
  progress.set_what(log_.mask().Apply(progress.what()));
  *progress_.mutable_progress() = std::move(progress);
  SendProgress();
}

void Supervisor::SendProgress() {
  if (preparation_ && progress_.has_progress()) link_.Send(progress_);
}

void Supervisor::OnPreparation() {
  const std::optional<Status> outcome = preparation_->OnReadable();
  if (!outcome) return;
  preparation_.reset();
  if (!*outcome) return FailPreparation(outcome->error());
  auto prepared = source_.Find(setup_.manifest);
  if (!prepared) return FailPreparation(Internal("the prepared program no longer exists"));
  BecomeReady(*std::move(prepared));
}

void Supervisor::BecomeReady(Prepared prepared) {
  auto program = MakeProgram(setup_.manifest, std::move(prepared));
  if (!program) return FailPreparation(program.error());
  program_ = *std::move(program);
  log_.tail().Clear();  // earlier output of tools is outdated
  Take(AttemptEvent::kPrepared);
  if (cluster_) Take(AttemptEvent::kClusterKnown);
}

void Supervisor::FailPreparation(const Error& error) {
  ExplainFailure(error);
  Take(AttemptEvent::kFailed);
}

void Supervisor::ExplainFailure(const Error& error) {
  log_.Say(LogEntry::ERROR, error.message);
  v1::ExitRecord exit = FailedExit(error);
  Explain(setup_.manifest, log_.tail().Lines(), exit);
  SetExit(std::move(exit));
}

bool Supervisor::WaitsFor(const Error& error) {
  if (!IsShortage(error)) return false;
  if (!short_since_) {
    short_since_ = now_;
    log_.Say(LogEntry::WARNING, "Waiting to start the replica: its machine lacks a resource (" +
                                    error.message + "). It starts when the resource is available again.");
  }
  return now_ < *short_since_ + kShortageWaitMax;
}

void Supervisor::SetExit(v1::ExitRecord exit) {
  *exit.mutable_end_time() = NowProto();
  MaskTexts(log_.mask(), exit);
  exit_ = std::move(exit);
}

// --- The lifecycle's actions

void Supervisor::Take(AttemptEvent event, std::string_view stop_reason) {
  for (std::optional<AttemptEvent> next = event; next;) {
    const AttemptTransition transition = Next(lifecycle_, *next, now_);
    lifecycle_ = transition.next;
    next.reset();
    for (const Action action : transition.actions) next = Perform(action, stop_reason);
  }
}

std::optional<AttemptEvent> Supervisor::Perform(Action action, std::string_view stop_reason) {
  switch (action) {
    case Action::kSendPhase: SendPhase(); break;
    case Action::kPrepare: Prepare(); break;
    case Action::kLaunch: return Launch();
    case Action::kSayStop: SayStop(stop_reason); break;
    case Action::kEndUnstarted: EndUnstarted(); break;
    case Action::kTerminate: run_->Terminate(); break;
    case Action::kKill: run_->Kill(); break;
    case Action::kReap:
      run_->Reap(end_);
      output_.OnProcessEnded();
      break;
    case Action::kFinish: Finish(); break;
    case Action::kGiveUp: GiveUp(); break;
    case Action::kRecord: return exit_writer_.Write(exit_);
  }
  return std::nullopt;
}

void Supervisor::SendPhase() {
  // The exit record tells the server that it has ended, after the last line.
  if (lifecycle_.phase != v1::ENDED) link_.Send(PhaseFrame(setup_.manifest, lifecycle_.phase));
}

AttemptEvent Supervisor::Launch() {
  run_.emplace(ProgramRun::Context{.program = *program_,
                                   .start = {.dir = setup_.dir,
                                             .manifest = setup_.manifest,
                                             .cluster = *cluster_,
                                             .lock_fd = setup_.lock.get(),
                                             .required = RequiredOf(setup_)},
                                   .log = log_,
                                   .output = output_,
                                   .link = link_});
  if (const Status launched = run_->Launch(now_); !launched) {
    run_.reset();
    if (WaitsFor(launched.error())) return AttemptEvent::kShort;
    ExplainFailure(launched.error());
    exit_.set_shortage(IsShortage(launched.error()));
    return AttemptEvent::kFailed;
  }
  *exit_.mutable_start_time() = NowProto();
  return AttemptEvent::kLaunched;
}

void Supervisor::SayStop(std::string_view reason) {
  end_.stop_requested = true;
  end_.shut_down = lifecycle_.shutting_down;
  end_.stop_reason = reason;
  log_.Say(LogEntry::INFO, kTerminatedByService);
  if (!reason.empty()) log_.Say(LogEntry::INFO, "Reason: " + end_.stop_reason);
}

void Supervisor::EndUnstarted() {
  preparation_.reset();
  v1::ExitRecord exit = UnstartedExit(end_);
  Explain(setup_.manifest, {}, exit);
  SetExit(std::move(exit));
}

void Supervisor::Finish() {
  v1::ExitRecord exit = run_->Finish(end_);
  tag_reports_ = run_->TagReports();
  run_.reset();
  *exit.mutable_start_time() = exit_.start_time();
  SetExit(std::move(exit));
  if (exit_.cause() != v1::ExitRecord::SHUT_DOWN)
    keeper_.Start(setup_.dir, setup_.manifest, setup_.lock.get(), now_);
}

void Supervisor::GiveUp() {
  Diagnose(DiagnosticLevel::kError, "the attempt's directory was removed: ending its program");
  preparation_.reset();
  if (run_) run_->GiveUp();
  run_.reset();
}

// --- The server

void Supervisor::OnAttached() {
  link_.Send(HelloFrame(setup_.manifest, lifecycle_.phase));
  SendPhase();
  SendProgress();
  if (run_) run_->OnAttached();
  for (const v1::MetricReport& report : tag_reports_) link_.Send(MetricsFrame(report));
  sender_.Rewind();
}

void Supervisor::OnLost() { sender_.Rewind(); }

void Supervisor::OnFrame(const v1::ToReplica& frame) {
  switch (frame.kind_case()) {
    case v1::ToReplica::kLogAck:
      setup_.spool.Acknowledge(frame.log_ack().next_line());
      if (frame.log_ack().job_log_full()) log_.allowance().CloseForJob();
      return;
    case v1::ToReplica::kCluster:
      if (!cluster_) cluster_ = frame.cluster();
      return Take(AttemptEvent::kClusterKnown);
    case v1::ToReplica::kStop:
      keeper_.OnStop(frame.stop().kill(), now_);
      return Take(EventOf(frame.stop()), frame.stop().reason());
    case v1::ToReplica::kDismiss: return Take(AttemptEvent::kDismissed);
    case v1::ToReplica::KIND_NOT_SET: return;
  }
}

// --- The loop

/// If the attempt's directory was removed, the attempt is not wanted any more, and another attempt of the
/// replica may have begun.
bool Supervisor::IsAbandoned() {
  if (now_ < look_at_ && !lifecycle_.is_ending()) return false;
  look_at_ = now_ + kDirectoryLook;
  struct stat lock{};
  return fstat(setup_.lock.get(), &lock) == 0 && lock.st_nlink == 0;
}

void Supervisor::OnSignals() {
  signalfd_siginfo received{};
  while (read(signals_.get(), &received, sizeof(received)) > 0) {
    if (received.ssi_signo == SIGHUP) continue;  // the end of a terminal is ignored
    // Stopping a unit signals all of its processes: the program may end before we handle the signal.
    if (lifecycle_.state == State::kDraining && !end_.stop_requested && WasToldToEnd(end_)) {
      end_.stop_requested = end_.shut_down = true;
      end_.stop_reason = kShutdownReason;
    }
    Take(AttemptEvent::kShutdownAsked, kShutdownReason);
  }
}

bool Supervisor::is_due() const noexcept { return now_ >= lifecycle_.deadline; }

void Supervisor::StepTimers() {
  if (IsAbandoned()) return Take(AttemptEvent::kAbandoned);
  link_.Step(now_);
  // While the disk is full, its output waits in the pipes, however long that takes.
  if (lifecycle_.state == State::kDraining && !output_.may_read()) Take(AttemptEvent::kOutputSeen);
  if (is_due() && lifecycle_.state != State::kRecording) Take(AttemptEvent::kDeadlinePassed);
  if (run_) {
    for (const Watch& watch : run_->Watches()) watch.step(now_);
  }
  if (lifecycle_.state == State::kDraining && run_->output_ended()) Take(AttemptEvent::kOutputOver);
  keeper_.Step(now_, lifecycle_.shutting_down);
  output_.Step(now_, lifecycle_.is_ending());
  if (MayRecord() && (is_due() || lifecycle_.deadline == SteadyTime::max())) Take(AttemptEvent::kLinesStored);
  sender_.Step(now_, lifecycle_.phase == v1::ENDED ? &exit_ : nullptr);
}

bool Supervisor::MayRecord() const noexcept {
  return lifecycle_.state == State::kRecording && !keeper_.is_busy() && !log_.pending();
}

std::vector<Watch> Supervisor::Watches() {
  std::vector<Watch> watches;
  const auto when_readable = [&watches](int fd, auto act) {
    watches.push_back({.fd = fd, .on_ready = [act](short, SteadyTime) { act(); }});
  };
  // Output first: what a process wrote before it ended is read before its end is noticed.
  const auto read = [this](std::optional<OutputStream> ready) {
    if (run_->ReadOutput(ready, now_)) Take(AttemptEvent::kOutputSeen);
  };
  if (run_) watches = run_->OutputWatches(now_, read);
  when_readable(signals_.get(), [this] { OnSignals(); });
  if (preparation_)
    when_readable(preparation_->fd(), [this] {
      if (preparation_) OnPreparation();
    });
  when_readable(keeper_.fd(), [this] { keeper_.OnReadable(); });
  if (run_) {
    std::ranges::move(run_->Watches(), std::back_inserter(watches));
    when_readable(run_->pidfd(), [this, read] {
      read({});
      OnSignals();  // first: the program may have ended by the same signal
      Take(AttemptEvent::kProcessEnded);
    });
  }
  when_readable(link_.folder_fd(), [this] { link_.OnFolderChanged(now_); });
  watches.push_back({.fd = link_.fd(),
                     .events = link_.events(),
                     .deadline = link_.deadline(),
                     .on_ready = [this](short ready, SteadyTime now) { link_.OnReady(ready, now); }});
  const bool has_state_deadline = lifecycle_.state != State::kRecording || MayRecord();
  for (const SteadyTime deadline : {look_at_, sender_.deadline(), output_.deadline(), keeper_.deadline(),
                                    has_state_deadline ? lifecycle_.deadline : SteadyTime::max()})
    watches.push_back({.deadline = deadline});
  return watches;
}

void Supervisor::Round() {
  StepTimers();
  if (lifecycle_.state == State::kDone) return;
  const std::vector<Watch> watches = Watches();
  std::vector<pollfd> polled;
  SteadyTime next = SteadyTime::max();
  for (const Watch& watch : watches) {
    polled.push_back({.fd = watch.fd, .events = watch.events, .revents = 0});
    next = std::min(next, watch.deadline);
  }
  const auto wait = std::clamp<milliseconds>(std::chrono::ceil<milliseconds>(next - now_), {}, kPollMax);
  if (poll(polled.data(), polled.size(), static_cast<int>(wait.count())) < 0) return;
  now_ = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (polled[i].revents != 0) watches[i].on_ready(polled[i].revents, now_);
  }
}

}  // namespace trainyard::replica

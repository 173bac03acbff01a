#include "supervisor/supervisor.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <utility>

#include "async/diagnostics.h"
#include "cluster/role.h"
#include "cluster/tf_config.h"
#include "lines/task_lines.h"
#include "runtimes/daemon_container.h"
#include "wire/time.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;
using std::chrono::milliseconds;

constexpr milliseconds kContainerRetry{1'000};
/// Output that comes later from something that got away from its sandbox is not waited for.
constexpr milliseconds kDrainMax{5'000};
/// Shorter runs are not worth a cgroup.
constexpr milliseconds kCountMemoryAfter{100};
/// What may wait in memory for the connection.
constexpr std::size_t kQueuedBytesMax = 256 << 10;

constexpr std::array kStreams = {Stream::kStdout, Stream::kStderr, Stream::kStructured};

std::uint64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

google::protobuf::Timestamp NowProto() { return wire::ToProto(SysTime(std::chrono::system_clock::now())); }

/// SIGTERM, SIGINT and SIGHUP as a descriptor; blocked otherwise.
UniqueFd OpenSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return UniqueFd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

Supervisor::Supervisor(Setup setup, ProgramSource& source)
    : setup_(std::move(setup)),
      source_(source),
      log_(setup_.spool, NowNs,
           LogAllowance({.attempt_bytes = setup_.manifest.limits().log_bytes(),
                         .job_bytes = setup_.manifest.limits().job_log_bytes()})),
      link_(setup_.manifest.places().attach_socket(), setup_.manifest.token(), *this),
      signals_(OpenSignals()),
      now_(std::chrono::steady_clock::now()) {}

Supervisor::~Supervisor() = default;

void Supervisor::Run() {
  link_.Step(now_);
  // While the server answers. An error shows at the launch, which makes what is missing.
  static_cast<void>(UserProcess::MakeFolders(setup_.dir));
  Prepare();
  while (!dismissed_ && !IsAbandoned() && now_ < shutdown_deadline_) Round();
}

/// Whoever removed the folder does not want what the attempt has to say, and nobody else can.
bool Supervisor::IsAbandoned() const {
  struct stat lock{};
  return ending_ && !link_.attached() && fstat(setup_.lock.get(), &lock) == 0 && lock.st_nlink == 0;
}

// --- The phases

void Supervisor::Prepare() {
  const v1::Manifest::Program& program = setup_.manifest.program();
  const bool has_module = !program.runtime_version().empty() && !program.python_module().empty();
  if (!has_module && !program.has_container())
    return FailPreparation(FailedPrecondition("the job has neither an image nor a Python module to run"));
  if (auto found = source_.Find(setup_.manifest)) return BecomeReady(*std::move(found));
  auto started = Preparation::Start(source_, setup_.manifest, setup_.lock.get(), *this);
  if (!started) return FailPreparation(started.error());
  preparation_.emplace(std::move(*started));
}

void Supervisor::OnPreparationLine(bool is_error, std::string_view line) {
  log_.Relay(is_error ? LogEntry::ERROR : LogEntry::INFO, line);
  // An error's message has the gist of what a tool said, but not which package it was about.
  if (line.find(" the package: ") != std::string_view::npos) log_.tail().Add(line, is_error);
}

void Supervisor::OnPreparation() {
  const std::optional<Status> outcome = preparation_->OnReadable();
  if (!outcome) return;
  preparation_.reset();
  if (!*outcome) return FailPreparation(outcome->error());
  auto prepared = source_.Find(setup_.manifest);
  if (!prepared) return FailPreparation(Internal("what was prepared is gone"));
  BecomeReady(*std::move(prepared));
}

void Supervisor::FailPreparation(const Error& error) {
  log_.Say(LogEntry::ERROR, error.message);
  v1::ExitRecord exit;
  exit.set_cause(v1::ExitRecord::PREPARATION_FAILED);
  exit.set_exit_code(1);
  exit.set_message(error.message);
  Explain(setup_.manifest, log_.tail().Lines(), exit);
  End(std::move(exit));
}

void Supervisor::BecomeReady(Prepared prepared) {
  auto program = MakeProgram(setup_.manifest, std::move(prepared));
  if (!program) return FailPreparation(program.error());
  program_ = *std::move(program);
  log_.tail().Clear();  // what tools said is no news any more
  Advance(v1::READY);
  LaunchIfReady();
}

ProgramStart Supervisor::StartOf() const {
  return {.dir = setup_.dir,
          .manifest = setup_.manifest,
          .cluster = *cluster_,
          .lock_fd = setup_.lock.get(),
          .best_isolation = setup_.options.best_isolation};
}

void Supervisor::LaunchIfReady() {
  if (phase_ != v1::READY || ending_ || !cluster_) return;
  log_.Say(LogEntry::INFO, RunningTaskLine(cluster::RunnerArguments(setup_.manifest, *cluster_)));
  for (const std::string& line : program_->Announcement()) log_.Say(LogEntry::INFO, line);
  if (cluster::ReportsMetric(setup_.manifest))
    metrics_.emplace(setup_.manifest.metric_tag(), setup_.dir, now_);
  std::vector<std::string> degraded;
  auto launched = UserProcess::Launch(*program_, StartOf(), degraded);
  for (const std::string& line : degraded) log_.Say(LogEntry::WARNING, line);
  if (!launched) {
    Error error = std::move(launched).error();
    error.message = "cannot run the program: " + error.message;
    return FailPreparation(error);
  }
  log_.Say(LogEntry::INFO, RunningCommandLine(program_->Shown()));
  *exit_.mutable_start_time() = NowProto();
  process_.emplace(std::move(*launched));
  if (process_->cgroup().path().empty()) {
    count_memory_at_ = now_ + kCountMemoryAfter;
    if (setup_.manifest.limits().memory_bytes() > 0) {  // refused already
      count_memory_at_ = SteadyTime::max();
      machine_oom_kills_ = MachineOomKills();
    }
  }
  measure_usage_at_ = now_ + kFirstUsageAfter;
  Advance(v1::RUNNING);
}

void Supervisor::CountMemory() {
  count_memory_at_ = SteadyTime::max();
  const Status counted = process_->CountMemory(setup_.dir, setup_.manifest.attempt_id());
  if (counted) return;
  machine_oom_kills_ = MachineOomKills();
  log_.Say(LogEntry::WARNING, "This machine gives the replica no memory cgroup (" + counted.error().message +
                                  "): running out of memory cannot be told from being killed.");
}

void Supervisor::MeasureUsage() {
  measure_usage_at_ = now_ + kUsageInterval;
  v1::Usage& usage = *usage_frame_.mutable_usage();
  usage = usage_.Measure({.cgroup = process_->cgroup(),
                          .init = PidOf(process_->pidfd()),
                          .own_network = process_->has_network(),
                          .memory_limit_bytes = setup_.manifest.limits().memory_bytes()});
  *usage.mutable_time() = NowProto();
  gpu_probe_.reset();  // one that has not answered by now hangs
  const auto& gpus = setup_.manifest.devices().gpus();
  if (gpus.empty()) return SendUsage();
  auto probe = GpuProbe::Start({gpus.begin(), gpus.end()});
  if (!probe) return SendUsage();
  gpu_probe_.emplace(std::move(*probe));
}

void Supervisor::OnGpuProbe() {
  std::optional<v1::Usage> seen = gpu_probe_->Read();
  if (!seen) return;
  gpu_probe_.reset();
  *usage_frame_.mutable_usage()->mutable_gpus() = std::move(*seen->mutable_gpus());
  SendUsage();
}

/// A figure that the server is not there to take is not worth keeping.
void Supervisor::SendUsage() {
  if (link_.attached()) link_.Send(usage_frame_);
}

void Supervisor::StepMetrics() {
  metrics_->Step(now_);
  if (metrics_->TakeDue(now_) && link_.attached()) SendMetrics();  // else when it is attached again
}

void Supervisor::SendMetrics() {
  if (const std::string warning = metrics_->TakeWarning(); !warning.empty())
    log_.Say(LogEntry::WARNING, warning);
  v1::FromReplica frame;
  *frame.mutable_metrics() = metrics_->Report();
  link_.Send(frame);
}

void Supervisor::RequestStop(std::string_view reason, bool kill) {
  if (ending_ || process_ended_) return;
  const bool first = !end_.stop_requested;
  if (first) {
    end_.stop_requested = true;
    end_.stop_reason = reason;
    log_.Say(LogEntry::INFO, kTerminatedByService);
    if (!reason.empty()) log_.Say(LogEntry::INFO, "Reason: " + std::string(reason));
  }
  if (!process_) {
    preparation_.reset();
    v1::ExitRecord exit;
    exit.set_cause(v1::ExitRecord::STOPPED);
    exit.set_message(end_.stop_reason);
    Explain(setup_.manifest, {}, exit);
    return End(std::move(exit));
  }
  if (first && !kill) {
    process_->Terminate();
    kill_deadline_ = now_ + milliseconds(setup_.manifest.limits().stop_grace_ms());
  }
  if (kill) kill_deadline_ = now_;
}

void Supervisor::OnSignals() {
  signalfd_siginfo received{};
  while (read(signals_.get(), &received, sizeof(received)) > 0) {
    if (received.ssi_signo == SIGHUP) continue;  // a terminal's end is nothing to us
    shutting_down_ = true;
    RequestStop("the system asked the supervisor to end", false);
  }
  if (shutting_down_ && phase_ == v1::ENDED)
    shutdown_deadline_ = std::min(shutdown_deadline_, now_ + kShutdownWaitMax);
}

void Supervisor::OnProcessEnded() {
  gpu_probe_.reset();
  const Sandbox::Ended ended = process_->Reap();
  process_ended_ = true;
  end_.reported = ended.wait_status.has_value();
  end_.wait_status = ended.wait_status.value_or(0);
  end_.oom_kills = process_->cgroup().OomKills();
  end_.machine_oom = machine_oom_kills_ >= 0 && MachineOomKills() > machine_oom_kills_;
  end_.memory_bytes = setup_.manifest.limits().memory_bytes();
  end_.memory_peak_bytes = usage_.PeakMemory(process_->cgroup());
  program_->OnEnded(StartOf(), end_);
  count_memory_at_ = measure_usage_at_ = kill_deadline_ = SteadyTime::max();
  drain_deadline_ = now_ + kDrainMax;
}

void Supervisor::OnOutput(Stream stream) {
  const bool open = process_->ReadOutput(stream, buffer_);
  log_.Feed(stream, buffer_);
  if (!open) log_.Finish(stream);
  if (process_ended_ && !buffer_.empty()) drain_deadline_ = now_ + kDrainMax;
}

/// The process has ended and its output is read.
void Supervisor::FinishProcess() {
  drain_deadline_ = SteadyTime::max();
  for (const Stream stream : kStreams) log_.Finish(stream);
  log_.SayDropped(true);
  v1::ExitRecord exit = DecideExit(end_);
  *exit.mutable_start_time() = exit_.start_time();
  const bool succeeded = exit.cause() == v1::ExitRecord::EXITED && exit.exit_code() == 0;
  const bool failed = !succeeded && exit.cause() != v1::ExitRecord::STOPPED;
  if (failed) {
    exit.set_traceback(log_.Traceback());
    log_.Say(LogEntry::ERROR,
             end_.failure.empty() ? CommandFailedLine(program_->Shown(), LoggedStatus(exit)) : end_.failure);
  }
  Explain(setup_.manifest, log_.tail().Lines(), exit);
  if (metrics_) {
    metrics_->ReadRest();
    SendMetrics();
    *exit.mutable_metrics() = metrics_->Report();
    metrics_.reset();
  }
  log_.Say(LogEntry::INFO, kModuleCompleted);
  process_.reset();
  program_->CleanUp(StartOf());
  log_.Say(LogEntry::INFO, kCleanUpFinished);
  if (succeeded) log_.Say(LogEntry::INFO, kTaskCompleted);
  End(std::move(exit));
}

void Supervisor::End(v1::ExitRecord exit) {
  *exit.mutable_end_time() = NowProto();
  exit_ = std::move(exit);
  ending_ = true;
}

/// All lines are in the spool: now the record, on disk before anybody hears of it.
void Supervisor::RecordExit() {
  // A container whose daemon is away may still run: then the attempt has not ended.
  if (const Status removed = RemoveNotedContainers(setup_.dir); !removed) {
    if (!std::exchange(says_container_left_, true))
      log_.Say(LogEntry::WARNING, "The container may still run: " + removed.error().message +
                                      ". The replica ends when the engine is back.");
    retry_disk_ = now_ + kContainerRetry;
    return;
  }
  if (const Status written = WriteExit(setup_.dir, exit_); !written) {
    Diagnose(DiagnosticLevel::kError, "cannot write the exit record: " + written.error().message);
    retry_disk_ = now_ + kDiskRetry;
    return;
  }
  Advance(v1::ENDED);
  if (shutting_down_) shutdown_deadline_ = now_ + kShutdownWaitMax;
}

void Supervisor::Advance(v1::Phase phase) {
  if (!MayFollow(phase_, phase)) return;
  phase_ = phase;
  SendPhase();
}

// --- The server

void Supervisor::SendPhase() {
  v1::FromReplica frame;
  v1::FromReplica::PhaseChanged& changed = *frame.mutable_phase_changed();
  changed.set_phase(phase_);
  if (phase_ == v1::READY || phase_ == v1::RUNNING) {
    v1::Endpoint& endpoint = *changed.mutable_endpoint();
    *endpoint.mutable_replica() = setup_.manifest.replica();
    endpoint.set_host_name(setup_.manifest.host_name());
    endpoint.set_address(setup_.manifest.address());
    endpoint.set_port(setup_.manifest.port());
  }
  if (phase_ != v1::ENDED) link_.Send(frame);  // the exit record says that, after the last line
}

void Supervisor::OnAttached() {
  v1::FromReplica frame;
  v1::FromReplica::Hello& hello = *frame.mutable_hello();
  hello.set_attempt_id(setup_.manifest.attempt_id());
  hello.set_token(setup_.manifest.token());
  hello.set_phase(phase_);
  link_.Send(frame);
  SendPhase();
  if (metrics_) SendMetrics();
  OnLost();
}

void Supervisor::OnLost() {
  setup_.spool.Rewind();
  exit_sent_ = false;
}

void Supervisor::OnFrame(const v1::ToReplica& frame) {
  switch (frame.kind_case()) {
    case v1::ToReplica::kLogAck:
      setup_.spool.Acknowledge(frame.log_ack().next_line());
      if (frame.log_ack().job_log_full()) log_.allowance().CloseForJob();
      return;
    case v1::ToReplica::kCluster:
      if (!cluster_) cluster_ = frame.cluster();
      return LaunchIfReady();
    case v1::ToReplica::kStop: return RequestStop(frame.stop().reason(), frame.stop().kill());
    case v1::ToReplica::kDismiss: dismissed_ = phase_ == v1::ENDED; return;
    case v1::ToReplica::KIND_NOT_SET: return;
  }
}

void Supervisor::PumpLink() {
  while (link_.attached() && link_.queued_bytes() < kQueuedBytesMax) {
    auto next = setup_.spool.TakeNext();
    if (!next) {
      Diagnose(DiagnosticLevel::kError, next.error().message);
      retry_disk_ = now_ + kDiskRetry;
      return;
    }
    if (!next->has_value()) break;
    link_.SendLog(**next);
  }
  if (!link_.attached() || phase_ != v1::ENDED || exit_sent_ || !setup_.spool.all_sent()) return;
  v1::FromReplica frame;
  *frame.mutable_exit() = exit_;
  link_.Send(frame);
  exit_sent_ = true;
}

// --- The loop

void Supervisor::StepTimers() {
  link_.Step(now_);
  if (now_ >= kill_deadline_ && process_ && !process_ended_) {
    kill_deadline_ = SteadyTime::max();
    process_->Kill();
  }
  if (now_ >= count_memory_at_) CountMemory();
  if (now_ >= measure_usage_at_) MeasureUsage();
  if (metrics_) StepMetrics();
  if (process_ended_ && process_ && (process_->output_ended() || now_ >= drain_deadline_)) FinishProcess();
  StepOutput();
  FlushLog();
  if (ending_ && phase_ != v1::ENDED && !log_.pending() &&
      (retry_disk_ == SteadyTime::max() || now_ >= retry_disk_)) {
    retry_disk_ = SteadyTime::max();
    RecordExit();
  }
  PumpLink();
}

int Supervisor::PollWait() const {
  SteadyTime next = std::min({link_.deadline(), count_memory_at_, measure_usage_at_, kill_deadline_,
                              drain_deadline_, shutdown_deadline_, retry_disk_, drop_output_at_});
  if (metrics_) next = std::min(next, metrics_->deadline());
  if (log_.pending() && disk_full_since_ == SteadyTime::max())
    next = std::min(next, last_flush_ + kBatchWait);
  if (next == SteadyTime::max()) return -1;
  const auto wait = std::chrono::ceil<milliseconds>(next - now_);
  return static_cast<int>(std::clamp<milliseconds::rep>(wait.count(), 0, 3'600'000));
}

void Supervisor::Round() {
  StepTimers();
  enum {
    kSignals,
    kLink,
    kFolder,
    kPreparing,
    kProcess,
    kGpus,
    kMetrics,
    kFirstStream,
    kCount = kFirstStream + kStreamCount
  };
  std::array<pollfd, kCount> ready;
  for (pollfd& one : ready) one = {.fd = -1, .events = POLLIN, .revents = 0};
  ready[kSignals].fd = signals_.get();
  ready[kLink] = {.fd = link_.fd(), .events = link_.events(), .revents = 0};
  ready[kFolder].fd = link_.folder_fd();
  if (preparation_) ready[kPreparing].fd = preparation_->fd();
  if (process_ && !process_ended_) ready[kProcess].fd = process_->pidfd();
  if (gpu_probe_) ready[kGpus].fd = gpu_probe_->fd();
  if (metrics_) ready[kMetrics].fd = metrics_->fd();
  for (std::size_t i = 0; process_ && MayRead() && i < kStreamCount; ++i) {
    ready[kFirstStream + i].fd = process_->output_fd(kStreams[i]);
  }
  if (poll(ready.data(), ready.size(), PollWait()) < 0) return;
  now_ = std::chrono::steady_clock::now();
  // Output first: what a process wrote before it ended is read before its end is noticed.
  for (std::size_t i = 0; i < kStreamCount; ++i) {
    if (ready[kFirstStream + i].revents != 0 && MayRead()) OnOutput(kStreams[i]);
  }
  if (ready[kSignals].revents != 0) OnSignals();
  if (ready[kPreparing].revents != 0 && preparation_) OnPreparation();
  if (ready[kGpus].revents != 0 && gpu_probe_) OnGpuProbe();
  if (ready[kMetrics].revents != 0 && metrics_) metrics_->OnReadable();
  if (ready[kProcess].revents != 0) OnProcessEnded();
  if (ready[kFolder].revents != 0 && link_.folder_fd() >= 0) link_.OnFolderChanged(now_);
  if (ready[kLink].revents != 0) link_.OnReady(ready[kLink].revents, now_);
}

}  // namespace trainyard::replica

#include "supervisor/program_run.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cluster/role.h"
#include "cluster/tf_config.h"
#include "lines/task_lines.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;

void SendAll(ServerLink& link, std::vector<v1::MetricReport> reports) {
  for (v1::MetricReport& report : reports) {
    v1::FromReplica frame;
    *frame.mutable_metrics() = std::move(report);
    link.Send(frame);
  }
}

}  // namespace

Status ProgramRun::Launch(Time now) {
  auto& [program, start, log, link] = around_;
  log.Say(LogEntry::INFO, RunningTaskLine(cluster::RunnerArguments(start.manifest, start.cluster)));
  for (const std::string& line : program.Announcement()) log.Say(LogEntry::INFO, line);
  const std::string& metric_tag = start.manifest.metric_tag();
  if (cluster::ReportsMetric(start.manifest)) {
    tags_.emplace(metric_tag, start.dir);
    if (!metric_tag.empty()) metrics_.emplace(metric_tag, start.dir, now);
  }
  std::vector<std::string> degraded;
  auto launched = UserProcess::Launch(program, start, degraded);
  for (const std::string& line : degraded) log.Say(LogEntry::WARNING, line);
  if (!launched) {
    Error error = std::move(launched).error();
    error.message = "cannot run the program: " + error.message;
    return std::unexpected(std::move(error));
  }
  log.Say(LogEntry::INFO, RunningCommandLine(program.Shown()));
  process_.emplace(std::move(*launched));
  usage_.emplace(
      UsageWatch::Around{.process = *process_, .dir = start.dir, .manifest = start.manifest, .link = link},
      now);
  return {};
}

void ProgramRun::Step(Time now) {
  if (usage_) usage_->Step(now);
  if (tags_) SendAll(around_.link, tags_->TakeDue(now));
  if (!metrics_) return;
  metrics_->Step(now);
  if (metrics_->TakeDue(now) && around_.link.attached()) SendMetrics();  // else when it is attached again
}

ProgramRun::Time ProgramRun::deadline() const noexcept {
  return std::min({usage_ ? usage_->deadline() : Time::max(), metrics_ ? metrics_->deadline() : Time::max(),
                   tags_ ? tags_->deadline() : Time::max()});
}

void ProgramRun::OnAttached() {
  if (metrics_) SendMetrics();
  SendAll(around_.link, TagReports());
}

void ProgramRun::SendMetrics() {
  if (const std::string warning = metrics_->TakeWarning(); !warning.empty())
    around_.log.Say(LogEntry::WARNING, warning);
  v1::FromReplica frame;
  *frame.mutable_metrics() = metrics_->Report();
  around_.link.Send(frame);
}

void ProgramRun::OnGpusReadable() {
  if (usage_) usage_->OnReadable();
}

void ProgramRun::OnMetricsReadable() {
  if (metrics_) metrics_->OnReadable();
}

void ProgramRun::OnTagsReadable(Time now) {
  if (tags_) tags_->OnReadable(now);
}

std::vector<v1::MetricReport> ProgramRun::TagReports() const {
  return tags_ ? tags_->tags().All() : std::vector<v1::MetricReport>{};
}

bool ProgramRun::ReadOutput(Stream stream) {
  const bool open = process_->ReadOutput(stream, buffer_);
  around_.log.Feed(stream, buffer_);
  if (!open) around_.log.Finish(stream);
  return !buffer_.empty();
}

void ProgramRun::Reap(ObservedEnd& end) {
  const Sandbox::Ended ended = process_->Reap();
  reaped_ = true;
  end.reported = ended.wait_status.has_value();
  end.wait_status = ended.wait_status.value_or(0);
  usage_->Tell(end);
  usage_.reset();
  around_.program.OnEnded(around_.start, end);
}

/// Of a trial the exit record has the whole report, of another job the last value alone: the record of a job
/// is read with each list.
void ProgramRun::FinishMetrics(v1::ExitRecord& exit) {
  if (tags_) {
    tags_->ReadRest();
    SendAll(around_.link, tags_->tags().All());
    if (!metrics_ && !tags_->tags().last().measurements().empty())
      *exit.mutable_metrics() = tags_->tags().last();
  }
  if (!metrics_) return;
  metrics_->ReadRest();
  SendMetrics();
  *exit.mutable_metrics() = metrics_->Report();
  metrics_.reset();
}

v1::ExitRecord ProgramRun::Finish(const ObservedEnd& end) {
  auto& [program, start, log, link] = around_;
  for (const Stream stream : kStreams) log.Finish(stream);
  log.SayDropped(true);
  v1::ExitRecord exit = DecideExit(end);
  const bool succeeded = exit.cause() == v1::ExitRecord::EXITED && exit.exit_code() == 0;
  const bool stopped = exit.cause() == v1::ExitRecord::STOPPED || exit.cause() == v1::ExitRecord::SHUT_DOWN;
  const bool failed = !succeeded && !stopped;
  if (failed) {
    exit.set_traceback(log.Traceback());
    log.Say(LogEntry::ERROR,
            end.failure.empty() ? CommandFailedLine(program.Shown(), LoggedStatus(exit)) : end.failure);
  }
  Explain(start.manifest, log.tail().Lines(), exit, end.counts_oom_kills);
  FinishMetrics(exit);
  log.Say(LogEntry::INFO, kModuleCompleted);
  process_.reset();
  program.CleanUp(start);
  log.Say(LogEntry::INFO, kCleanUpFinished);
  if (succeeded) log.Say(LogEntry::INFO, kTaskCompleted);
  return exit;
}

}  // namespace trainyard::replica

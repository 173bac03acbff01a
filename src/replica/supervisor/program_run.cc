#include "replica/supervisor/program_run.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text/secret_mask.h"
#include "programs/lines/task_lines.h"
#include "programs/sandbox/patience.h"
#include "rules/cluster/role.h"
#include "rules/cluster/tf_config.h"
#include "rules/measurement/report.h"

namespace trainyard::replica {

namespace {

using logging::v2::LogEntry;

/// The end of a name that was cut (measurement::ShownTag) may be the beginning of a secret.
std::string MaskedName(std::string_view name, const text::SecretMask& mask) {
  constexpr std::size_t kCutBytesMin = measurement::kTagBytesMax - 3;  // characters are not split
  if (name.size() < kCutBytesMin) return mask.Apply(name);
  text::MaskedStream stream;
  std::string shown = stream.Feed(mask, name);
  const bool is_cut_in_secret = !stream.Finish(mask).empty();
  return is_cut_in_secret ? shown.append(text::kMask) : shown;
}

/// The program chooses the names of its metrics and files, which may contain secrets.
v1::MetricReport Masked(v1::MetricReport report, const text::SecretMask& mask) {
  if (mask.empty()) return report;
  for (std::string& tag : *report.mutable_seen_tags()) tag = MaskedName(tag, mask);
  for (std::string& place : *report.mutable_places()) place = mask.Apply(place);
  report.set_place(mask.Apply(report.place()));
  return report;
}

}  // namespace

Status ProgramRun::Launch(Time now) {
  auto& [program, start, log, link] = context_;
  TY_RETURN_IF_ERROR(UserProcess::MakeFolders(start.dir));
  const std::string& metric_tag = start.manifest.metric_tag();
  if (cluster::ReportsMetric(start.manifest)) {
    tags_.emplace(metric_tag, start.dir);
    if (!metric_tag.empty()) metrics_.emplace(metric_tag, start.dir, now);
  }
  std::vector<std::string> degraded;
  auto launched = UserProcess::Launch(program, start, degraded);
  if (!launched && IsShortage(launched.error())) return std::unexpected(std::move(launched).error());
  log.Say(LogEntry::INFO, RunningTaskLine(cluster::RunnerArguments(start.manifest, start.cluster)));
  for (const std::string& line : program.Announcement()) log.Say(LogEntry::INFO, line);
  for (const std::string& line : degraded) log.Say(LogEntry::WARNING, line);
  if (!launched) {
    Error error = std::move(launched).error();
    error.message = "cannot run the program: " + error.message;
    return std::unexpected(std::move(error));
  }
  log.Say(LogEntry::INFO, RunningCommandLine(program.Shown()));
  process_.emplace(std::move(*launched));
  usage_.emplace(
      UsageWatch::Context{.process = *process_, .dir = start.dir, .manifest = start.manifest, .link = link},
      now);
  return {};
}

std::vector<Watch> ProgramRun::Watches() {
  std::vector<Watch> watches;
  if (usage_)
    watches.push_back({.fd = usage_->fd(),
                       .deadline = usage_->deadline(),
                       .on_ready = [this](short, Time) { usage_->OnReadable(); },
                       .step = [this](Time now) { usage_->Step(now); }});
  if (tags_)
    watches.push_back({.fd = tags_->fd(),
                       .deadline = tags_->deadline(),
                       .on_ready = [this](short, Time now) { tags_->OnReadable(now); },
                       .step = [this](Time now) { SendAll(tags_->TakeDue(now)); }});
  if (metrics_)
    watches.push_back({.fd = metrics_->fd(),
                       .deadline = metrics_->deadline(),
                       .on_ready = [this](short, Time) { metrics_->OnReadable(); },
                       .step =
                           [this](Time now) {
                             metrics_->Step(now);  // reports due while the server is away are sent later
                             if (metrics_->TakeDue(now) && context_.link.attached()) SendMetrics();
                           }});
  return watches;
}

void ProgramRun::OnAttached() {
  if (metrics_) SendMetrics();
  SendAll(TagReports());
}

void ProgramRun::SendAll(std::vector<v1::MetricReport> reports) {
  for (v1::MetricReport& report : reports) {
    v1::FromReplica frame;
    *frame.mutable_metrics() = Masked(std::move(report), context_.log.mask());
    context_.link.Send(frame);
  }
}

void ProgramRun::SendMetrics() {
  if (const std::string warning = metrics_->TakeWarning(); !warning.empty())
    context_.log.Say(LogEntry::WARNING, warning);
  SendAll({metrics_->Report()});
}

std::vector<v1::MetricReport> ProgramRun::TagReports() const {
  std::vector<v1::MetricReport> reports;
  if (tags_) reports = tags_->tags().All();
  for (v1::MetricReport& report : reports) report = Masked(std::move(report), context_.log.mask());
  return reports;
}

bool ProgramRun::ReadOutput(OutputStream stream) {
  const bool open = process_->ReadOutput(stream, buffer_);
  context_.log.Feed(stream, buffer_);
  if (!open) context_.log.Finish(stream);
  return !buffer_.empty();
}

void ProgramRun::Reap(ObservedEnd& end) {
  const Sandbox::Outcome ended = process_->Reap();
  reaped_ = true;
  end.reported = ended.wait_status.has_value();
  end.wait_status = ended.wait_status.value_or(0);
  usage_->Tell(end);
  usage_.reset();
  context_.program.OnEnded(context_.start, end);
}

/// For a trial the exit record has the whole report, for another job only the last value: a job's record is
/// read for each list.
void ProgramRun::FinishMetrics(v1::ExitRecord& exit) {
  if (tags_) {
    tags_->ReadRest();
    SendAll(TagReports());
    if (!metrics_ && !tags_->tags().last().measurements().empty())
      *exit.mutable_metrics() = Masked(tags_->tags().last(), context_.log.mask());
  }
  if (!metrics_) return;
  metrics_->ReadRest();
  SendMetrics();
  *exit.mutable_metrics() = Masked(metrics_->Report(), context_.log.mask());
  metrics_.reset();
}

void ProgramRun::GiveUp() {
  process_.reset();
  context_.program.GiveUp(context_.start);
}

v1::ExitRecord ProgramRun::Finish(const ObservedEnd& end) {
  auto& [program, start, log, link] = context_;
  for (const OutputStream stream : kStreams) log.Finish(stream);
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

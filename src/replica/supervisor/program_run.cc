#include "replica/supervisor/program_run.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/secret_mask.h"
#include "programs/lines/task_lines.h"
#include "programs/sandbox/patience.h"
#include "rules/cluster/role.h"
#include "rules/cluster/tf_config.h"
#include "rules/diagnosis/failed_import.h"
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

/// The metrics of a trial, its tuning job's own one first.
std::vector<std::string> TagsOf(const v1::Manifest& manifest) {
  std::vector<std::string> tags = {manifest.metric_tag()};
  tags.insert(tags.end(), manifest.further_metric_tags().begin(), manifest.further_metric_tags().end());
  return tags;
}

/// Whether the module that could not be imported is beside the file that imports it. The program's files are
/// where the traceback says, except in a container.
bool ImportsSibling(const std::string& traceback) {
  const auto failed = diagnosis::FindFailedImport(traceback);
  if (!failed) return false;
  const std::filesystem::path beside =
      std::filesystem::path(failed->file).parent_path() / std::string(failed->module);
  std::error_code ignored;
  return std::filesystem::is_directory(beside, ignored) ||
         std::filesystem::exists(beside.string() + ".py", ignored);
}

}  // namespace

Status ProgramRun::Launch(Time now) {
  auto& [program, start, log, output, link] = context_;
  TY_RETURN_IF_ERROR(UserProcess::MakeFolders(start.dir));
  const std::string& metric_tag = start.manifest.metric_tag();
  if (cluster::ReportsMetric(start.manifest)) {
    tags_.emplace(metric_tag, start.dir);
    if (!metric_tag.empty()) metrics_.emplace(TagsOf(start.manifest), start.dir, now);
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
  if (launched->is_warm()) log.Say(LogEntry::INFO, program.WarmLine());
  process_.emplace(std::move(*launched));
  if (program.is_elsewhere()) return {};
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
  for (std::string warning = metrics_->TakeWarning(); !warning.empty(); warning = metrics_->TakeWarning())
    context_.log.Say(LogEntry::WARNING, warning);
  SendAll({metrics_->Report()});
}

std::vector<v1::MetricReport> ProgramRun::TagReports() const {
  std::vector<v1::MetricReport> reports;
  if (tags_) reports = tags_->tags().All();
  for (v1::MetricReport& report : reports) report = Masked(std::move(report), context_.log.mask());
  return reports;
}

std::vector<Watch> ProgramRun::OutputWatches(Time now, std::function<void(OutputStream)> read) const {
  std::vector<Watch> watches;
  for (const OutputStream stream : kStreams) {
    if (!context_.output.may_read()) break;
    if (now < pace_.rest_end(stream))
      watches.push_back({.deadline = pace_.rest_end(stream)});
    else
      watches.push_back(
          {.fd = process_->output_fd(stream), .on_ready = [read, stream](short, Time) { read(stream); }});
  }
  return watches;
}

bool ProgramRun::ReadOnce(OutputStream stream, Time now) {
  if (!context_.output.may_read() || process_->output_fd(stream) < 0) return false;
  const bool open = process_->ReadOutput(stream, buffer_);
  pace_.OnRead(stream, buffer_.size(), now);
  context_.log.Feed(stream, buffer_);
  if (!open) context_.log.Finish(stream);
  return !buffer_.empty();
}

bool ProgramRun::ReadOutput(std::optional<OutputStream> ready, Time now) {
  bool has_read = false;
  for (const OutputStream stream : kStreams)
    if (now < pace_.rest_end(stream)) has_read |= ReadOnce(stream, now);
  if (ready) has_read |= ReadOnce(*ready, now);
  return has_read;
}

void ProgramRun::Reap(ObservedEnd& end) {
  const Sandbox::Outcome ended = process_->Reap();
  reaped_ = true;
  end.reported = ended.wait_status.has_value();
  end.wait_status = ended.wait_status.value_or(0);
  if (usage_) usage_->Tell(end);
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
  auto& [program, start, log, output, link] = context_;
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
  Explain(start.manifest, log.tail().Lines(), exit,
          {.counts_oom_kills = end.counts_oom_kills, .import_is_sibling = ImportsSibling(exit.traceback())});
  if (const std::string warning = KilledWorkerWarning(end, exit); !warning.empty())
    log.Say(LogEntry::WARNING, warning);
  FinishMetrics(exit);
  log.Say(LogEntry::INFO, kModuleCompleted);
  process_.reset();
  program.CleanUp(start);
  log.Say(LogEntry::INFO, kCleanUpFinished);
  if (succeeded) log.Say(LogEntry::INFO, kTaskCompleted);
  return exit;
}

}  // namespace trainyard::replica

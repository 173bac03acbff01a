#include "rules/slurm/job_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/wire/time.h"

namespace trainyard::slurm {

namespace {

using Row = std::pair<std::string_view, JobState>;
constexpr std::array kStates{
    Row{"PENDING", JobState::kPending},          Row{"CONFIGURING", JobState::kPending},
    Row{"REQUEUED", JobState::kPending},         Row{"REQUEUE_FED", JobState::kPending},
    Row{"REQUEUE_HOLD", JobState::kPending},     Row{"SPECIAL_EXIT", JobState::kPending},
    Row{"RESV_DEL_HOLD", JobState::kPending},    Row{"RUNNING", JobState::kRunning},
    Row{"SIGNALING", JobState::kRunning},        Row{"STAGE_OUT", JobState::kRunning},
    Row{"RESIZING", JobState::kRunning},         Row{"SUSPENDED", JobState::kSuspended},
    Row{"STOPPED", JobState::kSuspended},        Row{"COMPLETING", JobState::kEnding},
    Row{"CANCELLED", JobState::kCancelled},      Row{"TIMEOUT", JobState::kTimeLimit},
    Row{"DEADLINE", JobState::kDeadline},        Row{"NODE_FAIL", JobState::kNodeLost},
    Row{"BOOT_FAIL", JobState::kNodeLost},       Row{"PREEMPTED", JobState::kPreempted},
    Row{"OUT_OF_MEMORY", JobState::kOutOfMemory}};

/// For how long after its start a controller learns from the nodes what it had forgotten.
constexpr std::chrono::seconds kAfterStart{60};

/// A job that started longer ago is not looked at again: its end was judged by then. Longer than kAfterStart,
/// since the clock of the controller is another one.
constexpr std::chrono::minutes kCancelledRecently{5};

constexpr std::string_view kHeader = "JOBID|";

/// Removes the next field with the bar after it, and returns the field.
std::optional<std::string_view> Take(std::string_view& line) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  const std::string_view field = line.substr(0, bar);
  line.remove_prefix(bar + 1);
  return field == "(null)" ? std::string_view() : field;
}

/// "2026-11-20T18:02:37", as Slurm's programs print times with TZ=UTC.
std::optional<SysTime> ParseUtc(std::string_view text) {
  const Result<SysTime> time = wire::ParseTime(std::string(text) + "Z");
  return time ? std::optional(*time) : std::nullopt;
}

std::optional<ListedJob> ParseLine(std::string_view line) {
  std::array<std::string_view, 7> fields;
  for (std::string_view& field : fields) {
    const std::optional<std::string_view> taken = Take(line);
    if (!taken) return std::nullopt;
    field = *taken;
  }
  const auto [id, state, nodes, started, submitted, name, comment] = fields;
  ListedJob job{.name = std::string(name),
                .comment = std::string(comment),
                .state = ParseJobState(state),
                .state_text = std::string(state),
                .nodes = std::string(nodes),
                .reason = std::string(line)};
  const auto [rest, error] = std::from_chars(id.data(), id.data() + id.size(), job.id);
  if (error != std::errc() || rest != id.data() + id.size() || job.id < 1) return std::nullopt;
  if (job.state == JobState::kCancelled) {
    job.started = ParseUtc(started).value_or(SysTime());
    job.submitted = ParseUtc(submitted).value_or(SysTime());
  }
  return job;
}

std::string_view TakeLine(std::string_view& lines) {
  const std::size_t end = lines.find('\n');
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  return line;
}

}  // namespace

JobState ParseJobState(std::string_view state) {
  const auto found = std::ranges::find(kStates, state, &Row::first);
  return found == kStates.end() ? JobState::kOver : found->second;
}

Result<std::vector<ListedJob>> ParseJobList(std::string_view lines) {
  const std::string_view header = TakeLine(lines);
  if (!header.starts_with(kHeader))
    return std::unexpected(Error{Code::kInternal, "squeue printed no list: " + std::string(header), {}});
  std::vector<ListedJob> jobs;
  while (!lines.empty()) {
    if (std::optional<ListedJob> job = ParseLine(TakeLine(lines))) jobs.push_back(*std::move(job));
  }
  return jobs;
}

std::optional<SysTime> ParseControllerStart(std::string_view printed) {
  constexpr std::string_view kKey = "BOOT_TIME";
  while (!printed.empty()) {
    std::string_view line = TakeLine(printed);
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" =", kKey.size()), line.size()));
    return ParseUtc(line);
  }
  return std::nullopt;
}

bool MayBeCancelledBySlurm(const ListedJob& job, SysTime now) {
  return job.state == JobState::kCancelled && !job.nodes.empty() && job.started > now - kCancelledRecently;
}

void MarkForgotten(std::span<ListedJob> jobs, SysTime controller_start) {
  for (ListedJob& job : jobs) {
    const bool is_early = job.started >= controller_start && job.started <= controller_start + kAfterStart;
    if (job.state != JobState::kCancelled || job.nodes.empty() || !is_early) continue;
    job.state = job.submitted < controller_start ? JobState::kForgotten : JobState::kCancelledAtStart;
  }
}

}  // namespace trainyard::slurm

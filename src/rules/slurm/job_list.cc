#include "rules/slurm/job_list.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

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

constexpr std::string_view kHeader = "JOBID|";

/// Removes the next field with the bar after it, and returns the field.
std::optional<std::string_view> Take(std::string_view& line) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  const std::string_view field = line.substr(0, bar);
  line.remove_prefix(bar + 1);
  return field == "(null)" ? std::string_view() : field;
}

std::optional<ListedJob> ParseLine(std::string_view line) {
  std::array<std::string_view, 5> fields;
  for (std::string_view& field : fields) {
    const std::optional<std::string_view> taken = Take(line);
    if (!taken) return std::nullopt;
    field = *taken;
  }
  const auto [id, state, nodes, name, comment] = fields;
  ListedJob job{.name = std::string(name),
                .comment = std::string(comment),
                .state = ParseJobState(state),
                .state_text = std::string(state),
                .nodes = std::string(nodes),
                .reason = std::string(line)};
  const auto [rest, error] = std::from_chars(id.data(), id.data() + id.size(), job.id);
  if (error != std::errc() || rest != id.data() + id.size() || job.id < 1) return std::nullopt;
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

}  // namespace trainyard::slurm

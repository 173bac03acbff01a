#include "control/testing/job_ledger.h"

#include <map>

#include "rules/cluster/task_name.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/transition_table.h"

namespace trainyard::control {
namespace {

using ml::v1::Job;

/// The job's state and label are what its clients may find.
void CheckRecord(const v1::JobRecord& job, const JobLedger& ledger, std::vector<std::string>& broken) {
  const Job::State state = job.job().state();
  if (!job.job().has_end_time()) broken.emplace_back("has not ended");
  if (state == Job::CANCELLED && !ledger.asked_cancel)
    broken.emplace_back("is cancelled, and nobody asked for it");
  if (state == Job::SUCCEEDED && ledger.exit_code != 0)
    broken.emplace_back("has succeeded, and its program failed");
  // Lost attempts use up a replica's restarts.
  const bool may_fail = ledger.exit_code != 0 || ledger.lost > jobs::kRestartsMax;
  if (state == Job::FAILED && !may_fail) broken.push_back("has failed: " + job.job().error_message());
  const auto label = job.job().labels().find("at");
  const std::string found = label == job.job().labels().end() ? "" : label->second;
  if (found != ledger.label && !ledger.asked_labels.contains(found))
    broken.push_back("has the label '" + found + "', which nobody set");
  if (found.empty() && !ledger.label.empty()) broken.emplace_back("has lost its label");
}

void CheckEvents(const v1::JobRecord& job, const std::vector<v1::Event>& events,
                 std::vector<std::string>& broken) {
  v1::JobRecord replayed;
  for (const v1::Event& event : events) {
    const auto after = jobs::Apply(replayed, event);
    if (!after) return broken.push_back("has an event that cannot happen: " + after.error().message);
    replayed = *after;
  }
  if (replayed.job().state() != job.job().state() || replayed.revision() != job.revision())
    broken.emplace_back("has events that do not give its record");
}

/// Each attempt's lines are there once, in order, from the first on.
void CheckLines(const v1::JobRecord& job, const JobLedger& ledger, const std::vector<std::string>& lines,
                std::vector<std::string>& broken) {
  std::map<std::string, int> next;
  for (const std::string& line : lines) {
    const std::size_t at = line.find(" line ");
    const std::string attempt = line.substr(0, at);
    if (at == std::string::npos || !cluster::ParseAttemptId(attempt)) continue;
    if (line != attempt + " line " + std::to_string(next[attempt]++))
      broken.push_back("has a line that is doubled or moved, or one before it is lost: " + line);
  }
  if (job.job().state() != Job::SUCCEEDED) return;
  const std::string master = cluster::AttemptId(job.uid(), job.replicas(0).id(), job.replicas(0).attempt());
  if (next[master] != ledger.lines)
    broken.push_back("has " + std::to_string(next[master]) + " lines of " + master + ", which wrote " +
                     std::to_string(ledger.lines));
}

}  // namespace

std::vector<std::string> Violations(const std::string& job_id, const JobLedger& ledger,
                                    const JobOutcome& outcome) {
  std::vector<std::string> broken;
  if (!outcome.record) {
    if (ledger.is_created) broken.emplace_back("was acknowledged and is lost");
  } else {
    CheckRecord(*outcome.record, ledger, broken);
    CheckEvents(*outcome.record, outcome.events, broken);
    CheckLines(*outcome.record, ledger, outcome.lines, broken);
  }
  for (std::string& what : broken) what = job_id + " " + what;
  return broken;
}

}  // namespace trainyard::control

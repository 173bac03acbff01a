#include "control/testing/job_ledger.h"

#include "base/wire/time.h"
#include "rules/cluster/task_name.h"
#include "rules/jobs/restart_policy.h"

namespace trainyard::control {
namespace {

using ml::v1::Job;
using Broken = std::vector<std::string>;

/// Whether programs, clients or faults may have made the job fail.
bool MayFail(const JobLedger& ledger) {
  if (ledger.exit_code != 0 || !ledger.prepares || ledger.kind == JobLedger::Kind::kMissingImage) return true;
  if (ledger.is_limited) return true;
  // Lost attempts use up a replica's restarts; crashes in a gang use up the job's retries.
  return ledger.lost > (ledger.workers > 0 ? jobs::kRetriesMax : jobs::kRestartsMax);
}

bool MayBeCancelled(const JobLedger& ledger) {
  return ledger.asked_cancel || ledger.is_limited || ledger.running_seconds_max > 0 ||
         ledger.waiting_seconds_max > 0;
}

void CheckState(const v1::JobRecord& job, const JobLedger& ledger, Broken& broken) {
  const Job::State state = job.job().state();
  if (!job.job().has_end_time()) broken.emplace_back("has not ended");
  if (state == Job::CANCELLED && !MayBeCancelled(ledger))
    broken.emplace_back("is cancelled, and nobody asked for it");
  const bool has_trials = ledger.kind == JobLedger::Kind::kTuning;  // some of which may fail
  if (state == Job::SUCCEEDED && ledger.exit_code != 0 && !has_trials)
    broken.emplace_back("has succeeded, and its program failed");
  if (state == Job::FAILED && !MayFail(ledger)) broken.push_back("has failed: " + job.job().error_message());
}

void CheckValues(const v1::JobRecord& job, const JobLedger& ledger, Broken& broken) {
  const auto label = job.job().labels().find("at");
  const std::string found = label == job.job().labels().end() ? "" : label->second;
  if (!ledger.label.MayBe(found))
    broken.push_back("has the label '" + found + "', which is not the last one");
  std::string member;
  for (const iam::v1::Binding& binding : job.iam_policy().bindings()) member = binding.members(0);
  if (!ledger.member.MayBe(member))
    broken.push_back("has a policy with '" + member + "', which is not the last one");
}

void CheckHistory(const v1::JobRecord& job, const JobHistory& history, Broken& broken) {
  if (!history.error.empty()) return broken.push_back("has an event that cannot happen: " + history.error);
  const v1::JobRecord& replayed = history.record;
  if (replayed.job().state() != job.job().state() || replayed.revision() != job.revision())
    broken.emplace_back("has events that do not give its record");
  if (job.retries() != history.retries)
    broken.push_back("counts " + std::to_string(job.retries()) + " retries, and its events decided " +
                     std::to_string(history.retries));
  for (const v1::ReplicaRecord& replica : job.replicas()) {
    const std::string name = cluster::TaskName(replica.id());
    const auto decided = history.restarts.find(name);
    const int restarts = decided == history.restarts.end() ? 0 : decided->second;
    if (replica.restarts() != restarts)
      broken.push_back("counts " + std::to_string(replica.restarts()) + " restarts of " + name +
                       ", and its events decided " + std::to_string(restarts));
  }
}

/// Each attempt's lines are there once, in order, from the first on. Returns how many of each there are.
std::map<std::string, int> CountLines(const std::vector<std::string>& lines, Broken& broken) {
  std::map<std::string, int> next;
  for (const std::string& line : lines) {
    const std::size_t at = line.find(" line ");
    const std::string attempt = line.substr(0, at);
    if (at == std::string::npos || !cluster::ParseAttemptId(attempt)) continue;
    if (line != attempt + " line " + std::to_string(next[attempt]++))
      broken.push_back("has a line that is doubled or moved, or one before it is lost: " + line);
  }
  return next;
}

/// The master of a job that has succeeded has written all of its lines.
void CheckLast(const v1::JobRecord& job, int lines, std::map<std::string, int>& found, Broken& broken) {
  if (job.job().state() != Job::SUCCEEDED || job.replicas().empty()) return;
  const std::string master = cluster::AttemptId(job.uid(), job.replicas(0).id(), job.replicas(0).attempt());
  if (found[master] != lines)
    broken.push_back("has " + std::to_string(found[master]) + " lines of " + master + ", which wrote " +
                     std::to_string(lines));
}

/// No attempt's lines are missing that must be there, and none are there that it did not write.
void CheckOutputs(const JobOutcome& outcome, std::map<std::string, int>& found, Broken& broken) {
  for (const auto& [attempt, output] : outcome.outputs) {
    if (found[attempt] >= output.promised && found[attempt] <= output.written) continue;
    broken.push_back("has " + std::to_string(found[attempt]) + " lines of " + attempt + ", which wrote " +
                     std::to_string(output.written) + ", of which " + std::to_string(output.promised) +
                     " must be there");
  }
}

/// By what the event says, not by the rules that count in the record.
void CountTries(const v1::Event& event, JobHistory& history) {
  if (event.has_retry_decided() && !event.retry_decided().uncounted()) ++history.retries;
  if (event.has_retry_started()) history.restarts.clear();
  if (!event.has_restart_decided()) return;
  const v1::Event::RestartDecided& decided = event.restart_decided();
  if (!decided.reason().contains("does not count as a restart"))
    ++history.restarts[cluster::TaskName(decided.replica())];
}

}  // namespace

std::set<std::string> ExpectedValue::Begin(const std::string& value) {
  std::set<std::string> replaced;
  for (const std::string& other : possible_) {
    if (!in_flight_.contains(other)) replaced.insert(other);
  }
  possible_.insert(value);
  in_flight_.insert(value);
  return replaced;
}

void ExpectedValue::Succeed(const std::set<std::string>& replaced) {
  for (const std::string& value : replaced) possible_.erase(value);
}

JobHistory Replay(const std::vector<v1::Event>& events) {
  JobHistory history;
  for (const v1::Event& event : events) {
    auto after = jobs::Apply(history.record, event);
    if (!after) {
      history.error = after.error().message;
      break;
    }
    history.entries.push_back({.before = jobs::StageOf(history.record),
                               .event = event.kind_case(),
                               .time = wire::FromProto(event.time())});
    history.record = *std::move(after);
    CountTries(event, history);
  }
  return history;
}

std::vector<std::string> Violations(const std::string& job_id, const JobLedger& ledger,
                                    const JobOutcome& outcome) {
  Broken broken;
  if (!outcome.record) {
    if (ledger.is_created && !ledger.asked_delete) broken.emplace_back("was acknowledged and is lost");
  } else {
    if (ledger.is_deleted) broken.emplace_back("was deleted and is there");
    CheckState(*outcome.record, ledger, broken);
    CheckValues(*outcome.record, ledger, broken);
    CheckHistory(*outcome.record, outcome.history, broken);
    std::map<std::string, int> lines = CountLines(outcome.lines, broken);
    CheckLast(*outcome.record, ledger.lines, lines, broken);
    CheckOutputs(outcome, lines, broken);
    for (std::size_t i = 0; i < outcome.trials.size(); ++i) {
      if (!outcome.trials[i].job().has_end_time()) broken.emplace_back("has a trial that has not ended");
      CheckHistory(outcome.trials[i], outcome.histories_of_trials[i], broken);
      CheckLast(outcome.trials[i], ledger.lines, lines, broken);
    }
  }
  for (std::string& what : broken) what = job_id + " " + what;
  return broken;
}

}  // namespace trainyard::control

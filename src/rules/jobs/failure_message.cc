#include "rules/jobs/failure_message.h"

#include <string.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <ranges>
#include <set>

#include "base/wire/time.h"
#include "rules/cluster/task_name.h"

namespace trainyard::jobs {

namespace {

using replica::v1::ExitRecord;

Verdict JudgeStatus(int exit_code) {
  constexpr int kUserError = 1;
  constexpr int kUsageError = 2;
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  switch (exit_code) {
    case 0: return Verdict::kDone;
    case kUserError:
    case kUsageError:
    case kNotExecutable:
    case kNotFound: return Verdict::kPermanent;
    default: return Verdict::kTransient;
  }
}

using control::v1::JobRecord;
using control::v1::ReplicaRecord;

/// "9(SIGKILL)".
std::string SignalStatus(int signal) {
  std::string text = std::to_string(signal);
  if (const char* name = sigabbrev_np(signal); name != nullptr) text += "(SIG" + std::string(name) + ")";
  return text;
}

std::string NonZero(const std::string& label, const std::string& status) {
  return "The replica " + label + " exited with a non-zero status of " + status + ".";
}

/// The detail below the sentence: the tool's own words, or the traceback.
std::string Details(const ExitRecord& exit) {
  if (exit.cause() == ExitRecord::EXITED || exit.cause() == ExitRecord::SIGNALED) return exit.traceback();
  return exit.message().empty() ? exit.traceback() : exit.message();
}

bool Failed(const ReplicaRecord& replica) {
  return replica.has_exit() && JudgeExit(replica.exit()) != Verdict::kDone;
}

bool ChoseTheSameStatusAgain(const ReplicaRecord& replica) {
  const ExitRecord& exit = replica.exit();
  const ExitRecord& former = replica.former().exit();
  return exit.cause() == ExitRecord::EXITED && former.cause() == ExitRecord::EXITED &&
         exit.exit_code() == former.exit_code() && SignalOfStatus(exit.exit_code()) == 0;
}

/// The failed replicas by the time of their end; those of equal or unknown times in the record's order.
std::multimap<SysTime, const ReplicaRecord*> FailedByTime(const JobRecord& record) {
  std::multimap<SysTime, const ReplicaRecord*> failed;
  for (const ReplicaRecord& replica : record.replicas()) {
    if (Failed(replica)) failed.emplace(wire::FromProto(replica.exit().end_time()), &replica);
  }
  return failed;
}

/// The cause and the advice, unless an earlier replica's text has the same.
std::string Help(const JobRecord& record, const ReplicaRecord& replica, std::set<std::string>& said) {
  const replica::v1::Diagnosis& diagnosis = replica.exit().diagnosis();
  if (diagnosis.name().empty() || !said.insert(diagnosis.name() + diagnosis.summary()).second) return {};
  return "Diagnosis: " + diagnosis.name() + ". " + diagnosis.summary() +
         "\nWhat to do: " + diagnosis.advice() + "\nIts last lines: trainyard jobs stream-logs " +
         record.job().job_id() + " --task-name " + cluster::TaskName(replica.id()) + " --last " +
         std::to_string(kLastLines) + "\n\n";
}

std::string Tries(const JobRecord& record) {
  int restarts = 0;
  for (const ReplicaRecord& replica : record.replicas()) {
    if (Failed(replica) && ChoseTheSameStatusAgain(replica))
      return "The replica " + cluster::ReplicaLabel(replica.id()) + " exited with the status " +
             std::to_string(replica.exit().exit_code()) +
             " twice in a row, so it was not restarted again.\n\n";
    if (Failed(replica) && JudgeExit(replica.exit()) == Verdict::kTransient)
      restarts = std::max(restarts, replica.restarts());
  }
  if (restarts == 0) return {};
  return "The replica was restarted " + std::to_string(restarts) + " times, the whole job was retried " +
         std::to_string(record.retries()) + " times.\n\n";
}

}  // namespace

Verdict JudgeExit(const ExitRecord& exit) {
  if (exit.shortage()) return Verdict::kTransient;
  switch (exit.cause()) {
    case ExitRecord::EXITED: return JudgeStatus(exit.exit_code());
    case ExitRecord::OUT_OF_MEMORY:
    case ExitRecord::PREPARATION_FAILED: return Verdict::kPermanent;
    default:
      return Verdict::kTransient;  // SIGNALED, LOST, SHUT_DOWN; STOPPED if this server did not request it
  }
}

Verdict JudgeEnd(const ReplicaRecord& replica) {
  const Verdict verdict = JudgeExit(replica.exit());
  const bool repeats = verdict == Verdict::kTransient && ChoseTheSameStatusAgain(replica);
  return repeats ? Verdict::kPermanent : verdict;
}

int SignalOfStatus(int exit_code) {
  if (exit_code == SIGABRT || exit_code == SIGSEGV)
    return exit_code;  // as the original's runner reported them
  constexpr int kShellSignal = 128;
  constexpr int kLastSignal = 31;  // the real-time signals end no program by accident
  const int signal = exit_code - kShellSignal;
  return signal >= 1 && signal <= kLastSignal ? signal : 0;
}

bool RanUserCode(const ExitRecord& exit) {
  switch (exit.cause()) {
    case ExitRecord::EXITED:
    case ExitRecord::SIGNALED:
    case ExitRecord::OUT_OF_MEMORY: return true;
    default: return exit.has_start_time();
  }
}

std::string FailureSentence(const ReplicaRecord& replica) {
  const ExitRecord& exit = replica.exit();
  const std::string label = cluster::ReplicaLabel(replica.id());
  constexpr int kKill = 9;
  constexpr int kTerm = 15;
  switch (exit.cause()) {
    case ExitRecord::EXITED: return NonZero(label, std::to_string(exit.exit_code()));
    case ExitRecord::SIGNALED: return NonZero(label, SignalStatus(exit.signal()));
    case ExitRecord::OUT_OF_MEMORY:
      return "The replica " + label + " ran out-of-memory and exited with a non-zero status of " +
             SignalStatus(kKill);
    case ExitRecord::PREPARATION_FAILED:
      return NonZero(label, std::to_string(exit.exit_code() == 0 ? 1 : exit.exit_code()));
    case ExitRecord::STOPPED:
    case ExitRecord::SHUT_DOWN:
      if (exit.exit_code() != 0) return NonZero(label, std::to_string(exit.exit_code()));
      return NonZero(label, SignalStatus(exit.signal() != 0 ? exit.signal() : kTerm));
    default: return "Internal error occurred for the current attempt: the replica " + label + " was lost.";
  }
}

std::string FailureMessage(const JobRecord& record) {
  std::string text;
  std::set<std::string> said;
  const std::multimap<SysTime, const ReplicaRecord*> failed = FailedByTime(record);
  for (const ReplicaRecord* replica : failed | std::views::values | std::views::take(kFailuresDescribedMax)) {
    text += FailureSentence(*replica) + " ";
    const std::string details = Details(replica->exit());
    if (!details.empty()) text += "\n" + details + (details.ends_with('\n') ? "\n" : "\n\n");
    const std::string help = Help(record, *replica, said);
    if (!help.empty()) text += (details.empty() ? "\n" : "") + help;
  }
  if (failed.size() > kFailuresDescribedMax)
    text += "So did " + std::to_string(failed.size() - kFailuresDescribedMax) + " more replicas. ";
  text += Tries(record);
  return text +
         "To find out more about why your job exited please check the logs: trainyard jobs stream-logs " +
         record.job().job_id();
}

}  // namespace trainyard::jobs

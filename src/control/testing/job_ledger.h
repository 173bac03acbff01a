#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rules/jobs/transition_table.h"
#include "trainyard/control/v1/record.pb.h"

/// For the simulation: what clients know of a job, compared with what became of it. Pure.
namespace trainyard::control {

/// A value that clients set, each time to another one: what it may be afterwards. An answer 200 means that
/// the value is set, and that those of calls that were over before it began are gone. Any other end of a call
/// says nothing.
class ExpectedValue {
 public:
  /// A call begins that sets the value. Returns what a success would replace, for Succeed.
  [[nodiscard]] std::set<std::string> Begin(const std::string& value);
  void Succeed(const std::set<std::string>& replaced);
  /// The call is over, with success or without, or its server is gone.
  void End(const std::string& value) { in_flight_.erase(value); }
  [[nodiscard]] bool MayBe(const std::string& value) const { return possible_.contains(value); }

 private:
  std::set<std::string> possible_{""};
  std::set<std::string> in_flight_;
};

struct JobLedger {
  // These things are settled when the client creates the job.
  enum class Kind { kPackage, kImage, kMissingImage, kTuning };
  Kind kind = Kind::kPackage;
  int workers = 0;
  int parallel_trials = 1;
  int values = 0;               ///< that a tuning job's parameter can have; 0: too many to count
  int running_seconds_max = 0;  ///< 0: no limit of its own
  int waiting_seconds_max = 0;  ///< 0: no limit
  int exit_code = 0;            ///< of its programs
  int crashes = 0;              ///< so many of its programs are killed by a signal before one ends with that
  bool prepares = true;         ///< false: the preparation of its replicas fails
  int shortages = 0;            ///< so many of its attempts find too little memory on their machine
  int lines = 0;                ///< that each program writes: "ATTEMPT line NUMBER"

  // These things happened to the job later.
  SysTime asked_at{};         ///< when it was asked for, true time
  bool is_created = false;    ///< answered
  bool asked_cancel = false;  ///< perhaps without an answer
  bool is_limited = false;    ///< a cluster's time limit may have ended it
  bool asked_delete = false;  ///< perhaps without an answer
  bool is_deleted = false;    ///< answered
  ExpectedValue label{};
  ExpectedValue member{};  ///< of its policy
  int lost = 0;            ///< how many of its attempts were lost or crashed
};
using Ledgers = std::map<std::string, JobLedger>;  ///< by job id

/// A job's events, applied one after the other.
struct JobHistory {
  struct Entry {
    jobs::Stage before;
    v1::Event::KindCase event;
    SysTime time;
  };
  std::vector<Entry> entries{};
  v1::JobRecord record{};  ///< after the last one
  std::string error{};     ///< why the next one cannot happen; empty: all can
  int retries = 0;         ///< of the whole job that were decided, without those that do not count
  std::map<std::string, int>
      restarts{};  ///< the same for each replica ("worker-replica-0"), since the last retry
};
[[nodiscard]] JobHistory Replay(const std::vector<v1::Event>& events);

/// How many lines an attempt's program wrote, and how many of them, the first ones, the log must have.
struct AttemptOutput {
  int written = 0;
  int promised = 0;
};

struct JobOutcome {
  Result<v1::JobRecord> record;  ///< an error: there is no such job
  JobHistory history{};
  std::vector<v1::JobRecord> trials{};  ///< of a tuning job
  std::vector<JobHistory> histories_of_trials{};
  std::vector<std::string> lines{};                ///< of its log, in order
  std::map<std::string, AttemptOutput> outputs{};  ///< by attempt
};

/// One sentence for each promise that does not hold for the job.
[[nodiscard]] std::vector<std::string> Violations(const std::string& job_id, const JobLedger& ledger,
                                                  const JobOutcome& outcome);

}  // namespace trainyard::control

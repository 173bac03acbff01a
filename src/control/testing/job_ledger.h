#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

/// For the simulation: what clients know of a job, compared with what became of it. Pure.
namespace trainyard::control {

struct JobLedger {
  bool is_created = false;               ///< answered
  bool asked_cancel = false;             ///< perhaps without an answer
  std::string label{};                   ///< the last one that was answered
  std::set<std::string> asked_labels{};  ///< all that were asked for
  int exit_code = 0;                     ///< of its programs
  int lines = 0;                         ///< that each program writes: "ATTEMPT line NUMBER"
  int lost = 0;                          ///< how many of its attempts were lost
};

struct JobOutcome {
  Result<v1::JobRecord> record;  ///< an error: there is no such job
  std::vector<v1::Event> events{};
  std::vector<std::string> lines{};  ///< of its log, in order
};

/// One sentence for each promise that does not hold for the job.
[[nodiscard]] std::vector<std::string> Violations(const std::string& job_id, const JobLedger& ledger,
                                                  const JobOutcome& outcome);

}  // namespace trainyard::control

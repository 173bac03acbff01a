#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stores/store/job_store.h"

/// What other files tell about jobs besides their database. If the database is lost, or lost its last writes,
/// it must not be taken for that of a server without jobs, because running replicas of unknown jobs are
/// killed.
namespace trainyard::backup {

struct KnownJobs {
  std::int64_t uid_max = 0;    ///< the largest in logs.db and among the attempts
  std::string newest{};        ///< the job with that number in logs.db: "p/census_1"
  int attempts = 0;            ///< directories of attempts
  bool had_databases = false;  ///< another database exists, and the jobs' database is always created first
  std::string last_backup{};   ///< directory of the last backup
  bool operator_has_spoken = false;  ///< `trainyard admin recover` was run
};
/// Blocking; no database may be open.
[[nodiscard]] KnownJobs LookForJobs(const std::string& data, const std::string& backup_dir);

/// kFailedPrecondition: the jobs' database is missing, and there were jobs.
[[nodiscard]] Status CheckJobsFile(const std::string& data, const KnownJobs& known);
/// If the database is damaged: kDataLoss with what to do; otherwise the error unchanged.
[[nodiscard]] Error ExplainDamage(Error error, const std::string& data, const std::string& name,
                                  const KnownJobs& known);
/// kDataLoss with what to do: a database that cannot be recreated is damaged where its tables begin or end,
/// or was found damaged while in use. Other errors show when it is opened.
[[nodiscard]] Status CheckReadable(const std::string& data, const KnownJobs& known);
/// kFailedPrecondition: other files know jobs with larger numbers. If the operator has confirmed it
/// (`operator_has_spoken`), these numbers are never given out again.
[[nodiscard]] Status CheckNumbers(store::JobStore& jobs, const std::string& data, const KnownJobs& known);

/// kFailedPrecondition: a directory, or something else that is not a file, has the name of a database.
[[nodiscard]] Status CheckDatabaseFiles(const std::string& data);
/// One line for each database that a server with jobs has made, and that is missing now.
[[nodiscard]] std::vector<std::string> WhatIsGone(const std::string& data);

/// Moves a damaged database aside, with a line that says so, so that it is recreated.
[[nodiscard]] Status SetAsideIfDamaged(const std::string& path, const std::string& loss);

}  // namespace trainyard::backup

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "stores/store/job_store.h"

/// What is known of jobs beside their database: a lost one, or one that lost its last writes, must not be
/// taken for that of a server without jobs, because living replicas of jobs that nobody knows are ended.
namespace trainyard::backup {

struct KnownJobs {
  std::int64_t uid_max = 0;          ///< of logs.db and of the attempts
  std::string newest{};              ///< "p/census_1", as logs.db names the job of its largest number
  int attempts = 0;                  ///< directories of attempts
  bool had_databases = false;        ///< another database is there, and the jobs' is made first
  std::string last_backup{};         ///< its folder
  bool operator_has_spoken = false;  ///< `trainyard admin recover` was run
};
/// Blocking; no database is open.
[[nodiscard]] KnownJobs LookForJobs(const std::string& data, const std::string& backup_dir);

/// kFailedPrecondition: the jobs' database is missing, and there were jobs.
[[nodiscard]] Status CheckJobsFile(const std::string& data, const KnownJobs& known);
/// kDataLoss with what to do, if the database is damaged; else the error as it is.
[[nodiscard]] Error ExplainDamage(Error error, const std::string& data, const std::string& name,
                                  const KnownJobs& known);
/// kDataLoss with what to do: one that cannot be made anew is damaged where its tables begin or end, or was
/// found damaged while it was used. Other errors show when it is opened.
[[nodiscard]] Status CheckReadable(const std::string& data, const KnownJobs& known);
/// kFailedPrecondition: others know jobs with larger numbers. After the operator's word these numbers are
/// never given out.
[[nodiscard]] Status CheckNumbers(store::JobStore& jobs, const std::string& data, const KnownJobs& known);

/// kFailedPrecondition: a directory, or something else that is no file, has the name of a database.
[[nodiscard]] Status CheckDatabaseFiles(const std::string& data);
/// One line for each database that a server which has had jobs made, and that is gone now.
[[nodiscard]] std::vector<std::string> WhatIsGone(const std::string& data);

/// Puts a damaged database aside, with a line that says so, for one that is made anew.
[[nodiscard]] Status SetAsideIfDamaged(const std::string& path, const std::string& loss);

}  // namespace trainyard::backup

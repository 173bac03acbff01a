#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stores/store/job_store.h"

/// Reads that combine several reads of the store. Blocking; for Journal::Read.
namespace trainyard::store {

/// The wanted jobs of a long history.
struct JobSelection {
  std::function<bool(JobRecord&)> wanted;  ///< may complete the record
  int looked_at_max = 0;                   ///< at most so many are examined in one call
};
/// As JobStore::List, but only the wanted jobs. If few are wanted, a page may be short or empty and still
/// have a next one.
[[nodiscard]] Result<JobPage> SelectJobs(JobStore& store, const std::string& project, int page_size,
                                         std::string page_token, const JobSelection& selection);

/// A job that changed, in its present state.
struct ChangedJob {
  std::string job_id;
  std::optional<JobRecord> job;        ///< nothing: it was deleted
  std::vector<std::string> trial_ids;  ///< the trials that changed
};
struct ChangedJobs {
  std::vector<ChangedJob> jobs;  ///< each once
  std::string resume_token;
  bool more = false;
};
/// As JobStore::Changed.
[[nodiscard]] Result<ChangedJobs> ReadChanged(JobStore& store, const std::string& project,
                                              const std::string& resume_token, int count);

}  // namespace trainyard::store

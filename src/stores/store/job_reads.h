#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "stores/store/job_store.h"

/// Reads that take several of the store's. Blocking; for Journal::Read.
namespace trainyard::store {

/// Which jobs of a long history are wanted.
struct JobSelection {
  std::function<bool(JobRecord&)> wanted;  ///< may complete the record
  int looked_at_max = 0;                   ///< in one call
};
/// As JobStore::List, but only the wanted jobs. If few are wanted, a page may be short or empty and still
/// have a next one.
[[nodiscard]] Result<JobPage> SelectJobs(JobStore& store, const std::string& project, int page_size,
                                         std::string page_token, const JobSelection& selection);

/// A job that changed, as it is now.
struct ChangedJob {
  std::string job_id;
  std::optional<JobRecord> job;        ///< nothing: it was deleted
  std::vector<std::string> trial_ids;  ///< of its trials that changed
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

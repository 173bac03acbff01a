#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stores/store/job_store.h"
#include "stores/store/page_token.h"

/// Errors and checks that all implementations of JobStore share. Pure: any thread.
namespace trainyard::store {

/// kAlreadyExists with field "job.job_id" and the state of the job that has the id. An error as `other`: only
/// that there is one.
[[nodiscard]] Error JobExists(const Result<JobRecord>& other);
/// kNotFound with field "name".
[[nodiscard]] Error NoSuchJob();
/// kAborted: the job is not at the revision before the last `count` events.
[[nodiscard]] Error StaleRevision(const JobRecord& after, std::int64_t count);

/// The unique key within a project: the job's id, or "JOB/TRIAL", which cannot be a job's id.
[[nodiscard]] std::string UniqueName(const JobRecord& record);
[[nodiscard]] std::string UniqueName(std::string_view job_id, std::string_view trial_id);

/// Aborts if the events are not those up to this revision: that is a bug.
void CheckEventsMatch(const JobRecord& after, std::span<const Event> events);

/// Fills in what only the store knows: the event's seq and, in a Created event, the uid of its record.
void CompleteEvent(Event& event, std::int64_t uid, std::int64_t seq);

/// Tokens of a project's job list: the page begins below this uid. An empty token means the first page.
[[nodiscard]] std::string SealJobPageToken(const PageTokenKey& key, std::string_view project,
                                           std::int64_t uid);
[[nodiscard]] Result<std::int64_t> OpenJobPageToken(const PageTokenKey& key, std::string_view project,
                                                    std::string_view token);

/// A position in the order of all changes of a store. Every change has a number, greater than those before; a
/// store restored from a backup continues the numbers in a new lineage.
struct ChangePlace {
  std::int64_t number = 0;
  std::int64_t lineage = 0;
};
[[nodiscard]] std::string SealResumeToken(const PageTokenKey& key, std::string_view project,
                                          ChangePlace place);
/// The number after which to continue. `last`: the store's last change. Errors as JobStore::Changed.
[[nodiscard]] Result<std::int64_t> OpenResumeToken(const PageTokenKey& key, std::string_view project,
                                                   std::string_view token, ChangePlace last);

/// The change for a key made by UniqueName.
[[nodiscard]] JobChange ChangeOf(std::string_view unique_name);

// Reads that combine several reads of the store. Blocking; for Journal::Read.

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

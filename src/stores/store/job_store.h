#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::store {

using control::v1::Event;
using control::v1::JobRecord;

inline constexpr int kPageSizeMax = 1000;

/// One page of a project's jobs, newest first.
struct JobPage {
  std::vector<JobRecord> jobs;
  std::string next_page_token;  ///< empty on the last page; a keyset, independent of the page size
  int looked_at = 0;            ///< set by Journal's selecting List: how many jobs it looked at
};

/// That a job of a project changed, or one of its trials. What it is now, Get says; kNotFound: it was
/// deleted.
struct JobChange {
  std::string job_id;
  std::string trial_id;  ///< empty: the job itself
  friend bool operator==(const JobChange&, const JobChange&) = default;
};

/// Changes of a project's jobs, the oldest first. A job that changed again is in it once, at its last change.
struct ChangePage {
  std::vector<JobChange> changes;
  std::string resume_token;  ///< what happened later is after it; as the one asked with if there is nothing
  bool more = false;         ///< there are later changes already
};

/// ErrorInfo::reason of a resume token that this store cannot go on from: list the jobs again.
inline constexpr std::string_view kListAgain = "LIST_AGAIN";

/// A finished job, as whoever removes old ones sees it.
struct FinishedJob {
  std::int64_t uid = 0;
  SysTime end_time;
  friend bool operator==(const FinishedJob&, const FinishedJob&) = default;
};

/// Which finished jobs are wanted: those that ended before `before`, and later than this one in the order of
/// (end time, uid).
struct FinishedQuery {
  SysTime before = SysTime::max();
  FinishedJob after{.uid = 0, .end_time = SysTime(SysTime::duration(0))};
  int count = 0;
};

/// Records and event logs of jobs. Synchronous: runs on the caller's thread (see Journal). Implementations:
/// memory, sqlite; job_store_conformance.h is the contract as a test suite. Returned values are copies.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// A record with `trial` set is a trial: no job of the project, but one of the tuning job's that Trials
  /// lists; its id is unique within that job.
  ///
  /// Adds a job with its first event (revision 1) and returns its uid, which is never reused. The store fills
  /// in uid and revision of the record (also of the one within Created) and seq of the event. kAlreadyExists
  /// with field "job.job_id" when the project has a job of that id, or had one.
  virtual Result<std::int64_t> Create(const JobRecord& record, const Event& created) = 0;

  /// Stores the record after one more event, and the event. kAborted when the stored revision is not
  /// `after.revision() - 1`: the caller's copy is stale, drop it and reload.
  virtual Status Append(const JobRecord& after, const Event& event) = 0;

  /// kNotFound with field "name" if the project has no such job.
  virtual Result<JobRecord> Get(std::string_view project, std::string_view job_id) = 0;

  /// kInvalidArgument with field "page_token" for a token that no List returned. `page_size`
  /// in 1..kPageSizeMax.
  virtual Result<JobPage> List(std::string_view project, int page_size, std::string_view page_token) = 0;

  /// The projects that have jobs (no trials), the one with the newest job first, at most `count`.
  virtual Result<std::vector<std::string>> RecentProjects(int count) = 0;

  /// Trials of a tuning job with uid > after_uid, by uid (the order of their creation), at most `count`.
  virtual Result<std::vector<JobRecord>> Trials(std::int64_t tuning_uid, std::int64_t after_uid,
                                                int count) = 0;

  /// One trial of the job of that name. kNotFound with field "name".
  virtual Result<JobRecord> GetTrial(std::string_view project, std::string_view job_id,
                                     std::string_view trial_id) = 0;

  /// Every job and trial without an end time, by uid: the jobs that a restarted server must take over.
  virtual Result<std::vector<JobRecord>> Unfinished() = 0;

  /// Events of a job with seq > after_seq, in order.
  virtual Result<std::vector<Event>> Events(std::int64_t uid, std::int64_t after_seq) = 0;
  /// The first `count` of them.
  virtual Result<std::vector<Event>> EventPage(std::int64_t uid, std::int64_t after_seq, int count) = 0;

  /// What changed after the token was given, at most `count` changes. A token outlives restarts and copies of
  /// the store. kInvalidArgument with field "resume_token": no store gave it, or for another project.
  /// kFailedPrecondition with reason kListAgain: this store does not have what came before it, because it was
  /// restored from an older backup.
  virtual Result<ChangePage> Changed(std::string_view project, std::string_view resume_token, int count) = 0;

  /// The token of now. A list that is read later has all that happened before it.
  virtual Result<std::string> ResumeToken(std::string_view project) = 0;

  /// Finished jobs, no trials, the one that ended first before the others.
  virtual Result<std::vector<FinishedJob>> Finished(const FinishedQuery& query) = 0;

  /// Removing a job takes two steps, so that what others keep of it can go between them, and a killed server
  /// goes on where it was. The first: no Get and no List finds the job any more; its name stays taken for
  /// ever, as in the original. Jobs that have not ended, trials, and unknown ones are passed over. Returns
  /// how many are being removed now.
  virtual Result<std::int64_t> BeginRemoval(std::span<const std::int64_t> uids) = 0;

  /// Jobs between the two steps, by uid, at most `count`.
  virtual Result<std::vector<std::int64_t>> Removing(int count) = 0;

  /// The second step: deletes records and events of these jobs and of their trials, at most `rows_max` rows
  /// in one call. Returns how many: fewer than rows_max means that nothing is left of them but the names.
  /// Jobs that are not being removed are passed over.
  virtual Result<std::int64_t> EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max) = 0;

  /// Group commit: what is written between Begin and Commit is durable together or not at all. A failing
  /// Create or Append in between leaves no trace and does not harm the others. kResourceExhausted when the
  /// disk is full.
  virtual Status Begin() = 0;
  virtual Status Commit() = 0;
  /// Forgets what was written since Begin.
  virtual void Rollback() = 0;
};

}  // namespace trainyard::store

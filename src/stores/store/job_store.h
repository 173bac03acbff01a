#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "stores/store/page_token.h"
#include "trainyard/control/v1/record.pb.h"

namespace trainyard::store {

using control::v1::Event;
using control::v1::JobRecord;

inline constexpr int kPageSizeMax = 1000;

/// One page of a project's jobs, newest first.
struct JobPage {
  std::vector<JobRecord> jobs;
  std::string next_page_token;  ///< empty on the last page; a keyset, independent of the page size
  int looked_at = 0;            ///< set by SelectJobs: how many jobs it looked at
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

struct ChangePlace;

/// Records and event logs of jobs in one SQLite file: durable when Commit (or a write outside of a group)
/// returned. History costs nothing at start: only the unfinished jobs' index is read. Synchronous: runs on
/// the caller's thread, one at a time (see Journal); a second store opened with OpenReader reads beside a
/// writer. What is virtual fails in tests when they say so. job_store_conformance.h is the contract as a test
/// suite.
class JobStore {
 public:
  /// Opens or creates the file; ":memory:" is one that nobody keeps. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<JobStore>> Open(const std::string& path);
  /// The same file, which a store from Open has made, for reading only. `lineage`: of the store's changes,
  /// another one for each backup that the file was restored from; 0: from none.
  [[nodiscard]] static Result<std::unique_ptr<JobStore>> OpenReader(const std::string& path,
                                                                    std::int64_t lineage = 0);
  virtual ~JobStore();
  JobStore& operator=(JobStore&&) = delete;

  /// A record with `trial` set is a trial: no job of the project, but one of the tuning job's that Trials
  /// lists; its id is unique within that job.
  ///
  /// Adds a job with its first event (revision 1) and returns its uid, which is never reused. The store fills
  /// in uid and revision of the record (also of the one within Created) and seq of the event. kAlreadyExists
  /// with field "job.job_id" when the project has a job of that id, or had one.
  Result<std::int64_t> Create(const JobRecord& record, const Event& created);

  /// Stores the record after one more event, and the event. kAborted when the stored revision is not
  /// `after.revision() - 1`: the caller's copy is stale, drop it and reload.
  virtual Status Append(const JobRecord& after, const Event& event);

  /// kNotFound with field "name" if the project has no such job.
  virtual Result<JobRecord> Get(std::string_view project, std::string_view job_id);

  /// kInvalidArgument with field "page_token" for a token that no List returned. `page_size`
  /// in 1..kPageSizeMax.
  virtual Result<JobPage> List(std::string_view project, int page_size, std::string_view page_token);

  /// The projects that have jobs (no trials), the one with the newest job first, at most `count`.
  Result<std::vector<std::string>> RecentProjects(int count);

  /// Trials of a tuning job with uid > after_uid, by uid (the order of their creation), at most `count`.
  virtual Result<std::vector<JobRecord>> Trials(std::int64_t tuning_uid, std::int64_t after_uid = 0,
                                                int count = std::numeric_limits<int>::max());

  /// One trial of the job of that name. kNotFound with field "name".
  Result<JobRecord> GetTrial(std::string_view project, std::string_view job_id, std::string_view trial_id);

  /// Every job and trial without an end time, by uid: the jobs that a restarted server must take over.
  Result<std::vector<JobRecord>> Unfinished();

  /// Events of a job with seq > after_seq, in order.
  Result<std::vector<Event>> Events(std::int64_t uid, std::int64_t after_seq);
  /// The first `count` of them.
  Result<std::vector<Event>> EventPage(std::int64_t uid, std::int64_t after_seq, int count);

  /// What changed after the token was given, at most `count` changes. A token outlives restarts and copies of
  /// the store. kInvalidArgument with field "resume_token": no store gave it, or for another project.
  /// kFailedPrecondition with reason kListAgain: this store does not have what came before it, because it was
  /// restored from an older backup.
  virtual Result<ChangePage> Changed(std::string_view project, std::string_view resume_token, int count);

  /// The token of now. A list that is read later has all that happened before it.
  Result<std::string> ResumeToken(std::string_view project);

  /// Finished jobs, no trials, the one that ended first before the others.
  Result<std::vector<FinishedJob>> Finished(const FinishedQuery& query);

  /// Removing a job takes two steps, so that what others keep of it can go between them, and a killed server
  /// goes on where it was. The first: no Get and no List finds the job any more; its name stays taken for
  /// ever, as in the original. Jobs that have not ended, trials, and unknown ones are passed over. Returns
  /// how many are being removed now.
  Result<std::int64_t> BeginRemoval(std::span<const std::int64_t> uids);

  /// Jobs between the two steps, by uid, at most `count`.
  Result<std::vector<std::int64_t>> Removing(int count);

  /// The second step: deletes records and events of these jobs and of their trials, at most `rows_max` rows
  /// in one call. Returns how many: fewer than rows_max means that nothing is left of them but the names.
  /// Jobs that are not being removed are passed over.
  Result<std::int64_t> EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max);

  /// Group commit: what is written between Begin and Commit is durable together or not at all. A failing
  /// Create or Append in between leaves no trace and does not harm the others. kResourceExhausted when the
  /// disk is full.
  virtual Status Begin();
  virtual Status Commit();
  /// Forgets what was written since Begin.
  void Rollback();

  /// The newest jobs and trials of all projects, at most `count`.
  [[nodiscard]] Result<std::vector<JobRecord>> Newest(int count);

  /// The largest number that a job was given, also of those that are gone; 0: none was.
  [[nodiscard]] Result<std::int64_t> LastUid();
  /// From now on numbers are larger than this one.
  [[nodiscard]] Status SkipUids(std::int64_t last);

  /// For tests: how SQLite runs the statements that must not scan, one "QUERY PLAN" line each.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 protected:
  /// Outside of a group.
  JobStore(JobStore&& other) noexcept;

 private:
  struct Statements;
  class Write;

  JobStore(sqlite::Database database, PageTokenKey key, std::unique_ptr<Statements> statements);
  static Result<std::unique_ptr<JobStore>> Open(const std::string& path, bool read_only);
  Result<std::int64_t> Insert(const JobRecord& record, const Event& created);
  Result<std::int64_t> EraseOne(std::int64_t uid, std::int64_t rows_max);
  Result<ChangePlace> LastChange();

  sqlite::Database database_;
  PageTokenKey page_token_key_;
  std::int64_t lineage_ = 0;
  std::unique_ptr<Statements> statements_;
  std::optional<sqlite::Transaction> group_;
  /// SQLite rolled the open group back by itself: nothing of it can be committed.
  std::optional<Error> lost_;
};

}  // namespace trainyard::store

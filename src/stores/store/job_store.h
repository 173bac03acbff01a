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

/// A job of a project, or one of its trials, that changed. Get returns its present state; kNotFound: it was
/// deleted.
struct JobChange {
  std::string job_id;
  std::string trial_id;  ///< empty: the job itself
  friend bool operator==(const JobChange&, const JobChange&) = default;
};

/// Changes of a project's jobs, oldest first. A job that changed again is listed once, at its last change.
struct ChangePage {
  std::vector<JobChange> changes;
  std::string resume_token;  ///< the position after these changes
  bool more = false;         ///< there are more changes already
};

/// ErrorInfo::reason of a resume token from which this store cannot continue: list the jobs again.
inline constexpr std::string_view kListAgain = "LIST_AGAIN";

/// What the removal of old jobs needs to know of a finished job.
struct FinishedJob {
  std::int64_t uid = 0;
  SysTime end_time;
  friend bool operator==(const FinishedJob&, const FinishedJob&) = default;
};

/// A job that has ended, with the number of its last change.
struct EndedJob {
  std::int64_t change = 0;
  JobRecord job;
};

/// The wanted finished jobs: those that ended before `before`, and that come after `after` in the order of
/// (end time, uid).
struct FinishedQuery {
  SysTime before = SysTime::max();
  FinishedJob after{.uid = 0, .end_time = SysTime(SysTime::duration(0))};
  int count = 0;
};

struct ChangePlace;

/// Records and event logs of jobs in one SQLite file: durable when Commit (or a write outside of a group)
/// returned. The size of the history does not slow down the start: only the unfinished jobs' index is read.
/// Synchronous: runs on the caller's thread, one at a time (see Journal); a second store opened with
/// OpenReader can read while another writes. Functions are virtual so that tests can make them fail.
/// job_store_conformance.h is the contract as a test suite.
class JobStore {
 public:
  /// Opens or creates the file; ":memory:" is a temporary one. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<JobStore>> Open(const std::string& path);
  /// Opens a file made by Open for reading only. `lineage`: identifies the store's sequence of changes,
  /// different for each restored backup; 0: not restored.
  [[nodiscard]] static Result<std::unique_ptr<JobStore>> OpenReader(const std::string& path,
                                                                    std::int64_t lineage = 0);
  virtual ~JobStore();
  JobStore& operator=(JobStore&&) = delete;

  /// A record with `trial` set is a trial: it is not a job of the project but one of the tuning job's Trials;
  /// its id is unique within that job.
  ///
  /// Adds a job with its first events (the record is the one after them) and returns its uid: the record's,
  /// or if it has none, the next one. A uid is never reused. The store fills in uid and revision of the
  /// record (also of the one within Created) and seq of the events. kAlreadyExists with field "job.job_id" if
  /// the project has, or had, a job of that id.
  Result<std::int64_t> Create(const JobRecord& record, std::span<const Event> events);
  Result<std::int64_t> Create(const JobRecord& record, const Event& created) {
    return Create(record, std::span(&created, 1));
  }

  /// Stores the record after more events, and the events. kAborted when the stored revision is not the one
  /// before them: the caller's copy is stale, drop it and reload.
  virtual Status Append(const JobRecord& after, std::span<const Event> events);
  Status Append(const JobRecord& after, const Event& event) { return Append(after, std::span(&event, 1)); }

  /// kNotFound with field "name" if the project has no such job.
  virtual Result<JobRecord> Get(std::string_view project, std::string_view job_id);

  /// The project's job with this uid; not a trial. kNotFound with field "name".
  Result<JobRecord> GetByUid(std::string_view project, std::int64_t uid);

  /// kInvalidArgument with field "page_token" for a token that no List returned. `page_size`
  /// in 1..kPageSizeMax.
  virtual Result<JobPage> List(std::string_view project, int page_size, std::string_view page_token);

  /// The projects that have jobs (trials do not count), the one with the newest job first, at most `count`.
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
  /// The first `count` of these events.
  Result<std::vector<Event>> EventPage(std::int64_t uid, std::int64_t after_seq, int count);

  /// The changes after the token was issued, at most `count`. A token outlives restarts and copies of the
  /// store. kInvalidArgument with field "resume_token": no store issued it, or for another project.
  /// kFailedPrecondition with reason kListAgain: this store lacks earlier changes, because it was restored
  /// from an older backup.
  virtual Result<ChangePage> Changed(std::string_view project, std::string_view resume_token, int count);

  /// The token of the present state. A list that is read later includes everything that happened before it.
  Result<std::string> ResumeToken(std::string_view project);

  /// Changes are numbered in the order in which they became durable; a store restored from an older backup
  /// has smaller numbers again.
  Result<std::int64_t> LastChangeNumber();
  /// Jobs (no trials) that have ended and whose last change has a greater number, in this order, at most
  /// `count`. A job that is changed after its end is listed again.
  Result<std::vector<EndedJob>> EndedSince(std::int64_t change, int count);

  /// Finished jobs (no trials), the one that ended first at the front.
  Result<std::vector<FinishedJob>> Finished(const FinishedQuery& query);

  /// Removing a job takes two steps, so that its data elsewhere can be removed between them, and a killed
  /// server continues where it was. The first step: Get and List no longer find the job; its name is never
  /// free again, as in Google's service. Jobs that have not ended, trials, and unknown ones are skipped.
  /// Returns how many are being removed now.
  Result<std::int64_t> BeginRemoval(std::span<const std::int64_t> uids);

  /// Jobs between the two steps, by uid, at most `count`.
  Result<std::vector<std::int64_t>> Removing(int count);

  /// The second step: deletes records and events of these jobs and of their trials, at most `rows_max` rows
  /// in one call. Returns how many: fewer than rows_max means that only the names are left. Jobs that are not
  /// being removed are skipped.
  Result<std::int64_t> EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max);

  /// Group commit: what is written between Begin and Commit becomes durable together or not at all. A Create
  /// or Append that fails in between changes nothing and does not affect the others. kResourceExhausted if
  /// the disk is full.
  virtual Status Begin();
  virtual Status Commit();
  /// Discards what was written since Begin.
  void Rollback();

  /// The newest jobs and trials of all projects, at most `count`.
  [[nodiscard]] Result<std::vector<JobRecord>> Newest(int count);

  /// The largest number that a job was given, including removed jobs; 0: there was none.
  [[nodiscard]] Result<std::int64_t> LastUid();
  /// Makes all later numbers larger than this one.
  [[nodiscard]] Status SkipUids(std::int64_t last);

  /// For tests: how SQLite runs the statements that must not scan, one "QUERY PLAN" line each.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 protected:
  /// Not while a group is open.
  JobStore(JobStore&& other) noexcept;

 private:
  struct Statements;
  class Write;

  JobStore(sqlite::Database database, PageTokenKey key, std::unique_ptr<Statements> statements);
  static Result<std::unique_ptr<JobStore>> Open(const std::string& path, bool read_only);
  Result<std::int64_t> Insert(const JobRecord& record, std::span<const Event> events);
  Status InsertEvents(std::int64_t uid, std::int64_t first_seq, std::span<const Event> events);
  Result<std::int64_t> EraseOne(std::int64_t uid, std::int64_t rows_max);
  Result<ChangePlace> LastChange();

  sqlite::Database database_;
  PageTokenKey page_token_key_;
  std::int64_t lineage_ = 0;
  std::unique_ptr<Statements> statements_;
  std::optional<sqlite::Transaction> group_;
  /// SQLite rolled the open group back by itself: nothing in it can be committed.
  std::optional<Error> lost_;
};

}  // namespace trainyard::store

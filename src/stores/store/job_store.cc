#include "stores/store/job_store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/sqlite/rows.h"
#include "stores/store/job_rules.h"
#include "stores/store/job_schema.h"

namespace trainyard::store {

namespace {

using sqlite::Blob;
using sqlite::Cursor;
using sqlite::Database;
using sqlite::Statement;

constexpr std::int32_t kApplicationId = 0x54596a62;  // "TYjb"
constexpr std::int64_t kCacheBytes = 64 << 20;

constexpr std::string_view kInsertJob =
    "INSERT INTO jobs(project, job_id, create_time, end_time, state, revision, record, tuning_uid, uid, "
    "change) "
    "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, number FROM last_change "
    "WHERE NOT EXISTS (SELECT 1 FROM removed_jobs WHERE project = ?1 AND job_id = ?2)";
constexpr std::string_view kUpdateJob =
    "UPDATE jobs SET end_time = ?2, state = ?3, revision = ?4, record = ?5, "
    "change = (SELECT number FROM last_change) WHERE uid = ?1 AND revision = ?4 - ?6";
constexpr std::string_view kCountChange = "UPDATE last_change SET number = number + 1";
/// For a file whose one row of last_change `trainyard admin recover` could not take over.
constexpr std::string_view kReplaceLostChange =
    "INSERT INTO last_change SELECT max(coalesce((SELECT max(change) FROM jobs), 0), coalesce((SELECT "
    "max(change) "
    "FROM removed_jobs), 0)) WHERE NOT EXISTS (SELECT 1 FROM last_change)";
constexpr std::string_view kLastChange = "SELECT number FROM last_change";
// The number is read from the index: in the row it comes after the record.
constexpr std::string_view kChanged =
    "SELECT change, job_id FROM jobs INDEXED BY jobs_changed WHERE project = ?1 AND change > ?2 AND change > "
    "0 "
    "UNION ALL SELECT change, job_id FROM removed_jobs INDEXED BY removed_changed WHERE project = ?1 AND "
    "change > ?2 AND change > 0 ORDER BY change LIMIT ?3";
constexpr std::string_view kEndedSince =
    "SELECT uid, revision, record, change FROM jobs INDEXED BY jobs_ended WHERE end_time IS NOT NULL AND "
    "tuning_uid IS NULL AND change > ?1 ORDER BY change LIMIT ?2";
constexpr std::string_view kInsertEvent = "INSERT INTO events(uid, seq, event) VALUES(?1, ?2, ?3)";
constexpr std::string_view kGet =
    "SELECT uid, revision, record FROM jobs WHERE project = ?1 AND job_id = ?2 AND tuning_uid IS NULL";
constexpr std::string_view kGetByUid =
    "SELECT uid, revision, record FROM jobs WHERE uid = ?2 AND project = ?1 AND tuning_uid IS NULL";
constexpr std::string_view kGetTrial =
    "SELECT uid, revision, record FROM jobs WHERE project = ?1 AND job_id = ?2 AND tuning_uid IS NOT NULL";
constexpr std::string_view kList =
    "SELECT uid, revision, record FROM jobs INDEXED BY jobs_newest WHERE project = ?1 AND uid < ?2 AND "
    "tuning_uid IS NULL ORDER BY uid DESC LIMIT ?3";
// Goes from project to project by the index, however many jobs there are.
constexpr std::string_view kRecentProjects =
    "WITH RECURSIVE known(project) AS ("
    "SELECT min(project) FROM jobs INDEXED BY jobs_newest WHERE tuning_uid IS NULL UNION ALL "
    "SELECT (SELECT min(project) FROM jobs INDEXED BY jobs_newest WHERE tuning_uid IS NULL AND project > "
    "known.project) FROM known WHERE known.project IS NOT NULL) "
    "SELECT project, (SELECT max(uid) FROM jobs INDEXED BY jobs_newest WHERE tuning_uid IS NULL AND project "
    "= "
    "known.project) AS newest FROM known WHERE project IS NOT NULL ORDER BY newest DESC LIMIT ?1";
constexpr std::string_view kTrials =
    "SELECT uid, revision, record FROM jobs INDEXED BY jobs_trials WHERE tuning_uid = ?1 AND uid > ?2 ORDER "
    "BY "
    "uid LIMIT ?3";
constexpr std::string_view kUnfinished =
    "SELECT uid, revision, record FROM jobs INDEXED BY jobs_unfinished WHERE end_time IS NULL ORDER BY uid";
constexpr std::string_view kNewest = "SELECT uid, revision, record FROM jobs ORDER BY uid DESC LIMIT ?1";
constexpr std::string_view kEvents =
    "SELECT seq, event FROM events WHERE uid = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
constexpr std::string_view kFinished =
    "SELECT uid, end_time FROM jobs INDEXED BY jobs_finished WHERE end_time IS NOT NULL AND tuning_uid IS "
    "NULL "
    "AND (end_time, uid) > (?1, ?2) AND end_time < ?3 ORDER BY end_time, uid LIMIT ?4";
// A job that is being removed is stored as its own trial: so no get and no list finds it, and everything that
// is to be deleted has its uid as tuning_uid.
constexpr std::string_view kNoteRemoval =
    "INSERT INTO removed_jobs(uid, project, job_id, pending, change) SELECT uid, project, job_id, 1, number "
    "FROM jobs, last_change WHERE uid = ?1 AND end_time IS NOT NULL AND tuning_uid IS NULL";
constexpr std::string_view kHideJob = "UPDATE jobs SET tuning_uid = uid WHERE uid = ?1";
constexpr std::string_view kRemoving =
    "SELECT uid FROM removed_jobs INDEXED BY removed_pending WHERE pending = 1 ORDER BY uid LIMIT ?1";
constexpr std::string_view kIsRemoving = "SELECT 1 FROM removed_jobs WHERE uid = ?1 AND pending = 1";
constexpr std::string_view kLastBelow =  // trials have larger uids: the job is last
    "SELECT uid FROM jobs INDEXED BY jobs_trials WHERE tuning_uid = ?1 ORDER BY uid DESC LIMIT 1";
constexpr std::string_view kEraseEvents =
    "DELETE FROM events WHERE uid = ?1 AND seq IN (SELECT seq FROM events WHERE uid = ?1 LIMIT ?2)";
constexpr std::string_view kEraseJob = "DELETE FROM jobs WHERE uid = ?1";
constexpr std::string_view kEndRemoval = "UPDATE removed_jobs SET pending = 0 WHERE uid = ?1";

std::int64_t Nanoseconds(const google::protobuf::Timestamp& time) {
  return time.seconds() * std::nano::den + time.nanos();
}

std::optional<std::int64_t> EndTime(const JobRecord& record) {
  if (!record.job().has_end_time()) return std::nullopt;
  return Nanoseconds(record.job().end_time());
}

template <class Message>
Status Parse(std::string_view bytes, Message& message) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return std::unexpected(DataLoss("the store holds a damaged " + message.GetTypeName()));
}

/// A row of uid, revision, record. The columns are authoritative, not the record's bytes: Create stored those
/// before the uid was known.
Result<JobRecord> RecordOf(const Cursor& row) {
  JobRecord record;
  TY_RETURN_IF_ERROR(Parse(row.Bytes(2), record));
  record.set_uid(row.Int(0));
  record.set_revision(row.Int(1));
  return record;
}

Result<std::vector<JobRecord>> RecordsOf(Cursor cursor) { return AllRows(std::move(cursor), RecordOf); }

/// kNotFound: there is no row.
Result<JobRecord> OneRecord(Cursor cursor) {
  TY_TRY(std::optional<JobRecord> record, FirstRow(std::move(cursor), RecordOf));
  if (!record) return std::unexpected(NoSuchJob());
  return *std::move(record);
}

}  // namespace

struct JobStore::Statements {
  Statement save, release, restore;
  Statement insert_job, update_job, insert_event, get, list, trials, unfinished, newest, events;
  Statement recent_projects, finished, note_removal, hide_job, removing, is_removing, last_below,
      erase_events, erase_job, end_removal;
  Statement count_change, last_change, changed, ended_since, get_by_uid, get_trial;

  static Result<std::unique_ptr<Statements>> Prepare(Database& database) {
    auto statements = std::make_unique<Statements>();
    TY_RETURN_IF_ERROR(database.PrepareAll({
        {&statements->save, "SAVEPOINT one_write"},
        {&statements->release, "RELEASE one_write"},
        {&statements->restore, "ROLLBACK TO one_write"},
        {&statements->insert_job, kInsertJob},
        {&statements->update_job, kUpdateJob},
        {&statements->insert_event, kInsertEvent},
        {&statements->recent_projects, kRecentProjects},
        {&statements->finished, kFinished},
        {&statements->note_removal, kNoteRemoval},
        {&statements->hide_job, kHideJob},
        {&statements->removing, kRemoving},
        {&statements->is_removing, kIsRemoving},
        {&statements->last_below, kLastBelow},
        {&statements->erase_events, kEraseEvents},
        {&statements->erase_job, kEraseJob},
        {&statements->end_removal, kEndRemoval},
        {&statements->get, kGet},
        {&statements->get_by_uid, kGetByUid},
        {&statements->get_trial, kGetTrial},
        {&statements->list, kList},
        {&statements->trials, kTrials},
        {&statements->unfinished, kUnfinished},
        {&statements->newest, kNewest},
        {&statements->events, kEvents},
        {&statements->count_change, kCountChange},
        {&statements->last_change, kLastChange},
        {&statements->changed, kChanged},
        {&statements->ended_since, kEndedSince},
    }));
    return statements;
  }
};

/// One Create or Append: a savepoint within the group (or a transaction of its own), undone unless Keep()
/// succeeds.
class JobStore::Write {
 public:
  explicit Write(JobStore& store) : store_(store) {}
  ~Write() {
    if (!open_ || !store_.database_.InTransaction()) return;
    if (store_.group_) {
      static_cast<void>(store_.statements_->restore.Run());
      static_cast<void>(store_.statements_->release.Run());
    } else {
      static_cast<void>(store_.database_.Execute("ROLLBACK"));
    }
  }

  Status Begin() {
    if (store_.lost_) return std::unexpected(*store_.lost_);
    TY_RETURN_IF_ERROR(store_.statements_->save.Run());
    open_ = true;
    return {};
  }
  Status Keep() {
    TY_RETURN_IF_ERROR(store_.statements_->release.Run());
    open_ = false;
    return {};
  }
  /// The error to return. If SQLite rolled the whole group back (full disk), Commit must fail too.
  std::unexpected<Error> Fail(Error error) {
    if (store_.group_ && !store_.database_.InTransaction()) store_.lost_ = error;
    return std::unexpected(std::move(error));
  }

 private:
  JobStore& store_;
  bool open_ = false;
};

JobStore::JobStore(Database database, PageTokenKey key, std::unique_ptr<Statements> statements)
    : database_(std::move(database)), page_token_key_(key), statements_(std::move(statements)) {}

JobStore::JobStore(JobStore&& other) noexcept = default;
JobStore::~JobStore() = default;

Result<std::unique_ptr<JobStore>> JobStore::Open(const std::string& path) { return Open(path, false); }

Result<std::unique_ptr<JobStore>> JobStore::OpenReader(const std::string& path, std::int64_t lineage) {
  TY_TRY(std::unique_ptr<JobStore> reader, Open(path, true));
  reader->lineage_ = lineage;
  return reader;
}

Result<std::unique_ptr<JobStore>> JobStore::Open(const std::string& path, bool read_only) {
  TY_TRY(Database database, Database::Open({.path = path,
                                            .application_id = kApplicationId,
                                            .migrations = kJobMigrations,
                                            .read_only = read_only,
                                            .cache_bytes = kCacheBytes}));
  if (!read_only) {
    TY_RETURN_IF_ERROR(ReplaceLostPageTokenKey(database));
    TY_RETURN_IF_ERROR(database.Execute(std::string(kReplaceLostChange)));
  }
  TY_TRY(const PageTokenKey key, ReadPageTokenKey(database));
  TY_TRY(std::unique_ptr<Statements> statements, Statements::Prepare(database));
  return std::unique_ptr<JobStore>(new JobStore(std::move(database), key, std::move(statements)));
}

Result<std::int64_t> JobStore::LastUid() {
  TY_TRY(Statement read, database_.Prepare("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'"));
  return FirstInt(read.Query());
}

Status JobStore::SkipUids(std::int64_t last) {
  TY_TRY(const std::int64_t known, LastUid());
  if (last <= known) return {};
  TY_TRY(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  TY_RETURN_IF_ERROR(database_.Execute("DELETE FROM sqlite_sequence WHERE name = 'jobs'"));
  TY_TRY(Statement skip, database_.Prepare("INSERT INTO sqlite_sequence(name, seq) VALUES('jobs', ?1)"));
  TY_RETURN_IF_ERROR(skip.Run(last));
  return transaction.Commit();
}

Result<std::int64_t> JobStore::Create(const JobRecord& record, std::span<const Event> events) {
  Write write(*this);
  TY_RETURN_IF_ERROR(write.Begin());
  Result<std::int64_t> uid = Insert(record, events);
  if (!uid) {
    const bool exists = uid.error().code == Code::kAlreadyExists;
    return write.Fail(exists ? JobExists(Get(record.project(), UniqueName(record))) : std::move(uid).error());
  }
  if (Status kept = write.Keep(); !kept) return write.Fail(std::move(kept).error());
  return uid;
}

Status JobStore::Append(const JobRecord& after, std::span<const Event> events) {
  CheckEventsMatch(after, events);
  Write write(*this);
  TY_RETURN_IF_ERROR(write.Begin());
  const std::string record = after.SerializeAsString();
  Status stored = statements_->count_change.Run();
  if (stored)
    stored = statements_->update_job.Run(after.uid(), EndTime(after), static_cast<int>(after.job().state()),
                                         after.revision(), Blob{record}, std::ssize(events));
  if (!stored) return write.Fail(std::move(stored).error());
  if (database_.Changes() == 0) return write.Fail(StaleRevision(after, std::ssize(events)));
  stored = InsertEvents(after.uid(), events.front().seq(), events);
  if (stored) stored = write.Keep();
  if (!stored) return write.Fail(std::move(stored).error());
  return {};
}

Result<std::int64_t> JobStore::Insert(const JobRecord& record, std::span<const Event> events) {
  std::optional<std::int64_t> tuning_uid;
  if (record.has_trial()) tuning_uid = record.trial().tuning_uid();
  std::optional<std::int64_t> chosen_uid;
  if (record.uid() != 0) chosen_uid = record.uid();
  TY_RETURN_IF_ERROR(statements_->count_change.Run());
  TY_RETURN_IF_ERROR(statements_->insert_job.Run(record.project(), UniqueName(record),
                                                 Nanoseconds(record.job().create_time()), EndTime(record),
                                                 static_cast<int>(record.job().state()), std::ssize(events),
                                                 Blob{record.SerializeAsString()}, tuning_uid, chosen_uid));
  if (database_.Changes() == 0)  // the id is unique
    return std::unexpected(JobExists(Get(record.project(), UniqueName(record))));
  const std::int64_t uid = database_.LastInsertRowId();
  TY_RETURN_IF_ERROR(InsertEvents(uid, 1, events));
  return uid;
}

Status JobStore::InsertEvents(std::int64_t uid, std::int64_t first_seq, std::span<const Event> events) {
  for (const Event& event : events)
    TY_RETURN_IF_ERROR(statements_->insert_event.Run(uid, first_seq++, Blob{event.SerializeAsString()}));
  return {};
}

Result<JobRecord> JobStore::Get(std::string_view project, std::string_view job_id) {
  return OneRecord(statements_->get.Query(project, job_id));
}

Result<JobRecord> JobStore::GetByUid(std::string_view project, std::int64_t uid) {
  return OneRecord(statements_->get_by_uid.Query(project, uid));
}

Result<JobPage> JobStore::List(std::string_view project, int page_size, std::string_view page_token) {
  TY_CHECK(page_size >= 1 && page_size <= kPageSizeMax);
  TY_TRY(const std::int64_t before, OpenJobPageToken(page_token_key_, project, page_token));
  JobPage page;
  TY_TRY(page.jobs, RecordsOf(statements_->list.Query(project, before, page_size + 1)));
  if (page.jobs.size() > static_cast<std::size_t>(page_size)) {
    page.jobs.pop_back();
    page.next_page_token = SealJobPageToken(page_token_key_, project, page.jobs.back().uid());
  }
  return page;
}

Result<std::vector<JobRecord>> JobStore::Trials(std::int64_t tuning_uid, std::int64_t after_uid, int count) {
  // A job that is being removed is stored below itself.
  return RecordsOf(statements_->trials.Query(tuning_uid, std::max(after_uid, tuning_uid), count));
}

Result<JobRecord> JobStore::GetTrial(std::string_view project, std::string_view job_id,
                                     std::string_view trial_id) {
  return OneRecord(statements_->get_trial.Query(project, UniqueName(job_id, trial_id)));
}

Result<std::vector<JobRecord>> JobStore::Unfinished() { return RecordsOf(statements_->unfinished.Query()); }

Result<std::vector<std::string>> JobStore::RecentProjects(int count) {
  return AllRows(statements_->recent_projects.Query(count),
                 [](const Cursor& row) { return std::string(row.Text(0)); });
}

Result<std::int64_t> JobStore::LastChangeNumber() { return FirstInt(statements_->last_change.Query()); }

Result<std::vector<EndedJob>> JobStore::EndedSince(std::int64_t change, int count) {
  return AllRows(statements_->ended_since.Query(change, count), [](const Cursor& row) -> Result<EndedJob> {
    TY_TRY(JobRecord job, RecordOf(row));
    return EndedJob{.change = row.Int(3), .job = std::move(job)};
  });
}

Result<std::vector<FinishedJob>> JobStore::Finished(const FinishedQuery& query) {
  Cursor rows = statements_->finished.Query(query.after.end_time.time_since_epoch().count(), query.after.uid,
                                            query.before.time_since_epoch().count(), query.count);
  return AllRows(std::move(rows), [](const Cursor& row) {
    return FinishedJob{.uid = row.Int(0), .end_time = SysTime(SysTime::duration(row.Int(1)))};
  });
}

Result<std::int64_t> JobStore::BeginRemoval(std::span<const std::int64_t> uids) {
  Write write(*this);
  TY_RETURN_IF_ERROR(write.Begin());
  std::int64_t begun = 0;
  for (const std::int64_t uid : uids) {
    Status noted = statements_->count_change.Run();
    if (noted) noted = statements_->note_removal.Run(uid);
    if (noted && database_.Changes() == 0) continue;
    if (noted) noted = statements_->hide_job.Run(uid);
    if (!noted) return write.Fail(std::move(noted).error());
    ++begun;
  }
  if (Status kept = write.Keep(); !kept) return write.Fail(std::move(kept).error());
  return begun;
}

Result<std::vector<std::int64_t>> JobStore::Removing(int count) {
  return AllRows(statements_->removing.Query(count), [](const Cursor& row) { return row.Int(0); });
}

Result<std::int64_t> JobStore::EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max) {
  Write write(*this);
  TY_RETURN_IF_ERROR(write.Begin());
  std::int64_t erased = 0;
  for (const std::int64_t uid : uids) {
    Result<std::int64_t> rows = EraseOne(uid, rows_max - erased);
    if (!rows) return write.Fail(std::move(rows).error());
    erased += *rows;
    if (erased == rows_max) break;
  }
  if (Status kept = write.Keep(); !kept) return write.Fail(std::move(kept).error());
  return erased;
}

/// The row of the job itself is deleted together with marking the removal as finished.
Result<std::int64_t> JobStore::EraseOne(std::int64_t uid, std::int64_t rows_max) {
  TY_TRY(const bool removing, statements_->is_removing.Query(uid).Next());
  if (!removing) return 0;
  for (std::int64_t erased = 0; erased < rows_max;) {
    TY_TRY(const std::int64_t last, FirstInt(statements_->last_below.Query(uid)));
    if (last == 0) {  // the row was deleted by someone else, for example by an operator with sqlite3
      TY_RETURN_IF_ERROR(statements_->end_removal.Run(uid));
      return erased;
    }
    TY_RETURN_IF_ERROR(statements_->erase_events.Run(last, rows_max - erased));
    erased += database_.Changes();
    if (erased == rows_max) return erased;
    TY_RETURN_IF_ERROR(statements_->erase_job.Run(last));
    ++erased;
    if (last != uid) continue;
    TY_RETURN_IF_ERROR(statements_->end_removal.Run(uid));
    return erased;
  }
  return rows_max;
}

Result<ChangePlace> JobStore::LastChange() {
  TY_TRY(const std::int64_t number, LastChangeNumber());
  return ChangePlace{.number = number, .lineage = lineage_};
}

Result<std::string> JobStore::ResumeToken(std::string_view project) {
  TY_TRY(const ChangePlace last, LastChange());
  return SealResumeToken(page_token_key_, project, last);
}

Result<ChangePage> JobStore::Changed(std::string_view project, std::string_view resume_token, int count) {
  TY_TRY(ChangePlace place, LastChange());
  TY_TRY(place.number, OpenResumeToken(page_token_key_, project, resume_token, place));
  ChangePage page;
  Cursor cursor = statements_->changed.Query(project, place.number, count + 1);
  for (;;) {
    TY_TRY(const bool row, cursor.Next());
    page.more = row && std::ssize(page.changes) == count;
    if (!row || page.more) break;
    place.number = cursor.Int(0);
    page.changes.push_back(ChangeOf(cursor.Text(1)));
  }
  page.resume_token = SealResumeToken(page_token_key_, project, place);
  return page;
}

Result<std::vector<JobRecord>> JobStore::Newest(int count) {
  return RecordsOf(statements_->newest.Query(count));
}

Result<std::vector<Event>> JobStore::Events(std::int64_t uid, std::int64_t after_seq) {
  return EventPage(uid, after_seq, std::numeric_limits<int>::max());
}

Result<std::vector<Event>> JobStore::EventPage(std::int64_t uid, std::int64_t after_seq, int count) {
  return AllRows(statements_->events.Query(uid, after_seq, count), [uid](const Cursor& row) -> Result<Event> {
    Event event;
    TY_RETURN_IF_ERROR(Parse(row.Bytes(1), event));
    CompleteEvent(event, uid, row.Int(0));
    return event;
  });
}

Status JobStore::Begin() {
  TY_CHECK(!group_);
  lost_.reset();
  TY_TRY(sqlite::Transaction group, sqlite::Transaction::Begin(database_));
  group_.emplace(std::move(group));
  return {};
}

Status JobStore::Commit() {
  TY_CHECK(group_.has_value());
  Status committed = lost_ ? Status(std::unexpected(*lost_)) : group_->Commit();
  Rollback();
  return committed;
}

void JobStore::Rollback() {
  group_.reset();
  lost_.reset();
}

Result<std::vector<std::string>> JobStore::QueryPlans() {
  return database_.QueryPlans(std::array<std::string_view, 14>{
      kGet, kGetByUid, kList, kTrials, kUnfinished, kEvents, kUpdateJob, kFinished, kRemoving, kLastBelow,
      kEraseEvents, kEraseJob, kChanged, kEndedSince});
}

}  // namespace trainyard::store

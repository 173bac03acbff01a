#include "stores/studies/study_store.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/sqlite/rows.h"

namespace trainyard::studies {
namespace {

constexpr std::int32_t kApplicationId = 0x54595354;  // "TYST"

constexpr std::array<std::string_view, 2> kMigrations{R"sql(
CREATE TABLE studies (
  uid INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL,
  location TEXT NOT NULL,
  study_id TEXT NOT NULL,
  seed INTEGER NOT NULL,
  deletions INTEGER NOT NULL,
  next_trial INTEGER NOT NULL,
  resource BLOB NOT NULL,
  UNIQUE (project, location, study_id)
) STRICT;
CREATE TABLE trials (
  study INTEGER NOT NULL REFERENCES studies (uid) ON DELETE CASCADE,
  id INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  state INTEGER NOT NULL,
  stopped INTEGER NOT NULL,
  resource BLOB NOT NULL,
  PRIMARY KEY (study, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX trials_by_revision ON trials (study, revision);
CREATE INDEX trials_by_state ON trials (study, state);
CREATE TABLE operations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  study INTEGER NOT NULL,
  project TEXT NOT NULL,
  location TEXT NOT NULL,
  client_id TEXT NOT NULL,
  count INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  created_ns INTEGER NOT NULL,
  done INTEGER NOT NULL,
  resource BLOB NOT NULL
) STRICT;
CREATE INDEX operations_by_age ON operations (done, created_ns);
)sql",
                                                      R"sql(
ALTER TABLE studies ADD COLUMN asked BLOB NOT NULL DEFAULT x'';
)sql"};

enum Query : std::size_t {
  kAddStudy,
  kPutStudy,
  kFindStudyByName,
  kFindStudyByUid,
  kListStudies,
  kDropStudy,
  kPutTrial,
  kFindTrial,
  kListTrials,
  kListTrialsInState,
  kDropTrial,
  kTrialsChanged,
  kTrialsRevision,
  kAddOperation,
  kPutOperation,
  kFindOperation,
  kPendingOperations,
  kDropOperations,
  kQueries,
};

constexpr std::array<std::string_view, kQueries> kSql{
    "INSERT INTO studies (project, location, study_id, seed, deletions, next_trial, resource, asked) "
    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    "UPDATE studies SET deletions = ?2, next_trial = ?3, resource = ?4 WHERE uid = ?1",
    "SELECT uid, seed, deletions, next_trial, resource, asked FROM studies WHERE project = ?1 AND location = "
    "?2 AND "
    "study_id = ?3",
    "SELECT uid, seed, deletions, next_trial, resource, asked FROM studies WHERE uid = ?1",
    "SELECT uid, seed, deletions, next_trial, resource, asked FROM studies WHERE project = ?1 AND location = "
    "?2 "
    "ORDER BY uid",
    "DELETE FROM studies WHERE uid = ?1",
    "INSERT INTO trials (study, id, revision, state, stopped, resource) VALUES (?1, ?2, "
    "(SELECT COALESCE(MAX(revision), 0) + 1 FROM trials WHERE study = ?1), ?3, ?4, ?5) ON CONFLICT (study, "
    "id) "
    "DO UPDATE SET revision = excluded.revision, state = excluded.state, stopped = excluded.stopped, "
    "resource = excluded.resource",
    "SELECT id, stopped, resource FROM trials WHERE study = ?1 AND id = ?2",
    "SELECT id, stopped, resource FROM trials WHERE study = ?1 ORDER BY id",
    "SELECT id, stopped, resource FROM trials WHERE study = ?1 AND state = ?2 ORDER BY id",
    "DELETE FROM trials WHERE study = ?1 AND id = ?2",
    "SELECT id, stopped, resource, revision FROM trials WHERE study = ?1 AND revision > ?2 ORDER BY revision",
    "SELECT COALESCE(MAX(revision), 0) FROM trials WHERE study = ?1",
    "INSERT INTO operations (kind, study, project, location, client_id, count, trial, created_ns, done, "
    "resource) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    "UPDATE operations SET done = ?2, resource = ?3 WHERE id = ?1",
    "SELECT id, kind, study, project, location, client_id, count, trial, created_ns, resource FROM "
    "operations WHERE id = ?1",
    "SELECT id, kind, study, project, location, client_id, count, trial, created_ns, resource FROM "
    "operations WHERE done = 0 ORDER BY id",
    "DELETE FROM operations WHERE done = 1 AND created_ns < ?1",
};

Status ReadResource(std::string_view bytes, google::protobuf::MessageLite& message) {
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return std::unexpected(DataLoss("studies.db: a record cannot be read"));
}

std::int64_t Nanoseconds(SysTime time) { return time.time_since_epoch().count(); }

Result<StoredStudy> ReadStudy(const sqlite::Cursor& row) {
  StoredStudy study;
  study.uid = row.Int(0);
  study.seed = static_cast<std::uint64_t>(row.Int(1));
  study.deletions = row.Int(2);
  study.next_trial = static_cast<int>(row.Int(3));
  TY_RETURN_IF_ERROR(ReadResource(row.Bytes(4), study.study));
  study.asked = row.Bytes(5);
  return study;
}

Result<StoredTrial> ReadTrial(const sqlite::Cursor& row) {
  StoredTrial trial;
  trial.id = static_cast<int>(row.Int(0));
  trial.stopped = row.Int(1) != 0;
  TY_RETURN_IF_ERROR(ReadResource(row.Bytes(2), trial.trial));
  return trial;
}

Result<StoredOperation> ReadOperation(const sqlite::Cursor& row) {
  StoredOperation operation;
  operation.id = row.Int(0);
  operation.kind = static_cast<StoredOperation::Kind>(row.Int(1));
  operation.study_uid = row.Int(2);
  operation.project = row.Text(3);
  operation.location = row.Text(4);
  operation.client_id = row.Text(5);
  operation.count = static_cast<int>(row.Int(6));
  operation.trial = static_cast<int>(row.Int(7));
  operation.created = SysTime(std::chrono::nanoseconds(row.Int(8)));
  TY_RETURN_IF_ERROR(ReadResource(row.Bytes(9), operation.operation));
  return operation;
}

/// The only row, if there is one.
}  // namespace

Result<StudyStore> StudyStore::Open(const sqlite::DatabaseOptions& options) {
  TY_TRY(sqlite::Database database, sqlite::Database::Open(options));
  TY_TRY(std::vector<sqlite::Statement> statements, database.PrepareAll(kSql));
  return StudyStore(std::move(database), std::move(statements));
}

Result<StudyStore> StudyStore::Open(const std::string& path) {
  return Open({.path = path, .application_id = kApplicationId, .migrations = kMigrations});
}

Result<StudyStore> StudyStore::OpenReader(const std::string& path) {
  return Open({.path = path, .application_id = kApplicationId, .migrations = kMigrations, .read_only = true});
}

Status StudyStore::AddStudy(const StudyName& name, StoredStudy& study) {
  TY_RETURN_IF_ERROR(statements_[kAddStudy].Run(
      name.project, name.location, name.study_id, static_cast<std::int64_t>(study.seed), study.deletions,
      study.next_trial, sqlite::Blob{study.study.SerializeAsString()}, sqlite::Blob{study.asked}));
  study.uid = database_.LastInsertRowId();
  return {};
}

Status StudyStore::PutStudy(const StoredStudy& study) {
  return statements_[kPutStudy].Run(study.uid, study.deletions, study.next_trial,
                                    sqlite::Blob{study.study.SerializeAsString()});
}

Result<std::optional<StoredStudy>> StudyStore::FindStudy(const StudyName& name) {
  return FirstRow(statements_[kFindStudyByName].Query(name.project, name.location, name.study_id), ReadStudy);
}

Result<std::optional<StoredStudy>> StudyStore::FindStudy(std::int64_t uid) {
  return FirstRow(statements_[kFindStudyByUid].Query(uid), ReadStudy);
}

Result<std::vector<StoredStudy>> StudyStore::ListStudies(const std::string& project,
                                                         const std::string& location) {
  return AllRows(statements_[kListStudies].Query(project, location), ReadStudy);
}

Status StudyStore::DropStudy(std::int64_t uid) { return statements_[kDropStudy].Run(uid); }

Status StudyStore::PutTrial(std::int64_t study_uid, const StoredTrial& trial) {
  return statements_[kPutTrial].Run(study_uid, trial.id, static_cast<int>(trial.trial.state()),
                                    trial.stopped ? 1 : 0, sqlite::Blob{trial.trial.SerializeAsString()});
}

Result<std::optional<StoredTrial>> StudyStore::FindTrial(std::int64_t study_uid, std::int64_t id) {
  return FirstRow(statements_[kFindTrial].Query(study_uid, id), ReadTrial);
}

Result<std::vector<StoredTrial>> StudyStore::ListTrials(std::int64_t study_uid) {
  return AllRows(statements_[kListTrials].Query(study_uid), ReadTrial);
}

Result<std::vector<StoredTrial>> StudyStore::ListTrials(std::int64_t study_uid, ml::v1::Trial::State state) {
  return AllRows(statements_[kListTrialsInState].Query(study_uid, static_cast<int>(state)), ReadTrial);
}

Status StudyStore::DropTrial(std::int64_t study_uid, int id) {
  return statements_[kDropTrial].Run(study_uid, id);
}

Result<std::int64_t> StudyStore::TrialsRevision(std::int64_t study_uid) {
  return FirstInt(statements_[kTrialsRevision].Query(study_uid));
}

Result<StudyStore::Changes> StudyStore::TrialsChanged(std::int64_t study_uid, std::int64_t after) {
  Changes changes{.revision = after, .trials = {}};
  TY_TRY(changes.trials, AllRows(statements_[kTrialsChanged].Query(study_uid, after),
                                 [&](const sqlite::Cursor& row) -> Result<StoredTrial> {
                                   changes.revision = row.Int(3);
                                   return ReadTrial(row);
                                 }));
  return changes;
}

Status StudyStore::AddOperation(StoredOperation& operation) {
  TY_RETURN_IF_ERROR(statements_[kAddOperation].Run(static_cast<int>(operation.kind), operation.study_uid,
                                                    operation.project, operation.location,
                                                    operation.client_id, operation.count, operation.trial,
                                                    Nanoseconds(operation.created), 0, sqlite::Blob{{}}));
  operation.id = database_.LastInsertRowId();
  operation.operation.set_name(operation.Name().ToString());
  return PutOperation(operation);
}

Status StudyStore::PutOperation(const StoredOperation& operation) {
  return statements_[kPutOperation].Run(operation.id, operation.operation.done() ? 1 : 0,
                                        sqlite::Blob{operation.operation.SerializeAsString()});
}

Result<std::optional<StoredOperation>> StudyStore::FindOperation(std::int64_t id) {
  return FirstRow(statements_[kFindOperation].Query(id), ReadOperation);
}

Result<std::vector<StoredOperation>> StudyStore::PendingOperations() {
  return AllRows(statements_[kPendingOperations].Query(), ReadOperation);
}

Status StudyStore::DropOperations(SysTime created_before) {
  return statements_[kDropOperations].Run(Nanoseconds(created_before));
}

Result<StoredStudy> RequireStudy(StudyStore& store, const StudyName& name, std::string_view field) {
  TY_TRY(std::optional<StoredStudy> study, store.FindStudy(name));
  if (!study)
    return std::unexpected(Error{Code::kNotFound, "The study cannot be found.", std::string(field)});
  return *std::move(study);
}

Result<TrialOfStudy> RequireTrial(StudyStore& store, const TrialName& name) {
  TY_TRY(StoredStudy study, RequireStudy(store, name.study, "name"));
  TY_TRY(std::optional<StoredTrial> trial, store.FindTrial(study.uid, name.id));
  if (!trial) return std::unexpected(Error{Code::kNotFound, "The trial cannot be found.", "name"});
  return TrialOfStudy{.study = std::move(study), .trial = *std::move(trial)};
}

}  // namespace trainyard::studies

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/number.h"
#include "base/result.h"
#include "base/sqlite/database.h"
#include "trainyard/longrunning/operations.pb.h"
#include "trainyard/ml/v1/study.pb.h"

namespace trainyard::studies {

/// projects/PROJECT/locations/LOCATION/studies/STUDY_ID.
struct StudyName {
  std::string project;
  std::string location;
  std::string study_id;

  [[nodiscard]] std::string ToString() const {
    return "projects/" + project + "/locations/" + location + "/studies/" + study_id;
  }
  friend bool operator==(const StudyName&, const StudyName&) = default;
};

/// STUDY/trials/ID.
struct TrialName {
  StudyName study;
  std::int64_t id = 0;  ///< from 1; 0: not a number, so there is no such trial

  [[nodiscard]] std::string ToString() const { return study.ToString() + "/trials/" + std::to_string(id); }
};

/// projects/PROJECT/locations/LOCATION/operations/ID.
struct OperationName {
  std::string project;
  std::string location;
  std::int64_t id = 0;  ///< from 1; 0: no operation

  [[nodiscard]] std::string ToString() const {
    return "projects/" + project + "/locations/" + location + "/operations/" + std::to_string(id);
  }
};

/// A positive number without sign or leading zeros, as the service prints ids; otherwise 0.
[[nodiscard]] inline std::int64_t ParseId(std::string_view text) noexcept {
  if (text.empty() || text.front() < '1' || text.front() > '9') return 0;
  return WholeNumber<std::int64_t>(text).value_or(0);
}

struct StoredStudy {
  std::int64_t uid = 0;  ///< never reused: a later study of the same name gets another one
  std::uint64_t seed = 0;
  std::int64_t deletions = 0;  ///< deletions of trials so far
  int next_trial = 1;          ///< ids of trials are never reused
  ml::v1::Study study;
  std::string asked;  ///< the request of another API that made it, in a form of that API; empty: ml v1
};

struct StoredTrial {
  int id = 0;
  bool stopped = false;  ///< it was STOPPING before it was COMPLETED
  ml::v1::Trial trial;
};

struct StoredOperation {
  enum class Kind { kSuggest = 1, kCheckStopping = 2 };
  std::int64_t id = 0;  ///< 0: not stored yet
  Kind kind = Kind::kSuggest;
  std::int64_t study_uid = 0;
  std::string project;
  std::string location;
  std::string client_id;  ///< kSuggest
  int count = 0;          ///< kSuggest
  int trial = 0;          ///< kCheckStopping
  SysTime created;
  longrunning::Operation operation;

  [[nodiscard]] OperationName Name() const { return {.project = project, .location = location, .id = id}; }
};

/// Studies, trials and operations in one SQLite file. Plain reads and writes, no rules. Writes that belong
/// together go between Begin() and Commit(). One thread at a time; a second thread uses another store, from
/// OpenReader. Errors: as sqlite::SqliteError; kDataLoss for a row that cannot be read.
class StudyStore {
 public:
  [[nodiscard]] static Result<StudyStore> Open(const std::string& path);
  /// A read-only store. Sees what the writing store has committed.
  [[nodiscard]] static Result<StudyStore> OpenReader(const std::string& path);

  [[nodiscard]] Result<sqlite::Transaction> Begin() { return sqlite::Transaction::Begin(database_); }

  /// kAlreadyExists; sets the uid.
  [[nodiscard]] Status AddStudy(const StudyName& name, StoredStudy& study);
  [[nodiscard]] Status PutStudy(const StoredStudy& study);
  [[nodiscard]] Result<std::optional<StoredStudy>> FindStudy(const StudyName& name);
  [[nodiscard]] Result<std::optional<StoredStudy>> FindStudy(std::int64_t uid);
  /// In the order in which they were made.
  [[nodiscard]] Result<std::vector<StoredStudy>> ListStudies(const std::string& project,
                                                             const std::string& location);
  /// Deletes the study and its trials. Its operations stay.
  [[nodiscard]] Status DropStudy(std::int64_t uid);

  [[nodiscard]] Status PutTrial(std::int64_t study_uid, const StoredTrial& trial);
  [[nodiscard]] Result<std::optional<StoredTrial>> FindTrial(std::int64_t study_uid, std::int64_t id);
  /// Lists are in the order of ids.
  [[nodiscard]] Result<std::vector<StoredTrial>> ListTrials(std::int64_t study_uid);
  [[nodiscard]] Result<std::vector<StoredTrial>> ListTrials(std::int64_t study_uid,
                                                            ml::v1::Trial::State state);
  [[nodiscard]] Status DropTrial(std::int64_t study_uid, int id);

  /// Each write of a trial gets a revision higher than all others of the study, so that a reader can ask for
  /// what changed since.
  struct Changes {
    std::int64_t revision = 0;  ///< of the newest one; `after` if there is none
    std::vector<StoredTrial> trials;
  };
  /// The highest one; 0 without trials.
  [[nodiscard]] Result<std::int64_t> TrialsRevision(std::int64_t study_uid);
  [[nodiscard]] Result<Changes> TrialsChanged(std::int64_t study_uid, std::int64_t after);

  /// Sets the id, and the operation's name.
  [[nodiscard]] Status AddOperation(StoredOperation& operation);
  [[nodiscard]] Status PutOperation(const StoredOperation& operation);
  [[nodiscard]] Result<std::optional<StoredOperation>> FindOperation(std::int64_t id);
  /// The unfinished operations, in the order in which they were made.
  [[nodiscard]] Result<std::vector<StoredOperation>> PendingOperations();
  /// Deletes finished operations that ended before this time.
  [[nodiscard]] Status DropOperations(SysTime created_before);

 private:
  StudyStore(sqlite::Database database, std::vector<sqlite::Statement> statements)
      : database_(std::move(database)), statements_(std::move(statements)) {}
  static Result<StudyStore> Open(const sqlite::DatabaseOptions& options);

  sqlite::Database database_;
  std::vector<sqlite::Statement> statements_;
};

/// kNotFound with the given field.
[[nodiscard]] Result<StoredStudy> RequireStudy(StudyStore& store, const StudyName& name,
                                               std::string_view field);

struct TrialOfStudy {
  StoredStudy study;
  StoredTrial trial;
};
/// kNotFound with field "name", saying which of the two is missing.
[[nodiscard]] Result<TrialOfStudy> RequireTrial(StudyStore& store, const TrialName& name);

}  // namespace trainyard::studies

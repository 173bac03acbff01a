#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite/database.h"
#include "stores/store/job_rules.h"
#include "stores/store/job_store.h"
#include "stores/store/page_token.h"

namespace trainyard::store {

/// Jobs and their events in one SQLite file: durable when Commit (or a write outside of a group) returned.
/// History costs nothing at start: only the unfinished jobs' index is read. One thread at a time; a second
/// store opened with OpenReader reads beside a writer.
class SqliteJobStore final : public JobStore {
 public:
  /// Opens or creates the file. Errors as sqlite::Database::Open.
  [[nodiscard]] static Result<std::unique_ptr<SqliteJobStore>> Open(const std::string& path);
  /// The same file, which a store from Open has made, for reading only. `lineage`: of the store's changes,
  /// another one for each backup that the file was restored from; 0: from none.
  [[nodiscard]] static Result<std::unique_ptr<SqliteJobStore>> OpenReader(const std::string& path,
                                                                          std::int64_t lineage = 0);
  ~SqliteJobStore() override;

  Result<std::int64_t> Create(const JobRecord& record, const Event& created) override;
  Status Append(const JobRecord& after, const Event& event) override;
  Result<JobRecord> Get(std::string_view project, std::string_view job_id) override;
  Result<JobPage> List(std::string_view project, int page_size, std::string_view page_token) override;
  Result<std::vector<std::string>> RecentProjects(int count) override;
  Result<std::vector<JobRecord>> Trials(std::int64_t tuning_uid, std::int64_t after_uid, int count) override;
  Result<JobRecord> GetTrial(std::string_view project, std::string_view job_id,
                             std::string_view trial_id) override;
  Result<std::vector<JobRecord>> Unfinished() override;
  Result<std::vector<Event>> Events(std::int64_t uid, std::int64_t after_seq) override;
  Result<std::vector<Event>> EventPage(std::int64_t uid, std::int64_t after_seq, int count) override;
  Result<ChangePage> Changed(std::string_view project, std::string_view resume_token, int count) override;
  Result<std::string> ResumeToken(std::string_view project) override;
  Result<std::vector<FinishedJob>> Finished(const FinishedQuery& query) override;
  Result<std::int64_t> BeginRemoval(std::span<const std::int64_t> uids) override;
  Result<std::vector<std::int64_t>> Removing(int count) override;
  Result<std::int64_t> EraseRemoved(std::span<const std::int64_t> uids, std::int64_t rows_max) override;
  Status Begin() override;
  Status Commit() override;
  void Rollback() override;

  /// The newest jobs and trials of all projects, at most `count`.
  [[nodiscard]] Result<std::vector<JobRecord>> Newest(int count);

  /// The largest number that a job was given, also of those that are gone; 0: none was.
  [[nodiscard]] Result<std::int64_t> LastUid();
  /// From now on numbers are larger than this one.
  [[nodiscard]] Status SkipUids(std::int64_t last);

  /// For tests: how SQLite runs the statements that must not scan, one "QUERY PLAN" line each.
  [[nodiscard]] Result<std::vector<std::string>> QueryPlans();

 private:
  struct Statements;
  class Write;

  SqliteJobStore(sqlite::Database database, PageTokenKey key, std::unique_ptr<Statements> statements);
  static Result<std::unique_ptr<SqliteJobStore>> Open(const std::string& path, bool read_only);
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

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/store/job_store.h"
#include "stores/store/page_token.h"

namespace trainyard::store {

/// Jobs in memory: the fake that ships with the interface, for tests of the layers above. One thread at a
/// time.
class MemoryJobStore final : public JobStore {
 public:
  MemoryJobStore();

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

 private:
  struct Job {
    JobRecord record;
    std::vector<Event> events;
    bool removing = false;
  };

  [[nodiscard]] std::vector<std::int64_t> TrialsOf(std::int64_t tuning_uid) const;
  std::int64_t EraseOne(std::int64_t uid, std::int64_t rows_max);

  /// What is filed under this name changed, for the last time until now.
  void NoteChange(const std::string& project, const std::string& unique_name);

  PageTokenKey page_token_key_;
  std::int64_t last_uid_ = 0;
  std::int64_t last_change_ = 0;
  std::map<std::int64_t, std::pair<std::string, std::string>> changes_;  ///< by number: project, unique name
  std::map<std::int64_t, Job> jobs_;                                     ///< by uid
  std::map<std::pair<std::string, std::string>, std::int64_t> names_;    ///< also of removed jobs
  std::vector<std::function<void()>> undo_;                              ///< of the open group, newest last
};

}  // namespace trainyard::store

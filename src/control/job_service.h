#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "async/task_group.h"
#include "control/collaborators.h"
#include "control/job_maker.h"
#include "control/job_runner.h"
#include "engine/replica_link.h"
#include "wire/resource_name.h"

namespace trainyard::control {

/// projects.jobs of the ml v1 API, and the jobs behind it. Loop thread only. The destructor stops looking
/// after jobs; what runs, runs on, and the next server takes it over.
class JobService : public engine::ReplicaLinkObserver {
 public:
  struct ListQuery {
    std::string project;
    int page_size = 0;  ///< 0: kPageSizeDefault; above kPageSizeMax: kPageSizeMax
    std::string page_token;
    std::string filter;
  };
  static constexpr int kPageSizeDefault = 20;
  static constexpr int kPageSizeMax = 100;
  static constexpr int kFilteredJobsMax = 10'000;  ///< looked at in one filtered List

  JobService(Collaborators outside, JobMaker& maker);

  /// Takes over the jobs of a former server: none is started twice, no log line is missing or doubled.
  boost::asio::awaitable<Status> Recover();

  /// Durable when it returns. Errors: everything that JobMaker refuses; kAlreadyExists with field
  /// "job.job_id".
  boost::asio::awaitable<Result<ml::v1::Job>> Create(std::string project, ml::v1::Job job);
  boost::asio::awaitable<Result<ml::v1::Job>> Get(wire::JobName name);
  boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> List(ListQuery query);
  /// `update_mask` names labels, etag or both. kAborted: the body's etag is not the job's.
  boost::asio::awaitable<Result<ml::v1::Job>> Patch(wire::JobName name, ml::v1::Job patch,
                                                    std::string update_mask);
  /// Recorded when it returns. Does nothing for a job that has ended or is being cancelled. Source: gcloud's
  /// own help of cancel.
  boost::asio::awaitable<Status> Cancel(wire::JobName name);

  // engine::ReplicaLinkObserver
  Status OnHello(std::shared_ptr<engine::ReplicaLink> link, const engine::FromReplica::Hello& hello) override;
  boost::asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                       engine::FromReplica frame) override;
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override;

 private:
  /// An attempt id taken apart; `runner` is null when its job needs no looking after any more.
  struct Attempt {
    JobRunner* runner = nullptr;
    int replica = -1;
    int number = 0;
  };

  boost::asio::awaitable<Result<std::int64_t>> TakeOver(v1::JobRecord job);
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  JobRunner& Add(v1::JobRecord job, std::int64_t service_lines);
  void OnGone(const std::string& attempt_id);
  [[nodiscard]] Attempt FindAttempt(std::string_view attempt_id) const;
  [[nodiscard]] ml::v1::Job Present(const v1::JobRecord& record) const;
  boost::asio::awaitable<Status> Post(v1::JobRecord job, v1::Event event);

  Collaborators outside_;
  JobMaker& maker_;
  std::map<std::int64_t, std::unique_ptr<JobRunner>> runners_;  ///< by uid: every unfinished job
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  ///< for the engine's callback, which may outlive this
  TaskGroup tasks_;
};

}  // namespace trainyard::control

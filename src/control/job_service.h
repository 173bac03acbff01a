#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/event.h"
#include "async/task_group.h"
#include "control/collaborators.h"
#include "control/figures.h"
#include "control/job_maker.h"
#include "control/job_runner.h"
#include "control/orphans.h"
#include "control/tuning/tuning_jobs.h"
#include "engine/replica_link.h"
#include "jobs/accelerator_quota.h"
#include "wire/resource_name.h"

namespace trainyard::control {

/// projects.jobs of the ml v1 API, and the jobs behind it. Loop thread only. The destructor stops looking
/// after jobs; what runs, runs on, and the next server takes it over.
class JobService : public engine::ReplicaLinkObserver, private TrialHost {
 public:
  struct ListQuery {
    std::string project;
    int page_size = 0;  ///< 0: kPageSizeDefault; above kPageSizeMax: kPageSizeMax
    std::string page_token;
    std::string filter;
  };
  static constexpr int kPageSizeDefault = 20;
  static constexpr int kPageSizeMax = 100;
  static constexpr int kFilteredJobsMax = 1'000;  ///< looked at in one filtered List: about 10 ms
  /// A page of large jobs is shorter than asked for: nothing is added to one that is this large.
  static constexpr std::size_t kListedBytesMax = std::size_t{512} << 10;
  /// Older jobs are kept but not listed. Source: spec api.md section 2.
  static constexpr std::chrono::days kListedMax{90};

  /// `accelerator_quota`: what the unfinished jobs of one project may hold; types without a number have no
  /// limit.
  JobService(Collaborators outside, JobMaker& maker, jobs::AcceleratorCounts accelerator_quota = {});
  ~JobService() override;
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  /// Takes over the jobs of a former server: none is started twice, no log line is missing or doubled. Once,
  /// before anything else: what changes jobs waits until it has succeeded. Attempts of ended jobs that left
  /// their folders behind are removed after it, in the background.
  boost::asio::awaitable<Status> Recover();

  /// Durable when it returns. Errors: everything that JobMaker refuses; kAlreadyExists with field
  /// "job.job_id"; kResourceExhausted beyond the accelerator quota.
  boost::asio::awaitable<Result<ml::v1::Job>> Create(std::string project, ml::v1::Job job);
  boost::asio::awaitable<Result<ml::v1::Job>> Get(wire::JobName name);
  boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> List(ListQuery query);
  /// `update_mask` names labels, etag or both; only what it names counts. Labels are replaced as a whole. The
  /// etag of a job changes with every event of its life.
  /// kAborted: the body's etag is not the job's. Source: spec api.md section 7.
  boost::asio::awaitable<Result<ml::v1::Job>> Patch(wire::JobName name, ml::v1::Job patch,
                                                    std::string update_mask);
  /// What the API does not show of the job: why it waits, how its replicas are. kNotFound.
  boost::asio::awaitable<Result<v1::JobStatus>> Describe(wire::JobName name);
  /// Recorded when it returns. Does nothing for a job that has ended or is being cancelled. Source: gcloud's
  /// own help of cancel.
  boost::asio::awaitable<Status> Cancel(wire::JobName name);

  /// The policy that was set, or jobs::NoPolicy().
  boost::asio::awaitable<Result<iam::v1::Policy>> GetPolicy(wire::JobName name);
  /// Durable when it returns, with a new etag. Errors as jobs::PolicyAfter.
  boost::asio::awaitable<Result<iam::v1::Policy>> SetPolicy(wire::JobName name,
                                                            iam::v1::SetIamPolicyRequest request);

  /// The folder of the attempt whose shell is asked for; errors as control::ShellTarget (web_access.h), and
  /// kNotFound.
  boost::asio::awaitable<Result<std::string>> ShellTarget(wire::JobName name, std::string task_name,
                                                          std::string token);

  /// Stops the replica ("worker-replica-0") and starts it again, as the maintenance of its machine would.
  /// Recorded when it returns. Errors as MaintenanceOf, and kNotFound.
  boost::asio::awaitable<Status> Maintain(wire::JobName name, std::string task_name);

  /// Whether the attempt is one that the installation started and whose end is not recorded.
  boost::asio::awaitable<bool> Lives(std::string attempt_id);

  /// All that is recorded of the job. kNotFound.
  boost::asio::awaitable<Result<v1::JobRecord>> Record(wire::JobName name);
  [[nodiscard]] Figures Count() const;
  void ForEachUnfinished(const std::function<void(const v1::JobRecord&)>& visit) const;

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

  /// A job of a former server, with what it still has to say in its log.
  struct Former {
    v1::JobRecord job;
    std::int64_t lines_stored = 0;
    std::vector<jobs::ServiceLine> lines_left;
    // Of a tuning job:
    std::vector<v1::Event> events{};
    std::vector<v1::JobRecord> trials{};
    TuningJobs::Resumed resumed{};
  };

  // TrialHost
  boost::asio::awaitable<Result<std::int64_t>> StartTrial(v1::JobRecord trial,
                                                          JobRunner::OnChange on_change) override;
  JobRunner* FindTrial(std::int64_t uid) override;

  boost::asio::awaitable<Result<Former>> ReadFormer(v1::JobRecord job);
  void TakeOverTuning(Former former);
  boost::asio::awaitable<void> ForgetTuning(std::int64_t uid);
  std::function<void()> OnTuningDone(std::int64_t uid);
  boost::asio::awaitable<Result<ml::v1::Job>> Show(v1::JobRecord record, int trials_max);
  void TakeOver(std::vector<Former> former, const std::vector<std::string>& attempt_ids);
  boost::asio::awaitable<void> Forget(std::int64_t uid);
  JobRunner& Add(v1::JobRecord job, std::int64_t service_lines);
  std::function<void()> OnDone(std::int64_t uid);
  void OnGone(const std::string& attempt_id);
  [[nodiscard]] Attempt FindAttempt(std::string_view attempt_id) const;
  [[nodiscard]] ml::v1::Job Present(const v1::JobRecord& record) const;
  [[nodiscard]] Status CheckQuota(const v1::JobRecord& asking) const;
  boost::asio::awaitable<Result<v1::JobRecord>> Load(wire::JobName name);
  boost::asio::awaitable<Status> Post(wire::JobName name, v1::Event event,
                                      std::optional<std::int64_t> revision);
  boost::asio::awaitable<Status> RecordForEnded(v1::JobRecord job, v1::Event event);

  Collaborators outside_;
  JobMaker& maker_;
  jobs::AcceleratorCounts accelerator_quota_;
  std::list<const v1::JobRecord*> creating_;  ///< being written, without a runner yet
  bool stopping_ = false;
  TuningJobs tuning_;
  std::map<std::int64_t, std::unique_ptr<JobRunner>>
      runners_;  ///< by uid: every other unfinished job, and trials
  std::map<std::int64_t, std::unique_ptr<JobRunner>> leaving_;  ///< whose tasks are ending
  Figures counted_;                                             ///< what only grows
  Event recovered_;
  Event added_;  ///< wakes whoever waits for a runner
  Orphans orphans_;
  /// Shared with the engine's callback, which may outlive this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  TaskGroup tasks_;
};

}  // namespace trainyard::control

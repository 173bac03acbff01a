#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/async/event.h"
#include "base/async/task_group.h"
#include "base/wire/resource_name.h"
#include "control/collaborators.h"
#include "control/intake/image_lookups.h"
#include "control/intake/instance.h"
#include "control/intake/job_maker.h"
#include "control/run/orphans.h"
#include "control/run/replica_gateway.h"
#include "control/run/runner_registry.h"
#include "control/upkeep/figures.h"
#include "control/upkeep/job_removal.h"
#include "control/views/job_listing.h"
#include "control/views/job_presenter.h"
#include "control/views/job_tables.h"
#include "control/views/job_watches.h"
#include "rules/jobs/accelerator_quota.h"
#include "trainyard/control/v1/job_check.pb.h"

namespace trainyard::control {

/// How a job came here, if not by ml v1.
struct ForeignRequest {
  v1::SubmittedAs as{};
  std::vector<std::string> remarks{};  ///< logged at its creation: sentences
};

/// projects.jobs of the ml v1 API: the use cases. The registry manages the unfinished jobs, the gateway
/// receives from the supervisors. Loop thread only. The destructor stops managing jobs; running attempts
/// continue, and the next server takes them over.
class JobService {
 public:
  using ListQuery = JobListQuery;

  /// `accelerator_quota`: the accelerators that the unfinished jobs of one project may have together; types
  /// without a number have no limit.
  JobService(Collaborators outside, JobMaker& maker, jobs::AcceleratorCounts accelerator_quota = {});
  JobService(const JobService&) = delete;
  JobService& operator=(const JobService&) = delete;

  /// As RecoverJobs (recovery.h); RecoverRest goes on in the background. Call it once, before anything else:
  /// calls that change jobs wait until all are taken over; the others answer by what is stored.
  boost::asio::awaitable<Status> Recover();

  /// `creator`: the calling principal; empty: there is no authentication. Durable when it returns. Errors:
  /// everything that JobMaker refuses; kAlreadyExists with field "job.job_id"; kResourceExhausted beyond the
  /// accelerator quota or another one (job_quotas.h).
  boost::asio::awaitable<Result<ml::v1::Job>> Create(std::string project, ml::v1::Job job,
                                                     Creator creator = {}, ForeignRequest foreign = {});
  /// All errors that Create would report (JobMaker::Check); creates nothing. Errors: of the store.
  boost::asio::awaitable<Result<v1::JobCheck>> Check(std::string project, ml::v1::Job job,
                                                     Creator creator = {});
  boost::asio::awaitable<Result<ml::v1::Job>> Get(wire::JobName name);
  /// As JobListing::List.
  boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> List(ListQuery query);
  /// `update_mask` names labels, etag or both; other fields are ignored. Labels are replaced as a whole. The
  /// etag of a job changes with every event of the job. kAborted: the body's etag is not the job's. Source:
  /// spec api.md section 7.
  boost::asio::awaitable<Result<ml::v1::Job>> Patch(wire::JobName name, ml::v1::Job patch,
                                                    std::string update_mask);
  /// What the API does not show of the job: why it waits, the state of its replicas. kNotFound.
  boost::asio::awaitable<Result<v1::JobStatus>> Describe(wire::JobName name);
  /// Recorded when it returns. Does nothing for a job that is being cancelled. kFailedPrecondition with field
  /// "name": it has ended (the original's 400, by which Airflow's operators know that).
  boost::asio::awaitable<Status> Cancel(wire::JobName name);

  /// PolicyOf (job_rights.h).
  boost::asio::awaitable<Result<iam::v1::Policy>> GetPolicy(wire::JobName name);
  /// Durable when it returns, with a new etag. Errors as iam::PolicyAfter and Creator::CheckStillMay.
  boost::asio::awaitable<Result<iam::v1::Policy>> SetPolicy(wire::JobName name,
                                                            iam::v1::SetIamPolicyRequest request,
                                                            Creator asker);

  /// The attempt whose shell is requested; errors as control::ShellTarget (web_access.h), and kNotFound.
  boost::asio::awaitable<Result<engine::AttemptRef>> ShellTarget(wire::JobName name, std::string task_name,
                                                                 std::string token);
  boost::asio::awaitable<Result<shell::Terminal>> OpenShell(engine::AttemptRef attempt,
                                                            shell::TerminalSize size);

  /// Stops the replica ("worker-replica-0") and starts it again, as maintenance of its machine would.
  /// Recorded when it returns. Errors as jobs::MaintenanceOf, and kNotFound.
  boost::asio::awaitable<Status> Maintain(wire::JobName name, std::string task_name);

  /// Whether the attempt was started by this installation and its end is not recorded.
  boost::asio::awaitable<bool> Lives(std::string attempt_id);

  /// The instance data of the attempt. Nothing: the attempt is not running (Lives).
  boost::asio::awaitable<std::optional<Instance>> InstanceOf(std::string attempt_id);

  /// The job's complete record. kNotFound.
  boost::asio::awaitable<Result<v1::JobRecord>> Record(wire::JobName name);
  /// The projects that have jobs, the one with the newest job first, at most kRecentProjectsMax.
  boost::asio::awaitable<Result<std::vector<std::string>>> RecentProjects();
  static constexpr int kRecentProjectsMax = 1'000;
  [[nodiscard]] Figures Count() const;
  /// The runners of all jobs and trials that have not ended.
  [[nodiscard]] const RunnerRegistry& registry() const noexcept { return registry_; }
  void ForEachUnfinished(const std::function<void(const v1::JobRecord&)>& visit) const;

  [[nodiscard]] const Accounts& accounts() const noexcept { return outside_.accounts; }
  [[nodiscard]] JobListing& listing() noexcept { return listing_; }
  /// Jobs as rows, counts and timelines.
  [[nodiscard]] JobTables& tables() noexcept { return tables_; }
  /// Changes of jobs, for clients that watch them.
  [[nodiscard]] JobWatches& watches() noexcept { return watches_; }
  /// Trials of tuning jobs, and insights from them.
  [[nodiscard]] TuningJobs& tuning() noexcept { return registry_.tuning(); }
  /// Deletes jobs that have ended.
  [[nodiscard]] JobRemoval& removal() noexcept { return removal_; }
  /// Receives from the supervisors' connections.
  [[nodiscard]] ReplicaGateway& gateway() noexcept { return gateway_; }

 private:
  boost::asio::awaitable<void> FinishRecovery(std::vector<v1::JobRecord> rest);
  [[nodiscard]] Status CheckQuota(const v1::JobRecord& asking, const JobMaker::NewJob& made) const;
  boost::asio::awaitable<Result<ml::v1::Job>> StoreAndStart(jobs::Step created, jobs::Secrets secrets);
  boost::asio::awaitable<Status> Store(jobs::Steps steps, jobs::Secrets secrets);
  boost::asio::awaitable<Result<v1::JobRecord>> Load(wire::JobName name);
  boost::asio::awaitable<Status> Post(wire::JobName name, v1::Event event,
                                      std::optional<std::int64_t> revision);
  boost::asio::awaitable<Status> RecordForEnded(v1::JobRecord job, v1::Event event);

  Collaborators outside_;
  JobMaker& maker_;
  jobs::AcceleratorCounts accelerator_quota_;
  std::list<const v1::JobRecord*> creating_;  ///< being stored, without a runner yet
  std::int64_t created_ = 0;                  ///< since this server started
  Event attempts_known_;  ///< every attempt of a previous server has its runner, or is an orphan
  Event recovered_;       ///< every unfinished job has its runner
  RegistryTurns registry_turns_;
  RunnerRegistry registry_;
  JobPresenter presenter_;
  JobListing listing_;
  JobTables tables_;
  JobWatches watches_;
  Orphans orphans_;
  JobRemoval removal_;
  ReplicaGateway gateway_;
  TaskGroup tasks_;
};

}  // namespace trainyard::control

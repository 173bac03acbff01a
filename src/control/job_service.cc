#include "control/job_service.h"
#include "control/job_rights.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/async/diagnostics.h"
#include "base/wire/field_selector.h"
#include "base/wire/time.h"
#include "control/intake/job_quotas.h"
#include "control/run/job_secrets.h"
#include "control/run/job_status.h"
#include "control/run/recovery.h"
#include "control/run/web_access.h"
#include "control/views/job_listing.h"
#include "rules/iam/refusal.h"
#include "rules/iam/resource.h"
#include "rules/jobs/restart_policy.h"
#include "rules/jobs/study.h"
#include "rules/jobs/transition_table.h"
#include "rules/jobs/trial.h"
#include "rules/notices/destination.h"
#include "rules/validation/validate.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

constexpr int kPostTriesMax = 20;
constexpr std::array<std::string_view, 2> kPatchable{"labels", "etag"};
constexpr std::chrono::milliseconds kRunnerWait{250};  ///< how long to wait for a new job's runner

/// A member of a list for as long as this lives.
class Counted {
 public:
  Counted(std::list<const v1::JobRecord*>& all, const v1::JobRecord& job)
      : all_(all), place_(all.insert(all.end(), &job)) {}
  ~Counted() { all_.erase(place_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  std::list<const v1::JobRecord*>& all_;
  std::list<const v1::JobRecord*>::iterator place_;
};

Error BeingChanged() { return {Code::kAborted, "The job is being changed by others: try again", ""}; }

Error WrongEtag() { return {Code::kAborted, "The etag is not that of the job: read it again", "job.etag"}; }

Error HasEnded(const v1::JobRecord& job) {
  return FailedPrecondition("The job " + job.job().job_id() +
                                " cannot be cancelled: it has ended, and its state is " +
                                Job::State_Name(job.job().state()) + ".",
                            "name");
}

}  // namespace

JobService::JobService(Collaborators outside, JobMaker& maker, jobs::AcceleratorCounts accelerator_quota)
    : outside_(std::move(outside)),
      maker_(maker),
      accelerator_quota_(std::move(accelerator_quota)),
      attempts_known_(outside_.loop),
      recovered_(outside_.loop),
      registry_turns_(outside_.loop),
      registry_(outside_),
      presenter_(outside_, registry_),
      listing_(outside_, presenter_),
      tables_(outside_, presenter_, listing_),
      watches_(outside_, presenter_, listing_),
      orphans_(outside_.loop, outside_.hosts, outside_.admissions, outside_.settings.attach_wait),
      removal_(outside_, registry_, recovered_),
      gateway_(outside_, registry_, orphans_, attempts_known_),
      tasks_(outside_.loop) {
  outside_.images.turns = &registry_turns_;
  outside_.hooks.on_wait_changed = watches_.Toucher();
  outside_.hooks.runtime_for = [&maker](const v1::JobRecord& job, const engine::Grant& grant) {
    return maker.RuntimeFor(job, grant);
  };
}

boost::asio::awaitable<Status> JobService::Recover() {
  TY_CO_TRY(std::vector<v1::JobRecord> rest, co_await RecoverJobs(outside_, registry_, orphans_));
  attempts_known_.Set();
  tasks_.Spawn(FinishRecovery(std::move(rest)));
  co_return Status{};
}

boost::asio::awaitable<void> JobService::FinishRecovery(std::vector<v1::JobRecord> rest) {
  co_await RecoverRest(outside_, registry_, std::move(rest));
  recovered_.Set();
}

boost::asio::awaitable<Result<Job>> JobService::Create(std::string project, Job job, Creator creator,
                                                       ForeignRequest foreign) {
  co_await recovered_.Wait();
  if (outside_.bounds.check_space) TY_CO_RETURN_IF_ERROR(outside_.bounds.check_space());
  std::string inherited;
  if (job.training_input().has_hyperparameters()) {
    ml::v1::HyperparameterSpec& spec = *job.mutable_training_input()->mutable_hyperparameters();
    TY_CO_TRY(const std::optional<v1::JobRecord> previous,
              co_await registry_.tuning().FindPrevious(project, spec.resume_previous_job_id()));
    if (previous) inherited = jobs::InheritSpec(*previous, spec);
  }
  TY_CO_TRY(JobMaker::NewJob made,
            co_await maker_.Make(std::move(project), std::move(job), std::move(creator)));
  v1::JobRecord& record = made.record;
  if (!foreign.as.api().empty()) *record.mutable_submitted_as() = std::move(foreign.as);
  record.mutable_remarks()->Add(foreign.remarks.begin(), foreign.remarks.end());
  if (record.has_tuning()) {
    if (!inherited.empty()) record.add_remarks(inherited);
    TY_CO_TRY(const std::vector<std::int64_t> uids, co_await registry_.tuning().FindResumed(record));
    record.mutable_tuning()->mutable_resumed_uids()->Add(uids.begin(), uids.end());
  }
  TY_CO_TRY(const std::int64_t uid, outside_.journal.NextUid());
  record.set_uid(uid);
  v1::Event event;
  *event.mutable_created()->mutable_record() = record;
  TY_CO_TRY(jobs::Step first,
            jobs::StepAfter(v1::JobRecord{}, std::move(event), wire::FromProto(record.job().create_time())));
  TY_CO_RETURN_IF_ERROR(CheckQuota(first.after, made));
  TY_CO_TRY(Job answer, co_await StoreAndStart(std::move(first), std::move(made.secrets)));
  ++created_;
  const Status confirmed = co_await maker_.ConfirmBuckets(answer.training_input());
  if (!confirmed)
    Diagnose(DiagnosticLevel::kWarning, "a bucket cannot be confirmed: " + confirmed.error().message);
  co_return answer;
}

/// The answer shows the job as it was created, in the queue, although it may have been started with the same
/// write.
boost::asio::awaitable<Result<Job>> JobService::StoreAndStart(jobs::Step created, jobs::Secrets secrets) {
  const Counted counted(creating_, created.after);  // other creates count it meanwhile
  Job answer = presenter_.Present(created.after);
  if (created.after.has_tuning()) {
    TY_CO_TRY(TuningJobs::Resumed resumed, co_await registry_.tuning().ReadResumed(created.after));
    std::vector<jobs::ServiceLine> lines = jobs::LinesFor(created.after, created.event);
    jobs::Steps steps;
    steps.push_back(created);
    TY_CO_RETURN_IF_ERROR(co_await Store(std::move(steps), std::move(secrets)));
    registry_.StartTuning(std::move(created.after), std::move(lines), std::move(resumed));
    co_return answer;
  }
  RunnerRegistry::Coming coming = co_await registry_.Prepare(created);
  TY_CO_RETURN_IF_ERROR(co_await Store(coming.steps, std::move(secrets)));
  registry_.Start(std::move(coming));
  co_return answer;
}

/// The secrets are written before the job, so that no job is created that cannot run. After a kill in
/// between, recovery finds them by the record.
boost::asio::awaitable<Status> JobService::Store(jobs::Steps steps, jobs::Secrets secrets) {
  v1::JobRecord record = std::move(steps.back().after);
  const std::int64_t uid = record.uid();
  const std::string staged = StagedName(record);
  const bool has_secrets = !secrets.empty();
  if (has_secrets && outside_.kept.secrets == nullptr)
    co_return std::unexpected(FailedPrecondition("This server keeps no secrets.", "env"));
  if (has_secrets) TY_CO_RETURN_IF_ERROR(co_await outside_.kept.secrets->Stage(staged, std::move(secrets)));
  const Result<std::int64_t> stored =
      co_await outside_.journal.Create(std::move(record), jobs::EventsOf(steps));
  if (!stored) {
    if (has_secrets) co_await outside_.kept.secrets->Drop(staged);
    co_return std::unexpected(stored.error());
  }
  if (!has_secrets) co_return Status{};
  const Status kept = co_await outside_.kept.secrets->Keep(staged, uid);
  if (!kept) Diagnose(DiagnosticLevel::kError, "secrets of a job cannot be kept: " + kept.error().message);
  co_return Status{};
}

boost::asio::awaitable<Result<v1::JobRecord>> JobService::Load(wire::JobName name) {
  Result<v1::JobRecord> record = co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.Get(name.project, name.job_id); });
  if (!record && record.error().code == Code::kNotFound)
    co_return std::unexpected(iam::Absent("ml.jobs.get", iam::Resource::Job(name.project, name.job_id)));
  co_return record;
}

boost::asio::awaitable<Result<engine::AttemptRef>> JobService::ShellTarget(wire::JobName name,
                                                                           std::string task_name,
                                                                           std::string token) {
  TY_CO_TRY(const v1::JobRecord record, co_await Load(std::move(name)));
  if (const TuningRunner* tuner = registry_.tuning().Find(record.uid()))
    co_return registry_.tuning().ShellTarget(*tuner, task_name, token);
  co_return control::ShellTarget(outside_.settings, record, task_name, token);
}

boost::asio::awaitable<Result<shell::Terminal>> JobService::OpenShell(engine::AttemptRef attempt,
                                                                      shell::TerminalSize size) {
  co_return co_await outside_.hosts.Of(attempt.agent).OpenShell(attempt, size);
}

boost::asio::awaitable<bool> JobService::Lives(std::string attempt_id) {
  co_await attempts_known_.Wait();
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  co_return attempt.runner != nullptr&& attempt.runner->IsOpen(attempt.replica, attempt.number);
}

boost::asio::awaitable<std::optional<Instance>> JobService::InstanceOf(std::string attempt_id) {
  co_await attempts_known_.Wait();
  const RunnerRegistry::Attempt attempt = registry_.FindAttempt(attempt_id);
  if (attempt.runner == nullptr || !attempt.runner->IsOpen(attempt.replica, attempt.number))
    co_return std::nullopt;
  co_return control::InstanceOf(attempt.runner->job(), attempt.replica, outside_.number_of);
}

boost::asio::awaitable<Result<ml::v1::ListJobsResponse>> JobService::List(ListQuery query) {
  ml::v1::ListJobsResponse response;
  auto take = [&response](const v1::JobRecord&, Job job) {
    *response.add_jobs() = std::move(job);
    return response.jobs().rbegin()->ByteSizeLong();
  };
  TY_CO_TRY(std::string token,
            co_await listing_.List(std::move(query), JobListing::Trials::kShown, std::move(take)));
  response.set_next_page_token(std::move(token));
  co_return response;
}

boost::asio::awaitable<Result<Job>> JobService::Get(wire::JobName name) {
  TY_CO_TRY(v1::JobRecord record, co_await Load(std::move(name)));
  co_return co_await presenter_.Show(std::move(record), std::numeric_limits<int>::max());
}

boost::asio::awaitable<Result<Job>> JobService::Patch(wire::JobName name, Job patch,
                                                      std::string update_mask) {
  TY_CO_TRY(std::vector<std::string> mask, wire::ParseFieldMask(update_mask, kPatchable));
  if (mask.empty())
    co_return std::unexpected(InvalidArgument("update_mask", "The update mask is required: labels, etag"));
  bool with_labels = std::ranges::find(mask, "labels") != mask.end();
  bool with_etag = std::ranges::find(mask, "etag") != mask.end();
  if (with_labels) TY_CO_RETURN_IF_ERROR(jobs::ValidateLabels(patch));
  TY_CO_TRY(v1::JobRecord record, co_await Load(name));
  if (with_etag && patch.etag() != Etag(record)) co_return std::unexpected(WrongEtag());
  if (with_labels)
    TY_CO_RETURN_IF_ERROR(
        notices::CheckNewLabel(maker_.Destinations(), record.project(), record.job(), patch));
  if (!with_labels) co_return co_await presenter_.Show(std::move(record), std::numeric_limits<int>::max());
  v1::Event event;
  *event.mutable_patched()->mutable_labels() = patch.labels();
  std::optional<std::int64_t> revision;
  if (with_etag) revision = record.revision();
  Status posted = co_await Post(name, std::move(event), revision);
  if (!posted && posted.error().code == Code::kAborted && with_etag) co_return std::unexpected(WrongEtag());
  if (!posted) co_return std::unexpected(posted.error());
  co_return co_await Get(std::move(name));
}

boost::asio::awaitable<Result<iam::v1::Policy>> JobService::GetPolicy(wire::JobName name) {
  TY_CO_TRY(v1::JobRecord record, co_await Load(std::move(name)));
  co_return PolicyOf(record, outside_.accounts);
}

/// The policy's etag is checked against a record that must still be current when the event is written; other
/// events of the job in between are not a conflict.
boost::asio::awaitable<Result<iam::v1::Policy>> JobService::SetPolicy(wire::JobName name,
                                                                      iam::v1::SetIamPolicyRequest request,
                                                                      Creator asker) {
  for (int tries = 0; tries < kPostTriesMax; ++tries) {
    TY_CO_TRY(v1::JobRecord record, co_await Load(name));
    v1::Event event;
    TY_CO_TRY(*event.mutable_policy_set(), PolicySetOf(record, request, outside_.accounts));
    iam::v1::Policy policy = event.policy_set().policy();
    TY_CO_RETURN_IF_ERROR(co_await asker.CheckStillMay());
    Status posted = co_await Post(name, std::move(event), record.revision());
    if (posted) co_return policy;
    if (posted.error().code != Code::kAborted) co_return std::unexpected(posted.error());
  }
  co_return std::unexpected(BeingChanged());
}

boost::asio::awaitable<Result<v1::JobStatus>> JobService::Describe(wire::JobName name) {
  TY_CO_TRY(const v1::JobRecord record, co_await Load(std::move(name)));
  if (record.has_tuning()) co_return co_await registry_.tuning().Describe(record);
  if (const JobRunner* runner = registry_.Find(record.uid())) co_return runner->Describe();
  co_return MakeStatus(record, {.usage = outside_.kept.usage});
}

boost::asio::awaitable<Status> JobService::Cancel(wire::JobName name) {
  v1::Event event;
  event.mutable_cancel_requested()->set_reason("Cancelled by the user.");
  co_return co_await Post(std::move(name), std::move(event), std::nullopt);
}

boost::asio::awaitable<Status> JobService::Maintain(wire::JobName name, std::string task_name) {
  TY_CO_TRY(v1::JobRecord job, co_await Load(name));
  TY_CO_TRY(v1::Event event, jobs::MaintenanceOf(job, task_name));
  co_return co_await Post(std::move(name), std::move(event), std::nullopt);
}

boost::asio::awaitable<Result<v1::JobRecord>> JobService::Record(wire::JobName name) {
  co_return co_await Load(std::move(name));
}

boost::asio::awaitable<Result<std::vector<std::string>>> JobService::RecentProjects() {
  co_return co_await outside_.journal.Read(
      [&](store::JobStore& jobs) { return jobs.RecentProjects(kRecentProjectsMax); });
}

Figures JobService::Count() const {
  Figures figures;
  figures.created = created_;
  registry_.CountInto(figures);
  gateway_.CountInto(figures);
  return figures;
}

void JobService::ForEachUnfinished(const std::function<void(const v1::JobRecord&)>& visit) const {
  for (const auto& [uid, runner] : registry_.all()) visit(runner->job());
}

/// Uses the job's runner if it has one; an ended job has no other writer. A job can be in the store before
/// its Create has resumed and made its runner, and after its end while its runner is removed: then it is read
/// again.
boost::asio::awaitable<Status> JobService::Post(wire::JobName name, v1::Event event,
                                                std::optional<std::int64_t> revision) {
  co_await recovered_.Wait();
  for (int tries = 0; tries < kPostTriesMax; ++tries) {
    TY_CO_TRY(v1::JobRecord job, co_await Load(name));
    if (event.has_cancel_requested() && job.job().has_end_time()) co_return std::unexpected(HasEnded(job));
    if (TuningRunner* tuner = registry_.tuning().Find(job.uid()))
      co_return co_await tuner->Post(std::move(event), revision);
    if (JobRunner* runner = registry_.Find(job.uid()))
      co_return co_await runner->Post(std::move(event), revision);
    if (!job.job().has_end_time()) {
      co_await registry_.WaitForRunner(kRunnerWait);
      continue;
    }
    if (revision && *revision != job.revision()) co_return std::unexpected(WrongEtag());
    Status recorded = co_await RecordForEnded(std::move(job), event);
    if (recorded || recorded.error().code != Code::kAborted) co_return recorded;
  }
  co_return std::unexpected(BeingChanged());
}

boost::asio::awaitable<Status> JobService::RecordForEnded(v1::JobRecord job, v1::Event event) {
  TY_CO_TRY(jobs::Step step, jobs::StepAfter(job, std::move(event), outside_.clock.Now()));
  std::vector<v1::Event> events;
  events.push_back(std::move(step.event));
  co_return co_await outside_.journal.Append(std::move(step.after), std::move(events));
}

Status JobService::CheckQuota(const v1::JobRecord& asking, const JobMaker::NewJob& made) const {
  const bool none = outside_.bounds.quotas == nullptr || outside_.bounds.quotas->empty();
  if (none && accelerator_quota_.empty()) return {};
  JobQuotaCase quota_case{
      .asking = asking, .demand = made.demand, .engine = made.engine, .bytes = outside_.bounds.bytes};
  auto count = [&](const v1::JobRecord& other) {
    if (!other.job().has_end_time() && !other.has_trial()) quota_case.unfinished.push_back(&other);
  };
  for (const auto& [uid, tuner] : registry_.tuning().all()) count(tuner->job());
  for (const auto& [uid, runner] : registry_.all()) count(runner->job());
  for (const v1::JobRecord* other : creating_) count(*other);
  TY_RETURN_IF_ERROR(CheckAccelerators(accelerator_quota_, quota_case));
  return none ? Status() : CheckJobQuotas(*outside_.bounds.quotas, quota_case);
}

}  // namespace trainyard::control

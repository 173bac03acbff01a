#include "control/job_service.h"

#include <algorithm>
#include <array>
#include <limits>

#include "async/diagnostics.h"
#include "control/list_search.h"
#include "control/maintenance.h"
#include "control/manifest.h"
#include "control/pause.h"
#include "control/send_away.h"
#include "control/service_log.h"
#include "control/store_lines.h"
#include "control/web_access.h"
#include "jobs/iam_policy.h"
#include "jobs/transition.h"
#include "jobs/trial.h"
#include "wire/field_mask.h"
#include "wire/time.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

constexpr std::string_view kNoSuchJob = "The job cannot be found.";
constexpr int kPostTriesMax = 20;
constexpr std::array<std::string_view, 2> kPatchable{"labels", "etag"};
constexpr std::chrono::milliseconds kRunnerWait{250};  ///< for a new job's runner to come

v1::Event Stamped(v1::Event event, std::int64_t seq, SysTime now) {
  event.set_seq(seq);
  *event.mutable_time() = wire::ToProto(now);
  return event;
}

/// What the job's events so far have said in its log.
Result<std::vector<jobs::ServiceLine>> SaidSoFar(const std::vector<v1::Event>& events) {
  std::vector<jobs::ServiceLine> said;
  v1::JobRecord job;
  for (const v1::Event& event : events) {
    TY_TRY(job, jobs::Apply(job, event));
    std::vector<jobs::ServiceLine> lines = jobs::LinesFor(job, event);
    said.insert(said.end(), lines.begin(), lines.end());
  }
  return said;
}

/// Eight bytes, the highest first; the seqs of a job's events only grow.
std::string PolicyEtag(std::int64_t seq) {
  std::string etag;
  for (int shift = 56; shift >= 0; shift -= 8) etag.push_back(static_cast<char>(seq >> shift));
  return etag;
}

iam::v1::Policy PolicyOf(const v1::JobRecord& record) {
  return record.has_iam_policy() ? record.iam_policy() : jobs::NoPolicy();
}

Error BeingChanged() { return {Code::kAborted, "The job is being changed by others: try again", ""}; }

Error WrongEtag() { return {Code::kAborted, "The etag is not that of the job: read it again", "job.etag"}; }

jobs::AcceleratorCounts AcceleratorsOf(const v1::JobRecord& job) {
  if (job.has_trial()) return {};  // the tuning job has them
  jobs::AcceleratorCounts counts = jobs::AcceleratorsOf(job.job().training_input());
  if (!job.has_tuning()) return counts;
  for (auto& [type, count] : counts) count *= jobs::MaxParallelTrials(job);
  return counts;
}

/// Stores the lines of a replica and acknowledges them. Uses nothing but its arguments: the job may be over
/// and forgotten before it is done. The settings outlive everything.
boost::asio::awaitable<void> TakeLines(logs::LogStore& logs, logs::LogSource source,
                                       std::shared_ptr<engine::ReplicaLink> link, replica::v1::LogChunk chunk,
                                       const Settings& settings) {
  Result<logs::StoredLines> stored = co_await StoreLines(logs, source, std::move(chunk));
  if (!stored) {
    // The supervisor keeps what is not acknowledged and sends it again when it comes back.
    Diagnose(DiagnosticLevel::kWarning,
             "log lines of " + source.source + " are not stored yet: " + stored.error().message);
    co_await Pause(settings.retry_pause);
    link->Close();
    co_return;
  }
  engine::ToReplica ack;
  ack.mutable_log_ack()->set_next_line(stored->next_line);
  const std::int64_t limit = settings.job_log_bytes_max;
  ack.mutable_log_ack()->set_job_log_full(limit > 0 && stored->job_bytes >= limit);
  link->Send(std::move(ack));
}

}  // namespace

JobService::JobService(Collaborators outside, JobMaker& maker, jobs::AcceleratorCounts accelerator_quota)
    : outside_(std::move(outside)),
      maker_(maker),
      accelerator_quota_(std::move(accelerator_quota)),
      tuning_(outside_, *this),
      recovered_(outside_.loop),
      added_(outside_.loop),
      orphans_(outside_.loop, outside_.engine, outside_.admissions, outside_.settings),
      tasks_(outside_.loop) {
  outside_.engine.SetOnGone([this, alive = std::weak_ptr<bool>(alive_)](const std::string& attempt_id) {
    if (!alive.expired()) OnGone(attempt_id);
  });
}

JobService::~JobService() {
  stopping_ = true;
  for (const auto& [uid, runner] : runners_) {
    runner->Watch(nullptr);
    runner->Cancel();
  }
  tuning_.Clear();
}

boost::asio::awaitable<Status> JobService::Recover() {
  // First of all: what has a folder now was there before this server started anything.
  Result<std::vector<std::string>> attempt_ids = ListAttemptFolders(outside_.settings);
  if (!attempt_ids) co_return std::unexpected(attempt_ids.error());
  TY_CO_TRY(std::vector<v1::JobRecord> unfinished, co_await outside_.journal.Unfinished());
  if (!unfinished.empty()) {
    Diagnose(DiagnosticLevel::kInfo, "taking over " + std::to_string(unfinished.size()) + " unfinished jobs");
  }
  std::vector<Former> former;
  for (v1::JobRecord& job : unfinished) {
    std::string job_id = job.job().job_id();
    Result<Former> read = co_await ReadFormer(std::move(job));
    if (!read)
      co_return std::unexpected(Error{read.error().code, "job " + job_id + ": " + read.error().message, ""});
    former.push_back(*std::move(read));
  }
  TakeOver(std::move(former), *attempt_ids);
  recovered_.Set();
  co_return Status{};
}

/// The service's lines are derived from the events, so the ones that a crash kept from the log can be said
/// now.
boost::asio::awaitable<Result<JobService::Former>> JobService::ReadFormer(v1::JobRecord job) {
  TY_CO_TRY(std::vector<v1::Event> events, co_await outside_.journal.Events(job.uid(), 0));
  TY_CO_TRY(std::vector<jobs::ServiceLine> said, SaidSoFar(events));
  TY_CO_TRY(std::int64_t stored, co_await outside_.logs.NextLine(LogUid(job), ServiceSource(job).source));
  Former former;
  // More may be stored than was said: an end is said before it is recorded.
  former.lines_stored = std::min(stored, static_cast<std::int64_t>(said.size()));
  former.lines_left.assign(said.begin() + former.lines_stored, said.end());
  if (job.has_tuning()) {
    former.events = std::move(events);
    TY_CO_TRY(former.trials, co_await outside_.journal.Trials(job.uid()));
    TY_CO_TRY(former.resumed, co_await tuning_.ReadResumed(job));
  }
  former.job = std::move(job);
  co_return former;
}

/// All in one turn of the loop: nobody is admitted before it is known who runs, and with which ports.
void JobService::TakeOver(std::vector<Former> former, const std::vector<std::string>& attempt_ids) {
  std::map<std::int64_t, std::vector<AttemptName>> folders;
  std::vector<std::string> orphans;
  for (const Former& one : former) folders[one.job.uid()];
  for (const std::string& attempt_id : attempt_ids) {
    std::optional<AttemptName> name = ParseAttemptId(attempt_id);
    auto found = name ? folders.find(name->job_uid) : folders.end();
    if (found == folders.end()) {
      orphans.push_back(attempt_id);
    } else {
      found->second.push_back(*std::move(name));
    }
  }
  for (Former& one : former) {
    if (!one.job.has_tuning()) Add(one.job, one.lines_stored).SayAgain(std::move(one.lines_left));
  }
  for (Former& one : former) {  // they want to hear of their trials from the first moment on
    if (one.job.has_tuning()) TakeOverTuning(std::move(one));
  }
  for (const auto& [uid, runner] : runners_) runner->TakeOver(folders[uid], OnDone(uid));
  orphans_.Sweep(std::move(orphans));
}

JobRunner& JobService::Add(v1::JobRecord job, std::int64_t service_lines) {
  std::int64_t uid = job.uid();
  auto [added, is_new] =
      runners_.emplace(uid, std::make_unique<JobRunner>(outside_, std::move(job), service_lines));
  added_.Set();
  added_.Reset();
  return *added->second;
}

boost::asio::awaitable<Result<Job>> JobService::Create(std::string project, Job job) {
  co_await recovered_.Wait();
  TY_CO_TRY(v1::JobRecord record, co_await maker_.Make(std::move(project), std::move(job)));
  if (record.has_tuning()) {
    TY_CO_TRY(const std::vector<std::int64_t> uids, co_await tuning_.FindResumed(record));
    record.mutable_tuning()->mutable_resumed_uids()->Add(uids.begin(), uids.end());
  }
  v1::Event created;
  *created.mutable_created()->mutable_record() = record;
  created = Stamped(std::move(created), 1, wire::FromProto(record.job().create_time()));
  TY_CO_TRY(record, jobs::Apply(v1::JobRecord{}, created));
  TY_CO_RETURN_IF_ERROR(CheckQuota(record));
  TY_CO_TRY(TuningJobs::Resumed resumed, co_await tuning_.ReadResumed(record));
  auto creating = creating_.insert(creating_.end(), &record);  // others count it while it is written
  Result<std::int64_t> stored = co_await outside_.journal.Create(record, created);
  creating_.erase(creating);
  TY_CO_TRY(std::int64_t uid, std::move(stored));
  record.set_uid(uid);
  ++counted_.created;
  Job answer = Present(record);
  std::vector<jobs::ServiceLine> lines = jobs::LinesFor(record, created);
  if (record.has_tuning()) {
    TuningRunner& tuner = tuning_.Add(std::move(record), 0, std::move(resumed));
    tuner.SayAgain(std::move(lines));
    tuner.Start(OnTuningDone(uid));
    co_return answer;
  }
  JobRunner& runner = Add(std::move(record), 0);
  runner.SayAgain(std::move(lines));
  runner.Start(OnDone(uid));
  co_return answer;
}

/// A runner that ends while the others are being destroyed is nobody's business any more.
std::function<void()> JobService::OnDone(std::int64_t uid) {
  return [this, uid] {
    if (!stopping_) tasks_.Spawn(Forget(uid));
  };
}

/// Not in a local variable: when the server stops meanwhile, its owner must be out of the loop.
boost::asio::awaitable<void> JobService::Forget(std::int64_t uid) {
  auto leaving = leaving_.insert(runners_.extract(uid));  // from here on only the API writes the job
  leaving.position->second->Watch(nullptr);               // its tuning job may be gone before it is
  if (!leaving.position->second->job().has_trial())
    ++counted_.ended.at(static_cast<std::size_t>(leaving.position->second->job().job().state()));
  co_await leaving.position->second->Finish();
  leaving_.erase(uid);
}

boost::asio::awaitable<Result<v1::JobRecord>> JobService::Load(wire::JobName name) {
  Result<v1::JobRecord> record = co_await outside_.journal.Get(name.project, name.job_id);
  if (!record && record.error().code == Code::kNotFound) {
    co_return std::unexpected(Error{Code::kNotFound, std::string(kNoSuchJob), "name"});
  }
  co_return record;
}

boost::asio::awaitable<Result<std::string>> JobService::ShellTarget(wire::JobName name, std::string task_name,
                                                                    std::string token) {
  TY_CO_TRY(const v1::JobRecord record, co_await Load(std::move(name)));
  if (const TuningRunner* tuner = tuning_.Find(record.uid()))
    co_return tuning_.ShellTarget(*tuner, task_name, token);
  co_return control::ShellTarget(outside_.settings, record, task_name, token);
}

boost::asio::awaitable<Result<Job>> JobService::Get(wire::JobName name) {
  TY_CO_TRY(v1::JobRecord record, co_await Load(std::move(name)));
  co_return co_await Show(std::move(record), std::numeric_limits<int>::max());
}

/// A filtered page may be short, even empty, and still have a next one: what is looked at in one call is
/// bounded.
boost::asio::awaitable<Result<Job>> JobService::Patch(wire::JobName name, Job patch,
                                                      std::string update_mask) {
  TY_CO_TRY(std::vector<std::string> mask, wire::ParseFieldMask(update_mask, kPatchable));
  if (mask.empty())
    co_return std::unexpected(InvalidArgument("update_mask", "The update mask is required: labels, etag"));
  bool with_labels = std::ranges::find(mask, "labels") != mask.end();
  bool with_etag = std::ranges::find(mask, "etag") != mask.end();
  if (with_labels) TY_CO_RETURN_IF_ERROR(maker_.CheckLabels(patch));
  TY_CO_TRY(v1::JobRecord record, co_await Load(name));
  if (with_etag && patch.etag() != Etag(record)) co_return std::unexpected(WrongEtag());
  if (!with_labels) co_return co_await Show(std::move(record), std::numeric_limits<int>::max());
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
  co_return PolicyOf(record);
}

/// The policy's etag is checked against a record that must still be the job's when the event is written; an
/// event of the job's own life in between is no conflict.
boost::asio::awaitable<Result<iam::v1::Policy>> JobService::SetPolicy(wire::JobName name,
                                                                      iam::v1::SetIamPolicyRequest request) {
  for (int tries = 0; tries < kPostTriesMax; ++tries) {
    TY_CO_TRY(v1::JobRecord record, co_await Load(name));
    TY_CO_TRY(iam::v1::Policy policy, jobs::PolicyAfter(PolicyOf(record), request));
    policy.set_etag(PolicyEtag(record.revision() + 1));
    v1::Event event;
    *event.mutable_policy_set()->mutable_policy() = policy;
    Status posted = co_await Post(name, std::move(event), record.revision());
    if (posted) co_return policy;
    if (posted.error().code != Code::kAborted) co_return std::unexpected(posted.error());
  }
  co_return std::unexpected(BeingChanged());
}

boost::asio::awaitable<Result<v1::JobStatus>> JobService::Describe(wire::JobName name) {
  TY_CO_TRY(const v1::JobRecord record, co_await Load(std::move(name)));
  if (record.has_tuning()) co_return co_await tuning_.Describe(record);
  auto runner = runners_.find(record.uid());
  if (runner != runners_.end()) co_return runner->second->Describe();
  co_return MakeStatus(record, {.usage = outside_.usage});
}

boost::asio::awaitable<Status> JobService::Cancel(wire::JobName name) {
  v1::Event event;
  event.mutable_cancel_requested()->set_reason("Cancelled by the user.");
  co_return co_await Post(std::move(name), std::move(event), std::nullopt);
}

boost::asio::awaitable<Status> JobService::Maintain(wire::JobName name, std::string task_name) {
  TY_CO_TRY(v1::JobRecord job, co_await Load(name));
  TY_CO_TRY(v1::Event event, MaintenanceOf(job, task_name));
  co_return co_await Post(std::move(name), std::move(event), std::nullopt);
}

boost::asio::awaitable<Result<v1::JobRecord>> JobService::Record(wire::JobName name) {
  co_return co_await Load(std::move(name));
}

Figures JobService::Count() const {
  Figures figures = counted_;
  for (const auto& [uid, tuner] : tuning_.all())
    ++figures.unfinished.at(static_cast<std::size_t>(tuner->job().job().state()));
  for (const auto& [uid, runner] : runners_) {
    if (!runner->job().has_trial())
      ++figures.unfinished.at(static_cast<std::size_t>(runner->job().job().state()));
    figures.supervisors += runner->CountLiving();
  }
  return figures;
}

void JobService::ForEachUnfinished(const std::function<void(const v1::JobRecord&)>& visit) const {
  for (const auto& [uid, runner] : runners_) visit(runner->job());
}

/// Through the job's runner while it has one; an ended job has no other writer. A job can be seen in the
/// store before its Create has resumed and made its runner, and after its end while its runner goes: then it
/// is looked at again.
boost::asio::awaitable<Status> JobService::Post(wire::JobName name, v1::Event event,
                                                std::optional<std::int64_t> revision) {
  co_await recovered_.Wait();
  for (int tries = 0; tries < kPostTriesMax; ++tries) {
    TY_CO_TRY(v1::JobRecord job, co_await Load(name));
    if (TuningRunner* tuner = tuning_.Find(job.uid()))
      co_return co_await tuner->Post(std::move(event), revision);
    auto runner = runners_.find(job.uid());
    if (runner != runners_.end()) co_return co_await runner->second->Post(std::move(event), revision);
    if (!job.job().has_end_time()) {
      co_await added_.WaitFor(kRunnerWait);
      continue;
    }
    if (event.has_cancel_requested()) co_return Status{};
    if (revision && *revision != job.revision()) co_return std::unexpected(WrongEtag());
    Status recorded = co_await RecordForEnded(std::move(job), event);
    if (recorded || recorded.error().code != Code::kAborted) co_return recorded;
  }
  co_return std::unexpected(BeingChanged());
}

boost::asio::awaitable<Status> JobService::RecordForEnded(v1::JobRecord job, v1::Event event) {
  v1::Event stamped = Stamped(std::move(event), job.revision() + 1, outside_.clock.Now());
  TY_CO_TRY(v1::JobRecord after, jobs::Apply(job, stamped));
  co_return co_await outside_.journal.Append(std::move(after), std::move(stamped));
}

Status JobService::OnHello(std::shared_ptr<engine::ReplicaLink> link,
                           const engine::FromReplica::Hello& hello) {
  if (!IsAttemptToken(outside_.settings, hello.attempt_id(), hello.token())) {
    return std::unexpected(
        Error{Code::kUnauthenticated, "the token is not that of attempt " + hello.attempt_id(), ""});
  }
  Attempt attempt = FindAttempt(hello.attempt_id());
  if (attempt.runner != nullptr) {
    attempt.runner->OnHello(std::move(link), attempt.replica, attempt.number, hello.phase());
  } else {  // its job has ended, so its exit and its lines are stored
    SendAway(*link, hello.phase());
  }
  return {};
}

boost::asio::awaitable<void> JobService::OnFrame(std::shared_ptr<engine::ReplicaLink> link,
                                                 std::string attempt_id, engine::FromReplica frame) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner == nullptr) {
    SeeOff(*link, frame);
  } else if (frame.has_log()) {
    logs::LogSource source = AttemptSource(attempt.runner->job(), attempt.replica, attempt.number);
    counted_.log_lines += frame.log().line_count();
    counted_.log_bytes += static_cast<std::int64_t>(frame.log().lines().size());
    counted_.log_bytes_dropped += std::max<std::int64_t>(frame.log().dropped_bytes(), 0);
    co_await TakeLines(outside_.logs, std::move(source), std::move(link), std::move(*frame.mutable_log()),
                       outside_.settings);
  } else {
    attempt.runner->OnFrame(*link, attempt.replica, attempt.number, std::move(frame));
  }
}

void JobService::OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner != nullptr) attempt.runner->OnClosed(link, attempt.replica);
}

void JobService::OnGone(const std::string& attempt_id) {
  Attempt attempt = FindAttempt(attempt_id);
  if (attempt.runner == nullptr) {
    if (recovered_.IsSet()) orphans_.OnGone(attempt_id);  // before, its runner is yet to come
    return;
  }
  attempt.runner->OnGone(attempt.replica, attempt.number);
}

/// The job as the API shows it: with its place in the queue, and the revision as etag.
Job JobService::Present(const v1::JobRecord& record) const {
  Job job = record.job();
  if (std::optional<placement::Wait> wait = outside_.admissions.WaitOf(record.uid()))
    job.set_job_position(wait->position);
  job.set_etag(Etag(record));
  for (const auto& [task_name, uri] : WebAccessUris(outside_.settings, record))
    (*job.mutable_training_output()->mutable_web_access_uris())[task_name] = uri;
  return job;
}

/// With what a tuning job's trials add: as their runner knows them, else as they were when they ended.
boost::asio::awaitable<Result<Job>> JobService::Show(v1::JobRecord record, int trials_max) {
  Job job = Present(record);
  if (record.has_tuning())
    TY_CO_RETURN_IF_ERROR(co_await tuning_.Complete(std::move(record), job, trials_max));
  co_return job;
}

/// Counts every job that may still use what it was given; a tuning job for all trials that may run at once.
Status JobService::CheckQuota(const v1::JobRecord& asking) const {
  jobs::AcceleratorDemand demand{.held = {}, .asked = AcceleratorsOf(asking)};
  if (accelerator_quota_.empty() || demand.asked.empty()) return {};
  auto count = [&](const v1::JobRecord& other) {
    if (other.project() != asking.project() || other.job().has_end_time()) return;
    for (const auto& [type, held] : AcceleratorsOf(other)) demand.held[type] += held;
  };
  for (const auto& [uid, tuner] : tuning_.all()) count(tuner->job());
  for (const auto& [uid, runner] : runners_) count(runner->job());
  for (const v1::JobRecord* other : creating_) count(*other);
  return jobs::CheckAcceleratorQuota(accelerator_quota_, asking.project(), demand);
}

}  // namespace trainyard::control

#include "api/own/operations.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/process/account_name.h"
#include "base/wire/time.h"
#include "control/upkeep/drain_order.h"
#include "net/access/caller.h"
#include "stores/backup/backup_place.h"

namespace trainyard::api {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

/// How often the loop's lateness is sampled, and how long a sample counts.
constexpr milliseconds kPulse{1'000};
constexpr std::chrono::seconds kLatenessMemory{10};
/// How long an answer is reused: each needs a write that is synced.
constexpr milliseconds kReadinessMemory{1'000};

/// Describes a job that has resources.
void Describe(const control::v1::JobRecord& job, control::v1::AdminJob& shown) {
  shown.set_project(job.project());
  shown.set_job_id(job.job().job_id());
  if (job.has_trial()) shown.set_trial_id(job.trial().trial_id());
  shown.set_state(ml::v1::Job::State_Name(job.job().state()));
  int living = 0;
  for (const control::v1::ReplicaRecord& replica : job.replicas()) {
    if (replica.attempt() != 0 && !replica.has_exit()) ++living;
  }
  shown.set_replicas(living);
}

/// Blocking.
service::ReadinessFacts LookAt(control::DiskSpace& disk, store::WriteProbe& probe) {
  control::DiskSpace::DiskState seen = disk.Look();
  service::ReadinessFacts facts{
      .disk = std::move(seen.reading), .marks = disk.marks(), .disk_level = seen.level};
  facts.stored = probe.Try();
  return facts;
}

}  // namespace

Operations::Operations(Sources sources, control::v1::Drain drain)
    : sources_(std::move(sources)),
      drain_(std::move(drain)),
      probe_(sources_.data_dir + "/trainyard.db"),
      tasks_(sources_.loop) {
  if (drain_.on()) {
    sources_.admissions.Set(engine::Stop::kDrained, control::DescribeDrain(drain_));
    Diagnose(DiagnosticLevel::kWarning, control::DescribeDrain(drain_).reason);
  }
  tasks_.Spawn(Pulse());
}

/// Measures how late the loop runs a timer.
awaitable<void> Operations::Pulse() {
  asio::steady_timer timer(sources_.loop);
  for (;;) {
    const SteadyClock::time_point due = SteadyClock::now() + kPulse;
    timer.expires_at(due);
    co_await timer.async_wait(asio::use_awaitable);
    const SteadyClock::time_point now = SteadyClock::now();
    lateness_[now] = std::chrono::duration_cast<milliseconds>(now - due);
    lateness_.erase(lateness_.begin(), lateness_.lower_bound(now - kLatenessMemory));
  }
}

awaitable<control::v1::AdminStatus> Operations::Status() {
  control::v1::AdminStatus status;
  status.set_version(sources_.version);
  *status.mutable_drain() = drain_;
  AddRunning(status);
  status.set_waiting_jobs(static_cast<std::int64_t>(sources_.admissions.waiting_count()));
  *status.mutable_backup() = backups_.Last();
  co_await LookWhetherReady();
  *status.mutable_readiness() = service::Judge(facts_);
  co_return status;
}

void Operations::AddRunning(control::v1::AdminStatus& status) const {
  const std::vector<std::int64_t> uids = sources_.admissions.Granted();
  const std::set<std::int64_t> granted(uids.begin(), uids.end());
  sources_.jobs.ForEachUnfinished([&](const control::v1::JobRecord& job) {
    if (granted.contains(job.uid())) Describe(job, *status.add_running());
  });
}

awaitable<Result<control::v1::Drain>> Operations::SetDrain(bool on, std::string by) {
  if (on == drain_.on()) co_return drain_;
  control::v1::Drain wanted;
  if (on) {
    wanted.set_on(true);
    wanted.set_by(std::move(by));
    *wanted.mutable_since() = wire::ToProto(sources_.clock.Now());
  }
  auto keep = [data = sources_.data_dir, wanted] { return control::KeepDrain(data, wanted); };
  TY_CO_RETURN_IF_ERROR(co_await OnPool(files_, std::move(keep)));
  drain_ = wanted;
  if (on) {
    sources_.admissions.Set(engine::Stop::kDrained, control::DescribeDrain(drain_));
  } else {
    sources_.admissions.Clear(engine::Stop::kDrained);
  }
  Diagnose(DiagnosticLevel::kInfo, on ? control::DescribeDrain(drain_).reason : "draining is turned off");
  co_return drain_;
}

Result<control::v1::Backup> Operations::BeginBackup(control::v1::BackupRequest request, bool from_machine) {
  TY_TRY(std::string folder, backup::AllowedPlace(request.directory(), sources_.backup_dir, from_machine));
  std::int64_t unfinished = 0;
  sources_.jobs.ForEachUnfinished([&unfinished](const control::v1::JobRecord& job) {
    if (!job.has_trial()) ++unfinished;
  });
  return backups_.Begin({.data = sources_.data_dir,
                         .folder = std::move(folder),
                         .bucket_dirs = sources_.bucket_dirs,
                         .with_bucket_dirs = request.with_bucket_dirs(),
                         .copy_objects = request.copy_objects(),
                         .program_version = sources_.version,
                         .unfinished_jobs = unfinished,
                         .clock = &sources_.clock});
}

awaitable<Result<control::v1::Reload>> Operations::Reload() {
  TY_CO_TRY(const std::vector<std::string> read, reload_hooks_.RunAll());
  control::v1::Reload reload;
  for (const std::string& what : read) reload.add_read_again(what);
  co_return reload;
}

awaitable<control::v1::Readiness> Operations::CheckReady() {
  co_await LookWhetherReady();
  co_return service::Judge(service::ForEverybody(facts_));
}

awaitable<void> Operations::LookWhetherReady() {
  if (checked_at_ && SteadyClock::now() - *checked_at_ < kReadinessMemory) co_return;
  auto look = [&disk = sources_.disk, &probe = probe_] { return LookAt(disk, probe); };
  service::ReadinessFacts facts = co_await OnPool(files_, std::move(look));
  facts.recovered = recovered_;
  facts.draining = drain_.on();
  facts.clock_ahead = sources_.clock_watch.Doubt().value_or(std::chrono::nanoseconds{0});
  for (const auto& [at, late] : lateness_) facts.lateness = std::max(facts.lateness, late);
  facts_ = std::move(facts);
  checked_at_ = SteadyClock::now();
}

std::string Operations::WhoAsks(const http::Request& request) const {
  if (request.caller != nullptr) return request.caller->principal();
  if (request.peer == nullptr || !request.peer->uid) return {};
  const std::string name = AccountName(*request.peer->uid);
  return name.empty() ? "account " + std::to_string(*request.peer->uid) : name;
}

}  // namespace trainyard::api

#include "control/upkeep/sweeper.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "programs/environment/built_runtime.h"
#include "rules/cluster/role_packages.h"
#include "rules/cluster/task_name.h"
#include "rules/retention/keep.h"
#include "stores/logs/log_reader.h"

namespace trainyard::control {

namespace {

namespace fs = std::filesystem;
using boost::asio::awaitable;
using retention::Candidate;
using retention::Removal;
using SteadyClock = std::chrono::steady_clock;

/// Jobs that are hidden in one transaction and then erased together.
constexpr int kPage = JobRemoval::kTogether;
constexpr std::chrono::milliseconds kBreathMax{250};
/// Rows that are only counted.
constexpr int kCountedTogether = 10'000;

std::vector<environment::EnvironmentRequest> RequestsOf(const JobService& service,
                                                        const std::string& environments_dir) {
  std::vector<environment::EnvironmentRequest> requests;
  const auto add = [&](const control::v1::JobRecord& job) {
    if (job.runtime_version().empty()) return;
    for (const cluster::Packages* packages : cluster::PackageLists(job)) {
      environment::EnvironmentRequest request{.environments_dir = environments_dir,
                                              .runtime_version = job.runtime_version()};
      for (const auto& package : *packages) request.packages.push_back({package.uri(), package.checksum()});
      requests.push_back(std::move(request));
    }
  };
  for (const auto& [uid, runner] : service.registry().all()) add(runner->job());
  for (const auto& [uid, tuner] : service.registry().tuning().all()) add(tuner->job());
  return requests;
}

/// Removes directories beyond the limits. Blocking.
void RemoveFolders(const std::string& environments_dir,
                   const std::vector<environment::EnvironmentFolder>& list, const std::set<fs::path>& needed,
                   const retention::Limits& limits, SysTime now, std::int64_t& count, std::int64_t& bytes) {
  std::vector<Candidate> kept;
  for (const auto& one : list)
    kept.push_back({.last_used = one.last_used, .bytes = one.bytes, .needed = needed.contains(one.path)});
  for (const Removal& going : retention::WhatGoes(kept, limits, now)) {
    const fs::path& path = list[going.index].path;
    std::error_code error;
    if (!fs::exists(path, error)) continue;  // it was removed with its base
    const auto freed = environment::RemoveEnvironmentFolder(environments_dir, path);
    if (!freed && freed.error().code == Code::kFailedPrecondition) continue;  // in use, or being built
    if (!freed) {
      Diagnose(DiagnosticLevel::kWarning, path.string() + " is not removed: " + freed.error().message);
      continue;
    }
    ++count;
    bytes += static_cast<std::int64_t>(*freed);
  }
}

/// The downloads that builds share: scratch, and what goes first if there is a limit of size. Blocking.
void RemoveCache(const std::string& environments_dir, std::int64_t others_bytes,
                 const retention::Policy& policy, SysTime now, service::SweepReport& report) {
  const auto last_use = environment::DownloadCacheUse(environments_dir);
  if (!last_use) return;
  retention::Limits limits{.age = policy.scratch};
  Candidate one{.last_used = *last_use};
  if (policy.environments_bytes) {
    limits.bytes_max = std::max<std::int64_t>(*policy.environments_bytes - others_bytes, 0);
    one.bytes = static_cast<std::int64_t>(environment::DownloadCacheBytes(environments_dir));
  }
  if (retention::WhatGoes(std::array{one}, limits, now).empty()) return;
  const auto freed = environment::RemoveDownloadCache(environments_dir);
  if (!freed) return;  // a build uses it
  ++report.builds;
  report.build_bytes += static_cast<std::int64_t>(*freed);
}

std::optional<SysTime> ChangedAt(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec);
}

bool HasEnded(engine::AttemptState state) {
  switch (state) {
    case engine::AttemptState::kEnded:
    case engine::AttemptState::kLost:
    case engine::AttemptState::kAbsent: return true;
    case engine::AttemptState::kPending:
    case engine::AttemptState::kAlive:
    case engine::AttemptState::kUnknown: return false;
  }
  return false;
}

}  // namespace

Sweeper::Sweeper(boost::asio::any_io_executor loop, Dependencies parts)
    : loop_(std::move(loop)), parts_(std::move(parts)), tasks_(loop_) {
  tasks_.Spawn(Run());
}

awaitable<void> Sweeper::Run() {
  boost::asio::steady_timer timer(loop_);
  for (;;) {
    service::SweepReport report;
    const Status swept = co_await SweepAll(report);
    const std::string text = service::SweepText(report, parts_.policy);
    if (!text.empty()) Diagnose(DiagnosticLevel::kInfo, text);
    if (!swept) Diagnose(DiagnosticLevel::kWarning, "old data is not removed yet: " + swept.error().message);
    timer.expires_after(retention::SweepPause(parts_.policy));
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

awaitable<Status> Sweeper::SweepAll(service::SweepReport& report) {
  // Finishes what a killed server had begun, once the jobs are taken over: before that it is not known which
  // are needed.
  TY_CO_TRY(const RemovedJobs begun, co_await parts_.jobs.removal().RemoveEnded({}));
  report.jobs += begun.jobs;
  report.job_log_bytes += begun.bytes;
  TY_CO_TRY(now_, co_await TimeOfSweep());
  TY_CO_RETURN_IF_ERROR(co_await SweepJobs(report));
  TY_CO_RETURN_IF_ERROR(co_await SweepLogs(report));
  TY_CO_RETURN_IF_ERROR(co_await SweepAttempts(report));
  co_return co_await SweepEnvironments(report);
}

awaitable<Result<SysTime>> Sweeper::TimeOfSweep() {
  const SysTime believed = parts_.clock.NowForRemoval();
  const std::optional<std::chrono::nanoseconds> ahead = parts_.clock.Doubt();
  if (!ahead) doubt_said_ = false;
  if (!ahead) co_return believed;
  const SysTime shown = believed + *ahead;
  TY_CO_TRY(const retention::Share jobs, co_await OldJobs(shown));
  TY_CO_TRY(const retention::Share logs, co_await OldLogs(shown));
  const retention::Share environments = co_await OldEnvironments(shown);
  if (jobs.IsSmall() && logs.IsSmall() && environments.IsSmall()) co_return shown;
  if (!std::exchange(doubt_said_, true))
    Diagnose(DiagnosticLevel::kWarning, service::DoubtText({.ahead = *ahead,
                                                            .data_dir = parts_.data_dir,
                                                            .jobs = jobs,
                                                            .logs = logs,
                                                            .environments = environments}));
  co_return believed;
}

awaitable<Result<retention::Share>> Sweeper::OldJobs(SysTime now) {
  const std::optional<SysTime> cutoff = retention::Cutoff(parts_.policy.jobs, now);
  retention::Share share;
  store::FinishedQuery query{.before = SysTime::max(), .count = kCountedTogether};
  while (cutoff) {
    TY_CO_TRY(const std::vector<store::FinishedJob> page,
              co_await parts_.journal.Read([&](store::JobStore& jobs) { return jobs.Finished(query); }));
    if (page.empty()) break;
    query.after = page.back();
    share.all += std::ssize(page);
    share.going +=
        std::ranges::count_if(page, [&](const store::FinishedJob& job) { return job.end_time < *cutoff; });
  }
  co_return share;
}

awaitable<Result<retention::Share>> Sweeper::OldLogs(SysTime now) {
  const std::optional<SysTime> cutoff = retention::Cutoff(parts_.policy.logs, now);
  retention::Share share;
  for (std::int64_t after = 0; cutoff;) {
    TY_CO_TRY(const std::vector<logs::OldLog> page, co_await parts_.logs.Read([&](logs::LogReader& reader) {
      return reader.Older(SysTime::max(), after, kCountedTogether);
    }));
    if (page.empty()) break;
    after = page.back().job_uid;
    share.all += std::ssize(page);
    share.going +=
        std::ranges::count_if(page, [&](const logs::OldLog& log) { return log.last_line < *cutoff; });
  }
  co_return share;
}

awaitable<retention::Share> Sweeper::OldEnvironments(SysTime now) {
  return OnPool(removing_, [folder = parts_.environments_dir,
                            cutoff = retention::Cutoff(parts_.policy.environments, now)] {
    retention::Share share;
    for (const auto& one : environment::ListEnvironmentFolders(folder, false)) {
      if (!one.is_complete || !cutoff) continue;
      ++share.all;
      if (one.last_used < *cutoff) ++share.going;
    }
    return share;
  });
}

awaitable<void> Sweeper::Breathe(SteadyClock::time_point begun) {
  boost::asio::steady_timer timer(loop_);
  timer.expires_after(std::min<SteadyClock::duration>(SteadyClock::now() - begun, kBreathMax));
  co_await timer.async_wait(boost::asio::use_awaitable);
}

awaitable<Status> Sweeper::SweepJobs(service::SweepReport& report) {
  const std::optional<SysTime> cutoff = retention::Cutoff(parts_.policy.jobs, now_);
  if (!cutoff) co_return Status{};
  const retention::Limits limits{.age = parts_.policy.jobs};
  store::FinishedQuery query{.before = *cutoff, .count = kPage};
  for (;;) {
    const SteadyClock::time_point begun = SteadyClock::now();
    TY_CO_TRY(const std::vector<store::FinishedJob> page,
              co_await parts_.journal.Read([&](store::JobStore& jobs) { return jobs.Finished(query); }));
    if (page.empty()) co_return Status{};
    query.after = page.back();
    std::vector<Candidate> kept;
    for (const store::FinishedJob& job : page) kept.push_back({.last_used = job.end_time});
    std::vector<std::int64_t> uids;  // RemoveEnded leaves out those that are still needed
    for (const Removal& going : retention::WhatGoes(kept, limits, now_))
      uids.push_back(page[going.index].uid);
    TY_CO_TRY(const RemovedJobs removed, co_await parts_.jobs.removal().RemoveEnded(std::move(uids)));
    report.jobs += removed.jobs;
    report.job_log_bytes += removed.bytes;
    co_await Breathe(begun);
  }
}

awaitable<Status> Sweeper::SweepLogs(service::SweepReport& report) {
  const std::optional<SysTime> cutoff = retention::Cutoff(parts_.policy.logs, now_);
  if (!cutoff) co_return Status{};
  const retention::Limits limits{.age = parts_.policy.logs};
  std::int64_t after = 0;
  for (;;) {
    const SteadyClock::time_point begun = SteadyClock::now();
    TY_CO_TRY(const std::vector<logs::OldLog> page, co_await parts_.logs.Read([&](logs::LogReader& reader) {
      return reader.Older(*cutoff, after, kPage);
    }));
    if (page.empty()) co_return Status{};
    after = page.back().job_uid;
    const std::set<std::int64_t> needed = parts_.jobs.removal().NeededJobs();
    std::vector<Candidate> kept;
    for (const logs::OldLog& log : page)
      kept.push_back({.last_used = log.last_line, .needed = needed.contains(log.job_uid)});
    std::vector<std::int64_t> uids;
    for (const Removal& going : retention::WhatGoes(kept, limits, now_))
      uids.push_back(page[going.index].job_uid);
    TY_CO_TRY(const logs::ErasedLogs erased, co_await parts_.logs.Erase(std::move(uids)));
    report.logs += erased.jobs;
    report.log_bytes += erased.bytes;
    co_await Breathe(begun);
  }
}

/// An attempt's directory is usually removed at its end, or when a server starts. Those found here could not
/// be removed then.
awaitable<Status> Sweeper::SweepAttempts(service::SweepReport& report) {
  const std::optional<SysTime> cutoff = retention::Cutoff(parts_.policy.scratch, now_);
  if (!cutoff) co_return Status{};
  TY_CO_TRY(const std::vector<engine::AttemptRef> attempts, co_await parts_.hosts.List());
  const std::set<std::int64_t> needed = parts_.jobs.removal().NeededJobs();
  for (const engine::AttemptRef& attempt : attempts) {
    const std::optional<cluster::AttemptName> name = cluster::ParseAttemptId(attempt.id);
    if (!name || needed.contains(name->job_uid)) continue;
    const std::optional<SysTime> changed = ChangedAt(parts_.attempts_dir + "/" + attempt.id);
    if (!changed || *changed >= *cutoff) continue;
    const engine::Inspection found = co_await parts_.hosts.Of(attempt.agent).Inspect(attempt);
    if (!HasEnded(found.state)) continue;
    const Status forgotten = co_await parts_.hosts.Of(attempt.agent).Forget(attempt);
    if (forgotten) ++report.attempts;
  }
  co_return Status{};
}

awaitable<Status> Sweeper::SweepEnvironments(service::SweepReport& report) {
  auto sweep = [folder = parts_.environments_dir, policy = parts_.policy, now = now_,
                requests = RequestsOf(parts_.jobs, parts_.environments_dir)] {
    service::SweepReport swept;
    std::vector<environment::EnvironmentFolder> left, complete;
    for (auto& one : environment::ListEnvironmentFolders(folder, policy.environments_bytes.has_value()))
      (one.is_complete ? complete : left).push_back(std::move(one));
    std::int64_t complete_bytes = 0;
    for (const environment::EnvironmentFolder& one : complete) complete_bytes += one.bytes;
    RemoveCache(folder, complete_bytes, policy, now, swept);
    const std::set<fs::path> needed = environment::FoldersOf(requests);
    RemoveFolders(folder, left, needed, {.age = policy.scratch}, now, swept.builds, swept.build_bytes);
    RemoveFolders(folder, complete, needed,
                  {.age = policy.environments, .bytes_max = policy.environments_bytes}, now,
                  swept.environments, swept.environment_bytes);
    return swept;
  };
  const service::SweepReport swept = co_await OnPool(removing_, std::move(sweep));
  report.builds += swept.builds;
  report.build_bytes += swept.build_bytes;
  report.environments += swept.environments;
  report.environment_bytes += swept.environment_bytes;
  co_return Status{};
}

}  // namespace trainyard::control

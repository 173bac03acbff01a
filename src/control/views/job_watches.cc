#include "control/views/job_watches.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/async/event.h"
#include "control/run/service_log.h"
#include "stores/store/job_rules.h"

namespace trainyard::control {

namespace {

namespace asio = boost::asio;
using std::chrono::steady_clock;

struct FollowedLog {
  std::string job_id;
  std::int64_t uid = 0;
  std::int64_t lines = -1;  ///< as last sent; -1: nothing was sent yet
  bool grew = true;
};

}  // namespace

struct JobWatches::Listeners {
  std::unordered_map<std::string, std::unordered_set<Live*>> by_project;
  std::unordered_map<std::int64_t, std::unordered_set<Live*>> by_log;  ///< by the job's uid

  void OnChange(const std::string& project);
  void OnLines(std::int64_t job_uid);
};

class JobWatches::Live final : public JobWatch {
 public:
  Live(JobWatches& watches, Query query, std::shared_ptr<ListSearch> search, std::vector<FollowedLog> logs)
      : outside_(watches.outside_),
        presenter_(watches.presenter_),
        listing_(watches.listing_),
        listeners_(watches.listeners_),
        turn_(watches.turns_),
        query_(std::move(query)),
        search_(std::move(search)),
        logs_(std::move(logs)),
        wake_(watches.outside_.loop) {
    listeners_->by_project[query_.project].insert(this);
    for (const FollowedLog& log : logs_) listeners_->by_log[log.uid].insert(this);
  }
  ~Live() override {
    Leave(listeners_->by_project, query_.project);
    for (const FollowedLog& log : logs_) Leave(listeners_->by_log, log.uid);
  }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  void WantJobs() {
    jobs_wanted_ = true;
    wake_.Set();
  }
  void WantJob(const std::string& job_id) {
    touched_.insert(job_id);  // bounded by the number of waiting jobs, whose records take much more memory
    WantJobs();
  }
  void WantLog(std::int64_t job_uid) {
    std::ranges::find(logs_, job_uid, &FollowedLog::uid)->grew = true;
    logs_wanted_ = true;
    wake_.Set();
  }

  asio::awaitable<Result<std::optional<v1::JobChanges>>> Next(steady_clock::duration wait_max) override {
    const steady_clock::time_point give_up_at = steady_clock::now() + wait_max;
    while (co_await WaitUntilDue(give_up_at)) {
      turn_.Want();
      if (!co_await turn_.WaitFor(give_up_at - steady_clock::now())) break;
      const EndOfTurn end{turn_};
      v1::JobChanges changes;
      TY_CO_RETURN_IF_ERROR(co_await ReadJobs(changes));
      TY_CO_RETURN_IF_ERROR(co_await ReadLogs(changes));
      const bool is_first = !std::exchange(has_answered_, true);
      if (!is_first && changes.changes().empty() && changes.logs().empty()) continue;
      changes.set_resume_token(query_.resume_token);
      co_return changes;
    }
    co_return std::nullopt;
  }

 private:
  struct EndOfTurn {
    Turns::Waiter& turn;
    ~EndOfTurn() { turn.Done(); }
  };

  template <class Map>
  void Leave(Map& map, const typename Map::key_type& key) {
    const auto listed = map.find(key);
    listed->second.erase(this);
    if (listed->second.empty()) map.erase(listed);
  }

  [[nodiscard]] bool AreJobsDue(steady_clock::time_point now) const {
    return jobs_wanted_ && now >= jobs_read_at_ + kChangesInterval;
  }
  [[nodiscard]] bool AreLogsDue(steady_clock::time_point now) const {
    return logs_wanted_ && now >= logs_read_at_ + kLogsInterval;
  }

  asio::awaitable<bool> WaitUntilDue(steady_clock::time_point give_up_at) {
    for (;;) {
      const steady_clock::time_point now = steady_clock::now();
      if (AreJobsDue(now) || AreLogsDue(now)) co_return true;
      if (now >= give_up_at) co_return false;
      steady_clock::time_point until = give_up_at;
      if (jobs_wanted_) until = std::min(until, jobs_read_at_ + kChangesInterval);
      if (logs_wanted_) until = std::min(until, logs_read_at_ + kLogsInterval);
      wake_.Reset();
      co_await wake_.WaitFor(until - now);
    }
  }

  asio::awaitable<Status> ReadJobs(v1::JobChanges& changes) {
    if (!AreJobsDue(steady_clock::now())) co_return Status();
    jobs_wanted_ = false;
    jobs_read_at_ = steady_clock::now();
    TY_CO_TRY(store::ChangedJobs changed,
              co_await outside_.journal.Read(
                  [project = query_.project, token = query_.resume_token](store::JobStore& jobs) {
                    return store::ReadChanged(jobs, project, token, kChangesMax);
                  }));
    for (store::ChangedJob& one : changed.jobs) {
      touched_.erase(one.job_id);  // its row is made after this
      v1::JobChanges::Change& change = *changes.add_changes();
      change.set_job_id(one.job_id);
      for (std::string& trial_id : one.trial_ids) change.add_trial_ids(std::move(trial_id));
      if (one.job) TY_CO_RETURN_IF_ERROR(co_await AddRow(*std::move(one.job), change));
    }
    const auto room = static_cast<std::size_t>(kChangesMax - changes.changes_size());
    for (const std::string& job_id : TakeTouched(std::min(room, kTouchedMax))) {
      Result<v1::JobRecord> job = co_await outside_.journal.Read(
          [project = query_.project, job_id](store::JobStore& jobs) { return jobs.Get(project, job_id); });
      if (!job) continue;  // its removal is reported as a change
      v1::JobChanges::Change& change = *changes.add_changes();
      change.set_job_id(job_id);
      TY_CO_RETURN_IF_ERROR(co_await AddRow(*std::move(job), change));
    }
    query_.resume_token = std::move(changed.resume_token);
    if (changed.more) WantJobs();
    co_return Status();
  }

  /// As many as fit in the answer; the others are due next.
  std::set<std::string> TakeTouched(std::size_t count_max) {
    std::set<std::string> taken;
    while (!touched_.empty() && taken.size() < count_max) taken.insert(touched_.extract(touched_.begin()));
    if (!touched_.empty()) WantJobs();
    return taken;
  }

  asio::awaitable<Status> AddRow(v1::JobRecord job, v1::JobChanges::Change& change) {
    TY_CO_TRY(const bool wanted, co_await listing_.Wants(search_, job));
    if (wanted) *change.mutable_job() = presenter_.Row(job);
    co_return Status();
  }

  asio::awaitable<Status> ReadLogs(v1::JobChanges& changes) {
    if (!AreLogsDue(steady_clock::now())) co_return Status();
    logs_wanted_ = false;
    logs_read_at_ = steady_clock::now();
    for (FollowedLog& log : logs_) {
      if (!std::exchange(log.grew, false)) continue;
      TY_CO_TRY(const std::int64_t lines, co_await outside_.logs.Length(log.uid));
      if (std::exchange(log.lines, lines) == lines) continue;
      v1::JobChanges::LogLength& said = *changes.add_logs();
      said.set_job_id(log.job_id);
      said.set_lines(lines);
    }
    co_return Status();
  }

  const Collaborators& outside_;
  JobPresenter& presenter_;
  JobListing& listing_;
  const std::shared_ptr<Listeners> listeners_;
  Turns::Waiter turn_;
  Query query_;  ///< with the token of the last read
  const std::shared_ptr<ListSearch> search_;
  std::vector<FollowedLog> logs_;  ///< each job once
  std::set<std::string> touched_;
  bool jobs_wanted_ = true;
  bool logs_wanted_ = true;
  bool has_answered_ = false;
  steady_clock::time_point jobs_read_at_;
  steady_clock::time_point logs_read_at_;
  Event wake_;
};

/// An empty project: any.
void JobWatches::Listeners::OnChange(const std::string& project) {
  if (project.empty()) {
    for (const auto& [name, watches] : by_project)
      for (Live* watch : watches) watch->WantJobs();
    return;
  }
  const auto listed = by_project.find(project);
  if (listed == by_project.end()) return;
  for (Live* watch : listed->second) watch->WantJobs();
}

void JobWatches::Listeners::OnLines(std::int64_t job_uid) {
  const auto listed = by_log.find(job_uid);
  if (listed == by_log.end()) return;
  for (Live* watch : listed->second) watch->WantLog(job_uid);
}

JobWatches::JobWatches(const Collaborators& outside, JobPresenter& presenter, JobListing& listing)
    : outside_(outside),
      presenter_(presenter),
      listing_(listing),
      listeners_(std::make_shared<Listeners>()),
      turns_(outside.loop, kReadingAtOnce) {
  observing_ = outside_.journal.OnChange(
      [listeners = listeners_](const std::string& project) { listeners->OnChange(project); });
  outside_.logs.OnAppended(this,
                           [listeners = listeners_](std::int64_t job_uid) { listeners->OnLines(job_uid); });
}

JobWatches::~JobWatches() { outside_.logs.OnAppended(this, nullptr); }

std::function<void(const v1::JobRecord& job)> JobWatches::Toucher() const {
  return [listeners = listeners_](const v1::JobRecord& job) {
    const auto watches = listeners->by_project.find(job.project());
    if (watches == listeners->by_project.end()) return;
    for (Live* watch : watches->second) watch->WantJob(job.job().job_id());
  };
}

asio::awaitable<Result<std::shared_ptr<JobWatch>>> JobWatches::Start(Query query) {
  TY_CO_TRY(std::shared_ptr<ListSearch> search, listing_.Search(query.filter));
  if (query.logs_of.size() > kLogsMax)
    co_return std::unexpected(InvalidArgument(
        "logs_of", "A stream follows the logs of at most " + std::to_string(kLogsMax) + " jobs"));
  if (query.resume_token.empty()) {
    TY_CO_TRY(query.resume_token, co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return jobs.ResumeToken(query.project);
    }));
  } else {  // refused now, while the status can still be sent
    TY_CO_RETURN_IF_ERROR(co_await outside_.journal.Read([&](store::JobStore& jobs) {
      return store::ReadChanged(jobs, query.project, query.resume_token, 1);
    }));
  }
  std::vector<FollowedLog> logs;
  const std::set<std::string> logs_of(query.logs_of.begin(), query.logs_of.end());
  for (const std::string& job_id : logs_of) {
    const Result<v1::JobRecord> job = co_await outside_.journal.Read(
        [&](store::JobStore& jobs) { return jobs.Get(query.project, job_id); });
    if (job) logs.push_back({.job_id = job_id, .uid = LogUid(*job)});
  }
  co_return std::make_shared<Live>(*this, std::move(query), std::move(search), std::move(logs));
}

}  // namespace trainyard::control

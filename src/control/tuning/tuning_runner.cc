#include "control/tuning/tuning_runner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/async/diagnostics.h"
#include "base/overloaded.h"
#include "base/wire/time.h"
#include "control/run/job_secrets.h"
#include "control/run/pause.h"
#include "rules/jobs/study.h"
#include "rules/jobs/trial.h"

namespace trainyard::control {

namespace {

using ml::v1::Job;

v1::Event::TrialEnded EndOf(const v1::JobRecord& trial) {
  const ml::v1::HyperparameterOutput output = jobs::TrialOutput(trial, trial.trial().report());
  v1::Event::TrialEnded ended;
  ended.set_trial_id(output.trial_id());
  ended.set_state(output.state());
  if (output.has_final_metric()) *ended.mutable_final_metric() = output.final_metric();
  ended.set_error_message(trial.job().error_message());
  ended.set_stopped_early(output.is_trial_stopped_early());
  return ended;
}

}  // namespace

TuningRunner::TuningRunner(Collaborators& outside, TrialHost& host, boost::asio::thread_pool& thinking,
                           v1::JobRecord job, std::int64_t service_lines)
    : outside_(outside),
      host_(host),
      records_(outside, std::move(job), service_lines,
               [this](const v1::Event& event) {
                 Follow(event);
                 if (event.has_ended())
                   Diagnose(DiagnosticLevel::kInfo,
                            "job " + job_.job().job_id() + " is " + Job::State_Name(job_.job().state()));
               }),
      study_(thinking, jobs::StudyOf(job_)),
      space_(jobs::StudyOf(job_).space),
      look_up_(outside, seen_.images, wake_),
      tasks_(outside.loop) {}

void TuningRunner::TakeResumed(std::vector<tuning::Trial> trials) {
  resumed_ = trials.size();
  for (std::size_t i = 0; i < resumed_; ++i) study_.PutTrial(i, std::move(trials[i]));
}

void TuningRunner::TakeOver(const std::vector<v1::Event>& events, const std::vector<v1::JobRecord>& trials) {
  for (const v1::Event& event : events) Follow(event);
  for (const v1::JobRecord& trial : trials) {
    Observe(trial, trial.trial().report());
    if (JobRunner* runner = host_.FindTrial(trial.uid())) runner->Watch(Observer());
  }
}

void TuningRunner::Start(std::function<void()> on_done) {
  tasks_.Spawn(records_.WriteLines());
  tasks_.Spawn(Run(std::move(on_done)));
}

boost::asio::awaitable<void> TuningRunner::Finish() {
  look_up_.Stop();
  tasks_.Cancel();
  co_await tasks_.Join();
}

boost::asio::awaitable<void> TuningRunner::Run(std::function<void()> on_done) {
  co_await records_.Run([this] { return job_.job().has_end_time(); },
                        [this](const v1::JobRecord& job, SysTime now) { return TakeTurn(job, now); });
  on_done();
}

boost::asio::awaitable<RecordLoop::Turn> TuningRunner::TakeTurn(const v1::JobRecord& job, SysTime now) {
  std::vector<jobs::TuningAction> actions = jobs::NextTuningActions(job, seen_, now);
  wake_time_.reset();
  const bool performed = co_await PerformActions(std::move(actions));
  co_return RecordLoop::Turn{.performed = performed, .wake_time = wake_time_};
}

/// Returns whether there was anything to do except waiting.
boost::asio::awaitable<bool> TuningRunner::PerformActions(std::vector<jobs::TuningAction> actions) {
  bool performed = false;
  for (jobs::TuningAction& action : actions) {
    performed = performed || !std::holds_alternative<jobs::WakeTuningAt>(action);
    boost::asio::awaitable<void> step = std::visit(
        Overloaded{[this](jobs::AppendTuningEvent& append) { return Record(std::move(append.event)); },
                   [this](const jobs::ResolveImages& resolve) { return Perform(resolve); },
                   [this](const jobs::SuggestTrials& suggest) { return Perform(suggest); },
                   [this](jobs::StartTrial& start) { return StartTrial(std::move(start.trial_id)); },
                   [this](jobs::StopTrial& stop) { return Perform(std::move(stop)); },
                   [this](jobs::CancelTrial& cancel) { return Perform(std::move(cancel)); },
                   [this](const jobs::WakeTuningAt& wake) { return Perform(wake); }},
        action);
    co_await std::move(step);
  }
  co_return performed;
}

boost::asio::awaitable<void> TuningRunner::Record(v1::Event event) {
  if (event.has_ended()) co_await ForgetSecrets(outside_, job_);  // no trial starts any more
  const Status recorded = co_await records_.Record(std::move(event));
  if (!recorded) co_await Pause(outside_.settings.retry_pause);
}

boost::asio::awaitable<void> TuningRunner::Perform(jobs::ResolveImages) {
  tasks_.Spawn(look_up_.Run(job_));
  co_return;
}

boost::asio::awaitable<void> TuningRunner::Perform(jobs::SuggestTrials action) {
  seen_.suggesting = true;
  tasks_.Spawn(Suggest(action.count));
  co_return;
}

boost::asio::awaitable<void> TuningRunner::Perform(jobs::StopTrial action) {
  Seen(action.trial_id)->stop_sent = true;
  tasks_.Spawn(StopTrial(std::move(action.trial_id), std::move(action.reason)));
  co_return;
}

boost::asio::awaitable<void> TuningRunner::Perform(jobs::CancelTrial action) {
  Seen(action.trial_id)->cancel_sent = true;
  tasks_.Spawn(CancelTrial(std::move(action.trial_id), std::move(action.reason)));
  co_return;
}

boost::asio::awaitable<void> TuningRunner::Perform(jobs::WakeTuningAt action) {
  wake_time_ = std::min(wake_time_.value_or(action.time), action.time);
  co_return;
}

boost::asio::awaitable<void> TuningRunner::StartTrial(std::string trial_id) {
  const v1::Event& created = created_.at(trial_id);
  v1::JobRecord record = jobs::MakeTrial(job_, created.trial_created(), wire::FromProto(created.time()));
  const Result<std::int64_t> uid = co_await host_.StartTrial(record, Observer());
  if (!uid) {
    Diagnose(DiagnosticLevel::kError, "trial " + trial_id + " of job " + job_.job().job_id() +
                                          " cannot be started: " + uid.error().message);
    co_return;
  }
  record.set_uid(*uid);
  if (jobs::ObservedTrial* seen = Seen(trial_id); seen != nullptr && !seen->has_record)
    Observe(record, record.trial().report());
}

boost::asio::awaitable<void> TuningRunner::Suggest(int count) {
  const Result<std::vector<tuning::Point>> points = co_await study_.Suggest(count);
  seen_.suggesting = false;
  if (points) {
    int number = job_.tuning().trials_created();
    for (const tuning::Point& point : *points) {
      v1::Event event = jobs::NextTrial(job_, space_, point);
      event.mutable_trial_created()->set_trial_id(std::to_string(++number));
      seen_.suggestions.push_back(std::move(event));
    }
    seen_.nothing_left = std::ssize(*points) < count;
  } else {
    seen_.tuner_failure = points.error().message;
    Diagnose(DiagnosticLevel::kWarning,
             "job " + job_.job().job_id() +
                 " gets no further trial until one ends: the tuner failed: " + points.error().message);
  }
  wake_.Set();
}

boost::asio::awaitable<void> TuningRunner::JudgeTrial(std::string trial_id) {
  Result<std::string> reason;
  do {
    judging_[trial_id] = false;
    reason = co_await study_.JudgeTrial(PlaceOf(trial_id));
  } while (reason && reason->empty() && judging_[trial_id]);
  judging_.erase(trial_id);
  const bool failed_before = std::exchange(judging_fails_, !reason);
  if (!reason) {
    if (!failed_before)
      Diagnose(DiagnosticLevel::kWarning,
               "trials of job " + job_.job().job_id() +
                   " continue without early stopping: the tuner failed: " + reason.error().message);
    co_return;
  }
  jobs::ObservedTrial* seen = Seen(trial_id);
  if (seen == nullptr || reason->empty()) co_return;
  seen->stop_early = *std::move(reason);
  wake_.Set();
}

/// A trial that is being retried, or has ended meanwhile, refuses the event. Its next report is judged again.
boost::asio::awaitable<void> TuningRunner::StopTrial(std::string trial_id, std::string reason) {
  v1::Event event;
  event.mutable_concluded()->set_outcome(Job::SUCCEEDED);
  event.mutable_concluded()->set_error_message(std::move(reason));
  event.mutable_concluded()->set_stopped_early(true);
  JobRunner* runner = Runner(trial_id);
  if (runner == nullptr) co_return;
  Status posted = co_await runner->Post(std::move(event), std::nullopt);
  jobs::ObservedTrial* seen = Seen(trial_id);
  if (posted || seen == nullptr) co_return;
  seen->stop_early.clear();
  seen->stop_sent = false;
}

boost::asio::awaitable<void> TuningRunner::CancelTrial(std::string trial_id, std::string reason) {
  while (JobRunner* runner = Runner(trial_id)) {
    v1::Event event;
    event.mutable_cancel_requested()->set_reason(reason);
    Status posted = co_await runner->Post(std::move(event), std::nullopt);
    if (posted || Seen(trial_id) == nullptr) co_return;
    Diagnose(DiagnosticLevel::kWarning, "trial " + trial_id + " of job " + job_.job().job_id() +
                                            " cannot be cancelled yet: " + posted.error().message);
    co_await Pause(outside_.settings.retry_pause);
  }
}

/// Updates what is known of the trials by an event of the job.
void TuningRunner::Follow(const v1::Event& event) {
  if (event.has_trial_created()) {
    const v1::Event::TrialCreated& created = event.trial_created();
    trials_.AddTrial(created);
    created_[created.trial_id()] = event;
    seen_.trials.push_back({.trial_id = created.trial_id()});
    tuning::Trial pending{.id = jobs::TrialNumber(created.trial_id()),
                          .point = {created.point().begin(), created.point().end()},
                          .values = {},
                          .curve = {}};
    study_.PutTrial(PlaceOf(created.trial_id()), std::move(pending));
    if (!seen_.suggestions.empty()) seen_.suggestions.pop_front();
  } else if (event.has_trial_ended()) {
    const v1::Event::TrialEnded& ended = event.trial_ended();
    if (ended.state() == ml::v1::HyperparameterOutput::FAILED && !seen_.first_failure) {
      const auto& values = created_.at(ended.trial_id()).trial_created().hyperparameters();
      seen_.first_failure = {.trial_id = ended.trial_id(),
                             .parameters = jobs::ParametersText(job_, values),
                             .error_message = ended.error_message()};
    }
    seen_.tuner_failure.clear();
    trials_.EndTrial(ended);
    created_.erase(ended.trial_id());
    std::erase_if(seen_.trials,
                  [&](const jobs::ObservedTrial& trial) { return trial.trial_id == ended.trial_id(); });
  }
}

JobRunner::OnChange TuningRunner::Observer() {
  return [this](const JobRunner& trial) { Observe(trial.job(), trial.report()); };
}

void TuningRunner::Observe(const v1::JobRecord& trial, const replica::v1::MetricReport& report) {
  const std::string& trial_id = trial.trial().trial_id();
  trials_.UpdateTrial(outside_.settings, trial, report);
  const bool stops_early = jobs::StopsEarly(job_);
  const bool judges = stops_early && trial.job().state() == Job::RUNNING && report.measurements_size() > 0;
  if (judges || trial.job().has_end_time())
    study_.PutTrial(PlaceOf(trial_id), jobs::StudyTrial(trial, report, stops_early));
  jobs::ObservedTrial* seen = Seen(trial_id);
  if (seen == nullptr) return;
  const bool is_news = !seen->has_record || seen->admitted != trial.job().has_start_time() ||
                       seen->has_run != trial.has_running_time() || trial.job().has_end_time();
  seen->has_record = true;
  seen->admitted = trial.job().has_start_time();
  seen->has_run = trial.has_running_time();
  if (trial.job().has_end_time()) seen->ended = EndOf(trial);
  if (is_news) wake_.Set();
  if (!judges || seen->stop_sent) return;
  if (auto judging = judging_.find(trial_id); judging != judging_.end()) {
    judging->second = true;
  } else {
    tasks_.Spawn(JudgeTrial(trial_id));
  }
}

std::vector<JobRunner*> TuningRunner::Active() const {
  std::vector<JobRunner*> runners;
  for (const jobs::ObservedTrial& trial : seen_.trials) {
    if (JobRunner* runner = Runner(trial.trial_id)) runners.push_back(runner);
  }
  return runners;
}

jobs::ObservedTrial* TuningRunner::Seen(const std::string& trial_id) {
  const auto found = std::ranges::find(seen_.trials, trial_id, &jobs::ObservedTrial::trial_id);
  return found == seen_.trials.end() ? nullptr : &*found;
}

JobRunner* TuningRunner::Runner(const std::string& trial_id) const {
  const TrialList::Shown* shown = trials_.Find(trial_id);
  return shown == nullptr || shown->uid == 0 ? nullptr : host_.FindTrial(shown->uid);
}

std::size_t TuningRunner::PlaceOf(const std::string& trial_id) const {
  return resumed_ + static_cast<std::size_t>(jobs::TrialNumber(trial_id)) - 1;
}

}  // namespace trainyard::control

#include "stores/studies/study_service.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cmath>
#include <exception>
#include <limits>
#include <set>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/check.h"
#include "rules/tuning/early_stopping.h"
#include "stores/studies/study_config.h"
#include "stores/studies/trial_values.h"

namespace trainyard::studies {
namespace {

using boost::asio::awaitable;
using Kind = StoredOperation::Kind;

constexpr std::size_t kWorksMax = 16;  ///< tuners kept; one of a long study takes up to 256 MB
constexpr std::chrono::milliseconds kOperationWait{500};  ///< of a request for an operation
constexpr std::chrono::seconds kRetryPause{1};  ///< after an error of the store, for example a full disk

awaitable<void> Sleep(std::chrono::steady_clock::duration time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  timer.expires_after(time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

struct Computation {
  StudyWork::Suggestions suggestions;
  bool should_stop = true;  ///< what a trial that is STOPPING already gets
};

/// kInternal: nothing can be computed, for whatever reason.
Result<Computation> Compute(StudyWork& work, const OperationTask& task) {
  try {
    Computation computed;
    TY_RETURN_IF_ERROR(work.Update(task.changes));
    if (task.operation.kind == Kind::kSuggest)
      computed.suggestions = work.Suggest(task.needed, task.study.next_trial - 1);
    if (task.judging) computed.should_stop = work.ShouldStop(task.operation.trial);
    return computed;
  } catch (const std::exception& problem) {
    return std::unexpected(Internal(std::string("The tuner failed: ") + problem.what()));
  }
}

}  // namespace

Result<std::unique_ptr<StudyService>> StudyService::Open(boost::asio::any_io_executor loop,
                                                         const Clock& clock, const std::string& path) {
  TY_TRY(StudyStore store, StudyStore::Open(path));
  TY_TRY(StudyStore reader, StudyStore::OpenReader(path));
  return std::unique_ptr<StudyService>(
      new StudyService(std::move(loop), clock, std::move(store), std::move(reader)));
}

StudyService::StudyService(boost::asio::any_io_executor loop, const Clock& clock, StudyStore store,
                           StudyStore reader)
    : loop_(std::move(loop)),
      clock_(clock),
      store_(std::move(store)),
      reader_(std::move(reader)),
      tasks_(loop_) {}

StudyService::~StudyService() = default;

awaitable<Status> StudyService::Recover() {
  auto list = [](StudyStore& store, SysTime) { return store.PendingOperations(); };
  TY_CO_TRY(std::vector<StoredOperation> pending, co_await Write(list));
  for (const StoredOperation& operation : pending) Enqueue(operation);
  co_return Status{};
}

awaitable<Result<longrunning::Operation>> StudyService::Suggest(StudyName study,
                                                                ml::v1::SuggestTrialsRequest asked) {
  auto begin = [&](StudyStore& store, SysTime now) { return BeginSuggest(store, study, asked, now); };
  TY_CO_TRY(StoredOperation begun, co_await Write(begin));
  Enqueue(begun);
  co_return std::move(begun.operation);
}

awaitable<Result<longrunning::Operation>> StudyService::CheckEarlyStopping(TrialName name) {
  auto begin = [&](StudyStore& store, SysTime now) { return BeginCheckStopping(store, name, now); };
  TY_CO_TRY(StoredOperation begun, co_await Write(begin));
  Enqueue(begun);
  co_return std::move(begun.operation);
}

awaitable<Result<longrunning::Operation>> StudyService::GetOperation(OperationName name) {
  auto get = [&](StudyStore& store) { return studies::GetOperation(store, name); };
  Result<longrunning::Operation> operation = co_await Read(get);
  if (!operation || operation->done()) co_return operation;
  if (const auto end = ends_.find(name.id); end != ends_.end()) {
    const std::shared_ptr<Event> ended = end->second;
    co_await ended->WaitFor(kOperationWait);
  }
  co_return co_await Read(get);
}

void StudyService::Enqueue(const StoredOperation& operation) {
  // Right after the start, Recover may find a new request before its own call gets here.
  if (!ends_.emplace(operation.id, std::make_shared<Event>(loop_)).second) return;
  auto [queue, is_new] = queues_.try_emplace(operation.study_uid);
  queue->second.push_back(operation.id);
  if (is_new) tasks_.Spawn(RunStudy(operation.study_uid));
}

awaitable<void> StudyService::RunStudy(std::int64_t study_uid) {
  std::deque<std::int64_t>& queue = queues_.at(study_uid);
  bool failing = false;  // the failure was already logged
  while (!queue.empty()) {
    Status run = co_await RunOperation(study_uid, queue.front());
    if (run) {
      const auto ended = ends_.extract(queue.front());
      queue.pop_front();
      ended.mapped()->Set();
      failing = false;
      continue;
    }
    if (!failing)
      Diagnose(DiagnosticLevel::kWarning, "an operation of a study waits: " + run.error().message);
    failing = true;
    co_await Sleep(kRetryPause);
  }
  queues_.erase(study_uid);
}

awaitable<Status> StudyService::RunOperation(std::int64_t study_uid, std::int64_t id) {
  for (bool done = false; !done;) {
    TY_CO_TRY(done, co_await TryOperation(study_uid, id));
  }
  co_return Status{};
}

std::shared_ptr<StudyWork> StudyService::WorkFor(const OperationTask& task) {
  CachedWork& cached = works_[task.study.uid];
  if (!cached.work || task.anew) cached.work = std::make_shared<StudyWork>(task.study);
  cached.used = ++uses_;
  std::shared_ptr<StudyWork> work = cached.work;
  if (works_.size() > kWorksMax)
    works_.erase(std::ranges::min_element(works_, {}, [](const auto& one) { return one.second.used; }));
  return work;
}

awaitable<Result<bool>> StudyService::TryOperation(std::int64_t study_uid, std::int64_t id) {
  const SysTime started = clock_.Now();
  TunerState known;
  if (const auto cached = works_.find(study_uid); cached != works_.end())
    known = {.deletions = cached->second.work->deletions(), .revision = cached->second.work->revision()};
  auto read = [&](StudyStore& store, SysTime) { return ReadOperation(store, id, study_uid, known); };
  TY_CO_TRY(std::optional<OperationTask> read_task, co_await Write(read));
  if (!read_task) co_return true;
  // Another study may have replaced it meanwhile; the task only has what changed since then.
  if (!read_task->anew && known.revision > 0 && !works_.contains(study_uid)) co_return false;
  // Shared with the pool: OnPool copies nothing, but its work must be movable and this may be large.
  auto task = std::make_shared<const OperationTask>(*std::move(read_task));
  Result<Computation> computed = Computation{};
  if (task->needed > 0 || task->judging) {
    auto compute = [work = WorkFor(*task), task] { return Compute(*work, *task); };
    computed = co_await OnPool(computers_, std::move(compute));
    if (!computed) works_.erase(study_uid);
  }
  auto finish = [&](StudyStore& store, SysTime now) -> Result<bool> {
    Status finished;
    if (!computed) {
      finished = FailOperation(store, id, computed.error());
    } else if (task->operation.kind == Kind::kSuggest) {
      const auto& [points, last] = computed->suggestions;
      Result<bool> suggested = FinishSuggest(store, id, points, last, started, now);
      if (suggested || suggested.error().code != Code::kInternal) return suggested;
      finished = FailOperation(store, id, suggested.error());
    } else {
      finished = FinishCheckStopping(store, id, computed->should_stop, started, now);
    }
    if (!finished) return std::unexpected(std::move(finished).error());
    return true;
  };
  co_return co_await Write(finish);
}

StudyWork::StudyWork(const StoredStudy& study)
    : stopping_(study.study.study_config().automated_stopping_config()),
      deletions_(study.deletions),
      tuner_(SpecOf(study.study.study_config(), study.seed)) {}

Status StudyWork::Update(const StudyStore::Changes& changes) {
  for (const StoredTrial& changed : changes.trials) {
    TY_TRY(tuning::Trial trial, ToTuning(spec(), changed.trial, changed.id, changed.stopped));
    const auto at = std::ranges::lower_bound(trials_, changed.id, {}, &tuning::Trial::id);
    if (at != trials_.end() && at->id == changed.id) {
      *at = std::move(trial);
    } else {
      trials_.insert(at, std::move(trial));
    }
  }
  revision_ = changes.revision;
  return {};
}

/// How many points of the space are in neither the trials nor `more`; stops counting at `enough`.
int StudyWork::PointsLeft(const std::vector<tuning::Point>& more, int enough) const {
  const std::optional<double> count = tuning::CountPoints(spec().space);
  if (!count || *count - static_cast<double>(trials_.size() + more.size()) >= enough) return enough;
  std::set<tuning::Point> distinct;
  const auto add = [&distinct](tuning::Point point) {  // NaN has no order
    for (double& value : point)
      if (std::isnan(value)) value = std::numeric_limits<double>::infinity();
    distinct.insert(std::move(point));
  };
  for (const tuning::Trial& trial : trials_) add(trial.point);
  for (const tuning::Point& point : more) add(point);
  const double left = *count - static_cast<double>(distinct.size());
  return static_cast<int>(std::clamp(left, 0.0, static_cast<double>(enough)));
}

StudyWork::Suggestions StudyWork::Suggest(int count, int made_before) {
  Suggestions made;
  if (const int left = PointsLeft({}, count); left > 0)
    made.points = tuner_.Suggest(trials_, left, made_before);
  made.last = std::ssize(made.points) < count || PointsLeft(made.points, 1) == 0;
  return made;
}

bool StudyWork::ShouldStop(int trial) const {
  using Config = ml::v1::AutomatedStoppingConfig;
  if (stopping_.implementation_config_case() == Config::IMPLEMENTATION_CONFIG_NOT_SET ||
      spec().metrics.size() != 1)
    return false;
  const bool median = stopping_.has_median_automated_stopping_config();
  const bool by_time = median ? stopping_.median_automated_stopping_config().use_elapsed_time()
                              : stopping_.decay_curve_stopping_config().use_elapsed_time();
  const auto at = std::ranges::lower_bound(trials_, trial, {}, &tuning::Trial::id);
  TY_CHECK(at != trials_.end() && at->id == trial);
  const auto rule = median ? tuning::StoppingRule::kMedian : tuning::StoppingRule::kDecayCurve;
  return tuning::JudgeTrial(spec(), trials_, *at, rule, by_time).stop;
}

}  // namespace trainyard::studies
